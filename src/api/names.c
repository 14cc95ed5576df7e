/* api/names.c - see names.h.
 *
 * Characters are put into kinds, one bit each, and a name is matched by which kinds may stand
 * first, inside and last. All of upstream's expressions for names are of that form or a list of such
 * parts between dots. */
#include "api/names.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

/* Texts of the two generations; `re` is shown as it is. */
#define MAX_CHARACTERS(n) "must be no more than " #n " characters"
#define MAX_BYTES(n) "must be no more than " #n " bytes"
#define NON_EMPTY "must be non-empty"
#define RE(re) "regex used for validation is '" re "')"
#define REGEX_1(msg, re, a) msg " (e.g. '" a "', " RE(re)
#define REGEX_2(msg, re, a, b) msg " (e.g. '" a "',  or '" b "', " RE(re)
#define REGEX_3(msg, re, a, b, c) msg " (e.g. '" a "',  or '" b "',  or '" c "', " RE(re)

#define LABEL_1123_RE "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define SUBDOMAIN_1123_RE LABEL_1123_RE "(\\." LABEL_1123_RE ")*"
#define UNDERSCORE_LABEL_RE "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
#define UNDERSCORE_SUBDOMAIN_RE UNDERSCORE_LABEL_RE "(\\." UNDERSCORE_LABEL_RE ")*"
#define LABEL_KEY_RE "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

#define SUBDOMAIN_1123_TEXT                                                                        \
    REGEX_1("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "  \
            "'-' or '.', and must start and end with an alphanumeric character",                   \
            SUBDOMAIN_1123_RE, "example.com")
#define LABEL_KEY_TEXT                                                                             \
    REGEX_3("must consist of alphanumeric characters, '-', '_' or '.', and must start and end "    \
            "with an alphanumeric character",                                                      \
            LABEL_KEY_RE, "MyName", "my.name", "123-abc")

enum {
    LOWER = 1 << 0,
    UPPER = 1 << 1,
    DIGIT = 1 << 2,
    DASH = 1 << 3,
    DOT = 1 << 4,
    UNDERSCORE = 1 << 5,
    LETTER = LOWER | UPPER,
    ALNUM = LETTER | DIGIT,
};

static unsigned kind_of(char c)
{
    if (c >= 'a' && c <= 'z')
        return LOWER;
    if (c >= 'A' && c <= 'Z')
        return UPPER;
    if (c >= '0' && c <= '9')
        return DIGIT;
    return c == '-' ? DASH : c == '.' ? DOT : c == '_' ? UNDERSCORE : 0;
}

/* One or more characters, all of the kinds given. */
static bool all_of(struct str s, unsigned kinds)
{
    for (size_t i = 0; i < s.n; i++)
        if (!(kind_of(s.p[i]) & kinds))
            return false;
    return s.n > 0;
}

/* Like all_of, with kinds of their own for the first and the last character. */
static bool bounded(struct str s, unsigned first, unsigned inside, unsigned last)
{
    return all_of(s, inside) && (kind_of(s.p[0]) & first) && (kind_of(s.p[s.n - 1]) & last);
}

static bool is_dns1123_label(struct str s)
{
    return bounded(s, LOWER | DIGIT, LOWER | DIGIT | DASH, LOWER | DIGIT);
}

static bool is_underscore_label(struct str s)
{
    if (s.n > 0 && s.p[0] == '_')
        s = str_from(s, 1);
    return bounded(s, LOWER | DIGIT, LOWER | DIGIT | DASH | UNDERSCORE, LOWER | DIGIT);
}

/* One or more parts between dots. */
static bool dotted(struct str s, bool (*part)(struct str))
{
    for (;;) {
        size_t dot = str_index(s, '.');
        if (!part(str_first(s, dot)))
            return false;
        if (dot == s.n)
            return true;
        s = str_from(s, dot + 1);
    }
}

static bool is_dns1123_subdomain(struct str s)
{
    return dotted(s, is_dns1123_label);
}

static void add(struct name_errors *errs, const char *text)
{
    assert(errs->n < NAME_ERRORS_MAX);
    errs->at[errs->n++] = text;
}

static struct name_errors none_or(bool valid, const char *text)
{
    return valid ? (struct name_errors){ 0 } : (struct name_errors){ 1, { text } };
}

struct name_errors name_dns1123_label(struct str name)
{
    struct name_errors errs = { 0 };
    if (name.n > NAME_DNS1123_LABEL_MAX)
        add(&errs, MAX_CHARACTERS(63));
    if (is_dns1123_label(name))
        return errs;
    if (is_dns1123_subdomain(name))
        add(&errs, "must not contain dots");
    else
        add(&errs, REGEX_2("a lowercase RFC 1123 label must consist of lower case alphanumeric "
                           "characters or '-', and must start and end with an alphanumeric character",
                           LABEL_1123_RE, "my-name", "123-abc"));
    return errs;
}

struct name_errors name_dns1123_subdomain(struct str name)
{
    struct name_errors errs = { 0 };
    if (name.n > NAME_DNS1123_SUBDOMAIN_MAX)
        add(&errs, MAX_CHARACTERS(253));
    if (!is_dns1123_subdomain(name))
        add(&errs, SUBDOMAIN_1123_TEXT);
    return errs;
}

struct name_errors name_dns1123_subdomain_with_underscore(struct str name)
{
    struct name_errors errs = { 0 };
    if (name.n > NAME_DNS1123_SUBDOMAIN_MAX)
        add(&errs, MAX_CHARACTERS(253));
    if (!dotted(name, is_underscore_label))
        add(&errs, REGEX_1("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                           "characters, '_', '-' or '.', and must start and end with an alphanumeric "
                           "character",
                           UNDERSCORE_SUBDOMAIN_RE, "example.com"));
    return errs;
}

struct name_errors name_dns1035_label(struct str name)
{
    struct name_errors errs = { 0 };
    if (name.n > NAME_DNS1035_LABEL_MAX)
        add(&errs, MAX_CHARACTERS(63));
    if (!bounded(name, LOWER, LOWER | DIGIT | DASH, LOWER | DIGIT))
        add(&errs, REGEX_2("a DNS-1035 label must consist of lower case alphanumeric characters or "
                           "'-', start with an alphabetic character, and end with an alphanumeric "
                           "character",
                           "[a-z]([-a-z0-9]*[a-z0-9])?", "my-name", "abc-123"));
    return errs;
}

struct name_errors name_wildcard_dns1123_subdomain(struct str name)
{
    struct name_errors errs = { 0 };
    if (name.n > NAME_DNS1123_SUBDOMAIN_MAX)
        add(&errs, MAX_CHARACTERS(253));
    if (!str_starts(name, STR("*.")) || !is_dns1123_subdomain(str_from(name, 2)))
        add(&errs, REGEX_1("a wildcard DNS-1123 subdomain must start with '*.', followed by a valid "
                           "DNS subdomain, which must consist of lower case alphanumeric characters, "
                           "'-' or '.' and end with an alphanumeric character",
                           "\\*\\." SUBDOMAIN_1123_RE, "*.example.com"));
    return errs;
}

static void check_key_prefix(struct str prefix, struct name_errors *errs)
{
    if (prefix.n == 0) {
        add(errs, "prefix part " NON_EMPTY);
        return;
    }
    if (prefix.n > NAME_DNS1123_SUBDOMAIN_MAX)
        add(errs, "prefix part " MAX_BYTES(253));
    if (!is_dns1123_subdomain(prefix))
        add(errs, "prefix part " SUBDOMAIN_1123_TEXT);
}

static bool is_label_key(struct str s)
{
    return bounded(s, ALNUM, ALNUM | DASH | UNDERSCORE | DOT, ALNUM);
}

struct name_errors name_label_key(struct str name)
{
    struct name_errors errs = { 0 };
    size_t slash = str_index(name, '/');
    if (slash < name.n) {
        struct str prefix = str_first(name, slash);
        name = str_from(name, slash + 1);
        if (str_index(name, '/') < name.n)
            return none_or(false, "a valid label key " LABEL_KEY_TEXT " with an optional DNS subdomain "
                                  "prefix and '/' (e.g. 'example.com/MyName')");
        check_key_prefix(prefix, &errs);
    }
    if (name.n == 0)
        add(&errs, "name part " NON_EMPTY);
    else if (name.n > NAME_LABEL_KEY_MAX)
        add(&errs, "name part " MAX_BYTES(63));
    if (!is_label_key(name))
        add(&errs, "name part " LABEL_KEY_TEXT);
    return errs;
}

struct name_errors name_label_value(struct str name)
{
    struct name_errors errs = { 0 };
    if (name.n > NAME_LABEL_VALUE_MAX)
        add(&errs, MAX_BYTES(63));
    if (name.n > 0 && !is_label_key(name))
        add(&errs, REGEX_3("a valid label must be an empty string or consist of alphanumeric "
                           "characters, '-', '_' or '.', and must start and end with an alphanumeric "
                           "character",
                           "(" LABEL_KEY_RE ")?", "MyValue", "my_value", "12345"));
    return errs;
}

static bool has_lower(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (kind_of(s.p[i]) == LOWER)
            return true;
    return false;
}

struct name_errors name_port(struct str name)
{
    struct name_errors errs = { 0 };
    if (name.n > NAME_PORT_MAX)
        add(&errs, MAX_CHARACTERS(15));
    if (!all_of(name, LOWER | DIGIT | DASH))
        add(&errs, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    if (!has_lower(name))
        add(&errs, "must contain at least one letter (a-z)");
    if (name.n && memmem(name.p, name.n, "--", 2))
        add(&errs, "must not contain consecutive hyphens");
    if (name.n && (name.p[0] == '-' || name.p[name.n - 1] == '-'))
        add(&errs, "must not begin or end with a hyphen");
    return errs;
}

struct name_errors name_port_number(int64_t port)
{
    return none_or(port >= 1 && port <= 65535, "must be between 1 and 65535, inclusive");
}

struct name_errors name_user_id(int64_t id)
{
    return none_or(id >= 0 && id <= INT32_MAX, "must be between 0 and 2147483647, inclusive");
}

struct name_errors name_group_id(int64_t id)
{
    return name_user_id(id);
}

struct name_errors name_c_identifier(struct str name)
{
    return none_or(bounded(name, LETTER | UNDERSCORE, ALNUM | UNDERSCORE, ALNUM | UNDERSCORE),
                   REGEX_3("a valid C identifier must start with alphabetic character or '_', followed "
                           "by a string of alphanumeric characters or '_'",
                           "[A-Za-z_][A-Za-z0-9_]*", "my_name", "MY_NAME", "MyName"));
}

/* Names that become files must not lead out of their folder. */
static void check_no_parent(struct str name, struct name_errors *errs)
{
    if (str_is(name, "."))
        add(errs, "must not be '.'");
    else if (str_is(name, ".."))
        add(errs, "must not be '..'");
    else if (str_starts(name, STR("..")))
        add(errs, "must not start with '..'");
}

struct name_errors name_env_var(struct str name)
{
    unsigned inside = ALNUM | DASH | DOT | UNDERSCORE;
    struct name_errors errs = none_or(
        bounded(name, LETTER | DASH | DOT | UNDERSCORE, inside, inside),
        REGEX_3("a valid environment variable name must consist of alphabetic characters, digits, '_', "
                "'-', or '.', and must not start with a digit",
                "[-._a-zA-Z][-._a-zA-Z0-9]*", "my.env-name", "MY_ENV.NAME", "MyEnvName1"));
    check_no_parent(name, &errs);
    return errs;
}

struct name_errors name_relaxed_env_var(struct str name)
{
    if (name.n == 0)
        return none_or(false, "environment variable name " NON_EMPTY);
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] < ' ' || name.p[i] > '~' || name.p[i] == '=')
            return none_or(false, "a valid environment variable name must consist only of printable "
                                  "ASCII characters other than '='");
    return (struct name_errors){ 0 };
}

struct name_errors name_config_map_key(struct str name)
{
    struct name_errors errs = { 0 };
    if (name.n > NAME_DNS1123_SUBDOMAIN_MAX)
        add(&errs, MAX_CHARACTERS(253));
    if (!all_of(name, ALNUM | DASH | DOT | UNDERSCORE))
        add(&errs, REGEX_3("a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
                           "[-._a-zA-Z0-9]+", "key.name", "KEY_NAME", "key-name"));
    check_no_parent(name, &errs);
    return errs;
}

struct name_errors name_http_header(struct str name)
{
    return none_or(all_of(name, ALNUM | DASH),
                   REGEX_1("a valid HTTP header must consist of alphanumeric characters or '-'",
                           "[-A-Za-z0-9]+", "X-Header-Name"));
}

struct name_errors name_percent(struct str name)
{
    bool valid = str_ends(name, STR("%")) && all_of(str_first(name, name.n - 1), DIGIT);
    return none_or(valid, REGEX_2("a valid percent string must be a numeric string followed by an "
                                  "ending '%'",
                                  "[0-9]+%", "1%", "93%"));
}

struct name_errors name_decimal_integer(struct str name)
{
    if (name.n == 0)
        return none_or(false, NON_EMPTY);
    struct str digits = str_from(name, name.p[0] == '-');
    bool valid = str_is(name, "0") || (all_of(digits, DIGIT) && digits.p[0] != '0');
    return none_or(valid, "must be a valid decimal integer in canonical form");
}

struct name_errors name_path_segment(struct str name)
{
    if (str_is(name, "."))
        return none_or(false, "may not be '.'");
    if (str_is(name, ".."))
        return none_or(false, "may not be '..'");
    return name_path_segment_prefix(name);
}

struct name_errors name_path_segment_prefix(struct str name)
{
    struct name_errors errs = { 0 };
    if (str_index(name, '/') < name.n)
        add(&errs, "may not contain '/'");
    if (str_index(name, '%') < name.n)
        add(&errs, "may not contain '%'");
    return errs;
}

/* As upstream's maskTrailingDash: of a generateName that ends with a dash the last two characters are
 * replaced by one that fits anywhere. That forgives any character before the dash. */
static struct name_errors check_generated(struct str name, name_check *check)
{
    if (name.n < 2 || name.p[name.n - 1] != '-')
        return check(name);
    char *masked = mem_alloc(name.n - 1);
    memcpy(masked, name.p, name.n - 2);
    masked[name.n - 2] = 'a';
    struct name_errors errs = check((struct str){ masked, name.n - 1 });
    free(masked);
    return errs;
}

struct name_errors name_is_dns_subdomain(struct str name, bool prefix)
{
    return prefix ? check_generated(name, name_dns1123_subdomain) : name_dns1123_subdomain(name);
}

struct name_errors name_is_dns_label(struct str name, bool prefix)
{
    return prefix ? check_generated(name, name_dns1123_label) : name_dns1123_label(name);
}

struct name_errors name_is_dns1035_label(struct str name, bool prefix)
{
    return prefix ? check_generated(name, name_dns1035_label) : name_dns1035_label(name);
}

struct name_errors name_is_path_segment(struct str name, bool prefix)
{
    return prefix ? name_path_segment_prefix(name) : name_path_segment(name);
}
