/* daemon/zpages.h - /flagz and /statusz: what this process was told, and what it is; for people, or as an object.
 *
 * Without Accept, or with one that takes text/plain, the answer is a text that nobody should parse: upstream parts names
 * and values in ways drawn by lot to make sure of it. The object is given to those who ask for it by group, version and
 * kind, as JSON or YAML.
 *
 * Thread: any. Memory: answers go to the caller's buffer. */
#pragma once

#include "base/arena.h"
#include "base/strbuf.h"

struct flagz_pair {
    const char *name, *value;
};

struct zpages {
    const char *component; /* "kube-scheduler" */
    const struct flagz_pair *flags; /* by name */
    size_t n_flags;
    int64_t start_s; /* of the process, since 1970 */
    const char *go_version, *binary_version, *emulation_version; /* "1.36.4", "1.36"; go_version: what it is made with */
    const char *const *paths; /* first parts of what is listed, in order: "/healthz" */
    size_t n_paths;
};

enum zpage { ZPAGE_FLAGZ, ZPAGE_STATUSZ };

struct zpage_answer {
    int status;               /* 200 or 406 */
    const char *content_type; /* may live in the arena */
    const char *warning;      /* for the header; NULL: none */
};

struct zpage_request {
    enum zpage page;
    struct str accept; /* the header's value; n is 0 when there is none */
    int64_t now_s;
    uint64_t lot; /* draws the separator */
    bool pretty;  /* JSON for people */
};

struct zpage_answer zpage_answer(const struct zpages *z, const struct zpage_request *r, struct arena *a,
                                 struct strbuf *to);
