/* codec/json_scan.h - reading JSON text piece by piece, without a tree.
 *
 * What both decoders (generic values, typed forms) and the patches stand on. The accepted texts are
 * those of Go's encoding/json: any bytes inside strings from 0x20 on, also such that are not UTF-8, and
 * escapes of lone surrogates; both read as U+FFFD. Nesting ends at 10,000.
 *
 * The scanner stops at the first fault without saying which: json_check then words it, as Go does, and it
 * looks at the whole text, because a fault of syntax anywhere goes before all other errors.
 *
 * Thread: any; a scanner belongs to one. Slices point into the text. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { JSON_DEPTH_MAX = 10000 };

struct json_scan {
    const char *at, *end;
    unsigned depth;
};

/* A string token: the bytes between the quotes. */
struct json_text {
    struct str raw;
    bool plain; /* no escape and pure ASCII: `raw` is the text */
};

static inline struct json_scan json_scan_init(struct str text)
{
    const char *start = text.p ? text.p : "";
    return (struct json_scan){ start, start + text.n, 0 };
}

/* The first byte that is not white space, or the end. Made for text that is indented. */
const char *json_find_token(const char *at, const char *end);
static inline void json_skip_space(struct json_scan *s)
{
    if (s->at < s->end && (unsigned char)*s->at <= ' ')
        s->at = json_find_token(s->at, s->end);
}

/* The next byte that is not white space, not consumed; 0 at the end. */
static inline char json_peek(struct json_scan *s)
{
    json_skip_space(s);
    return s->at < s->end ? *s->at : '\0';
}

/* Consumes the next byte that is not white space if it is `c`. */
static inline bool json_take(struct json_scan *s, char c)
{
    if (json_peek(s) != c || s->at == s->end)
        return false;
    s->at++;
    return true;
}

/* High bit set in each byte of `word` that a string token cannot hold as it is or that is not ASCII:
 * '"', '\\', below 0x20, from 0x80 on. Bytes above the first hit may be wrong. */
static inline uint64_t json_special_bytes(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
    uint64_t quote = word ^ (ones * '"'), slash = word ^ (ones * '\\');
    uint64_t hits = (word - ones * 0x20) | (quote - ones) | (slash - ones) | word;
    return hits & highs;
}

/* The first such byte, or the end. */
static inline const char *json_find_special(const char *at, const char *end)
{
    while (end - at >= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        uint64_t hits = json_special_bytes(word);
        if (hits)
            return at + __builtin_ctzll(hits) / 8;
        at += 8;
    }
    while (at < end && *at != '"' && *at != '\\' && (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80)
        at++;
    return at;
}

/* Each consumes one token or value; false on a fault of syntax. */
bool json_scan_string_slow(struct json_scan *s, struct json_text *ret_text);
static inline bool json_scan_string(struct json_scan *s, struct json_text *ret_text)
{
    if (s->at == s->end || *s->at != '"')
        return false;
    const char *start = s->at + 1, *at = json_find_special(start, s->end);
    if (at == s->end || *at != '"') {
        struct json_text token; /* not ret_text: what a call may write to stays in memory, and reading it stalls */
        bool ok = json_scan_string_slow(s, &token);
        if (ok)
            *ret_text = token;
        return ok;
    }
    *ret_text = (struct json_text){ str_range(start, at), true };
    s->at = at + 1;
    return true;
}
bool json_scan_number(struct json_scan *s, struct str *ret_number);
bool json_scan_word(struct json_scan *s, struct str word); /* true, false, null */
bool json_skip_value(struct json_scan *s);
/* One value of any kind; its text without white space around it. */
bool json_scan_value(struct json_scan *s, struct str *ret_text);
/* "object", "array", "string", "bool", "null" or "number": what a value is by its first byte. */
const char *json_kind_name(char first_byte);
/* Nothing but white space is left. */
bool json_at_end(struct json_scan *s);

/* Into a container: `open` is '{' or '['. False when the next byte is another or the nesting is too deep. */
static inline bool json_enter(struct json_scan *s, char open)
{
    if (s->depth >= JSON_DEPTH_MAX || !json_take(s, open))
        return false;
    s->depth++;
    return true;
}

/* Call before each member or element, with the close byte. False at the end (closed) or on a fault
 * (*ret_fault). */
static inline bool json_next(struct json_scan *s, char close, bool *first, bool *ret_fault)
{
    char c = json_peek(s);
    *ret_fault = false;
    if (c == close) {
        s->at++;
        s->depth--;
        return false;
    }
    if (*first) {
        *first = false;
        return true;
    }
    *ret_fault = c != ',';
    if (*ret_fault)
        return false;
    s->at++;
    *ret_fault = json_peek(s) == close; /* a comma before the end */
    return !*ret_fault;
}

/* A member's key and the colon behind it. */
static inline bool json_scan_key(struct json_scan *s, struct json_text *ret_key)
{
    json_skip_space(s);
    return json_scan_string(s, ret_key) && json_take(s, ':');
}

/* The text of a string token: itself when plain, else unescaped into the arena if it has to be. */
struct str json_unescape_slow(struct arena *a, struct str raw);
static inline struct str json_unescape(struct arena *a, struct json_text text)
{
    return text.plain ? text.raw : json_unescape_slow(a, text.raw);
}
/* `text`, which must be valid, without white space outside of strings: itself when it has none. */
struct str json_strip(struct arena *a, struct str text);
/* Appends `text` to a buffer without white space outside of strings and with <, >, &, U+2028 and U+2029
 * escaped, as the API server writes raw JSON again. `text` must be valid. */
struct strbuf;
void json_compact(struct strbuf *to, struct str text);

/* ERR_OK, or BAD_REQUEST with the text of Go's encoding/json for the first fault in the whole text. */
enum err_code json_check(struct str text, struct err *e) ERR_MUST_CHECK;
