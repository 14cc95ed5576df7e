/* tests/fuzz/fuzz_quantity.c - any bytes as a quantity, a time and a duration.
 *
 * What parses is written and parsed again and must be the same amount; the short way to an int64
 * must agree with the long one. The first line of the input meets the second one in arithmetic. */
#include <stdlib.h>

#include "api/duration.h"
#include "api/quantity.h"
#include "api/time.h"
#include "tests/fuzz/effort.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(bool condition)
{
    if (!condition)
        abort();
}

/* As upstream, amounts beyond E are written without a suffix, and binary ones beyond int64 are cut
 * when read: those do not come back. */
static bool comes_back(const struct quantity *q)
{
    bool binary = q->format == QUANTITY_BINARY_SI;
    struct quantity max = binary ? quantity_make(INT64_MAX, 0, QUANTITY_DECIMAL_SI)
                                 : quantity_make(999, 18, QUANTITY_DECIMAL_SI);
    struct quantity min = max;
    quantity_neg(&min);
    return quantity_cmp(q, &max) <= 0 && quantity_cmp(q, &min) >= 0;
}

static void check_round_trip(struct arena *a, struct quantity q)
{
    struct quantity again;
    struct err e;
    err_init(&e, a);
    q.text = (struct str){ 0 };
    struct str text = quantity_text(a, &q);
    bool ok = !quantity_parse(a, text, &again, &e);
    if (!comes_back(&q))
        return;
    must(ok && quantity_cmp(&q, &again) == 0);
    again.text = (struct str){ 0 };
    must(str_eq(text, quantity_text(a, &again)));
}

static void check_short_way(struct arena *a, struct str text, const struct quantity *q)
{
    struct err e;
    err_init(&e, a);
    for (int32_t scale = -9; scale <= 3; scale += 3) {
        int64_t value;
        must(!quantity_parse_scaled(text, scale, &value, &e));
        must(value == quantity_scaled(q, scale));
    }
    (void)quantity_as_double(q);
}

static void check_arithmetic(struct arena *a, struct quantity q, struct quantity y)
{
    struct err e;
    err_init(&e, a);
    bool exact;
    struct quantity result = q;
    must(quantity_cmp(&q, &y) == -quantity_cmp(&y, &q));
    if (!quantity_add(a, &result, &y, &e) && !quantity_sub(a, &result, &y, &e))
        must(quantity_cmp(&result, &q) == 0);
    if (!quantity_mul(a, &result, quantity_value(&y), &exact, &e))
        check_round_trip(a, result);
    result = q;
    if (!quantity_round_up(a, &result, QUANTITY_MILLI, &exact, &e))
        must(exact == (quantity_cmp(&result, &q) == 0));
    quantity_neg(&result);
    must(quantity_sign(&result) == -quantity_sign(&q));
    check_round_trip(a, result);
}

static void feed_quantities(struct arena *a, struct str first, struct str second)
{
    struct quantity q, y;
    struct err e;
    err_init(&e, a);
    (void)!quantity_parse_json(a, first, &q, &e);
    if (quantity_parse(a, first, &q, &e))
        return;
    check_short_way(a, first, &q);
    check_round_trip(a, q);
    if (!quantity_parse(a, second, &y, &e))
        check_arithmetic(a, q, y);
}

static void feed_times(struct arena *a, struct strbuf *b, struct str text)
{
    struct timestamp t, again;
    struct err e;
    err_init(&e, a);
    if (!timestamp_parse_micro(text, &t, &e) || !timestamp_parse(text, &t, &e)) {
        strbuf_reset(b);
        timestamp_add_micro(b, t);
        bool four_digits = t.seconds >= -62167219200 && t.seconds <= 253402300799;
        must(!timestamp_parse_micro(strbuf_str(b), &again, &e) == four_digits);
        must(!four_digits || (again.seconds == t.seconds && again.nanos == t.nanos / 1000 * 1000));
    }
}

static void feed_duration(struct arena *a, struct strbuf *b, struct str text)
{
    int64_t ns, again;
    struct err e;
    err_init(&e, a);
    if (duration_parse(text, &ns, &e))
        return;
    strbuf_reset(b);
    duration_add(b, ns);
    must(!duration_parse(strbuf_str(b), &again, &e));
    must(again == ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str all = { (const char *)data, n };
    struct str first = str_first(all, str_index(all, '\n')), second = str_from(all, first.n + 1);
    struct arena a;
    struct strbuf b;
    arena_init(&a);
    effort_begin(n);
    strbuf_init(&b, 1 << 16);
    feed_quantities(&a, first, second);
    feed_times(&a, &b, first);
    feed_duration(&a, &b, first);
    strbuf_fini(&b);
    effort_end(&a, n);
    arena_fini(&a);
    return 0;
}
