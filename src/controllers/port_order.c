/* controllers/port_order.c - see port_order.h. */
#include "controllers/port_order.h"

#include "base/strbuf.h"

typedef unsigned __int128 hash128;

static hash128 fnv_1a(struct str text)
{
    const hash128 prime = ((hash128)1 << 88) + 0x13b;
    hash128 h = ((hash128)0x6c62272e07bb0142u << 64) + 0x62b821756295c58du;
    for (size_t i = 0; i < text.n; i++)
        h = (h ^ (uint8_t)text.p[i]) * prime;
    return h;
}

/* The fields stand in the order of the type's declaration, and those of slices are pointers. */
static hash128 hash_of(const struct port_text *p, enum port_form form)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    if (form == PORT_OF_SLICE)
        strbuf_printf(&b, "(v1.EndpointPort){Name:(*string)%.*s Protocol:(*v1.Protocol)%.*s Port:(*int32)%lld",
                      STR_ARG(p->name), STR_ARG(p->protocol), (long long)p->number);
    else
        strbuf_printf(&b, "(v1.EndpointPort){Name:(string)%.*s Port:(int32)%lld Protocol:(v1.Protocol)%.*s", STR_ARG(p->name),
                      (long long)p->number, STR_ARG(p->protocol));
    if (p->has_app_protocol)
        strbuf_printf(&b, " AppProtocol:(*string)%.*s}", STR_ARG(p->app_protocol));
    else
        STRBUF_ADD_LIT(&b, " AppProtocol:(*string)<nil>}");
    hash128 h = fnv_1a(strbuf_str(&b));
    strbuf_fini(&b);
    return h;
}

int port_order(const struct port_text *a, const struct port_text *b, enum port_form form)
{
    hash128 x = hash_of(a, form), y = hash_of(b, form);
    return (x > y) - (x < y);
}
