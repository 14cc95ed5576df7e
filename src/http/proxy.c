/* http/proxy.c - see proxy.h. */
#include "http/proxy.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Addresses ---- */

struct address {
    unsigned char bytes[16]; /* IPv4 stands in its mapped form */
    bool is_v4;
};

static bool parse_ip(const char *text, struct address *ret)
{
    unsigned char v4[4];
    static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
    ret->is_v4 = inet_pton(AF_INET, text, v4) == 1;
    if (ret->is_v4) {
        memcpy(ret->bytes, mapped, 12);
        memcpy(ret->bytes + 12, v4, 4);
        return true;
    }
    if (inet_pton(AF_INET6, text, ret->bytes) != 1)
        return false;
    ret->is_v4 = memcmp(ret->bytes, mapped, 12) == 0; /* as Go: a mapped address is an IPv4 address */
    return true;
}

static bool is_loopback(const struct address *ip)
{
    static const unsigned char one[16] = { [15] = 1 };
    return ip->is_v4 ? ip->bytes[12] == 127 : memcmp(ip->bytes, one, 16) == 0;
}

static bool in_network(const struct address *ip, const char *network, unsigned n_bits)
{
    struct address net;
    if (!parse_ip(network, &net) || net.is_v4 != ip->is_v4)
        return false;
    if (net.is_v4)
        n_bits += 96;
    for (unsigned i = 0; i < n_bits && i < 128; i++)
        if ((net.bytes[i / 8] ^ ip->bytes[i / 8]) >> (7 - i % 8) & 1)
            return false;
    return true;
}

/* ---- One entry of NO_PROXY ---- */

enum { ENTRY_BYTES = 256 };

static bool network_matches(const char *entry, const struct address *ip)
{
    char network[ENTRY_BYTES], *end;
    const char *slash = strchr(entry, '/');
    struct address net;
    snprintf(network, sizeof(network), "%.*s", (int)(slash - entry), entry);
    long n_bits = strtol(slash + 1, &end, 10);
    if (*end || end == slash + 1 || !parse_ip(network, &net) || n_bits < 0 || n_bits > (net.is_v4 ? 32 : 128))
        return false;
    return ip && in_network(ip, network, (unsigned)n_bits);
}

/* Splits "host:port" and "[v6]:port"; *ret_port is -1 without one. */
static void split_port(const char *entry, char *host, int *ret_port)
{
    const char *colon = strrchr(entry, ':'), *begin = entry;
    size_t n = strlen(entry);
    struct address ip;
    *ret_port = -1;
    if (entry[0] != '[' && parse_ip(entry, &ip))
        colon = NULL; /* a bare IPv6 address */
    if (entry[0] == '[' && entry[n - 1] == ']')
        colon = NULL;
    if (colon) {
        *ret_port = atoi(colon + 1);
        n = (size_t)(colon - entry);
    }
    if (n >= 2 && begin[0] == '[' && begin[n - 1] == ']') {
        begin++;
        n -= 2;
    }
    snprintf(host, ENTRY_BYTES, "%.*s", (int)n, begin);
}

static bool name_matches(const char *entry, const char *host)
{
    const char *suffix = strncmp(entry, "*.", 2) == 0 ? entry + 1 : entry;
    bool below_only = suffix[0] == '.';
    size_t n_host = strlen(host), n = strlen(suffix);
    if (!below_only && strcasecmp(suffix, host) == 0)
        return true;
    if (below_only)
        return n_host > n && strcasecmp(host + n_host - n, suffix) == 0;
    return n_host > n + 1 && host[n_host - n - 1] == '.' && strcasecmp(host + n_host - n, suffix) == 0;
}

static bool entry_matches(const char *entry, const struct url *target, const struct address *ip)
{
    char host[ENTRY_BYTES];
    struct address net;
    int port;
    if (strcmp(entry, "*") == 0)
        return true;
    if (strchr(entry, '/'))
        return network_matches(entry, ip);
    split_port(entry, host, &port);
    if (host[0] == 0 || (port >= 0 && port != target->port))
        return false;
    if (parse_ip(host, &net))
        return ip && memcmp(net.bytes, ip->bytes, 16) == 0;
    return name_matches(host, target->host);
}

static bool is_excepted(const char *no_proxy, const struct url *target, const struct address *ip)
{
    char entry[ENTRY_BYTES];
    for (const char *at = no_proxy; at && *at;) {
        const char *end = strchrnul(at, ',');
        const char *last = end;
        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
        while (last > at && (last[-1] == ' ' || last[-1] == '\t'))
            last--;
        if (last > at && (size_t)(last - at) < sizeof(entry)) {
            memcpy(entry, at, (size_t)(last - at));
            entry[last - at] = 0;
            if (entry_matches(entry, target, ip))
                return true;
        }
        at = *end ? end + 1 : end;
    }
    return false;
}

const struct url *proxy_for(const struct proxy_rules *r, const struct url *target)
{
    struct address ip;
    if (r->for_all)
        return r->http;
    bool is_ip = parse_ip(target->host, &ip);
    if (strcmp(target->host, "localhost") == 0 || (is_ip && is_loopback(&ip)))
        return NULL;
    if (is_excepted(r->no_proxy, target, is_ip ? &ip : NULL))
        return NULL;
    return strcmp(target->scheme, "https") == 0 ? r->https : r->http;
}

/* ---- Where the rules come from ---- */

static const char *either(const char *(*get)(const char *name), const char *upper, const char *lower)
{
    const char *value = get(upper);
    if (!value || !*value)
        value = get(lower);
    return value && *value ? value : NULL;
}

/* Without a scheme it is an http proxy. */
static enum err_code parse_proxy(const char *text, struct arena *a, const struct url **ret_url, struct err *e)
{
    struct url *u = ARENA_NEW(a, struct url);
    if (!text)
        return ERR_OK;
    if (!strstr(text, "://"))
        text = arena_printf(a, "http://%s", text);
    if (url_parse(str_of(text), a, u, e))
        return err_wrap(e, "proxy");
    *ret_url = u;
    return ERR_OK;
}

enum err_code proxy_rules_from_environment(const char *(*get)(const char *name), struct arena *a,
                                           struct proxy_rules *ret_rules, struct err *e)
{
    struct proxy_rules r = { .no_proxy = either(get, "NO_PROXY", "no_proxy") };
    if (r.no_proxy)
        r.no_proxy = arena_cstr(a, str_of(r.no_proxy));
    if (parse_proxy(either(get, "HTTP_PROXY", "http_proxy"), a, &r.http, e) ||
        parse_proxy(either(get, "HTTPS_PROXY", "https_proxy"), a, &r.https, e))
        return e->code;
    *ret_rules = r;
    return ERR_OK;
}

enum err_code proxy_rules_for_all(struct str proxy_url, struct arena *a, struct proxy_rules *ret_rules, struct err *e)
{
    struct proxy_rules r = { .for_all = true };
    if (parse_proxy(arena_cstr(a, proxy_url), a, &r.http, e))
        return e->code;
    *ret_rules = r;
    return ERR_OK;
}
