/* tests/unit/test_admission_golden.c - requests as a real kube-apiserver answered them: tests/peers/record_admission.py. */
#include "tests/unit/admission_world.h"
#include "tests/unit/golden_lines.h"

/* ---- What is compared of an object ---- */

/* Names that are drawn by lot, made the same. */
static struct str without_lot(struct arena *a, struct str text)
{
    const struct str prefix = STR("kube-api-access-");
    char *copy = arena_cstr(a, text);
    for (char *at = copy; (at = strstr(at, prefix.p));) {
        at += prefix.n;
        if (strncmp(at, "mine", 4) != 0)
            memcpy(at, "xxxxx", 5);
    }
    return str_of(copy);
}

static struct value plain_of(struct arena *a, struct str json)
{
    struct value v;
    struct err e;
    err_init(&e, a);
    if (json_decode_plain(a, WORK_OWN, json, &v, &e))
        FAIL("%s: %.*s", e.message, STR_ARG(json));
    return v;
}

/* What plugins can change, as the recorder keeps it. */
static struct value kept(struct arena *a, const struct type *t, const struct value *object)
{
    static const char *const meta[] = { "annotations", "finalizers", "labels" }, *const top[] = { "driverName", "globalDefault", "spec" };
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode(&json, t, object);
    struct value plain = plain_of(a, without_lot(a, strbuf_str(&json))), out = value_map(NULL, 0);
    strbuf_fini(&json);
    for (size_t i = 0; i < 3; i++) {
        const struct value *v = value_path(NULL, &plain, arena_printf(a, "metadata.%s", meta[i]));
        if (v->kind != VALUE_ABSENT)
            out = edit_member(a, &out, str_of(meta[i]), *v);
        v = value_path(NULL, &plain, top[i]);
        if (v->kind != VALUE_ABSENT)
            out = edit_member(a, &out, str_of(top[i]), *v);
    }
    return out;
}

static bool is_compared(struct str resource, struct str subresource)
{
    static const char *const names[] = { "pods", "persistentvolumeclaims", "persistentvolumes", "nodes", "ingresses",
                                         "priorityclasses", "volumeattributesclasses" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (str_is(resource, names[i]))
            return !subresource.n || str_is(subresource, "resize");
    return false;
}

/* ---- One request ---- */

struct row {
    struct admission_world *world;
    const struct value *row;
    struct str what;
    unsigned *n_wrong;
};

static void wrong(const struct row *r, const char *part, struct str got, struct str want)
{
    fprintf(stderr, "%.*s: %s is\n  %.*s\nwant\n  %.*s\n", STR_ARG(r->what), part, STR_ARG(got), STR_ARG(want));
    ++*r->n_wrong;
}

static enum admission_operation operation_of(struct str name)
{
    return str_is(name, "CREATE") ? ADMIT_CREATE : str_is(name, "UPDATE") ? ADMIT_UPDATE : ADMIT_DELETE;
}

/* The name in `pods "gen-abcde" is forbidden`. */
static const char *quoted_name(struct arena *a, struct str message)
{
    struct str rest = str_from(message, str_index(message, '"') + 1);
    return arena_cstr(a, str_first(rest, str_index(rest, '"')));
}

static void compare_refusal(const struct row *row, const struct admission_request *r, const struct err *e)
{
    int code = err_http_status(e->code);
    struct str want = golden_text(row->row, "message");
    if (!str_eq(str_of(e->message), want))
        wrong(row, "message", str_of(e->message), want);
    if (code != golden_int(row->row, "code"))
        wrong(row, "code", str_of(arena_printf(e->arena, "%d", code)), STR("another"));
    const struct value *details = value_member(row->row, STR("details"));
    struct str kind = golden_text(details, "kind"), group = golden_text(details, "group");
    struct str full = group.n ? str_of(arena_printf(e->arena, "%.*s.%.*s", STR_ARG(kind), STR_ARG(group))) : kind;
    if (kind.n && !str_eq(str_of(e->kind), full))
        wrong(row, "kind", str_of(e->kind), full);
    const struct value *cause = value_path(NULL, details, "causes.0");
    if (cause->kind == VALUE_MAP && !r->errors &&
        (!str_eq(str_of(r->cause_reason), golden_text(cause, "reason")) ||
         !str_eq(str_of(r->cause_message), golden_text(cause, "message")) ||
         !str_eq(str_of(r->cause_field), golden_text(cause, "field"))))
        wrong(row, "cause", str_of(r->cause_reason), golden_text(cause, "reason"));
    const struct value *causes = value_path(NULL, details, "causes");
    if (r->errors && r->errors->n != causes->n)
        wrong(row, "causes", str_of("of another number"), STR(""));
}

/* What comes before was said by validation. */
static void compare_warnings(const struct row *row)
{
    const struct value *list = value_member(row->row, STR("warnings"));
    uint32_t from = 0, n = list ? list->n : 0;
    while (from < n && !memmem(list->items[from].s, list->items[from].n, "PodSecurity", 11))
        from++;
    const struct warnings *got = &row->world->warnings;
    if (got->n != n - from)
        wrong(row, "number of warnings", str_of(got->n ? got->texts[0] : ""), from < n ? value_text(&list->items[from]) : STR(""));
    for (uint32_t i = 0; i < got->n && i < n - from; i++)
        if (!str_eq(str_of(got->texts[i]), value_text(&list->items[from + i])))
            wrong(row, "warning", str_of(got->texts[i]), value_text(&list->items[from + i]));
}

static void compare_object(const struct row *row, const struct admission_request *r)
{
    struct arena *a = &row->world->arena;
    const struct value *result = value_member(row->row, STR("result"));
    if (!result || !is_compared(r->resource->plural, r->subresource))
        return;
    struct value got = kept(a, r->type, &r->object);
    struct value want = plain_of(a, without_lot(a, plain_text(a, result)));
    if (!value_equal(&got, &want))
        wrong(row, "object", plain_text(a, &got), plain_text(a, &want));
}

static void compare(const struct row *row)
{
    struct admission_world *w = row->world;
    struct arena *a = &w->arena;
    const struct value *object = value_member(row->row, STR("object"));
    bool generated = object && value_path(NULL, object, "metadata.generateName")->kind == VALUE_STRING;
    struct asked asked = {
        .plural = arena_cstr(a, golden_text(row->row, "resource")),
        .group = arena_cstr(a, golden_text(row->row, "group")),
        .subresource = arena_cstr(a, golden_text(row->row, "subresource")),
        .operation = operation_of(golden_text(row->row, "operation")),
        .namespace = golden_text(row->row, "namespace"),
        .name = golden_text(row->row, "name"),
        .object = object ? plain_text(a, object) : STR(""),
        .dry_run = true,
        .made_name = generated ? quoted_name(a, golden_text(row->row, "message")) : NULL,
    };
    struct admission_request *r = ARENA_NEW(a, struct admission_request);
    bool allowed = golden_int(row->row, "code") < 400;
    enum err_code rc = admission_world_ask(w, &asked, r);
    if ((rc == ERR_OK) != allowed)
        wrong(row, "outcome", str_of(rc ? w->e.message : "allowed"), allowed ? STR("allowed") : golden_text(row->row, "message"));
    else if (rc)
        compare_refusal(row, r, &w->e);
    else
        compare_object(row, r);
    compare_warnings(row);
    CHECK_INT("a trial", r->n_also, 0);
}

/* ---- All of them ---- */

static const char *const more[] = { "AlwaysPullImages", "DenyServiceExternalIPs", "ExtendedResourceToleration",
                                    "LimitPodHardAntiAffinityTopology", "NodeRestriction", "PodNodeSelector",
                                    "PodTolerationRestriction", NULL };

/* With the plugins that are on by default, or with `more`. Returns how many requests there were. */
static unsigned replay(bool with_more)
{
    struct admission_world w;
    struct golden g;
    struct value row;
    unsigned n = 0, n_wrong = 0;
    static const struct str nodes[] = { STR("system:nodes") };
    admission_world_init(&w, &(struct admission_options){ .enable = with_more ? more : NULL });
    golden_open(&g, "apiserver/admission.jsonl.gz");
    while (golden_next(&g, &row)) {
        const struct value *state = value_member(&row, STR("state")), *plugins = value_member(&row, STR("plugins"));
        if (state)
            admission_world_put(&w, plain_text(&w.arena, state));
        if (state || (plugins->n > 0) != with_more)
            continue;
        bool node = value_member(&row, STR("node"))->b;
        w.user = (struct user){ .name = node ? STR("system:node:n1") : STR("admin"), .groups = { nodes, node } };
        compare(&(struct row){ &w, &row, golden_text(&row, "case"), &n_wrong });
        n++;
    }
    golden_close(&g);
    admission_world_fini(&w);
    if (n_wrong)
        FAIL("%u of %u requests have another outcome", n_wrong, n);
    return n;
}

TEST(the_default_plugins_answer_as_upstream)
{
    CHECK(replay(false) >= 480);
}

TEST(other_plugins_answer_as_upstream)
{
    CHECK(replay(true) >= 45);
}
