/* tests/fuzz/fuzz_selector.c - label and field selector texts: parsing never fails hard, and the canonical
 * text of what parses parses to itself.
 *
 * The first byte says which: even for a label selector, odd for a field selector. */
#include <stdlib.h>

#include "api/field_selector.h"
#include "api/selector_parse.h"
#include "tests/fuzz/effort.h"

enum { SELECTOR_BYTES_MAX = 3 << 20 }; /* canonical texts are longer than what the fuzzer makes */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(bool condition)
{
    if (!condition)
        abort();
}

/* Canonical text; `ret_ok` tells whether the input parses. */
static struct str label_text(struct arena *a, struct str text, bool *ret_ok)
{
    struct err e;
    err_init(&e, a);
    struct selector s;
    struct work work = work_init(SELECTOR_BYTES_MAX);
    *ret_ok = selector_parse(a, &work, text, &s, &e) == ERR_OK;
    check(*ret_ok || e.code != ERR_TOO_LARGE); /* no text takes more work than it is given */
    if (!*ret_ok) {
        check(e.message && *e.message);
        return (struct str){ 0 };
    }
    static const struct label some[] = { { STR("a"), STR("1") }, { STR("b"), STR("") } };
    selector_matches(&s, (struct labels){ some, 2 });
    return selector_text(a, &s);
}

static struct str field_text(struct arena *a, struct str text, bool *ret_ok)
{
    struct err e;
    err_init(&e, a);
    struct field_selector s;
    struct work work = work_init(SELECTOR_BYTES_MAX);
    *ret_ok = field_selector_parse(a, &work, text, &s, &e) == ERR_OK;
    check(*ret_ok || e.code != ERR_TOO_LARGE);
    if (!*ret_ok) {
        check(e.message && *e.message);
        return (struct str){ 0 };
    }
    field_selector_matches(&s, (struct labels){ 0 });
    return field_selector_text(a, &s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0)
        return 0;
    struct arena a;
    arena_init(&a);
    effort_begin(n);
    bool field = data[0] & 1, ok;
    struct str (*canonical)(struct arena *, struct str, bool *) = field ? field_text : label_text;
    struct str text = canonical(&a, (struct str){ (const char *)data + 1, n - 1 }, &ok);
    /* Field terms are sorted by the texts they came in, of which == is not kept: the first canonical text
     * may come back in another order, the second may not. */
    if (ok && field) {
        text = canonical(&a, text, &ok);
        check(ok);
    }
    if (ok) {
        struct str again = canonical(&a, text, &ok);
        check(ok);
        check(str_eq(text, again));
    }
    effort_end(&a, n);
    arena_fini(&a);
    return 0;
}
