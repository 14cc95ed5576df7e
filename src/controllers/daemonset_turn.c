/* controllers/daemonset_turn.c - one DaemonSet is worked on. Upstream: controller/daemon, syncDaemonSet.
 *
 *   claims     pods are adopted or released, and the set looked at again
 *   history    one thing that is wrong with the revisions is put right, and the set looked at again
 *   orders     what daemonset_decide.h says: pods are made in batches that double, then others deleted; both are
 *              expected to be seen
 *   status     what was counted before the orders; the pods that change bring the next turn
 *   history    revisions beyond the limit go */
#include <stdlib.h>

#include "api/edit.h"
#include "apiserver/subresource.h"
#include "base/arena_array.h"
#include "base/log.h"
#include "codec/json.h"
#include "controllers/daemonset_decide.h"
#include "controllers/daemonset_history.h"
#include "controllers/daemonset_pod.h"
#include "controllers/daemonset_priv.h"
#include "controllers/read.h"
#include "controllers/template_hash.h"

struct daemon_turn {
    struct daemonset_controller *controller;
    struct arena arena;
    struct store_item *item; /* which the values below refer to */
    struct str key;
    struct value set;
    struct object_reference owner;
    struct selector selector;
    int32_t min_ready_s;
    struct daemon_pod *pods;
    size_t n_pods;
    struct daemon_revision *revisions;
    struct daemon_history history;
    struct daemonset_spec spec;
    struct daemonset_plan plan;
    bool expects;
    struct value template; /* of pods to be made */
    struct slow_start start;
    const struct daemon_revision *duplicate; /* that goes when the pods are labelled */
    uint32_t n_out;
    bool again; /* at once */
    bool retry; /* after a back-off */
    int64_t next_check_ms; /* -1: none */
};

static const struct type *sets(void)
{
    return schema_type(STR("apps/v1.DaemonSet"));
}

static const struct resource *set_resource(void)
{
    return stored_resource("daemonsets", "apps");
}

static const struct resource *pod_resource(void)
{
    return stored_resource("pods", "");
}

static const struct resource *revision_resource(void)
{
    return stored_resource("controllerrevisions", "apps");
}

static int64_t now_ms(const struct daemon_turn *t)
{
    return loop_now_ms(cluster_loop(t->controller->cluster));
}

static void end_turn(struct daemon_turn *t)
{
    struct work_queue *q = t->controller->queue;
    if (t->again)
        work_queue_add(q, t->key);
    if (t->next_check_ms >= 0)
        work_queue_add_after(q, t->key, t->next_check_ms);
    work_queue_done(q, t->key, t->retry ? WORK_RETRY : WORK_FORGET);
    store_item_unref(t->item);
    arena_fini(&t->arena);
    free(t);
}

static void check_after(struct daemon_turn *t, int64_t ms)
{
    if (t->next_check_ms < 0 || ms < t->next_check_ms)
        t->next_check_ms = ms;
}

static void begin(struct daemon_turn *t, struct cluster_call call, void (*done)(void *, enum err_code, const char *))
{
    call.controller = t->controller->control.controller;
    call.namespace = t->owner.ns;
    call.done = done;
    call.context = t;
    t->n_out++;
    cluster_begin(t->controller->cluster, &call);
}

static bool is_last_of_calls(struct daemon_turn *t, enum err_code code, const char *message)
{
    if (code && code != ERR_NOT_FOUND) {
        LOG(4, "A write about a DaemonSet is tried again", KS("key", t->key), KS("err", message));
        t->retry = true;
    }
    return --t->n_out == 0;
}

/* ---- Truncated history ---- */

static void truncated(void *context, enum err_code code, const char *message)
{
    struct daemon_turn *t = context;
    if (is_last_of_calls(t, code, message))
        end_turn(t);
}

/* Also pods that ended and are being deleted keep their revision. */
static bool hash_is_live(void *context, struct str hash)
{
    const struct daemon_turn *t = context;
    for (size_t i = 0; i < t->n_pods; i++)
        if (t->pods[i].node.n && str_eq(t->pods[i].hash, hash))
            return true;
    return false;
}

/* Not while something fails: then the old ones may still be needed. */
static void truncate_history(struct daemon_turn *t)
{
    const struct daemon_revision *const *gone;
    int64_t limit = int_at(sets(), &t->set, "spec.revisionHistoryLimit", 10);
    size_t n = 0;
    if (!t->retry && !t->expects)
        n = daemon_history_truncate(&t->arena, &t->history, limit, hash_is_live, t, &gone);
    t->n_out = 1;
    for (size_t i = 0; i < n; i++)
        begin(t, (struct cluster_call){ .verb = CLUSTER_DELETE, .resource = revision_resource(), .name = gone[i]->is.name },
              truncated);
    truncated(t, ERR_OK, NULL);
}

/* ---- Status ---- */

static void status_written(void *context, enum err_code code, const char *message)
{
    struct daemon_turn *t = context;
    if (is_last_of_calls(t, code, message))
        truncate_history(t);
}

/* Counts of 0 are left out where the field may be. */
static struct value counter(int64_t n)
{
    return n ? value_int(n) : (struct value){ .kind = VALUE_ABSENT };
}

static struct value with_counts(struct daemon_turn *t)
{
    const struct daemonset_counts *c = &t->plan.counts;
    const char *generation = t->expects ? "status.observedGeneration" : "metadata.generation";
    const struct {
        const char *path;
        struct value to;
    } fields[] = {
        { "status.observedGeneration", *value_path(sets(), &t->set, generation) },
        { "status.desiredNumberScheduled", value_int(c->desired) },
        { "status.currentNumberScheduled", value_int(c->current) },
        { "status.numberMisscheduled", value_int(c->misscheduled) },
        { "status.numberReady", value_int(c->ready) },
        { "status.updatedNumberScheduled", counter(c->updated) },
        { "status.numberAvailable", counter(c->available) },
        { "status.numberUnavailable", counter(c->desired - c->available) },
    };
    struct value v = t->set;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        v = edit_set(&t->arena, sets(), &v, fields[i].path, fields[i].to);
    return v;
}

static void write_status(struct daemon_turn *t)
{
    struct value v = with_counts(t);
    t->n_out = 0;
    if (value_equal(value_path(sets(), &v, "status"), value_path(sets(), &t->set, "status")))
        truncate_history(t);
    else
        begin(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .resource = set_resource(), .subresource = "status",
                                        .name = t->owner.name, .object = &v }, status_written);
}

/* ---- Orders ---- */

struct deletion {
    struct daemon_turn *turn;
    struct str name;
};

static void pod_deleted(void *context, const struct pod_outcome *o)
{
    struct deletion *d = context;
    struct daemon_turn *t = d->turn;
    if (o->code)
        expectations_deletion_observed(t->controller->expectations, t->key, d->name);
    if (is_last_of_calls(t, o->code, o->message))
        write_status(t);
}

static void tell_why(struct daemon_turn *t, const struct daemon_deletion *d)
{
    static const struct {
        const char *type, *reason, *state, *verb;
    } rows[] = {
        [DAEMON_FAILED] = { "Warning", "FailedDaemonPod", "failed", "kill" },
        [DAEMON_SUCCEEDED] = { "Normal", "SucceededDaemonPod", "succeeded", "delete" },
    };
    const struct pod_control *c = &t->controller->control;
    if (d->why != DAEMON_TOO_MANY)
        events_record(c->events, c->controller, &t->owner, rows[d->why].type, rows[d->why].reason,
                      "Found %s daemon pod %.*s/%.*s on node %.*s, will try to %s it", rows[d->why].state, STR_ARG(t->owner.ns),
                      STR_ARG(d->pod->name), STR_ARG(d->pod->node), rows[d->why].verb);
}

static void delete_pods(struct daemon_turn *t)
{
    struct daemonset_controller *c = t->controller;
    const struct daemonset_plan *p = &t->plan;
    t->n_out = (uint32_t)p->n_delete;
    for (size_t i = 0; i < p->n_delete; i++) {
        struct deletion *d = ARENA_NEW(&t->arena, struct deletion);
        *d = (struct deletion){ t, p->delete[i].pod->name };
        pod_control_delete(&c->control, &t->owner, d->name, p->delete[i].pod->uid, pod_deleted, d);
    }
    if (!p->n_delete)
        write_status(t);
}

static void pod_made(void *context, const struct pod_outcome *o)
{
    struct daemon_turn *t = context;
    if (o->code)
        expectations_creation_observed(t->controller->expectations, t->key); /* nothing will be seen of it */
    t->retry |= o->code && !o->namespace_ends;
    slow_start_ended(&t->start, !o->code || o->namespace_ends);
}

static void make_pod(struct slow_start *s, uint32_t i)
{
    struct daemon_turn *t = LIST_ITEM(s, struct daemon_turn, start);
    struct value pod = daemon_pod_make(&t->arena, &t->template, &t->owner, t->plan.create_on[i]);
    pod_control_create(&t->controller->control, &t->owner, &pod, pod_made, t);
}

static void pods_made(struct slow_start *s)
{
    struct daemon_turn *t = LIST_ITEM(s, struct daemon_turn, start);
    for (uint32_t i = s->n_begun; i < s->n; i++) /* those were not even tried */
        expectations_creation_observed(t->controller->expectations, t->key);
    delete_pods(t);
}

static void carry_out(struct daemon_turn *t)
{
    struct daemonset_controller *c = t->controller;
    const struct daemonset_plan *p = &t->plan;
    if (p->n_create)
        expectations_expect_creations(c->expectations, t->key, (uint32_t)p->n_create, now_ms(t));
    else if (p->n_delete)
        expectations_expect_deletions(c->expectations, t->key, now_ms(t));
    for (size_t i = 0; i < p->n_delete; i++) {
        expectations_add_deletion(c->expectations, t->key, p->delete[i].pod->name);
        tell_why(t, &p->delete[i]);
    }
    t->template = daemon_template(&t->arena, value_path(sets(), &t->set, "spec.template"), t->spec.generation, t->spec.hash);
    t->start = (struct slow_start){ .n = (uint32_t)p->n_create, .begin = make_pod, .done = pods_made };
    slow_start_run(&t->start);
}

/* ---- Decision ---- */

static size_t read_nodes(struct daemon_turn *t, const struct daemon_node **ret_nodes)
{
    const struct value **all;
    struct arena scratch;
    const struct daemon_rules *rules = daemon_rules_new(&t->arena, value_path(sets(), &t->set, "spec.template"));
    size_t n = stored_list(cluster_objects(t->controller->cluster), stored_resource("nodes", ""), STR(""), &t->arena, &all);
    struct daemon_node *nodes = ARENA_NEW_N(&t->arena, struct daemon_node, n);
    arena_init_small(&scratch);
    for (size_t i = 0; i < n; i++, arena_reset(&scratch)) {
        struct daemon_fit fit = daemon_fit(&scratch, rules, all[i]);
        struct str name = text_at(schema_type(STR("core/v1.Node")), all[i], "metadata.name");
        nodes[i] = (struct daemon_node){ arena_str(&t->arena, name), fit.run, fit.go_on };
    }
    arena_fini(&scratch);
    *ret_nodes = nodes;
    return n;
}

static int64_t wait_ms(void *context, struct str node)
{
    struct daemon_turn *t = context;
    long long generation = (long long)int_at(sets(), &t->set, "status.observedGeneration", 0);
    const char *key = arena_printf(&t->arena, "%.*s/%lld/%.*s", STR_ARG(t->owner.uid), generation, STR_ARG(node));
    return failure_backoff_try(t->controller->failed_pods, str_of(key), now_ms(t));
}

static struct daemon_amount read_amount(const struct value *v)
{
    struct str text = value_text(v);
    struct daemon_amount a = { v->kind == VALUE_INT ? v->i : 0, false };
    if (text.n && labels_parse_int(str_first(text, text.n - 1), &a.n))
        a.percent = true;
    return a;
}

static struct str read_generation(struct daemon_turn *t)
{
    struct str text = member_text(value_path(sets(), &t->set, "metadata.annotations"), STR(DAEMON_GENERATION_ANNOTATION));
    int64_t generation;
    return labels_parse_int(text, &generation) ? str_of(arena_printf(&t->arena, "%lld", (long long)generation)) : STR("");
}

static void decide(struct daemon_turn *t, struct str hash)
{
    t->spec = (struct daemonset_spec){
        .hash = hash,
        .generation = read_generation(t),
        .rolling = says_at(sets(), &t->set, "spec.updateStrategy.type", "RollingUpdate"),
        .max_unavailable = read_amount(value_path(sets(), &t->set, "spec.updateStrategy.rollingUpdate.maxUnavailable")),
        .max_surge = read_amount(value_path(sets(), &t->set, "spec.updateStrategy.rollingUpdate.maxSurge")),
    };
    t->expects = !expectations_satisfied(t->controller->expectations, t->key, now_ms(t));
    struct daemonset_state state = { .arena = &t->arena, .spec = t->spec, .pods = t->pods, .n_pods = t->n_pods,
                                     .expects = t->expects, .wait_ms = wait_ms, .context = t };
    state.n_nodes = read_nodes(t, &state.nodes);
    t->plan = daemonset_decide(&state);
    if (t->plan.look_again_ms)
        check_after(t, t->plan.look_again_ms);
    carry_out(t);
}

/* ---- History ---- */

/* Something was put right: the set is looked at again. */
static void put_right(void *context, enum err_code code, const char *message)
{
    struct daemon_turn *t = context;
    if (!is_last_of_calls(t, code, message))
        return;
    t->again = !t->retry;
    end_turn(t);
}

static void claimed(void *context, const struct pod_outcome *o)
{
    put_right(context, o->code, o->message);
}

static void change_revision(struct daemon_turn *t, struct str name, const char *path, struct value to)
{
    const struct type *rt = revision_resource()->type;
    const struct value *old = stored_get(cluster_objects(t->controller->cluster), revision_resource(), t->owner.ns, name);
    struct value v = edit_set(&t->arena, rt, old, path, to);
    begin(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .resource = revision_resource(), .name = name, .object = &v },
          put_right);
}

static void label_revision(struct daemon_turn *t, const struct daemon_revision *r)
{
    const struct value *old = stored_get(cluster_objects(t->controller->cluster), revision_resource(), t->owner.ns, r->is.name);
    const struct value *labels = value_path(revision_resource()->type, old, "metadata.labels");
    change_revision(t, r->is.name, "metadata.labels",
                    edit_member(&t->arena, labels, STR(DAEMON_HASH_LABEL), value_string(r->is.name)));
}

/* Another revision has the name: the next hash is made with one collision more. */
static void count_collision(struct daemon_turn *t)
{
    int64_t n = int_at(sets(), &t->set, "status.collisionCount", 0) + 1;
    struct value v = edit_set(&t->arena, sets(), &t->set, "status.collisionCount", value_int(n));
    LOG(2, "Found a hash collision for DaemonSet - bumping collisionCount to resolve it", KS("key", t->key),
        KI("collisionCount", n));
    begin(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .resource = set_resource(), .subresource = "status",
                                    .name = t->owner.name, .object = &v }, put_right);
}

static void create_revision(struct daemon_turn *t, int64_t number)
{
    const struct value *template = value_path(sets(), &t->set, "spec.template");
    struct str hash = template_hash(&t->arena, template, int_at(sets(), &t->set, "status.collisionCount", -1));
    struct value v = daemon_revision_make(&t->arena, &t->set, &t->owner, hash, t->history.data, number);
    struct str name = text_at(revision_resource()->type, &v, "metadata.name");
    const struct value *there = stored_get(cluster_objects(t->controller->cluster), revision_resource(), t->owner.ns, name);
    if (there && str_eq(text_at(revision_resource()->type, there, "data"), t->history.data))
        decide(t, hash); /* somebody else's, but the same */
    else if (there)
        count_collision(t);
    else
        begin(t, (struct cluster_call){ .verb = CLUSTER_CREATE, .resource = revision_resource(), .object = &v }, put_right);
}

static void pods_labelled(void *context, enum err_code code, const char *message)
{
    struct daemon_turn *t = context;
    if (!is_last_of_calls(t, code, message))
        return;
    if (t->retry) {
        end_turn(t);
        return;
    }
    begin(t, (struct cluster_call){ .verb = CLUSTER_DELETE, .resource = revision_resource(), .name = t->duplicate->is.name },
          put_right);
}

static void replace_duplicate(struct daemon_turn *t, const struct daemon_history_plan *plan)
{
    struct strbuf patch;
    strbuf_init(&patch, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&patch, "{\"metadata\":{\"labels\":{\"" DAEMON_HASH_LABEL "\":");
    json_add_string(&patch, plan->current->hash);
    STRBUF_ADD_LIT(&patch, "}}}");
    t->duplicate = plan->which;
    t->n_out = 1;
    for (size_t i = 0; i < t->n_pods; i++)
        if (!str_eq(t->pods[i].hash, plan->current->hash))
            begin(t, (struct cluster_call){ .verb = CLUSTER_PATCH_MERGE, .resource = pod_resource(), .name = t->pods[i].name,
                                            .patch = strbuf_str(&patch) }, pods_labelled);
    strbuf_fini(&patch);
    pods_labelled(t, ERR_OK, NULL);
}

static void read_history(struct daemon_turn *t)
{
    const struct value **all;
    size_t n = stored_list(cluster_objects(t->controller->cluster), revision_resource(), t->owner.ns, &t->arena, &all);
    t->revisions = ARENA_NEW_N(&t->arena, struct daemon_revision, n);
    for (size_t i = 0; i < n; i++)
        t->revisions[i] = daemon_revision_read(&t->arena, all[i], &t->selector);
    t->history = (struct daemon_history){ t->owner.uid, revision_data(&t->arena, value_path(sets(), &t->set, "spec.template")),
                                          t->revisions, n };
}

static void settle_history(struct daemon_turn *t)
{
    read_history(t);
    struct daemon_history_plan plan = daemon_history_decide(&t->history);
    struct claim claim = { .resource = revision_resource() };
    if (plan.which) {
        claim.name = plan.which->is.name;
        claim.uid = plan.which->is.uid;
    }
    switch (plan.need) {
    case DAEMON_HISTORY_IS_RIGHT:
        decide(t, plan.current->hash);
        break;
    case DAEMON_HISTORY_CREATE:
        create_revision(t, plan.number);
        break;
    case DAEMON_HISTORY_ADOPT:
        t->n_out++;
        pod_control_adopt(&t->controller->control, &t->owner, &claim, claimed, t);
        break;
    case DAEMON_HISTORY_RELEASE:
        t->n_out++;
        pod_control_release(&t->controller->control, &t->owner, &claim, claimed, t);
        break;
    case DAEMON_HISTORY_LABEL:
        label_revision(t, plan.which);
        break;
    case DAEMON_HISTORY_RENUMBER:
        change_revision(t, claim.name, "revision", value_int(plan.number));
        break;
    case DAEMON_HISTORY_DUPLICATE:
        replace_duplicate(t, &plan);
        break;
    }
}

/* ---- Pods ---- */

static struct str label_of(const struct pod_facts *f, const char *key)
{
    const struct str *found = labels_find(f->labels, str_of(key));
    return found ? *found : STR("");
}

/* The facts are good until the next poll only. */
static void add_pod(struct daemon_turn *t, const struct pod_facts *f)
{
    struct daemonset_controller *c = t->controller;
    int64_t wall_ms = clock_wall_ns(loop_clock(cluster_loop(c->cluster))) / CLOCK_NS_PER_MS;
    struct daemon_pod *p = &t->pods[t->n_pods++];
    *p = (struct daemon_pod){
        .name = arena_str(&t->arena, f->name),
        .uid = arena_str(&t->arena, f->uid),
        .node = arena_str(&t->arena, f->node_name.n ? f->node_name : f->affine_node),
        .hash = arena_str(&t->arena, label_of(f, DAEMON_HASH_LABEL)),
        .generation = arena_str(&t->arena, label_of(f, DAEMON_GENERATION_LABEL)),
        .created_s = f->created_s,
        .scheduled = f->node_name.n > 0,
        .deleted = f->deleted_s != 0,
        .failed = f->phase == POD_IS_FAILED,
        .succeeded = f->phase == POD_IS_SUCCEEDED,
        .ready = is_pod_ready(f),
        .available = is_pod_available(f, t->min_ready_s, wall_ms / 1000),
    };
    if (p->ready && !p->available && f->ready_s)
        check_after(t, (f->ready_s + t->min_ready_s) * 1000 - wall_ms + 1);
}

static void look_at_pods(struct daemon_turn *t, pod_list pods, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct pod_facts *f = pods[i];
        struct claim claim = { .resource = pod_resource(), .name = f->name, .uid = f->uid };
        switch (claim_decide(t->owner.uid, false, f->owner_uid, f->deleted_s, selector_matches(&t->selector, f->labels))) {
        case CLAIM_OWNED:
            add_pod(t, f);
            break;
        case CLAIM_ADOPT:
            t->n_out++;
            pod_control_adopt(&t->controller->control, &t->owner, &claim, claimed, t);
            break;
        case CLAIM_RELEASE:
            t->n_out++;
            pod_control_release(&t->controller->control, &t->owner, &claim, claimed, t);
            break;
        case CLAIM_IGNORE:
            break;
        }
    }
}

/* ---- The turn ---- */

static bool read_set(struct daemon_turn *t)
{
    struct err e;
    err_init(&e, &t->arena);
    t->set = cluster_value(&t->arena, set_resource(), t->item);
    t->owner = event_reference(set_resource(), &t->set);
    t->min_ready_s = (int32_t)int_at(sets(), &t->set, "spec.minReadySeconds", 0);
    return !selector_of_value(&t->arena, schema_type(STR("meta/v1.LabelSelector")), value_path(sets(), &t->set, "spec.selector"),
                              &t->selector, &e);
}

/* Whoever is being deleted may have lost its revisions already: nothing true could be said about it. */
static void run(struct daemon_turn *t)
{
    const struct pod_control *c = &t->controller->control;
    pod_list own, orphans;
    if (!read_set(t) || is_set_at(sets(), &t->set, "metadata.deletionTimestamp")) {
        end_turn(t);
        return;
    }
    if (selector_empty(&t->selector)) {
        events_record(c->events, c->controller, &t->owner, "Warning", "SelectingAll",
                      "This daemon set is selecting all pods. A non-empty selector is required.");
        end_turn(t);
        return;
    }
    size_t n_own = pod_index_of_owner(t->controller->pods, t->owner.uid, &t->arena, &own);
    size_t n_orphans = pod_index_orphans(t->controller->pods, t->owner.ns, &t->arena, &orphans);
    t->pods = ARENA_NEW_N(&t->arena, struct daemon_pod, n_own);
    look_at_pods(t, own, n_own);
    look_at_pods(t, orphans, n_orphans);
    if (!t->n_out)
        settle_history(t);
}

void daemonset_turn_begin(struct daemonset_controller *c, struct str key)
{
    size_t slash = str_index(key, '/');
    struct store_item *item = cluster_item(c->cluster, set_resource(), str_first(key, slash), str_from(key, slash + 1));
    if (!item) {
        expectations_forget(c->expectations, key);
        work_queue_done(c->queue, key, WORK_FORGET);
        return;
    }
    struct daemon_turn *t = mem_zalloc(sizeof(*t));
    arena_init(&t->arena);
    t->controller = c;
    t->item = store_item_ref(item);
    t->key = arena_str(&t->arena, key);
    t->next_check_ms = -1;
    run(t);
}
