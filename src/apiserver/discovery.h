/* apiserver/discovery.h - what this server has, told to clients: /api, /apis and what is below them up to the versions.
 *
 * Everything comes from the resource rows of the schema. Two forms: the old one has a document for each group and
 * version, the aggregated one (apidiscovery.k8s.io/v2) all of /api or /apis in a single document with an ETag.
 *
 * Thread: any. */
#pragma once

#include "apiserver/negotiate.h"
#include "base/err.h"
#include "base/strbuf.h"

enum { DISCOVERY_ETAG_BYTES = 2 * 32 + 2 };

struct discovery_head {
    const char *content_type;
    bool aggregated; /* then the answer also has Vary: Accept, Cache-Control: public and the ETag */
    char etag[DISCOVERY_ETAG_BYTES + 1];
};

/* Whether GET on the path is answered here; a slash at the end does not matter. */
bool discovery_has(struct str path);
/* The body of the answer. `server_address` is HOST:PORT for /api. ERR_NOT_FOUND, ERR_NOT_ACCEPTABLE. */
ERR_MUST_CHECK enum err_code discovery_answer(struct arena *a, struct str path, struct str accept,
                                              struct str server_address,
                                              struct strbuf *to, struct discovery_head *ret_head, struct err *e);
