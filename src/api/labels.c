/* api/labels.c - see labels.h. */
#include "api/labels.h"

#include "base/sort.h"

/* Up to here a scan is quicker than a binary search: most objects have fewer labels. */
enum { SCAN_MAX = 8 };

static int compare_keys(const void *a, const void *b)
{
    return str_cmp(((const struct label *)a)->key, ((const struct label *)b)->key);
}

size_t labels_sort(struct arena *scratch, struct label *at, size_t n)
{
    sort_stable(scratch, at, n, sizeof(*at), compare_keys);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool again = kept > 0 && str_eq(at[kept - 1].key, at[i].key);
        at[again ? kept - 1 : kept++] = at[i];
    }
    return kept;
}

const struct str *labels_find(struct labels labels, struct str key)
{
    const struct label *at = labels.at;
    size_t n = labels.n;
    while (n > SCAN_MAX) {
        size_t half = n / 2;
        bool right = str_cmp(at[half].key, key) <= 0;
        at += right ? half : 0;
        n = right ? n - half : half;
    }
    for (size_t i = 0; i < n; i++)
        if (str_eq(at[i].key, key))
            return &at[i].value;
    return NULL;
}

bool labels_parse_int(struct str text, int64_t *ret_value)
{
    bool negative = text.n > 0 && text.p[0] == '-';
    bool sign = negative || (text.n > 0 && text.p[0] == '+');
    struct str digits = str_from(text, sign);
    if (digits.n == 0)
        return false;
    int64_t value = 0;
    for (size_t i = 0; i < digits.n; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9')
            return false;
        int digit = digits.p[i] - '0';
        /* Counts downwards: the smallest int64 has no positive counterpart. */
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_sub_overflow(value, digit, &value))
            return false;
    }
    if (!negative && value == INT64_MIN)
        return false;
    *ret_value = negative ? value : -value;
    return true;
}

size_t strs_bytes(struct strs texts)
{
    size_t n = 0;
    for (size_t i = 0; i < texts.n; i++)
        n += texts.at[i].n + 1;
    return n;
}

size_t match_expressions_bytes(const struct match_expression *at, size_t n)
{
    size_t n_bytes = 0;
    for (size_t i = 0; i < n; i++)
        n_bytes += at[i].key.n + at[i].op.n + 2 + strs_bytes(at[i].values);
    return n_bytes;
}
