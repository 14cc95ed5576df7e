/* codec/json_check.c - the first fault of syntax in a JSON text, worded as Go's encoding/json words it.
 *
 * Slower than the scanner and only asked when that has failed. Reads byte by byte what may come next; the end
 * of the text counts as one blank, as in Go, so that `tru` is blamed on ' ' while an open string or container
 * is an unexpected end. */
#include "codec/json_scan.h"

#include "base/strbuf.h"
#include "base/utf8.h"

struct check {
    const char *at, *end;
    unsigned depth;
    const char *context;                         /* of the fault, NULL: the text ended too early */
    char fault;                                  /* the byte that is wrong */
    uint64_t in_object[JSON_DEPTH_MAX / 64 + 1]; /* one bit a level */
};

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The next byte, not consumed; a blank at the end. */
static char next_byte(const struct check *k)
{
    return k->at < k->end ? *k->at : ' ';
}

static bool fail(struct check *k, const char *context)
{
    k->context = context;
    k->fault = next_byte(k);
    return false;
}

/* The next byte that is not white space; false at the end. */
static bool next_token(struct check *k)
{
    while (k->at < k->end && is_space(*k->at))
        k->at++;
    k->context = NULL;
    return k->at < k->end;
}

static bool check_escape(struct check *k)
{
    if (k->at == k->end)
        return fail(k, "in string escape code");
    char c = *k->at;
    if (c != 'u') {
        if (!c || !strchr("bfnrt\\/\"", c))
            return fail(k, "in string escape code");
        k->at++;
        return true;
    }
    k->at++;
    for (int i = 0; i < 4; i++, k->at++) {
        char h = next_byte(k);
        if (!is_digit(h) && !((h | 32) >= 'a' && (h | 32) <= 'f'))
            return fail(k, "in \\u hexadecimal character escape");
    }
    return true;
}

/* Behind the opening quote. */
static bool check_string(struct check *k)
{
    while (k->at < k->end) {
        char c = *k->at;
        if ((unsigned char)c < 0x20)
            return fail(k, "in string literal");
        k->at++;
        if (c == '"')
            return true;
        if (c == '\\' && !check_escape(k))
            return false;
    }
    k->context = NULL;
    return false;
}

static void skip_digits(struct check *k)
{
    while (k->at < k->end && is_digit(*k->at))
        k->at++;
}

static bool check_number(struct check *k)
{
    if (*k->at == '-')
        k->at++;
    if (!is_digit(next_byte(k)))
        return fail(k, "in numeric literal");
    if (*k->at == '0')
        k->at++;
    else
        skip_digits(k);
    if (next_byte(k) == '.') {
        k->at++;
        if (!is_digit(next_byte(k)))
            return fail(k, "after decimal point in numeric literal");
        skip_digits(k);
    }
    if (next_byte(k) == 'e' || next_byte(k) == 'E') {
        k->at++;
        if (next_byte(k) == '+' || next_byte(k) == '-')
            k->at++;
        if (!is_digit(next_byte(k)))
            return fail(k, "in exponent of numeric literal");
        skip_digits(k);
    }
    return true;
}

struct expected {
    char byte;
    const char *context;
};

/* Behind the first letter. */
static bool check_word(struct check *k, const struct expected *letters)
{
    for (; letters->byte; letters++, k->at++)
        if (next_byte(k) != letters->byte)
            return fail(k, letters->context);
    return true;
}

static bool check_literal(struct check *k)
{
    static const struct expected after_t[] = { { 'r', "in literal true (expecting 'r')" },
                                               { 'u', "in literal true (expecting 'u')" },
                                               { 'e', "in literal true (expecting 'e')" },
                                               { 0, NULL } };
    static const struct expected after_f[] = { { 'a', "in literal false (expecting 'a')" },
                                               { 'l', "in literal false (expecting 'l')" },
                                               { 's', "in literal false (expecting 's')" },
                                               { 'e', "in literal false (expecting 'e')" },
                                               { 0, NULL } };
    static const struct expected after_n[] = { { 'u', "in literal null (expecting 'u')" },
                                               { 'l', "in literal null (expecting 'l')" },
                                               { 'l', "in literal null (expecting 'l')" },
                                               { 0, NULL } };
    char c = *k->at;
    if (c == '-' || is_digit(c))
        return check_number(k);
    if (c != '"' && c != 't' && c != 'f' && c != 'n')
        return fail(k, "looking for beginning of value");
    k->at++;
    if (c == '"')
        return check_string(k);
    return check_word(k, c == 't' ? after_t : c == 'f' ? after_f : after_n);
}

static bool inside_object(const struct check *k)
{
    unsigned level = k->depth - 1;
    return k->in_object[level / 64] >> (level % 64) & 1;
}

static bool enter(struct check *k, bool object)
{
    if (k->depth == JSON_DEPTH_MAX)
        return fail(k, "exceeded max depth");
    uint64_t bit = 1ull << (k->depth % 64), *word = &k->in_object[k->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    k->depth++;
    k->at++;
    return true;
}

/* A key and its colon. */
static bool check_key(struct check *k)
{
    if (!next_token(k))
        return false;
    if (*k->at != '"')
        return fail(k, "looking for beginning of object key string");
    k->at++;
    if (!check_string(k) || !next_token(k))
        return false;
    if (*k->at != ':')
        return fail(k, "after object key");
    k->at++;
    return true;
}

/* Behind the first byte of a container: closes it at once when it is empty. */
static bool check_first(struct check *k, bool object, bool *ret_closed)
{
    if (!next_token(k))
        return false;
    *ret_closed = *k->at == (object ? '}' : ']');
    if (*ret_closed) {
        k->at++;
        k->depth--;
        return true;
    }
    return !object || check_key(k);
}

/* Behind a value: closes what ends here; true when another value follows or the document is complete
 * (depth 0). */
static bool check_after_value(struct check *k)
{
    while (k->depth > 0) {
        bool object = inside_object(k);
        if (!next_token(k))
            return false;
        if (*k->at == ',') {
            k->at++;
            return !object || check_key(k);
        }
        if (*k->at != (object ? '}' : ']'))
            return fail(k, object ? "after object key:value pair" : "after array element");
        k->at++;
        k->depth--;
    }
    return true;
}

static bool check_document(struct check *k)
{
    do {
        if (!next_token(k))
            return false;
        bool object = *k->at == '{', closed = true;
        if (object || *k->at == '[') {
            if (!enter(k, object) || !check_first(k, object, &closed))
                return false;
        } else if (!check_literal(k)) {
            return false;
        }
        if (closed && !check_after_value(k))
            return false;
    } while (k->depth > 0);
    return !next_token(k) || fail(k, "after top-level value");
}

enum err_code json_check(struct str text, struct err *e)
{
    const char *start = text.p ? text.p : "";
    struct check k = { .at = start, .end = start + text.n };
    if (check_document(&k))
        return ERR_OK;
    if (!k.context)
        return err_set(e, ERR_BAD_REQUEST, "unexpected end of JSON input");
    if (k.fault == '\'' || k.fault == '"')
        return err_set(e, ERR_BAD_REQUEST, "invalid character %s %s", k.fault == '"' ? "'\"'" : "'\\''",
                       k.context);
    char rune[4];
    size_t n = utf8_encode((unsigned char)k.fault, rune);
    struct strbuf quoted;
    strbuf_init(&quoted, STRBUF_NO_MAX);
    strbuf_add_quoted(&quoted, (struct str){ rune, n });
    err_set(e, ERR_BAD_REQUEST, "invalid character '%.*s' %s", (int)quoted.n - 2, quoted.p + 1, k.context);
    strbuf_fini(&quoted);
    return ERR_BAD_REQUEST;
}
