/* sim/input.h - the objects of a simulation, as files give them.
 *
 * Any mix of YAML and JSON, of single objects and lists, as `kubectl get -o yaml` and `-o json` print
 * them. What an API server would have filled in is filled in: names and namespaces here, the rest by admission.h. Kinds that scheduling does not look at are counted and left
 * out; kinds that berth does not know give a warning.
 *
 * The way of an input: texts are read; sim_input_complete (forms.h) adds defaults and typed forms; for
 * a what-if it is copied and the copy is changed; sim_expand (expand.h) adds the pods that controllers
 * lack; worlds (world.h) are made of it.
 *
 * Thread: one, the owner of the sym table. Owns: its arena, where all values and texts live, and a
 * reference to each form; the sym table must live longer. */
#pragma once

#include "api/value.h"
#include "base/err.h"
#include "base/map.h"
#include "base/sym.h"
#include "base/vec.h"
#include "forms/fill.h"

enum {
    SIM_OBJECTS_MAX = 1 << 21,
    SIM_DOCUMENT_BYTES_MAX = 1 << 30, /* of one document of a file: dumps of whole clusters are lists */
    SIM_WARNINGS_MAX = 1000, /* that are kept; the others are counted */
};

struct sim_kind;

struct sim_object {
    const struct type *type;
    const struct sim_kind *sim_kind;
    struct value value; /* absent of a pod that has its form */
    const void *form;   /* as the kind says (forms.h); NULL: not made yet */
    const char *origin;              /* "web.yaml, document 2"; of a pod that was made: its controller's */
    const char *kind, *ns, *name, *uid; /* ns "" for kinds without; uid of a pod with a form: the form's */
    const char *owner;               /* of a pod, "Deployment shop/cart"; NULL: nobody, or not known yet */
    bool made;                       /* by expand.h */
    bool from_server;                /* it was given with a uid, so that an API server has gone over it */
    bool ran;                        /* of a pod without a node: a change took it */
    bool stand_in;                   /* for a claim or volume that is not given: claims.h */
    bool replaced;                   /* it took the place of one that was given before */
    bool placed;                     /* of a pod with a node: by an earlier run (settle.h), not when it was given */
    bool removed;                    /* as good as not there: whoever walks over objects passes it by */
};

/* For long work: who wants to know how far it is. A phase ends with `done` equal to `total`, also when
 * it fails. */
enum sim_phase {
    SIM_READING,    /* bytes of one text */
    SIM_FETCHING,   /* objects of a running cluster; how many there are is known at the end only */
    SIM_SCHEDULING, /* pods that were pending */
    SIM_TRACING,    /* pods of a trace that have arrived */
};
struct sim_progress {
    void *context;
    void (*at)(void *context, enum sim_phase phase, size_t done, size_t total); /* NULL: nobody */
};

/* Pods that an API server would not let in. */
struct sim_refused {
    const char *what;   /* "ReplicaSet shop/cart", or "Pod shop/cart" */
    const char *reason; /* the server's words */
    uint32_t n;
};

struct sim_input {
    struct arena arena;
    struct arena waiting; /* values of pods, until they have their forms */
    struct sym_table *syms;
    struct sim_progress progress; /* set it after init; copies and worlds take it over */
    VEC(struct sim_object) objects;
    size_t last;            /* index of the object that was read last: new, replaced, or there already */
    struct map_str by_name; /* "Pod shop/cart-1" -> index in objects */
    VEC(const char *) warnings;
    uint32_t n_more_warnings; /* that were not kept */
    uint32_t n_ignored;
    uint32_t n_generated; /* names that were made for objects that had only a beginning of one */
    VEC(struct sim_refused) refused;
    bool settled; /* it is how a run ended: settle.h */
};

void sim_input_init(struct sim_input *in, struct sym_table *syms);
void sim_input_fini(struct sim_input *in);
/* An input that may be changed while `from`, which must live longer and stay as it is, is not: it has
 * objects of its own, which share values, texts and forms with those of `from`. It begins without
 * warnings. */
void sim_input_copy(struct sim_input *to, const struct sim_input *from);

/* All documents of a text, which need not live on. An error names `file`, the document and what is
 * wrong with it; an object that is there already is replaced, with a warning that names both places. What lies
 * before the place that SIM_READING tells is read again only if the document turns out to be odd:
 * whoever maps a file may give those pages back. */
enum err_code sim_input_text(struct sim_input *in, const char *file, struct str text, struct err *e) ERR_MUST_CHECK;

/* One object that an API server has sent, of type `t`. Its bytes need not live on; `origin`, which errors and warnings
 * name, must. */
enum err_code sim_input_object(struct sim_input *in, const struct type *t, enum typed_format format, struct str bytes,
                               const char *origin, struct err *e) ERR_MUST_CHECK;

/* Adds an object that has its kind; metadata is completed. */
enum err_code sim_input_add(struct sim_input *in, const struct sim_object *o, struct err *e) ERR_MUST_CHECK;
/* The same for a pod that has its form, which it takes, and lacks nothing (sim_pod_is_complete). */
enum err_code sim_input_add_pod(struct sim_input *in, const struct sim_object *o, struct err *e) ERR_MUST_CHECK;
/* Puts an object that is complete and whose name is free at the end; takes its form. Returns its index. */
size_t sim_input_put(struct sim_input *in, const struct sim_object *o);
/* Takes back what was added since the mark. */
struct sim_mark {
    size_t n_objects, n_warnings;
    uint32_t n_more_warnings, n_ignored;
};
struct sim_mark sim_input_mark(const struct sim_input *in);
void sim_input_rewind(struct sim_input *in, struct sim_mark mark);
/* Whether anything was added, ignored or warned about since. */
bool sim_input_changed(const struct sim_input *in, struct sim_mark mark);
void sim_input_remove(struct sim_input *in, struct sim_object *o);
/* NULL when there is none. Valid until the next one is added. */
struct sim_object *sim_input_find(const struct sim_input *in, const char *kind, const char *ns, const char *name);
void sim_tell(const struct sim_progress *p, enum sim_phase phase, size_t done, size_t total);
/* Once for every text. */
void sim_warn(struct sim_input *in, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* n pods of the same owner that are refused for the same reason. */
void sim_refuse(struct sim_input *in, const char *what, uint32_t n, const char *reason);

/* Where to make values for an object. */
struct arena *sim_value_arena(struct sim_input *in, const struct sim_object *o);
/* The value at a path (value_path), and its text as a C text ("" when it is not there). */
const struct value *sim_field(const struct sim_object *o, const char *path);
const char *sim_text(struct sim_input *in, const struct sim_object *o, const char *path);
/* An integer, or `otherwise`. */
int64_t sim_int(const struct sim_object *o, const char *path, int64_t otherwise);
