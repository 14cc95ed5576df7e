/* tests/unit/test_encode.c - objects, lists and events in every form: the same whatever the parts, and what they are made of. */
#include "apiserver/encode.h"
#include "codec/proto.h"
#include "tests/unit/api_story.h"

enum { N_OBJECTS = 5 };

static const struct {
    const char *what;
    struct answer_form form;
    bool pretty;
} forms[] = {
    { "JSON", { .media = MEDIA_JSON }, false },
    { "JSON for a person", { .media = MEDIA_JSON }, true },
    { "YAML", { .media = MEDIA_YAML }, false },
    { "protobuf", { .media = MEDIA_PROTOBUF }, false },
    { "a table", { .media = MEDIA_JSON, .as = AS_TABLE }, false },
    { "metadata", { .media = MEDIA_JSON, .as = AS_METADATA_LIST }, false },
    { "metadata in protobuf", { .media = MEDIA_PROTOBUF, .as = AS_METADATA_LIST }, false },
};
enum { N_FORMS = sizeof(forms) / sizeof(forms[0]) };

static void begin(struct api_world *w)
{
    api_world_init(w, &(struct api_world_options){ 0 });
    for (int i = 0; i < N_OBJECTS; i++)
        story_create(w, "configmaps", "", "default",
                     arena_printf(&w->arena, "{\"metadata\":{\"name\":\"c%d\"},\"data\":{\"k\":\"v%d\"}}", i, i));
}

static struct store_list all_of(struct api_world *w)
{
    struct store_list list;
    struct store_range range = { .prefix = stored_prefix(&w->arena, stored_resource("configmaps", ""), STR("")) };
    CHECK(!store_list(w->store, &range, &w->arena, &list, &w->e));
    CHECK_INT("objects", list.n, N_OBJECTS);
    return list;
}

static struct encoder encoder_of(struct api_world *w, size_t form)
{
    return (struct encoder){ .objects = w->objects, .resource = stored_resource("configmaps", ""), .form = forms[form].form,
                             .pretty = forms[form].pretty, .table = { .now_ns = API_WORLD_NOW_S * (int64_t)CLOCK_NS_PER_SECOND } };
}

/* A list with parts of `room` bytes. */
static struct str listed(struct api_world *w, size_t form, size_t room, int *ret_n_parts)
{
    struct store_list list = all_of(w);
    struct list_encoder l = { .encoder = encoder_of(w, form), .items = list.items, .n = list.n,
                              .meta = { STR("77"), STR("next"), 3 } };
    struct strbuf to;
    strbuf_init(&to, STRBUF_NO_MAX);
    *ret_n_parts = 1;
    for (size_t before = 0; encode_list_part(&l, room, &to); before = to.n) {
        CHECK(to.n - before >= room);
        ++*ret_n_parts;
    }
    struct str copy = arena_str(&w->arena, strbuf_str(&to));
    strbuf_fini(&to);
    return copy;
}

static bool has(struct str text, const char *part)
{
    return memmem(text.p, text.n, part, strlen(part)) != NULL;
}

TEST(a_list_is_the_same_whatever_its_parts)
{
    static const size_t rooms[] = { 1, 100, 1000, 100000 };
    struct api_world w;
    begin(&w);
    for (size_t f = 0; f < N_FORMS; f++) {
        int n_parts;
        struct str whole = listed(&w, f, SIZE_MAX, &n_parts);
        CHECK_INT(forms[f].what, n_parts, 1);
        CHECK(has(whole, "77") && has(whole, "next"));
        for (int i = 0; i < N_OBJECTS; i++)
            CHECK(has(whole, arena_printf(&w.arena, "c%d", i)));
        for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++)
            CHECK_STR(forms[f].what, listed(&w, f, rooms[i], &n_parts), whole);
    }
    int n_parts;
    listed(&w, 0, 1, &n_parts);
    CHECK_INT("plain JSON comes item by item behind its head", n_parts, N_OBJECTS + 1);
    api_world_fini(&w);
}

TEST(items_of_lists_have_no_kind_and_those_of_metadata_have)
{
    struct api_world w;
    int n_parts;
    begin(&w);
    struct value v;
    CHECK(!json_decode_plain(&w.arena, WORK_OWN, listed(&w, 0, SIZE_MAX, &n_parts), &v, &w.e));
    CHECK_STR("the list's", value_text(value_member(&v, STR("kind"))), STR("ConfigMapList"));
    const struct value *items = value_member(&v, STR("items"));
    CHECK_INT("items", items->n, N_OBJECTS);
    CHECK(!value_member(&items->items[0], STR("kind")) && !value_member(&items->items[0], STR("apiVersion")));
    CHECK(value_member(&items->items[0], STR("metadata")) && value_member(&items->items[0], STR("data")));
    CHECK(!json_decode_plain(&w.arena, WORK_OWN, listed(&w, 5, SIZE_MAX, &n_parts), &v, &w.e));
    CHECK_STR("the list's", value_text(value_member(&v, STR("kind"))), STR("PartialObjectMetadataList"));
    items = value_member(&v, STR("items"));
    CHECK_STR("an item's", value_text(value_member(&items->items[0], STR("kind"))), STR("PartialObjectMetadata"));
    CHECK(!value_member(&items->items[0], STR("data")));
    api_world_fini(&w);
}

/* Lengths in protobuf come before what they are the lengths of. */
TEST(a_list_in_protobuf_can_be_opened)
{
    struct api_world w;
    int n_parts;
    begin(&w);
    for (size_t f = 0; f < N_FORMS; f++) {
        struct proto_envelope envelope;
        if (forms[f].form.media != MEDIA_PROTOBUF)
            continue;
        CHECK(!proto_open(listed(&w, f, 10, &n_parts), &envelope, &w.e));
        CHECK_STR(forms[f].what, envelope.kind, forms[f].form.as ? STR("PartialObjectMetadataList") : STR("ConfigMapList"));
        CHECK(has(envelope.raw, "c0") && has(envelope.raw, "c4"));
    }
    api_world_fini(&w);
}

TEST(events_tell_their_type_and_a_deletion_its_version)
{
    struct api_world w;
    begin(&w);
    struct store_item *item = all_of(&w).items[0];
    struct encoder e = encoder_of(&w, 0);
    struct strbuf to;
    strbuf_init(&to, STRBUF_NO_MAX);
    encode_event(&e, EVENT_MODIFIED, item, 0, &to);
    const char *want = arena_printf(&w.arena, "{\"type\":\"MODIFIED\",\"object\":%.*s}\n", STR_ARG(store_item_value(item)));
    CHECK_STR("as it is stored", strbuf_str(&to), str_of(want));
    strbuf_reset(&to);
    encode_event(&e, EVENT_DELETED, item, 99, &to);
    CHECK(has(strbuf_str(&to), "{\"type\":\"DELETED\",") && has(strbuf_str(&to), "\"resourceVersion\":\"99\""));
    strbuf_reset(&to);
    encode_bookmark(&e, 7, true, &to);
    CHECK_STR("a bookmark", strbuf_str(&to), STR("{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\","
              "\"metadata\":{\"resourceVersion\":\"7\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n"));
    strbuf_reset(&to);
    encode_bookmark(&e, 7, false, &to);
    CHECK(!has(strbuf_str(&to), "annotations"));
    strbuf_fini(&to);
    api_world_fini(&w);
}

TEST(only_encoders_of_the_same_form_share_their_bytes)
{
    struct api_world w;
    begin(&w);
    for (size_t i = 0; i < N_FORMS; i++)
        for (size_t k = 0; k < N_FORMS; k++) {
            struct encoder a = encoder_of(&w, i), b = encoder_of(&w, k);
            bool same = a.form.media == b.form.media && a.form.as == b.form.as; /* events are never indented */
            CHECK_INT(forms[i].what, encoders_agree(&a, &b), same);
        }
    struct encoder a = encoder_of(&w, 4), b = a;
    b.table.no_columns = true;
    CHECK(!encoders_agree(&a, &b));
    b = a;
    b.table.include = INCLUDE_OBJECT;
    CHECK(!encoders_agree(&a, &b));
    b = a;
    b.resource = stored_resource("secrets", "");
    CHECK(!encoders_agree(&a, &b));
    api_world_fini(&w);
}
