/* sched/framework.c - see framework.h: running a profile's filters on one node, and the words of verdicts. */
#include "sched/framework.h"

#include <stdarg.h>

#include "sched/sched_priv.h"

const char *framework_lacks_any(const struct cycle *c, const struct plugin_instance *p, enum extension_point at)
{
    const char *text = NULL;
    if (!p->plugin->fails_without)
        return NULL;
    if (c->profile->without_pre_filter >> p->index & 1)
        text = p->plugin->fails_without(p, c, POINT_PRE_FILTER, at);
    if (!text && at == POINT_SCORE && c->profile->without_pre_score >> p->index & 1)
        text = p->plugin->fails_without(p, c, POINT_PRE_SCORE, at);
    return text;
}

struct verdict framework_filter_with(const struct plugin_instance *p, struct cycle *c, const struct node_view *view)
{
    const char *lacks = framework_lacks(c, p, POINT_FILTER);
    return lacks ? verdict_text(V_ERROR, lacks) : p->plugin->filter(p, c, view);
}

const struct profile *sched_profile(const struct sched *s, sym scheduler_name)
{
    for (uint32_t i = 0; i < s->n_profiles; i++)
        if (s->profiles[i]->scheduler_name_sym == scheduler_name)
            return s->profiles[i];
    return NULL;
}

struct verdict verdict_printf(struct cycle *c, enum verdict_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(c->arena, format, args);
    va_end(args);
    return verdict_text(code, text);
}

void framework_reasons(struct cycle *c, const struct filter_status *status, struct reasons *to)
{
    for (uint32_t i = 0; i < status->n_several; i++)
        framework_reasons(c, &status->several[i], to);
    if (status->n_several)
        return;
    if (status->verdict.text)
        vec_push(&to->texts, status->verdict.text);
    else if (status->plugin && status->plugin->plugin->reasons)
        status->plugin->plugin->reasons(status->plugin, c, status->verdict, to);
}

const char *framework_filter_error(struct cycle *c, const struct filter_status *status)
{
    return arena_printf(c->arena, "running \"%s\" filter plugin: %s", status->plugin->plugin->name,
                        status->verdict.text ? status->verdict.text : "");
}

/* What all of them say together; one that cannot be helped by evicting pods decides. */
static struct filter_status run_all_filters(struct cycle *c, const struct node_view *view)
{
    const struct point_plugins *points = &c->profile->points[POINT_FILTER];
    struct filter_status *failed = ARENA_NEW_N(c->arena, struct filter_status, points->n);
    struct filter_status all = { .several = failed };
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin_instance *p = points->at[i];
        if (c->skip_filter >> p->index & 1)
            continue;
        struct verdict v = framework_filter_with(p, c, view);
        if (v.code == V_SUCCESS)
            continue;
        if (!verdict_rejects(v))
            return (struct filter_status){ .verdict = v, .plugin = p };
        failed[all.n_several++] = (struct filter_status){ .verdict = v, .plugin = p };
        all.verdict.code = v.code == V_UNRESOLVABLE || all.verdict.code == V_SUCCESS ? v.code : all.verdict.code;
    }
    return all;
}

/* The first filter that does not pass ends it. */
static struct filter_status run_filters(struct cycle *c, const struct node_view *view)
{
    const struct point_plugins *points = &c->profile->points[POINT_FILTER];
    if (c->profile->runs_all_filters)
        return run_all_filters(c, view);
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin_instance *p = points->at[i];
        if (c->skip_filter >> p->index & 1)
            continue;
        struct verdict v = framework_filter_with(p, c, view);
        if (v.code != V_SUCCESS)
            return (struct filter_status){ .verdict = v, .plugin = p };
    }
    return (struct filter_status){ .verdict = PASS };
}

struct filter_status framework_gate(struct cycle *c)
{
    assert(c->profile);
    const struct point_plugins *gates = &c->profile->points[POINT_PRE_ENQUEUE];
    for (uint8_t i = 0; i < gates->n; i++) {
        struct verdict v = gates->at[i]->plugin->pre_enqueue(gates->at[i], c);
        if (v.code != V_SUCCESS)
            return (struct filter_status){ .verdict = v, .plugin = gates->at[i] };
    }
    return (struct filter_status){ .verdict = PASS };
}

bool framework_respects(const struct cycle *c, const struct pod *nominated)
{
    return nominated->priority >= c->pod->priority && strcmp(nominated->meta.uid, c->pod->meta.uid) != 0;
}

/* The node with its nominated pods, in *ret_state the state of plugins to match; NULL when there are none. */
static struct node_view *add_nominated(struct cycle *c, const struct node_view *view, void ***ret_state)
{
    const struct nominated_list *list = nominator_on(&c->sched->nominator, view->node->name);
    struct node_view *copy = NULL;
    void **before = c->state;
    for (size_t i = 0; list && i < list->pods.n; i++) {
        const struct pod *pod = list->pods.at[i]->pod;
        if (!framework_respects(c, pod))
            continue;
        if (!copy) {
            copy = node_view_clone(c, view);
            *ret_state = cycle_clone_state(c);
            c->state = *ret_state;
        }
        node_view_add(c, copy, pod);
    }
    c->state = before;
    return copy;
}

struct filter_status framework_filter(struct cycle *c, const struct node_view *view)
{
    void **with_nominated, **before = c->state;
    struct node_view *copy = add_nominated(c, view, &with_nominated);
    if (copy) {
        c->state = with_nominated;
        struct filter_status status = run_filters(c, copy);
        c->state = before;
        if (status.verdict.code != V_SUCCESS)
            return status;
    }
    return run_filters(c, view);
}
