/* sched/class_key.h - what two pods must have in common to get the same answers of every node.
 *
 * A plugin whose filter or score is local (plugin.h) has a function that appends to a key whatever that rule
 * reads of the pod, in both its forms, and what its words for a refusal read. Something derived may stand for what it is
 * derived from: one bit that says whether the pod tolerates a cordon, instead of all tolerations. Pods with
 * equal keys are of one class (pod_class.h): what is known of a node for one of them holds for all. So what is
 * left out here is answered wrongly, and tests/unit/test_pod_class.c looks for that.
 *
 * Syms are held by no one: a class that outlives its pods may meet a number that means another text by now.
 * So the key has the texts.
 *
 * Thread: scheduling thread only. */
#pragma once

#include "base/strbuf.h"
#include "sched/framework.h"

void class_key_num(struct strbuf *key, int64_t n);
void class_key_sym(struct strbuf *key, const struct cycle *c, sym s);
/* How long the list is that follows; keeps lists apart. */
void class_key_count(struct strbuf *key, uint32_t n);

/* The key of a rule that reads nothing of the pod. */
void class_key_nothing(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key);
