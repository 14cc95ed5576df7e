/* Field errors: paths, how each type and value prints, one text of many, the bound on hostile input. */
#include "api/field_error.h"
#include "tests/test.h"

static struct arena arena;
static struct field_errors errs;

static void begin(void)
{
    arena_init(&arena);
    field_errors_init(&errs, &arena);
}

TEST(paths_join_members_indexes_and_keys)
{
    begin();
    struct field_path spec = field_child(NULL, "spec"), list = field_child(&spec, "containers");
    struct field_path first = field_index(&list, 0), ports = field_child(&first, "ports");
    struct field_path port = field_index(&ports, 12), labels = field_child(&spec, "labels");
    struct field_path key = field_key(&labels, STR("a/b")), bare = field_index(NULL, 3);
    struct field_path below = field_child(&bare, "x"), empty = field_key(&labels, STR(""));
    CHECK_STR("index", field_path_text(&arena, &port), STR("spec.containers[0].ports[12]"));
    CHECK_STR("key", field_path_text(&arena, &key), STR("spec.labels[a/b]"));
    CHECK_STR("empty key", field_path_text(&arena, &empty), STR("spec.labels[]"));
    CHECK_STR("index at the root", field_path_text(&arena, &below), STR("[3].x"));
    CHECK_STR("no path", field_path_text(&arena, NULL), STR("<nil>"));
    arena_fini(&arena);
}

static void check_last(const char *want)
{
    CHECK(errs.n > 0);
    CHECK_STR("error", field_error_text(&arena, &errs.at[errs.n - 1]), str_of(want));
}

TEST(every_type_reads_as_upstream)
{
    begin();
    struct field_path f = field_child(NULL, "f");
    static const char *const supported[] = { "A", "B\"" };
    field_invalid(&errs, &f, field_str(STR("x\n")), STR("no"));
    check_last("f: Invalid value: \"x\\n\": no");
    field_type_invalid(&errs, &f, field_bool(true), STR("no"));
    check_last("f: Invalid value: true: no");
    field_required(&errs, &f, STR(""));
    check_last("f: Required value");
    field_required(&errs, &f, STR("why"));
    check_last("f: Required value: why");
    field_forbidden(&errs, &f, STR("why"));
    check_last("f: Forbidden: why");
    field_not_found(&errs, &f, field_str(STR("x")));
    check_last("f: Not found: \"x\"");
    field_duplicate(&errs, &f, field_int(-7));
    check_last("f: Duplicate value: -7");
    field_not_supported(&errs, &f, field_enum(STR("C")), supported, 2);
    check_last("f: Unsupported value: \"C\": supported values: \"A\", \"B\\\"\"");
    field_not_supported(&errs, &f, field_enum(STR("C")), NULL, 0);
    check_last("f: Unsupported value: \"C\"");
    field_too_long(&errs, &f, 1);
    check_last("f: Too long: may not be more than 1 byte");
    field_too_long(&errs, &f, -1);
    check_last("f: Too long: value is too long");
    field_too_long_characters(&errs, &f, 2);
    check_last("f: Too long: may not be more than 2 characters");
    field_too_short(&errs, &f, 3);
    check_last("f: Too short: must be at least 3 characters");
    field_too_many(&errs, &f, 5, 1);
    check_last("f: Too many: 5: must have at most 1 item");
    field_too_many(&errs, &f, -1, -1);
    check_last("f: Too many: has too many items");
    field_too_few(&errs, &f, 0, 2);
    check_last("f: Too few: 0: must have at least 2 items");
    field_internal(&errs, &f, STR("oops"));
    check_last("f: Internal error: oops");
    CHECK_TEXT("reason", field_error_reason(FIELD_ERROR_TOO_FEW), "FieldValueTooFew");
    arena_fini(&arena);
}

TEST(values_of_other_types_are_json)
{
    begin();
    struct field_path f = field_child(NULL, "f");
    const struct str list[] = { STR("<a>"), STR("\u2028\x01\t\"") };
    field_invalid(&errs, &f, field_strs(list, 2), STR(""));
    check_last("f: Invalid value: [\"\\u003ca\\u003e\",\"\\u2028\\u0001\\t\\\"\"]");
    field_invalid(&errs, &f, field_strs(list, 0), STR(""));
    check_last("f: Invalid value: []");
    field_invalid(&errs, &f, field_strs(NULL, 0), STR(""));
    check_last("f: Invalid value: null");
    field_invalid(&errs, &f, field_enum(STR("a&\xff")), STR(""));
    check_last("f: Invalid value: \"a\\u0026\\ufffd\"");
    field_invalid(&errs, &f, field_json(STR("{}")), STR(""));
    check_last("f: Invalid value: {}");
    arena_fini(&arena);
}

TEST(one_text_of_many_shows_repeated_errors_once)
{
    begin();
    CHECK_STR("none", field_errors_text(&arena, &errs), STR(""));
    struct field_path a = field_child(NULL, "a"), b = field_child(NULL, "b");
    field_required(&errs, &b, STR(""));
    CHECK_STR("one", field_errors_text(&arena, &errs), STR("b: Required value"));
    field_required(&errs, &b, STR(""));
    CHECK_STR("twice the same", field_errors_text(&arena, &errs), STR("b: Required value"));
    field_required(&errs, &a, STR(""));
    field_required(&errs, &b, STR(""));
    CHECK_STR("in order", field_errors_text(&arena, &errs), STR("[b: Required value, a: Required value]"));
    arena_fini(&arena);
}

TEST(a_list_stops_growing_at_its_bound)
{
    begin();
    struct field_path f = field_child(NULL, "f");
    char *big = arena_zalloc(&arena, 1 << 20);
    memset(big, 'x', 1 << 20);
    for (int i = 0; i < 1000; i++)
        field_invalid(&errs, &f, field_str((struct str){ big, 1 << 20 }), STR(""));
    CHECK(errs.n >= 1 && errs.n < 10);
    CHECK_INT("all were counted", errs.n + errs.n_dropped, 1000);
    CHECK(field_errors_text(&arena, &errs).n < 3 * FIELD_ERRORS_BYTES_MAX);
    arena_fini(&arena);
}
