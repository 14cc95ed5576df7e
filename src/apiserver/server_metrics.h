#pragma once
#include "apiserver/route.h"
struct server_metrics;
static inline void server_metrics_request(struct server_metrics *m, const struct route *r, const char *sub, int code, double s, uint64_t n, bool dry)
{ (void)m; (void)r; (void)sub; (void)code; (void)s; (void)n; (void)dry; }
static inline void server_metrics_watch_begun(struct server_metrics *m, const struct route *r) { (void)m; (void)r; }
static inline void server_metrics_watch_ended(struct server_metrics *m, const struct route *r) { (void)m; (void)r; }
