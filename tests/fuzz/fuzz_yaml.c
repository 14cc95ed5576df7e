/* tests/fuzz/fuzz_yaml.c - any bytes as YAML, as a stream of documents and as JSON.
 *
 * YAML that is read gives valid JSON; printed as YAML and read again it gives the same JSON. JSON can be
 * printed, and what was printed be read. */
#include <stdio.h>
#include <stdlib.h>

#include "codec/json_scan.h"
#include "codec/yaml.h"
#include "tests/fuzz/effort.h"

enum { TEXT_BYTES_MAX = 64 << 10 }; /* aliases may make much of little */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(bool condition, const char *what, struct str text)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %.*s\n", what, STR_ARG(text));
    abort();
}

static bool is_json(struct str text)
{
    struct json_scan s = json_scan_init(text);
    return json_skip_value(&s) && json_at_end(&s);
}

static bool contains(struct str text, struct str part)
{
    return text.n && memmem(text.p, text.n, part.p, part.n);
}

/* As upstream, a minus zero loses its sign on the way through an integer, the key "<<" its quotes, and U+FFFD
 * is an escape only where it stands for bytes that are not UTF-8. */
static bool comes_back(struct str json)
{
    return !contains(json, STR("-0")) && !contains(json, STR("<<")) &&
           !contains(json, STR("\\u003c")) && !contains(json, STR("\\u003C")) &&
           !contains(json, STR("\\ufffd"));
}

static struct str print(struct arena *a, struct str json)
{
    struct strbuf b;
    strbuf_init(&b, 64 * TEXT_BYTES_MAX);
    yaml_from_json(&b, json);
    must(!b.overflow || json.n > TEXT_BYTES_MAX / 16, "much YAML", json);
    struct str yaml = b.overflow ? (struct str){ 0 } : arena_str(a, strbuf_str(&b));
    strbuf_fini(&b);
    return yaml;
}

/* What was printed must be readable, unless it is nested too deeply. */
static bool read_back(struct arena *a, struct str yaml, struct str *ret_json)
{
    struct err e;
    err_init(&e, a);
    if (!yaml_to_json(a, WORK_OWN, yaml, NULL, ret_json, &e))
        return true;
    must(strstr(e.message, "max depth"), e.message, yaml);
    return false;
}

static void check_yaml(struct arena *a, struct str yaml)
{
    struct findings findings = { 0 };
    struct str json, again;
    struct err e;
    err_init(&e, a);
    if (yaml_to_json(a, WORK_OWN, yaml, &findings, &json, &e)) {
        must(e.message && !findings.n, "failure without a text", yaml);
        return;
    }
    must(is_json(json), "not JSON", json);
    if (json.n > TEXT_BYTES_MAX || !comes_back(json))
        return;
    struct str printed = print(a, json);
    if (printed.p && read_back(a, printed, &again))
        must(str_eq(json, again), "came back as another", printed);
}

/* A float without a fraction comes back as an integer, so it is the second time that must be as the first. */
static void check_json(struct arena *a, struct str json)
{
    struct str first, second;
    if (!is_json(json) || !comes_back(json))
        return;
    struct str yaml = print(a, json);
    if (!yaml.p || !read_back(a, yaml, &first))
        return;
    must(is_json(first), "not JSON", first);
    yaml = print(a, first);
    if (yaml.p && read_back(a, yaml, &second))
        must(str_eq(first, second), "came back as another", yaml);
}

static void check_stream(struct arena *a, struct str text)
{
    struct yaml_stream s;
    struct str document = { 0 };
    struct err e;
    err_init(&e, a);
    yaml_stream_init(&s, text);
    for (size_t i = 0; !yaml_next_document(&s, &document, &e) && document.p; i++) {
        must(i <= text.n, "endless", text);
        must(document.n && document.p >= text.p && document.p + document.n <= text.p + text.n,
             "not a part", text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a;
    arena_init(&a);
    effort_begin(n);
    struct str text = { (const char *)data, n };
    check_yaml(&a, text);
    check_json(&a, text);
    check_stream(&a, text);
    effort_end(&a, n);
    arena_fini(&a);
    return 0;
}
