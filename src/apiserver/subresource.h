/* apiserver/subresource.h - subresources that are no part of the object, and what they share.
 *
 * Thread: the store's. */
#pragma once

#include "api/selector.h"
#include "apiserver/operation.h"

/* The answer is a Status that says Success, with this code in it. */
void subresource_succeed(struct operation *op, int code);

/* The pod with a condition that is true; reason and message may be NULL. Its time changes when its status does. */
struct value pod_with_condition(struct operation *op, const struct value *pod, const char *type, const char *reason,
                                const char *message);
/* A LabelSelector as a value: absent matches nothing. */
ERR_MUST_CHECK enum err_code selector_of_value(struct arena *a, const struct type *t, const struct value *v,
                                               struct selector *ret_selector, struct err *e);

/* One try to delete op's object: see delete.c. */
enum err_code delete_attempt(struct operation *op);

void binding_create(struct operation *op);
void eviction_create(struct operation *op);
void scale_get(struct operation *op);
void scale_update(struct operation *op);
void scale_patch(struct operation *op);
