/* Rules of kinds against what the real kube-apiserver v1.36.4 made of the same objects: tests/golden/rules, recorded by
 * tests/peers/record_rules.py, which describes the rows.
 *
 * A row goes the way of a write: decoded, filled with defaults, converted, prepared, validated. What a server does for
 * all kinds alike (uid, times, generation) is done here as simply as possible. All rows of all files are played, and
 * every difference is printed. */
#include <dirent.h>

#include "api/defaults.h"
#include "api/edit.h"
#include "apiserver/status_object.h"
#include "rules/convert.h"
#include "rules/rules.h"
#include "tests/unit/golden_lines.h"

static const struct rules_settings settings = { .allow_privileged = true };
static const struct str admin_groups[] = { { "system:masters", 14 }, { "system:authenticated", 20 } };
static const struct user admin = { .name = { "admin", 5 }, .uid = { "1", 1 }, .groups = { admin_groups, 2 } };

struct play {
    struct golden *g;
    const struct value *row;
    const struct resource *resource;
    const struct type *served, *stored;
    const struct kind_rules *rules;
    const struct sub_rules *sub; /* NULL: the object itself */
    struct warnings warnings;
    size_t n_causes; /* why it was refused */
    struct rules_context context;
    struct err e;
};

static struct arena *arena_of(struct play *p)
{
    return &p->g->arena;
}

static struct str json_of(struct play *p, const struct value *plain)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode_plain(&json, plain);
    return field_take_text(arena_of(p), &json);
}

/* ---- In ---- */

/* An object of the row in its stored form, as the server has it before its rules. */
static enum err_code read_object(struct play *p, const char *member, struct value *ret_value)
{
    struct gvk endpoint = { p->resource->group, p->resource->version, p->resource->kind };
    struct findings findings = { 0 };
    struct object object;
    struct str body = json_of(p, value_member(p->row, str_of(member)));
    if (object_decode(arena_of(p), WORK_OWN, MEDIA_JSON, body, endpoint, VALIDATION_IGNORE, &findings, &object, &p->e))
        return p->e.code;
    struct value filled = defaults_apply(arena_of(p), p->served, &object.value);
    if (p->resource->namespaced && !value_text(value_path(p->served, &filled, "metadata.namespace")).n)
        filled = edit_set(arena_of(p), p->served, &filled, "metadata.namespace", edit_text("default"));
    return convert(arena_of(p), p->served, p->stored, &filled, ret_value, &p->e);
}

static struct value copy_meta(struct play *p, struct value to, const struct value *from, const char *path)
{
    return edit_set(arena_of(p), p->stored, &to, path, *value_path(p->stored, from, path));
}

/* The uid that a refusal of a Job quotes; any other will do where none is seen. */
static struct str refused_uid(struct play *p)
{
    static const char label[] = "controller-uid\":\"";
    struct str message = golden_text(p->row, "message");
    const char *found = message.n ? memmem(message.p, message.n, label, sizeof(label) - 1) : NULL;
    return found ? (struct str){ found + sizeof(label) - 1, 36 } : STR("11111111-2222-3333-4444-555555555555");
}

/* uid and creationTimestamp as the recorded server chose them. */
static struct value with_chosen(struct play *p, struct value new)
{
    const struct value *result = value_member(p->row, STR("result"));
    if (!result)
        return edit_set(arena_of(p), p->stored, &new, "metadata.uid", value_string(refused_uid(p)));
    struct value answered;
    CHECK(!json_decode(arena_of(p), WORK_OWN, p->stored, json_of(p, result), NULL, &answered, &p->e));
    p->context.now_s = value_path(p->stored, &answered, "metadata.creationTimestamp")->i; /* when it was recorded */
    return copy_meta(p, copy_meta(p, new, &answered, "metadata.uid"), &answered, "metadata.creationTimestamp");
}

/* ---- What every write does ---- */

static bool raises_generation(struct play *p, const struct value *new, const struct value *old)
{
    return p->rules && !str_is(golden_text(p->row, "verb"), "status") &&
           rules_raises_generation(&p->context, p->rules->generation, new, old);
}

static struct value with_generation(struct play *p, struct value v, int64_t generation)
{
    struct value none = { .kind = VALUE_ABSENT };
    return edit_set(arena_of(p), p->stored, &v, "metadata.generation", generation ? value_int(generation) : none);
}

static struct value complete_update(struct play *p, struct value new, const struct value *old)
{
    static const char *const kept[] = { "metadata.creationTimestamp", "metadata.deletionTimestamp",
                                        "metadata.deletionGracePeriodSeconds" };
    if (!value_text(value_path(p->stored, &new, "metadata.uid")).n)
        new = copy_meta(p, new, old, "metadata.uid");
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        new = copy_meta(p, new, old, kept[i]);
    const struct value *was = value_path(p->stored, old, "metadata.generation");
    return with_generation(p, new, (was->kind == VALUE_INT ? was->i : 0) + raises_generation(p, &new, old));
}

/* ---- The way of a write ---- */

static struct value play_create(struct play *p, struct value new, struct field_errors *errs)
{
    const struct kind_rules *k = p->rules;
    new = with_chosen(p, new);
    if (k && k->prepare_create)
        new = k->prepare_create(&p->context, &new);
    bool numbered = k && k->generation != GENERATION_NEVER && k->generation != GENERATION_CHANGES;
    new = with_generation(p, new, numbered);
    if (k && k->validate_create)
        k->validate_create(&p->context, &new, errs);
    else
        rules_check_meta(&p->context, &new, k ? k->name : NULL, errs);
    if (!errs->n && k && k->warn)
        k->warn(&p->context, &new, NULL);
    return new;
}

static struct value play_update(struct play *p, struct value new, const struct value *old, struct field_errors *errs)
{
    rules_prepare_update *prepare = p->sub ? p->sub->prepare_update : p->rules ? p->rules->prepare_update : NULL;
    rules_validate_update *validate = p->sub ? p->sub->validate_update : p->rules ? p->rules->validate_update : NULL;
    rules_warn *warn = p->sub ? p->sub->warn : p->rules ? p->rules->warn : NULL;
    if (prepare)
        new = prepare(&p->context, &new, old);
    new = complete_update(p, new, old);
    rules_check_common_meta(&p->context, &new, errs); /* of every kind, before its own rules */
    rules_check_generic_meta_update(&p->context, &new, old, errs);
    if (validate)
        validate(&p->context, &new, old, errs);
    if (!errs->n && warn)
        warn(&p->context, &new, old);
    return new;
}

static enum err_code refuse(struct play *p, const struct value *new, const struct field_errors *errs)
{
    struct resource const *r = p->resource;
    const char *kind = arena_cstr(arena_of(p), r->kind);
    if (r->group.n && !str_starts(p->stored->name, STR("core/"))) /* of the stored kind: events are in no group */
        kind = arena_printf(arena_of(p), "%.*s.%.*s", STR_ARG(r->kind), STR_ARG(r->group));
    struct str name = value_text(value_path(p->stored, new, "metadata.name"));
    return status_invalid(kind, arena_cstr(arena_of(p), name), errs, &p->e);
}

/* As it comes back from a store, which keeps protobuf: empty lists and maps are not there any more, and defaults
 * are filled in again. */
static struct value stored_form(struct play *p, const struct value *v)
{
    struct gvk kind = { p->resource->group, p->resource->version, p->resource->kind }, seen;
    struct strbuf bytes;
    struct object again;
    schema_split_api_version(value_text(&v->slots[SLOT_API_VERSION]), &kind.group, &kind.version);
    strbuf_init(&bytes, STRBUF_NO_MAX);
    object_encode(&bytes, MEDIA_PROTOBUF, p->stored, v);
    struct str body = field_take_text(arena_of(p), &bytes);
    if (object_read(arena_of(p), WORK_OWN, MEDIA_PROTOBUF, body, kind, NULL, &again, &seen, &p->e))
        FAIL("%s", p->e.message);
    return defaults_apply(arena_of(p), p->stored, &again.value);
}

static enum err_code play_row(struct play *p, struct value *ret_result)
{
    struct field_errors errs;
    struct value new, old;
    field_errors_init(&errs, arena_of(p));
    if (read_object(p, "object", &new))
        return p->e.code;
    if (str_is(golden_text(p->row, "verb"), "create"))
        new = play_create(p, new, &errs);
    else if (read_object(p, "old", &old))
        return p->e.code;
    else
        new = play_update(p, new, &old, &errs);
    p->n_causes = errs.n;
    if (errs.n)
        return refuse(p, &new, &errs);
    new = stored_form(p, &new);
    return convert(arena_of(p), p->stored, p->served, &new, ret_result, &p->e);
}

/* ---- Out ---- */

/* One text for each, to be compared: what was refused and why, warnings, the object. */
static struct str got_text(struct play *p, enum err_code code, const struct value *result)
{
    struct strbuf out;
    strbuf_init(&out, STRBUF_NO_MAX);
    if (code) {
        if (p->n_causes)
            strbuf_printf(&out, "%zu causes: ", p->n_causes);
        strbuf_add_text(&out, p->e.message);
    } else {
        struct strbuf json;
        struct value plain;
        struct value shown = edit_set(arena_of(p), p->served, result, "metadata.resourceVersion", (struct value){ 0 });
        strbuf_init(&json, STRBUF_NO_MAX);
        json_encode(&json, p->served, &shown);
        CHECK(!json_decode_plain(arena_of(p), WORK_OWN, field_take_text(arena_of(p), &json), &plain, &p->e));
        json_encode_plain(&out, &plain);
    }
    for (uint32_t i = 0; i < p->warnings.n; i++)
        strbuf_printf(&out, "\nwarning: %s", p->warnings.texts[i]);
    return field_take_text(arena_of(p), &out);
}

static struct str wanted_text(struct play *p)
{
    const struct value *result = value_member(p->row, STR("result")), *warnings = value_member(p->row, STR("warnings"));
    const struct value *causes = value_member(p->row, STR("causes"));
    struct strbuf out;
    strbuf_init(&out, STRBUF_NO_MAX);
    if (causes)
        strbuf_printf(&out, "%d causes: ", (int)causes->i);
    strbuf_add_str(&out, result ? json_of(p, result) : golden_text(p->row, "message"));
    for (uint32_t i = 0; warnings && i < warnings->n; i++)
        strbuf_printf(&out, "\nwarning: %.*s", STR_ARG(value_text(&warnings->items[i])));
    return field_take_text(arena_of(p), &out);
}

static void prepare_play(struct play *p, struct golden *g, const struct value *row)
{
    struct str verb = golden_text(row, "verb");
    *p = (struct play){ .g = g, .row = row, .warnings.arena = &g->arena };
    err_init(&p->e, &g->arena);
    p->resource = schema_resource(golden_text(row, "group"), golden_text(row, "version"), golden_text(row, "resource"));
    CHECK(p->resource != NULL);
    p->served = p->resource->type;
    p->stored = convert_stored_type(p->served);
    p->rules = rules_of(p->stored);
    if (!str_is(verb, "create") && !str_is(verb, "update")) {
        p->sub = p->rules ? rules_sub(p->rules, verb) : NULL;
        if (!p->sub)
            FAIL("%.*s have no rules for %.*s", STR_ARG(p->resource->plural), STR_ARG(verb));
    }
    p->context = (struct rules_context){ &g->arena, p->stored, p->served, p->resource->namespaced, 1800000000, &admin,
                                         &settings, &p->warnings };
}

/* Whether all is as recorded; prints what is not. */
static bool check_row(struct golden *g, const char *file, const struct value *row)
{
    struct play p;
    struct value result;
    prepare_play(&p, g, row);
    enum err_code code = play_row(&p, &result);
    struct str got = got_text(&p, code, &result), want = wanted_text(&p);
    if (str_eq(got, want))
        return true;
    printf("%s:%zu: %.*s of %.*s: %.*s\n  got  %.*s\n  want %.*s\n", file, g->n, STR_ARG(golden_text(row, "verb")),
           STR_ARG(golden_text(row, "resource")), STR_ARG(golden_text(row, "name")), STR_ARG(got), STR_ARG(want));
    return false;
}

static size_t play_file(const char *file, size_t *n_rows)
{
    struct golden g;
    struct value row;
    char path[300];
    size_t n_wrong = 0;
    snprintf(path, sizeof(path), "rules/%s", file);
    golden_open(&g, path);
    while (golden_next(&g, &row))
        n_wrong += !check_row(&g, file, &row);
    *n_rows += g.n;
    golden_close(&g);
    return n_wrong;
}

TEST(rules_are_those_of_the_real_server)
{
    const char *only = getenv("RULES"); /* one file, while working on it */
    size_t n_rows = 0, n_wrong = 0;
    DIR *folder = opendir(GOLDEN_DIR "/rules");
    CHECK(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder));)
        if (strstr(entry->d_name, ".jsonl") && (!only || strstr(entry->d_name, only)))
            n_wrong += play_file(entry->d_name, &n_rows);
    closedir(folder);
    if (n_wrong)
        FAIL("%zu of %zu rows differ", n_wrong, n_rows);
    CHECK(only ? n_rows > 0 : n_rows > 2000);
}
