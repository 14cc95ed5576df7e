/* apply/last_applied.c - see last_applied.h. */
#include "apply/last_applied.h"

#include "api/edit.h"
#include "api/validate.h"
#include "apply/walk.h"
#include "codec/json.h"

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

static struct str annotation_of(const struct write *w, const struct value *object)
{
    const struct value *annotations = value_path(w->type, object, "metadata.annotations");
    const struct value *text = value_member(annotations, STR(LAST_APPLIED));
    return text ? value_text(text) : (struct str){ "", 0 };
}

static bool is_text(const struct value *document, struct str key, struct str want)
{
    const struct value *v = value_member(document, key);
    return v && v->kind == VALUE_STRING && str_eq(value_text(v), want);
}

bool last_applied_set(const struct write *w, struct work *work, const struct value *live, const struct value *view,
                      struct str kind, struct field_set *ret_set)
{
    struct arena *a = w->arena;
    struct str text = live ? annotation_of(w, live) : (struct str){ "", 0 };
    struct place root = place_of_type(w->type);
    struct value document;
    struct err e;
    err_init(&e, a);
    if (!text.n || json_decode_plain(a, work, text, &document, &e) || document.kind != VALUE_MAP)
        return false;
    if (!is_text(&document, STR("apiVersion"), w->by->api_version) || !is_text(&document, STR("kind"), kind))
        return false;
    if (walk_check(a, root, view, false, &e) || walk_check(a, root, &document, false, &e))
        return false;
    *ret_set = set_difference(a, walk_set(a, root, &document), walk_compare(a, root, &document, view));
    return true;
}

/* A copy of a map without one member. */
static struct value without_member(struct arena *a, const struct value *map, struct str key)
{
    struct value out = value_map(arena_alloc(a, map->n * sizeof(struct member)), 0);
    for (uint32_t i = 0; i < map->n; i++)
        if (!str_eq(map->members[i].key, key))
            out.members[out.n++] = map->members[i];
    return out;
}

static bool all_texts(const struct value *map)
{
    for (uint32_t i = 0; i < map->n; i++)
        if (map->members[i].value.kind != VALUE_STRING)
            return false;
    return map->kind == VALUE_MAP;
}

/* The document without the annotation itself; annotations that are none go as a whole. */
static struct value without_annotation(struct arena *a, const struct value *config)
{
    const struct value *meta = value_member(config, STR("metadata"));
    const struct value *annotations = meta ? value_member(meta, STR("annotations")) : NULL;
    if (!annotations)
        return *config;
    struct value left = without_member(a, annotations, STR(LAST_APPLIED));
    struct value new_meta = all_texts(annotations) ? edit_member(a, meta, STR("annotations"), left)
                                                   : without_member(a, meta, STR("annotations"));
    return edit_member(a, config, STR("metadata"), new_meta);
}

static size_t annotation_bytes(const struct value *annotations)
{
    size_t n = 0;
    for (uint32_t i = 0; i < annotations->n; i++)
        n += annotations->members[i].key.n + annotations->members[i].value.n;
    return n;
}

struct value last_applied_renew(const struct write *w, const struct value *object, const struct value *config)
{
    if (!annotation_of(w, object).n)
        return *object;
    struct value document = without_annotation(w->arena, config);
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    json_encode_plain(&b, &document);
    strbuf_add_char(&b, '\n');
    struct value text = value_string(arena_str(w->arena, strbuf_str(&b)));
    strbuf_fini(&b);
    const struct value *annotations = value_path(w->type, object, "metadata.annotations");
    struct value renewed = edit_member(w->arena, annotations, STR(LAST_APPLIED), text);
    if (annotation_bytes(&renewed) > ANNOTATIONS_BYTES_MAX)
        renewed = without_member(w->arena, annotations, STR(LAST_APPLIED));
    return edit_set(w->arena, w->type, object, "metadata.annotations", renewed);
}
