/* http/url.c - see url.h. */
#include "http/url.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int default_port(const char *scheme)
{
    return strcmp(scheme, "http") == 0 ? 80 : strcmp(scheme,
                                                     "https") == 0 ? 443 : strncmp(scheme, "socks5", 6) == 0 ? 1080 : 0;
}

static char *lower(struct arena *a, struct str text)
{
    char *copy = arena_cstr(a, text);
    for (char *p = copy; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return copy;
}

/* %41 becomes A; what is no escape stays. */
static char *unescape(struct arena *a, struct str text)
{
    char *copy = arena_cstr(a, text), *to = copy;
    for (size_t i = 0; i < text.n; i++) {
        char hex[3] = { 0 };
        if (text.p[i] == '%' && i + 2 < text.n && isxdigit((unsigned char)text.p[i + 1]) &&
            isxdigit((unsigned char)text.p[i + 2])) {
            memcpy(hex, text.p + i + 1, 2);
            *to++ = (char)strtol(hex, NULL, 16);
            i += 2;
        } else {
            *to++ = text.p[i];
        }
    }
    *to = 0;
    return copy;
}

static bool parse_port(struct str text, int *ret_port)
{
    int port = 0;
    if (text.n == 0 || text.n > 5)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (!isdigit((unsigned char)text.p[i]))
            return false;
        port = port * 10 + (text.p[i] - '0');
    }
    *ret_port = port;
    return port > 0 && port <= 65535;
}

static bool host_is_valid(struct str host)
{
    for (size_t i = 0; i < host.n; i++) {
        unsigned char c = (unsigned char)host.p[i];
        if (c <= ' ' || c >= 0x7f || strchr("/?#@\\\"<>^`{|}[]", c))
            return false;
    }
    return host.n > 0 && host.n < 256;
}

/* "host", "host:port", "[v6]:port" */
static bool split_host(struct str text, struct arena *a, struct url *u)
{
    struct str host = text, port = { 0 };
    if (text.n && text.p[0] == '[') {
        size_t end = str_index(text, ']');
        if (end == text.n)
            return false;
        host = str_range(text.p + 1, text.p + end);
        struct str rest = str_from(text, end + 1);
        if (rest.n && rest.p[0] != ':')
            return false;
        port = str_from(rest, 1);
    } else if (memchr(text.p, ':', text.n)) {
        host = str_first(text, str_index(text, ':'));
        port = str_from(text, host.n + 1);
    }
    if (!host_is_valid(host) || (port.n && !parse_port(port, &u->port)))
        return false;
    u->host = lower(a, host);
    return true;
}

static bool target_is_valid(struct str target)
{
    for (size_t i = 0; i < target.n; i++)
        if ((unsigned char)target.p[i] <= ' ' || target.p[i] == 0x7f)
            return false;
    return true;
}

static void set_authority(struct url *u, struct arena *a)
{
    const char *open = strchr(u->host, ':') ? "[" : "", *close = *open ? "]" : "";
    if (u->port == default_port(u->scheme))
        u->authority = str_of(arena_printf(a, "%s%s%s", open, u->host, close));
    else
        u->authority = str_of(arena_printf(a, "%s%s%s:%d", open, u->host, close, u->port));
}

static void split_user(struct str info, struct arena *a, struct url *u)
{
    size_t n_user = str_index(info, ':');
    u->user = unescape(a, str_first(info, n_user));
    u->password = unescape(a, str_from(info, n_user + 1));
}

enum err_code url_parse(struct str text, struct arena *a, struct url *ret_url, struct err *e)
{
    struct url u = { 0 };
    const char *sep = text.n > 3 ? memmem(text.p, text.n, "://", 3) : NULL;
    if (!sep)
        return err_set(e, ERR_INVALID, "address \"%.*s\" has no scheme", STR_ARG(text));
    u.scheme = lower(a, str_range(text.p, sep));
    u.port = default_port(u.scheme);
    if (!u.port)
        return err_set(e, ERR_INVALID, "address \"%.*s\": scheme %s is not supported", STR_ARG(text), u.scheme);
    struct str rest = str_range(sep + 3, text.p + text.n);
    size_t n_authority = 0;
    while (n_authority < rest.n && !strchr("/?#", rest.p[n_authority]))
        n_authority++;
    struct str authority = str_first(rest, n_authority), target = str_from(rest, n_authority);
    target = str_first(target, str_index(target, '#'));
    const char *at = memrchr(authority.p, '@', authority.n);
    if (at) {
        split_user(str_range(authority.p, at), a, &u);
        authority = str_range(at + 1, authority.p + authority.n);
    }
    if (!split_host(authority, a, &u) || !target_is_valid(target))
        return err_set(e, ERR_INVALID, "address \"%.*s\" is malformed", STR_ARG(text));
    set_authority(&u, a);
    if (target.n == 0)
        u.target = STR("/");
    else if (target.p[0] == '?')
        u.target = str_of(arena_printf(a, "/%.*s", STR_ARG(target)));
    else
        u.target = arena_str(a, target);
    *ret_url = u;
    return ERR_OK;
}
