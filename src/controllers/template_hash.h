/* controllers/template_hash.h - the value of the label pod-template-hash, which also ends the names of ReplicaSets.
 *
 * Thread: any. Memory: the arena. */
#pragma once

#include "api/value.h"

/* Of a template of core/v1.PodTemplateSpec. `collisions`: how often the name was taken; -1: never. */
struct str template_hash(struct arena *a, const struct value *template, int64_t collisions);
