/* Scheduling families: whole attempts of the real scheduler, stage by stage. Format: README of the vectors. */
#include <stdlib.h>

#include "config/setup.h"
#include "plugins/plugins.h"
#include "sched/attempt.h"
#include "sched/fit_error.h"
#include "sched/preempt.h"
#include "sched/sched.h"
#include "tests/vectors/vectors.h"

/* ---- The cluster of a scenario ---- */

struct world {
    struct vector_case *c;
    struct sym_table syms;
    struct setup setup;
    struct sched *sched;
    VEC(const struct pod *) pods; /* given up at the end */
};

static int64_t fixed_now_ms(void *context)
{
    (void)context;
    return 1800000000000;
}

static int64_t fixed_wall_s(void *context)
{
    (void)context;
    return 1800000000;
}

static void ignore_status(void *context, const struct status_change *change)
{
    (void)context;
    (void)change;
}

static void ignore_event(void *context, const struct event_note *note)
{
    (void)context;
    (void)note;
}

static void ignore_evict(void *context, io_ticket ticket, const struct pod *victim, const struct pod *preemptor)
{
    (void)context;
    (void)ticket;
    (void)victim;
    (void)preemptor;
}

/* Adds every object of a list. */
#define LOAD(w, key, name, add)                                                            \
    do {                                                                                   \
        size_t n_;                                                                         \
        yyjson_val **sorted_ = sorted_objects((w)->c, (key), &n_);                         \
        for (size_t i_ = 0; i_ < n_; i_++) {                                               \
            const struct name *form_ = NULL;                                               \
            struct err e_;                                                                 \
            err_init(&e_, (w)->c->arena);                                                  \
            if (name##_decode(&(w)->syms, TYPED_JSON, vector_json((w)->c, sorted_[i_]), &form_, &e_)) {\
                vector_mismatch((w)->c, "%s: %s", (key), e_.message);                      \
                continue;                                                                  \
            }                                                                              \
            add;                                                                           \
            name##_unref(&(w)->syms, form_);                                               \
        }                                                                                  \
    } while (0)

static const char *object_key(struct arena *a, yyjson_val *object)
{
    yyjson_val *meta = yyjson_obj_get(object, "metadata");
    struct str ns = vector_str(meta, "namespace"), name = vector_str(meta, "name");
    return arena_printf(a, "%.*s/%.*s", STR_ARG(ns), STR_ARG(name));
}

struct keyed {
    const char *key;
    yyjson_val *object;
};

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct keyed *)a)->key, ((const struct keyed *)b)->key);
}

static yyjson_val **sorted_objects(struct vector_case *c, const char *list_name, size_t *ret_n)
{
    yyjson_val *list = yyjson_obj_get(yyjson_obj_get(c->record, "objects"), list_name);
    size_t n = yyjson_arr_size(list), i, max;
    struct keyed *keyed = ARENA_NEW_N(c->arena, struct keyed, n);
    yyjson_val *object;
    yyjson_arr_foreach(list, i, max, object)
        keyed[i] = (struct keyed){ object_key(c->arena, object), object };
    qsort(keyed, n, sizeof(*keyed), by_key);
    yyjson_val **sorted = ARENA_NEW_N(c->arena, yyjson_val *, n);
    for (i = 0; i < n; i++)
        sorted[i] = keyed[i].object;
    *ret_n = n;
    return sorted;
}

static void add_pod(struct world *w, const struct pod *pod)
{
    if (pod->flags & POD_FINISHED)
        return;
    struct err e;
    err_init(&e, w->c->arena);
    if (pod->node_name != SYM_EMPTY) {
        if (cache_add_pod(sched_cache(w->sched), pod, &e))
            vector_mismatch(w->c, "%s", e.message);
    } else if (pod->nominated_node != SYM_EMPTY && pod->n_gates == 0) {
        nominator_add(sched_nominator(w->sched), pod, SYM_NONE);
    }
}

static void load_objects(struct world *w)
{
    struct sched *s = w->sched;
    LOAD(w, "namespaces", namespace, sched_object_set(s, OBJECT_NAMESPACE, form_));
    LOAD(w, "services", service, sched_object_set(s, OBJECT_SERVICE, form_));
    LOAD(w, "replicationcontrollers", replication_controller,
         sched_object_set(s, OBJECT_REPLICATION_CONTROLLER, form_));
    LOAD(w, "replicasets", replica_set, sched_object_set(s, OBJECT_REPLICA_SET, form_));
    LOAD(w, "statefulsets", stateful_set, sched_object_set(s, OBJECT_STATEFUL_SET, form_));
    LOAD(w, "persistentvolumes", pv, sched_object_set(s, OBJECT_PERSISTENT_VOLUME, form_));
    LOAD(w, "persistentvolumeclaims", pvc, sched_object_set(s, OBJECT_PERSISTENT_VOLUME_CLAIM, form_));
    LOAD(w, "storageclasses", storage_class, sched_object_set(s, OBJECT_STORAGE_CLASS, form_));
    LOAD(w, "csinodes", csi_node, sched_object_set(s, OBJECT_CSI_NODE, form_));
    LOAD(w, "csidrivers", csi_driver, sched_object_set(s, OBJECT_CSI_DRIVER, form_));
    LOAD(w, "csistoragecapacities", csi_storage_capacity, sched_object_set(s, OBJECT_CSI_STORAGE_CAPACITY, form_));
    LOAD(w, "volumeattachments", volume_attachment, sched_object_set(s, OBJECT_VOLUME_ATTACHMENT, form_));
    LOAD(w, "poddisruptionbudgets", pdb, sched_object_set(s, OBJECT_BUDGET, form_));
    LOAD(w, "nodes", node, sched_node_set(s, form_));
    LOAD(w, "pods", pod, add_pod(w, form_));
}

static bool world_open(struct world *w, struct vector_case *c)
{
    *w = (struct world){ .c = c };
    sym_init(&w->syms);
    struct err e;
    err_init(&e, c->arena);
    yyjson_val *config = yyjson_obj_get(c->record, "config");
    struct str text = config ? vector_json(c, config) : (struct str){ NULL, 0 };
    enum err_code code = vector_is_legacy(c) ? vector_legacy_setup(c, &w->setup, &w->syms, &e)
                                             : setup_from_text(&w->setup, &w->syms, text, plugin_registry, &e);
    if (code) {
        vector_mismatch(c, "config: %s", e.message);
        sym_fini(&w->syms);
        return false;
    }
    struct sched_options options = {
        .syms = &w->syms,
        .profiles = w->setup.profiles,
        .n_profiles = w->setup.n_profiles,
        .features = w->setup.features,
        .extenders = w->setup.extenders,
        .n_extenders = vector_is_legacy(c) ? w->setup.n_extenders : 0,
        .io = { .now_ms = fixed_now_ms, .wall_s = fixed_wall_s, .patch_status = ignore_status,
                .event = ignore_event, .evict = ignore_evict },
    };
    w->sched = sched_new(&options);
    load_objects(w);
    return true;
}

static void world_close(struct world *w)
{
    sched_free(w->sched);
    for (size_t i = 0; i < w->pods.n; i++)
        pod_unref(&w->syms, w->pods.at[i]);
    vec_fini(&w->pods);
    setup_fini(&w->setup);
    sym_fini(&w->syms);
}

/* ---- Comparison ---- */

static const char *const code_names[] = { "Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable" };

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "code plugin [reason|reason]" with sorted reasons, so that one comparison says it all. */
static const char *status_text(struct world *w, struct cycle *cycle, const struct filter_status *status)
{
    struct reasons reasons = { .arena = w->c->arena };
    framework_reasons(cycle, status, &reasons);
    if (reasons.texts.n)
        qsort(reasons.texts.at, reasons.texts.n, sizeof(*reasons.texts.at), compare_texts);
    const char *text = arena_printf(w->c->arena, "%s %s", code_names[status->verdict.code],
                                    status->plugin ? status->plugin->plugin->name : "");
    for (size_t i = 0; i < reasons.texts.n; i++)
        text = arena_printf(w->c->arena, "%s|%s", text, reasons.texts.at[i]);
    vec_fini(&reasons.texts);
    return text;
}

static const char *wanted_status(struct world *w, yyjson_val *status)
{
    struct str code = vector_str(status, "code"), plugin = vector_str(status, "plugin");
    const char *text = arena_printf(w->c->arena, "%.*s %.*s", STR_ARG(code), STR_ARG(plugin));
    size_t i, max;
    yyjson_val *reason;
    yyjson_arr_foreach(yyjson_obj_get(status, "reasons"), i, max, reason)
        text = arena_printf(w->c->arena, "%s|%s", text, yyjson_get_str(reason));
    return text;
}

struct step {
    struct world *w;
    const char *name; /* "scenario step n" */
    yyjson_val *expect;
    struct attempt a;
};

static bool same(struct step *s, const char *what, const char *got, const char *want)
{
    if (strcmp(got, want) == 0)
        return true;
    vector_mismatch(s->w->c, "%s: %s\n    got  %s\n    want %s", s->name, what, got, want);
    return false;
}

/* The names of a JSON list, or of nodes, sorted and joined. */
static const char *json_names(struct step *s, yyjson_val *list)
{
    const char *text = "";
    size_t i, max;
    yyjson_val *name;
    yyjson_arr_foreach(list, i, max, name)
        text = arena_printf(s->w->c->arena, "%s %s", text, yyjson_get_str(name));
    return text;
}

static const char *sorted_names(struct step *s, const char **names, size_t n)
{
    const char *text = "";
    if (n)
        qsort(names, n, sizeof(*names), compare_texts);
    for (size_t i = 0; i < n; i++)
        text = arena_printf(s->w->c->arena, "%s %s", text, names[i]);
    return text;
}

static const char *node_name(struct step *s, node_id id)
{
    return sched_cache(s->w->sched)->rows.at[id].node->meta.name;
}

static const char *node_names_of(struct step *s, const node_id *nodes, uint32_t n)
{
    const char **names = ARENA_NEW_N(s->w->c->arena, const char *, n);
    for (uint32_t i = 0; i < n; i++)
        names[i] = node_name(s, nodes[i]);
    return sorted_names(s, names, n);
}

static bool check_pre_enqueue(struct step *s, const struct pod *pod)
{
    struct cycle *c = &s->a.cycle;
    const struct point_plugins *points = &c->profile->points[POINT_PRE_ENQUEUE];
    const char *got = "";
    (void)pod;
    for (uint8_t i = 0; i < points->n && !*got; i++) {
        struct filter_status status = { points->at[i]->plugin->pre_enqueue(points->at[i], c), points->at[i] };
        if (status.verdict.code != V_SUCCESS)
            got = status_text(s->w, c, &status);
    }
    yyjson_val *want = yyjson_obj_get(s->expect, "preEnqueue");
    return same(s, "preEnqueue", got, want ? wanted_status(s->w, want) : "") && !*got;
}

static bool check_pre_filter(struct step *s)
{
    struct attempt *a = &s->a;
    bool goes_on = attempt_pre_filter(a);
    const char *got = "";
    if (a->pre_filter_message) {
        struct filter_status status = { a->pre_filter, a->pre_filter_plugin };
        got = status_text(s->w, &a->cycle, &status);
    } else if (a->narrowed.given) {
        const char **names = ARENA_NEW_N(s->w->c->arena, const char *, a->narrowed.n);
        for (uint32_t i = 0; i < a->narrowed.n; i++)
            names[i] = sym_text(&s->w->syms, a->narrowed.at[i]).p;
        got = arena_printf(s->w->c->arena, "Success%s", sorted_names(s, names, a->narrowed.n));
    }
    yyjson_val *want = yyjson_obj_get(s->expect, "preFilter");
    const char *wanted = "";
    if (str_is(vector_str(want, "code"), "Success"))
        wanted = arena_printf(s->w->c->arena, "Success%s", json_names(s, yyjson_obj_get(want, "nodeNames")));
    else if (want)
        wanted = wanted_status(s->w, want);
    same(s, "preFilter", got, wanted);
    return goes_on;
}

static void check_statuses(struct step *s)
{
    struct attempt *a = &s->a;
    yyjson_val *want = yyjson_obj_get(s->expect, "filter");
    const struct cache *cache = sched_cache(s->w->sched);
    for (size_t i = 0; i < cache->order.n; i++) {
        node_id id = cache->order.at[i];
        const struct filter_status *status = &a->statuses[id];
        const char *got = status->verdict.code == V_SUCCESS ? "" : status_text(s->w, &a->cycle, status);
        yyjson_val *wanted = yyjson_obj_get(want, node_name(s, id));
        const char *what = arena_printf(s->w->c->arena, "filter of %s", node_name(s, id));
        if (!same(s, what, got, wanted ? wanted_status(s->w, wanted) : ""))
            return;
    }
}

static void check_scores(struct step *s)
{
    struct attempt *a = &s->a;
    yyjson_val *want = yyjson_obj_get(s->expect, "scores");
    const struct point_plugins *points = &a->cycle.profile->points[POINT_SCORE];
    for (uint32_t i = 0; i < a->n_feasible; i++) {
        const char *name = node_name(s, a->feasible[i]);
        yyjson_val *of_node = yyjson_obj_get(want, name);
        for (uint8_t k = 0; k < points->n; k++) {
            const char *plugin = points->at[k]->plugin->name;
            yyjson_val *wanted = yyjson_obj_get(of_node, plugin);
            bool skipped = !a->scores[k];
            if (skipped && vector_is_legacy(s->w->c) && wanted && yyjson_get_sint(wanted) == 0)
                continue; /* v1.20 computes what is left out here: 0 */
            if (skipped != !wanted || (wanted && yyjson_get_sint(wanted) != a->scores[k][i])) {
                vector_mismatch(s->w->c, "%s: score %s on %s: got %lld%s, want %lld%s", s->name, plugin, name,
                                skipped ? 0ll : (long long)a->scores[k][i], skipped ? " (skipped)" : "",
                                (long long)yyjson_get_sint(wanted), wanted ? "" : " (skipped)");
                return;
            }
        }
        if (!vector_int(s->w->c, "total", a->totals[i], vector_num(of_node, "total")))
            return;
    }
}

static void check_best(struct step *s)
{
    struct attempt *a = &s->a;
    int64_t best = INT64_MIN;
    for (uint32_t i = 0; i < a->n_feasible; i++)
        best = a->totals[i] > best ? a->totals[i] : best;
    node_id *nodes = ARENA_NEW_N(s->w->c->arena, node_id, a->n_feasible);
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->n_feasible; i++)
        if (a->totals[i] == best)
            nodes[n++] = a->feasible[i];
    same(s, "best", node_names_of(s, nodes, n), json_names(s, yyjson_obj_get(s->expect, "best")));
    attempt_select(a);
    bool chosen = false;
    for (uint32_t i = 0; i < n; i++)
        chosen |= nodes[i] == a->node;
    if (!chosen)
        vector_mismatch(s->w->c, "%s: the node chosen is not among the best", s->name);
}

static const char *victim_names(struct step *s, const struct candidate *k)
{
    const char **names = ARENA_NEW_N(s->w->c->arena, const char *, k->n_victims);
    for (uint32_t i = 0; i < k->n_victims; i++)
        names[i] = arena_printf(s->w->c->arena, "%s/%s", sym_text(&s->w->syms, k->victims[i]->meta.ns).p,
                                k->victims[i]->meta.name);
    return sorted_names(s, names, k->n_victims);
}

static void check_candidates(struct step *s, const struct preemption *p, yyjson_val *want)
{
    yyjson_val *candidates = yyjson_obj_get(want, "candidates");
    vector_int(s->w->c, "number of candidates", p ? p->n_candidates : 0, (int64_t)yyjson_obj_size(candidates));
    for (uint32_t i = 0; p && i < p->n_candidates; i++) {
        const struct candidate *k = &p->candidates[i];
        yyjson_val *wanted = yyjson_obj_get(candidates, node_name(s, k->node));
        const char *what = arena_printf(s->w->c->arena, "victims on %s", node_name(s, k->node));
        same(s, what, victim_names(s, k), json_names(s, yyjson_obj_get(wanted, "victims")));
        vector_int(s->w->c, "pdbViolations", k->n_violations, vector_num(wanted, "pdbViolations"));
    }
}

static void check_dry_run(struct step *s, const struct preemption *p, yyjson_val *want)
{
    yyjson_val *failed = yyjson_obj_get(want, "dryRunFailed"), *name, *status;
    size_t i, max;
    yyjson_obj_foreach(failed, i, max, name, status) {
        sym node = sym_find(&s->w->syms, (struct str){ yyjson_get_str(name), yyjson_get_len(name) });
        node_id id = cache_find_node(sched_cache(s->w->sched), node);
        const char *got = p && p->dry_run && p->dry_run[id].verdict.code != V_SUCCESS
                              ? status_text(s->w, &s->a.cycle, &p->dry_run[id])
                              : "";
        same(s, arena_printf(s->w->c->arena, "dry run on %s", yyjson_get_str(name)), got, wanted_status(s->w, status));
    }
}

static void check_acceptable(struct step *s, const struct preemption *p, yyjson_val *want)
{
    uint32_t n = 0;
    const struct candidate **ties = ARENA_NEW_N(s->w->c->arena, const struct candidate *, p ? p->n_candidates : 0);
    if (p && p->n_candidates)
        n = preempt_ties(&s->a.cycle, p, ties);
    node_id *nodes = ARENA_NEW_N(s->w->c->arena, node_id, n);
    for (uint32_t i = 0; i < n; i++)
        nodes[i] = ties[i]->node;
    same(s, "acceptable", node_names_of(s, nodes, n), json_names(s, yyjson_obj_get(want, "acceptable")));
}

static void check_preemption(struct step *s)
{
    struct attempt *a = &s->a;
    yyjson_val *want = yyjson_obj_get(s->expect, "preemption");
    const char *message = "";
    if (profile_has(a->cycle.profile, POINT_POST_FILTER)) {
        struct verdict v = attempt_post_filter(a, &message);
        same(s, "preemption code", code_names[v.code], arena_cstr(s->w->c->arena, vector_str(want, "code")));
        if (!vector_is_legacy(s->w->c)) { /* v1.20 says nothing of what preemption thought */
            same(s, "preemption message", message, arena_cstr(s->w->c->arena, vector_str(want, "message")));
            check_dry_run(s, a->cycle.preemption, want);
        }
        check_candidates(s, a->cycle.preemption, want);
        check_acceptable(s, a->cycle.preemption, want);
        bool clears = a->cycle.nominate == SYM_EMPTY;
        vector_int(s->w->c, "clearNomination", clears, vector_bool(want, "clearNomination"));
    } else if (want) {
        vector_mismatch(s->w->c, "%s: there is no PostFilter", s->name);
    }
    if (!vector_is_legacy(s->w->c))
        same(s, "message", attempt_fit_error(a, message), arena_cstr(s->w->c->arena, vector_str(s->expect, "message")));
}

static void check_rejectors(struct step *s)
{
    const struct profile *profile = s->a.cycle.profile;
    const char *names[PLUGINS_MAX];
    size_t n = 0;
    for (uint8_t i = 0; i < profile->n_instances; i++)
        if (s->a.rejectors >> i & 1)
            names[n++] = profile->instances[i].plugin->name;
    same(s, "unschedulablePlugins", sorted_names(s, names, n),
         json_names(s, yyjson_obj_get(s->expect, "unschedulablePlugins")));
}

static void check_attempt(struct step *s, const struct pod *pod)
{
    struct attempt *a = &s->a;
    bool began = attempt_begin(s->w->sched, a, pod,
                               (struct attempt_wants){ .reasons = true, .detail = true, .all_nodes = true });
    if (!a->cycle.profile) {
        vector_mismatch(s->w->c, "%s: %s", s->name, a->error);
        return;
    }
    if (!check_pre_enqueue(s, pod))
        return;
    const char *wanted_error = arena_cstr(s->w->c->arena, vector_str(s->expect, "error"));
    if (!same(s, "error", began ? "" : a->error, wanted_error) || !began)
        return;
    bool feasible = check_pre_filter(s) && attempt_filter(a);
    if (a->outcome == ATTEMPT_ERROR) {
        vector_mismatch(s->w->c, "%s: error %s", s->name, a->error);
        return;
    }
    if (!a->pre_filter_message) {
        uint64_t rejectors = a->rejectors;
        attempt_diagnose(a);
        if (feasible)
            a->rejectors = rejectors;
        check_statuses(s);
        same(s, "feasible", node_names_of(s, a->feasible, a->n_feasible),
             json_names(s, yyjson_obj_get(s->expect, "feasible")));
    }
    if (feasible) {
        if (attempt_score(a)) {
            check_scores(s);
            check_best(s);
        } else {
            vector_mismatch(s->w->c, "%s: error %s", s->name, a->error);
        }
        return;
    }
    same(s, "fitError", attempt_fit_error(a, NULL), arena_cstr(s->w->c->arena, vector_str(s->expect, "fitError")));
    if (!vector_is_legacy(s->w->c))
        check_rejectors(s);
    check_preemption(s);
}

/* ---- What a step leaves behind ---- */

static void assume(struct step *s, const struct pod *pod, struct str node)
{
    struct world *w = s->w;
    sym name = sym_find(&w->syms, node);
    const struct pod *assumed = pod_with_node(&w->syms, pod, name);
    struct err e;
    err_init(&e, w->c->arena);
    if (cache_assume(sched_cache(w->sched), assumed, &e))
        vector_mismatch(w->c, "%s: %s", s->name, e.message);
    nominator_remove(sched_nominator(w->sched), pod->meta.uid);
    const struct point_plugins *points = &s->a.cycle.profile->points[POINT_RESERVE];
    s->a.cycle.binding_arena = s->a.cycle.arena;
    for (uint8_t i = 0; i < points->n; i++)
        points->at[i]->plugin->reserve(points->at[i], &s->a.cycle, cache_find_node(sched_cache(w->sched), name));
    pod_unref(&w->syms, assumed);
}

static void remove_by_key(struct step *s, struct str key)
{
    struct cache *cache = sched_cache(s->w->sched);
    for (struct map_str_slot *slot = map_str_next(&cache->pods, NULL); slot; slot = map_str_next(&cache->pods, slot)) {
        const struct placed *p = slot->value.const_ptr;
        const char *name = arena_printf(s->w->c->arena, "%s/%s", sym_text(&s->w->syms, p->pod->meta.ns).p,
                                        p->pod->meta.name);
        struct err e;
        err_init(&e, s->w->c->arena);
        if (str_is(key, name)) {
            if (cache_remove_pod(cache, p->pod, &e))
                vector_mismatch(s->w->c, "%s: %s", s->name, e.message);
            return;
        }
    }
    vector_mismatch(s->w->c, "%s: victim %.*s is not on a node", s->name, STR_ARG(key));
}

static void drop_nomination(struct step *s, struct str key)
{
    struct nominator *n = sched_nominator(s->w->sched);
    for (struct map_str_slot *slot = map_str_next(&n->by_uid, NULL); slot; slot = map_str_next(&n->by_uid, slot)) {
        const struct pod *pod = ((const struct nominated *)slot->value.const_ptr)->pod;
        const char *name = arena_printf(s->w->c->arena, "%s/%s", sym_text(&s->w->syms, pod->meta.ns).p,
                                        pod->meta.name);
        if (str_is(key, name)) {
            nominator_remove(n, pod->meta.uid);
            return;
        }
    }
}

static void each_name(struct step *s, yyjson_val *list, void (*each)(struct step *, struct str))
{
    size_t i, max;
    yyjson_val *name;
    yyjson_arr_foreach(list, i, max, name)
        each(s, (struct str){ yyjson_get_str(name), yyjson_get_len(name) });
}

static void leave_behind(struct step *s, const struct pod *pod)
{
    yyjson_val *preemption = yyjson_obj_get(s->expect, "preemption");
    struct nominator *n = sched_nominator(s->w->sched);
    if (vector_has(s->expect, "preEnqueue") || vector_has(s->expect, "error"))
        return;
    if (vector_has(s->expect, "assumed")) {
        assume(s, pod, vector_str(s->expect, "assumed"));
    } else if (vector_has(preemption, "nominatedNode")) {
        each_name(s, yyjson_obj_get(preemption, "victims"), remove_by_key);
        each_name(s, yyjson_obj_get(preemption, "clearedNominations"), drop_nomination);
        nominator_add(n, pod, sym_find(&s->w->syms, vector_str(preemption, "nominatedNode")));
    } else if (vector_bool(preemption, "clearNomination")) {
        nominator_remove(n, pod->meta.uid);
    } else {
        nominator_add(n, pod, SYM_NONE);
    }
}

static void run_step(struct world *w, yyjson_val *record, size_t number)
{
    struct step s = { .w = w, .expect = yyjson_obj_get(record, "expect") };
    struct str scenario = vector_str(w->c->record, "name");
    s.name = arena_printf(w->c->arena, "%.*s step %zu", STR_ARG(scenario), number);
    const struct pod *pod;
    struct err e;
    err_init(&e, w->c->arena);
    if (pod_decode(&w->syms, TYPED_JSON, vector_json(w->c, yyjson_obj_get(record, "pod")), &pod, &e)) {
        vector_mismatch(w->c, "%s: %s", s.name, e.message);
        return;
    }
    vec_push(&w->pods, pod);
    check_attempt(&s, pod);
    leave_behind(&s, pod);
}

void check_scheduling(struct vector_case *c)
{
    struct world w;
    bool independent = vector_bool(c->record, "independent"), open = false;
    size_t i, max;
    yyjson_val *step;
    yyjson_arr_foreach(yyjson_obj_get(c->record, "steps"), i, max, step) {
        if (!open && !(open = world_open(&w, c)))
            return;
        run_step(&w, step, i);
        if (independent || c->mismatched) { /* what follows a difference would only repeat it */
            world_close(&w);
            open = false;
        }
        if (c->mismatched)
            return;
    }
    if (open)
        world_close(&w);
}
