/* controllers/revisions.h - the history of a pod template: ControllerRevisions, of which each has the template that was once in
 * the spec of a StatefulSet.
 *
 * Upstream: controller/history.
 *
 * Thread: any.    Memory: the arena; what is read is copied there. */
#pragma once

#include "api/value.h"
#include "client/event_recorder.h"

enum { REVISION_NAME_PREFIX_MAX = 223 };

struct revision {
    struct str name, uid, data; /* JSON: a strategic merge patch of the owner */
    int64_t number, created_s;
};

/* Ascending by number. */
struct revisions {
    struct revision *at;
    size_t n;
};

/* Of apps/v1.ControllerRevision. */
struct revision revision_read(struct arena *a, const struct value *v);
void revisions_sort(struct arena *scratch, struct revisions *r);

/* {"spec":{"template":{..., "$patch":"replace"}}}, members in order, so that equal templates have equal texts. */
struct str revision_data(struct arena *a, const struct value *template);
/* The template that a revision holds: a PodTemplateSpec; absent when it cannot be read. */
struct value revision_template(struct arena *a, const struct type *owner_type, struct str data);
struct str revision_hash(struct arena *a, struct str data, int64_t n_collisions);
struct str revision_name(struct arena *a, struct str owner_name, struct str hash);

/* What is to be done so that the newest revision is that of the data. */
enum revision_need { REVISION_IS_THERE, REVISION_CREATE, REVISION_RENUMBER };
/* `ret_at`: which one it is, or which gets the number. */
enum revision_need revisions_need(const struct revisions *r, struct str data, size_t *ret_at);
int64_t revisions_next_number(const struct revisions *r);

/* A new one; labels are the template's, annotations the owner's. */
struct value revision_make(struct arena *a, struct value owner_reference, struct str namespace, struct str name, struct str hash,
                           struct str data, int64_t number, const struct value *labels, const struct value *annotations);
