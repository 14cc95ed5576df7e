/* Field validators and object metadata: which field, which value, which words. */
#include "api/object_meta.h"
#include "api/validate.h"
#include "tests/test.h"

static struct arena arena;
static struct field_errors errs;
static struct field_path at;

static void begin(void)
{
    arena_init(&arena);
    field_errors_init(&errs, &arena);
    at = field_child(NULL, "f");
}

static struct str all_errors(void)
{
    return field_errors_text(&arena, &errs);
}

TEST(single_fields)
{
    static const struct {
        const char *name;
        void (*check)(struct str text, const struct field_path *at, struct field_errors *errs);
        const char *text, *want;
    } rows[] = {
        { "three parts", validate_fully_qualified_name, "a.b.c", "" },
        { "two parts are too few", validate_fully_qualified_name, "a.b",
          "f: Invalid value: \"a.b\": should be a domain with at least three segments separated by dots" },
        { "nothing at all", validate_fully_qualified_name, "", "f: Required value" },
        { "dot at the end", validate_fully_qualified_domain_name, "a.b.", "" },
        { "one part", validate_fully_qualified_domain_name, "a.",
          "f: Invalid value: \"a\": should be a domain with at least two segments separated by dots" },
        { "path", validate_domain_prefixed_path, "acme.io/a/b?",
          "f: Invalid value: \"a/b?\": Invalid path (regex used for validation is "
          "'[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')" },
        { "path without a host", validate_domain_prefixed_path, "/a",
          "f: Invalid value: \"/a\": must be a domain-prefixed path (such as \"acme.io/foo\")" },
        { "good path", validate_domain_prefixed_path, "acme.io/a:b/~c", "" },
        { "key without a domain", validate_domain_prefixed_key, "a",
          "f: Invalid value: \"a\": must be a domain-prefixed key (such as \"acme.io/foo\")" },
        { "IP", validate_ip, "2001:DB8::1",
          "f: Invalid value: \"2001:DB8::1\": must be in canonical form (\"2001:db8::1\")" },
        { "IP with zeros", validate_ip, "010.0.0.1",
          "f: Invalid value: \"010.0.0.1\": must not have leading 0s" },
        { "mapped IP", validate_ip, "::ffff:1.2.3.4",
          "f: Invalid value: \"::ffff:1.2.3.4\": must not be an IPv4-mapped IPv6 address" },
        { "range with host bits", validate_cidr, "10.0.0.1/8",
          "f: Invalid value: \"10.0.0.1/8\": must not have bits set beyond the prefix length" },
        { "range", validate_cidr, "0::/8",
          "f: Invalid value: \"0::/8\": must be in canonical form (\"::/8\")" },
        { "manager", validate_field_manager, "a\tb",
          "f: Invalid value: \"a\\tb\": invalid character U+0009 (at position 1)" },
        { "manager with a letter", validate_field_manager, "caf\u00e9", "" },
        { "finalizer", validate_finalizer_name, "/", NULL },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin();
        rows[i].check(str_of(rows[i].text), &at, &errs);
        if (rows[i].want)
            CHECK_STR(rows[i].name, all_errors(), str_of(rows[i].want));
        else
            CHECK(errs.n > 1);
        arena_fini(&arena);
    }
}

TEST(older_fields_take_sloppy_addresses_unless_strict)
{
    begin();
    validate_legacy_ip(STR("010.0.0.1"), false, &at, &errs);
    validate_legacy_ip(STR("::FFFF:1.2.3.4"), false, &at, &errs);
    validate_legacy_cidr(STR("10.0.0.1/08"), false, &at, &errs);
    CHECK_INT("sloppy", errs.n, 0);
    validate_legacy_ip(STR("010.0.0.1"), true, &at, &errs);
    validate_legacy_cidr(STR("10.0.0.1/8"), true, &at, &errs);
    validate_legacy_ip(STR("2001:DB8::1"), true, &at, &errs);
    CHECK_INT("strict", errs.n, 2);
    arena_fini(&arena);
}

TEST(annotation_keys_ignore_case)
{
    begin();
    const struct label list[] = { { STR("Example.COM/A"), STR("x") }, { STR("\u212A/\u0130"), STR("") } };
    validate_annotations((struct labels){ list, 2 }, &at, &errs);
    CHECK_INT("errors", errs.n, 0);
    const struct label bad[] = { { STR("\u00c5"), STR("") } };
    validate_annotations((struct labels){ bad, 1 }, &at, &errs);
    CHECK_INT("errors", errs.n, 1);
    arena_fini(&arena);
}

TEST(annotations_may_not_be_larger_than_their_limit)
{
    begin();
    char *big = arena_zalloc(&arena, ANNOTATIONS_BYTES_MAX);
    struct label list[] = { { STR("k"), { big, ANNOTATIONS_BYTES_MAX - 1 } } };
    validate_annotations((struct labels){ list, 1 }, &at, &errs);
    CHECK_INT("at the limit", errs.n, 0);
    list[0].value.n++;
    validate_annotations((struct labels){ list, 1 }, &at, &errs);
    CHECK_STR("past it", all_errors(), STR("f: Too long: may not be more than 262144 bytes"));
    arena_fini(&arena);
}

TEST(metadata_errors_come_in_the_order_of_the_fields)
{
    begin();
    const struct owner_reference refs[] = {
        { STR("v1"), STR("Event"), STR("<e>"), STR("u"), TRI_TRUE, TRI_FALSE },
        { STR("apps/v1"), STR("ReplicaSet"), STR("r"), STR("u"), TRI_TRUE, TRI_ABSENT },
    };
    const struct str finalizers[] = { STR("orphan"), STR("foregroundDeletion") };
    const struct managed_fields_entry entry = { .operation = STR("Nope") };
    struct object_meta meta = { .generate_name = STR("A-"), .generation = -1, .namespace = STR("x"),
                                .owner_references = refs, .n_owner_references = 2,
                                .finalizers = { finalizers, 2 }, .managed_fields = &entry,
                                .n_managed_fields = 1 };
    validate_object_meta(&meta, false, name_is_dns_label, NULL, &errs);
    static const char *const want[] = {
        "name: Required value: name or generateName is required",
        "namespace: Forbidden: not allowed on this type",
        "generation: Invalid value: -1: must be greater than or equal to 0",
        "ownerReferences: Invalid value: {\"apiVersion\":\"v1\",\"kind\":\"Event\",\"name\":"
        "\"\\u003ce\\u003e\",\"uid\":\"u\",\"controller\":true,\"blockOwnerDeletion\":false}: /v1, "
        "Kind=Event is disallowed from being an owner",
        "ownerReferences: Invalid value: [{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"name\":"
        "\"\\u003ce\\u003e\",\"uid\":\"u\",\"controller\":true,\"blockOwnerDeletion\":false},"
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"r\",\"uid\":\"u\","
        "\"controller\":true}]: Only one reference can have Controller set to true. Found \"true\" in "
        "references for Event/<e> and ReplicaSet/r",
        ("finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\"]: finalizer orphan and "
         "foregroundDeletion cannot be both set"),
        "managedFields[0].operation: Invalid value: \"Nope\": must be `Apply` or `Update`",
    };
    CHECK_INT("errors", errs.n, sizeof(want) / sizeof(want[0]));
    for (size_t i = 0; i < errs.n; i++)
        CHECK_STR("error", field_error_text(&arena, &errs.at[i]), str_of(want[i]));
    arena_fini(&arena);
}

TEST(many_controllers_do_not_multiply_the_memory)
{
    begin();
    enum { N = 20000 };
    struct owner_reference *refs = ARENA_NEW_N(&arena, struct owner_reference, N);
    for (size_t i = 0; i < N; i++)
        refs[i] = (struct owner_reference){ STR("v1"), STR("Pod"), STR("p"), STR("u"), TRI_TRUE, 0 };
    refs[0].name = (struct str){ arena_zalloc(&arena, 20000), 20000 }; /* which all errors name */
    validate_owner_references(refs, N, &at, &errs);
    CHECK(errs.n > 0 && errs.n_dropped > 0);
    CHECK(arena.n_bytes < 64 << 20);
    arena_fini(&arena);
}

TEST(a_manager_of_control_characters_does_not_multiply_the_memory)
{
    begin();
    char *manager = arena_zalloc(&arena, 1 << 20);
    validate_field_manager((struct str){ manager, 1 << 20 }, &at, &errs);
    CHECK(errs.n > 1);
    CHECK(arena.n_bytes < 64 << 20);
    arena_fini(&arena);
}
