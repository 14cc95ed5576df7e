/* config/flag_map.c - see flag_map.h. Upstream: component-base/cli/flag, apimachinery/pkg/util/net/port_range.go,
 * v1.36. */
#include "config/flag_map.h"

#include "base/sort.h"

enum { PORT_MAX = 65535 };

/* ---- Maps ---- */

static void put(struct arena *a, struct str pair, struct flag_pairs *pairs)
{
    struct str value = pair, key = flag_take_until(&value, '=');
    flag_pairs_put(a, pairs, flag_trimmed(key), flag_trimmed(value));
}

enum err_code flag_map_set(struct arena *a, struct str text, struct flag_pairs *pairs, struct err *e)
{
    if (str_index(text, '=') == text.n)
        return err_set(e, ERR_BAD_REQUEST, "malformed pair, expect string=string");
    put(a, text, pairs);
    return ERR_OK;
}

void flag_switches_set(struct arena *a, struct str text, struct flag_pairs *pairs)
{
    while (text.n) {
        struct str pair = flag_take_until(&text, ',');
        if (pair.n)
            put(a, pair, pairs);
    }
}

static int compare_keys(const void *a, const void *b)
{
    return str_cmp(((const struct flag_pair *)a)->key, ((const struct flag_pair *)b)->key);
}

void flag_map_add(struct strbuf *b, const struct flag_pairs *pairs)
{
    struct arena scratch;
    arena_init(&scratch);
    struct flag_pair *sorted = ARENA_NEW_N(&scratch, struct flag_pair, pairs->n);
    if (pairs->n)
        memcpy(sorted, pairs->at, pairs->n * sizeof(*sorted));
    sort_stable(&scratch, sorted, pairs->n, sizeof(*sorted), compare_keys);
    for (size_t i = 0; i < pairs->n; i++)
        strbuf_printf(b, "%s%.*s=%.*s", i ? "," : "", STR_ARG(sorted[i].key), STR_ARG(sorted[i].value));
    arena_fini(&scratch);
}

/* ---- Ranges of ports ---- */

/* As strconv.Atoi: decimal, with a sign. */
static enum err_code parse_port(struct str text, int64_t *ret_port, struct err *e)
{
    struct str digits = text.n && (text.p[0] == '-' || text.p[0] == '+') ? str_from(text, 1) : text;
    int64_t port = 0;
    const char *what = digits.n ? NULL : "invalid syntax";
    for (size_t i = 0; i < digits.n && !what; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9')
            what = "invalid syntax";
        else if (__builtin_mul_overflow(port, 10, &port) || __builtin_add_overflow(port, digits.p[i] - '0', &port))
            what = "value out of range";
    }
    if (what)
        return err_set(e, ERR_BAD_REQUEST, "strconv.Atoi: parsing %s: %s", flag_quoted(e->arena, text), what);
    *ret_port = text.p[0] == '-' ? -port : port;
    return ERR_OK;
}

static enum err_code check_range(struct str text, int64_t first, int64_t last, struct err *e)
{
    struct str shown = err_shown(e, text);
    if (first > PORT_MAX || last > PORT_MAX)
        return err_set(e, ERR_BAD_REQUEST, "the port range cannot be greater than 65535: %.*s", STR_ARG(shown));
    if (last < first)
        return err_set(e, ERR_BAD_REQUEST, "end port cannot be less than start port: %.*s", STR_ARG(shown));
    if (first < -PORT_MAX) /* upstream takes it, to no use */
        return err_set(e, ERR_BAD_REQUEST, "unable to parse port range: %.*s", STR_ARG(shown));
    return ERR_OK;
}

enum err_code flag_port_range_set(struct str text, struct flag_port_range *range, struct err *e)
{
    text = flag_trimmed(text);
    size_t hyphen = str_index(text, '-'), plus = str_index(text, '+'), at = hyphen < plus ? hyphen : plus;
    int64_t first = 0, last = 0;
    if (text.n == 0) {
        *range = (struct flag_port_range){ 0, 0 };
        return ERR_OK;
    }
    if (hyphen < text.n && plus < text.n)
        return err_set(e, ERR_BAD_REQUEST, "unable to parse port range: %.*s", STR_ARG(err_shown(e, text)));
    if (parse_port(str_first(text, at), &first, e) || (at < text.n && parse_port(str_from(text, at + 1), &last, e)))
        return e->code;
    if (at == text.n)
        last = first;
    else if (plus < text.n && __builtin_add_overflow(first, last, &last))
        last = INT64_MAX;
    if (check_range(text, first, last, e))
        return e->code;
    *range = (struct flag_port_range){ (int32_t)first, (int32_t)(last - first + 1) };
    return ERR_OK;
}

void flag_port_range_add(struct strbuf *b, const struct flag_port_range *range)
{
    if (range->n)
        strbuf_printf(b, "%d-%d", range->first, range->first + range->n - 1);
}
