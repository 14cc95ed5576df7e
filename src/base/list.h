/* base/list.h - doubly linked lists of items that hold their own links, so that nothing is allocated.
 *
 *     struct job { int id; struct list_node node; };
 *     list_push(&jobs, &job->node);
 *     for (struct list_node *n = list_first(&jobs); n; n = list_next(&jobs, n))
 *         run(LIST_ITEM(n, struct job, node));
 *
 * A node is zeroed while it is in no list. A walk may remove the node it stands on if it took the next
 * one before.
 *
 * Thread: one at a time.    Owns: nothing. A list must not move in memory. */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct list_node {
    struct list_node *prev, *next; /* NULL = in no list */
};

struct list {
    struct list_node end; /* before the first and after the last */
};

#define LIST_ITEM(node, type, member) ((type *)((uintptr_t)(node) - offsetof(type, member)))

static inline void list_init(struct list *l)
{
    l->end.prev = l->end.next = &l->end;
}

static inline bool list_is_empty(const struct list *l)
{
    return l->end.next == &l->end;
}

static inline bool list_has(const struct list_node *node)
{
    return node->next != NULL;
}

/* NULL when empty. */
static inline struct list_node *list_first(const struct list *l)
{
    return list_is_empty(l) ? NULL : l->end.next;
}

/* NULL after the last. */
static inline struct list_node *list_next(const struct list *l, const struct list_node *node)
{
    return node->next == &l->end ? NULL : node->next;
}

/* At the end. */
static inline void list_push(struct list *l, struct list_node *node)
{
    assert(!list_has(node));
    node->prev = l->end.prev;
    node->next = &l->end;
    node->prev->next = node;
    l->end.prev = node;
}

static inline void list_remove(struct list_node *node)
{
    assert(list_has(node));
    node->prev->next = node->next;
    node->next->prev = node->prev;
    node->prev = node->next = NULL;
}
