/* forms/inputs.c - metadata, texts and syms; selectors are in inputs_match.c. See inputs.h. */
#include "forms/inputs.h"

#include "api/schema_slots.h"
#include "api/time.h"
#include "base/mem.h"
#include "base/sort.h"

/* ---- Tables ---- */

static const struct fill_row owner_rows[] = {
    [SLOT_meta_v1_OwnerReference_apiVersion] = FILL_STR(struct owner_in, api_version),
    [SLOT_meta_v1_OwnerReference_kind] = FILL_STR(struct owner_in, kind),
    [SLOT_meta_v1_OwnerReference_name] = FILL_STR(struct owner_in, name),
    [SLOT_meta_v1_OwnerReference_uid] = FILL_STR(struct owner_in, uid),
    [SLOT_meta_v1_OwnerReference_controller] = FILL_BOOL(struct owner_in, controller),
};
static const struct fill_type owner_type = FILL_TYPE(meta_v1_OwnerReference, struct owner_in, owner_rows);

#define META_ROWS                                                                                  \
    [SLOT_meta_v1_ObjectMeta_name] = FILL_STR(struct meta_in, name),                               \
    [SLOT_meta_v1_ObjectMeta_namespace] = FILL_STR(struct meta_in, ns),                            \
    [SLOT_meta_v1_ObjectMeta_uid] = FILL_STR(struct meta_in, uid),                                 \
    [SLOT_meta_v1_ObjectMeta_resourceVersion] = FILL_STR(struct meta_in, resource_version),        \
    [SLOT_meta_v1_ObjectMeta_generation] = FILL_INT(struct meta_in, generation),                   \
    [SLOT_meta_v1_ObjectMeta_deletionTimestamp] = FILL_TIME(struct meta_in, deletion_time),        \
    [SLOT_meta_v1_ObjectMeta_labels] = FILL_MAP(struct meta_in, labels),                           \
    [SLOT_meta_v1_ObjectMeta_ownerReferences] = FILL_LIST(struct meta_in, owners, &owner_type)

static const struct fill_row meta_rows[] = { META_ROWS };
const struct fill_type fill_meta = FILL_TYPE(meta_v1_ObjectMeta, struct meta_in, meta_rows);

static const struct fill_row annotated_rows[] = {
    META_ROWS,
    [SLOT_meta_v1_ObjectMeta_annotations] = FILL_MAP(struct meta_in, annotations),
};
const struct fill_type fill_meta_annotated = FILL_TYPE(meta_v1_ObjectMeta, struct meta_in, annotated_rows);

/* ---- Texts and syms ---- */

const char *build_text(struct build *b, struct str s)
{
    return arena_cstr(b->arena, str_first(s, str_index(s, '\0')));
}

enum err_code build_name(struct build *b, struct str s, const char *what, const char **ret_name)
{
    if (str_index(s, '\0') < s.n)
        return err_set(b->e, ERR_INVALID, "%s: Invalid value: holds a NUL character", what);
    *ret_name = arena_cstr(b->arena, s);
    return ERR_OK;
}

const sym *build_syms(struct build *b, const struct str *at, size_t n)
{
    sym *syms = arena_alloc(b->arena, mem_product(n, sizeof(*syms)));
    for (size_t i = 0; i < n; i++)
        syms[i] = build_sym(b, at[i]);
    return syms;
}

static int compare_syms(const void *a, const void *b)
{
    sym left = *(const sym *)a, right = *(const sym *)b;
    return (left > right) - (left < right);
}

const sym *build_sym_set(struct build *b, const struct str *at, size_t n, size_t *ret_n)
{
    sym *syms = walk_into(build_syms(b, at, n));
    if (n > 1)
        sort_stable(b->arena, syms, n, sizeof(*syms), compare_syms);
    size_t n_left = 0;
    for (size_t i = 0; i < n; i++) {
        if (n_left && syms[n_left - 1] == syms[i])
            sym_unref(b->syms, syms[i]);
        else
            syms[n_left++] = syms[i];
    }
    *ret_n = n_left;
    return syms;
}

static int compare_pairs(const void *a, const void *b)
{
    return compare_syms(&((const struct label_pair *)a)->key, &((const struct label_pair *)b)->key);
}

/* Labels are few: insertion is faster than a merge, and nearly free when objects repeat. */
enum { LABELS_INSERTED_MAX = 16 };

static void sort_pairs(struct build *b, struct label_pair *pairs, size_t n)
{
    if (n > LABELS_INSERTED_MAX) {
        sort_stable(b->arena, pairs, n, sizeof(*pairs), compare_pairs);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        struct label_pair pair = pairs[i];
        size_t k = i;
        for (; k > 0 && pairs[k - 1].key > pair.key; k--)
            pairs[k] = pairs[k - 1];
        pairs[k] = pair;
    }
}

struct label_set build_labels(struct build *b, const fill_map *map)
{
    struct label_pair *pairs = arena_alloc(b->arena, mem_product(map->n, sizeof(*pairs)));
    for (uint32_t i = 0; i < map->n; i++)
        pairs[i] = (struct label_pair){ build_sym(b, map->at[i].key), build_sym(b, map->at[i].value) };
    sort_pairs(b, pairs, map->n);
    uint32_t n = 0;
    for (uint32_t i = 0; i < map->n; i++) {
        if (n && pairs[n - 1].key == pairs[i].key) { /* the last one counts */
            n--;
            sym_unref(b->syms, pairs[n].key);
            sym_unref(b->syms, pairs[n].value);
        }
        pairs[n++] = pairs[i];
    }
    return (struct label_set){ pairs, n };
}

int64_t build_seconds(const struct fill_time *t)
{
    bool none = !t->given || t->seconds == TIMESTAMP_ZERO.seconds;
    return none ? TYPED_TIME_NONE : t->seconds;
}

int64_t build_micros(const struct fill_time *t)
{
    int64_t micros;
    bool none = !t->given || (t->seconds == TIMESTAMP_ZERO.seconds && t->nanos == 0);
    if (none || __builtin_mul_overflow(t->seconds, 1000000, &micros) ||
        __builtin_add_overflow(micros, t->nanos / 1000, &micros))
        return TYPED_TIME_NONE;
    return micros;
}

/* ---- Metadata ---- */

enum err_code build_meta(struct build *b, const struct meta_in *in, struct typed_meta *meta)
{
    meta->ns = build_sym(b, in->ns);
    meta->labels = build_labels(b, &in->labels);
    if (build_name(b, in->name, "metadata.name", &meta->name) ||
        build_name(b, in->uid, "metadata.uid", &meta->uid) ||
        build_name(b, in->resource_version, "metadata.resourceVersion", &meta->resource_version))
        return b->e->code;
    return ERR_OK;
}

enum err_code build_controller(struct build *b, const struct meta_in *in, const struct owner_ref **ret_owner)
{
    for (uint32_t i = 0; i < in->owners.n; i++) {
        const struct owner_in *o = &in->owners.at[i];
        if (o->controller != 1)
            continue;
        const char *uid = NULL;
        if (build_name(b, o->uid, "metadata.ownerReferences.uid", &uid))
            return b->e->code;
        struct owner_ref *owner = ARENA_NEW(b->arena, struct owner_ref);
        *owner = (struct owner_ref){ uid, build_sym(b, o->api_version), build_sym(b, o->kind),
                                     build_sym(b, o->name) };
        *ret_owner = owner;
        return ERR_OK;
    }
    return ERR_OK;
}
