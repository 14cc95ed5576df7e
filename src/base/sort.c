/* base/sort.c - see sort.h. Runs of doubling width are merged between two buffers, back and forth. */
#include "base/sort.h"

#include "base/mem.h"

bool sort_in_order(const void *items, size_t n, size_t size, sort_compare *compare)
{
    const char *at = items;
    for (size_t i = 1; i < n; i++, at += size)
        if (compare(at, at + size) > 0)
            return false;
    return true;
}

/* Merges [from, middle) and [middle, to) into `out`; all are multiples of `size`. */
static void merge(const char *from, const char *middle, const char *to, char *out, size_t size,
                  sort_compare *compare)
{
    const char *left = from, *right = middle;
    while (left < middle && right < to) {
        const char **smaller = compare(left, right) <= 0 ? &left : &right;
        memcpy(out, *smaller, size);
        *smaller += size;
        out += size;
    }
    memcpy(out, left, (size_t)(middle - left));
    memcpy(out + (middle - left), right, (size_t)(to - right));
}

static void merge_pass(const char *from, char *to, size_t n_bytes, size_t run_bytes, size_t size,
                       sort_compare *compare)
{
    for (size_t at = 0; at < n_bytes;) {
        size_t left = n_bytes - at;
        size_t middle = left < run_bytes ? left : run_bytes;
        size_t end = left - middle < run_bytes ? left : middle + run_bytes;
        merge(from + at, from + at + middle, from + at + end, to + at, size, compare);
        at += end;
    }
}

void sort_stable(struct arena *scratch, void *items, size_t n, size_t size, sort_compare *compare)
{
    if (sort_in_order(items, n, size, compare))
        return;
    struct arena_mark mark = arena_save(scratch);
    size_t n_bytes = mem_product(n, size);
    char *from = items, *to = arena_alloc(scratch, n_bytes);
    for (size_t run = size; run < n_bytes; run *= 2) {
        merge_pass(from, to, n_bytes, run, size, compare);
        char *filled = to;
        to = from;
        from = filled;
    }
    if (from != items)
        memcpy(items, from, n_bytes);
    arena_rewind(scratch, mark);
}

int sort_compare_strs(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}
