/* config/flag_value.c - see flag_value.h. Upstream: Go's strconv, spf13/pflag, component-base/cli/flag,
 * component-base/logs/api/v1, component-base/version/verflag, v1.36. */
#include "config/flag_value.h"

#include <math.h>
#include <stdlib.h>

#include "api/duration.h"
#include "api/quantity.h"
#include "base/arena_array.h"
#include "base/float.h"
#include "base/sort.h"
#include "config/component_version.h"
#include "config/flag_map.h"

enum { NUMBER_BYTES_MAX = 400, LEVEL_BITS = 31 };

/* ---- Texts ---- */

const char *flag_quoted(struct arena *a, struct str text)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_quoted_shown(&b, text);
    const char *copy = arena_cstr(a, strbuf_str(&b));
    strbuf_fini(&b);
    return copy;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str flag_trimmed(struct str text)
{
    while (text.n && is_space(text.p[0]))
        text = str_from(text, 1);
    while (text.n && is_space(text.p[text.n - 1]))
        text.n--;
    return text;
}

struct str flag_take_until(struct str *text, char separator)
{
    size_t at = str_index(*text, separator);
    struct str part = str_first(*text, at);
    *text = str_from(*text, at + 1);
    return part;
}

static bool has(struct str text, char c)
{
    return str_index(text, c) < text.n;
}

/* ---- Numbers ---- */

static enum err_code number_error(struct err *e, const char *function, struct str text, const char *what)
{
    return err_set(e, ERR_BAD_REQUEST, "strconv.%s: parsing %s: %s", function, flag_quoted(e->arena, text), what);
}

enum err_code flag_parse_bool(struct str text, bool *ret_value, struct err *e)
{
    static const char *const yes[] = { "1", "t", "T", "TRUE", "true", "True" };
    static const char *const no[] = { "0", "f", "F", "FALSE", "false", "False" };
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        bool is_yes = str_is(text, yes[i]);
        if (is_yes || str_is(text, no[i])) {
            *ret_value = is_yes;
            return ERR_OK;
        }
    }
    return number_error(e, "ParseBool", text, "invalid syntax");
}

static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    c |= 32;
    return c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') + 10 : 99;
}

/* Takes the prefix off: 0x, 0b, 0o, or the bare 0 of old octal numbers. */
static unsigned take_base(struct str *digits)
{
    if (digits->n < 2 || digits->p[0] != '0')
        return 10;
    char c = digits->p[1] | 32;
    unsigned base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
    *digits = str_from(*digits, base == 8 && c != 'o' ? 1 : 2);
    return base;
}

/* Underscores part digits, and may stand behind a prefix. False for what is no number. */
static bool read_digits(struct str digits, unsigned base, bool prefixed, uint64_t *ret_number, bool *ret_over)
{
    uint64_t number = 0;
    bool over = false, after_digit = prefixed, any = false;
    for (size_t i = 0; i < digits.n; i++) {
        unsigned digit = digit_of(digits.p[i]);
        if (digits.p[i] == '_' && !after_digit)
            return false;
        after_digit = digits.p[i] != '_';
        if (!after_digit)
            continue;
        if (digit >= base)
            return false;
        any = true;
        over |= __builtin_mul_overflow(number, base, &number) || __builtin_add_overflow(number, digit, &number);
    }
    *ret_number = number;
    *ret_over = over;
    return any && after_digit;
}

enum err_code flag_parse_int(struct str text, unsigned bits, int64_t *ret_value, struct err *e)
{
    struct str digits = text;
    bool negative = digits.n && digits.p[0] == '-', over;
    uint64_t number, most = (uint64_t)1 << (bits - 1);
    if (negative || (digits.n && digits.p[0] == '+'))
        digits = str_from(digits, 1);
    size_t n_before = digits.n;
    unsigned base = take_base(&digits);
    if (!read_digits(digits, base, digits.n < n_before, &number, &over))
        return number_error(e, "ParseInt", text, "invalid syntax");
    if (over || number > most - !negative)
        return number_error(e, "ParseInt", text, "value out of range");
    *ret_value = negative ? (int64_t)(0 - number) : (int64_t)number;
    return ERR_OK;
}

/* As strconv.ParseUint(text, 10, 31). */
static enum err_code parse_level(struct str text, int32_t *ret_level, struct err *e)
{
    uint64_t level;
    bool over;
    if (has(text, '_') || !read_digits(text, 10, false, &level, &over))
        return number_error(e, "ParseUint", text, "invalid syntax");
    if (over || level >> LEVEL_BITS)
        return number_error(e, "ParseUint", text, "value out of range");
    *ret_level = (int32_t)level;
    return ERR_OK;
}

static size_t n_digits(struct str text, unsigned base)
{
    size_t n = 0;
    while (n < text.n && digit_of(text.p[n]) < base)
        n++;
    return n;
}

static bool is_word_float(struct str text)
{
    static const char *const words[] = { "inf", "infinity", "nan" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (text.n == strlen(words[i]) && strncasecmp(text.p, words[i], text.n) == 0)
            return true;
    return false;
}

/* Digits with at most one dot among them, then an exponent, which hexadecimal numbers must have. */
static bool is_float(struct str text)
{
    if (text.n && (text.p[0] == '+' || text.p[0] == '-'))
        text = str_from(text, 1);
    bool hex = text.n > 2 && text.p[0] == '0' && (text.p[1] | 32) == 'x';
    text = str_from(text, hex ? 2 : 0);
    size_t n = n_digits(text, hex ? 16 : 10), n_fraction = 0;
    text = str_from(text, n);
    if (text.n && text.p[0] == '.') {
        n_fraction = n_digits(str_from(text, 1), hex ? 16 : 10);
        text = str_from(text, 1 + n_fraction);
    }
    if (n + n_fraction == 0)
        return false;
    if (text.n == 0)
        return !hex;
    if ((text.p[0] | 32) != (hex ? 'p' : 'e'))
        return false;
    text = str_from(text, 1);
    if (text.n && (text.p[0] == '+' || text.p[0] == '-'))
        text = str_from(text, 1);
    return text.n && n_digits(text, 10) == text.n;
}

/* A copy without underscores, of which each must part two digits or a digit from the prefix; 0: one does not. */
static size_t without_underscores(struct str text, char to[static NUMBER_BYTES_MAX + 1])
{
    size_t n = 0;
    bool hex = text.n > 1 && (text.p[1] | 32) == 'x' ? true : text.n > 2 && (text.p[2] | 32) == 'x';
    for (size_t i = 0; i < text.n && i < NUMBER_BYTES_MAX; i++) {
        char before = i ? text.p[i - 1] : '.', after = i + 1 < text.n ? text.p[i + 1] : '.';
        bool parts = (digit_of(before) < (hex ? 16 : 10) || (before | 32) == 'x') && digit_of(after) < (hex ? 16 : 10);
        if (text.p[i] == '_' && !parts)
            return 0;
        if (text.p[i] != '_')
            to[n++] = text.p[i];
    }
    to[n] = '\0';
    return n;
}

/* `narrow`: of 32 bits, rounded once. */
static enum err_code parse_float(struct str text, bool narrow, double *ret_value, struct err *e)
{
    char copy[NUMBER_BYTES_MAX + 1];
    bool word = is_word_float(text.n && (text.p[0] == '+' || text.p[0] == '-') ? str_from(text, 1) : text);
    size_t n = without_underscores(text, copy);
    if (text.n > NUMBER_BYTES_MAX || n == 0 || (!word && !is_float((struct str){ copy, n })))
        return number_error(e, "ParseFloat", text, "invalid syntax");
    double value = narrow ? (double)strtof(copy, NULL) : strtod(copy, NULL);
    if (!word && isinf(value))
        return number_error(e, "ParseFloat", text, "value out of range");
    *ret_value = value;
    return ERR_OK;
}

static enum err_code set_float32(struct str text, float *value, struct err *e)
{
    double wide;
    if (parse_float(text, true, &wide, e))
        return e->code;
    *value = (float)wide;
    return ERR_OK;
}

/* The shortest text that reads back as a float, in the form of %g. */
static void add_float(struct strbuf *b, float x)
{
    if (!isfinite(x)) {
        float_add_g(b, (double)x);
        return;
    }
    struct strbuf shortest;
    strbuf_init(&shortest, STRBUF_NO_MAX);
    float_add_json_single(&shortest, x);
    float_add_g(b, strtod(strbuf_cstr(&shortest), NULL));
    strbuf_fini(&shortest);
}

/* ---- Lists ---- */

static enum err_code set_strings(struct arena *a, struct str text, bool again, struct flag_strings *list, struct err *e)
{
    struct flag_strings more = { 0 };
    if (text.n && flag_csv_read(a, text, &more, e))
        return e->code;
    if (!again)
        *list = (struct flag_strings){ 0 };
    for (size_t i = 0; i < more.n; i++)
        flag_strings_push(a, list, more.at[i]);
    return ERR_OK;
}

static enum err_code set_ints(struct arena *a, struct str text, bool again, struct flag_ints *list, struct err *e)
{
    struct flag_ints all = { 0 };
    for (size_t i = 0; again && i < list->n; i++) {
        all.at = arena_array_more(a, all.at, all.n, &all.cap, sizeof(*all.at));
        all.at[all.n++] = list->at[i];
    }
    bool last = false;
    while (!last) {
        int64_t number;
        last = !has(text, ',');
        if (flag_parse_int(flag_take_until(&text, ','), 32, &number, e))
            return e->code;
        all.at = arena_array_more(a, all.at, all.n, &all.cap, sizeof(*all.at));
        all.at[all.n++] = (int32_t)number;
    }
    *list = all;
    return ERR_OK;
}

void flag_pairs_put(struct arena *a, struct flag_pairs *pairs, struct str key, struct str value)
{
    for (size_t i = 0; i < pairs->n; i++)
        if (str_eq(pairs->at[i].key, key)) {
            pairs->at[i].value = value;
            return;
        }
    pairs->at = arena_array_more(a, pairs->at, pairs->n, &pairs->cap, sizeof(*pairs->at));
    pairs->at[pairs->n++] = (struct flag_pair){ key, value };
}

static size_t n_equals(struct str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '=';
    return n;
}

static enum err_code no_pair(struct str text, struct err *e)
{
    return err_set(e, ERR_BAD_REQUEST, "%.*s must be formatted as key=value", STR_ARG(err_shown(e, text)));
}

static enum err_code set_pairs(struct arena *a, struct str text, bool again, struct flag_pairs *pairs, struct err *e)
{
    struct flag_strings words = { 0 };
    struct flag_pairs all = { 0 };
    size_t n = n_equals(text);
    if (n == 0)
        return no_pair(text, e);
    struct str bare = text;
    while (bare.n && bare.p[0] == '"')
        bare = str_from(bare, 1);
    while (bare.n && bare.p[bare.n - 1] == '"')
        bare.n--;
    if (n == 1)
        flag_strings_push(a, &words, bare);
    else if (flag_csv_read(a, text, &words, e))
        return e->code;
    for (size_t i = 0; again && i < pairs->n; i++)
        flag_pairs_put(a, &all, pairs->at[i].key, pairs->at[i].value);
    for (size_t i = 0; i < words.n; i++) {
        struct str value = words.at[i];
        if (!has(value, '='))
            return no_pair(value, e);
        struct str key = flag_take_until(&value, '=');
        flag_pairs_put(a, &all, key, value);
    }
    *pairs = all;
    return ERR_OK;
}

static int compare_pairs(const void *a, const void *b)
{
    return str_cmp(((const struct flag_pair *)a)->key, ((const struct flag_pair *)b)->key);
}

static void add_pairs(struct strbuf *b, const struct flag_pairs *pairs)
{
    struct arena scratch;
    struct flag_strings words = { 0 };
    arena_init(&scratch);
    struct flag_pair *sorted = ARENA_NEW_N(&scratch, struct flag_pair, pairs->n);
    if (pairs->n)
        memcpy(sorted, pairs->at, pairs->n * sizeof(*sorted));
    sort_stable(&scratch, sorted, pairs->n, sizeof(*sorted), compare_pairs);
    for (size_t i = 0; i < pairs->n; i++)
        flag_strings_push(&scratch, &words,
                          str_of(arena_printf(&scratch, "%.*s=%.*s", STR_ARG(sorted[i].key), STR_ARG(sorted[i].value))));
    flag_csv_add(b, &words);
    arena_fini(&scratch);
}

/* `cert,key` or `cert,key:pattern,...`. */
static enum err_code set_cert_key(struct arena *a, struct str text, bool again, struct flag_cert_keys *list,
                                  struct err *e)
{
    struct flag_cert_key key = { 0 };
    struct str names = text, files = flag_trimmed(flag_take_until(&names, ':'));
    if (has(text, ':')) {
        names = flag_trimmed(names);
        if (names.n == 0)
            return err_set(e, ERR_BAD_REQUEST, "empty names list is not allowed");
        for (bool more = true; more;) {
            more = has(names, ',');
            flag_strings_push(a, &key.names, flag_trimmed(flag_take_until(&names, ',')));
        }
    }
    struct str rest = files;
    key.cert_file = flag_trimmed(flag_take_until(&rest, ','));
    if (!has(files, ',') || has(rest, ','))
        return err_set(e, ERR_BAD_REQUEST, "expected comma separated certificate and key file paths");
    key.key_file = flag_trimmed(rest);
    if (!again)
        *list = (struct flag_cert_keys){ 0 };
    list->at = arena_array_more(a, list->at, list->n, &list->cap, sizeof(*list->at));
    list->at[list->n++] = key;
    return ERR_OK;
}

static void add_cert_keys(struct strbuf *b, const struct flag_cert_keys *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct flag_cert_key *k = &list->at[i];
        strbuf_printf(b, "%s%.*s,%.*s", i ? ";" : "", STR_ARG(k->cert_file), STR_ARG(k->key_file));
        for (size_t n = 0; n < k->names.n; n++)
            strbuf_printf(b, "%c%.*s", n ? ',' : ':', STR_ARG(k->names.at[n]));
    }
}

/* The texts as they were given: they are read once all are there. Shown sorted by component, "component:text". */
static void add_multimap(struct strbuf *b, const struct flag_strings *texts)
{
    struct arena scratch;
    struct flag_pairs pairs = { 0 };
    arena_init(&scratch);
    for (size_t i = 0; i < texts->n; i++)
        for (struct str rest = texts->at[i]; rest.n;) {
            struct str value = flag_take_until(&rest, ','), key = { NULL, 0 };
            if (value.n == 0)
                continue;
            if (has(value, ':'))
                key = flag_trimmed(flag_take_until(&value, ':'));
            pairs.at = arena_array_more(&scratch, pairs.at, pairs.n, &pairs.cap, sizeof(*pairs.at));
            pairs.at[pairs.n++] = (struct flag_pair){ key, flag_trimmed(value) };
        }
    sort_stable(&scratch, pairs.at, pairs.n, sizeof(*pairs.at), compare_pairs);
    for (size_t i = 0; i < pairs.n; i++)
        strbuf_printf(b, "%s%.*s:%.*s", i ? "," : "", STR_ARG(pairs.at[i].key), STR_ARG(pairs.at[i].value));
    arena_fini(&scratch);
}

/* Checks every entry and appends those that say something. */
static enum err_code set_vmodule(struct arena *a, struct str text, bool again, struct str *list, struct err *e)
{
    struct strbuf all;
    enum err_code rc = ERR_OK;
    strbuf_init(&all, STRBUF_NO_MAX);
    if (again)
        strbuf_add_str(&all, *list);
    while (text.n && !rc) {
        struct str entry = flag_take_until(&text, ','), number = entry, pattern = flag_take_until(&number, '=');
        int32_t level;
        if (entry.n == 0)
            continue;
        if (pattern.n == 0 || number.n == 0 || has(number, '='))
            rc = err_set(e, ERR_BAD_REQUEST, "%s does not have the pattern=N format", flag_quoted(e->arena, entry));
        else if (parse_level(number, &level, e))
            rc = err_wrap(e, "parsing verbosity in %s", flag_quoted(e->arena, entry));
        else
            strbuf_printf(&all, "%s%.*s=%d", all.n ? "," : "", STR_ARG(pattern), level);
    }
    if (!rc)
        *list = arena_str(a, strbuf_str(&all));
    strbuf_fini(&all);
    return rc;
}

/* ---- The rest ---- */

static bool ip_is_none(const struct ip_addr *ip)
{
    static const struct ip_addr none;
    return memcmp(ip->bytes, none.bytes, sizeof(none.bytes)) == 0;
}

static enum err_code set_ip(struct str text, struct ip_addr *ip, struct err *e)
{
    struct ip_addr addr;
    if (text.n == 0)
        return ERR_OK; /* pflag leaves what is there */
    if (!ip_parse(flag_trimmed(text), &addr) || addr.leading_zeros)
        return err_set(e, ERR_BAD_REQUEST, "failed to parse IP: %s", flag_quoted(e->arena, text));
    *ip = addr;
    return ERR_OK;
}

static enum err_code set_quantity(struct arena *a, struct str text, struct flag_quantity *value, struct err *e)
{
    struct quantity q;
    if (quantity_parse(a, text, &q, e))
        return e->code;
    *value = (struct flag_quantity){ quantity_value(&q), quantity_text(a, &q) };
    return ERR_OK;
}

static enum err_code set_version(struct str text, struct str *value, struct err *e)
{
    bool on;
    if (str_is(text, "raw")) {
        *value = STR("raw");
    } else if (text.n && text.p[0] == 'v') {
        if (component_version_matches(text, STR(FLAG_VERSION_DEFAULT), e))
            return e->code;
        *value = text;
    } else {
        if (flag_parse_bool(text, &on, e))
            return e->code;
        *value = on ? STR("true") : STR("false");
    }
    return ERR_OK;
}

static enum err_code set_int(struct str text, unsigned bits, void *value, struct err *e)
{
    int64_t number;
    if (flag_parse_int(text, bits, &number, e))
        return e->code;
    if (bits == 32)
        *(int32_t *)value = (int32_t)number;
    else
        *(int64_t *)value = number;
    return ERR_OK;
}

enum err_code flag_value_set(struct arena *a, enum flag_type type, struct str text, bool again, void *value,
                             struct err *e)
{
    switch (type) {
    case FLAG_BOOL: return flag_parse_bool(text, value, e);
    case FLAG_STRING: *(struct str *)value = text; return ERR_OK;
    case FLAG_INT: return set_int(text, 64, value, e);
    case FLAG_INT32: return set_int(text, 32, value, e);
    case FLAG_FLOAT32: return set_float32(text, value, e);
    case FLAG_FLOAT64: return parse_float(text, false, value, e);
    case FLAG_DURATION: return duration_parse(text, value, e);
    case FLAG_IP:
    case FLAG_IP_OR_NONE: return set_ip(text, value, e);
    case FLAG_STRINGS: return set_strings(a, text, again, value, e);
    case FLAG_STRING_ARRAY: flag_strings_push(a, value, text); return ERR_OK; /* has no default */
    case FLAG_INT32S: return set_ints(a, text, again, value, e);
    case FLAG_PAIRS: return set_pairs(a, text, again, value, e);
    case FLAG_MAP: return flag_map_set(a, text, value, e);
    case FLAG_SWITCHES: flag_switches_set(a, text, value); return ERR_OK;
    case FLAG_CERT_KEYS: return set_cert_key(a, text, again, value, e);
    case FLAG_MULTIMAP: flag_strings_push(a, value, text); return ERR_OK;
    case FLAG_LEVEL: return parse_level(text, value, e);
    case FLAG_VMODULE: return set_vmodule(a, text, again, value, e);
    case FLAG_QUANTITY: return set_quantity(a, text, value, e);
    case FLAG_PORT_RANGE: return flag_port_range_set(text, value, e);
    case FLAG_VERSION: return set_version(text, value, e);
    case N_FLAG_TYPES: break;
    }
    return err_set(e, ERR_INTERNAL, "no such type of flag");
}

static void add_list(struct strbuf *b, enum flag_type type, const void *value)
{
    const struct flag_ints *ints = value;
    strbuf_add_char(b, '[');
    switch (type) {
    case FLAG_STRINGS:
    case FLAG_STRING_ARRAY: flag_csv_add(b, value); break;
    case FLAG_PAIRS: add_pairs(b, value); break;
    case FLAG_CERT_KEYS: add_cert_keys(b, value); break;
    default:
        for (size_t i = 0; i < ints->n; i++)
            strbuf_printf(b, "%s%d", i ? "," : "", ints->at[i]);
    }
    strbuf_add_char(b, ']');
}

static void add_ip(struct strbuf *b, const struct ip_addr *ip)
{
    char text[IP_TEXT_MAX];
    strbuf_add(b, text, ip_print(ip, text));
}

void flag_value_add(struct strbuf *b, enum flag_type type, const void *value)
{
    switch (type) {
    case FLAG_BOOL: strbuf_add_text(b, *(const bool *)value ? "true" : "false"); break;
    case FLAG_STRING:
    case FLAG_VMODULE:
    case FLAG_VERSION: strbuf_add_str(b, *(const struct str *)value); break;
    case FLAG_INT: strbuf_add_int(b, *(const int64_t *)value); break;
    case FLAG_INT32:
    case FLAG_LEVEL: strbuf_add_int(b, *(const int32_t *)value); break;
    case FLAG_FLOAT32: add_float(b, *(const float *)value); break;
    case FLAG_FLOAT64: float_add_g(b, *(const double *)value); break;
    case FLAG_DURATION: duration_add(b, *(const int64_t *)value); break;
    case FLAG_IP: add_ip(b, value); break;
    case FLAG_IP_OR_NONE: ip_is_none(value) ? strbuf_add_text(b, "<nil>") : add_ip(b, value); break;
    case FLAG_MULTIMAP: add_multimap(b, value); break;
    case FLAG_QUANTITY: strbuf_add_str(b, ((const struct flag_quantity *)value)->text); break;
    case FLAG_PORT_RANGE: flag_port_range_add(b, value); break;
    case FLAG_MAP:
    case FLAG_SWITCHES: flag_map_add(b, value); break;
    case FLAG_STRINGS:
    case FLAG_STRING_ARRAY:
    case FLAG_INT32S:
    case FLAG_PAIRS:
    case FLAG_CERT_KEYS: add_list(b, type, value); break;
    case N_FLAG_TYPES: break;
    }
}

const char *flag_type_name(enum flag_type type)
{
    static const char *const names[N_FLAG_TYPES] = {
#define X(name, c_type, shown) shown,
        FLAG_TYPES(X)
#undef X
    };
    return names[type];
}

bool flag_type_is_optional(enum flag_type type)
{
    return type == FLAG_BOOL || type == FLAG_VERSION;
}

bool flag_value_is_zero(enum flag_type type, struct str text)
{
    if (type == FLAG_STRINGS || type == FLAG_STRING_ARRAY) /* of the lists only these, as pflag */
        return str_is(text, "[]");
    if (type == FLAG_DURATION)
        return str_is(text, "0s");
    if (type == FLAG_IP_OR_NONE)
        return str_is(text, "<nil>");
    return text.n == 0 || str_is(text, "0") || str_is(text, "false");
}
