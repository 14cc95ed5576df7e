/* controllers/remote_sweep.c - see remote_sweep.h. Upstream: controller/namespace/deletion. */
#include "controllers/remote_sweep.h"

#include <stdlib.h>

#include "api/schema.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "codec/json.h"
#include "controllers/discovery.h"

#define CONTROLLER "namespace-controller"
#define ACCEPT "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
#define DELETE_BODY "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"propagationPolicy\":\"Background\"}"

enum { TIMEOUT_MS = 30 * 1000 };

enum sweep_state { SWEEP_DISCOVERS, SWEEP_ASKS, SWEEP_CLEAN };

struct sweep {
    struct remote_sweep *all;
    enum sweep_state state;
    struct arena arena;
    struct str namespace;
    VEC(const char *) paths; /* of collections */
    size_t next;             /* of them that is asked for */
    uint32_t n_out;
    bool found; /* something, or an error */
};

struct remote_sweep {
    struct remote_requests *requests;
    struct discovery *discovery;
    struct sweep *at[SWEEPS_MAX];
};

/* A question about one resource. */
struct look {
    struct sweep *sweep;
    const char *path;
};

static void go_on(struct sweep *w);

static void sweep_free(struct sweep *w)
{
    for (size_t i = 0; i < SWEEPS_MAX; i++)
        if (w->all->at[i] == w)
            w->all->at[i] = NULL;
    vec_fini(&w->paths);
    arena_fini(&w->arena);
    free(w);
}

/* ---- One resource ---- */

static void ask(struct sweep *w, const char *method, const char *target, api_done done, void *context)
{
    bool deletes = strcmp(method, "DELETE") == 0;
    struct remote_request r = {
        .controller = CONTROLLER,
        .request = { .lane = deletes ? API_LANE_EVICT : API_LANE_READ, .method = method, .target = str_of(target),
                     .accept = deletes ? "application/json" : ACCEPT, .timeout_ms = TIMEOUT_MS,
                     .media_type = deletes ? "application/json" : NULL, .body = deletes ? STR(DELETE_BODY) : STR("") },
        .done = done,
        .context = context,
    };
    w->n_out++;
    remote_requests_send(w->all->requests, &r);
}

static void on_deleted(void *context, const struct api_answer *answer)
{
    struct sweep *w = context;
    struct arena a;
    arena_init(&a);
    if (!api_ok(answer))
        LOG(4, "Not everything could be deleted", KS("namespace", w->namespace), KS("err", api_problem(&a, answer)));
    arena_fini(&a);
    w->n_out--;
    go_on(w);
}

/* Whether a list has items; one that cannot be read counts as if. */
static bool is_empty(struct str body)
{
    struct work work = work_init(API_ANSWER_BYTES_MAX);
    struct arena a;
    struct value v;
    struct err e;
    arena_init(&a);
    err_init(&e, &a);
    const struct value *items = NULL;
    if (!json_decode_plain(&a, &work, body, &v, &e) && v.kind == VALUE_MAP)
        items = value_member(&v, STR("items"));
    bool empty = items && (items->kind != VALUE_LIST || items->n == 0);
    arena_fini(&a);
    return empty;
}

static void on_list(void *context, const struct api_answer *answer)
{
    struct look *own_look = context;
    struct sweep *w = own_look->sweep;
    bool missing = answer->status == 404 || answer->status == 405; /* it went meanwhile, and all of them with it */
    if (!missing && (!api_ok(answer) || !is_empty(answer->body))) {
        w->found = true;
        if (api_ok(answer))
            ask(w, "DELETE", own_look->path, on_deleted, w);
    }
    free(own_look);
    w->n_out--;
    go_on(w);
}

static void look_at(struct sweep *w, const char *path)
{
    struct look *l = mem_alloc(sizeof(*l));
    struct arena a;
    *l = (struct look){ w, path };
    arena_init_small(&a);
    ask(w, "GET", arena_printf(&a, "%s?limit=1", path), on_list, l);
    arena_fini(&a);
}

static void go_on(struct sweep *w)
{
    while (w->next < w->paths.n && w->n_out < SWEEP_REQUESTS_MAX)
        look_at(w, w->paths.at[w->next++]);
    if (w->n_out)
        return;
    if (w->found)
        sweep_free(w); /* who asks again begins a new one */
    else
        w->state = SWEEP_CLEAN;
}

/* ---- All of them ---- */

static void begin_asking(struct sweep *w)
{
    const struct discovery *d = w->all->discovery;
    unsigned wanted = VERB_LIST | VERB_DELETECOLLECTION;
    for (size_t i = 0; i < discovery_n(d); i++) {
        const struct served_resource *r = discovery_at(d, i);
        if (r->namespaced && (r->verbs & wanted) == wanted)
            vec_push(&w->paths, arena_printf(&w->arena, "/%s%.*s/%.*s/namespaces/%.*s/%.*s", r->group.n ? "apis/" : "api",
                                             STR_ARG(r->group), STR_ARG(r->version), STR_ARG(w->namespace),
                                             STR_ARG(r->plural)));
    }
    w->state = SWEEP_ASKS;
    go_on(w);
}

static void on_discovered(void *context, const char *error)
{
    struct remote_sweep *s = context;
    if (error)
        LOG_ERROR(error, "Unable to find out what the server serves");
    for (size_t i = 0; i < SWEEPS_MAX; i++) {
        struct sweep *w = s->at[i];
        if (!w || w->state != SWEEP_DISCOVERS)
            continue;
        if (error)
            sweep_free(w);
        else
            begin_asking(w);
    }
}

static struct sweep *find(struct remote_sweep *s, struct str namespace, struct sweep ***ret_free)
{
    for (size_t i = 0; i < SWEEPS_MAX; i++) {
        if (!s->at[i])
            *ret_free = &s->at[i];
        else if (str_eq(s->at[i]->namespace, namespace))
            return s->at[i];
    }
    return NULL;
}

bool remote_sweep_is_clean(struct remote_sweep *s, struct str namespace)
{
    struct sweep **room = NULL, *w = find(s, namespace, &room);
    if (w && w->state == SWEEP_CLEAN) {
        sweep_free(w);
        return true;
    }
    if (w || !room)
        return false;
    *room = w = mem_zalloc(sizeof(*w));
    w->all = s;
    arena_init(&w->arena);
    w->namespace = arena_str(&w->arena, namespace);
    discovery_begin(s->discovery);
    return false;
}

struct remote_sweep *remote_sweep_new(const struct api *api, struct remote_requests *requests)
{
    struct remote_sweep *s = mem_zalloc(sizeof(*s));
    s->requests = requests;
    s->discovery = discovery_new(api, on_discovered, s);
    return s;
}

void remote_sweep_free(struct remote_sweep *s)
{
    if (!s)
        return;
    discovery_free(s->discovery);
    for (size_t i = 0; i < SWEEPS_MAX; i++)
        if (s->at[i])
            sweep_free(s->at[i]);
    free(s);
}
