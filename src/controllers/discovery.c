/* controllers/discovery.c - see discovery.h. */
#include "controllers/discovery.h"

#include <stdlib.h>

#include "api/schema.h"
#include "base/log.h"
#include "base/map.h"
#include "base/vec.h"
#include "codec/json.h"

#define ACCEPT "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

enum { TIMEOUT_MS = 30 * 1000, N_ROOTS = 2 };

static const char *const roots[N_ROOTS] = { "/api", "/apis" };

/* What was read in one go. */
struct catalog {
    struct arena arena;
    VEC(struct served_resource) resources; /* preferred ones */
    struct map_str all;                    /* group/version/plural */
};

struct discovery {
    const struct api *api;
    void (*read)(void *context, const char *error);
    void *context;
    struct catalog *catalog; /* NULL: nothing was read yet */
    struct catalog *coming;
    api_call call;
    unsigned root; /* which is being read */
};

static struct catalog *catalog_new(void)
{
    struct catalog *c = mem_zalloc(sizeof(*c));
    arena_init(&c->arena);
    map_str_init(&c->all);
    return c;
}

static void catalog_free(struct catalog *c)
{
    if (!c)
        return;
    vec_fini(&c->resources);
    map_str_fini(&c->all);
    arena_fini(&c->arena);
    free(c);
}

/* ---- Reading ---- */

static const struct value *member(const struct value *map, const char *name)
{
    static const struct value none;
    const struct value *v = map->kind == VALUE_MAP ? value_member(map, str_of(name)) : NULL;
    return v ? v : &none;
}

static uint32_t count(const struct value *list)
{
    return list->kind == VALUE_LIST ? list->n : 0;
}

static unsigned verbs_of(const struct value *list)
{
    static const struct {
        const char *name;
        unsigned verb;
    } rows[] = {
        { "create", VERB_CREATE }, { "delete", VERB_DELETE }, { "deletecollection", VERB_DELETECOLLECTION },
        { "get", VERB_GET },       { "list", VERB_LIST },     { "patch", VERB_PATCH },
        { "update", VERB_UPDATE }, { "watch", VERB_WATCH },
    };
    unsigned verbs = 0;
    for (uint32_t i = 0; i < count(list); i++)
        for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
            verbs |= str_is(value_text(&list->items[i]), rows[k].name) ? rows[k].verb : 0;
    return verbs;
}

static struct str name_of(struct arena *a, struct str group, struct str version, struct str plural)
{
    return str_of(arena_printf(a, "%.*s/%.*s/%.*s", STR_ARG(group), STR_ARG(version), STR_ARG(plural)));
}

/* Versions come in the order in which they are preferred. */
static void take_resource(struct catalog *c, struct str group, struct str version, const struct value *v)
{
    struct arena *a = &c->arena;
    struct str plural = value_text(member(v, "resource"));
    if (!plural.n || c->all.n >= DISCOVERY_RESOURCES_MAX)
        return;
    bool is_first;
    map_str_put(&c->all, name_of(a, group, version, plural), NULL);
    map_str_put(&c->all, name_of(a, group, STR(""), plural), &is_first);
    if (is_first)
        vec_push(&c->resources, (struct served_resource){ arena_str(a, group), arena_str(a, version), arena_str(a, plural),
                                                          str_is(value_text(member(v, "scope")), "Namespaced"),
                                                          verbs_of(member(v, "verbs")) });
}

static void take_group(struct catalog *c, const struct value *group)
{
    struct str name = value_text(member(member(group, "metadata"), "name"));
    const struct value *versions = member(group, "versions");
    for (uint32_t i = 0; i < count(versions); i++) {
        const struct value *resources = member(&versions->items[i], "resources");
        for (uint32_t k = 0; k < count(resources); k++)
            take_resource(c, name, value_text(member(&versions->items[i], "version")), &resources->items[k]);
    }
}

static const char *take_body(struct catalog *c, struct arena *a, struct str body)
{
    struct work work = work_init(API_ANSWER_BYTES_MAX);
    struct value v;
    struct err e;
    err_init(&e, a);
    if (json_decode_plain(a, &work, body, &v, &e))
        return e.message;
    if (!str_is(value_text(member(&v, "kind")), "APIGroupDiscoveryList"))
        return "the server has no aggregated discovery";
    const struct value *groups = member(&v, "items");
    for (uint32_t i = 0; i < count(groups); i++)
        take_group(c, &groups->items[i]);
    if (c->all.n >= DISCOVERY_RESOURCES_MAX)
        LOG_WARNING("The server serves more resources than are looked at");
    return NULL;
}

/* ---- Asking ---- */

static void on_answer(void *context, const struct api_answer *answer);

static void ask(struct discovery *d)
{
    struct api_request request = { .lane = API_LANE_READ, .method = "GET", .target = str_of(roots[d->root]), .accept = ACCEPT,
                                   .timeout_ms = TIMEOUT_MS };
    d->call = d->api->send(d->api->context, &request, on_answer, d);
}

static void end(struct discovery *d, const char *error)
{
    if (!error) {
        catalog_free(d->catalog);
        d->catalog = d->coming;
    } else {
        catalog_free(d->coming);
    }
    d->coming = NULL;
    d->read(d->context, error);
}

static void on_answer(void *context, const struct api_answer *answer)
{
    struct discovery *d = context;
    struct arena a;
    d->call = 0;
    arena_init(&a);
    const char *error = api_ok(answer) ? take_body(d->coming, &a, answer->body) : api_problem(&a, answer);
    if (!error && ++d->root < N_ROOTS)
        ask(d);
    else
        end(d, error);
    arena_fini(&a);
}

void discovery_begin(struct discovery *d)
{
    if (d->coming)
        return;
    d->coming = catalog_new();
    d->root = 0;
    ask(d);
}

/* ---- Life ---- */

struct discovery *discovery_new(const struct api *api, void (*read)(void *context, const char *error), void *context)
{
    struct discovery *d = mem_zalloc(sizeof(*d));
    d->api = api;
    d->read = read;
    d->context = context;
    return d;
}

void discovery_free(struct discovery *d)
{
    if (!d)
        return;
    if (d->call)
        d->api->cancel(d->api->context, d->call);
    catalog_free(d->coming);
    catalog_free(d->catalog);
    free(d);
}

size_t discovery_n(const struct discovery *d)
{
    return d->catalog ? d->catalog->resources.n : 0;
}

const struct served_resource *discovery_at(const struct discovery *d, size_t i)
{
    return &d->catalog->resources.at[i];
}

bool discovery_serves(const struct discovery *d, struct str group, struct str version, struct str plural)
{
    struct arena a;
    arena_init_small(&a);
    bool found = d->catalog && map_str_find(&d->catalog->all, name_of(&a, group, version, plural));
    arena_fini(&a);
    return found;
}
