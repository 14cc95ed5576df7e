/* apiserver/server.c - see server.h. */
#include <assert.h>
#include <stdlib.h>

#include "apiserver/exchange.h"
#include "apiserver/impersonate.h"
#include "apiserver/registry_priv.h"
#include "apiserver/server_metrics.h"
#include "apiserver/service_alloc.h"

enum { REQUEST_TIMEOUT_MS = 60 * 1000, WATCH_SECONDS_MIN = 1800, EVENT_TTL_MS = 3600 * 1000,
       NODE_PORT_MIN = 30000, NODE_PORT_MAX = 32767 }; /* upstream's defaults */

struct apiserver *apiserver_new(const struct apiserver_options *o)
{
    struct apiserver *s = mem_zalloc(sizeof(*s));
    s->o = *o;
    if (!s->o.request_timeout_ms)
        s->o.request_timeout_ms = REQUEST_TIMEOUT_MS;
    if (!s->o.min_watch_seconds)
        s->o.min_watch_seconds = WATCH_SECONDS_MIN;
    if (!s->o.event_ttl_ms)
        s->o.event_ttl_ms = EVENT_TTL_MS;
    if (!s->o.node_port_max) {
        s->o.node_port_min = NODE_PORT_MIN;
        s->o.node_port_max = NODE_PORT_MAX;
    }
    rand_init(&s->rand, o->seed);
    list_init(&s->exchanges);
    fresh_init(&s->fresh, o->loop);
    if (o->authz)
        s->impersonation = impersonation_new(o->authz);
    s->metrics = server_metrics_new(o->metrics, o->objects);
    struct service_alloc_options services = { o->objects, o->service_cidr.n ? o->service_cidr : STR("10.0.0.0/24"),
                                              s->o.node_port_min, s->o.node_port_max, rand_u64(&s->rand) };
    s->services = service_alloc_new(&services);
    s->hub = watch_hub_new(o->loop, o->objects, s->metrics, &s->room, rand_u64(&s->rand));
    return s;
}

void apiserver_free(struct apiserver *s)
{
    if (!s)
        return;
    assert(list_is_empty(&s->exchanges));
    fresh_fini(&s->fresh);
    watch_hub_free(s->hub);
    service_alloc_free(s->services);
    impersonation_free(s->impersonation);
    server_metrics_free(s->metrics);
    free(s);
}

void apiserver_add_pages(struct apiserver *s, const struct apiserver_page *pages, size_t n)
{
    assert(!s->more_pages);
    s->more_pages = pages;
    s->n_more_pages = n;
}

void apiserver_poll(struct apiserver *s)
{
    stored_trim(s->o.objects);
    if (!store_poll(s->o.store))
        return;
    watch_hub_poll(s->hub);
    fresh_poll(&s->fresh, store_revision(s->o.store)); /* last: a watch that begins has nothing of this poll to come */
}

void apiserver_stop(struct apiserver *s)
{
    s->stopping = true;
    watch_hub_stop(s->hub);
}
