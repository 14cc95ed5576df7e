/* codec/yaml_emit.c - see yaml_priv.h: indentation and scalars as go-yaml v2 writes them.
 *
 * Written by hand rather than on libyaml's emitter, because kubectl's output is compared byte by byte and
 * libyaml has changed since go-yaml was made of it (what is printable, document ends, indented lists). What
 * go-yaml does is kept where it looks odd: a text that begins with a byte order mark has all its characters
 * escaped, those above U+FFFF always are, and lines are folded at the first single blank behind column 80. */
#include "codec/yaml_priv.h"

#include "base/printable.h"
#include "base/utf8.h"

enum {
    BEST_INDENT = 2,
    BEST_WIDTH = 80,
    SIMPLE_KEY_BYTES_MAX = 128,
};

/* ---- Characters ---- */

/* A character of valid UTF-8; NUL past the end. */
struct character {
    struct str bytes;
    uint32_t rune;
};

static struct character char_at(struct str s, size_t at)
{
    struct character c = { { s.p + at, 1 }, 0 };
    if (at >= s.n)
        return (struct character){ 0 };
    size_t n = utf8_decode(str_from(s, at), &c.rune);
    c.bytes.n = n ? n : 1;
    return c;
}

static bool is_blank(uint32_t rune)
{
    return rune == ' ' || rune == '\t';
}

static bool is_break(uint32_t rune)
{
    return rune == '\n' || rune == '\r' || rune == 0x85 || rune == 0x2028 || rune == 0x2029;
}

static bool is_printable(uint32_t rune)
{
    return rune == '\n' || (rune >= 0x20 && rune <= 0x7E) || (rune >= 0xA0 && rune <= 0xD7FF) ||
           (rune >= 0xE000 && rune <= 0xFFFD && rune != 0xFEFF);
}

/* Must be written as an escape. */
static bool is_special(uint32_t rune, bool visible)
{
    return !is_printable(rune) || (visible && rune != '\n' && !printable_rune(rune));
}

static bool is_space_at(struct str s, size_t at)
{
    return at < s.n && s.p[at] == ' ';
}

/* ---- Writing ---- */

static void put(struct yaml_emitter *m, struct str character)
{
    strbuf_add_str(m->to, character);
    m->column++;
}

static void put_break(struct yaml_emitter *m)
{
    strbuf_add_char(m->to, '\n');
    m->column = 0;
}

/* A line break of the text itself. */
static void put_text_break(struct yaml_emitter *m, struct character c)
{
    strbuf_add_str(m->to, c.bytes);
    m->column = 0;
    m->indention = true;
}

struct yaml_emitter yaml_emitter_init(struct strbuf *to, bool visible)
{
    return (struct yaml_emitter){ .to = to, .visible = visible, .indent = -1, .whitespace = true, .indention = true };
}

void yaml_emit_indent(struct yaml_emitter *m)
{
    size_t indent = m->indent < 0 ? 0 : (size_t)m->indent;
    if (!m->indention || m->column > indent || (m->column == indent && !m->whitespace))
        put_break(m);
    while (m->column < indent)
        put(m, STR(" "));
    m->whitespace = true;
    m->indention = true;
}

void yaml_emit_indicator(struct yaml_emitter *m, struct str text, bool blank_before, bool blank_after,
                         bool keeps_indention)
{
    if (blank_before && !m->whitespace)
        put(m, STR(" "));
    strbuf_add_str(m->to, text);
    m->column += text.n;
    m->whitespace = blank_after;
    m->indention = m->indention && keeps_indention;
}

/* ---- What a text allows ---- */

struct analysis {
    bool multiline;
    bool plain, single_quoted, block; /* styles that can hold it */
};

/* The character at `at` would be taken as an indicator there. */
static bool is_indicator(struct str s, size_t at, struct character c, uint32_t before)
{
    uint32_t after = char_at(s, at + c.bytes.n).rune;
    bool blank_after = at + c.bytes.n >= s.n || is_blank(after);
    if (c.rune == ':')
        return blank_after;
    if (c.rune == '#')
        return at == 0 || is_blank(before) || is_break(before) || before == 0;
    if (at > 0 || c.rune >= 0x80 || c.rune == 0)
        return false;
    if (c.rune == '?' || c.rune == '-')
        return blank_after;
    return strchr(",[]{}&*!|>'\"%@`", (int)c.rune) != NULL;
}

struct survey {
    bool indicators, special, breaks;
    bool leading, trailing; /* a space or break at that end */
    bool trailing_space, break_space, space_break;
};

static struct survey survey_of(struct str s, bool visible)
{
    struct survey v = { .indicators = str_starts(s, STR("---")) || str_starts(s, STR("...")) };
    uint32_t before = ' ';
    for (size_t at = 0; at < s.n;) {
        struct character c = char_at(s, at);
        bool is_last = at + c.bytes.n == s.n, space = c.rune == ' ', line_break = is_break(c.rune);
        v.indicators |= is_indicator(s, at, c, before);
        v.special |= is_special(c.rune, visible);
        v.breaks |= line_break;
        v.leading |= at == 0 && (space || line_break);
        v.trailing |= is_last && (space || line_break);
        v.trailing_space |= is_last && space;
        v.break_space |= at > 0 && space && is_break(before);
        v.space_break |= at > 0 && line_break && before == ' ';
        before = c.rune;
        at += c.bytes.n;
    }
    return v;
}

static struct analysis analyze(struct str s, bool visible)
{
    if (s.n == 0)
        return (struct analysis){ .plain = true, .single_quoted = true };
    struct survey v = survey_of(s, visible);
    bool never = v.space_break || v.special;
    return (struct analysis){
        .multiline = v.breaks,
        .plain = !never && !v.leading && !v.trailing && !v.break_space && !v.breaks && !v.indicators,
        .single_quoted = !never && !v.break_space,
        .block = !never && !v.trailing_space,
    };
}

bool yaml_emit_is_simple_key(struct str text)
{
    return text.n <= SIMPLE_KEY_BYTES_MAX && !analyze(text, false).multiline;
}

/* ---- Styles ---- */

static bool should_fold(const struct yaml_emitter *m, bool may_fold, bool after_space)
{
    return may_fold && !after_space && m->column > BEST_WIDTH;
}

static void write_plain(struct yaml_emitter *m, struct str s, bool may_fold)
{
    if (!m->whitespace)
        put(m, STR(" "));
    bool spaces = false;
    for (size_t at = 0; at < s.n;) {
        struct character c = char_at(s, at);
        at += c.bytes.n;
        if (c.rune == ' ' && should_fold(m, may_fold, spaces) && !is_space_at(s, at))
            yaml_emit_indent(m);
        else
            put(m, c.bytes);
        spaces = c.rune == ' ';
        if (!spaces)
            m->indention = false;
    }
    m->whitespace = false;
    m->indention = false;
}

static void write_single_quoted(struct yaml_emitter *m, struct str s, bool may_fold)
{
    yaml_emit_indicator(m, STR("'"), true, false, false);
    bool spaces = false, breaks = false;
    for (size_t at = 0; at < s.n;) {
        struct character c = char_at(s, at);
        bool inside = at > 0 && at + 1 < s.n;
        at += c.bytes.n;
        if (c.rune == ' ') {
            if (should_fold(m, may_fold, spaces) && inside && !is_space_at(s, at))
                yaml_emit_indent(m);
            else
                put(m, c.bytes);
            spaces = true;
        } else if (is_break(c.rune)) {
            put_text_break(m, c);
            breaks = true;
        } else {
            if (breaks)
                yaml_emit_indent(m);
            if (c.rune == '\'')
                put(m, STR("'"));
            put(m, c.bytes);
            m->indention = false;
            spaces = breaks = false;
        }
    }
    yaml_emit_indicator(m, STR("'"), false, false, false);
}

static void put_escape(struct yaml_emitter *m, uint32_t rune)
{
    static const struct {
        uint32_t rune;
        char letter;
    } letters[] = {
        { 0x00, '0' }, { 0x07, 'a' },  { 0x08, 'b' }, { 0x09, 't' }, { 0x0A, 'n' },
        { 0x0B, 'v' }, { 0x0C, 'f' },  { 0x0D, 'r' }, { 0x1B, 'e' }, { '"', '"' },
        { '\\', '\\' }, { 0x85, 'N' }, { 0xA0, '_' }, { 0x2028, 'L' }, { 0x2029, 'P' },
    };
    size_t before = m->to->n;
    for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
        if (letters[i].rune == rune) {
            strbuf_printf(m->to, "\\%c", letters[i].letter);
            m->column += m->to->n - before;
            return;
        }
    strbuf_printf(m->to, rune <= 0xFF ? "\\x%02X" : rune <= 0xFFFF ? "\\u%04X" : "\\U%08X", rune);
    m->column += m->to->n - before;
}

static void write_double_quoted(struct yaml_emitter *m, struct str s, bool may_fold)
{
    yaml_emit_indicator(m, STR("\""), true, false, false);
    bool escape_all = str_starts(s, STR("\xEF\xBB\xBF")), spaces = false;
    for (size_t at = 0; at < s.n;) {
        struct character c = char_at(s, at);
        bool inside = at > 0 && at + 1 < s.n;
        at += c.bytes.n;
        bool space = c.rune == ' ' && !escape_all;
        if (escape_all || is_special(c.rune, m->visible) || is_break(c.rune) || c.rune == '"' || c.rune == '\\') {
            put_escape(m, c.rune);
        } else if (space && inside && should_fold(m, may_fold, spaces)) {
            yaml_emit_indent(m);
            if (is_space_at(s, at))
                put(m, STR("\\"));
        } else {
            put(m, c.bytes);
        }
        spaces = space;
    }
    yaml_emit_indicator(m, STR("\""), false, false, false);
}

static size_t last_char(struct str s)
{
    size_t at = s.n - 1;
    while (at > 0 && ((unsigned char)s.p[at] & 0xC0) == 0x80)
        at--;
    return at;
}

/* "-" when the text does not end in a break, "+" when it ends in more than one or is nothing else. */
static struct str chomping(struct str s)
{
    size_t last = last_char(s);
    if (!is_break(char_at(s, last).rune))
        return STR("-");
    if (last == 0 || is_break(char_at(s, last_char(str_first(s, last))).rune))
        return STR("+");
    return STR("");
}

static void write_literal(struct yaml_emitter *m, struct str s)
{
    uint32_t first = char_at(s, 0).rune;
    yaml_emit_indicator(m, STR("|"), true, false, false);
    if (first == ' ' || is_break(first))
        yaml_emit_indicator(m, STR("2"), false, false, false);
    yaml_emit_indicator(m, chomping(s), false, false, false);
    put_break(m);
    m->indention = true;
    m->whitespace = true;
    bool breaks = true;
    for (size_t at = 0; at < s.n;) {
        struct character c = char_at(s, at);
        at += c.bytes.n;
        if (is_break(c.rune)) {
            put_text_break(m, c);
            breaks = true;
            continue;
        }
        if (breaks)
            yaml_emit_indent(m);
        put(m, c.bytes);
        m->indention = false;
        breaks = false;
    }
}

/* ---- Scalars ---- */

/* [-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)? : a number to YAML 1.1, though not to us. */
static bool is_base60(struct str s)
{
    size_t at = s.n && (s.p[0] == '-' || s.p[0] == '+');
    if (at >= s.n || s.p[at] < '0' || s.p[at] > '9')
        return false;
    while (at < s.n && ((s.p[at] >= '0' && s.p[at] <= '9') || s.p[at] == '_'))
        at++;
    size_t n_parts = 0;
    for (; at < s.n && s.p[at] == ':'; n_parts++) {
        size_t n = 0;
        while (n < 2 && at + 1 + n < s.n && s.p[at + 1 + n] >= '0' && s.p[at + 1 + n] <= '9')
            n++;
        if (n == 0 || (n == 2 && s.p[at + 1] > '5'))
            return false;
        at += 1 + n;
    }
    if (at < s.n && s.p[at] == '.')
        do
            at++;
        while (at < s.n && ((s.p[at] >= '0' && s.p[at] <= '9') || s.p[at] == '_'));
    return n_parts && at == s.n;
}

/* Would not be read as a string without quotes. */
static bool needs_quotes(struct str s)
{
    return yaml_resolve(s, true).type != YAML_STR || is_base60(s);
}

void yaml_emit_string(struct yaml_emitter *m, struct str text, bool key)
{
    struct analysis a = analyze(text, m->visible);
    bool literal = str_index(text, '\n') < text.n;
    bool quotes = !literal && needs_quotes(text);
    int indent = m->indent;
    m->indent = indent < 0 ? BEST_INDENT : indent + BEST_INDENT;
    if (literal && a.block && !key)
        write_literal(m, text);
    else if (!literal && !quotes && a.plain)
        write_plain(m, text, !key);
    else if (!literal && !quotes && a.single_quoted)
        write_single_quoted(m, text, !key);
    else
        write_double_quoted(m, text, !key);
    m->indent = indent;
}

void yaml_emit_plain(struct yaml_emitter *m, struct str text)
{
    write_plain(m, text, false);
}
