/* sched/plugin_wrap.c - a library's table of functions as a struct plugin; see plugin_wrap.h.
 *
 * Every function here has the same shape: say which call it is, call the library, bring what it says
 * into berth's terms. Nothing of the library's memory is kept but its functions: texts and lists are
 * copied before the next call can change them. Equal reasons become one text per instance, so that a constant reason costs no
 * memory per node. */
#include "sched/plugin_wrap.h"

#include "base/map.h"
#include "base/mem.h"
#include "sched/hints.h"
#include "sched/plugin_host.h"
#include "sched/sched_priv.h"

enum { TEXTS_MAX = 1024 }; /* distinct reasons that an instance keeps; more live as long as the cycle */

_Static_assert(BERTH_PENDING == (int)V_PENDING && BERTH_SKIP == (int)V_SKIP && BERTH_WAIT == (int)V_WAIT, "codes");
_Static_assert(BERTH_UNRESOLVABLE == (int)V_UNRESOLVABLE && BERTH_ERROR == (int)V_ERROR, "codes");
_Static_assert(BERTH_ACT_UPDATE_POD_GENERATED_CLAIM == (int)ACT_UPDATE_POD_GENERATED_CLAIM, "actions");
_Static_assert(BERTH_ACT_ALL == (int)ACT_ALL && BERTH_ACT_UPDATE == (int)ACT_UPDATE, "actions");
_Static_assert(BERTH_RES_NODE == (int)RES_NODE && BERTH_RES_DEVICE_CLASS == (int)RES_DEVICE_CLASS, "resources");

struct instance {
    const struct berth_plugin *table;
    void *data;           /* the library's */
    struct map_str texts; /* of verdicts */
    struct arena arena;   /* these texts */
};

static const struct berth_plugin *table_of(const struct plugin_instance *p)
{
    return ((const struct instance *)p->data)->table;
}

static void *data_of(const struct plugin_instance *p)
{
    return ((const struct instance *)p->data)->data;
}

static struct berth_call call_in(const struct plugin_instance *p, struct cycle *c, enum call_point point)
{
    return (struct berth_call){
        .point = point,
        .plugin = p,
        .syms = c->syms,
        .cycle = c,
        .cache = c->cache,
        .arena = point >= CALL_RESERVE ? c->binding_arena : c->arena,
    };
}

static const struct berth_node *handle(const struct node_view *view)
{
    return (const struct berth_node *)(const void *)view;
}

/* ---- Verdicts ---- */

struct str plugin_cut_text(const char *text)
{
    struct str all = { text, strnlen(text, BERTH_TEXT_BYTES_MAX + 1) };
    if (all.n <= BERTH_TEXT_BYTES_MAX)
        return all;
    all.n = BERTH_TEXT_BYTES_MAX;
    while (all.n && ((unsigned char)all.p[all.n] & 0xC0) == 0x80)
        all.n--;
    return all;
}

static const char *keep_text(struct instance *i, struct arena *arena, const char *text)
{
    struct str cut = plugin_cut_text(text);
    union map_value *known = map_str_find(&i->texts, cut);
    if (known)
        return known->const_ptr;
    if (i->texts.n >= TEXTS_MAX)
        return arena_cstr(arena, cut);
    const char *copy = arena_cstr(&i->arena, cut);
    map_str_put(&i->texts, (struct str){ copy, cut.n }, NULL)->const_ptr = copy;
    return copy;
}

#define CODE(code) (1u << BERTH_##code)
enum { CODES_ALWAYS = CODE(SUCCESS) | CODE(ERROR) | CODE(UNSCHEDULABLE) | CODE(UNRESOLVABLE) | CODE(PENDING) };

/* `codes`: those that belong to the point. */
static struct verdict take(const struct berth_call *call, struct berth_verdict v, uint32_t codes)
{
    struct instance *i = call->plugin->data;
    if (v.code > BERTH_PENDING || !(codes >> v.code & 1))
        return verdict_text(V_ERROR, keep_text(i, call->arena,
                                               arena_printf(call->arena,
                                                            "the plugin answers with code %u, which "
                                                            "does not belong here",
                                                            v.code)));
    const char *text = v.text ? keep_text(i, call->arena, v.text) : NULL;
    if (!text && v.code != BERTH_SUCCESS && v.code != BERTH_SKIP)
        text = "";
    return verdict_text((enum verdict_code)v.code, text);
}

/* ---- Queue ---- */

/* The queue's scratch memory is not reset between pods: what this call took is given back, and with it
 * the memory that the text may be in. */
static struct verdict pre_enqueue(const struct plugin_instance *p, struct cycle *c)
{
    struct berth_call call = call_in(p, c, CALL_PRE_ENQUEUE);
    struct arena_mark mark = arena_save(c->arena);
    struct berth_verdict v = table_of(p)->pre_enqueue(data_of(p), &call);
    struct str cut = plugin_cut_text(v.text ? v.text : "");
    char text[BERTH_TEXT_BYTES_MAX + 1];
    memcpy(text, cut.p, cut.n);
    text[cut.n] = '\0';
    arena_rewind(c->arena, mark);
    return take(&call, (struct berth_verdict){ v.code, v.text ? text : NULL }, CODES_ALWAYS);
}

static bool less(const struct plugin_instance *p, const struct queued_pod *a, const struct queued_pod *b)
{
    struct berth_call call = { .point = CALL_LESS, .plugin = p, .syms = p->syms };
    return table_of(p)->less(data_of(p), &call, (const struct berth_queued *)(const void *)a,
                             (const struct berth_queued *)(const void *)b);
}

static bool covers(const struct berth_registration *r, const struct cluster_event *event)
{
    bool is_pod = event->resource == RES_ASSIGNED_POD || event->resource == RES_UNSCHEDULED_POD;
    bool same = r->resource == (uint32_t)event->resource || (r->resource == BERTH_RES_POD && is_pod);
    return (same || event->resource == RES_ANY) && hint_covers(r->actions, event->action);
}

/* One function stands for all hints of a plugin: whatever registration matches is asked. */
static enum hint hint(const struct hint_context *h, const struct pod *waiting, const struct cluster_event *event)
{
    const struct plugin_instance *p = h->plugin;
    const struct berth_plugin *table = table_of(p);
    struct berth_call call = { .point = CALL_HINT, .plugin = p, .syms = h->syms, .cache = h->cache, .arena = h->arena };
    for (uint32_t i = 0; i < table->n_events; i++) {
        const struct berth_registration *r = &table->events[i];
        if (!covers(r, event))
            continue;
        if (!r->hint || r->hint(data_of(p), &call, (const struct berth_pod *)(const void *)waiting,
                                (const struct berth_event *)(const void *)event))
            return HINT_QUEUE;
    }
    return HINT_SKIP;
}

/* ---- Filter ---- */

static struct verdict pre_filter(const struct plugin_instance *p, struct cycle *c, struct node_names *ret_names)
{
    struct berth_call call = call_in(p, c, CALL_PRE_FILTER);
    uint32_t codes = (CODES_ALWAYS | CODE(SKIP)) & ~CODE(PENDING);
    struct verdict v = take(&call, table_of(p)->pre_filter(data_of(p), &call), codes);
    if (call.narrows) {
        sym *names = arena_alloc(c->arena, call.narrowed.n * sizeof(*names));
        memcpy(names, call.narrowed.at, call.narrowed.n * sizeof(*names));
        *ret_names = (struct node_names){ names, (uint32_t)call.narrowed.n, true };
    }
    vec_fini(&call.narrowed);
    return v;
}

static void *clone_state(const struct plugin_instance *p, struct cycle *c, const void *state)
{
    struct berth_call call = call_in(p, c, CALL_FILTER);
    return table_of(p)->clone_state(data_of(p), &call, (void *)(uintptr_t)state);
}

static void add_pod(const struct plugin_instance *p, struct cycle *c, void *state, const struct pod *pod,
                    const struct node_view *on)
{
    (void)state; /* is what c->state has */
    struct berth_call call = call_in(p, c, CALL_FILTER);
    table_of(p)->add_pod(data_of(p), &call, (const struct berth_pod *)(const void *)pod, handle(on));
}

static void remove_pod(const struct plugin_instance *p, struct cycle *c, void *state, const struct pod *pod,
                       const struct node_view *on)
{
    (void)state;
    struct berth_call call = call_in(p, c, CALL_FILTER);
    table_of(p)->remove_pod(data_of(p), &call, (const struct berth_pod *)(const void *)pod, handle(on));
}

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    struct berth_call call = call_in(p, c, CALL_FILTER);
    return take(&call, table_of(p)->filter(data_of(p), &call, handle(n)), CODES_ALWAYS);
}

/* ---- Score ---- */

static struct verdict pre_score(const struct plugin_instance *p, struct cycle *c)
{
    struct berth_call call = call_in(p, c, CALL_PRE_SCORE);
    return take(&call, table_of(p)->pre_score(data_of(p), &call), CODES_ALWAYS | CODE(SKIP));
}

static int64_t score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    struct berth_call call = call_in(p, c, CALL_SCORE);
    return table_of(p)->score(data_of(p), &call, handle(n));
}

static void normalize(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    struct berth_call call = call_in(p, c, CALL_NORMALIZE);
    table_of(p)->normalize(data_of(p), &call, scores, c->n_feasible);
}

/* ---- Bind ---- */

/* By the pod that was assumed there: the row may be gone, or another node's by now. */
static const char *node_of(const struct cycle *c)
{
    return sym_text(c->syms, c->binding->pod->node_name).p;
}

static struct verdict reserve(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    (void)node;
    struct berth_call call = call_in(p, c, CALL_RESERVE);
    return take(&call, table_of(p)->reserve(data_of(p), &call, node_of(c)), CODES_ALWAYS);
}

static void unreserve(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    (void)node;
    struct berth_call call = call_in(p, c, CALL_UNRESERVE);
    table_of(p)->unreserve(data_of(p), &call, node_of(c));
}

static struct verdict permit(const struct plugin_instance *p, struct cycle *c, node_id node, int64_t *ret_timeout_ms)
{
    (void)node;
    struct berth_call call = call_in(p, c, CALL_PERMIT);
    int64_t timeout_ms = 0;
    struct berth_verdict v = table_of(p)->permit(data_of(p), &call, node_of(c), &timeout_ms);
    *ret_timeout_ms = timeout_ms > 0 ? timeout_ms : 0;
    return take(&call, v, CODES_ALWAYS | CODE(WAIT));
}

static struct verdict pre_bind(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    (void)node;
    struct berth_call call = call_in(p, c, CALL_PRE_BIND);
    return take(&call, table_of(p)->pre_bind(data_of(p), &call, node_of(c)), CODES_ALWAYS);
}

static void post_bind(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    (void)node;
    struct berth_call call = call_in(p, c, CALL_POST_BIND);
    table_of(p)->post_bind(data_of(p), &call, node_of(c));
}

/* ---- The whole ---- */

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    const struct wrapped_plugin *w = (const struct wrapped_plugin *)(const void *)p->plugin;
    const char *json = args ? args : "";
    char error[512] = "";
    void *data = NULL;
    if (w->table.init && !w->table.init(json, strlen(json), &data, error, sizeof(error))) {
        error[sizeof(error) - 1] = '\0';
        return err_set(e, ERR_INVALID, "plugin %s: %s", w->plugin.name,
                       *error ? error : "does not accept its arguments");
    }
    struct instance *i = mem_zalloc(sizeof(*i));
    i->table = &w->table;
    i->data = data;
    map_str_init(&i->texts);
    arena_init(&i->arena);
    p->data = i;
    return ERR_OK;
}

static void fini(struct plugin_instance *p)
{
    struct instance *i = p->data;
    if (i->table->fini)
        i->table->fini(i->data);
    map_str_fini(&i->texts);
    arena_fini(&i->arena);
    free(i);
}

static const struct plugin_event *wrap_events(const struct berth_plugin *table)
{
    struct plugin_event *events = mem_zalloc((table->n_events + 1) * sizeof(*events));
    for (uint32_t i = 0; i < table->n_events; i++) {
        const struct berth_registration *r = &table->events[i];
        events[i] = (struct plugin_event){ (enum event_resource)r->resource, r->actions, r->hint ? hint : NULL };
    }
    return events;
}

/* In place of the library's own. */
static void copy_lists(struct berth_plugin *t)
{
    struct str name = str_of(t->name);
    t->name = memcpy(mem_zalloc(name.n + 1), name.p, name.n);
    if (!t->events)
        return;
    struct berth_registration *events = mem_zalloc((t->n_events + 1) * sizeof(*events));
    if (t->n_events)
        memcpy(events, t->events, t->n_events * sizeof(*events));
    t->events = events;
}

void plugin_wrap(struct wrapped_plugin *w)
{
    struct berth_plugin *t = &w->table;
    copy_lists(t);
    w->plugin = (struct plugin){
        .name = t->name,
        .init = init,
        .fini = fini,
        .pre_enqueue = t->pre_enqueue ? pre_enqueue : NULL,
        .less = t->less ? less : NULL,
        .pre_filter = t->pre_filter ? pre_filter : NULL,
        .clone_state = t->clone_state ? clone_state : NULL,
        .add_pod = t->add_pod ? add_pod : NULL,
        .remove_pod = t->remove_pod ? remove_pod : NULL,
        .filter = t->filter ? filter : NULL,
        .pre_score = t->pre_score ? pre_score : NULL,
        .score = t->score ? score : NULL,
        .normalize = t->normalize ? normalize : NULL,
        .reserve = t->reserve ? reserve : NULL,
        .unreserve = t->unreserve ? unreserve : NULL,
        .permit = t->permit ? permit : NULL,
        .pre_bind = t->pre_bind ? pre_bind : NULL,
        .post_bind = t->post_bind ? post_bind : NULL,
        .events = t->events ? wrap_events(t) : NULL,
    };
}

void plugin_unwrap(struct wrapped_plugin *w)
{
    if (!w->plugin.name)
        return; /* it came to nothing */
    free((void *)(uintptr_t)w->plugin.events);
    free((void *)(uintptr_t)w->table.events);
    free((void *)(uintptr_t)w->table.name);
}
