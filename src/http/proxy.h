/* http/proxy.h - which proxy a request goes through, by the rules of Go's httpproxy: HTTP_PROXY, HTTPS_PROXY, NO_PROXY.
 *
 * NO_PROXY is a list of: "*"; an address or a network ("10.0.0.0/8"); a name, which also stands for all below it; a
 * name with a leading dot (or "*."), which stands only for those below it; each but networks may have a port. Loopback
 * addresses and "localhost" never go through a proxy.
 *
 * Thread: any.    Owns: nothing; texts live in the arena given. */
#pragma once

#include "http/url.h"

struct proxy_rules {
    const struct url *http, *https; /* by the request's scheme; NULL = none */
    const char *no_proxy;
    bool for_all; /* `http` for every request, whatever its host: a proxy-url of a configuration */
};

/* As the environment says; `get` is getenv or a test's. */
ERR_MUST_CHECK enum err_code proxy_rules_from_environment(const char *(*get)(const char *name), struct arena *a,
                                                          struct proxy_rules *ret_rules, struct err *e);
/* All requests through one proxy. */
ERR_MUST_CHECK enum err_code proxy_rules_for_all(struct str proxy_url, struct arena *a, struct proxy_rules *ret_rules,
                                                 struct err *e);
/* NULL: straight to the host. */
const struct url *proxy_for(const struct proxy_rules *r, const struct url *target);
