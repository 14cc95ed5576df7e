/* Names and amounts of resources. */
#include "forms/resources.h"

#include "tests/test.h"

TEST(names_have_a_class)
{
    static const struct {
        const char *name;
        enum resource_kind want;
        bool extended;
    } rows[] = {
        { "cpu", RESOURCE_CPU, false },
        { "memory", RESOURCE_MEMORY, false },
        { "ephemeral-storage", RESOURCE_EPHEMERAL, false },
        { "pods", RESOURCE_PODS, false },
        { "", RESOURCE_IGNORED, false },
        { "storage", RESOURCE_IGNORED, false },
        { "CPU", RESOURCE_IGNORED, false },
        { "example.com/gpu", RESOURCE_SCALAR, true },
        { "example.com/", RESOURCE_IGNORED, false },
        { "/gpu", RESOURCE_IGNORED, false },
        { "a/b/c", RESOURCE_IGNORED, false },
        { "Example.com/gpu", RESOURCE_IGNORED, false },
        { "requests.example.com/gpu", RESOURCE_IGNORED, false },
        { "hugepages-2Mi", RESOURCE_SCALAR, false },
        { "hugepages-", RESOURCE_SCALAR, false },
        { "attachable-volumes-aws-ebs", RESOURCE_SCALAR, false },
        { "kubernetes.io/batteries", RESOURCE_SCALAR, false },
        { "x.kubernetes.io/anything at all", RESOURCE_SCALAR, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        CHECK_INT(rows[i].name, resource_kind_of(str_of(rows[i].name)), rows[i].want);
        CHECK_INT(rows[i].name, resource_is_extended(str_of(rows[i].name)), rows[i].extended);
    }
    char text[400];
    memset(text, 'a', sizeof(text));
    text[250] = '/';
    CHECK(!resource_is_extended((struct str){ text, sizeof(text) }));
    CHECK(!resource_is_extended((struct str){ text, 260 })); /* with "requests." the domain is too long */
    CHECK(resource_is_extended((struct str){ text + 10, 250 }));
}

TEST(amounts_are_exact)
{
    static const struct {
        const char *text;
        int64_t milli, units;
        int64_t nano_of_rest; /* what is above whole units */
    } rows[] = {
        { "0", 0, 0, 0 },
        { "100m", 100, 1, 100000000 },
        { "1", 1000, 1, 0 },
        { "1500m", 1500, 2, 500000000 },
        { "0.0005", 1, 1, 500000 },
        { "1n", 1, 1, 1 },
        { "1u", 1, 1, 1000 },
        { "2k", 2000000, 2000, 0 },
        { "3M", 3000000000, 3000000, 0 },
        { "1G", 1000000000000, 1000000000, 0 },
        { "1Ki", 1024000, 1024, 0 },
        { "128Mi", 134217728000, 134217728, 0 },
        { "32Gi", 34359738368000, 34359738368, 0 },
        { "1.1Ki", 1126400, 1127, 400000000 },
        { "1e3", 1000000, 1000, 0 },
        { "-1500m", -1500, -2, -500000000 },
        { "-1", -1000, -1, 0 },
        { "999999999Gi", INT64_MAX, 1073741822926258176, 0 },
        { "8Ei", INT64_MAX, INT64_MAX, 0 },
        { "1e30", INT64_MAX, INT64_MAX, 0 },
        { "-1e30", INT64_MIN, INT64_MIN, 0 },
    };
    struct arena a;
    arena_init(&a);
    struct err e;
    err_init(&e, &a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        nano n = 0;
        CHECK(!nano_parse(str_of(rows[i].text), &n, &e));
        CHECK_INT(rows[i].text, nano_round(n, NANO_PER_MILLI), rows[i].milli);
        CHECK_INT(rows[i].text, nano_round(n, NANO_PER_UNIT), rows[i].units);
        CHECK_INT(rows[i].text, (int64_t)(n % NANO_PER_UNIT), rows[i].nano_of_rest);
    }
    static const char *const refused[] = { "", "x", "1x", "1mm", "1 ", " 1", "1Kix", "--1", "\\u0031" };
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        nano n;
        CHECK_INT(refused[i], nano_parse(str_of(refused[i]), &n, &e), ERR_BAD_REQUEST);
    }
    arena_fini(&a);
}

TEST(lists_become_vectors)
{
    struct fill_pair pairs[] = {
        { STR("z.example.com/b"), STR("2") }, { STR("cpu"), STR("100m") }, { STR("odd"), STR("not a quantity") },
        { STR("example.com/a"), STR("1500m") }, { STR("cpu"), STR("0.2") }, { STR("pods"), STR("3") },
    };
    fill_map list = { pairs, 6, 6, true };
    struct arena a;
    arena_init(&a);
    struct err e;
    err_init(&e, &a);
    struct sym_table syms;
    sym_init(&syms);
    struct resource_axes axes = { .arena = &a, .e = &e };
    CHECK(!axes_add(&axes, &list));
    axes_seal(&axes);
    CHECK_INT("scalars", axes.n_scalars, 2);
    struct portion *vector;
    CHECK(!axes_parse(&axes, &list, &vector));
    CHECK(vector[AXIS_CPU].given && !vector[AXIS_MEMORY].given);
    struct amounts amounts = axes_amounts(&axes, &syms, vector);
    CHECK_INT("the last cpu counts", amounts.milli_cpu, 200);
    CHECK_INT("scalars", amounts.n_scalars, 2);
    CHECK_STR("by name", sym_text(&syms, amounts.scalars[0].name), STR("example.com/a"));
    CHECK_INT("rounded up", amounts.scalars[0].amount, 2);
    CHECK_INT("found", amounts_scalar(&amounts, amounts.scalars[1].name), 2);
    CHECK_INT("not there", amounts_scalar(&amounts, SYM_EMPTY), 0);
    pairs[1].value = STR("much");
    pairs[4].value = STR("much");
    CHECK(axes_parse(&axes, &list, &vector));
    CHECK(strstr(e.message, "cpu: quantities must match"));
    sym_unref(&syms, amounts.scalars[0].name);
    sym_unref(&syms, amounts.scalars[1].name);
    sym_fini(&syms);
    arena_fini(&a);
}

TEST(too_many_resources_are_refused)
{
    struct arena a;
    arena_init(&a);
    struct err e;
    err_init(&e, &a);
    struct fill_pair pairs[RESOURCE_SCALARS_MAX + 1];
    for (size_t i = 0; i <= RESOURCE_SCALARS_MAX; i++)
        pairs[i] = (struct fill_pair){ str_of(arena_printf(&a, "example.com/r%zu", i)), STR("1") };
    fill_map list = { pairs, RESOURCE_SCALARS_MAX, 0, true };
    struct resource_axes axes = { .arena = &a, .e = &e };
    CHECK(!axes_add(&axes, &list));
    CHECK(!axes_add(&axes, &list)); /* the same ones again are no more */
    list.n++;
    CHECK_INT("one more", axes_add(&axes, &list), ERR_INVALID);
    arena_fini(&a);
}
