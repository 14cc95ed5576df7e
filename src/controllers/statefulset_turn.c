/* controllers/statefulset_turn.c - one StatefulSet is worked on: claims of pods, its revision, then what statefulset_decide.h
 * says, as one list of writes. The first that fails ends the changes of pods; status and history are written in any case. */
#include <stdlib.h>

#include "api/edit.h"
#include "apiserver/fields.h"
#include "apiserver/subresource.h"
#include "base/arena_array.h"
#include "controllers/read.h"
#include "controllers/revisions.h"
#include "controllers/statefulset_decide.h"
#include "controllers/statefulset_objects.h"
#include "controllers/statefulset_priv.h"

struct set_write {
    struct cluster_call call;
    const char *verb;    /* of its Event: "Create"; NULL: none */
    const char *subject; /* "Pod web-0 in StatefulSet web" */
    const char *success; /* how the sentence ends: "successful" */
};

struct set_turn {
    struct statefulset_controller *controller;
    struct arena arena;
    struct str key;
    struct value set;
    struct object_reference owner;
    struct statefulset_objects objects;
    struct selector selector;
    struct revisions revisions;
    struct statefulset_facts facts;
    struct statefulset_pod *pods;
    struct value *pod_values; /* beside them */
    size_t n_pods, n_claims_out;
    struct value current_template;
    int64_t min_ready_s;
    struct set_write *writes;
    size_t n_writes, cap, at, n_changes; /* changes of pods come first */
    bool failed, again;
    int64_t look_again_ms;
};

static const struct type *sets(void)
{
    return schema_type(STR("apps/v1.StatefulSet"));
}

static const struct resource *pod_resource(void)
{
    return stored_resource("pods", "");
}

static const struct resource *claim_resource(void)
{
    return stored_resource("persistentvolumeclaims", "");
}

static const struct resource *revision_resource(void)
{
    return stored_resource("controllerrevisions", "apps");
}

static const struct resource *set_resource(void)
{
    return stored_resource("statefulsets", "apps");
}

static int64_t number(const struct value *set, const char *path, int64_t other)
{
    const struct value *v = value_path(sets(), set, path);
    return v->kind == VALUE_INT ? v->i : other;
}

static struct str text(const struct value *set, const char *path)
{
    return value_text(value_path(sets(), set, path));
}

/* ---- Writes ---- */

static void end_turn(struct set_turn *t)
{
    struct work_queue *q = t->controller->queue;
    if (t->again)
        work_queue_add(q, t->key);
    else if (!t->failed && t->look_again_ms > 0)
        work_queue_add_after(q, t->key, t->look_again_ms);
    work_queue_done(q, t->key, t->failed ? WORK_RETRY : WORK_FORGET);
    arena_fini(&t->arena);
    free(t);
}

static void tell(struct set_turn *t, const struct set_write *w, enum err_code code, const char *message)
{
    const struct pod_control *c = &t->controller->control;
    const char *reason = arena_printf(&t->arena, "%s%s", code ? "Failed" : "Successful", w->verb);
    if (code)
        events_record(c->events, c->controller, &t->owner, "Warning", reason, "%s %s failed error: %s", w->verb, w->subject, message);
    else
        events_record(c->events, c->controller, &t->owner, "Normal", reason, "%s %s %s", w->verb, w->subject, w->success);
}

static void write_next(struct set_turn *t);

/* What is there already, or gone already, is as it should be. */
static void written(void *context, enum err_code code, const char *message)
{
    struct set_turn *t = context;
    const struct set_write *w = &t->writes[t->at];
    bool there = w->call.verb == CLUSTER_CREATE && code == ERR_ALREADY_EXISTS;
    bool gone = w->call.verb == CLUSTER_DELETE && code == ERR_NOT_FOUND;
    if (w->verb && !there)
        tell(t, w, gone ? ERR_OK : code, message);
    t->at++;
    if (code && !there && !gone) {
        t->failed = true;
        if (t->at < t->n_changes)
            t->at = t->n_changes;
    }
    write_next(t);
}

static void write_next(struct set_turn *t)
{
    if (t->at == t->n_writes) {
        end_turn(t);
        return;
    }
    struct cluster_call call = t->writes[t->at].call;
    call.controller = t->controller->control.controller;
    call.namespace = t->owner.ns;
    call.done = written;
    call.context = t;
    cluster_begin(t->controller->cluster, &call);
}

static struct set_write *add_write(struct set_turn *t, enum cluster_verb verb, const struct resource *r, struct str name)
{
    t->writes = arena_array_more(&t->arena, t->writes, t->n_writes, &t->cap, sizeof(*t->writes));
    t->writes[t->n_writes] = (struct set_write){ .call = { .verb = verb, .resource = r, .name = name } };
    return &t->writes[t->n_writes++];
}

static const struct value *keep(struct set_turn *t, struct value v)
{
    struct value *kept = ARENA_NEW(&t->arena, struct value);
    *kept = v;
    return kept;
}

/* ---- Actions ---- */

static const char *pod_subject(struct set_turn *t, struct str pod)
{
    return arena_printf(&t->arena, "Pod %.*s in StatefulSet %.*s", STR_ARG(pod), STR_ARG(t->owner.name));
}

static struct str name_of(struct set_turn *t, int64_t ordinal)
{
    return str_of(arena_printf(&t->arena, "%.*s-%lld", STR_ARG(t->owner.name), (long long)ordinal));
}

static const struct value *find_claim(struct set_turn *t, size_t i, int64_t ordinal)
{
    return stored_get(cluster_objects(t->controller->cluster), claim_resource(), t->owner.ns,
                      statefulset_claim_name(&t->objects, i, ordinal));
}

static struct statefulset_claim_pod claim_pod(struct set_turn *t, int64_t ordinal, const struct value *pod)
{
    bool in_range = ordinal >= t->facts.start && ordinal < t->facts.start + t->facts.replicas;
    struct str uid = pod ? value_text(value_path(schema_type(STR("core/v1.Pod")), pod, "metadata.uid")) : STR("");
    return (struct statefulset_claim_pod){ name_of(t, ordinal), uid, in_range };
}

static void add_claims(struct set_turn *t, int64_t ordinal)
{
    for (size_t i = 0; i < statefulset_n_claims(&t->objects); i++) {
        if (find_claim(t, i, ordinal))
            continue;
        struct str name = statefulset_claim_name(&t->objects, i, ordinal);
        struct statefulset_claim_pod pod = claim_pod(t, ordinal, NULL);
        struct value made = statefulset_make_claim(&t->objects, i, ordinal);
        struct set_write *w = add_write(t, CLUSTER_CREATE, claim_resource(), name);
        w->call.object = keep(t, statefulset_own_claim(&t->objects, &made, &pod));
        w->verb = "Create";
        w->subject = arena_printf(&t->arena, "Claim %.*s %s", STR_ARG(name), pod_subject(t, name_of(t, ordinal)));
        w->success = "success";
    }
}

/* `pod_value` is NULL when the pod is about to be made. */
static void add_claim_owners(struct set_turn *t, int64_t ordinal, const struct value *pod_value)
{
    struct statefulset_claim_pod pod = claim_pod(t, ordinal, pod_value);
    for (size_t i = 0; i < statefulset_n_claims(&t->objects); i++) {
        const struct value *claim = find_claim(t, i, ordinal);
        if (!claim || statefulset_claim_is_right(&t->objects, claim, &pod))
            continue;
        struct value copy = value_copy(&t->arena, claim);
        struct set_write *w = add_write(t, CLUSTER_UPDATE, claim_resource(), statefulset_claim_name(&t->objects, i, ordinal));
        w->call.object = keep(t, statefulset_own_claim(&t->objects, &copy, &pod));
    }
}

static void add_creation(struct set_turn *t, const struct statefulset_action *act)
{
    struct str name = name_of(t, act->ordinal);
    const struct value *template = act->of_current ? &t->current_template : value_path(sets(), &t->set, "spec.template");
    struct str revision = act->of_current ? t->facts.current_revision : t->facts.update_revision;
    add_claims(t, act->ordinal);
    struct set_write *w = add_write(t, CLUSTER_CREATE, pod_resource(), name);
    w->call.object = keep(t, statefulset_make_pod(&t->objects, template, act->ordinal, revision));
    w->verb = "Create";
    w->subject = pod_subject(t, name);
    w->success = "successful";
    add_claim_owners(t, act->ordinal, NULL); /* of claims that were there */
}

static void add_action(struct set_turn *t, const struct statefulset_action *act)
{
    struct set_write *w;
    switch (act->verb) {
    case STATEFULSET_CREATE:
        add_creation(t, act);
        return;
    case STATEFULSET_MAKE_CLAIMS:
        add_claims(t, act->ordinal);
        return;
    case STATEFULSET_OWN_CLAIMS:
        add_claim_owners(t, act->ordinal, &t->pod_values[act->pod - t->pods]);
        return;
    case STATEFULSET_DELETE:
        w = add_write(t, CLUSTER_DELETE, pod_resource(), act->pod->name);
        w->verb = "Delete";
        break;
    case STATEFULSET_UPDATE:
        add_claims(t, act->ordinal);
        w = add_write(t, CLUSTER_UPDATE, pod_resource(), act->pod->name);
        w->call.object = keep(t, statefulset_mend_pod(&t->objects, &t->pod_values[act->pod - t->pods], act->ordinal));
        w->verb = "Update";
        break;
    default:
        return;
    }
    w->subject = pod_subject(t, act->pod->name);
    w->success = "successful";
}

/* ---- Status and history ---- */

static struct value counter(int64_t n)
{
    return n ? value_int(n) : (struct value){ .kind = VALUE_ABSENT };
}

static void add_status(struct set_turn *t, const struct statefulset_plan *p)
{
    struct str current = p->completes ? t->facts.update_revision : t->facts.current_revision;
    const struct {
        const char *path;
        struct value to;
    } fields[] = {
        { "status.observedGeneration", *value_path(sets(), &t->set, "metadata.generation") },
        { "status.replicas", value_int(p->counts.replicas) },
        { "status.readyReplicas", counter(p->counts.ready) },
        { "status.availableReplicas", value_int(p->counts.available) },
        { "status.currentReplicas", counter(p->counts.current) },
        { "status.updatedReplicas", counter(p->counts.updated) },
        { "status.currentRevision", value_string(current) },
        { "status.updateRevision", value_string(t->facts.update_revision) },
        { "status.collisionCount", value_int(number(&t->set, "status.collisionCount", 0)) },
    };
    struct value v = t->set;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        v = edit_set(&t->arena, sets(), &v, fields[i].path, fields[i].to);
    if (value_equal(value_path(sets(), &v, "status"), value_path(sets(), &t->set, "status")))
        return;
    struct set_write *w = add_write(t, CLUSTER_UPDATE, set_resource(), t->owner.name);
    w->call.subresource = "status";
    w->call.object = keep(t, v);
}

static bool is_live(const struct set_turn *t, struct str revision)
{
    if (str_eq(revision, t->facts.current_revision) || str_eq(revision, t->facts.update_revision))
        return true;
    for (size_t i = 0; i < t->n_pods; i++)
        if (str_eq(t->pods[i].revision, revision))
            return true;
    return false;
}

/* The oldest that nobody needs go. */
static void add_truncation(struct set_turn *t)
{
    int64_t limit = number(&t->set, "spec.revisionHistoryLimit", 10), n = 0;
    for (size_t i = 0; i < t->revisions.n; i++)
        n += !is_live(t, t->revisions.at[i].name);
    for (size_t i = 0; limit >= 0 && i < t->revisions.n && n > limit; i++)
        if (!is_live(t, t->revisions.at[i].name)) {
            add_write(t, CLUSTER_DELETE, revision_resource(), t->revisions.at[i].name);
            n--;
        }
}

static bool claim_is_stale(void *context, int64_t ordinal)
{
    struct set_turn *t = context;
    struct statefulset_claim_pod pod = claim_pod(t, ordinal, NULL);
    for (size_t i = 0; i < statefulset_n_claims(&t->objects); i++) {
        const struct value *claim = find_claim(t, i, ordinal);
        if (claim && statefulset_claim_is_stale(&t->objects, claim, &pod))
            return true;
    }
    return false;
}

static void decide(struct set_turn *t)
{
    struct statefulset_state s = { &t->arena, t->facts, t->pods, t->n_pods, claim_is_stale, t };
    struct statefulset_plan p = statefulset_decide(&s);
    for (size_t i = 0; i < p.n_actions; i++)
        add_action(t, &p.actions[i]);
    t->n_changes = t->n_writes;
    add_status(t, &p);
    add_truncation(t);
    if (t->min_ready_s > 0 && p.counts.available != t->facts.replicas)
        t->look_again_ms = t->min_ready_s * 1000;
    write_next(t);
}

/* ---- Revisions ---- */

static bool is_ours(const struct set_turn *t, const struct value *revision)
{
    const struct type *rt = schema_type(STR("apps/v1.ControllerRevision")), *ot = schema_type(STR("meta/v1.OwnerReference"));
    const struct value *owners = value_path(rt, revision, "metadata.ownerReferences");
    for (uint32_t i = 0; owners->kind == VALUE_LIST && i < owners->n; i++)
        if (str_eq(value_text(value_path(ot, &owners->items[i], "uid")), t->owner.uid))
            return true;
    return false;
}

static void find_revisions(struct set_turn *t)
{
    const struct value **all;
    size_t n = stored_list(cluster_objects(t->controller->cluster), revision_resource(), t->owner.ns, &t->arena, &all);
    t->revisions.at = ARENA_NEW_N(&t->arena, struct revision, n);
    for (size_t i = 0; i < n; i++)
        if (is_ours(t, all[i]))
            t->revisions.at[t->revisions.n++] = revision_read(&t->arena, all[i]);
    revisions_sort(&t->arena, &t->revisions);
}

/* Names that are taken by other data count as collisions. As upstream, the label keeps the hash that it began with. */
static void add_revision(struct set_turn *t, struct str data)
{
    struct stored *objects = cluster_objects(t->controller->cluster);
    int64_t n_collisions = number(&t->set, "status.collisionCount", 0);
    struct str hash = revision_hash(&t->arena, data, n_collisions), name = revision_name(&t->arena, t->owner.name, hash);
    while (stored_get(objects, revision_resource(), t->owner.ns, name))
        name = revision_name(&t->arena, t->owner.name, revision_hash(&t->arena, data, ++n_collisions));
    struct set_write *w = add_write(t, CLUSTER_CREATE, revision_resource(), name);
    w->call.object = keep(t, revision_make(&t->arena, controller_reference(&t->arena, &t->owner), t->owner.ns, name, hash, data,
                                           revisions_next_number(&t->revisions),
                                           value_path(sets(), &t->set, "spec.template.metadata.labels"),
                                           value_path(sets(), &t->set, "metadata.annotations")));
    if (n_collisions != number(&t->set, "status.collisionCount", 0)) {
        w = add_write(t, CLUSTER_UPDATE, set_resource(), t->owner.name);
        w->call.subresource = "status";
        w->call.object = keep(t, edit_set(&t->arena, sets(), &t->set, "status.collisionCount", value_int(n_collisions)));
    }
}

static void add_renumbering(struct set_turn *t, struct str name)
{
    const struct type *rt = schema_type(STR("apps/v1.ControllerRevision"));
    const struct value *old = stored_get(cluster_objects(t->controller->cluster), revision_resource(), t->owner.ns, name);
    struct value copy = value_copy(&t->arena, old);
    struct set_write *w = add_write(t, CLUSTER_UPDATE, revision_resource(), name);
    w->call.object = keep(t, edit_set(&t->arena, rt, &copy, "revision", value_int(revisions_next_number(&t->revisions))));
}

/* True when the newest revision is that of the spec; else a write makes it so, and the set is looked at again. */
static bool settle_revision(struct set_turn *t)
{
    size_t at = 0;
    struct str data = revision_data(&t->arena, value_path(sets(), &t->set, "spec.template"));
    switch (revisions_need(&t->revisions, data, &at)) {
    case REVISION_CREATE:
        add_revision(t, data);
        break;
    case REVISION_RENUMBER:
        add_renumbering(t, t->revisions.at[at].name);
        break;
    case REVISION_IS_THERE:
        t->facts.update_revision = t->facts.current_revision = t->revisions.at[at].name;
        t->current_template = *value_path(sets(), &t->set, "spec.template");
        return true;
    }
    t->again = true;
    return false;
}

static void find_current(struct set_turn *t)
{
    struct str name = text(&t->set, "status.currentRevision");
    for (size_t i = 0; i < t->revisions.n; i++)
        if (str_eq(t->revisions.at[i].name, name)) {
            t->facts.current_revision = t->revisions.at[i].name;
            t->current_template = revision_template(&t->arena, sets(), t->revisions.at[i].data);
        }
}

/* ---- Pods ---- */

static void read_claims(struct set_turn *t, struct statefulset_pod *p, const struct value *v)
{
    struct statefulset_claim_pod pod = claim_pod(t, p->ordinal, v);
    for (size_t i = 0; i < statefulset_n_claims(&t->objects); i++) {
        const struct value *claim = find_claim(t, i, p->ordinal);
        p->claims_missing |= !claim;
        p->claims_differ |= claim && !statefulset_claim_is_right(&t->objects, claim, &pod);
    }
}

static void add_pod(struct set_turn *t, const struct pod_facts *seen, int64_t ordinal)
{
    const struct value *v = stored_get(cluster_objects(t->controller->cluster), pod_resource(), seen->namespace, seen->name);
    if (!v)
        return;
    struct pod_facts *f = pod_facts_new(v);
    const struct value *labels = value_path(schema_type(STR("core/v1.Pod")), v, "metadata.labels");
    const struct value *revision = labels->kind == VALUE_MAP ? value_member(labels, STR("controller-revision-hash")) : NULL;
    struct statefulset_pod p = {
        .name = arena_str(&t->arena, f->name),
        .revision = revision ? arena_str(&t->arena, value_text(revision)) : STR(""),
        .ordinal = ordinal,
        .pending = f->phase == POD_IS_PENDING,
        .running = f->phase == POD_IS_RUNNING,
        .ended = f->phase == POD_IS_SUCCEEDED || f->phase == POD_IS_FAILED,
        .ready = f->ready,
        .available = is_pod_available(f, (int32_t)t->min_ready_s, cluster_now_s(t->controller->cluster)),
        .terminating = f->deleted_s != 0,
        .matches = statefulset_pod_matches(&t->objects, v, ordinal),
    };
    pod_facts_free(f);
    read_claims(t, &p, v);
    t->pod_values[t->n_pods] = value_copy(&t->arena, v);
    t->pods[t->n_pods++] = p;
}

static void claimed(void *context, const struct pod_outcome *o)
{
    struct set_turn *t = context;
    t->failed |= o && o->code && o->code != ERR_NOT_FOUND;
    if (--t->n_claims_out == 0)
        end_turn(t);
}

static void begin_claim(struct set_turn *t, const struct pod_facts *p, enum claim_decision d)
{
    struct claim claim = { pod_resource(), p->name, p->uid, NULL };
    t->n_claims_out++;
    t->again = true;
    if (d == CLAIM_ADOPT)
        pod_control_adopt(&t->controller->control, &t->owner, &claim, claimed, t);
    else
        pod_control_release(&t->controller->control, &t->owner, &claim, claimed, t);
}

/* Pods whose name is not of the set are none of it, whatever their labels. */
static void look_at_pods(struct set_turn *t, pod_list pods, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t ordinal = statefulset_ordinal(t->owner.name, pods[i]->name);
        bool matches = ordinal >= 0 && selector_matches(&t->selector, pods[i]->labels);
        enum claim_decision d = claim_decide(t->owner.uid, t->facts.deleted, pods[i]->owner_uid, pods[i]->deleted_s, matches);
        if (d == CLAIM_OWNED)
            add_pod(t, pods[i], ordinal);
        else if (d != CLAIM_IGNORE)
            begin_claim(t, pods[i], d);
    }
}

static bool has_controller(const struct value *revision)
{
    const struct type *rt = revision_resource()->type, *ot = schema_type(STR("meta/v1.OwnerReference"));
    const struct value *owners = value_path(rt, revision, "metadata.ownerReferences");
    for (uint32_t i = 0; i < list_length(owners); i++)
        if (true_at(ot, &owners->items[i], "controller"))
            return true;
    return false;
}

/* Those that a set of this name has left behind, and nobody has: the history goes on where it ended. */
static void adopt_revisions(struct set_turn *t)
{
    const struct resource *r = revision_resource();
    const struct value **all = NULL;
    size_t n = t->facts.deleted ? 0 : stored_list(cluster_objects(t->controller->cluster), r, t->owner.ns, &t->arena, &all);
    for (size_t i = 0; i < n; i++) {
        if (has_controller(all[i]) || !selector_matches(&t->selector, selectable_of(&t->arena, r, r->type, all[i]).labels))
            continue;
        struct claim claim = { r, text_at(r->type, all[i], "metadata.name"), text_at(r->type, all[i], "metadata.uid"), NULL };
        t->n_claims_out++;
        t->again = true;
        pod_control_adopt(&t->controller->control, &t->owner, &claim, claimed, t);
    }
}

static void find_pods(struct set_turn *t)
{
    pod_list own, orphans;
    size_t n_own = pod_index_of_owner(t->controller->pods, t->owner.uid, &t->arena, &own);
    size_t n_orphans = pod_index_orphans(t->controller->pods, t->owner.ns, &t->arena, &orphans);
    t->pods = ARENA_NEW_N(&t->arena, struct statefulset_pod, n_own);
    t->pod_values = ARENA_NEW_N(&t->arena, struct value, n_own);
    look_at_pods(t, own, n_own);
    look_at_pods(t, orphans, n_orphans);
}

/* ---- The turn ---- */

static void read_set(struct set_turn *t)
{
    t->facts = (struct statefulset_facts){
        .replicas = number(&t->set, "spec.replicas", 1),
        .start = number(&t->set, "spec.ordinals.start", 0),
        .partition = number(&t->set, "spec.updateStrategy.rollingUpdate.partition", -1),
        .current_replicas = number(&t->set, "status.currentReplicas", 0),
        .parallel = str_is(text(&t->set, "spec.podManagementPolicy"), "Parallel"),
        .on_delete = str_is(text(&t->set, "spec.updateStrategy.type"), "OnDelete"),
        .deleted = value_path(sets(), &t->set, "metadata.deletionTimestamp")->kind == VALUE_TIME,
    };
    t->min_ready_s = number(&t->set, "spec.minReadySeconds", 0);
}

static void run(struct set_turn *t)
{
    struct err e;
    err_init(&e, &t->arena);
    read_set(t);
    if (selector_of_value(&t->arena, schema_type(STR("meta/v1.LabelSelector")), value_path(sets(), &t->set, "spec.selector"),
                          &t->selector, &e)) {
        end_turn(t);
        return;
    }
    t->n_claims_out = 1;
    adopt_revisions(t);
    find_pods(t);
    if (t->again) {
        claimed(t, NULL);
        return;
    }
    find_revisions(t);
    if (!settle_revision(t)) {
        write_next(t);
        return;
    }
    find_current(t);
    decide(t);
}

void statefulset_turn_begin(struct statefulset_controller *c, struct str key)
{
    size_t slash = str_index(key, '/');
    const struct value *set = stored_get(cluster_objects(c->cluster), set_resource(), str_first(key, slash),
                                         str_from(key, slash + 1));
    if (!set) {
        work_queue_done(c->queue, key, WORK_FORGET);
        return;
    }
    struct set_turn *t = mem_zalloc(sizeof(*t));
    arena_init(&t->arena);
    t->controller = c;
    t->key = arena_str(&t->arena, key);
    t->set = value_copy(&t->arena, set);
    t->owner = event_reference(set_resource(), &t->set);
    t->objects = (struct statefulset_objects){ &t->arena, &t->set, &t->owner };
    run(t);
}
