/* apiserver/rbac.c - see rbac.h. Upstream: registry/rbac/validation/rule.go and authorizer/rbac/rbac.go. */
#include "apiserver/rbac.h"

#include <stdlib.h>

#include "api/schema_slots.h"
#include "apiserver/rbac_roles.h"
#include "base/map.h"
#include "base/vec.h"

#define RBAC_GROUP "rbac.authorization.k8s.io"

/* Slots that both kinds of bindings have in common. */
_Static_assert((int)SLOT_rbac_authorization_v1_RoleBinding_subjects ==
               (int)SLOT_rbac_authorization_v1_ClusterRoleBinding_subjects, "bindings are read alike");
_Static_assert((int)SLOT_rbac_authorization_v1_RoleBinding_roleRef ==
               (int)SLOT_rbac_authorization_v1_ClusterRoleBinding_roleRef, "bindings are read alike");
_Static_assert((int)SLOT_rbac_authorization_v1_RoleBinding_metadata ==
               (int)SLOT_rbac_authorization_v1_ClusterRoleBinding_metadata, "bindings are read alike");

struct rbac_binding {
    struct arena arena;
    struct str key;             /* in the store */
    struct str name, namespace; /* no namespace: a ClusterRoleBinding */
    struct str role_kind, role_name;
    struct value subjects;
    uint64_t seen;  /* the question it was last found for, and where in its grants */
    size_t seen_at;
};

/* A subject of a binding; lists of them are in order of the bindings' keys. */
struct holder {
    struct rbac_binding *binding;
    uint32_t subject;
};

struct holders {
    char *key;
    VEC(struct holder) list;
};

/* A kind of bindings, followed by a watch. */
struct followed {
    const struct resource *resource;
    struct str prefix;
    struct store_watch watch;
    bool begun;
};

enum { FOLLOW_CLUSTER, FOLLOW_NAMESPACED, N_FOLLOWED };

struct rbac {
    struct stored *objects;
    struct arena arena;
    struct followed bindings[N_FOLLOWED];
    struct rbac_roles *roles;
    struct map_str by_key;     /* struct rbac_binding */
    struct map_str by_subject; /* struct holders */
    uint64_t question;
};

/* ---- Whom a binding names ---- */

/* Unambiguous whatever the names are: the namespace's length stands before it. */
static struct str subject_key(struct arena *a, struct str namespace, char kind, struct str name)
{
    return str_of(arena_printf(a, "%zu:%.*s%c%.*s", namespace.n, STR_ARG(namespace), kind, STR_ARG(name)));
}

/* Empty: nobody can be that. */
static struct str key_of_subject(struct arena *a, const struct value *s, struct str namespace)
{
    struct str kind = value_text(value_slot(s, SLOT_rbac_authorization_v1_Subject_kind));
    struct str name = value_text(value_slot(s, SLOT_rbac_authorization_v1_Subject_name));
    struct str ns = value_text(value_slot(s, SLOT_rbac_authorization_v1_Subject_namespace));
    if (str_is(kind, "User"))
        return subject_key(a, namespace, 'U', name);
    if (str_is(kind, "Group"))
        return subject_key(a, namespace, 'G', name);
    if (ns.n == 0)
        ns = namespace;
    if (!str_is(kind, "ServiceAccount") || ns.n == 0)
        return STR("");
    const char *user = arena_printf(a, "system:serviceaccount:%.*s:%.*s", STR_ARG(ns), STR_ARG(name));
    return subject_key(a, namespace, 'U', str_of(user));
}

/* Where the binding is in the list, or would be. */
static size_t place_of(const struct holders *h, const struct rbac_binding *b)
{
    size_t low = 0, high = h->list.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (str_cmp(h->list.at[middle].binding->key, b->key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool stands_at(const struct holders *h, size_t place, const struct rbac_binding *b)
{
    return place < h->list.n && h->list.at[place].binding == b;
}

static void add_holder(struct rbac *r, struct str key, struct rbac_binding *b, uint32_t subject)
{
    union map_value *v = map_str_find(&r->by_subject, key);
    struct holders *h = v ? v->ptr : mem_zalloc(sizeof(*h));
    if (!v) {
        h->key = mem_alloc(key.n);
        memcpy(h->key, key.p, key.n);
        map_str_put(&r->by_subject, (struct str){ h->key, key.n }, NULL)->ptr = h;
    }
    size_t place = place_of(h, b);
    if (!stands_at(h, place, b)) /* named twice: the first time counts */
        vec_insert(&h->list, place, (struct holder){ b, subject });
}

static void free_holders(struct holders *h)
{
    vec_fini(&h->list);
    free(h->key);
    free(h);
}

static void remove_holder(struct rbac *r, struct str key, const struct rbac_binding *b)
{
    union map_value *v = map_str_find(&r->by_subject, key);
    if (!v)
        return; /* named twice, and gone already */
    struct holders *h = v->ptr;
    size_t place = place_of(h, b);
    if (stands_at(h, place, b))
        vec_remove(&h->list, place);
    if (h->list.n == 0) {
        map_str_remove(&r->by_subject, key, NULL);
        free_holders(h);
    }
}

/* ---- Bindings ---- */

static void remove_binding(struct rbac *r, struct str key)
{
    union map_value removed;
    if (!map_str_remove(&r->by_key, key, &removed))
        return;
    struct rbac_binding *b = removed.ptr;
    struct arena scratch;
    arena_init_small(&scratch);
    for (uint32_t i = 0; i < b->subjects.n; i++) {
        struct str subject = key_of_subject(&scratch, &b->subjects.items[i], b->namespace);
        if (subject.n)
            remove_holder(r, subject, b);
    }
    arena_fini(&scratch);
    arena_fini(&b->arena);
    free(b);
}

static void add_binding(struct rbac *r, struct str key, const struct value *v)
{
    const struct value *meta = value_slot(v, SLOT_rbac_authorization_v1_RoleBinding_metadata);
    const struct value *ref = value_slot(v, SLOT_rbac_authorization_v1_RoleBinding_roleRef);
    const struct value *subjects = value_slot(v, SLOT_rbac_authorization_v1_RoleBinding_subjects);
    struct rbac_binding *b = mem_zalloc(sizeof(*b));
    struct arena *a = &b->arena;
    arena_init_small(a);
    b->key = arena_str(a, key);
    b->name = arena_str(a, value_text(value_slot(meta, SLOT_meta_v1_ObjectMeta_name)));
    b->namespace = arena_str(a, value_text(value_slot(meta, SLOT_meta_v1_ObjectMeta_namespace)));
    b->role_kind = arena_str(a, value_text(value_slot(ref, SLOT_rbac_authorization_v1_RoleRef_kind)));
    b->role_name = arena_str(a, value_text(value_slot(ref, SLOT_rbac_authorization_v1_RoleRef_name)));
    b->subjects = subjects->kind == VALUE_LIST ? value_copy(a, subjects) : value_list(NULL, 0);
    map_str_put(&r->by_key, b->key, NULL)->ptr = b;
    struct arena scratch;
    arena_init_small(&scratch);
    for (uint32_t i = 0; i < b->subjects.n; i++) {
        struct str subject = key_of_subject(&scratch, &b->subjects.items[i], b->namespace);
        if (subject.n)
            add_holder(r, subject, b, i);
    }
    arena_fini(&scratch);
}

/* Everything anew: at first, and when the store's log did not reach back to what was seen last. */
static void read_all(struct rbac *r, struct followed *f)
{
    struct arena scratch;
    struct err e;
    struct store_list list;
    struct store *s = stored_store(r->objects);
    arena_init(&scratch);
    err_init(&e, &scratch);
    VEC(struct str) old = { 0 };
    for (struct map_str_slot *slot = NULL; (slot = map_str_next(&r->by_key, slot));)
        if (str_starts(map_str_key(slot), f->prefix))
            vec_push(&old, arena_str(&scratch, map_str_key(slot)));
    for (size_t i = 0; i < old.n; i++)
        remove_binding(r, old.at[i]);
    vec_fini(&old);
    enum err_code rc = store_list(s, &(struct store_range){ .prefix = f->prefix }, &scratch, &list, &e);
    assert(rc == ERR_OK); /* the newest state is always there */
    for (size_t i = 0; i < list.n; i++)
        add_binding(r, store_item_key(list.items[i]), stored_value(r->objects, f->resource, list.items[i]));
    rc = store_watch_init(s, &f->watch, f->prefix, list.revision, &e);
    assert(rc == ERR_OK);
    f->begun = true;
    arena_fini(&scratch);
}

static void follow_bindings(struct rbac *r, struct followed *f)
{
    struct store_event event;
    enum err_code rc = ERR_EXPIRED;
    while (f->begun && !(rc = store_watch_next(stored_store(r->objects), &f->watch, &event))) {
        struct str key = store_item_key(event.item ? event.item : event.prev);
        remove_binding(r, key);
        /* Of several changes of one binding only the last is of interest, and it may be deleted by now. */
        struct store_item *now = event.item ? store_get(stored_store(r->objects), key) : NULL;
        if (now)
            add_binding(r, key, stored_value(r->objects, f->resource, now));
    }
    if (rc == ERR_EXPIRED)
        read_all(r, f);
}

/* ---- Roles that bindings lead to ---- */

static const char *missing_text(struct arena *a, struct str kind, struct str name)
{
    if (!str_is(kind, "ClusterRole") && !str_is(kind, "Role"))
        return arena_printf(a, "unsupported role reference kind: \"%.*s\"", STR_ARG(kind));
    return arena_printf(a, "%s." RBAC_GROUP " \"%.*s\" not found", str_is(kind, "Role") ? "role" : "clusterrole",
                        STR_ARG(name));
}

static void follow(struct rbac *r)
{
    for (size_t i = 0; i < N_FOLLOWED; i++)
        follow_bindings(r, &r->bindings[i]);
    rbac_roles_follow(r->roles);
}

enum err_code rbac_role_rules(struct rbac *r, struct str kind, struct str name, struct str namespace,
                              const struct rbac_rules **ret_rules, struct err *e)
{
    follow(r);
    const struct rbac_rules *rules = rbac_roles_find(r->roles, kind, name, namespace);
    if (!rules)
        return err_set(e, ERR_NOT_FOUND, "%s", missing_text(e->arena, kind, name));
    *ret_rules = rules;
    return ERR_OK;
}

/* ---- Questions ---- */

struct finding {
    struct rbac *r;
    struct arena *arena;
    VEC(struct rbac_grant) grants;
};

static void find_holders(struct finding *f, struct str namespace, char kind, struct str name)
{
    const union map_value *v = map_str_find(&f->r->by_subject, subject_key(f->arena, namespace, kind, name));
    const struct holders *h = v ? v->const_ptr : NULL;
    for (size_t i = 0; h && i < h->list.n; i++) {
        struct rbac_binding *b = h->list.at[i].binding;
        uint32_t subject = h->list.at[i].subject;
        if (b->seen == f->r->question) {
            struct rbac_grant *known = &f->grants.at[b->seen_at];
            known->subject = subject < known->subject ? subject : known->subject;
            continue;
        }
        b->seen = f->r->question;
        b->seen_at = f->grants.n;
        const struct rbac_rules *rules = rbac_roles_find(f->r->roles, b->role_kind, b->role_name, b->namespace);
        const char *error = rules ? NULL : missing_text(f->arena, b->role_kind, b->role_name);
        vec_push(&f->grants, (struct rbac_grant){ b, rules, error, subject });
    }
}

static void find_in(struct finding *f, const struct user *u, struct str namespace)
{
    find_holders(f, namespace, 'U', u->name);
    for (size_t i = 0; i < u->groups.n; i++)
        find_holders(f, namespace, 'G', u->groups.at[i]);
}

struct rbac_grants rbac_grants_of(struct rbac *r, struct arena *a, const struct user *u, struct str namespace)
{
    struct finding f = { .r = r, .arena = a };
    follow(r);
    r->question++;
    find_in(&f, u, STR(""));
    if (namespace.n)
        find_in(&f, u, namespace);
    struct rbac_grants grants = { ARENA_NEW_N(a, struct rbac_grant, f.grants.n), f.grants.n };
    if (grants.n)
        memcpy(grants.at, f.grants.at, grants.n * sizeof(grants.at[0]));
    vec_fini(&f.grants);
    return grants;
}

/* `RoleBinding "x/ns" of Role "y" to ServiceAccount "z/ns"` */
static void add_source(struct strbuf *to, struct arena *a, const struct rbac_grant *g)
{
    const struct rbac_binding *b = g->binding;
    const struct value *s = &b->subjects.items[g->subject];
    struct str kind = value_text(value_slot(s, SLOT_rbac_authorization_v1_Subject_kind));
    struct str name = value_text(value_slot(s, SLOT_rbac_authorization_v1_Subject_name));
    struct str ns = value_text(value_slot(s, SLOT_rbac_authorization_v1_Subject_namespace));
    struct str binding = b->name;
    if (b->namespace.n)
        binding = str_of(arena_printf(a, "%.*s/%.*s", STR_ARG(b->name), STR_ARG(b->namespace)));
    if (str_is(kind, "ServiceAccount"))
        name = str_of(arena_printf(a, "%.*s/%.*s", STR_ARG(name), STR_ARG(ns.n ? ns : b->namespace)));
    strbuf_add_text(to, b->namespace.n ? "RoleBinding " : "ClusterRoleBinding ");
    strbuf_add_quoted(to, binding);
    strbuf_printf(to, " of %.*s ", STR_ARG(b->role_kind));
    strbuf_add_quoted(to, b->role_name);
    strbuf_printf(to, " to %.*s ", STR_ARG(kind));
    strbuf_add_quoted(to, name);
}

/* As upstream's Aggregate: alone if there is one, else in brackets; a text that repeats is shown once. */
struct str rbac_errors(struct arena *a, const struct rbac_grants *grants)
{
    struct map_str seen;
    struct strbuf text;
    map_str_init(&seen);
    strbuf_init(&text, ERR_MESSAGE_BYTES_MAX);
    for (size_t i = 0; i < grants->n; i++) {
        bool is_new = false;
        if (grants->at[i].error)
            map_str_put(&seen, str_of(grants->at[i].error), &is_new);
        if (!is_new)
            continue;
        if (text.n)
            STRBUF_ADD_LIT(&text, ", ");
        strbuf_add_text(&text, grants->at[i].error);
    }
    struct str joined = arena_str(a, strbuf_str(&text));
    if (seen.n > 1)
        joined = str_of(arena_printf(a, "[%.*s]", STR_ARG(joined)));
    strbuf_fini(&text);
    map_str_fini(&seen);
    return joined;
}

enum authz_verdict rbac_decide(struct rbac *r, struct arena *a, const struct authz_attributes *q,
                               struct str *ret_reason)
{
    struct rbac_grants grants = rbac_grants_of(r, a, q->user, q->namespace);
    for (size_t i = 0; i < grants.n; i++) {
        if (!grants.at[i].rules || !rbac_rules_allow(grants.at[i].rules, q))
            continue;
        struct strbuf reason;
        strbuf_init(&reason, STRBUF_NO_MAX);
        STRBUF_ADD_LIT(&reason, "RBAC: allowed by ");
        add_source(&reason, a, &grants.at[i]);
        *ret_reason = arena_str(a, strbuf_str(&reason));
        strbuf_fini(&reason);
        return AUTHZ_ALLOW;
    }
    struct str errors = rbac_errors(a, &grants);
    *ret_reason = errors.n ? str_of(arena_printf(a, "RBAC: %.*s", STR_ARG(errors))) : STR("");
    return AUTHZ_NO_OPINION;
}

/* ---- Beginning and end ---- */

struct rbac *rbac_new(struct stored *objects)
{
    static const char *const bindings[N_FOLLOWED] = { "clusterrolebindings", "rolebindings" };
    struct rbac *r = mem_zalloc(sizeof(*r));
    r->objects = objects;
    arena_init_small(&r->arena);
    map_str_init(&r->by_key);
    map_str_init(&r->by_subject);
    r->roles = rbac_roles_new(objects);
    for (size_t i = 0; i < N_FOLLOWED; i++) {
        r->bindings[i].resource = stored_resource(bindings[i], RBAC_GROUP);
        r->bindings[i].prefix = stored_prefix(&r->arena, r->bindings[i].resource, STR(""));
    }
    return r;
}

void rbac_free(struct rbac *r)
{
    if (!r)
        return;
    for (struct map_str_slot *slot = NULL; (slot = map_str_next(&r->by_subject, slot));)
        free_holders(slot->value.ptr);
    for (struct map_str_slot *slot = NULL; (slot = map_str_next(&r->by_key, slot));) {
        struct rbac_binding *b = slot->value.ptr;
        arena_fini(&b->arena);
        free(b);
    }
    rbac_roles_free(r->roles);
    map_str_fini(&r->by_key);
    map_str_fini(&r->by_subject);
    arena_fini(&r->arena);
    free(r);
}
