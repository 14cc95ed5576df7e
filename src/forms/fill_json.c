/* forms/fill_json.c - input structs from JSON; see fill.h.
 *
 * A function returns false either with an error set or, without, on a fault of syntax, which is put into
 * words once at the end. */
#include "api/time.h"
#include "codec/json_scan.h"
#include "forms/fill_priv.h"

struct json_decoder {
    struct fill_decoder d;
    struct json_scan s;
};

static inline bool read_string(struct json_decoder *j, struct str *ret_text)
{
    struct json_text text;
    if (!json_scan_string(&j->s, &text))
        return false;
    *ret_text = json_unescape(j->d.arena, text);
    return true;
}

/* Inline, always: a key that comes back through memory stalls its reader. */
__attribute__((always_inline)) static inline bool read_key(struct json_decoder *j, struct str *ret_key)
{
    struct json_text text;
    if (!json_scan_key(&j->s, &text))
        return false;
    *ret_key = json_unescape(j->d.arena, text);
    return true;
}

static bool read_null(struct json_decoder *j)
{
    return json_scan_word(&j->s, STR("null"));
}

/* Digits with an optional sign; false when there is anything else or it does not fit. */
static bool parse_int(struct str text, int64_t *ret_value)
{
    bool negative = text.n && text.p[0] == '-';
    uint64_t value = 0, limit = negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
    for (size_t i = negative; i < text.n; i++) {
        unsigned digit = (unsigned)(text.p[i] - '0');
        if (digit > 9 || value > (limit - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *ret_value = (int64_t)(negative ? -value : value);
    return true;
}

static bool fill_number(struct json_decoder *j, const struct type *t, unsigned slot, struct fill_int *into)
{
    struct str text;
    if (!json_scan_number(&j->s, &text))
        return false;
    int64_t value;
    bool narrow = t->fields[slot].kind == KIND_INT32;
    if (!parse_int(text, &value) || (narrow && value != (int32_t)value)) {
        const char *what = arena_printf(j->d.e->arena, "number %.*s", STR_ARG(str_first(text, 40)));
        return fill_wrong_type(&j->d, t, slot, what);
    }
    *into = (struct fill_int){ value, true };
    return true;
}

static bool fill_word(struct json_decoder *j, fill_bool *into)
{
    bool yes = *j->s.at == 't';
    if (!json_scan_word(&j->s, yes ? STR("true") : STR("false")))
        return false;
    *into = yes ? 1 : -1;
    return true;
}

static bool fill_moment(struct json_decoder *j, const struct type *t, unsigned slot, struct fill_time *into)
{
    struct str text;
    if (!read_string(j, &text))
        return false;
    bool micro = t->fields[slot].kind == KIND_MICRO_TIME;
    struct timestamp time;
    if (micro ? timestamp_parse_micro(text, &time, j->d.e) : timestamp_parse(text, &time, j->d.e))
        return fill_in_field(&j->d, t, slot);
    *into = (struct fill_time){ time.seconds, micro ? time.nanos - time.nanos % 1000 : 0, true };
    return true;
}

/* The text between the quotes or of a number, without white space around it; escapes stay, as upstream. */
static bool read_quantity(struct json_decoder *j, struct str *ret_text)
{
    struct str text;
    if (*j->s.at == '"') {
        struct json_text token;
        if (!json_scan_string(&j->s, &token))
            return false;
        text = token.raw;
        while (text.n && (text.p[0] == ' ' || text.p[0] == '\t'))
            text = str_from(text, 1);
        while (text.n && (text.p[text.n - 1] == ' ' || text.p[text.n - 1] == '\t'))
            text.n--;
    } else if (!json_scan_number(&j->s, &text)) {
        return false;
    }
    *ret_text = text;
    return true;
}

static bool read_object(struct json_decoder *j, const struct fill_type *t, char *into);

/* ---- Lists and maps ---- */

static bool fill_objects(struct json_decoder *j, const struct fill_row *row, const struct type *t, unsigned slot,
                         struct fill_list *list)
{
    if (!json_enter(&j->s, '['))
        return false;
    bool first = true, fault;
    uint32_t n = 0;
    while (json_next(&j->s, ']', &first, &fault)) {
        void *item = fill_item(&j->d, list, n++, row->sub->n_bytes);
        if (!item)
            return fill_in_field(&j->d, t, slot);
        char c = json_peek(&j->s);
        if (c == 'n' ? !read_null(j) : c == '{' && !read_object(j, row->sub, item))
            return false;
        if (c != 'n' && c != '{')
            return fill_wrong_type(&j->d, t, slot, json_kind_name(c));
    }
    list->n = n;
    list->given = true;
    return !fault;
}

static bool fill_texts(struct json_decoder *j, const struct type *t, unsigned slot, struct fill_list *list)
{
    if (!json_enter(&j->s, '['))
        return false;
    bool first = true, fault;
    uint32_t n = 0;
    while (json_next(&j->s, ']', &first, &fault)) {
        struct str *item = fill_item(&j->d, list, n++, sizeof(struct str));
        if (!item)
            return fill_in_field(&j->d, t, slot);
        if (!item->p)
            *item = STR("");
        char c = json_peek(&j->s);
        if (c == 'n' ? !read_null(j) : c == '"' && !read_string(j, item))
            return false;
        if (c != 'n' && c != '"')
            return fill_wrong_type(&j->d, t, slot, json_kind_name(c));
    }
    list->n = n;
    list->given = true;
    return !fault;
}

static bool fill_entry(struct json_decoder *j, const struct type *t, unsigned slot, struct fill_pair *pair)
{
    if (!read_key(j, &pair->key))
        return false;
    bool quantity = t->fields[slot].kind == KIND_QUANTITY;
    pair->value = quantity ? STR("0") : STR("");
    char c = json_peek(&j->s);
    if (c == 'n')
        return read_null(j);
    bool number = c == '-' || (c >= '0' && c <= '9');
    if (c != '"' && !(quantity && number))
        return fill_wrong_type(&j->d, t, slot, json_kind_name(c));
    return quantity ? read_quantity(j, &pair->value) : read_string(j, &pair->value);
}

/* A map given twice merges: entries are only ever added. */
static bool fill_entries(struct json_decoder *j, const struct type *t, unsigned slot, struct fill_list *list)
{
    if (!json_enter(&j->s, '{'))
        return false;
    list->given = true;
    bool first = true, fault;
    while (json_next(&j->s, '}', &first, &fault)) {
        struct fill_pair *pair = fill_item(&j->d, list, list->n, sizeof(*pair));
        if (!pair)
            return fill_in_field(&j->d, t, slot);
        if (!fill_entry(j, t, slot, pair))
            return false;
    }
    return !fault;
}

static bool fill_keys(struct json_decoder *j, const struct type *t, unsigned slot, struct fill_list *list)
{
    if (!json_enter(&j->s, '{'))
        return false;
    list->given = true;
    bool first = true, fault;
    while (json_next(&j->s, '}', &first, &fault)) {
        struct str *key = fill_item(&j->d, list, list->n, sizeof(*key));
        if (!key)
            return fill_in_field(&j->d, t, slot);
        if (!read_key(j, key) || !json_skip_value(&j->s))
            return false;
    }
    return !fault;
}

/* ---- Fields ---- */

/* The first byte that a value must have. */
static char expected_first(const struct fill_row *row)
{
    switch ((enum fill_how)row->how) {
    case FILL_HOW_STR:
    case FILL_HOW_TIME:
        return '"';
    case FILL_HOW_LIST:
    case FILL_HOW_STRS:
        return '[';
    case FILL_HOW_STRUCT:
    case FILL_HOW_POINTER:
    case FILL_HOW_MAP:
    case FILL_HOW_KEYS:
        return '{';
    default:
        return '\0';
    }
}

/* null: pointers, lists and maps are cleared, the rest stays as it is. */
static void fill_null(const struct fill_row *row, const struct field *field, char *at)
{
    bool pointer = field->flags & FIELD_PTR;
    switch ((enum fill_how)row->how) {
    case FILL_HOW_POINTER:
        *(void **)at = NULL;
        return;
    case FILL_HOW_LIST:
    case FILL_HOW_STRS:
    case FILL_HOW_MAP:
    case FILL_HOW_KEYS:
        *(struct fill_list *)at = (struct fill_list){ 0 };
        return;
    case FILL_HOW_TIME:
        *(struct fill_time *)at = (struct fill_time){ 0 };
        return;
    case FILL_HOW_QUANTITY:
        *(struct str *)at = pointer ? (struct str){ 0 } : STR("0");
        return;
    case FILL_HOW_STR:
        if (pointer)
            *(struct str *)at = (struct str){ 0 };
        return;
    case FILL_HOW_BOOL:
        if (pointer)
            *(fill_bool *)at = 0;
        return;
    case FILL_HOW_INT:
        if (pointer)
            *(struct fill_int *)at = (struct fill_int){ 0 };
        return;
    default:
        return;
    }
}

static bool fill_value(struct json_decoder *j, const struct fill_row *row, const struct type *t, unsigned slot,
                       char c, char *at)
{
    void *pointee;
    bool number = c == '-' || (c >= '0' && c <= '9');
    switch ((enum fill_how)row->how) {
    case FILL_HOW_STR:
        return read_string(j, (struct str *)at);
    case FILL_HOW_TIME:
        return fill_moment(j, t, slot, (struct fill_time *)at);
    case FILL_HOW_STRUCT:
        return read_object(j, row->sub, at);
    case FILL_HOW_POINTER:
        pointee = fill_pointee(&j->d, (void **)at, row->sub);
        return pointee && read_object(j, row->sub, pointee);
    case FILL_HOW_LIST:
        return fill_objects(j, row, t, slot, (struct fill_list *)at);
    case FILL_HOW_STRS:
        return fill_texts(j, t, slot, (struct fill_list *)at);
    case FILL_HOW_MAP:
        return fill_entries(j, t, slot, (struct fill_list *)at);
    case FILL_HOW_KEYS:
        return fill_keys(j, t, slot, (struct fill_list *)at);
    case FILL_HOW_BOOL:
        if (c == 't' || c == 'f')
            return fill_word(j, (fill_bool *)at);
        break;
    case FILL_HOW_INT:
        if (number)
            return fill_number(j, t, slot, (struct fill_int *)at);
        break;
    case FILL_HOW_QUANTITY:
        if (number || c == '"')
            return read_quantity(j, (struct str *)at);
        break;
    default:
        break;
    }
    return fill_wrong_type(&j->d, t, slot, json_kind_name(c));
}

static bool fill_field(struct json_decoder *j, const struct fill_row *row, const struct type *t, unsigned slot,
                       char *at)
{
    char c = json_peek(&j->s);
    if (c == 'n') {
        fill_null(row, &t->fields[slot], at);
        return read_null(j);
    }
    char expected = expected_first(row);
    bool begins_value = c == '"' || c == '{' || c == '[' || c == 't' || c == 'f' || c == '-' || (c >= '0' && c <= '9');
    if (!begins_value)
        return false;
    if (expected && c != expected)
        return fill_wrong_type(&j->d, t, slot, json_kind_name(c));
    return fill_value(j, row, t, slot, c, at);
}

static bool read_object(struct json_decoder *j, const struct fill_type *t, char *into)
{
    if (!json_enter(&j->s, '{'))
        return false;
    bool first = true, fault;
    while (json_next(&j->s, '}', &first, &fault)) {
        struct str key;
        if (!read_key(j, &key))
            return false;
        int slot = schema_slot(t->type, key);
        const struct fill_row *row = slot >= 0 && slot < t->n_rows ? &t->rows[slot] : NULL;
        bool done = row && row->how != FILL_HOW_SKIP
                  ? fill_field(j, row, t->type, (unsigned)slot, into + row->offset)
                  : json_skip_value(&j->s);
        if (!done)
            return false;
    }
    return !fault;
}

enum err_code fill_json(struct fill_decoder *d, const struct fill_type *t, struct str text, void *into)
{
    struct json_decoder j = { *d, json_scan_init(text) };
    char c = json_peek(&j.s);
    bool object = c == '{';
    if (object && read_object(&j, t, into) && json_at_end(&j.s))
        return ERR_OK;
    if (d->e->code)
        return d->e->code;
    if (!object && json_skip_value(&j.s) && json_at_end(&j.s))
        return err_set(d->e, ERR_BAD_REQUEST, "%s where %s is expected", json_kind_name(c), t->type->go_name);
    if (json_check(text, d->e))
        return d->e->code;
    return err_set(d->e, ERR_BAD_REQUEST, "invalid JSON near byte %zu", (size_t)(j.s.at - text.p));
}
