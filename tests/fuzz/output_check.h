/* tests/fuzz/output_check.h - what is printed and written, whatever names and messages hold: nothing that a terminal
 * would obey, JSON for another parser, YAML that says the same, a page whose script nothing ends. */
#pragma once

#include <yyjson.h>

#include "base/printable.h"
#include "base/utf8.h"
#include "codec/yaml.h"
#include "sim/report_page.h"
#include "tests/test.h"

/* As commands print it, nothing is left that a terminal would obey. */
static inline void check_printable(const char *what, const struct strbuf *shown)
{
    for (struct str rest = strbuf_str(shown); rest.n;) {
        uint32_t rune;
        size_t n = utf8_decode(rest, &rune);
        if (n == 0 || (rune != '\n' && !printable_rune(rune)))
            FAIL("%s: U+%04x at %zu", what, n ? rune : (uint8_t)rest.p[0], shown->n - rest.n);
        rest = str_from(rest, n);
    }
}

static inline yyjson_doc *read_json(const char *what, struct str json)
{
    yyjson_read_err why;
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)json.p, json.n, YYJSON_READ_NOFLAG, NULL, &why);
    if (!doc)
        FAIL("%s: %s at %zu of %zu", what, why.msg, why.pos, json.n);
    return doc;
}

static inline void check_same_json(const char *what, struct str got, struct str want)
{
    yyjson_doc *of_got = read_json(what, got), *of_want = read_json(what, want);
    if (!yyjson_equals(yyjson_doc_get_root(of_got), yyjson_doc_get_root(of_want)))
        FAIL("%s says something else", what);
    yyjson_doc_free(of_want);
    yyjson_doc_free(of_got);
}

/* As it is, and as commands print it. */
static inline void check_json(struct str json)
{
    struct strbuf shown;
    strbuf_init(&shown, STRBUF_NO_MAX);
    printable_add_json(&shown, json);
    check_printable("JSON", &shown);
    check_same_json("JSON", strbuf_str(&shown), json);
    strbuf_fini(&shown);
}

/* The same document. */
static inline void check_yaml(const struct strbuf *yaml, const struct strbuf *json)
{
    struct arena a;
    struct err e;
    struct str of_yaml;
    arena_init(&a);
    err_init(&e, &a);
    if (yaml_to_json(&a, WORK_OWN, strbuf_str(yaml), NULL, &of_yaml, &e))
        FAIL("YAML: %s", e.message);
    check_same_json("YAML", of_yaml, strbuf_str(json));
    arena_fini(&a);
}

static inline void check_page(const struct strbuf *page)
{
    struct str all = strbuf_str(page);
    CHECK(str_starts(all, report_page_head) && str_ends(all, report_page_tail));
    struct str data = { all.p + report_page_head.n, all.n - report_page_head.n - report_page_tail.n };
    CHECK(!memchr(data.p, '<', data.n));
    check_json(data);
}
