/* apply/last_applied.h - the annotation in which kubectl keeps what it applied from the client's side.
 *
 * When kubectl comes to server-side apply, it may take from others what the annotation says it applied and nobody
 * changed since; and the server keeps the annotation up to date, so that kubectl can go back.
 *
 * Thread: any. Memory: the arena. */
#pragma once

#include "apply/owner.h"
#include "base/work.h"

/* The fields of the annotation that are in the object as it says. `view` is the object's, with kind and apiVersion.
 * False when there is no annotation, or it says nothing that can be used. */
bool last_applied_set(const struct write *w, struct work *work, const struct value *live, const struct value *view,
                      struct str kind, struct field_set *ret_set);
/* The object; if it has the annotation, then with `config` in it. */
struct value last_applied_renew(const struct write *w, const struct value *object, const struct value *config);
