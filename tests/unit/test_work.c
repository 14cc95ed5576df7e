/* Budgets: what a body may be and may cost, in every reader of bodies. */
#include "base/work.h"

#include "api/field_selector.h"
#include "api/label_selector.h"
#include "api/node_selector.h"
#include "api/selector_parse.h"
#include "codec/json.h"
#include "codec/object.h"
#include "codec/proto.h"
#include "codec/yaml.h"
#include "forms/inputs.h"
#include "forms/pod.h"
#include "patch/patch.h"
#include "tests/test.h"

#define TOO_MUCH "the body expands to more than 64 times its length"

static struct arena arena;
static struct err e;

static void begin(void)
{
    arena_init(&arena);
    err_init(&e, &arena);
}

static struct strbuf buffer(void)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    return b;
}

TEST(the_first_reader_sets_the_budget_and_all_spend_it)
{
    begin();
    struct work w = work_init(1000);
    CHECK_INT("too long", work_begin(&w, 1001, &e), ERR_TOO_LARGE);
    CHECK_TEXT("says", e.message, "1001 bytes, of which at most 1000 are read");
    CHECK_INT("begins", work_begin(&w, 1000, &e), ERR_OK);
    CHECK_INT("charged", (int64_t)w.left, WORK_FREE_BYTES + 1000 * (WORK_PER_BYTE - 1));
    CHECK_INT("what was made of it may be longer", work_begin(&w, 5000, &e), ERR_OK);
    CHECK_INT("charged", (int64_t)w.left, WORK_FREE_BYTES + 1000 * (WORK_PER_BYTE - 1) - 5000);
    CHECK(!work_take(&w, w.left + 1));
    CHECK(!work_take(&w, 1));
    CHECK_INT("spent", work_begin(&w, 1, &e), ERR_TOO_LARGE);
    CHECK_TEXT("says", e.message, TOO_MUCH);
    arena_fini(&arena);
}

TEST(every_reader_keeps_to_the_length)
{
    begin();
    const struct type *t = schema_type(STR("core/v1.Pod"));
    struct gvk pod = { .version = STR("v1"), .kind = STR("Pod") }, seen;
    struct object o;
    struct value v, map = value_struct(&arena, t);
    struct str json;
    struct findings f;
    struct patch_outcome outcome;
    struct str body = STR("{\"kind\":\"Pod\"}");
    struct work w[] = { work_init(13), work_init(13), work_init(13), work_init(13), work_init(13), work_init(13),
                        work_init(13), work_init(13), work_init(13), work_init(13), work_init(13) };
    struct patch patch = { &w[7], PATCH_TYPE_MERGE, VALIDATION_IGNORE, body };
    CHECK_INT("JSON", json_decode(&arena, &w[0], t, body, NULL, &v, &e), ERR_TOO_LARGE);
    CHECK_INT("plain JSON", json_decode_plain(&arena, &w[1], body, &v, &e), ERR_TOO_LARGE);
    CHECK_INT("protobuf", proto_decode(&arena, &w[2], t, body, &v, &e), ERR_TOO_LARGE);
    CHECK_INT("envelope", proto_decode_object(&arena, &w[3], body, STR(""), STR(""), &t, &v, &e), ERR_TOO_LARGE);
    CHECK_INT("YAML", yaml_to_json(&arena, &w[4], body, NULL, &json, &e), ERR_TOO_LARGE);
    CHECK_INT("object", object_read(&arena, &w[5], MEDIA_JSON, body, pod, NULL, &o, &seen, &e), ERR_TOO_LARGE);
    CHECK_INT("request", object_decode(&arena, &w[6], MEDIA_JSON, body, pod, VALIDATION_WARN, &f, &o, &e),
              ERR_TOO_LARGE);
    CHECK_INT("patch", patch_apply(&arena, t, &map, &patch, &outcome, &e), ERR_TOO_LARGE);
    struct selector selector;
    struct field_selector fields;
    struct label label = { STR("1234567"), STR("1234567") };
    struct label_selector object = { .match_labels = { &label, 1 } };
    CHECK_INT("label selector", selector_parse(&arena, &w[8], STR("1234567=123456"), &selector, &e), ERR_TOO_LARGE);
    CHECK_INT("field selector", field_selector_parse(&arena, &w[9], STR("1234567=123456"), &fields, &e), ERR_TOO_LARGE);
    CHECK_INT("LabelSelector", label_selector_compile(&arena, &w[10], &object, &selector, &e), ERR_TOO_LARGE);
    arena_fini(&arena);
}

/* ---- Protobuf ---- */

static void add_varint(struct strbuf *b, uint64_t v, int n_bytes)
{
    for (int i = 0; i < n_bytes || v >= 0x80; i++, v >>= 7)
        strbuf_add_char(b, (char)(v | 0x80));
    strbuf_add_char(b, (char)v);
}

static void add_field(struct strbuf *b, int number, struct strbuf *own_body)
{
    add_varint(b, (uint64_t)number << 3 | 2, 0);
    add_varint(b, own_body->n, 0);
    strbuf_add_str(b, strbuf_str(own_body));
    strbuf_fini(own_body);
}

/* Entries of field `number`, each with a value that reaches to the end of all, and n_empty empty fields behind them:
 * whoever follows the values reads what comes behind again, twice as often with each entry. */
static struct strbuf overlapping_entries(int number, int n_entries, int n_empty)
{
    enum { TAG_BYTES = 2, REST_BYTES = 6, ENTRY_BYTES = TAG_BYTES + 1 + REST_BYTES };
    struct strbuf b = buffer();
    size_t total = (size_t)n_entries * ENTRY_BYTES + 2 * (size_t)n_empty;
    for (int i = 1; i <= n_entries; i++) {
        add_varint(&b, (uint64_t)number << 3 | 2, TAG_BYTES - 1);
        strbuf_add_char(&b, REST_BYTES);
        strbuf_add_char(&b, 0x12);
        add_varint(&b, total - (size_t)i * ENTRY_BYTES, REST_BYTES - 2);
    }
    for (int i = 0; i < n_empty; i++)
        STRBUF_ADD_LIT(&b, "\x0a\0");
    return b;
}

TEST(map_values_that_reach_past_their_entry_cannot_double_the_work)
{
    begin();
    enum { PROPERTIES = 29 };
    struct strbuf deep = overlapping_entries(PROPERTIES, 30, 100000);
    const struct type *t = schema_type(STR("apiextensions.k8s.io/v1.JSONSchemaProps"));
    struct work w = work_init(REQUEST_BYTES_MAX);
    struct value v;
    CHECK_INT("30 entries, read 2^30 times", proto_decode(&arena, &w, t, strbuf_str(&deep), &v, &e), ERR_TOO_LARGE);
    CHECK_TEXT("says", e.message, TOO_MUCH);
    strbuf_fini(&deep);
    struct strbuf few = overlapping_entries(PROPERTIES, 8, 1);
    struct work enough = work_init(REQUEST_BYTES_MAX);
    CHECK_INT("a few are read as upstream does", proto_decode(&arena, &enough, t, strbuf_str(&few), &v, &e), ERR_OK);
    strbuf_fini(&few);
    arena_fini(&arena);
}

/* Here the values are texts, so that the work grows with the square. */
TEST(typed_forms_keep_to_the_budget)
{
    begin();
    struct sym_table syms;
    sym_init(&syms);
    struct strbuf spec = overlapping_entries(7, 20000, 0), pod = buffer(); /* nodeSelector */
    add_field(&pod, 2, &spec);
    const struct pod *form;
    CHECK_INT("refused", pod_decode(&syms, TYPED_PROTOBUF, strbuf_str(&pod), &form, &e), ERR_TOO_LARGE);
    CHECK_TEXT("says", e.message, "Pod.spec: PodSpec.nodeSelector: " TOO_MUCH);
    strbuf_fini(&pod);
    sym_fini(&syms);
    arena_fini(&arena);
}

/* ---- Texts ---- */

/* `head`, n times `part`, `tail`. */
static struct str repeat(const char *head, const char *part, int n, const char *tail)
{
    struct strbuf b = buffer();
    strbuf_add_text(&b, head);
    for (int i = 0; i < n; i++)
        strbuf_add_text(&b, part);
    strbuf_add_text(&b, tail);
    struct str text = arena_str(&arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

/* A few bytes stand for thousands of digits. */
TEST(exponents_cannot_fill_the_memory)
{
    begin();
    struct str limits = repeat("{\"hard\":{\"a\":1", ",\"a\":\"1234567890123456789e4000\"", 20000, "}}");
    struct work w = work_init(REQUEST_BYTES_MAX);
    struct value v;
    const struct type *t = schema_type(STR("core/v1.ResourceQuotaSpec"));
    CHECK_INT("JSON", json_decode(&arena, &w, t, limits, NULL, &v, &e), ERR_BAD_REQUEST);
    CHECK_TEXT("says", e.message, TOO_MUCH);
    CHECK(arena.n_bytes < 64 << 20);
    arena_fini(&arena);
}

static enum err_code patched(const struct type *t, struct value *object, enum patch_type type, struct str body)
{
    struct work w = work_init(PATCH_BYTES_MAX);
    struct patch patch = { &w, type, VALIDATION_IGNORE, body };
    struct patch_outcome outcome;
    return patch_apply(&arena, t, object, &patch, &outcome, &e);
}

TEST(patches_that_go_over_the_object_again_and_again_end)
{
    begin();
    const struct type *t = schema_type(STR("core/v1.Namespace"));
    struct str many = repeat("{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"spec\":{\"finalizers\":[\"\"", ",\"\"",
                             800000, "]}}");
    struct value object;
    CHECK(!json_decode(&arena, WORK_OWN, t, many, NULL, &object, &e));
    struct str body = repeat("[", "{\"op\":\"add\",\"path\":\"/spec/finalizers/0\",\"value\":\"\"},", 9999,
                             "{\"op\":\"add\",\"path\":\"/spec/finalizers/0\",\"value\":\"\"}]");
    CHECK_INT("a long list moved by each operation", patched(t, &object, PATCH_TYPE_JSON, body), ERR_TOO_LARGE);
    CHECK_TEXT("says", e.message, TOO_MUCH);

    t = schema_type(STR("core/v1.Pod"));
    many = repeat("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"containers\":[{\"name\":\"a\"}",
                  ",{\"name\":\"a\"}", 20000, ",{\"name\":\"z\"}]}}");
    CHECK(!json_decode(&arena, WORK_OWN, t, many, NULL, &object, &e));
    body = repeat("{\"spec\":{\"containers\":[{\"name\":\"b\"}", ",{\"$patch\":\"delete\",\"name\":\"a\"}", 20000,
                  "]}}");
    CHECK_INT("a key deleted again and again", patched(t, &object, PATCH_TYPE_STRATEGIC, body), ERR_TOO_LARGE);

    struct strbuf b = buffer();
    strbuf_add_text(&b, "{\"spec\":{\"containers\":[{\"name\":\"a\"}");
    for (int i = 0; i < 20000; i++)
        strbuf_printf(&b, ",{\"name\":\"a\",\"k%d\":1}", i);
    strbuf_add_text(&b, "]}}");
    CHECK_INT("an element that grows with each merge", patched(t, &object, PATCH_TYPE_STRATEGIC, strbuf_str(&b)),
              ERR_TOO_LARGE);
    strbuf_fini(&b);
    arena_fini(&arena);
}

/* ---- Selectors ---- */

static enum err_code parse_labels(struct work *w, struct str text)
{
    struct selector s;
    return selector_parse(&arena, w, text, &s, &e);
}

static enum err_code parse_fields(struct work *w, struct str text)
{
    struct field_selector s;
    return field_selector_parse(&arena, w, text, &s, &e);
}

/* The text as the only value of an expression, or split at spaces. */
static struct match_expression expression_of(struct str text)
{
    struct str *values = ARENA_NEW_N(&arena, struct str, text.n + 1);
    size_t n = 0, space;
    for (; (space = str_index(text, ' ')) < text.n; text = str_from(text, space + 1))
        values[n++] = str_first(text, space);
    values[n++] = text;
    return (struct match_expression){ STR("k"), STR("In"), { values, n } };
}

static enum err_code compile_object(struct work *w, struct str text)
{
    struct match_expression x = expression_of(text);
    struct selector s;
    return label_selector_compile(&arena, w, &(struct label_selector){ .expressions = &x, .n_expressions = 1 }, &s, &e);
}

static enum err_code compile_node_selector(struct work *w, struct str text)
{
    struct match_expression x = expression_of(text);
    struct node_selector_term term = { .expressions = &x, .n_expressions = 1 };
    return node_selector_compile(&arena, w, &(struct node_selector){ &term, 1 }, NULL).spent ? ERR_TOO_LARGE : ERR_OK;
}

static enum err_code compile_preferred(struct work *w, struct str text)
{
    struct match_expression x = expression_of(text);
    struct preferred_term term = { 1, { .expressions = &x, .n_expressions = 1 } };
    return preferred_terms_compile(&arena, w, &term, 1, NULL).spent ? ERR_TOO_LARGE : ERR_OK;
}

static enum err_code merge_text(struct work *w, struct str text)
{
    struct str got;
    return merge_patch_apply(&arena, w, STR("{}"), text, &got, &e);
}

/* The smallest budget with which the reader reads the text. */
static uint64_t least_budget(enum err_code (*read)(struct work *w, struct str text), struct str text)
{
    uint64_t low = 0, high = (uint64_t)text.n * WORK_PER_BYTE;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        struct work w = { .bytes_max = SIZE_MAX, .begun = true, .left = middle };
        if (read(&w, text) == ERR_OK)
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

TEST(each_byte_that_is_visited_is_charged)
{
    static const struct {
        const char *name;
        enum err_code (*read)(struct work *w, struct str text);
        const char *head, *part, *tail;
        unsigned walks; /* over the text, at least */
    } rows[] = {
        { "a label selector: lexed, checked", parse_labels, "a in (b", "b", ")", 2 },
        { "its values: sorted", parse_labels, "a in (b", ",b", ")", 7 },
        { "its keys: sorted", parse_labels, "b", ",b", "", 5 },
        { "a field selector: split, copied", parse_fields, "a=b", "b", "", 2 },
        { "its terms: sorted", parse_fields, "a=b", ",a=b", "", 5 },
        { "a LabelSelector: read, checked", compile_object, "b", "b", "", 2 },
        { "its values: sorted", compile_object, "b", " b", "", 5 },
        { "a node selector: read, checked", compile_node_selector, "b", "b", "", 2 },
        { "its values: sorted", compile_node_selector, "b", " b", "", 5 },
        { "a preferred term: read, checked", compile_preferred, "b", "b", "", 2 },
        { "its values: sorted", compile_preferred, "b", " b", "", 5 },
        { "a merge patch: checked, parsed, written", merge_text, "{\"a\":\"", "bb", "\"}", 3 },
        { "its members: sorted", merge_text, "{\"a\":1", ",\"a\":1", "}", 5 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin();
        int n = rows[i].part[1] ? 1000 : 50; /* label values have 63 bytes at most */
        struct str text = repeat(rows[i].head, rows[i].part, n, rows[i].tail);
        struct work w = work_init(REQUEST_BYTES_MAX);
        CHECK_INT(rows[i].name, rows[i].read(&w, text), ERR_OK);
        uint64_t least = least_budget(rows[i].read, text);
        uint64_t around = n == 50 ? 16 : 256; /* what stands around, or comes with the other document */
        if (least + around < (uint64_t)text.n * rows[i].walks)
            FAIL("%s: %zu bytes are read for %llu", rows[i].name, text.n, (unsigned long long)least);
        arena_fini(&arena);
    }
}

/* Whatever a selector is made of, sorting included, a text of the permitted length is within its budget. */
TEST(long_selectors_stay_within_the_budget)
{
    static const struct {
        const char *name;
        enum err_code (*read)(struct work *w, struct str text);
        const char *head, *part, *tail;
    } rows[] = {
        { "values", parse_labels, "a in (b", ",", ")" },  { "keys", parse_labels, "b", ",b", "" },
        { "terms", parse_fields, "a=b", ",=", "" },       { "object", compile_object, "", " ", "" },
        { "node selector", compile_node_selector, "", " ", "" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin();
        int n = (1 << 20) / (int)strlen(rows[i].part);
        struct str text = repeat(rows[i].head, rows[i].part, n, rows[i].tail);
        struct work w = work_init(REQUEST_BYTES_MAX);
        CHECK_INT(rows[i].name, rows[i].read(&w, text), ERR_OK);
        arena_fini(&arena);
    }
}

TEST(a_form_whose_selectors_take_too_much_is_refused)
{
    begin();
    struct sym_table syms;
    sym_init(&syms);
    struct selector_in in = { .match_labels = { .at = (struct fill_pair[]){ { STR("a"), STR("b") } }, .n = 1 } };
    struct node_selector_in nodes = { .terms = { .at = ARENA_NEW(&arena, struct term_in), .n = 1 } };
    struct expression_in x = { .key = STR("a"), .op = STR("Exists") };
    nodes.terms.at[0].expressions = (expressions_in){ .at = &x, .n = 1 };
    struct preferred_in preferred = { .weight = { 1, true }, .preference = nodes.terms.at[0] };
    struct work none = { .begun = true };
    for (int i = 0; i < 3; i++) {
        struct build b = { &arena, &syms, &e, &none, false };
        if (i == 0)
            (void)build_matcher(&b, &in);
        else if (i == 1)
            CHECK(!build_node_rules(&b, &nodes).given);
        else
            CHECK_INT("rules", build_weighted_rules(&b, &preferred, 1).n, 0);
        CHECK(b.spent);
    }
    sym_fini(&syms);
    arena_fini(&arena);
}

/* ---- What is told about a patch ---- */

static enum err_code told(const struct type *t, enum patch_type type, struct str body, unsigned *ret_n)
{
    struct work w = work_init(PATCH_BYTES_MAX);
    struct value object = value_struct(&arena, t);
    struct patch patch = { &w, type, VALIDATION_WARN, body };
    struct patch_outcome outcome;
    enum err_code rc = patch_apply(&arena, t, &object, &patch, &outcome, &e);
    *ret_n = outcome.n_warnings;
    return rc;
}

/* Every text repeats the path, and a key can be as long as the body. */
TEST(findings_about_a_patch_do_not_grow_with_its_square)
{
    begin();
    const struct type *t = schema_type(STR("core/v1.Namespace"));
    struct str key = repeat("", "k", 1500000, "");
    struct strbuf b = buffer();
    strbuf_printf(&b, "{\"%.*s\":{\"a\":1", STR_ARG(key));
    for (int i = 0; i < 20000; i++)
        strbuf_printf(&b, ",\"%d\":1,\"%d\":1", i, i);
    strbuf_add_text(&b, "}}");
    unsigned n;
    CHECK_INT("below a long key", told(t, PATCH_TYPE_MERGE, strbuf_str(&b), &n), ERR_OK);
    CHECK(n <= 1);
    CHECK(arena.n_bytes < 64 << 20);
    strbuf_reset(&b);

    key = repeat("", "k", 400000, "");
    strbuf_printf(&b, "{\"%.*s\":{\"c\":{\"a\":1,\"a\":1}", STR_ARG(key));
    for (int i = 0; i < 50000; i++)
        strbuf_add_text(&b, ",\"c\":{\"a\":1,\"a\":1}");
    strbuf_add_text(&b, "}}");
    CHECK_INT("the same again and again", told(t, PATCH_TYPE_MERGE, strbuf_str(&b), &n), ERR_TOO_LARGE);
    CHECK_TEXT("says", e.message, "error decoding patch: " TOO_MUCH);
    strbuf_fini(&b);
    arena_fini(&arena);
}

/* A server's limits are far below those of files, and a patch has the smaller one. */
TEST(bodies_of_a_server_have_its_limits)
{
    begin();
    const struct type *t = schema_type(STR("core/v1.ConfigMap"));
    struct gvk config_map = { .version = STR("v1"), .kind = STR("ConfigMap") };
    struct value current = value_struct(&arena, t);
    struct findings f;
    struct object o;
    struct str most = repeat("{\"data\":{\"k\":\"", "vvvvvvvv", PATCH_BYTES_MAX / 8 - 3, "\"}}");
    struct str more = repeat("{\"data\":{\"k\":\"", "vvvvvvvv", PATCH_BYTES_MAX / 8, "\"}}");
    struct str most_whole = repeat("{\"data\":{\"k\":\"", "vvvvvvvv", REQUEST_BYTES_MAX / 8 - 3, "\"}}");
    struct str more_whole = repeat("{\"data\":{\"k\":\"", "vvvvvvvv", REQUEST_BYTES_MAX / 8, "\"}}");
    struct work w[] = { work_init(REQUEST_BYTES_MAX), work_init(REQUEST_BYTES_MAX) };
    CHECK((int)PATCH_BYTES_MAX < (int)REQUEST_BYTES_MAX);
    for (enum patch_type type = PATCH_TYPE_MERGE; type <= PATCH_TYPE_STRATEGIC; type++) {
        CHECK_INT("patch", patched(t, &current, type, most), ERR_OK);
        CHECK_INT("one too long", patched(t, &current, type, more), ERR_TOO_LARGE);
    }
    CHECK_INT("object", object_decode(&arena, &w[0], MEDIA_JSON, most_whole, config_map, VALIDATION_STRICT, &f, &o, &e),
              ERR_OK);
    CHECK_INT("one too long", object_decode(&arena, &w[1], MEDIA_JSON, more_whole, config_map, VALIDATION_STRICT, &f, &o,
                                            &e), ERR_TOO_LARGE);
    arena_fini(&arena);
}
