/* sim/volumes.c - see volumes.h. */
#include "sim/volumes.h"

/* Another version than all others of the object, so that the scheduler's assumptions about the old one
 * end. */
static const char *next_version(struct arena *a, const struct typed_meta *meta)
{
    return arena_printf(a, "%s+", meta->resource_version);
}

static void bind_one(const struct objects *objects, struct sym_table *syms, sym ns, const struct volume_binding *b,
                     sim_new_form_vec *to)
{
    const struct pv *volume = objects_get(objects, OBJECT_PERSISTENT_VOLUME, SYM_EMPTY, str_of(b->volume));
    const struct pvc *claim = objects_get(objects, OBJECT_PERSISTENT_VOLUME_CLAIM, ns, str_of(b->claim));
    if (!volume || !claim)
        return;
    struct arena a;
    arena_init(&a);
    struct claim_ref ref = { .name = b->claim, .uid = b->claim_uid, .ns = ns };
    const struct pv *bound_volume = pv_bound(syms, volume, &ref, next_version(&a, &volume->meta));
    const struct pvc *bound_claim = pvc_bound(syms, claim, b->volume, next_version(&a, &claim->meta));
    vec_push(to, (struct sim_new_form){ OBJECT_PERSISTENT_VOLUME, bound_volume });
    vec_push(to, (struct sim_new_form){ OBJECT_PERSISTENT_VOLUME_CLAIM, bound_claim });
    arena_fini(&a);
}

void sim_bind_volumes(const struct objects *objects, struct sym_table *syms, const struct volume_decisions *decisions,
                      sim_new_form_vec *to)
{
    for (uint32_t i = 0; i < decisions->n_bindings; i++)
        bind_one(objects, syms, decisions->ns, &decisions->bindings[i], to);
}

void sim_new_forms_reset(struct sym_table *syms, sim_new_form_vec *forms)
{
    for (size_t i = 0; i < forms->n; i++)
        object_unref(syms, forms->at[i].kind, forms->at[i].form);
    vec_reset(forms);
}
