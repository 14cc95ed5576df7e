/* Rules on objects of every kind that are made by chance: whatever a client sends, rules answer and do not fall over.
 * Most objects are nonsense; a vocabulary of words that rules know leads them further than noise would. */
#include "api/defaults.h"
#include "base/rand.h"
#include "rules/convert.h"
#include "rules/rules.h"
#include "tests/test.h"

enum { N_ROUNDS = 12, DEPTH_MAX = 9, ITEMS_MAX = 3 };

static const char *const words[] = {
    "", "a", "b", "A b", "x/y", "a.b/c", "-", "*", "/", "..", "0", "7", "-5", "10%", "200%", "x%", "0-3,5", "1,2",
    "3-1", "2026-01-01", "Never", "Always", "OnFailure", "Indexed", "NonIndexed", "Container", "Pod",
    "PersistentVolumeClaim", "cpu", "memory", "storage", "hugepages-2Mi", "example.com/gpu", "requests.cpu",
    "RollingUpdate", "OnDelete", "Recreate", "In", "NotIn", "Exists", "DoesNotExist", "NoSchedule", "Utilization",
    "Value", "AverageValue", "Resource", "Object", "Complete", "Failed", "True", "False", "Terminating", "BestEffort",
    "kubernetes", "kubernetes.io/tls", "kubernetes.io/dockercfg", ".dockercfg", "tls.crt", "@daily", "*/5 * * * *",
    "TZ=UTC * * * * *", "UTC", "10.0.0.0/8", "fd00::/64", "10.0.0.1", "http", "TCP",
    "deprecated.daemonset.template.generation", "autoscaling.alpha.kubernetes.io/metrics",
    "[{\"type\":\"Pods\",\"pods\":{}}]",
};
enum { N_WORDS = sizeof(words) / sizeof(words[0]) };

struct maker {
    struct arena *arena;
    struct rand *rand;
};

static struct str word(struct maker *m)
{
    return str_of(words[rand_below(m->rand, N_WORDS)]);
}

static struct value some_struct(struct maker *m, const struct type *t, int depth);

static struct value some_text(struct maker *m, const struct field *f)
{
    size_t n = 0;
    while (f->values && f->values[n])
        n++;
    return value_string(n && rand_below(m->rand, 3) ? str_of(f->values[rand_below(m->rand, n)]) : word(m));
}

static struct value some_quantity(struct maker *m)
{
    static const char *const amounts[] = { "0", "1", "-1", "500m", "1500m", "2Gi", "1Ki", "9E", "1n", "12e6" };
    return value_string(str_of(amounts[rand_below(m->rand, sizeof(amounts) / sizeof(amounts[0]))]));
}

static struct value some_one(struct maker *m, const struct field *f, int depth)
{
    int64_t number = (int64_t)rand_below(m->rand, 12) - 2;
    switch (f->kind) {
    case KIND_STRING:
        return some_text(m, f);
    case KIND_BOOL:
        return value_bool(rand_below(m->rand, 2));
    case KIND_INT32:
    case KIND_INT64:
    case KIND_UINT32:
    case KIND_DURATION:
        return value_int(rand_below(m->rand, 20) ? number : 200001);
    case KIND_DOUBLE:
    case KIND_FLOAT:
        return value_double((double)number / 3);
    case KIND_BYTES:
        return value_bytes(word(m));
    case KIND_TIME:
    case KIND_MICRO_TIME:
        return value_time(1700000000 + number, 0);
    case KIND_QUANTITY:
        return some_quantity(m);
    case KIND_INT_OR_STRING:
        return rand_below(m->rand, 2) ? value_int(number) : value_string(word(m));
    case KIND_STRUCT:
        return some_struct(m, f->type, depth + 1);
    default:
        return value_raw(STR("{}"));
    }
}

static struct value some_list(struct maker *m, const struct field *f, int depth)
{
    uint32_t n = (uint32_t)rand_below(m->rand, ITEMS_MAX + 1);
    struct value *items = ARENA_NEW_N(m->arena, struct value, n);
    for (uint32_t i = 0; i < n; i++)
        items[i] = some_one(m, f, depth);
    return value_list(items, n);
}

static struct value some_map(struct maker *m, const struct field *f, int depth)
{
    uint32_t n = (uint32_t)rand_below(m->rand, ITEMS_MAX + 1);
    struct member *members = ARENA_NEW_N(m->arena, struct member, n);
    for (uint32_t i = 0; i < n; i++)
        members[i] = (struct member){ word(m), some_one(m, f, depth) };
    return value_map(members, value_sort_members(members, n));
}

/* Types whose JSON chooses their form are left out: their values have forms of their own. */
static bool is_plain(const struct field *f)
{
    return f->kind != KIND_STRUCT || !(f->type->flags & (TYPE_WRAPPER | TYPE_BY_SHAPE));
}

static struct value some_struct(struct maker *m, const struct type *t, int depth)
{
    struct value v = value_struct(m->arena, t);
    for (unsigned i = 0; i < t->n_fields; i++) {
        const struct field *f = &t->fields[i];
        uint64_t odds = depth < 3 ? 6 : 4; /* of eight; fewer below, where structs are many */
        if (depth > DEPTH_MAX || !is_plain(f) || rand_below(m->rand, 8) >= odds)
            continue;
        v.slots[i] = f->shape == SHAPE_LIST  ? some_list(m, f, depth)
                     : f->shape == SHAPE_MAP ? some_map(m, f, depth)
                                             : some_one(m, f, depth);
    }
    return v;
}

static struct value some_object(struct maker *m, const struct type *t)
{
    struct value v = some_struct(m, t, 0);
    return defaults_apply(m->arena, t, &v);
}

/* ---- Every way through a kind's rules ---- */

static void play_create(const struct rules_context *c, const struct kind_rules *k, struct value new)
{
    struct field_errors errs;
    field_errors_init(&errs, c->arena);
    if (k->prepare_create)
        new = k->prepare_create(c, &new);
    if (k->validate_create)
        k->validate_create(c, &new, &errs);
    if (k->warn)
        k->warn(c, &new, NULL);
    field_errors_text(c->arena, &errs);
}

static void play_update(const struct rules_context *c, rules_prepare_update *prepare, rules_validate_update *validate,
                        rules_warn *warn, struct value new, const struct value *old)
{
    struct field_errors errs;
    field_errors_init(&errs, c->arena);
    if (prepare)
        new = prepare(c, &new, old);
    if (validate)
        validate(c, &new, old, &errs);
    if (warn)
        warn(c, &new, old);
    field_errors_text(c->arena, &errs);
    rules_raises_generation(c, GENERATION_LABELS, &new, old);
}

static void play_kind(struct rand *r, const struct resource *resource, const struct kind_rules *k,
                      const struct type *stored)
{
    static const struct user nobody = { .name = { "nobody", 6 } };
    static const struct rules_settings settings = { .allow_privileged = false };
    struct arena a;
    arena_init(&a);
    struct maker m = { &a, r };
    struct warnings warnings = { .arena = &a };
    struct rules_context c = { &a, stored, resource->type, resource->namespaced, 1800000000, &nobody, &settings,
                               &warnings };
    struct value old = some_object(&m, stored), new = some_object(&m, stored);
    play_create(&c, k, new);
    play_update(&c, k->prepare_update, k->validate_update, k->warn, new, &old);
    play_update(&c, k->prepare_update, k->validate_update, k->warn, old, &old);
    for (const struct sub_rules *s = k->subs; s && s->name; s++)
        play_update(&c, s->prepare_update, s->validate_update, s->warn, new, &old);
    CHECK(warnings.n <= WARNINGS_MAX);
    arena_fini(&a);
}

TEST(rules_answer_whatever_comes)
{
    struct rand r;
    size_t n_kinds = 0;
    rand_init(&r, 1);
    for (size_t i = 0; i < schema_n_resources; i++) {
        const struct resource *resource = &schema_resources[i];
        const struct type *stored = resource->type ? convert_stored_type(resource->type) : NULL;
        const struct kind_rules *k = stored ? rules_of(stored) : NULL;
        if (!k)
            continue;
        n_kinds++;
        for (int round = 0; round < N_ROUNDS; round++)
            play_kind(&r, resource, k, stored);
    }
    CHECK(n_kinds >= 20);
}
