/* tests/fuzz/fuzz_table.c - any object that can be decoded has a row, and the table is JSON.
 *
 * The first two bytes choose the resource, the rest is the object as JSON. */
#include <stdlib.h>

#include "apiserver/table.h"
#include "codec/json.h"
#include "codec/json_scan.h"
#include "codec/object.h"
#include "tests/fuzz/effort.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_row(struct arena *a, const struct resource *r, const struct value *v)
{
    struct err e;
    struct strbuf text;
    struct table_meta meta = { .resource_version = STR("1") };
    err_init(&e, a);
    for (enum include_object include = INCLUDE_METADATA; include <= INCLUDE_NONE; include++) {
        struct table_options o = { .include = include, .now_ns = 1790000000000000000 };
        strbuf_init(&text, STRBUF_NO_MAX);
        table_begin(&text, r, &o, &meta);
        table_add_row(&text, r, &o, r->type, v);
        table_end(&text, r, &o);
        if (json_check(strbuf_str(&text), &e))
            abort();
        strbuf_fini(&text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 2)
        return 0;
    const struct resource *r = &schema_resources[(data[0] | (size_t)data[1] << 8) % schema_n_resources];
    struct arena a;
    struct err e;
    struct value v;
    struct work work = work_init(REQUEST_BYTES_MAX);
    arena_init(&a);
    err_init(&e, &a);
    effort_begin(n);
    if (r->type && !json_decode(&a, &work, r->type, (struct str){ (const char *)data + 2, n - 2 }, NULL, &v, &e))
        check_row(&a, r, &v);
    effort_end(&a, n);
    arena_fini(&a);
    return 0;
}
