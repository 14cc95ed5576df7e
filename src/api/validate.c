/* api/validate.c - see validate.h. */
#include "api/validate.h"

#include "api/netaddr.h"
#include "base/utf8.h"

void validate_name_errors(struct name_errors found, struct field_value value,
                          const struct field_path *at, struct field_errors *errs)
{
    for (size_t i = 0; i < found.n; i++)
        field_invalid(errs, at, value, str_of(found.at[i]));
}

struct str validate_join(struct arena *a, struct name_errors found, const char *separator)
{
    if (found.n == 1)
        return str_of(found.at[0]);
    struct strbuf joined;
    strbuf_init(&joined, STRBUF_NO_MAX);
    for (size_t i = 0; i < found.n; i++) {
        strbuf_add_text(&joined, i ? separator : "");
        strbuf_add_text(&joined, found.at[i]);
    }
    return field_take_text(a, &joined);
}

/* ---- domains ---- */

/* All texts in one error; true when there was none. */
static bool validate_joined(struct name_errors found, struct str value, const struct field_path *at,
                            struct field_errors *errs)
{
    if (found.n == 0)
        return true;
    field_invalid(errs, at, field_str(value), validate_join(errs->arena, found, ","));
    return false;
}

static size_t count_parts(struct str name)
{
    size_t n = 1;
    for (size_t i = 0; i < name.n; i++)
        n += name.p[i] == '.';
    return n;
}

void validate_fully_qualified_name(struct str name, const struct field_path *at,
                                   struct field_errors *errs)
{
    if (name.n == 0)
        field_required(errs, at, STR(""));
    else if (validate_joined(name_dns1123_subdomain(name), name, at, errs) && count_parts(name) < 3)
        field_invalid(errs, at, field_str(name),
                      STR("should be a domain with at least three segments separated by dots"));
}

/* Every part must be a label; the first that is not is the error. */
static void validate_parts(struct str name, const struct field_path *at, struct field_errors *errs)
{
    bool valid = true;
    for (size_t dot; valid && name.n > 0; name = str_from(name, dot + 1)) {
        dot = str_index(name, '.');
        struct str part = str_first(name, dot);
        valid = validate_joined(name_dns1123_label(part), part, at, errs);
    }
}

void validate_fully_qualified_domain_name(struct str name, const struct field_path *at,
                                          struct field_errors *errs)
{
    if (name.n == 0) {
        field_required(errs, at, STR(""));
        return;
    }
    if (name.p[name.n - 1] == '.')
        name = str_first(name, name.n - 1);
    if (!validate_joined(name_dns1123_subdomain(name), name, at, errs))
        return;
    if (count_parts(name) < 2)
        field_invalid(errs, at, field_str(name),
                      STR("should be a domain with at least two segments separated by dots"));
    else
        validate_parts(name, at, errs);
}

static bool is_http_path(struct str path)
{
    static const char marks[] = "/-._~%!$&'()*+,;=:";
    for (size_t i = 0; i < path.n; i++) {
        char c = path.p[i];
        bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!alnum && !memchr(marks, c, sizeof(marks) - 1))
            return false;
    }
    return path.n > 0;
}

void validate_domain_prefixed_path(struct str path, const struct field_path *at,
                                   struct field_errors *errs)
{
    if (path.n == 0) {
        field_required(errs, at, STR(""));
        return;
    }
    size_t slash = str_index(path, '/');
    struct str host = str_first(path, slash), rest = str_from(path, slash + 1);
    if (host.n == 0 || rest.n == 0) {
        field_invalid(errs, at, field_str(path),
                      STR("must be a domain-prefixed path (such as \"acme.io/foo\")"));
        return;
    }
    validate_name_errors(name_dns1123_subdomain(host), field_str(host), at, errs);
    if (!is_http_path(rest))
        field_invalid(errs, at, field_str(rest),
                      STR("Invalid path (regex used for validation is "
                          "'[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"));
}

void validate_domain_prefixed_key(struct str key, const struct field_path *at, struct field_errors *errs)
{
    if (key.n == 0) {
        field_required(errs, at, STR(""));
        return;
    }
    struct name_errors found = name_label_key(key);
    validate_name_errors(found, field_str(key), at, errs);
    if (found.n == 0 && str_index(key, '/') == key.n)
        field_invalid(errs, at, field_str(key),
                      STR("must be a domain-prefixed key (such as \"acme.io/foo\")"));
}

/* ---- addresses ---- */

static void not_canonical(struct field_errors *errs, const struct field_path *at, struct str text,
                          const char *canonical)
{
    if (str_is(text, canonical))
        return;
    const char *detail = arena_printf(errs->arena, "must be in canonical form (\"%s\")", canonical);
    field_invalid(errs, at, field_str(text), str_of(detail));
}

/* What is wrong with the address, or NULL. */
static const char *find_ip_fault(struct str text, bool strict, struct ip_addr *ret_addr)
{
    if (!ip_parse(text, ret_addr))
        return "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
    if (strict && ret_addr->leading_zeros)
        return "must not have leading 0s";
    if (strict && ip_is_v4_mapped(ret_addr) && !ret_addr->written_as_v4)
        return "must not be an IPv4-mapped IPv6 address";
    return NULL;
}

void validate_legacy_ip(struct str text, bool strict, const struct field_path *at,
                        struct field_errors *errs)
{
    struct ip_addr addr;
    const char *fault = find_ip_fault(text, strict, &addr);
    if (fault)
        field_invalid(errs, at, field_str(text), str_of(fault));
}

void validate_ip(struct str text, const struct field_path *at, struct field_errors *errs)
{
    struct ip_addr addr;
    const char *fault = find_ip_fault(text, true, &addr);
    if (fault) {
        field_invalid(errs, at, field_str(text), str_of(fault));
        return;
    }
    char canonical[IP_TEXT_MAX];
    ip_print(&addr, canonical);
    not_canonical(errs, at, text, canonical);
}

static const char *find_cidr_fault(struct str text, bool strict, struct ip_addr *ret_addr,
                                   unsigned *ret_bits)
{
    if (!cidr_parse(text, ret_addr, ret_bits))
        return "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
    if (strict && ret_addr->leading_zeros)
        return "must not have leading 0s in IP or prefix length";
    if (strict && ip_is_v4_mapped(ret_addr) && !ret_addr->written_as_v4)
        return "must not have an IPv4-mapped IPv6 address";
    if (strict && ip_has_host_bits(ret_addr, *ret_bits))
        return "must not have bits set beyond the prefix length";
    return NULL;
}

void validate_legacy_cidr(struct str text, bool strict, const struct field_path *at,
                          struct field_errors *errs)
{
    struct ip_addr addr;
    unsigned bits;
    const char *fault = find_cidr_fault(text, strict, &addr, &bits);
    if (fault)
        field_invalid(errs, at, field_str(text), str_of(fault));
}

void validate_cidr(struct str text, const struct field_path *at, struct field_errors *errs)
{
    struct ip_addr addr;
    unsigned bits;
    const char *fault = find_cidr_fault(text, true, &addr, &bits);
    if (fault) {
        field_invalid(errs, at, field_str(text), str_of(fault));
        return;
    }
    char canonical[CIDR_TEXT_MAX];
    cidr_print(&addr, bits, canonical);
    not_canonical(errs, at, text, canonical);
}

/* ---- metadata ---- */

void validate_field_manager(struct str manager, const struct field_path *at, struct field_errors *errs)
{
    if (manager.n > FIELD_MANAGER_BYTES_MAX)
        field_too_long(errs, at, FIELD_MANAGER_BYTES_MAX);
    for (size_t i = 0, n; i < manager.n && !field_errors_full(errs); i += n ? n : 1) {
        uint32_t rune;
        n = utf8_decode(str_from(manager, i), &rune);
        if (n == 0 || utf8_printable(rune))
            continue; /* a broken byte counts as U+FFFD, which is printable */
        const char *detail =
            arena_printf(errs->arena, "invalid character U+%04X (at position %zu)", rune, i);
        field_invalid(errs, at, field_str(manager), str_of(detail));
    }
}

void validate_finalizer_name(struct str name, const struct field_path *at, struct field_errors *errs)
{
    validate_name_errors(name_label_key(name), field_str(name), at, errs);
}

void validate_label_name(struct str key, const struct field_path *at, struct field_errors *errs)
{
    validate_name_errors(name_label_key(key), field_str(key), at, errs);
}

void validate_labels(struct labels labels, const struct field_path *at, struct field_errors *errs)
{
    for (size_t i = 0; i < labels.n; i++) {
        validate_label_name(labels.at[i].key, at, errs);
        validate_name_errors(name_label_value(labels.at[i].value), field_str(labels.at[i].value), at,
                             errs);
    }
}

/* Lower case as far as it can make a key valid: ASCII, and the two letters outside of it whose lower
 * case is inside (the Kelvin sign and the capital I with a dot). */
static struct str lower_key(struct arena *a, struct str key)
{
    char *lower = arena_alloc(a, key.n);
    size_t n = 0;
    for (size_t i = 0; i < key.n; i++) {
        struct str rest = str_from(key, i);
        bool kelvin = str_starts(rest, STR("\u212A")), dotted_i = str_starts(rest, STR("\u0130"));
        char c = key.p[i];
        i += kelvin ? 2 : dotted_i ? 1 : 0;
        bool upper = c >= 'A' && c <= 'Z';
        lower[n++] = kelvin ? 'k' : dotted_i ? 'i' : upper ? (char)(c - 'A' + 'a') : c;
    }
    return (struct str){ lower, n };
}

void validate_annotations(struct labels annotations, const struct field_path *at,
                          struct field_errors *errs)
{
    size_t n_bytes = 0;
    for (size_t i = 0; i < annotations.n; i++) {
        struct str key = annotations.at[i].key;
        struct arena_mark mark = arena_save(errs->arena);
        struct name_errors found = name_label_key(lower_key(errs->arena, key));
        arena_rewind(errs->arena, mark);
        validate_name_errors(found, field_str(key), at, errs);
        n_bytes += key.n + annotations.at[i].value.n;
    }
    if (n_bytes > ANNOTATIONS_BYTES_MAX)
        field_too_long(errs, at, ANNOTATIONS_BYTES_MAX);
}

void validate_not_negative(int64_t value, const struct field_path *at, struct field_errors *errs)
{
    if (value < 0)
        field_invalid(errs, at, field_int(value), STR("must be greater than or equal to 0"));
}
