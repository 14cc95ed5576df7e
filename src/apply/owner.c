/* apply/owner.c - see owner.h, and what apply.h promises of updates. */
#include "apply/owner.h"

#include "api/edit.h"
#include "apply/view.h"
#include "apply/walk.h"

/* ---- What nobody owns ---- */

#define FIELD_STEP(literal) { .kind = PATH_FIELD, .n = sizeof(literal) - 1, .name = (literal) }
#define MEMBER_NODE(literal) { .at = FIELD_STEP(literal), .marks = SET_MEMBER }

static struct set_node never_owned_meta[] = { /* by ascending name */
    MEMBER_NODE("clusterName"),   MEMBER_NODE("creationTimestamp"), MEMBER_NODE("generation"),
    MEMBER_NODE("managedFields"), MEMBER_NODE("name"),              MEMBER_NODE("namespace"),
    MEMBER_NODE("resourceVersion"), MEMBER_NODE("selfLink"),        MEMBER_NODE("uid"),
};
static struct set_node never_owned[] = {
    MEMBER_NODE("apiVersion"),
    MEMBER_NODE("kind"),
    { .at = FIELD_STEP("metadata"), .marks = SET_MEMBER,
      .below = { never_owned_meta, sizeof(never_owned_meta) / sizeof(never_owned_meta[0]) } },
};

struct field_set write_strip(const struct write *w, struct field_set s)
{
    return set_difference(w->arena, s, (struct field_set){ never_owned, sizeof(never_owned) / sizeof(never_owned[0]) });
}

/* "metadata.deletionTimestamp" to a set of one member. */
static struct field_set set_of_path(struct arena *a, struct str path)
{
    size_t dot = str_index(path, '.');
    struct set_node *node = ARENA_NEW(a, struct set_node);
    node->at = path_field(str_first(path, dot));
    if (dot < path.n)
        node->below = set_of_path(a, str_from(path, dot + 1));
    else
        node->marks = SET_MEMBER;
    return (struct field_set){ node, 1 };
}

struct write write_begin(struct arena *a, const struct type *t, const struct apply_manager *m)
{
    struct write w = { .arena = a, .type = t, .by = m };
    for (const char *const *path = m->reset_fields; path && *path; path++)
        w.reset = set_union(a, w.reset, set_of_path(a, str_of(*path)));
    return w;
}

/* ---- Objects ---- */

struct value write_with_managed(const struct write *w, const struct value *object, struct value managed)
{
    return edit_set(w->arena, w->type, object, "metadata.managedFields", managed);
}

const struct value *write_managed(const struct write *w, const struct value *object)
{
    static const struct value none;
    return object ? value_path(w->type, object, "metadata.managedFields") : &none;
}

struct value write_bare(const struct write *w, const struct value *object)
{
    if (!object)
        return (struct value){ 0 };
    struct value bare = write_with_managed(w, object, (struct value){ 0 });
    if (w->type->flags & TYPE_OBJECT)
        bare.slots[SLOT_KIND] = bare.slots[SLOT_API_VERSION] = (struct value){ 0 };
    return bare;
}

/* ---- Versions ---- */

bool write_speaks(const struct write *w, const struct managed_entry *entry)
{
    return str_eq(entry->api_version, w->by->api_version);
}

/* Events are served in two groups, all else in one. */
static bool same_kind_elsewhere(const struct write *w, struct str api_version)
{
    struct str group, version, our_group, our_version;
    schema_split_api_version(api_version, &group, &version);
    schema_split_api_version(w->by->api_version, &our_group, &our_version);
    const struct type *t = schema_object_type(api_version, w->type->kind);
    if (!t || (!str_eq(group, our_group) && !str_is(t->kind, "Event")))
        return false;
    for (size_t i = 0; i < schema_n_resources; i++)
        if (schema_resources[i].type == t && schema_resources[i].served)
            return true;
    return false;
}

static bool is_version(struct str api_version)
{
    size_t slash = str_index(api_version, '/');
    struct str rest = str_from(api_version, slash + 1);
    return str_index(rest, '/') == rest.n;
}

bool write_reconcile(const struct write *w, struct managed *m)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        struct managed_entry entry = m->entries[i];
        if (!is_version(entry.api_version))
            return false;
        if (write_speaks(w, &entry))
            entry.set = walk_reconcile(w->arena, place_of_type(w->type), entry.set);
        else if (!same_kind_elsewhere(w, entry.api_version))
            continue;
        m->entries[kept++] = entry;
    }
    m->n = kept;
    return true;
}

/* ---- Updates ---- */

void write_take(const struct write *w, struct managed *m, struct field_set changes, const struct managed_entry *but)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (&m->entries[i] != but && write_speaks(w, &m->entries[i]))
            m->entries[i].set = set_difference(w->arena, m->entries[i].set, changes);
}

static struct field_set changes_between(const struct write *w, const struct value *live, const struct value *new)
{
    struct value was, is;
    if (!view_changes(w->arena, w->type, live, new, &was, &is))
        return (struct field_set){ 0 };
    return set_without(w->arena, walk_compare(w->arena, place_of_type(w->type), &was, &is), w->reset);
}

bool write_note(const struct write *w, struct managed *m, struct str manager, const struct value *live,
                const struct value *new)
{
    struct arena *a = w->arena;
    if (!write_reconcile(w, m) || !view_has_keys(a, w->type, live) || !view_has_keys(a, w->type, new))
        return false;
    struct field_set changes = changes_between(w, live, new);
    write_take(w, m, changes, NULL);
    struct field_set own = write_strip(w, set_pick(a, changes, SET_ADDED | SET_MODIFIED));
    if (own.n) {
        struct managed_entry who = { .manager = manager.n ? manager : STR("unknown"),
                                     .api_version = w->by->api_version, .subresource = w->by->subresource };
        struct managed_entry *entry = managed_entry_of(a, m, who);
        entry->set = set_union(a, own, entry->set);
        entry->time = value_time(w->by->now_s, 0);
    }
    managed_cap(a, m);
    return true;
}

/* ---- Which managedFields count ---- */

/* A list without entries, or with one that says nothing, asks for a new start. */
static bool asks_for_reset(const struct value *list)
{
    if (list->kind != VALUE_LIST || list->n > 1)
        return false;
    const struct value *entry = list->n ? &list->items[0] : NULL;
    for (uint32_t i = 0; entry && entry->kind == VALUE_STRUCT && i < entry->n; i++) {
        const struct value *slot = &entry->slots[i];
        bool empty_text = slot->kind == VALUE_STRING && slot->n == 0;
        if (slot->kind != VALUE_ABSENT && !empty_text)
            return false;
    }
    return true;
}

static struct managed read_or_none(struct arena *a, const struct value *list)
{
    struct managed m = { 0 };
    struct err e;
    err_init(&e, a);
    return managed_read(a, list, &m, &e) ? (struct managed){ 0 } : m;
}

/* Those of the request, so that they can be edited, if they can be read and say anything; else those of the object, for
 * clients that do not know them. Through a subresource they cannot be edited. */
static struct managed managed_of(const struct write *w, const struct value *live, const struct value *new)
{
    const struct value *given = write_managed(w, new), *stored = write_managed(w, live);
    if (w->by->subresource.n)
        return read_or_none(w->arena, stored);
    if (asks_for_reset(given))
        return (struct managed){ 0 };
    struct managed m = read_or_none(w->arena, given);
    return managed_any(&m) ? m : read_or_none(w->arena, stored);
}

struct value apply_note_update(struct arena *a, const struct type *t, const struct value *live, const struct value *new,
                               const struct apply_manager *by)
{
    struct write w = write_begin(a, t, by);
    struct managed m = managed_of(&w, live, new);
    const struct value none = { 0 };
    bool exists = live && value_text(value_path(t, live, "metadata.uid")).n;
    struct value old_bare = write_bare(&w, live), new_bare = write_bare(&w, new);
    bool tracked = managed_any(&m) || !exists; /* an object that was never tracked is so from its first apply on */
    bool noted = tracked && write_note(&w, &m, by->name, &old_bare, &new_bare);
    return write_with_managed(&w, new, noted ? managed_write(a, &m) : none);
}

/* ---- Times ---- */

/* All but the times. */
static bool entries_alike(const struct value *x, const struct value *y)
{
    if (x->kind != VALUE_STRUCT || y->kind != VALUE_STRUCT || x->n != y->n)
        return false;
    for (uint32_t i = 0; i < x->n; i++)
        if (i != ENTRY_TIME && !value_equal(&x->slots[i], &y->slots[i]))
            return false;
    return true;
}

static bool lists_alike(const struct value *x, const struct value *y)
{
    if (x->kind != VALUE_LIST || y->kind != VALUE_LIST || x->n != y->n)
        return false;
    for (uint32_t i = 0; i < x->n; i++)
        if (!entries_alike(&x->items[i], &y->items[i]))
            return false;
    return true;
}

struct value apply_keep_times(struct arena *a, const struct type *t, const struct value *live,
                              const struct value *object)
{
    const struct apply_manager nobody = { 0 };
    struct write w = write_begin(a, t, &nobody);
    const struct value *stored = write_managed(&w, live), *given = write_managed(&w, object);
    if (!lists_alike(stored, given))
        return *object;
    struct value old_bare = write_bare(&w, live), new_bare = write_bare(&w, object), was, is;
    return view_changes(a, t, &old_bare, &new_bare, &was, &is) ? *object : write_with_managed(&w, object, *stored);
}
