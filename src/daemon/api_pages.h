/* daemon/api_pages.h - what an API server serves besides its API: health, metrics, version, flags, the list of paths.
 *
 * Rows for apiserver/server.h, which asks them after authorization.
 *
 * Thread: the loop's.    Owns: the rows and copies of texts. */
#pragma once

#include "apiserver/server.h"
#include "config/apiserver_flags.h"
#include "daemon/api_health.h"
#include "daemon/component_metrics.h"
#include "daemon/zpages.h"

struct api_pages;

struct api_pages_options {
    struct loop *loop;
    const struct apiserver_flags *flags;
    const struct gates *gates;
    struct component_build build;
    struct metrics *metrics, *slis; /* of /metrics and /metrics/slis */
    struct api_health *health;
    struct sa_tokens *tokens; /* whose pages are served; NULL: none */
    uint64_t seed;
};

struct api_pages *api_pages_new(const struct api_pages_options *o);
void api_pages_free(struct api_pages *p);
const struct apiserver_page *api_pages_rows(const struct api_pages *p, size_t *ret_n);
