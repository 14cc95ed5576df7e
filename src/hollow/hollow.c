/* hollow/hollow.c - see hollow.h. */
#include "hollow/hollow.h"

#include <stdlib.h>

#include "api/schema_slots.h"
#include "base/log.h"
#include "base/map.h"
#include "base/vec.h"
#include "controllers/node_health.h"
#include "controllers/pods_by_node.h"
#include "controllers/read.h"
#include "controllers/service_pods.h"
#include "controllers/turn.h"
#include "hollow/kubelet_events.h"
#include "hollow/node_addresses.h"
#include "hollow/node_object.h"
#include "hollow/pod_fit.h"
#include "hollow/pod_life.h"

#define ACCOUNT "hollow-nodes"
#define KUBELET "kubelet"
#define LEASES STR("kube-node-lease")

enum { NODES_AT_ONCE = 64 };

struct hollow_node {
    struct node_addresses addresses;
    char *host_ip; /* NULL: it has none */
    bool stopped;
    uint32_t place; /* among all */
    size_t n_name;
    char name[];
};

/* A pod that has an address. */
struct hollow_pod {
    struct hollow_node *node;
    uint32_t address;
    size_t n_key;
    char key[];
};

/* Who is next of those that have their turn once in a period. */
struct rota {
    int64_t period_ms, since_ms;
    uint64_t n_done; /* since then */
    size_t next;
};

struct hollow {
    struct cluster *cluster;
    struct loop *loop;
    struct arena arena; /* of the shapes */
    struct node_shapes to_make;
    uint32_t n_begun, n_made;
    int64_t job_s;
    struct kubelet_events *events; /* NULL: none are written */
    struct map_str nodes;          /* name -> struct hollow_node */
    VEC(struct hollow_node *) order;
    struct map_str pods; /* "namespace/name" -> struct hollow_pod */
    struct pods_by_node by_node;
    struct work_queue *pod_queue, *node_queue;
    struct rota leases, statuses;
    struct loop_timer tick;
};

static const struct resource *nodes(void)
{
    return stored_resource("nodes", "");
}

static const struct resource *pods(void)
{
    return stored_resource("pods", "");
}

static struct str name_of(const struct hollow_node *n)
{
    return (struct str){ n->name, n->n_name };
}

static struct hollow_node *find_node(const struct hollow *h, struct str name)
{
    const union map_value *found = map_str_find(&h->nodes, name);
    return found ? found->ptr : NULL;
}

static const struct value *node_value(const struct hollow *h, struct str name)
{
    return stored_get(cluster_objects(h->cluster), nodes(), STR(""), name);
}

/* ---- Nodes that are made ---- */

static void make_more(struct hollow *h);

static void made(void *context, enum err_code code, const char *message)
{
    struct hollow *h = context;
    if (code && code != ERR_ALREADY_EXISTS && code != ERR_UNAVAILABLE)
        LOG_ERROR(message, "A hollow node was not made");
    h->n_made++;
    if (code != ERR_UNAVAILABLE) /* else the server ends */
        make_more(h);
}

static void make_object(struct hollow *h, const struct resource *r, struct str name, const struct value *object,
                        void (*done)(void *, enum err_code, const char *))
{
    struct cluster_call call = { .verb = CLUSTER_CREATE, .controller = ACCOUNT, .resource = r, .name = name, .object = object,
                                 .done = done, .context = h };
    cluster_begin(h->cluster, &call);
}

static void make_node(struct hollow *h, const struct node_shape *s)
{
    struct arena a;
    arena_init(&a);
    struct value csi = node_csi_object(&a, s), node = node_object(&a, s, cluster_now_s(h->cluster));
    const struct resource *csi_nodes = stored_resource("csinodes", "storage.k8s.io");
    if (csi.kind == VALUE_STRUCT && !cluster_item(h->cluster, csi_nodes, STR(""), s->name))
        make_object(h, csi_nodes, s->name, &csi, NULL);
    make_object(h, nodes(), s->name, &node, made);
    arena_fini(&a);
}

static void make_more(struct hollow *h)
{
    while (h->n_begun < h->to_make.n && h->n_begun - h->n_made < HOLLOW_MAKING_MAX) {
        const struct node_shape *s = &h->to_make.at[h->n_begun++];
        if (cluster_item(h->cluster, nodes(), STR(""), s->name))
            h->n_made++;
        else
            make_node(h, s);
    }
}

bool hollow_is_complete(const struct hollow *h)
{
    return h->n_made == h->to_make.n;
}

/* ---- Heartbeats ---- */

static void lease_done(void *context, enum err_code code, const char *message)
{
    (void)context;
    if (code) /* there is another turn soon */
        LOG(4, "A hollow node's lease was not renewed", KS("err", message));
}

static void renew_lease(struct hollow *h, struct hollow_node *n)
{
    const struct resource *leases = stored_resource("leases", "coordination.k8s.io");
    const struct value *node = node_value(h, name_of(n));
    const struct value *old = stored_get(cluster_objects(h->cluster), leases, LEASES, name_of(n));
    struct arena a;
    if (n->stopped || !node)
        return;
    arena_init(&a);
    struct value lease = node_lease_object(&a, node, old, clock_wall_ns(loop_clock(h->loop)));
    struct cluster_call call = { .verb = old ? CLUSTER_UPDATE : CLUSTER_CREATE, .controller = KUBELET, .node = name_of(n),
                                 .resource = leases, .namespace = LEASES, .name = name_of(n), .object = &lease,
                                 .done = lease_done };
    cluster_begin(h->cluster, &call);
    arena_fini(&a);
}

static void renew_status(struct hollow *h, struct hollow_node *n)
{
    if (!n->stopped)
        work_queue_add(h->node_queue, name_of(n));
}

/* So many have had their turn as the time that has passed allows: each node has its own once in every period. */
static void take_turns(struct hollow *h, struct rota *r, void (*turn)(struct hollow *h, struct hollow_node *n))
{
    int64_t now_ms = loop_now_ms(h->loop);
    uint64_t due = (uint64_t)(now_ms - r->since_ms) * h->order.n / (uint64_t)r->period_ms;
    if (r->n_done > due) /* there are fewer nodes than there were */
        r->n_done = due;
    for (int i = 0; i < HOLLOW_RENEWALS_MAX && r->n_done < due; i++, r->n_done++) {
        turn(h, h->order.at[r->next % h->order.n]);
        r->next = (r->next + 1) % h->order.n;
    }
    if (r->n_done >= due && now_ms - r->since_ms >= r->period_ms) { /* numbers stay small */
        r->since_ms += r->period_ms;
        r->n_done -= r->n_done < h->order.n ? r->n_done : h->order.n;
    }
}

static void tick(struct loop_timer *t)
{
    struct hollow *h = LIST_ITEM(t, struct hollow, tick);
    make_more(h);
    take_turns(h, &h->leases, renew_lease);
    take_turns(h, &h->statuses, renew_status);
    loop_timer_set(h->loop, &h->tick, loop_now_ms(h->loop) + HOLLOW_TICK_MS);
}

static void work_node(void *context, struct str key)
{
    struct hollow *h = context;
    struct turn *t = turn_new(h->cluster, h->node_queue, KUBELET, key);
    const struct hollow_node *n = find_node(h, key);
    const struct value *node = n && !n->stopped ? node_value(h, key) : NULL;
    struct arena a;
    arena_init(&a);
    if (node) {
        struct value next = node_heartbeat(&a, node, cluster_now_s(h->cluster));
        turn_begin(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .node = key, .resource = nodes(), .subresource = "status",
                                             .name = key, .object = &next });
    }
    turn_end(t);
    arena_fini(&a);
}

/* ---- Addresses ---- */

static void forget_pod(struct hollow *h, struct str key)
{
    union map_value own_pod;
    if (!map_str_remove(&h->pods, key, &own_pod))
        return;
    struct hollow_pod *p = own_pod.ptr;
    node_addresses_give_back(&p->node->addresses, p->address);
    free(p);
}

static void remember_pod(struct hollow *h, struct hollow_node *n, struct str key, uint32_t address)
{
    bool is_new;
    struct hollow_pod *p = mem_zalloc(sizeof(*p) + key.n);
    p->node = n;
    p->address = address;
    p->n_key = key.n;
    memcpy(p->key, key.p, key.n);
    map_str_put(&h->pods, (struct str){ p->key, p->n_key }, &is_new)->ptr = p;
}

/* It has one already: nobody else may get that. */
static void note_address(struct hollow *h, struct hollow_node *n, struct str key, const struct value *pod)
{
    uint32_t address = pod_address_parse(text_at(pod_type(), pod, "status.podIP"));
    if (address && !map_str_find(&h->pods, key) && node_addresses_mark(&n->addresses, address))
        remember_pod(h, n, key, address);
}

static struct str address_for(struct hollow *h, struct hollow_node *n, struct arena *a, struct str key)
{
    const union map_value *found = map_str_find(&h->pods, key);
    const struct hollow_pod *known = found ? found->ptr : NULL;
    if (known && known->node != n) { /* another pod of that name, of whose end nobody has told yet */
        forget_pod(h, key);
        known = NULL;
    }
    uint32_t address = known ? known->address : node_addresses_take(&n->addresses);
    if (!known && address)
        remember_pod(h, n, key, address);
    return address ? pod_address_text(a, address) : (struct str){ NULL, 0 };
}

/* ---- Pods ---- */

static void begin_step(struct turn *t, struct str node, const struct value *pod, const struct pod_life_step *step)
{
    struct cluster_call call = { .node = node, .resource = pods(), .namespace = text_at(pod_type(), pod, "metadata.namespace"),
                                 .name = text_at(pod_type(), pod, "metadata.name") };
    if (step->verb == POD_LIFE_STATUS) {
        call.verb = CLUSTER_UPDATE;
        call.subresource = "status";
        call.object = &step->pod;
    } else {
        call.verb = CLUSTER_DELETE;
        call.at_once = true;
        call.uid = text_at(pod_type(), pod, "metadata.uid");
    }
    turn_begin(t, call);
}

static void look_again(struct hollow *h, struct str key, int64_t at_s)
{
    int64_t now_ms = clock_wall_ns(loop_clock(h->loop)) / CLOCK_NS_PER_MS;
    if (at_s != INT64_MAX)
        work_queue_add_after(h->pod_queue, key, at_s * 1000 > now_ms ? at_s * 1000 - now_ms : 0);
}

/* The pods on a node that have not ended, but for one. */
static size_t others_on(struct hollow *h, const struct hollow_node *n, struct str key, struct arena *a, const struct value ***ret_pods)
{
    const struct str *keys;
    size_t n_keys = pods_by_node_list(&h->by_node, name_of(n), a, &keys), n_pods = 0;
    const struct value **at = ARENA_NEW_N(a, const struct value *, n_keys);
    for (size_t i = 0; i < n_keys; i++) {
        struct str namespace, name;
        turn_read_key(keys[i], &namespace, &name);
        const struct value *pod = stored_get(cluster_objects(h->cluster), pods(), namespace, name);
        if (pod && !str_eq(keys[i], key) && !pod_has_ended(pod))
            at[n_pods++] = pod;
    }
    *ret_pods = at;
    return n_pods;
}

/* A pod that a scheduler chose this node for was checked already; one that came with its node was not. */
static struct pod_refusal refusal_of(struct hollow *h, const struct hollow_node *n, struct str key, const struct value *pod,
                                     struct arena *a)
{
    const struct value *node = node_value(h, name_of(n)), **others;
    if (pod_life_has_begun(pod) || pod_condition_is_true(pod, STR("PodScheduled")) || !node)
        return (struct pod_refusal){ NULL, NULL };
    size_t n_others = others_on(h, n, key, a, &others);
    return pod_fit(a, pod, node, others, n_others);
}

static void live(struct hollow *h, struct turn *t, struct hollow_node *n, const struct value *pod, struct arena *a)
{
    struct str key = { t->key, t->n_key };
    struct pod_life_state s = { .pod = pod, .host_ip = str_of(n->host_ip ? n->host_ip : ""), .now_s = cluster_now_s(h->cluster), .job_s = h->job_s };
    bool is_on_host = true_at(pod_type(), pod, "spec.hostNetwork");
    if (!is_on_host && !pod_has_ended(pod))
        s.pod_ip = address_for(h, n, a, key);
    struct pod_refusal refusal = refusal_of(h, n, key, pod, a);
    s.refusal = refusal.reason;
    s.refusal_message = refusal.message;
    struct pod_life_step step = pod_life_step(a, &s);
    if (step.verb == POD_LIFE_STATUS && h->events)
        kubelet_events_record(h->events, pod, &step.pod);
    if (step.verb != POD_LIFE_NOTHING)
        begin_step(t, name_of(n), pod, &step);
    look_again(h, key, step.again_s);
}

static void work_pod(void *context, struct str key)
{
    struct hollow *h = context;
    struct str namespace, name;
    struct arena a;
    arena_init(&a);
    struct turn *t = turn_new(h->cluster, h->pod_queue, KUBELET, key);
    turn_read_key(key, &namespace, &name);
    const struct value *pod = stored_get(cluster_objects(h->cluster), pods(), namespace, name);
    struct hollow_node *n = pod ? find_node(h, text_at(pod_type(), pod, "spec.nodeName")) : NULL;
    if (n && !n->stopped)
        live(h, t, n, pod, &a);
    turn_end(t);
    arena_fini(&a);
}

static void pod_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct hollow *h = context;
    struct str namespace, name;
    struct arena a;
    pods_by_node_changed(&h->by_node, r, item, prev);
    const struct value *pod = stored_value(cluster_objects(h->cluster), r, item ? item : prev);
    struct hollow_node *n = find_node(h, text_at(pod_type(), pod, "spec.nodeName"));
    if (!n)
        return;
    arena_init_small(&a);
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    struct str key = turn_key_of(&a, namespace, name);
    if (!item || pod_has_ended(pod))
        forget_pod(h, key);
    else
        note_address(h, n, key, pod);
    if (item && !n->stopped)
        work_queue_add(h->pod_queue, key);
    arena_fini(&a);
}

/* ---- Nodes that are there ---- */

static struct str address_of_node(const struct value *node)
{
    const struct type *t = schema_type(STR("core/v1.NodeAddress"));
    const struct value *found = entry_with(t, value_path(node_type(), node, "status.addresses"), "type", STR("InternalIP"));
    return found ? text_at(t, found, "address") : (struct str){ NULL, 0 };
}

/* All pods on it are looked at. */
static void wake_pods(struct hollow *h, struct hollow_node *n)
{
    const struct str *keys;
    struct arena a;
    arena_init(&a);
    size_t n_keys = pods_by_node_list(&h->by_node, name_of(n), &a, &keys);
    for (size_t i = 0; i < n_keys; i++) {
        struct str namespace, name;
        turn_read_key(keys[i], &namespace, &name);
        const struct value *pod = stored_get(cluster_objects(h->cluster), pods(), namespace, name);
        if (pod && !pod_has_ended(pod))
            note_address(h, n, keys[i], pod);
    }
    for (size_t i = 0; !n->stopped && i < n_keys; i++)
        work_queue_add(h->pod_queue, keys[i]);
    arena_fini(&a);
}

static struct hollow_node *get_to_know(struct hollow *h, struct str name, const struct value *node)
{
    bool is_new;
    struct hollow_node *n = mem_zalloc(sizeof(*n) + name.n);
    n->n_name = name.n;
    memcpy(n->name, name.p, name.n);
    n->stopped = node_is_stopped(node);
    node_addresses_init(&n->addresses, text_at(node_type(), node, "spec.podCIDR"));
    n->place = (uint32_t)h->order.n;
    vec_push(&h->order, n);
    map_str_put(&h->nodes, name_of(n), &is_new)->ptr = n;
    return n;
}

static void forget_pods_of(struct hollow *h, const struct hollow_node *n)
{
    const struct str *keys;
    struct arena a;
    arena_init(&a);
    size_t n_keys = pods_by_node_list(&h->by_node, name_of(n), &a, &keys);
    for (size_t i = 0; i < n_keys; i++)
        forget_pod(h, keys[i]);
    arena_fini(&a);
}

static void free_node(struct hollow_node *n)
{
    node_addresses_fini(&n->addresses);
    free(n->host_ip);
    free(n);
}

static void forget_node(struct hollow *h, struct hollow_node *n)
{
    forget_pods_of(h, n);
    map_str_remove(&h->nodes, name_of(n), NULL);
    vec_remove_swap(&h->order, n->place);
    if (n->place < h->order.n)
        h->order.at[n->place]->place = n->place;
    free_node(n);
}

static void set_host_ip(struct hollow_node *n, struct str ip)
{
    if (str_is(ip, n->host_ip ? n->host_ip : ""))
        return;
    free(n->host_ip);
    n->host_ip = mem_alloc(ip.n + 1);
    memcpy(n->host_ip, ip.p ? ip.p : "", ip.n);
    n->host_ip[ip.n] = '\0';
}

/* New, or back: it is heard of at once. */
static void begin_node(struct hollow *h, struct hollow_node *n)
{
    renew_lease(h, n);
    wake_pods(h, n);
}

static void node_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct hollow *h = context;
    struct str namespace, name;
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    const struct value *node = item ? stored_value(cluster_objects(h->cluster), r, item) : NULL;
    struct hollow_node *n = find_node(h, name);
    if (!node || !node_is_hollow(node)) {
        if (n)
            forget_node(h, n);
        return;
    }
    bool was_there = n && !n->stopped;
    if (!n)
        n = get_to_know(h, name, node);
    n->stopped = node_is_stopped(node);
    set_host_ip(n, address_of_node(node));
    if (!was_there && !n->stopped)
        begin_node(h, n);
    if (!n->stopped && !node_condition_is(node, STR("Ready"), "True"))
        work_queue_add(h->node_queue, name);
}

/* ---- Life ---- */

static void copy_shapes(struct hollow *h, const struct node_shapes *from)
{
    h->to_make = (struct node_shapes){ ARENA_NEW_N(&h->arena, struct node_shape, from->n), from->n };
    const struct value *last = NULL, *copy = NULL;
    for (uint32_t i = 0; i < from->n; i++) {
        struct node_shape *s = &h->to_make.at[i];
        *s = from->at[i];
        if (s->shape != last) { /* those of one shape stand together */
            struct value *v = ARENA_NEW(&h->arena, struct value);
            *v = value_copy(&h->arena, s->shape);
            copy = v;
        }
        last = s->shape;
        s->shape = copy;
        s->name = arena_str(&h->arena, s->name);
        s->zone = arena_str(&h->arena, s->zone);
    }
}

static bool wants_events(const struct hollow_options *o)
{
    return o->events == HOLLOW_EVENTS_ON || (o->events == HOLLOW_EVENTS_AUTO && o->nodes.n <= HOLLOW_EVENTS_NODES_MAX);
}

struct hollow *hollow_open(const struct hollow_options *o)
{
    struct hollow *h = mem_zalloc(sizeof(*h));
    h->cluster = o->cluster;
    h->loop = cluster_loop(o->cluster);
    h->job_s = o->job_s;
    arena_init(&h->arena);
    copy_shapes(h, &o->nodes);
    h->events = wants_events(o) ? kubelet_events_new(h->cluster) : NULL;
    map_str_init(&h->nodes);
    map_str_init(&h->pods);
    pods_by_node_init(&h->by_node, h->cluster);
    h->pod_queue = work_queue_new(h->loop, HOLLOW_PODS_AT_ONCE, work_pod, h);
    h->node_queue = work_queue_new(h->loop, NODES_AT_ONCE, work_node, h);
    h->leases = (struct rota){ HOLLOW_LEASE_MS, loop_now_ms(h->loop), 0, 0 };
    h->statuses = (struct rota){ HOLLOW_STATUS_MS, loop_now_ms(h->loop), 0, 0 };
    cluster_watch(h->cluster, nodes(), node_changed, h);
    cluster_watch(h->cluster, pods(), pod_changed, h);
    h->tick.fire = tick;
    loop_timer_set(h->loop, &h->tick, loop_now_ms(h->loop));
    return h;
}

void hollow_close(struct hollow *h)
{
    if (!h)
        return;
    loop_timer_stop(h->loop, &h->tick);
    work_queue_free(h->pod_queue);
    work_queue_free(h->node_queue);
    for (struct map_str_slot *s = NULL; (s = map_str_next(&h->pods, s));)
        free(s->value.ptr);
    map_str_fini(&h->pods);
    for (size_t i = 0; i < h->order.n; i++)
        free_node(h->order.at[i]);
    vec_fini(&h->order);
    map_str_fini(&h->nodes);
    pods_by_node_fini(&h->by_node);
    kubelet_events_free(h->events);
    arena_fini(&h->arena);
    free(h);
}
