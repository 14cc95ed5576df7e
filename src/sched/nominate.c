/* sched/nominate.c - see nominate.h. */
#include "sched/nominate.h"

#include "base/mem.h"

void nominator_init(struct nominator *n, struct sym_table *syms)
{
    *n = (struct nominator){ .syms = syms };
    map_str_init(&n->by_uid);
    map_u64_init(&n->by_node);
}

static void free_nominated(struct nominator *n, struct nominated *entry)
{
    pod_unref(n->syms, entry->pod);
    sym_unref(n->syms, entry->node);
    free(entry);
}

void nominator_fini(struct nominator *n)
{
    for (struct map_u64_slot *s = map_u64_next(&n->by_node, NULL); s; s = map_u64_next(&n->by_node, s)) {
        struct nominated_list *list = s->value.ptr;
        for (size_t i = 0; i < list->pods.n; i++)
            free_nominated(n, list->pods.at[i]);
        vec_fini(&list->pods);
        free(list);
    }
    map_str_fini(&n->by_uid);
    map_u64_fini(&n->by_node);
}

static void note_change(struct nominator *n, struct nominated_list *list, sym node)
{
    list->version = ++n->last_version;
    n->changes[list->version % NOMINATOR_LOG_MAX] = node;
}

void nominator_remove(struct nominator *n, const char *uid)
{
    union map_value value;
    if (!map_str_remove(&n->by_uid, str_of(uid), &value))
        return;
    struct nominated *entry = value.ptr;
    struct nominated_list *list = map_u64_find(&n->by_node, entry->node)->ptr;
    size_t at = 0;
    while (list->pods.at[at] != entry)
        at++;
    vec_remove(&list->pods, at);
    note_change(n, list, entry->node);
    if (list->pods.n == 0) {
        map_u64_remove(&n->by_node, entry->node, NULL);
        vec_fini(&list->pods);
        free(list);
    }
    free_nominated(n, entry);
}

void nominator_add(struct nominator *n, const struct pod *pod, sym node)
{
    assert(pod);
    pod_ref(pod); /* the entry that is removed next may hold the last reference */
    nominator_remove(n, pod->meta.uid);
    if (node == SYM_NONE)
        node = pod->nominated_node;
    if (node == SYM_EMPTY) {
        pod_unref(n->syms, pod);
        return;
    }
    struct nominated *entry = mem_alloc(sizeof(*entry));
    *entry = (struct nominated){ .pod = pod, .node = sym_ref(n->syms, node) };
    map_str_put(&n->by_uid, str_of(pod->meta.uid), NULL)->ptr = entry;
    bool is_new;
    union map_value *slot = map_u64_put(&n->by_node, node, &is_new);
    if (is_new)
        slot->ptr = mem_zalloc(sizeof(struct nominated_list));
    struct nominated_list *list = slot->ptr;
    vec_push(&list->pods, entry);
    note_change(n, list, node);
}

sym nominator_node_of(const struct nominator *n, const char *uid)
{
    union map_value *entry = map_str_find(&n->by_uid, str_of(uid));
    return entry ? ((struct nominated *)entry->ptr)->node : SYM_EMPTY;
}

void nominator_update(struct nominator *n, const struct pod *old, const struct pod *pod)
{
    /* Between a nomination in memory and its echo on the watch the objects do not know of it yet. */
    bool unaware = old->nominated_node == SYM_EMPTY && pod->nominated_node == SYM_EMPTY;
    sym kept = unaware ? nominator_node_of(n, old->meta.uid) : SYM_EMPTY;
    if (kept != SYM_EMPTY)
        sym_ref(n->syms, kept);
    nominator_add(n, pod, kept != SYM_EMPTY ? kept : SYM_NONE);
    if (kept != SYM_EMPTY)
        sym_unref(n->syms, kept);
}

const struct nominated_list *nominator_on(const struct nominator *n, sym node)
{
    union map_value *entry = map_u64_find(&n->by_node, node);
    return entry ? entry->const_ptr : NULL;
}
