/* api/field_selector.c - see field_selector.h. */
#include "api/field_selector.h"

#include "api/field_error.h"
#include "base/arena_array.h"
#include "base/sort.h"
#include "base/utf8.h"

/* ---- parsing ---- */

struct parts {
    struct str *at;
    size_t n, cap;
};

static void add_part(struct arena *a, struct parts *parts, struct str part)
{
    if (part.n == 0)
        return;
    parts->at = arena_array_more(a, parts->at, parts->n, &parts->cap, sizeof(*parts->at));
    parts->at[parts->n++] = part;
}

/* At commas that no backslash escapes. Empty parts are left out. */
static struct parts split(struct arena *a, struct str text)
{
    struct parts parts = { 0 };
    size_t start = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\\') {
            i++;
        } else if (text.p[i] == ',') {
            add_part(a, &parts, str_range(text.p + start, text.p + i));
            start = i + 1;
        }
    }
    add_part(a, &parts, str_from(text, start));
    return parts;
}

/* At the first operator; nothing can be escaped before it. False when there is none. */
static bool split_term(struct str part, struct field_term *ret_term, struct str *ret_escaped)
{
    for (size_t i = 0; i < part.n; i++) {
        struct str rest = str_from(part, i);
        bool not_equal = str_starts(rest, STR("!="));
        if (!not_equal && rest.p[0] != '=')
            continue;
        size_t n_op = not_equal || str_starts(rest, STR("==")) ? 2 : 1;
        *ret_term = (struct field_term){ .field = str_first(part, i), .not_equal = not_equal };
        *ret_escaped = str_from(rest, n_op);
        return true;
    }
    return false;
}

static bool is_special(char c)
{
    return c == '\\' || c == ',' || c == '=';
}

static bool has_special(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (is_special(s.p[i]))
            return true;
    return false;
}

/* What stands behind a backslash, as upstream shows it: a rune, or nothing at the end. */
static enum err_code bad_escape(struct err *e, struct str behind)
{
    uint32_t rune;
    char bytes[4] = { 0 };
    size_t n = 0;
    if (behind.n > 0)
        n = utf8_encode(utf8_decode(behind, &rune) ? rune : UTF8_REPLACEMENT, bytes);
    return err_set(e, ERR_BAD_REQUEST, "invalid field selector: invalid escape sequence: \\%.*s", (int)n,
                   bytes);
}

/* Takes the backslashes away. A value that has any is copied rune by rune, so bytes that are not UTF-8
 * become U+FFFD in it; others stay as they are. */
static enum err_code unescape(struct arena *a, struct str escaped, struct str *ret, struct err *e)
{
    if (!has_special(escaped)) {
        *ret = escaped;
        return ERR_OK;
    }
    char *to = arena_alloc(a, escaped.n * 3);
    size_t n = 0;
    for (size_t i = 0; i < escaped.n;) {
        bool escape = escaped.p[i] == '\\';
        struct str rest = str_from(escaped, i + escape);
        if (escape && (rest.n == 0 || !is_special(rest.p[0])))
            return bad_escape(e, rest);
        if (!escape && is_special(rest.p[0]))
            return err_set(e, ERR_BAD_REQUEST, "invalid field selector: unescaped character in value: %d",
                           rest.p[0]);
        uint32_t rune;
        size_t n_rune = utf8_decode(rest, &rune);
        n += utf8_encode(n_rune ? rune : UTF8_REPLACEMENT, to + n);
        i += escape + (n_rune ? n_rune : 1);
    }
    *ret = (struct str){ to, n };
    return ERR_OK;
}

enum err_code field_selector_parse(struct arena *a, struct work *work, struct str text, struct field_selector *ret,
                                   struct err *e)
{
    if (work_begin(work, text.n, e))
        return e->code;
    struct parts parts = split(a, text);
    uint64_t n_sort = work_of_sorting(parts.n, text.n);
    if (!work_take(work, text.n + n_sort)) /* the values are copied, too */
        return work_error(e);
    sort_stable(a, parts.at, parts.n, sizeof(*parts.at), sort_compare_strs);
    struct field_term *terms = ARENA_NEW_N(a, struct field_term, parts.n);
    size_t n = 0;
    for (size_t i = 0; i < parts.n; i++) {
        struct field_term term;
        struct str escaped;
        if (!split_term(parts.at[i], &term, &escaped)) {
            struct str all = err_shown(e, text), part = err_shown(e, parts.at[i]);
            return err_set(e, ERR_BAD_REQUEST, "invalid selector: '%.*s'; can't understand '%.*s'", STR_ARG(all),
                           STR_ARG(part));
        }
        enum err_code rc = unescape(a, escaped, &term.value, e);
        if (rc)
            return rc;
        /* as fields/selector.go v1.36: a term with neither field nor value restricts nothing */
        if (term.field.n > 0 || term.value.n > 0)
            terms[n++] = term;
    }
    *ret = (struct field_selector){ terms, n };
    return ERR_OK;
}

/* ---- matching ---- */

bool field_selector_matches(const struct field_selector *s, struct labels fields)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct str *found = labels_find(fields, s->at[i].field);
        bool equal = str_eq(found ? *found : STR(""), s->at[i].value);
        if (equal == s->at[i].not_equal)
            return false;
    }
    return true;
}

const struct str *field_selector_exact(const struct field_selector *s, struct str field)
{
    for (size_t i = 0; i < s->n; i++)
        if (!s->at[i].not_equal && str_eq(s->at[i].field, field))
            return &s->at[i].value;
    return NULL;
}

/* ---- printing ---- */

static void print_escaped(struct str value, struct strbuf *to)
{
    for (size_t i = 0; i < value.n; i++) {
        if (is_special(value.p[i]))
            strbuf_add_char(to, '\\');
        strbuf_add_char(to, value.p[i]);
    }
}

struct str field_selector_text(struct arena *a, const struct field_selector *s)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    for (size_t i = 0; i < s->n; i++) {
        if (i)
            strbuf_add_char(&text, ',');
        strbuf_add_str(&text, s->at[i].field);
        strbuf_add_text(&text, s->at[i].not_equal ? "!=" : "=");
        print_escaped(s->at[i].value, &text);
    }
    return field_take_text(a, &text);
}
