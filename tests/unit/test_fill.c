/* The two decoders of input structs: leniency, limits, errors. */
#include "forms/fill.h"

#include "api/schema_slots.h"
#include "base/work.h"
#include "codec/json.h"
#include "codec/proto.h"
#include "tests/test.h"

/* A few fields of a few types, one of every way to bind. */
struct port {
    struct fill_int container_port;
    struct str protocol;
};
struct container {
    struct str name;
    fill_bool tty;
    fill_strs args;
    FILL_LIST_OF(struct port) ports;
};
struct meta {
    struct str name;
    struct fill_time created, deleted;
    fill_map labels;
    fill_strs annotation_keys;
    struct fill_int generation;
};
struct security {
    struct fill_int user;
};
struct spec {
    FILL_LIST_OF(struct container) containers;
    fill_map overhead;
    struct security *security;
    struct fill_int priority;
    fill_bool host_network, host_users;
    struct str runtime_class, node_name;
};
struct object {
    struct meta meta;
    struct spec spec;
};

static const struct fill_row port_rows[] = {
    [SLOT_core_v1_ContainerPort_containerPort] = FILL_INT(struct port, container_port),
    [SLOT_core_v1_ContainerPort_protocol] = FILL_STR(struct port, protocol),
};
static const struct fill_type port_type = FILL_TYPE(core_v1_ContainerPort, struct port, port_rows);
static const struct fill_row container_rows[] = {
    [SLOT_core_v1_Container_name] = FILL_STR(struct container, name),
    [SLOT_core_v1_Container_tty] = FILL_BOOL(struct container, tty),
    [SLOT_core_v1_Container_args] = FILL_STRS(struct container, args),
    [SLOT_core_v1_Container_ports] = FILL_LIST(struct container, ports, &port_type),
};
static const struct fill_type container_type = FILL_TYPE(core_v1_Container, struct container, container_rows);
static const struct fill_row meta_rows[] = {
    [SLOT_meta_v1_ObjectMeta_name] = FILL_STR(struct meta, name),
    [SLOT_meta_v1_ObjectMeta_creationTimestamp] = FILL_TIME(struct meta, created),
    [SLOT_meta_v1_ObjectMeta_deletionTimestamp] = FILL_TIME(struct meta, deleted),
    [SLOT_meta_v1_ObjectMeta_labels] = FILL_MAP(struct meta, labels),
    [SLOT_meta_v1_ObjectMeta_annotations] = FILL_KEYS(struct meta, annotation_keys),
    [SLOT_meta_v1_ObjectMeta_generation] = FILL_INT(struct meta, generation),
};
static const struct fill_type meta_type = FILL_TYPE(meta_v1_ObjectMeta, struct meta, meta_rows);
static const struct fill_row security_rows[] = {
    [SLOT_core_v1_PodSecurityContext_runAsUser] = FILL_INT(struct security, user),
};
static const struct fill_type security_type =
    FILL_TYPE(core_v1_PodSecurityContext, struct security, security_rows);
static const struct fill_row spec_rows[] = {
    [SLOT_core_v1_PodSpec_containers] = FILL_LIST(struct spec, containers, &container_type),
    [SLOT_core_v1_PodSpec_overhead] = FILL_MAP(struct spec, overhead),
    [SLOT_core_v1_PodSpec_securityContext] = FILL_POINTER(struct spec, security, &security_type),
    [SLOT_core_v1_PodSpec_priority] = FILL_INT(struct spec, priority),
    [SLOT_core_v1_PodSpec_hostNetwork] = FILL_BOOL(struct spec, host_network),
    [SLOT_core_v1_PodSpec_hostUsers] = FILL_BOOL(struct spec, host_users),
    [SLOT_core_v1_PodSpec_runtimeClassName] = FILL_STR(struct spec, runtime_class),
    [SLOT_core_v1_PodSpec_nodeName] = FILL_STR(struct spec, node_name),
};
static const struct fill_type spec_type = FILL_TYPE(core_v1_PodSpec, struct spec, spec_rows);
static const struct fill_row object_rows[] = {
    [SLOT_core_v1_Pod_metadata] = FILL_STRUCT(struct object, meta, &meta_type),
    [SLOT_core_v1_Pod_spec] = FILL_STRUCT(struct object, spec, &spec_type),
};
static const struct fill_type object_type = FILL_TYPE(core_v1_Pod, struct object, object_rows);

/* ---- Everything in the struct as text ---- */

static void add_str(struct strbuf *b, const char *name, struct str s)
{
    if (s.p)
        strbuf_printf(b, " %s=%.*s", name, STR_ARG(s));
}

static void add_int(struct strbuf *b, const char *name, struct fill_int i)
{
    if (i.given)
        strbuf_printf(b, " %s=%lld", name, (long long)i.value);
}

static void add_bool(struct strbuf *b, const char *name, fill_bool v)
{
    if (v)
        strbuf_printf(b, " %s=%s", name, v > 0 ? "true" : "false");
}

static void add_time(struct strbuf *b, const char *name, struct fill_time t)
{
    if (t.given)
        strbuf_printf(b, " %s=%lld", name, (long long)t.seconds);
}

static void add_map(struct strbuf *b, const char *name, const fill_map *m)
{
    if (m->given)
        strbuf_printf(b, " %s", name);
    for (uint32_t i = 0; i < m->n; i++)
        strbuf_printf(b, " %.*s:%.*s", STR_ARG(m->at[i].key), STR_ARG(m->at[i].value));
}

static void add_strs(struct strbuf *b, const char *name, const fill_strs *s)
{
    if (s->given)
        strbuf_printf(b, " %s", name);
    for (uint32_t i = 0; i < s->n; i++)
        strbuf_printf(b, " %.*s", STR_ARG(s->at[i]));
}

static void dump(struct strbuf *b, const struct object *o)
{
    add_str(b, "name", o->meta.name);
    add_time(b, "created", o->meta.created);
    add_time(b, "deleted", o->meta.deleted);
    add_map(b, "labels", &o->meta.labels);
    add_strs(b, "annotations", &o->meta.annotation_keys);
    add_int(b, "generation", o->meta.generation);
    for (uint32_t i = 0; i < o->spec.containers.n; i++) {
        const struct container *c = &o->spec.containers.at[i];
        strbuf_add_text(b, " [");
        add_str(b, "name", c->name);
        add_bool(b, "tty", c->tty);
        add_strs(b, "args", &c->args);
        for (uint32_t k = 0; k < c->ports.n; k++) {
            add_int(b, "port", c->ports.at[k].container_port);
            add_str(b, "protocol", c->ports.at[k].protocol);
        }
        strbuf_add_text(b, " ]");
    }
    add_map(b, "overhead", &o->spec.overhead);
    if (o->spec.security) {
        strbuf_add_text(b, " security");
        add_int(b, "user", o->spec.security->user);
    }
    add_int(b, "priority", o->spec.priority);
    add_bool(b, "hostNetwork", o->spec.host_network);
    add_bool(b, "hostUsers", o->spec.host_users);
    add_str(b, "class", o->spec.runtime_class);
    add_str(b, "node", o->spec.node_name);
}

static void check(const char *what, enum typed_format format, struct str bytes, const char *want)
{
    struct arena a;
    arena_init(&a);
    struct err e;
    err_init(&e, &a);
    struct object o = { 0 };
    struct strbuf got;
    strbuf_init(&got, STRBUF_NO_MAX);
    if (fill_decode(&a, WORK_OWN, &object_type, format, bytes, &o, &e))
        strbuf_printf(&got, "! %s", e.message);
    else
        dump(&got, &o);
    CHECK_STR(what, strbuf_str(&got), str_of(want));
    strbuf_fini(&got);
    arena_fini(&a);
}

TEST(json_is_read_leniently)
{
    static const struct {
        const char *name, *json, *want;
    } rows[] = {
        { "an empty object leaves everything absent", "{}", "" },
        { "white space is skipped", " { \"spec\" : { \"priority\" : 7 } } ", " priority=7" },
        { "every kind of member lands",
          "{\"metadata\":{\"name\":\"p\",\"creationTimestamp\":\"1970-01-01T00:00:10Z\",\"labels\":{\"a\":\"b\"},"
          "\"annotations\":{\"x\":\"y\"},\"generation\":3},\"spec\":{\"containers\":[{\"name\":\"c\",\"tty\":true,"
          "\"args\":[\"1\",\"2\"],\"ports\":[{\"containerPort\":80,\"protocol\":\"TCP\"}]}],\"overhead\":{\"cpu\":\"1\"},"
          "\"securityContext\":{\"runAsUser\":-1},\"hostUsers\":false,\"runtimeClassName\":\"r\"}}",
          " name=p created=10 labels a:b annotations x generation=3 [ name=c tty=true args 1 2 port=80 protocol=TCP ]"
          " overhead cpu:1 security user=-1 hostUsers=false class=r" },
        { "unknown and other-case names are skipped",
          "{\"Metadata\":{\"name\":\"x\"},\"odd\":[1,{\"a\":[]}],\"spec\":{\"nodename\":\"n\"}}", "" },
        { "names may be escaped", "{\"sp\\u0065c\":{\"nodeN\\u0061me\":\"n\\u0031\"}}", " node=n1" },
        { "bytes that are not UTF-8 become U+FFFD", "{\"spec\":{\"nodeName\":\"a\xff\"}}",
          " node=a\xef\xbf\xbd" },
        { "the last scalar counts, structs merge",
          "{\"spec\":{\"priority\":1,\"nodeName\":\"a\"},\"spec\":{\"priority\":2}}", " priority=2 node=a" },
        { "maps merge", "{\"metadata\":{\"labels\":{\"a\":\"1\"},\"labels\":{\"b\":\"2\"}}}", " labels a:1 b:2" },
        { "a second list goes into the elements of the first",
          "{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"containers\":[{\"tty\":true}]}}",
          " [ name=a tty=true ]" },
        { "null clears pointers, lists and maps",
          "{\"metadata\":{\"labels\":{\"a\":\"1\"},\"labels\":null,\"deletionTimestamp\":\"1970-01-01T00:00:01Z\","
          "\"deletionTimestamp\":null},\"spec\":{\"containers\":[{}],\"containers\":null,\"securityContext\":{},"
          "\"securityContext\":null,\"priority\":1,\"priority\":null,\"hostUsers\":true,\"hostUsers\":null,"
          "\"runtimeClassName\":\"r\",\"runtimeClassName\":null}}",
          "" },
        { "null leaves scalars and structs alone",
          "{\"metadata\":{\"name\":\"p\",\"name\":null,\"generation\":1,\"generation\":null},\"metadata\":null,"
          "\"spec\":{\"hostNetwork\":true,\"hostNetwork\":null}}",
          " name=p generation=1 hostNetwork=true" },
        { "null in lists and maps is empty",
          "{\"metadata\":{\"labels\":{\"a\":null}},\"spec\":{\"containers\":[null,{\"args\":[null]}],"
          "\"overhead\":{\"cpu\":null}}}",
          " labels a: [ ] [ args  ] overhead cpu:0" },
        { "given and empty differs from absent",
          "{\"metadata\":{\"labels\":{},\"annotations\":{}},\"spec\":{\"overhead\":{},\"containers\":[{\"args\":[]}]}}",
          " labels annotations [ args ] overhead" },
        { "a quantity may be a number or have space around it",
          "{\"spec\":{\"overhead\":{\"cpu\":1.5,\"memory\":\" 1Gi \"}}}", " overhead cpu:1.5 memory:1Gi" },
        { "the values of keys may be anything", "{\"metadata\":{\"annotations\":{\"a\":[1],\"b\":{}}}}",
          " annotations a b" },
        { "the limits of integers",
          "{\"metadata\":{\"generation\":-9223372036854775808},\"spec\":{\"priority\":-2147483648}}",
          " generation=-9223372036854775808 priority=-2147483648" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        check(rows[i].name, TYPED_JSON, str_of(rows[i].json), rows[i].want);
}

TEST(json_of_the_wrong_type_names_the_field)
{
    static const struct {
        const char *name, *json, *want;
    } rows[] = {
        { "a string for a number", "{\"spec\":{\"priority\":\"1\"}}",
          "! PodSpec.priority: string where int32 is expected" },
        { "a number that does not fit", "{\"spec\":{\"priority\":2147483648}}",
          "! PodSpec.priority: number 2147483648 where int32 is expected" },
        { "a fraction for an integer", "{\"metadata\":{\"generation\":1.0}}",
          "! ObjectMeta.generation: number 1.0 where int64 is expected" },
        { "more than int64", "{\"metadata\":{\"generation\":9223372036854775808}}",
          "! ObjectMeta.generation: number 9223372036854775808 where int64 is expected" },
        { "a number for a string", "{\"spec\":{\"nodeName\":1}}",
          "! PodSpec.nodeName: number where string is expected" },
        { "a list for an object", "{\"spec\":[]}", "! Pod.spec: array where v1.PodSpec is expected" },
        { "an object for a list", "{\"spec\":{\"containers\":{}}}",
          "! PodSpec.containers: object where []v1.Container is expected" },
        { "a string in a list of structs", "{\"spec\":{\"containers\":[\"a\"]}}",
          "! PodSpec.containers: string where []v1.Container is expected" },
        { "a number in a list of strings", "{\"spec\":{\"containers\":[{\"args\":[1]}]}}",
          "! Container.args: number where []string is expected" },
        { "a number in a map of strings", "{\"metadata\":{\"labels\":{\"a\":1}}}",
          "! ObjectMeta.labels: number where map[string]string is expected" },
        { "a bool for a quantity", "{\"spec\":{\"overhead\":{\"cpu\":true}}}",
          "! PodSpec.overhead: bool where v1.ResourceList is expected" },
        { "a string for a bool", "{\"spec\":{\"hostNetwork\":\"true\"}}",
          "! PodSpec.hostNetwork: string where bool is expected" },
        { "a list for the whole", "[]", "! array where v1.Pod is expected" },
        { "null for the whole", "null", "! null where v1.Pod is expected" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        check(rows[i].name, TYPED_JSON, str_of(rows[i].json), rows[i].want);
}

TEST(broken_json_is_refused)
{
    static const char *const texts[] = {
        "", "{", "{\"spec\"", "{\"spec\":", "{\"spec\":}", "{\"spec\":{}", "{}x", "{,}", "{\"spec\":{},}",
        "{\"spec\":{\"priority\":1 2}}", "{\"spec\":{\"priority\":01}}", "{\"spec\":{\"priority\":-}}",
        "{\"spec\":{\"nodeName\":\"a}}", "{\"spec\":{\"nodeName\":\"\\x\"}}", "{\"spec\":{\"hostNetwork\":tru}}",
        "{\"spec\":{\"containers\":[{}}}", "{\"spec\":{\"containers\":[{},]}}", "{\"odd\":[1,]}", "{\"odd\":nul}",
        "{\"odd\":\"\x01\"}",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct arena a;
        arena_init(&a);
        struct err e;
        err_init(&e, &a);
        struct object o = { 0 };
        CHECK_INT(texts[i], fill_decode(&a, WORK_OWN, &object_type, TYPED_JSON, str_of(texts[i]), &o, &e), ERR_BAD_REQUEST);
        CHECK(e.message && *e.message);
        arena_fini(&a);
    }
}

#define BYTES(text) (struct str){ (text), sizeof(text) - 1 }

TEST(protobuf_is_read_leniently)
{
    static const struct {
        const char *name;
        struct str bytes;
        const char *want;
    } rows[] = {
        { "nothing", { "", 0 }, "" },
        { "fields in any order", BYTES("\x12\x06\xc8\x01\x07\x52\x01n"), " priority=7 node=n" },
        { "the last scalar counts, messages merge", BYTES("\x12\x03\x52\x01" "a\x12\x03\x52\x01" "b\x12\x03\xc8\x01\x05"),
          " priority=5 node=b" },
        { "a repeated field grows", BYTES("\x12\x0a\x12\x03\x0a\x01" "a\x12\x03\x0a\x01" "b"), " [ name=a ] [ name=b ]" },
        { "unknown fields and groups are skipped",
          BYTES("\x12\x13\xfb\x3f\x0b\x0c\xfc\x3f\xf8\x3f\x01\xf9\x3f" "12345678" "\x50\x01"),
          "" },
        { "map entries may lack key and value", BYTES("\x0a\x0b\x5a\x03\x0a\x01k\x5a\x00\x5a\x02\x12\x00"),
          " labels k: : :" },
        { "quantities are messages", BYTES("\x12\x0f\x82\x02\x09\x0a\x03" "cpu\x12\x02\x0a\x00\x82\x02\x00"),
          " overhead cpu: :0" },
        { "int32 is cut, bool is any number", BYTES("\x12\x0d\xc8\x01\xff\xff\xff\xff\x1f\x58\x80\x01\xa8\x02\x00"),
          " priority=-1 hostNetwork=true hostUsers=false" },
        { "an empty time is the zero time", BYTES("\x0a\x02\x42\x00"), " created=-62135596800" },
        { "the epoch", BYTES("\x0a\x06\x42\x04\x08\x00\x10\x00"), " created=0" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        check(rows[i].name, TYPED_PROTOBUF, rows[i].bytes, rows[i].want);
}

TEST(broken_protobuf_is_refused)
{
    static const struct {
        const char *name;
        struct str bytes;
    } rows[] = {
        { "a tag alone", BYTES("\x12") },
        { "a length past the end", BYTES("\x12\x05\x52") },
        { "a huge length", BYTES("\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f") },
        { "a varint without an end", BYTES("\x12\x0d\xc8\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff") },
        { "field number 0", BYTES("\x02\x00") },
        { "an end of a group", BYTES("\x0c") },
        { "a group without an end", BYTES("\xfb\x3f") },
        { "wire type 6", BYTES("\xfe\x3f") },
        { "a string for an integer", BYTES("\x12\x04\xca\x01\x01x") },
        { "an integer for a message", BYTES("\x10\x01") },
        { "an integer in a map entry", BYTES("\x0a\x04\x5a\x02\x08\x01") },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct arena a;
        arena_init(&a);
        struct err e;
        err_init(&e, &a);
        struct object o = { 0 };
        CHECK_INT(rows[i].name, fill_decode(&a, WORK_OWN, &object_type, TYPED_PROTOBUF, rows[i].bytes, &o, &e),
                  ERR_BAD_REQUEST);
        CHECK(e.message && *e.message);
        arena_fini(&a);
    }
}

/* "[x,x,...]" of `n` items inside head and tail. */
static struct str repeat(struct strbuf *b, const char *head, const char *item, size_t n, const char *tail)
{
    strbuf_reset(b);
    strbuf_add_text(b, head);
    for (size_t i = 0; i < n; i++) {
        if (i)
            strbuf_add_char(b, ',');
        strbuf_add_text(b, item);
    }
    strbuf_add_text(b, tail);
    return strbuf_str(b);
}

TEST(sizes_are_limited)
{
    struct arena a;
    arena_init(&a);
    struct err e;
    err_init(&e, &a);
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    struct object o = { 0 };
    const char *head = "{\"spec\":{\"containers\":[{\"args\":[", *tail = "]}]}}";
    struct str most = repeat(&b, head, "\"\"", FILL_ITEMS_MAX, tail);
    CHECK(!fill_decode(&a, WORK_OWN, &object_type, TYPED_JSON, most, &o, &e));
    CHECK_INT("all of them", o.spec.containers.at[0].args.n, FILL_ITEMS_MAX);
    struct str more = repeat(&b, head, "\"\"", FILL_ITEMS_MAX + 1, tail);
    o = (struct object){ 0 };
    CHECK_INT("one more", fill_decode(&a, WORK_OWN, &object_type, TYPED_JSON, more, &o, &e), ERR_TOO_LARGE);
    CHECK_TEXT("text", e.message, "Container.args: more than 65535 items");
    o = (struct object){ 0 };
    struct str deep = repeat(&b, "{\"odd\":", "[", 1, "");
    for (int i = 0; i < 20000; i++)
        strbuf_add_char(&b, '[');
    deep = strbuf_str(&b);
    CHECK_INT("deep nesting", fill_decode(&a, WORK_OWN, &object_type, TYPED_JSON, deep, &o, &e), ERR_BAD_REQUEST);
    strbuf_fini(&b);
    arena_fini(&a);
}

TEST(both_formats_give_the_same)
{
    static const char json[] =
        "{\"metadata\":{\"name\":\"p\",\"creationTimestamp\":\"2024-02-29T12:00:00Z\",\"labels\":{\"a\":\"b\"},"
        "\"annotations\":{\"x\":\"y\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"args\":[\"1\"],\"ports\":"
        "[{\"containerPort\":80,\"protocol\":\"UDP\"}]}],\"overhead\":{\"cpu\":\"250m\"},\"priority\":-5,"
        "\"securityContext\":{\"runAsUser\":9},\"hostUsers\":true,\"runtimeClassName\":\"\",\"nodeName\":\"n\"}}";
    struct arena a;
    arena_init(&a);
    struct err e;
    err_init(&e, &a);
    struct value v;
    CHECK(!json_decode(&a, WORK_OWN, object_type.type, str_of(json), NULL, &v, &e));
    struct strbuf message;
    strbuf_init(&message, STRBUF_NO_MAX);
    proto_encode(&message, object_type.type, &v);
    /* Protobuf also says what is zero and not a pointer. */
    check("protobuf", TYPED_PROTOBUF, strbuf_str(&message),
          " name=p created=1709208000 labels a:b annotations x generation=0 [ name=c tty=false args 1 port=80"
          " protocol=UDP ] overhead cpu:250m security user=9 priority=-5 hostNetwork=false hostUsers=true class= node=n");
    check("JSON", TYPED_JSON, str_of(json),
          " name=p created=1709208000 labels a:b annotations x [ name=c args 1 port=80 protocol=UDP ]"
          " overhead cpu:250m security user=9 priority=-5 hostUsers=true class= node=n");
    strbuf_fini(&message);
    arena_fini(&a);
}
