/* api/selector.c - see selector.h. */
#include "api/selector.h"

#include "api/validate.h"
#include "base/sort.h"

static const struct {
    const char *text, *name;
} ops[] = {
#define X(name, text, upstream) [SELECTOR_##name] = { text, upstream },
    SELECTOR_OPS(X)
#undef X
};

const char *selector_op_name(enum selector_op op)
{
    return ops[op].name;
}

/* ---- making ---- */

static void check_key(struct str key, const struct field_path *at, struct field_errors *errs)
{
    struct name_errors found = name_label_key(key);
    struct field_path path = field_child(at, "key");
    if (found.n)
        field_invalid(errs, &path, field_str(key), validate_join(errs->arena, found, "; "));
}

/* What is wrong with the number of values, or NULL. */
static const char *find_count_fault(enum selector_op op, size_t n_values)
{
    switch (op) {
    case SELECTOR_IN:
    case SELECTOR_NOT_IN:
        return n_values > 0 ? NULL : "for 'in', 'notin' operators, values set can't be empty";
    case SELECTOR_EQUALS:
    case SELECTOR_DOUBLE_EQUALS:
    case SELECTOR_NOT_EQUALS:
        return n_values == 1 ? NULL : "exact-match compatibility requires one single value";
    case SELECTOR_EXISTS:
    case SELECTOR_DOES_NOT_EXIST:
        return n_values == 0 ? NULL : "values set must be empty for exists and does not exist";
    case SELECTOR_GREATER:
    case SELECTOR_LESS:
        return n_values == 1 ? NULL : "for 'Gt', 'Lt' operators, exactly one value is required";
    }
    return NULL;
}

static void check_numbers(struct strs values, const struct field_path *at, struct field_errors *errs)
{
    for (size_t i = 0; i < values.n; i++) {
        int64_t number;
        struct field_path path = field_index(at, i);
        if (!labels_parse_int(values.at[i], &number))
            field_invalid(errs, &path, field_str(values.at[i]),
                          STR("for 'Gt', 'Lt' operators, the value must be an integer"));
    }
}

/* Values are shown below their index and, oddly, the key as well: values[0][app]. */
static void check_values(struct str key, struct strs values, const struct field_path *at,
                         struct field_errors *errs)
{
    for (size_t i = 0; i < values.n; i++) {
        struct name_errors found = name_label_value(values.at[i]);
        if (found.n == 0)
            continue;
        struct field_path index = field_index(at, i), path = field_key(&index, key);
        field_invalid(errs, &path, field_str(values.at[i]), validate_join(errs->arena, found, "; "));
    }
}

static const struct str *sorted_values(struct arena *a, struct strs values)
{
    if (sort_in_order(values.at, values.n, sizeof(*values.at), sort_compare_strs))
        return values.at;
    struct str *sorted = ARENA_NEW_N(a, struct str, values.n);
    memcpy(sorted, values.at, values.n * sizeof(*sorted));
    sort_stable(a, sorted, values.n, sizeof(*sorted), sort_compare_strs);
    return sorted;
}

static void fill(struct requirement *r, struct arena *a, struct str key, enum selector_op op,
                 struct strs values)
{
    *r = (struct requirement){ .key = key, .op = op, .values = values };
    r->sorted = sorted_values(a, values);
    if (op == SELECTOR_GREATER || op == SELECTOR_LESS)
        labels_parse_int(values.at[0], &r->number);
}

bool requirement_charge(struct work *work, struct str key, struct strs values)
{
    size_t n_bytes = strs_bytes(values);
    return work_take(work, key.n + n_bytes + work_of_sorting(values.n, n_bytes));
}

bool requirement_init(struct requirement *ret, struct str key, enum selector_op op, struct strs values,
                      const struct field_path *at, struct field_errors *errs)
{
    size_t n_before = errs->n + errs->n_dropped;
    check_key(key, at, errs);
    struct field_path path = field_child(at, "values");
    const char *fault = find_count_fault(op, values.n);
    if (fault)
        field_invalid(errs, &path, field_strs(values.at, values.n), str_of(fault));
    if (op == SELECTOR_GREATER || op == SELECTOR_LESS)
        check_numbers(values, &path, errs);
    check_values(key, values, &path, errs);
    if (errs->n + errs->n_dropped > n_before)
        return false;
    fill(ret, errs->arena, key, op, values);
    return true;
}

static int by_key(const void *a, const void *b)
{
    return str_cmp(((const struct requirement *)a)->key, ((const struct requirement *)b)->key);
}

bool requirements_sort(struct arena *scratch, struct work *work, struct requirement *reqs, size_t n)
{
    uint64_t n_bytes = 0;
    for (size_t i = 0; i < n; i++)
        n_bytes += reqs[i].key.n + 1;
    if (!work_take(work, work_of_sorting(n, n_bytes)))
        return false;
    sort_stable(scratch, reqs, n, sizeof(*reqs), by_key);
    return true;
}

struct selector selector_from_labels(struct arena *a, struct labels labels)
{
    struct requirement *reqs = ARENA_NEW_N(a, struct requirement, labels.n);
    for (size_t i = 0; i < labels.n; i++)
        fill(&reqs[i], a, labels.at[i].key, SELECTOR_EQUALS, (struct strs){ &labels.at[i].value, 1 });
    return (struct selector){ .at = reqs, .n = labels.n };
}

/* ---- matching ---- */

static bool has_value(const struct requirement *r, struct str value)
{
    size_t low = 0, high = r->values.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_cmp(r->sorted[middle], value);
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

bool requirement_matches(const struct requirement *r, struct labels labels)
{
    const struct str *value = labels_find(labels, r->key);
    int64_t number;
    switch (r->op) {
    case SELECTOR_IN:
    case SELECTOR_EQUALS:
    case SELECTOR_DOUBLE_EQUALS:
        return value && has_value(r, *value);
    case SELECTOR_NOT_IN:
    case SELECTOR_NOT_EQUALS:
        return !value || !has_value(r, *value);
    case SELECTOR_EXISTS:
        return value != NULL;
    case SELECTOR_DOES_NOT_EXIST:
        return value == NULL;
    case SELECTOR_GREATER:
        return value && labels_parse_int(*value, &number) && number > r->number;
    case SELECTOR_LESS:
        return value && labels_parse_int(*value, &number) && number < r->number;
    }
    return false;
}

bool selector_matches(const struct selector *s, struct labels labels)
{
    for (size_t i = 0; i < s->n; i++)
        if (!requirement_matches(&s->at[i], labels))
            return false;
    return !s->nothing;
}

const struct str *selector_exact(const struct selector *s, struct str key)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct requirement *r = &s->at[i];
        if (!str_eq(r->key, key))
            continue;
        bool equals = r->op == SELECTOR_EQUALS || r->op == SELECTOR_DOUBLE_EQUALS || r->op == SELECTOR_IN;
        return equals && r->values.n == 1 ? &r->values.at[0] : NULL;
    }
    return NULL;
}

/* ---- printing ---- */

static void print_requirement(const struct requirement *r, struct strbuf *to)
{
    bool set = r->op == SELECTOR_IN || r->op == SELECTOR_NOT_IN;
    if (r->op == SELECTOR_DOES_NOT_EXIST)
        strbuf_add_char(to, '!');
    strbuf_add_str(to, r->key);
    strbuf_add_text(to, ops[r->op].text);
    if (set)
        strbuf_add_char(to, '(');
    for (size_t i = 0; i < r->values.n; i++) {
        if (i)
            strbuf_add_char(to, ',');
        strbuf_add_str(to, r->sorted[i]);
    }
    if (set)
        strbuf_add_char(to, ')');
}

struct str selector_text(struct arena *a, const struct selector *s)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    for (size_t i = 0; i < s->n; i++) {
        if (i)
            strbuf_add_char(&text, ',');
        print_requirement(&s->at[i], &text);
    }
    return field_take_text(a, &text);
}
