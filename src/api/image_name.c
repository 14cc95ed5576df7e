/* api/image_name.c - see image_name.h. */
#include "api/image_name.h"

enum { TAG_BYTES_MAX = 128, PATH_BYTES_MAX = 255, DIGEST_DIGITS_MIN = 32, IDENTIFIER_DIGITS = 64 };

static bool is_lower(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower(c) || (c >= 'A' && c <= 'Z');
}

static bool is_word(char c)
{
    return is_alnum(c) || c == '_';
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Bytes of a separator within a part of a path: a dot, one or two underscores, or dashes. */
static size_t separator(struct str part)
{
    size_t n = 0;
    char c = part.n ? part.p[0] : 0;
    while (n < part.n && part.p[n] == c)
        n++;
    if (c == '-')
        return n;
    return (c == '.' && n == 1) || (c == '_' && n <= 2) ? n : 0;
}

static bool is_path_part(struct str part)
{
    bool alnum = false;
    for (size_t i = 0, n; i < part.n; i += n) {
        n = is_lower(part.p[i]) ? 1 : separator(str_from(part, i));
        bool separates = !is_lower(part.p[i]);
        if (n == 0 || (separates && !alnum))
            return false;
        alnum = !separates;
    }
    return alnum;
}

static bool is_path(struct str path)
{
    for (bool last = false; !last;) {
        size_t slash = str_index(path, '/');
        last = slash == path.n;
        if (!is_path_part(str_first(path, slash)))
            return false;
        path = str_from(path, slash + 1);
    }
    return true;
}

static bool is_port(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
    return text.n > 0;
}

static bool is_host_part(struct str part)
{
    for (size_t i = 0; i < part.n; i++)
        if (!is_alnum(part.p[i]) && (part.p[i] != '-' || i == 0 || i + 1 == part.n))
            return false;
    return part.n > 0;
}

static bool is_host_name(struct str host)
{
    for (bool last = false; !last;) {
        size_t dot = str_index(host, '.');
        last = dot == host.n;
        if (!is_host_part(str_first(host, dot)))
            return false;
        host = str_from(host, dot + 1);
    }
    return true;
}

/* An IPv6 address in brackets or a name, and a port behind it. */
static bool is_domain(struct str domain)
{
    if (str_starts(domain, STR("["))) {
        size_t end = str_index(domain, ']');
        for (size_t i = 1; i < end; i++)
            if (!is_hex(domain.p[i]) && domain.p[i] != ':')
                return false;
        struct str rest = str_from(domain, end + 1);
        return end > 1 && end < domain.n && (!rest.n || (rest.p[0] == ':' && is_port(str_from(rest, 1))));
    }
    size_t colon = str_index(domain, ':');
    return is_host_name(str_first(domain, colon)) && (colon == domain.n || is_port(str_from(domain, colon + 1)));
}

static bool is_tag(struct str tag)
{
    for (size_t i = 0; i < tag.n; i++)
        if (!is_word(tag.p[i]) && (i == 0 || (tag.p[i] != '.' && tag.p[i] != '-')))
            return false;
    return tag.n > 0 && tag.n <= TAG_BYTES_MAX;
}

/* An algorithm, a colon, and enough hexadecimal digits. */
static bool is_digest(struct str digest)
{
    size_t colon = str_index(digest, ':');
    struct str digits = str_from(digest, colon + 1);
    for (size_t i = 0; i < colon; i++)
        if (!is_alnum(digest.p[i]) && (i == 0 || !strchr("-_.+", digest.p[i])))
            return false;
    for (size_t i = 0; i < digits.n; i++)
        if (!is_hex(digits.p[i]))
            return false;
    return colon > 0 && digits.n >= DIGEST_DIGITS_MIN;
}

/* 64 hexadecimal digits are an image's own number, not a name. */
static bool is_identifier(struct str image)
{
    for (size_t i = 0; i < image.n; i++)
        if (!is_hex(image.p[i]) || (image.p[i] >= 'A' && image.p[i] <= 'F'))
            return false;
    return image.n == IDENTIFIER_DIGITS;
}

/* Whether what is before the first slash is a host: it has a dot, a port or capitals, or is called localhost. */
static bool has_domain(struct str first)
{
    bool capitals = false;
    for (size_t i = 0; i < first.n; i++)
        capitals |= first.p[i] >= 'A' && first.p[i] <= 'Z';
    return str_index(first, '.') < first.n || str_index(first, ':') < first.n || capitals || str_is(first, "localhost");
}

static bool is_name(struct str name)
{
    size_t slash = str_index(name, '/');
    struct str first = str_first(name, slash), path = name;
    if (slash < name.n && has_domain(first)) {
        if (!is_domain(first))
            return false;
        path = str_from(name, slash + 1);
    }
    return path.n <= PATH_BYTES_MAX && is_path(path);
}

bool image_name_is_latest(struct str image)
{
    size_t at = str_index(image, '@'), last_slash = 0;
    struct str name = str_first(image, at), digest = str_from(image, at + 1);
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] == '/')
            last_slash = i;
    struct str tail = str_from(name, last_slash);
    size_t colon = last_slash + str_index(tail, ':');
    struct str tag = str_from(name, colon + 1);
    bool tagged = colon < name.n, digested = at < image.n;
    if (is_identifier(image) || !is_name(str_first(name, colon)) || (tagged && !is_tag(tag)) ||
        (digested && !is_digest(digest)))
        return false;
    return tagged ? str_is(tag, "latest") : !digested;
}
