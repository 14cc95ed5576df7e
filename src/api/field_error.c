/* api/field_error.c - see field_error.h. */
#include "api/field_error.h"

#include "base/arena_array.h"
#include "base/sort.h"
#include "base/utf8.h"

static const struct {
    const char *reason, *text;
} types[] = {
#define X(name, reason, text) [FIELD_ERROR_##name] = { reason, text },
    FIELD_ERROR_TYPES(X)
#undef X
};

struct str field_take_text(struct arena *a, struct strbuf *own_text)
{
    struct str copy = arena_str(a, strbuf_str(own_text));
    strbuf_fini(own_text);
    return copy;
}

/* ---- paths ---- */

/* Paths are as deep as the types are nested, so the depth of the recursion is no input's choice. */
static void print_path(const struct field_path *path, struct strbuf *to)
{
    if (path->parent)
        print_path(path->parent, to);
    if (path->kind == FIELD_PATH_MEMBER) {
        if (path->parent)
            strbuf_add_char(to, '.');
        strbuf_add_str(to, path->text);
        return;
    }
    strbuf_add_char(to, '[');
    if (path->kind == FIELD_PATH_INDEX)
        strbuf_add_uint(to, path->index);
    else
        strbuf_add_str(to, path->text);
    strbuf_add_char(to, ']');
}

struct str field_path_text(struct arena *a, const struct field_path *path)
{
    if (!path)
        return STR("<nil>");
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    print_path(path, &text);
    return field_take_text(a, &text);
}

/* ---- printing ---- */

static void add_json_rune(struct strbuf *to, uint32_t rune, struct str bytes)
{
    static const char short_escapes[] = { [8] = 'b', [9] = 't', [10] = 'n', [12] = 'f', [13] = 'r' };
    if (rune == '"' || rune == '\\') {
        strbuf_add_char(to, '\\');
        strbuf_add_char(to, (char)rune);
    } else if (rune < sizeof(short_escapes) && short_escapes[rune]) {
        strbuf_add_char(to, '\\');
        strbuf_add_char(to, short_escapes[rune]);
    } else if (rune < ' ' || rune == '<' || rune == '>' || rune == '&' || rune == 0x2028 ||
               rune == 0x2029) {
        strbuf_printf(to, "\\u%04x", rune);
    } else {
        strbuf_add_str(to, bytes);
    }
}

void field_add_json_string(struct strbuf *to, struct str text)
{
    strbuf_add_char(to, '"');
    for (size_t at = 0; at < text.n;) {
        uint32_t rune;
        size_t n = utf8_decode(str_from(text, at), &rune);
        if (n)
            add_json_rune(to, rune, (struct str){ text.p + at, n });
        else
            STRBUF_ADD_LIT(to, "\\ufffd");
        at += n ? n : 1;
    }
    strbuf_add_char(to, '"');
}

static void print_list(const struct str *list, size_t n, struct strbuf *to)
{
    if (!list) {
        STRBUF_ADD_LIT(to, "null");
        return;
    }
    strbuf_add_char(to, '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            strbuf_add_char(to, ',');
        field_add_json_string(to, list[i]);
    }
    strbuf_add_char(to, ']');
}

static void print_list_shown(const struct str *list, size_t n, struct strbuf *to)
{
    struct strbuf whole;
    strbuf_init(&whole, STRBUF_NO_MAX);
    print_list(list, n, &whole);
    strbuf_add_shown(to, strbuf_str(&whole));
    strbuf_fini(&whole);
}

static void print_value(const struct field_value *value, struct strbuf *to)
{
    switch (value->kind) {
    case FIELD_VALUE_OMITTED:
        break;
    case FIELD_VALUE_STR:
        strbuf_add_quoted_shown(to, value->text);
        break;
    case FIELD_VALUE_ENUM:
        field_add_json_string(to, value->text);
        break;
    case FIELD_VALUE_STRS:
        print_list_shown(value->list, value->n_list, to);
        break;
    case FIELD_VALUE_JSON:
        strbuf_add_shown(to, value->text);
        break;
    case FIELD_VALUE_INT:
        strbuf_add_int(to, value->number);
        break;
    case FIELD_VALUE_BOOL:
        strbuf_add_text(to, value->number ? "true" : "false");
        break;
    }
}

void field_error_body(const struct field_error *e, struct strbuf *to)
{
    strbuf_add_text(to, types[e->type].text);
    if (e->value.kind != FIELD_VALUE_OMITTED) {
        STRBUF_ADD_LIT(to, ": ");
        print_value(&e->value, to);
    }
    if (e->detail.n) {
        STRBUF_ADD_LIT(to, ": ");
        strbuf_add_str(to, e->detail);
    }
}

struct str field_error_text(struct arena *a, const struct field_error *e)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_add_str(&text, e->path);
    STRBUF_ADD_LIT(&text, ": ");
    field_error_body(e, &text);
    return field_take_text(a, &text);
}

const char *field_error_reason(enum field_error_type type)
{
    return types[type].reason;
}

/* ---- all errors as one text ---- */

struct ranked_text {
    struct str text;
    size_t position;
};

static int by_text(const void *a, const void *b)
{
    return str_cmp(((const struct ranked_text *)a)->text, ((const struct ranked_text *)b)->text);
}

/* Empties every text that stood before; returns how many are left. */
static size_t drop_repeated(struct arena *a, struct str *texts, size_t n)
{
    struct ranked_text *ranked = ARENA_NEW_N(a, struct ranked_text, n);
    for (size_t i = 0; i < n; i++)
        ranked[i] = (struct ranked_text){ texts[i], i };
    sort_stable(a, ranked, n, sizeof(*ranked), by_text);
    size_t left = n;
    for (size_t i = 1; i < n; i++)
        if (str_eq(ranked[i - 1].text, ranked[i].text)) {
            texts[ranked[i].position].n = 0;
            left--;
        }
    return left;
}

struct str field_errors_text(struct arena *a, const struct field_errors *errs)
{
    struct str *texts = ARENA_NEW_N(a, struct str, errs->n);
    for (size_t i = 0; i < errs->n; i++)
        texts[i] = field_error_text(a, &errs->at[i]);
    size_t left = drop_repeated(a, texts, errs->n);
    struct strbuf all;
    strbuf_init(&all, STRBUF_NO_MAX);
    if (left > 1)
        strbuf_add_char(&all, '[');
    for (size_t i = 0, n_shown = 0; i < errs->n; i++) {
        if (texts[i].n == 0)
            continue;
        if (n_shown++)
            STRBUF_ADD_LIT(&all, ", ");
        strbuf_add_str(&all, texts[i]);
    }
    if (left > 1)
        strbuf_add_char(&all, ']');
    return field_take_text(a, &all);
}

/* ---- appending ---- */

static size_t value_bytes(const struct field_value *value)
{
    size_t n = value->text.n;
    for (size_t i = 0; i < value->n_list; i++)
        n += value->list[i].n + sizeof("\"\",") - 1;
    return n;
}

static void add(struct field_errors *errs, enum field_error_type type, const struct field_path *at,
                struct field_value value, struct str detail)
{
    if (field_errors_full(errs)) {
        errs->n_dropped++;
        return;
    }
    struct str path = field_path_text(errs->arena, at);
    errs->at = arena_array_more(errs->arena, errs->at, errs->n, &errs->cap, sizeof(*errs->at));
    errs->at[errs->n++] = (struct field_error){ type, path, value, detail };
    errs->n_bytes += sizeof(*errs->at) + path.n + value_bytes(&value) + detail.n;
}

static const struct field_value omitted = { .kind = FIELD_VALUE_OMITTED };

void field_invalid(struct field_errors *errs, const struct field_path *at, struct field_value value,
                   struct str detail)
{
    add(errs, FIELD_ERROR_INVALID, at, value, detail);
}

void field_type_invalid(struct field_errors *errs, const struct field_path *at,
                        struct field_value value, struct str detail)
{
    add(errs, FIELD_ERROR_TYPE_INVALID, at, value, detail);
}

void field_required(struct field_errors *errs, const struct field_path *at, struct str detail)
{
    add(errs, FIELD_ERROR_REQUIRED, at, omitted, detail);
}

void field_forbidden(struct field_errors *errs, const struct field_path *at, struct str detail)
{
    add(errs, FIELD_ERROR_FORBIDDEN, at, omitted, detail);
}

void field_not_found(struct field_errors *errs, const struct field_path *at, struct field_value value)
{
    field_not_found_among(errs, at, value, STR(""));
}

void field_not_found_among(struct field_errors *errs, const struct field_path *at, struct field_value value,
                           struct str detail)
{
    add(errs, FIELD_ERROR_NOT_FOUND, at, value, detail);
}

void field_duplicate(struct field_errors *errs, const struct field_path *at, struct field_value value)
{
    add(errs, FIELD_ERROR_DUPLICATE, at, value, STR(""));
}

void field_not_supported(struct field_errors *errs, const struct field_path *at,
                         struct field_value value, const char *const *supported, size_t n_supported)
{
    struct strbuf detail;
    strbuf_init(&detail, STRBUF_NO_MAX);
    for (size_t i = 0; i < n_supported && !field_errors_full(errs); i++) {
        strbuf_add_text(&detail, i ? ", " : "supported values: ");
        strbuf_add_quoted(&detail, str_of(supported[i]));
    }
    add(errs, FIELD_ERROR_NOT_SUPPORTED, at, value, field_take_text(errs->arena, &detail));
}

/* "<must> <limit> <unit>s", or `unnamed` when there is no limit to name or no one to tell. */
static struct str limit_text(struct field_errors *errs, const char *must, int64_t limit,
                             const char *unit, const char *unnamed)
{
    if (limit < 0 || field_errors_full(errs))
        return str_of(unnamed);
    const char *plural = limit == 1 ? "" : "s";
    return str_of(arena_printf(errs->arena, "%s %lld %s%s", must, (long long)limit, unit, plural));
}

void field_too_long(struct field_errors *errs, const struct field_path *at, int64_t max_bytes)
{
    add(errs, FIELD_ERROR_TOO_LONG, at, omitted,
        limit_text(errs, "may not be more than", max_bytes, "byte", "value is too long"));
}

void field_too_long_characters(struct field_errors *errs, const struct field_path *at, int64_t max)
{
    add(errs, FIELD_ERROR_TOO_LONG, at, omitted,
        limit_text(errs, "may not be more than", max, "character", "value is too long"));
}

void field_too_short(struct field_errors *errs, const struct field_path *at, int64_t min_characters)
{
    add(errs, FIELD_ERROR_TOO_SHORT, at, omitted,
        limit_text(errs, "must be at least", min_characters, "character", "value is too short"));
}

void field_too_many(struct field_errors *errs, const struct field_path *at, int64_t actual, int64_t max)
{
    add(errs, FIELD_ERROR_TOO_MANY, at, actual < 0 ? omitted : field_int(actual),
        limit_text(errs, "must have at most", max, "item", "has too many items"));
}

void field_too_few(struct field_errors *errs, const struct field_path *at, int64_t actual, int64_t min)
{
    add(errs, FIELD_ERROR_TOO_FEW, at, field_int(actual),
        limit_text(errs, "must have at least", min, "item", "has too few items"));
}

void field_internal(struct field_errors *errs, const struct field_path *at, struct str detail)
{
    add(errs, FIELD_ERROR_INTERNAL, at, omitted, detail);
}
