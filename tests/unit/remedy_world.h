/* tests/unit/remedy_world.h - small clusters as plain data, for tests of remedies: made at random,
 * changed by hand as a remedy says, and handed to a brand new scheduler.
 *
 * A remedy is applied to the data alone, with none of the code that found it: what counts is the JSON
 * that a user would have. */
#pragma once

#include <stdlib.h>

#include "base/rand.h"
#include "base/strbuf.h"
#include "config/setup.h"
#include "plugins/plugins.h"
#include "sched/attempt.h"
#include "sched/remedy.h"
#include "tests/test.h"

enum { LIST_MAX = 8, NODES_MAX = 72, PODS_MAX = 256 };
#define MIB (1024ll * 1024)
#define GIB (1024 * MIB)
#define CORDON_KEY "node.kubernetes.io/unschedulable"
#define HOSTNAME_KEY "kubernetes.io/hostname"

struct pair {
    const char *key, *value;
};

struct pair_list {
    struct pair at[LIST_MAX];
    unsigned n;
};

struct data_taint {
    const char *key, *value, *effect;
};

struct data_term { /* of pod affinity and anti-affinity */
    const char *topology_key, *selector;
};

struct data_spread {
    const char *topology_key, *selector, *more;
    int64_t max_skew;
    bool soft;
};

struct data_port {
    int port;
    const char *protocol, *ip;
};

struct data_amounts {
    int64_t milli_cpu, memory, ephemeral, gpu, pods;
};

struct data_node {
    const char *name;
    struct pair_list labels;
    struct data_taint taints[LIST_MAX];
    unsigned n_taints;
    struct data_amounts alloc;
    bool unschedulable;
};

struct data_pod {
    const char *name, *node, *owner_kind; /* node, owner_kind: NULL without */
    const char *nominated;                /* another pod that was promised this node; it is not in the queue */
    struct pair_list labels, selector;
    const char *node_terms; /* required, JSON; NULL: none */
    struct data_term affinity[LIST_MAX], anti[LIST_MAX];
    unsigned n_affinity, n_anti;
    struct data_spread spread[LIST_MAX];
    unsigned n_spread;
    struct data_port ports[LIST_MAX];
    unsigned n_ports;
    struct data_taint tolerations[LIST_MAX]; /* Equal; an empty key: all */
    unsigned n_tolerations;
    const char *gates[LIST_MAX];
    unsigned n_gates;
    struct data_amounts request;
    int priority;
};

/* The last pod is the one that is to be placed. */
struct data {
    struct data_node nodes[NODES_MAX];
    unsigned n_nodes;
    struct data_pod pods[PODS_MAX];
    unsigned n_pods;
    const char *config; /* NULL: the default */
};

static inline struct data_pod *data_target(struct data *d)
{
    return &d->pods[d->n_pods - 1];
}

static inline struct data_node *data_node(struct data *d, const char *name)
{
    for (unsigned i = 0; i < d->n_nodes; i++)
        if (strcmp(d->nodes[i].name, name) == 0)
            return &d->nodes[i];
    FAIL("no node %s", name);
}

static inline const char *pair_get(const struct pair_list *list, const char *key)
{
    for (unsigned i = 0; i < list->n; i++)
        if (strcmp(list->at[i].key, key) == 0)
            return list->at[i].value;
    return NULL;
}

static inline void pair_set(struct pair_list *list, const char *key, const char *value)
{
    unsigned i = 0;
    while (i < list->n && strcmp(list->at[i].key, key) != 0)
        i++;
    CHECK(i < LIST_MAX);
    list->n += i == list->n;
    list->at[i] = (struct pair){ key, value };
}

/* ---- As JSON ---- */

static inline void print_pairs(struct strbuf *b, const char *name, const struct pair_list *list)
{
    strbuf_printf(b, "'%s':{", name);
    for (unsigned i = 0; i < list->n; i++)
        strbuf_printf(b, "%s'%s':'%s'", i ? "," : "", list->at[i].key, list->at[i].value);
    strbuf_add_text(b, "}");
}

static inline void print_amounts(struct strbuf *b, const struct data_amounts *a, bool is_node)
{
    strbuf_printf(b, "{'cpu':'%lldm'", (long long)a->milli_cpu);
    if (a->memory || is_node)
        strbuf_printf(b, ",'memory':'%lld'", (long long)a->memory);
    if (a->ephemeral || is_node)
        strbuf_printf(b, ",'ephemeral-storage':'%lld'", (long long)a->ephemeral);
    if (a->gpu || is_node)
        strbuf_printf(b, ",'example.com/gpu':'%lld'", (long long)a->gpu);
    if (is_node)
        strbuf_printf(b, ",'pods':'%lld'", (long long)a->pods);
    strbuf_add_text(b, "}");
}

static inline void print_node(struct strbuf *b, const struct data_node *n)
{
    strbuf_printf(b, "{'metadata':{'name':'%s','uid':'uid-%s',", n->name, n->name);
    print_pairs(b, "labels", &n->labels);
    strbuf_printf(b, "},'spec':{'unschedulable':%s,'taints':[", n->unschedulable ? "true" : "false");
    for (unsigned i = 0; i < n->n_taints; i++)
        strbuf_printf(b, "%s{'key':'%s','value':'%s','effect':'%s'}", i ? "," : "", n->taints[i].key, n->taints[i].value,
                      n->taints[i].effect);
    strbuf_add_text(b, "]},'status':{'allocatable':");
    print_amounts(b, &n->alloc, true);
    strbuf_add_text(b, "}}");
}

static inline void print_terms(struct strbuf *b, const char *name, const struct data_term *terms, unsigned n)
{
    strbuf_printf(b, "'%s':{'requiredDuringSchedulingIgnoredDuringExecution':[", name);
    for (unsigned i = 0; i < n; i++)
        strbuf_printf(b, "%s{'topologyKey':'%s','labelSelector':%s}", i ? "," : "", terms[i].topology_key,
                      terms[i].selector);
    strbuf_add_text(b, "]}");
}

static inline void print_affinity(struct strbuf *b, const struct data_pod *p)
{
    const char *gap = "";
    strbuf_add_text(b, ",'affinity':{");
    if (p->node_terms) {
        strbuf_printf(b, "'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[%s]}}",
                      p->node_terms);
        gap = ",";
    }
    if (p->n_affinity) {
        strbuf_add_text(b, gap);
        print_terms(b, "podAffinity", p->affinity, p->n_affinity);
        gap = ",";
    }
    if (p->n_anti) {
        strbuf_add_text(b, gap);
        print_terms(b, "podAntiAffinity", p->anti, p->n_anti);
    }
    strbuf_add_text(b, "}");
}

static inline void print_lists(struct strbuf *b, const struct data_pod *p)
{
    strbuf_add_text(b, ",'topologySpreadConstraints':[");
    for (unsigned i = 0; i < p->n_spread; i++)
        strbuf_printf(b, "%s{'maxSkew':%lld,'topologyKey':'%s','whenUnsatisfiable':'%s','labelSelector':%s%s}",
                      i ? "," : "", (long long)p->spread[i].max_skew, p->spread[i].topology_key,
                      p->spread[i].soft ? "ScheduleAnyway" : "DoNotSchedule", p->spread[i].selector, p->spread[i].more);
    strbuf_add_text(b, "],'tolerations':[");
    for (unsigned i = 0; i < p->n_tolerations; i++) {
        const struct data_taint *t = &p->tolerations[i];
        if (*t->key)
            strbuf_printf(b, "%s{'key':'%s','operator':'Equal','value':'%s','effect':'%s'}", i ? "," : "", t->key, t->value,
                          t->effect);
        else
            strbuf_printf(b, "%s{'operator':'Exists'}", i ? "," : "");
    }
    strbuf_add_text(b, "],'schedulingGates':[");
    for (unsigned i = 0; i < p->n_gates; i++)
        strbuf_printf(b, "%s{'name':'%s'}", i ? "," : "", p->gates[i]);
    strbuf_add_text(b, "]");
}

static inline void print_container(struct strbuf *b, const struct data_pod *p)
{
    strbuf_add_text(b, "'containers':[{'name':'c','image':'i:1','resources':{'requests':");
    print_amounts(b, &p->request, false);
    strbuf_add_text(b, "},'ports':[");
    for (unsigned i = 0; i < p->n_ports; i++)
        strbuf_printf(b, "%s{'containerPort':%u,'hostPort':%d,'protocol':'%s','hostIP':'%s'}", i ? "," : "", 1000 + i,
                      p->ports[i].port, p->ports[i].protocol, p->ports[i].ip);
    strbuf_add_text(b, "]}]");
}

static inline void print_pod(struct strbuf *b, const struct data_pod *p)
{
    strbuf_printf(b, "{'metadata':{'name':'%s','uid':'uid-%s','namespace':'default',", p->name, p->name);
    print_pairs(b, "labels", &p->labels);
    if (p->owner_kind)
        strbuf_printf(b, ",'ownerReferences':[{'apiVersion':'apps/v1','kind':'%s','name':'o','uid':'o','controller':true}]",
                      p->owner_kind);
    strbuf_printf(b, "},'spec':{'schedulerName':'default-scheduler','priority':%d,", p->priority);
    if (p->node)
        strbuf_printf(b, "'nodeName':'%s',", p->node);
    print_container(b, p);
    print_affinity(b, p);
    print_lists(b, p);
    if (p->selector.n) {
        strbuf_add_text(b, ",");
        print_pairs(b, "nodeSelector", &p->selector);
    }
    strbuf_add_text(b, "}}");
}

/* ---- A brand new scheduler ---- */

struct fresh {
    struct sym_table syms;
    struct setup setup;
    struct arena arena;
    struct sched *sched;
    const struct pod *target;
    char bound_to[64]; /* of the target; empty: it was not placed */
};

static inline int64_t fresh_now(void *context)
{
    (void)context;
    return 1000;
}

static inline int64_t fresh_wall(void *context)
{
    (void)context;
    return 1800000000;
}

static inline void fresh_bind(void *context, io_ticket ticket, const struct pod *pod, sym node)
{
    struct fresh *f = context;
    (void)ticket;
    if (strcmp(pod->meta.uid, f->target->meta.uid) == 0)
        snprintf(f->bound_to, sizeof(f->bound_to), "%s", sym_text(&f->syms, node).p);
}

static inline void fresh_status(void *context, const struct status_change *change)
{
    (void)context;
    (void)change;
}

static inline void fresh_evict(void *context, io_ticket ticket, const struct pod *victim, const struct pod *preemptor)
{
    (void)context;
    (void)ticket;
    (void)victim;
    (void)preemptor;
}

static inline void fresh_event(void *context, const struct event_note *note)
{
    (void)context;
    (void)note;
}

static inline struct str fresh_json(struct fresh *f, struct strbuf *b)
{
    char *text = arena_cstr(&f->arena, strbuf_str(b));
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    strbuf_reset(b);
    return str_of(text);
}

static inline void fresh_add_pod(struct fresh *f, struct strbuf *b, const struct data_pod *p, struct err *e)
{
    const struct pod *pod;
    print_pod(b, p);
    if (pod_decode(&f->syms, TYPED_JSON, fresh_json(f, b), &pod, e))
        FAIL("pod %s: %s", p->name, e->message);
    if (p->nominated) {
        sym node = sym_intern(&f->syms, str_of(p->nominated));
        nominator_add(sched_nominator(f->sched), pod, node);
        sym_unref(&f->syms, node);
    } else {
        sched_pod_set(f->sched, pod);
    }
    if (!p->node && !p->nominated)
        f->target = pod_ref(pod);
    pod_unref(&f->syms, pod);
}

static inline void fresh_init(struct fresh *f, const struct data *d)
{
    *f = (struct fresh){ 0 };
    sym_init(&f->syms);
    arena_init(&f->arena);
    struct err e;
    err_init(&e, &f->arena);
    struct str config = d->config ? str_of(d->config) : (struct str){ NULL, 0 };
    if (setup_from_text(&f->setup, &f->syms, config, plugin_registry, &e))
        FAIL("%s", e.message);
    f->sched = sched_new(&(struct sched_options){
        .syms = &f->syms,
        .profiles = f->setup.profiles,
        .n_profiles = f->setup.n_profiles,
        .features = f->setup.features,
        .io = { f, fresh_now, fresh_wall, fresh_bind, fresh_status, fresh_evict, fresh_event, NULL, NULL },
        .percentage_of_nodes_to_score = 100,
        .seed = 1,
    });
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (unsigned i = 0; i < d->n_nodes; i++) {
        const struct node *node;
        print_node(&b, &d->nodes[i]);
        if (node_decode(&f->syms, TYPED_JSON, fresh_json(f, &b), &node, &e))
            FAIL("node %s: %s", d->nodes[i].name, e.message);
        sched_node_set(f->sched, node);
        node_unref(&f->syms, node);
    }
    for (unsigned i = 0; i < d->n_pods; i++)
        fresh_add_pod(f, &b, &d->pods[i], &e);
    strbuf_fini(&b);
}

static inline void fresh_fini(struct fresh *f)
{
    pod_unref(&f->syms, f->target);
    sched_free(f->sched);
    setup_fini(&f->setup);
    arena_fini(&f->arena);
    sym_fini(&f->syms);
}

/* What becomes of the target on this data. */
struct outcome {
    char node[64]; /* empty: nothing */
    unsigned n_feasible;
    char feasible[NODES_MAX + 1][64];
};

/* The full scheduler has one go at the target; before that, which nodes are open is noted. */
static inline void run_plainly(const struct data *d, struct outcome *ret)
{
    struct fresh f;
    fresh_init(&f, d);
    struct attempt a;
    *ret = (struct outcome){ 0 };
    attempt_run(f.sched, &a, f.target, (struct attempt_wants){ .reasons = true, .detail = true });
    if (a.outcome == ATTEMPT_FITS)
        for (uint32_t i = 0; i < a.n_feasible; i++)
            snprintf(ret->feasible[ret->n_feasible++], sizeof(ret->feasible[0]), "%s",
                     sym_text(&f.syms, f.sched->cache.rows.at[a.feasible[i]].name).p);
    f.sched->start_index = 0;
    sched_run_once(f.sched);
    snprintf(ret->node, sizeof(ret->node), "%s", f.bound_to);
    fresh_fini(&f);
}

static inline bool is_placed(const struct data *d)
{
    struct outcome o;
    run_plainly(d, &o);
    return o.node[0];
}

/* ---- Remedies, done by hand ---- */

static inline void remove_taint(struct data_node *n, const char *key, const char *value, const char *effect)
{
    for (unsigned i = 0; i < n->n_taints; i++) {
        struct data_taint *t = &n->taints[i];
        if (strcmp(t->key, key) == 0 && (!value || strcmp(t->value, value) == 0) && strcmp(t->effect, effect) == 0) {
            n->taints[i] = n->taints[--n->n_taints]; /* the order of taints means nothing */
            return;
        }
    }
    CHECK(!value); /* the taint is there, or it was not asked for by value */
}

static inline int64_t *amount_of(struct data_amounts *a, const char *resource)
{
    if (strcmp(resource, "cpu") == 0)
        return &a->milli_cpu;
    if (strcmp(resource, "memory") == 0)
        return &a->memory;
    if (strcmp(resource, "ephemeral-storage") == 0)
        return &a->ephemeral;
    if (strcmp(resource, "pods") == 0)
        return &a->pods;
    CHECK_TEXT("resource", resource, "example.com/gpu");
    return &a->gpu;
}

static inline void remove_pod(struct data *d, const char *name)
{
    for (unsigned i = 0; i < d->n_pods; i++)
        if (strcmp(d->pods[i].name, name) == 0) {
            memmove(&d->pods[i], &d->pods[i + 1], (d->n_pods - i - 1) * sizeof(d->pods[0]));
            d->n_pods--;
            return;
        }
    FAIL("no pod %s", name);
}

static inline void add_node_like(struct data *d, const struct remedy *r, const char *like)
{
    CHECK(d->n_nodes < NODES_MAX);
    struct data_node *n = &d->nodes[d->n_nodes++];
    *n = *data_node(d, like);
    n->name = r->new_name;
    n->unschedulable = false;
    for (unsigned i = n->n_taints; i-- > 0;)
        if (strncmp(n->taints[i].key, "node.kubernetes.io/", strlen("node.kubernetes.io/")) == 0)
            n->taints[i] = n->taints[--n->n_taints];
    if (pair_get(&n->labels, HOSTNAME_KEY))
        pair_set(&n->labels, HOSTNAME_KEY, r->new_name);
}

#define REMOVE_AT(list, n, i)                                                              \
    do {                                                                                   \
        CHECK((i) < (n));                                                                  \
        memmove(&(list)[i], &(list)[(i) + 1], ((n) - (i) - 1) * sizeof((list)[0]));        \
        (n)--;                                                                             \
    } while (0)

static inline void relax(struct data_pod *p, const struct remedy *r)
{
    unsigned i = 0;
    switch (r->relaxed) {
    case RELAX_MAX_SKEW:
        CHECK_INT("maxSkew", p->spread[r->index].max_skew, r->before);
        p->spread[r->index].max_skew = r->now;
        break;
    case RELAX_NODE_SELECTOR:
        while (strcmp(p->selector.at[i].key, r->key) != 0 || strcmp(p->selector.at[i].value, r->value) != 0)
            CHECK(++i < p->selector.n);
        REMOVE_AT(p->selector.at, p->selector.n, i);
        break;
    case RELAX_NODE_SELECTORS:
        CHECK(r->n_names > 1);
        for (uint32_t k = 0; k < r->n_names; k++) {
            char entry[256] = "";
            for (i = 0; strcmp(entry, r->names[k]) != 0; i++) {
                CHECK(i < p->selector.n);
                snprintf(entry, sizeof(entry), "%s=%s", p->selector.at[i].key, p->selector.at[i].value);
            }
            REMOVE_AT(p->selector.at, p->selector.n, i - 1);
        }
        break;
    case RELAX_NODE_AFFINITY:
        CHECK(p->node_terms);
        p->node_terms = NULL;
        break;
    case RELAX_POD_AFFINITY:
        CHECK_TEXT("topology key", p->affinity[r->index].topology_key, r->key);
        REMOVE_AT(p->affinity, p->n_affinity, r->index);
        break;
    case RELAX_POD_ANTI_AFFINITY:
        CHECK_TEXT("topology key", p->anti[r->index].topology_key, r->key);
        REMOVE_AT(p->anti, p->n_anti, r->index);
        break;
    case RELAX_SPREAD:
        CHECK_TEXT("topology key", p->spread[r->index].topology_key, r->key);
        REMOVE_AT(p->spread, p->n_spread, r->index);
        break;
    case RELAX_HOST_PORT:
        CHECK_INT("port", p->ports[r->index].port, r->port);
        REMOVE_AT(p->ports, p->n_ports, r->index);
        break;
    case RELAX_REQUEST:
        CHECK_INT("request", *amount_of(&p->request, r->amounts[0].resource), r->before);
        *amount_of(&p->request, r->amounts[0].resource) = r->now;
        break;
    case N_RELAXED:
        FAIL("not a constraint");
    }
}

/* On `node`: the remedy's own, or one that is alike. */
static inline void apply_remedy(struct data *d, const struct remedy *r, const char *node)
{
    struct data_pod *target = data_target(d);
    struct data_node *n = r->kind == REMEDY_REMOVE_GATES || r->kind == REMEDY_TOLERATE || r->kind == REMEDY_RELAX
                              ? NULL
                              : data_node(d, node);
    switch (r->kind) {
    case REMEDY_REMOVE_GATES:
        CHECK_INT("gates", r->n_gates, target->n_gates);
        target->n_gates = 0;
        break;
    case REMEDY_UNCORDON:
        CHECK(n->unschedulable);
        n->unschedulable = false;
        remove_taint(n, CORDON_KEY, NULL, "NoSchedule");
        break;
    case REMEDY_TOLERATE:
        CHECK(target->n_tolerations < LIST_MAX);
        target->tolerations[target->n_tolerations++] = (struct data_taint){ r->key, r->value, r->effect };
        break;
    case REMEDY_ADD_LABEL:
        CHECK(!pair_get(&n->labels, r->key));
        pair_set(&n->labels, r->key, r->value);
        break;
    case REMEDY_REMOVE_TAINT:
        remove_taint(n, r->key, r->value, r->effect);
        break;
    case REMEDY_RELAX:
        relax(target, r);
        break;
    case REMEDY_FREE:
        for (uint32_t i = 0; i < r->n_amounts; i++)
            *amount_of(&n->alloc, r->amounts[i].resource) += r->amounts[i].missing;
        break;
    case REMEDY_EVICT:
        for (uint32_t i = 0; i < r->n_victims; i++)
            remove_pod(d, r->victims[i].name);
        break;
    case REMEDY_ADD_NODE:
        add_node_like(d, r, node);
        for (uint32_t i = 0; i < r->n_amounts; i++)
            *amount_of(&d->nodes[d->n_nodes - 1].alloc, r->amounts[i].resource) = r->amounts[i].wanted;
        break;
    case REMEDY_PROVIDE_CLAIMS:
        FAIL("nobody has claims here");
    case N_REMEDY_KINDS:
        FAIL("not a kind");
    }
}
