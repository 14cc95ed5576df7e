/* controllers/indexes.c - see indexes.h. Upstream: controller/job/indexed_job_utils.go, orderedIntervals. */
#include "controllers/indexes.h"

#include "base/strbuf.h"

enum { DIGITS_MAX = 18 };

/* ---- Text ---- */

static bool parse_number(struct str text, int64_t *ret_number)
{
    int64_t number = 0;
    if (text.n == 0 || text.n > DIGITS_MAX)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        number = number * 10 + (text.p[i] - '0');
    }
    *ret_number = number;
    return true;
}

static bool parse_interval(struct str text, struct index_interval *ret)
{
    size_t hyphen = str_index(text, '-');
    if (!parse_number(str_first(text, hyphen), &ret->first))
        return false;
    ret->last = ret->first;
    return hyphen == text.n || parse_number(str_from(text, hyphen + 1), &ret->last);
}

/* Grows the last interval when the new one touches it. */
static void add_interval(struct indexes *x, struct index_interval i)
{
    struct index_interval *last = x->n ? &x->at[x->n - 1] : NULL;
    if (!last || i.first > last->last + 1)
        x->at[x->n++] = i;
    else if (last->last < i.last)
        last->last = i.last;
}

struct indexes indexes_parse(struct arena *a, struct str text, int64_t completions)
{
    size_t n_parts = 1;
    for (size_t i = 0; i < text.n; i++)
        n_parts += text.p[i] == ',';
    struct indexes x = { ARENA_NEW_N(a, struct index_interval, n_parts), 0 };
    while (text.n) {
        size_t comma = str_index(text, ',');
        struct index_interval i;
        bool fine = parse_interval(str_first(text, comma), &i);
        text = str_from(text, comma + 1);
        if (!fine)
            continue;
        if (i.first >= completions)
            break;
        i.last = i.last < completions ? i.last : completions - 1;
        add_interval(&x, i);
    }
    return x;
}

const char *indexes_format(struct arena *a, struct indexes x)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    for (size_t i = 0; i < x.n; i++) {
        long long first = x.at[i].first, last = x.at[i].last;
        strbuf_printf(&text, "%s%lld", i ? "," : "", first);
        if (last > first)
            strbuf_printf(&text, "%c%lld", last == first + 1 ? ',' : '-', last);
    }
    const char *copy = arena_cstr(a, strbuf_str(&text));
    strbuf_fini(&text);
    return copy;
}

/* ---- Sets ---- */

struct indexes indexes_of(struct arena *a, const int64_t *numbers, size_t n)
{
    struct indexes x = { ARENA_NEW_N(a, struct index_interval, n), 0 };
    for (size_t i = 0; i < n; i++)
        add_interval(&x, (struct index_interval){ numbers[i], numbers[i] });
    return x;
}

struct indexes indexes_union(struct arena *a, struct indexes x, struct indexes y)
{
    struct indexes both = { ARENA_NEW_N(a, struct index_interval, x.n + y.n), 0 };
    size_t i = 0, k = 0;
    while (i < x.n || k < y.n) {
        bool from_x = k == y.n || (i < x.n && x.at[i].first < y.at[k].first);
        add_interval(&both, from_x ? x.at[i++] : y.at[k++]);
    }
    return both;
}

int64_t indexes_total(struct indexes x)
{
    int64_t total = 0;
    for (size_t i = 0; i < x.n; i++)
        total += x.at[i].last - x.at[i].first + 1;
    return total;
}

bool indexes_has(struct indexes x, int64_t index)
{
    size_t low = 0, high = x.n; /* the first interval that does not end before the index */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (x.at[middle].last >= index)
            high = middle;
        else
            low = middle + 1;
    }
    return high < x.n && x.at[high].first <= index;
}

int64_t indexes_common(struct indexes x, struct indexes y)
{
    int64_t common = 0;
    for (size_t i = 0, k = 0; i < x.n && k < y.n;) {
        int64_t first = x.at[i].first > y.at[k].first ? x.at[i].first : y.at[k].first;
        int64_t x_last = x.at[i].last, y_last = y.at[k].last, last = x_last < y_last ? x_last : y_last;
        common += last >= first ? last - first + 1 : 0;
        i += x_last <= y_last;
        k += y_last <= x_last;
    }
    return common;
}
