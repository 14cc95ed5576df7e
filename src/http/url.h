/* http/url.h - http and https addresses taken apart. Thread: any. Owns: nothing; texts live in the arena given. */
#pragma once

#include "base/err.h"

struct url {
    const char *scheme;      /* "http", "https", for proxies also "socks5", "socks5h" */
    const char *user, *password; /* decoded; NULL when there are none */
    const char *host;        /* without brackets, in lower case */
    int port;                /* the scheme's own when none is given */
    struct str authority;    /* as it goes into Host: with a port unless it is the scheme's own */
    struct str target;       /* path and query, "/" at least; without fragment */
};

ERR_MUST_CHECK enum err_code url_parse(struct str text, struct arena *a, struct url *ret_url, struct err *e);
