/* apply/merge.c - a request of server-side apply: see apply.h.
 *
 * The client's document stays as it was sent, a plain value: quantities and times in it are texts, and a null is there.
 * It is merged into the view of the object, what the client applied the last time and now leaves out is taken away, and
 * only then the result becomes an object of the type.
 *
 * Upstream: apimachinery, managedfields/internal; structured-merge-diff, merge. */
#include "api/edit.h"
#include "apply/last_applied.h"
#include "apply/owner.h"
#include "apply/view.h"
#include "apply/walk.h"
#include "base/arena_array.h"
#include "base/sort.h"
#include "codec/json.h"
#include "codec/yaml.h"
#include "patch/patch.h"

struct conflict {
    const struct managed_entry *with;
    struct str identity; /* orders them */
    struct field_set fields;
};

struct request {
    struct write write;
    const struct apply_patch *patch;
    const struct value *live; /* or NULL */
    struct value bare, view;  /* of live; the view has kind and apiVersion */
    struct value config;
    struct managed stored;
    struct err *e;
};

/* What an attempt leads to. */
struct attempt {
    struct managed managed;
    struct value merged;
    bool changed; /* the object, not only who owns it */
    struct conflict *conflicts;
    uint32_t n_conflicts;
};

static struct place root(const struct request *r)
{
    return place_of_type(r->write.type);
}

/* ---- The document ---- */

static void numbers_to_doubles(struct value *v)
{
    if (v->kind == VALUE_INT)
        *v = value_double((double)v->i);
    for (uint32_t i = 0; v->kind == VALUE_LIST && i < v->n; i++)
        numbers_to_doubles(&v->items[i]);
    for (uint32_t i = 0; v->kind == VALUE_MAP && i < v->n; i++)
        numbers_to_doubles(&v->members[i].value);
}

/* A number that no double can hold, or NULL. */
static const struct value *huge_number(const struct value *v)
{
    const struct value *found = v->kind == VALUE_RAW ? v : NULL;
    for (uint32_t i = 0; v->kind == VALUE_LIST && i < v->n && !found; i++)
        found = huge_number(&v->items[i]);
    for (uint32_t i = 0; v->kind == VALUE_MAP && i < v->n && !found; i++)
        found = huge_number(&v->members[i].value);
    return found;
}

#define DECODING "error decoding YAML: error "

static enum err_code not_a_map(struct request *r)
{
    static const char *const names[] = { [VALUE_BOOL] = "bool", [VALUE_INT] = "number", [VALUE_DOUBLE] = "number",
                                         [VALUE_STRING] = "string", [VALUE_LIST] = "array", [VALUE_RAW] = "number" };
    return err_set(r->e, ERR_BAD_REQUEST,
                   DECODING "unmarshaling JSON: while decoding JSON: json: cannot unmarshal %s into Go value of type "
                            "map[string]interface {}", names[r->config.kind]);
}

static enum err_code read_config(struct request *r)
{
    struct arena *a = r->write.arena;
    struct str json;
    if (yaml_to_json(a, r->patch->work, r->patch->body, NULL, &json, r->e)) {
        if (r->e->code != ERR_BAD_REQUEST)
            return r->e->code;
        return err_wrap(r->e, DECODING "converting YAML to JSON");
    }
    if (json_decode_plain(a, r->patch->work, json, &r->config, r->e))
        return err_wrap(r->e, DECODING "unmarshaling JSON: while decoding JSON");
    if (r->config.kind == VALUE_NULL)
        r->config = value_map(NULL, 0);
    if (r->config.kind != VALUE_MAP)
        return not_a_map(r);
    const struct value *huge = huge_number(&r->config);
    if (huge)
        return err_set(r->e, ERR_BAD_REQUEST,
                       DECODING "unmarshaling JSON: while decoding JSON: json: cannot unmarshal number %.*s into Go "
                                "value of type float64", STR_ARG(err_shown(r->e, value_text(huge))));
    numbers_to_doubles(&r->config);
    return ERR_OK;
}

static struct str text_at(const struct value *map, struct str key)
{
    const struct value *v = value_member(map, key);
    return v && v->kind == VALUE_STRING ? value_text(v) : (struct str){ "", 0 };
}

static const struct value *metadata_of(const struct value *config)
{
    static const struct value none;
    const struct value *meta = value_member(config, STR("metadata"));
    return meta ? meta : &none;
}

/* "apps/v1, Kind=Deployment"; of a version that cannot be read nothing remains. */
static const char *shown_kind(struct request *r)
{
    struct str kind = text_at(&r->config, STR("kind")), group, version;
    struct str api_version = text_at(&r->config, STR("apiVersion"));
    schema_split_api_version(api_version, &group, &version);
    if (str_index(version, '/') < version.n)
        group = version = kind = STR("");
    group = err_shown(r->e, group);
    version = err_shown(r->e, version);
    kind = err_shown(r->e, kind);
    return arena_printf(r->write.arena, "%.*s/%.*s, Kind=%.*s", STR_ARG(group), STR_ARG(version), STR_ARG(kind));
}

/* "default/web; apps/v1, Kind=Deployment" */
static const char *shown_object(struct request *r)
{
    const struct value *meta = metadata_of(&r->config);
    struct str namespace = err_shown(r->e, text_at(meta, STR("namespace")));
    struct str name = err_shown(r->e, text_at(meta, STR("name")));
    return arena_printf(r->write.arena, "%.*s/%.*s; %s", STR_ARG(namespace), STR_ARG(name), shown_kind(r));
}

static enum err_code check_kind(struct request *r)
{
    bool same = str_eq(text_at(&r->config, STR("apiVersion")), r->patch->api_version) &&
                str_eq(text_at(&r->config, STR("kind")), r->patch->kind);
    return same ? ERR_OK : err_set(r->e, ERR_BAD_REQUEST, "invalid object type: %s", shown_kind(r));
}

static enum err_code check_config(struct request *r)
{
    const struct value *managed = value_member(metadata_of(&r->config), STR("managedFields"));
    if (managed && managed->kind == VALUE_LIST)
        return err_set(r->e, ERR_BAD_REQUEST, "metadata.managedFields must be nil");
    if (walk_check(r->write.arena, root(r), &r->config, false, r->e))
        return err_wrap(r->e, "failed to create typed patch object (%s)", shown_object(r));
    return ERR_OK;
}

/* ---- Taking away what is applied no more ---- */

static struct field_set named_set(struct request *r, const struct value *v)
{
    struct arena *a = r->write.arena;
    return walk_with_named(a, root(r), walk_set(a, root(r), v));
}

static struct field_set all_owned(struct request *r, const struct managed *m)
{
    struct arena *a = r->write.arena;
    struct field_set *sets = arena_alloc(a, m->n * sizeof(*sets));
    for (uint32_t i = 0; i < m->n; i++)
        sets[i] = m->entries[i].set;
    return walk_with_named(a, root(r), set_union_all(a, sets, m->n));
}

/* What the manager applied last time goes, unless anybody owns it, the manager's new document included. In the second
 * step everything without an owner would go; in the third it comes back unless the manager had applied it. */
static struct value prune(struct request *r, const struct managed *m, const struct value *merged, struct field_set last)
{
    struct arena *a = r->write.arena;
    if (last.n == 0)
        return *merged;
    last = walk_with_named(a, root(r), last);
    struct field_set everything = named_set(r, merged);
    struct value pruned = walk_remove(a, root(r), merged, last);
    struct field_set kept = set_union(a, named_set(r, &pruned), all_owned(r, m));
    pruned = walk_remove(a, root(r), merged, set_difference(a, everything, kept));
    struct field_set gone = set_difference(a, everything, named_set(r, &pruned));
    return walk_remove(a, root(r), merged, set_intersection(a, gone, last));
}

/* ---- Conflicts ---- */

static int compare_conflicts(const void *a, const void *b)
{
    return str_cmp(((const struct conflict *)a)->identity, ((const struct conflict *)b)->identity);
}

static void find_conflicts(struct request *r, struct attempt *t, const struct managed_entry *own,
                           struct field_set changes)
{
    struct arena *a = r->write.arena;
    struct field_set changed = set_pick(a, changes, SET_ADDED | SET_MODIFIED);
    t->conflicts = arena_alloc(a, t->managed.n * sizeof(*t->conflicts));
    for (uint32_t i = 0; i < t->managed.n; i++) {
        const struct managed_entry *entry = &t->managed.entries[i];
        if (entry == own || !write_speaks(&r->write, entry))
            continue;
        struct field_set both = set_intersection(a, entry->set, changed);
        if (both.n)
            t->conflicts[t->n_conflicts++] = (struct conflict){ entry, managed_identity(a, entry), both };
    }
    sort_stable(a, t->conflicts, t->n_conflicts, sizeof(*t->conflicts), compare_conflicts);
}

/* Conflicts as causes of a Status, and as its message. */
struct telling {
    struct arena *arena;
    struct apply_conflict *causes;
    size_t n, cap;
    struct str manager;
    struct strbuf lines;
};

static void tell(void *user, const struct path_step *const *path, uint32_t n_steps)
{
    struct telling *t = user;
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (uint32_t i = 0; i < n_steps; i++)
        path_add_text(&b, path[i]);
    t->causes = arena_array_more(t->arena, t->causes, t->n, &t->cap, sizeof(*t->causes));
    t->causes[t->n++] = (struct apply_conflict){ t->manager, arena_str(t->arena, strbuf_str(&b)) };
    STRBUF_ADD_LIT(&t->lines, "\n- ");
    strbuf_add_str(&t->lines, strbuf_str(&b));
    strbuf_fini(&b);
}

static enum err_code report_conflicts(struct request *r, const struct attempt *a, struct apply_outcome *outcome)
{
    struct telling t = { .arena = r->write.arena };
    strbuf_init(&t.lines, STRBUF_NO_MAX);
    for (uint32_t i = 0; i < a->n_conflicts; i++) {
        t.manager = managed_shown(t.arena, a->conflicts[i].with);
        strbuf_printf(&t.lines, "%sconflicts with %.*s:", i ? "\n" : "", STR_ARG(t.manager));
        set_each(a->conflicts[i].fields, tell, &t);
    }
    outcome->conflicts = t.causes;
    outcome->n_conflicts = (uint32_t)t.n;
    if (t.n == 1)
        err_set(r->e, ERR_CONFLICT, "Apply failed with 1 conflict: conflict with %.*s: %.*s",
                STR_ARG(t.causes[0].manager_text), STR_ARG(t.causes[0].field));
    else
        err_set(r->e, ERR_CONFLICT, "Apply failed with %zu conflicts: %.*s", t.n, STR_ARG(strbuf_str(&t.lines)));
    strbuf_fini(&t.lines);
    return ERR_CONFLICT;
}

/* kubectl may take from others what it applied itself before, from the client's side: see last_applied.h. Returns
 * whether nothing else is in dispute. */
static bool forgive_last_applied(struct request *r, struct attempt *t)
{
    struct field_set allowed;
    if (!last_applied_set(&r->write, r->patch->work, r->live, &r->view, r->patch->kind, &allowed))
        return false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_conflicts; i++) {
        struct conflict c = t->conflicts[i];
        c.fields = set_difference(r->write.arena, c.fields, allowed);
        if (c.fields.n)
            t->conflicts[n++] = c;
    }
    t->n_conflicts = n;
    return n == 0;
}

/* ---- An attempt ---- */

static struct managed copy_managed(struct arena *a, const struct managed *m)
{
    struct managed copy = *m;
    copy.entries = arena_alloc(a, (m->cap + 2) * sizeof(*copy.entries));
    copy.cap = m->cap + 2;
    if (m->n)
        memcpy(copy.entries, m->entries, m->n * sizeof(*copy.entries));
    return copy;
}

/* The object has elements in lists that do not say who they are; walk_check finds the first of them again. */
static enum err_code not_comparable(struct request *r, const char *what, const char *into)
{
    struct arena *a = r->write.arena;
    if (!walk_check(a, root(r), &r->view, true, r->e))
        err_set(r->e, ERR_UNKNOWN, "an element of a list has no key");
    struct str namespace = value_text(value_path(r->write.type, r->live, "metadata.namespace"));
    struct str name = value_text(value_path(r->write.type, r->live, "metadata.name"));
    const char *shown = arena_printf(a, "%.*s/%.*s; %s", STR_ARG(namespace), STR_ARG(name), shown_kind(r));
    return err_wrap(r->e, "%s (%s)%s", what, shown, into);
}

/* What was there before anybody was noted belongs to nobody in particular. */
static enum err_code begin_managed(struct request *r, struct attempt *t)
{
    const struct value none = { 0 };
    t->managed = copy_managed(r->write.arena, &r->stored);
    if (managed_any(&t->managed) || write_note(&r->write, &t->managed, STR("before-first-apply"), &none, &r->bare))
        return ERR_OK;
    return not_comparable(r, "failed to create manager for existing fields: failed to convert new object",
                          " to smd typed");
}

static struct managed_entry *entry_of_applier(struct request *r, struct managed *m)
{
    const struct apply_manager *by = r->write.by;
    struct managed_entry who = { .manager = by->name.n ? by->name : STR("unknown"), .applied = true,
                                 .api_version = by->api_version, .subresource = by->subresource };
    return managed_entry_of(r->write.arena, m, who);
}

/* All of it once; conflicts are for the caller to judge. What was applied in another version of the kind is not pruned. */
static enum err_code attempt(struct request *r, bool force, struct attempt *t)
{
    struct arena *a = r->write.arena;
    *t = (struct attempt){ 0 };
    if (begin_managed(r, t) || check_config(r))
        return r->e->code;
    if (!view_has_keys(a, r->write.type, &r->bare))
        return not_comparable(r, "failed to create typed live object", "");
    if (!write_reconcile(&r->write, &t->managed))
        return err_set(r->e, ERR_UNKNOWN, "unexpected GroupVersion string in managed fields");
    struct managed_entry *own = entry_of_applier(r, &t->managed);
    struct field_set last = write_speaks(&r->write, own) ? own->set : (struct field_set){ 0 };
    own->api_version = r->write.by->api_version;
    own->set = set_without(a, walk_set(a, root(r), &r->config), r->write.reset);
    t->merged = walk_merge(a, root(r), &r->view, &r->config);
    t->merged = prune(r, &t->managed, &t->merged, last);
    struct field_set changes = walk_compare(a, root(r), &r->view, &t->merged);
    changes = set_without(a, changes, r->write.reset);
    if (!force)
        find_conflicts(r, t, own, changes);
    write_take(&r->write, &t->managed, changes, own);
    own->set = write_strip(&r->write, own->set);
    t->changed = !walk_equal(&r->view, &t->merged);
    if (t->changed)
        own->time = value_time(r->write.by->now_s, 0);
    return ERR_OK;
}

/* ---- The whole ---- */

static enum err_code finish(struct request *r, const struct attempt *t, struct apply_outcome *outcome)
{
    struct value object = r->bare;
    if (t->changed && convert_plain(r->write.arena, r->patch->work, r->write.type, &t->merged, NULL, &object, r->e)) {
        r->e->code = r->e->code == ERR_INVALID ? ERR_UNKNOWN : r->e->code;
        return err_wrap(r->e, "failed to convert new object (%s) to proper version: unable to convert unstructured "
                              "object to %s", shown_object(r), shown_kind(r));
    }
    if (object.kind != VALUE_STRUCT)
        object = value_struct(r->write.arena, r->write.type);
    if (str_is(r->write.by->name, "kubectl"))
        object = last_applied_renew(&r->write, &object, &r->config);
    object = write_with_managed(&r->write, &object, managed_write(r->write.arena, &t->managed));
    object.slots[SLOT_KIND] = value_string(r->patch->kind);
    object.slots[SLOT_API_VERSION] = value_string(r->patch->api_version);
    outcome->object = object;
    outcome->changed = !r->live || !value_equal(r->live, &object);
    return ERR_OK;
}

static size_t plain_bytes(const struct value *v)
{
    size_t n = 1 + value_text(v).n;
    for (uint32_t i = 0; v->kind == VALUE_LIST && i < v->n; i++)
        n += plain_bytes(&v->items[i]);
    for (uint32_t i = 0; v->kind == VALUE_MAP && i < v->n; i++)
        n += v->members[i].key.n + plain_bytes(&v->members[i].value);
    return n;
}

/* The view, with who it is; and the budget, which the object itself adds to. */
static enum err_code look_at_live(struct request *r)
{
    struct arena *a = r->write.arena;
    r->bare = write_bare(&r->write, r->live);
    r->view = view_of(a, r->write.type, &r->bare);
    r->view = edit_member(a, &r->view, STR("kind"), value_string(r->patch->kind));
    r->view = edit_member(a, &r->view, STR("apiVersion"), value_string(r->patch->api_version));
    size_t n_bytes = plain_bytes(&r->view);
    work_extend(r->patch->work, n_bytes);
    bool enough = work_take(r->patch->work, n_bytes + plain_bytes(&r->config));
    return enough ? ERR_OK : work_error(r->e);
}

enum err_code apply_merge(struct arena *a, const struct type *t, const struct value *live, const struct apply_patch *p,
                          const struct apply_manager *m, struct apply_outcome *ret_outcome, struct err *e)
{
    struct request r = { .write = write_begin(a, t, m), .patch = p, .live = live, .e = e };
    struct attempt first;
    *ret_outcome = (struct apply_outcome){ 0 };
    if (read_config(&r))
        return e->code;
    if (managed_read(a, write_managed(&r.write, live), &r.stored, e)) {
        e->code = ERR_UNKNOWN;
        return err_wrap(e, "failed to decode managed fields");
    }
    if (check_kind(&r) || look_at_live(&r) || attempt(&r, p->force, &first))
        return e->code;
    bool may_have_applied = first.n_conflicts && str_is(m->name, "kubectl");
    if (may_have_applied && forgive_last_applied(&r, &first) && attempt(&r, true, &first))
        return e->code;
    return first.n_conflicts ? report_conflicts(&r, &first, ret_outcome) : finish(&r, &first, ret_outcome);
}
