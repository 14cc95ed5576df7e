/* daemon/extender_codec.c - see extender_codec.h. Upstream: pkg/scheduler/extender.go and its types, v1.36. */
#include "daemon/extender_codec.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arena_array.h"
#include "base/map.h"
#include "base/sort.h"
#include "codec/json.h"
#include "codec/json_scan.h"
#include "http/headers.h"

/* ---- Requests ---- */

static enum err_code add_nodes(struct strbuf *to, const struct sym_table *syms, struct raw_objects *raw,
                               const struct extender_request *r, struct err *e)
{
    STRBUF_ADD_LIT(to, ",\"Nodes\":{\"metadata\":{},\"items\":");
    strbuf_add_text(to, r->n_nodes ? "[" : "null");
    for (uint32_t i = 0; i < r->n_nodes; i++) {
        if (i)
            strbuf_add_char(to, ',');
        if (raw_objects_add_node(raw, sym_text(syms, r->nodes[i]), to, e))
            return e->code;
    }
    strbuf_add_text(to, r->n_nodes ? "]},\"NodeNames\":null" : "},\"NodeNames\":null");
    return ERR_OK;
}

static void add_names(struct strbuf *to, const struct sym_table *syms, const struct extender_request *r)
{
    STRBUF_ADD_LIT(to, ",\"Nodes\":null,\"NodeNames\":[");
    for (uint32_t i = 0; i < r->n_nodes; i++) {
        if (i)
            strbuf_add_char(to, ',');
        json_add_string(to, sym_text(syms, r->nodes[i]));
    }
    strbuf_add_char(to, ']');
}

static enum err_code add_victims(struct strbuf *to, struct raw_objects *raw, const struct extender_victims *v,
                                 bool only_uids, struct err *e)
{
    strbuf_add_text(to, v->n_pods || only_uids ? "{\"Pods\":[" : "{\"Pods\":null");
    for (uint32_t i = 0; i < v->n_pods; i++) {
        if (i)
            strbuf_add_char(to, ',');
        if (only_uids) {
            STRBUF_ADD_LIT(to, "{\"UID\":");
            json_add_string(to, str_of(v->pods[i]->meta.uid));
            strbuf_add_char(to, '}');
        } else if (raw_objects_add_pod(raw, v->pods[i], to, e)) {
            return e->code;
        }
    }
    if (v->n_pods || only_uids)
        strbuf_add_char(to, ']');
    STRBUF_ADD_LIT(to, ",\"NumPDBViolations\":");
    strbuf_add_int(to, v->n_violations);
    strbuf_add_char(to, '}');
    return ERR_OK;
}

struct named_victims {
    struct str node; /* first: sorted by it */
    const struct extender_victims *victims;
};

/* Go writes maps by ascending key. */
static enum err_code add_all_victims(struct strbuf *to, const struct sym_table *syms, struct raw_objects *raw,
                                     const struct extender_request *r, struct err *e)
{
    bool only_uids = r->extender->node_cache_capable;
    struct named_victims *sorted = ARENA_NEW_N(e->arena, struct named_victims, r->n_victims);
    for (uint32_t i = 0; i < r->n_victims; i++)
        sorted[i] = (struct named_victims){ sym_text(syms, r->victims[i].node), &r->victims[i] };
    sort_stable(e->arena, sorted, r->n_victims, sizeof(*sorted), sort_compare_strs);
    strbuf_add_text(to, only_uids ? ",\"NodeNameToVictims\":null,\"NodeNameToMetaVictims\":{"
                                  : ",\"NodeNameToVictims\":{");
    for (uint32_t i = 0; i < r->n_victims; i++) {
        if (i)
            strbuf_add_char(to, ',');
        json_add_string(to, sorted[i].node);
        strbuf_add_char(to, ':');
        if (add_victims(to, raw, sorted[i].victims, only_uids, e))
            return e->code;
    }
    strbuf_add_text(to, only_uids ? "}" : "},\"NodeNameToMetaVictims\":null");
    return ERR_OK;
}

static void add_binding(struct strbuf *to, const struct sym_table *syms, const struct pod *pod)
{
    STRBUF_ADD_LIT(to, "{\"PodName\":");
    json_add_string(to, str_of(pod->meta.name));
    STRBUF_ADD_LIT(to, ",\"PodNamespace\":");
    json_add_string(to, sym_text(syms, pod->meta.ns));
    STRBUF_ADD_LIT(to, ",\"PodUID\":");
    json_add_string(to, str_of(pod->meta.uid));
    STRBUF_ADD_LIT(to, ",\"Node\":");
    json_add_string(to, sym_text(syms, pod->node_name));
    strbuf_add_char(to, '}');
}

enum err_code extender_encode(struct strbuf *to, const struct sym_table *syms, struct raw_objects *raw,
                              const struct extender_request *r, struct err *e)
{
    enum err_code code = ERR_OK;
    if (r->verb == EXTENDER_BIND) {
        add_binding(to, syms, r->pod);
        return ERR_OK;
    }
    STRBUF_ADD_LIT(to, "{\"Pod\":");
    if (raw_objects_add_pod(raw, r->pod, to, e))
        return e->code;
    if (r->verb == EXTENDER_PREEMPT)
        code = add_all_victims(to, syms, raw, r, e);
    else if (r->extender->node_cache_capable)
        add_names(to, syms, r);
    else
        code = add_nodes(to, syms, raw, r, e);
    strbuf_add_char(to, '}');
    return code;
}

/* ---- Reading as Go does ---- */

enum { FIELDS_MAX = 4 }; /* within each other */

/* The text is known to be JSON. A value of the wrong kind is noted and passed over. */
struct reader {
    struct json_scan scan;
    struct arena *arena;
    const char *structure;         /* innermost struct, for errors; NULL outside of any */
    const char *fields[FIELDS_MAX]; /* on the way to what is read */
    int n_fields;
    const char *error; /* the first one */
};

static const char *place(struct reader *r)
{
    if (!r->structure)
        return "Go value";
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_printf(&b, "Go struct field %s", r->structure);
    for (int i = 0; i < r->n_fields; i++)
        strbuf_printf(&b, ".%s", r->fields[i]);
    const char *text = arena_cstr(r->arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static void wrong(struct reader *r, const char *value, const char *type)
{
    if (!r->error)
        r->error = arena_printf(r->arena, "json: cannot unmarshal %s into %s of type %s", value, place(r), type);
}

static void skip(struct reader *r)
{
    if (!json_skip_value(&r->scan) && !r->error)
        r->error = "unexpected EOF";
}

/* Whether a value of that kind comes; otherwise it is passed over: null without a word. */
static bool comes(struct reader *r, char first, const char *type)
{
    char c = json_peek(&r->scan);
    if (c == first)
        return true;
    if (c != 'n')
        wrong(r, json_kind_name(c), type);
    skip(r);
    return false;
}

/* A string; what was there stays for null and for what is none. */
static void read_string(struct reader *r, struct str *to)
{
    struct json_text text;
    if (comes(r, '"', "string") && json_scan_string(&r->scan, &text))
        *to = arena_str(r->arena, json_unescape(r->arena, text));
}

static void read_int64(struct reader *r, int64_t *to)
{
    struct str number;
    char c = json_peek(&r->scan);
    if (c != '-' && (c < '0' || c > '9')) {
        comes(r, '0', "int64");
        return;
    }
    if (!json_scan_number(&r->scan, &number))
        return;
    char *end;
    char *text = arena_cstr(r->arena, str_first(number, 64));
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || *end || number.n > 64)
        wrong(r, arena_printf(r->arena, "number %.*s", STR_ARG(str_first(number, 64))), "int64");
    else
        *to = value;
}

/* Lists and maps: calls `item` for each; keys are NULL in lists. */
typedef void (*read_item)(struct reader *r, struct str key, void *to);

static void read_list(struct reader *r, const char *type, read_item item, void *to)
{
    bool first = true, fault;
    if (!comes(r, '[', type) || !json_enter(&r->scan, '['))
        return;
    while (json_next(&r->scan, ']', &first, &fault))
        item(r, (struct str){ 0 }, to);
}

static void read_map(struct reader *r, const char *type, read_item item, void *to)
{
    bool first = true, fault;
    struct json_text key;
    if (!comes(r, '{', type) || !json_enter(&r->scan, '{'))
        return;
    while (json_next(&r->scan, '}', &first, &fault) && json_scan_key(&r->scan, &key))
        item(r, arena_str(r->arena, json_unescape(r->arena, key)), to);
}

struct go_field {
    const char *name;
    void (*read)(struct reader *r, void *to);
};

struct structure {
    const char *name; /* "v1.HostPriority" */
    const struct go_field *fields;
};

struct struct_reading {
    const struct structure *s;
    void *to;
};

static void read_member(struct reader *r, struct str key, void *context)
{
    const struct struct_reading *reading = context;
    const struct go_field *f = reading->s->fields;
    while (f->name && !str_is_nocase(key, f->name))
        f++;
    if (!f->name || r->n_fields == FIELDS_MAX) {
        skip(r);
        return;
    }
    const char *outer = r->structure;
    r->structure = strchr(reading->s->name, '.') + 1;
    r->fields[r->n_fields++] = f->name;
    f->read(r, reading->to);
    r->n_fields--;
    r->structure = outer;
}

static void read_struct(struct reader *r, const struct structure *s, void *to)
{
    struct struct_reading reading = { s, to };
    read_map(r, s->name, read_member, &reading);
}

static bool take_null(struct reader *r)
{
    if (json_peek(&r->scan) != 'n')
        return false;
    skip(r);
    return true;
}

/* ---- Filter ---- */

/* Lists that grow; what counts of them goes into the answer. */
struct names {
    struct str *at;
    size_t n, cap;
    bool given;
};

struct failures {
    struct extender_failure *at;
    size_t n, cap;
    struct map_str by_node;
};

struct filter_result {
    struct names nodes, node_names;
    struct failures failed, unresolvable;
    struct str error;
};

static struct str *new_name(struct reader *r, struct names *names)
{
    names->at = arena_array_more(r->arena, names->at, names->n, &names->cap, sizeof(*names->at));
    names->at[names->n] = STR("");
    return &names->at[names->n++];
}

static void read_name(struct reader *r, struct str key, void *to)
{
    (void)key;
    read_string(r, new_name(r, to));
}

/* A pointer to a list: null makes it absent, a list replaces what an earlier one had. */
static void read_node_names(struct reader *r, void *to)
{
    struct names *names = &((struct filter_result *)to)->node_names;
    bool is_list = json_peek(&r->scan) == '[';
    *names = (struct names){ .given = is_list };
    read_list(r, "[]string", read_name, names);
}

static void read_meta_name(struct reader *r, void *to)
{
    read_string(r, to);
}

static const struct structure object_meta = {
    "v1.ObjectMeta", (const struct go_field[]){ { "name", read_meta_name }, { 0 } }
};

static void read_metadata(struct reader *r, void *to)
{
    read_struct(r, &object_meta, to);
}

static const struct structure node_structure = {
    "v1.Node", (const struct go_field[]){ { "metadata", read_metadata }, { 0 } }
};

static void read_node(struct reader *r, struct str key, void *to)
{
    (void)key;
    read_struct(r, &node_structure, new_name(r, to));
}

static void read_items(struct reader *r, void *to)
{
    struct names *nodes = to;
    nodes->n = 0;
    read_list(r, "[]v1.Node", read_node, nodes);
}

static const struct structure node_list = {
    "v1.NodeList", (const struct go_field[]){ { "items", read_items }, { 0 } }
};

static void read_nodes(struct reader *r, void *to)
{
    struct names *nodes = &((struct filter_result *)to)->nodes;
    if (take_null(r)) {
        *nodes = (struct names){ 0 };
        return;
    }
    nodes->given |= json_peek(&r->scan) == '{';
    read_struct(r, &node_list, nodes);
}

/* The last of equal keys counts. */
static void read_failure(struct reader *r, struct str key, void *to)
{
    struct failures *f = to;
    struct str why = STR("");
    bool is_new;
    read_string(r, &why);
    union map_value *index = map_str_put(&f->by_node, key, &is_new);
    if (is_new) {
        f->at = arena_array_more(r->arena, f->at, f->n, &f->cap, sizeof(*f->at));
        index->num = f->n++;
    }
    f->at[index->num] = (struct extender_failure){ key, arena_cstr(r->arena, why) };
}

static void read_failures(struct reader *r, struct failures *f)
{
    if (json_peek(&r->scan) == 'n') {
        map_str_fini(&f->by_node);
        map_str_init(&f->by_node);
        f->n = 0;
    }
    read_map(r, "v1.FailedNodesMap", read_failure, f);
}

static void read_failed(struct reader *r, void *to)
{
    read_failures(r, &((struct filter_result *)to)->failed);
}

static void read_unresolvable(struct reader *r, void *to)
{
    read_failures(r, &((struct filter_result *)to)->unresolvable);
}

static void read_filter_error(struct reader *r, void *to)
{
    read_string(r, &((struct filter_result *)to)->error);
}

static const struct structure filter_result = {
    "v1.ExtenderFilterResult", (const struct go_field[]){
        { "Nodes", read_nodes },
        { "NodeNames", read_node_names },
        { "FailedNodes", read_failed },
        { "FailedAndUnresolvableNodes", read_unresolvable },
        { "Error", read_filter_error },
        { 0 } }
};

static struct extender_names names_of(const struct names *n)
{
    return (struct extender_names){ n->at, (uint32_t)n->n, n->given };
}

static void read_filter(struct reader *r, struct extender_answer *to)
{
    struct filter_result result = { 0 };
    map_str_init(&result.failed.by_node);
    map_str_init(&result.unresolvable.by_node);
    read_struct(r, &filter_result, &result);
    map_str_fini(&result.failed.by_node);
    map_str_fini(&result.unresolvable.by_node);
    *to = (struct extender_answer){
        .error = result.error.n ? result.error.p : NULL,
        .nodes = names_of(&result.nodes), .node_names = names_of(&result.node_names),
        .failed = result.failed.at, .n_failed = (uint32_t)result.failed.n,
        .unresolvable = result.unresolvable.at, .n_unresolvable = (uint32_t)result.unresolvable.n,
    };
}

/* ---- Prioritize ---- */

struct scores {
    struct extender_score *at;
    size_t n, cap;
};

static void read_host(struct reader *r, void *to)
{
    read_string(r, &((struct extender_score *)to)->node);
}

static void read_score(struct reader *r, void *to)
{
    read_int64(r, &((struct extender_score *)to)->score);
}

static const struct structure host_priority = {
    "v1.HostPriority", (const struct go_field[]){ { "Host", read_host }, { "Score", read_score }, { 0 } }
};

static void read_host_priority(struct reader *r, struct str key, void *to)
{
    (void)key;
    struct scores *s = to;
    s->at = arena_array_more(r->arena, s->at, s->n, &s->cap, sizeof(*s->at));
    s->at[s->n] = (struct extender_score){ .node = STR("") };
    read_struct(r, &host_priority, &s->at[s->n++]);
}

static void read_prioritize(struct reader *r, struct extender_answer *to)
{
    struct scores s = { 0 };
    read_list(r, "v1.HostPriorityList", read_host_priority, &s);
    to->scores = s.at;
    to->n_scores = (uint32_t)s.n;
}

/* ---- Preempt ---- */

struct victims {
    struct extender_meta_victims *at;
    size_t n, cap;
    struct map_str by_node;
};

struct uids {
    struct str *at;
    size_t n, cap;
};

static void read_uid(struct reader *r, void *to)
{
    read_string(r, to);
}

static const struct structure meta_pod = {
    "v1.MetaPod", (const struct go_field[]){ { "UID", read_uid }, { 0 } }
};

static void read_meta_pod(struct reader *r, struct str key, void *to)
{
    (void)key;
    struct uids *u = to;
    u->at = arena_array_more(r->arena, u->at, u->n, &u->cap, sizeof(*u->at));
    u->at[u->n] = STR("");
    if (json_peek(&r->scan) == 'n' && !r->error)
        r->error = "extender: null instead of a pod to preempt";
    read_struct(r, &meta_pod, &u->at[u->n++]);
}

static void read_pods(struct reader *r, void *to)
{
    struct extender_meta_victims *v = to;
    struct uids uids = { 0 };
    read_list(r, "[]*v1.MetaPod", read_meta_pod, &uids);
    v->uids = uids.at;
    v->n_uids = (uint32_t)uids.n;
}

static void read_violations(struct reader *r, void *to)
{
    read_int64(r, &((struct extender_meta_victims *)to)->n_violations);
}

static const struct structure meta_victims = {
    "v1.MetaVictims", (const struct go_field[]){ { "Pods", read_pods }, { "NumPDBViolations", read_violations }, { 0 } }
};

static void read_victims_of_node(struct reader *r, struct str key, void *to)
{
    struct victims *v = to;
    bool is_new;
    union map_value *index = map_str_put(&v->by_node, key, &is_new);
    if (is_new) {
        v->at = arena_array_more(r->arena, v->at, v->n, &v->cap, sizeof(*v->at));
        index->num = v->n++;
    }
    if (json_peek(&r->scan) == 'n' && !r->error)
        r->error = arena_printf(r->arena, "extender: null instead of the victims on node %.*s", STR_ARG(key));
    v->at[index->num] = (struct extender_meta_victims){ .node = key };
    read_struct(r, &meta_victims, &v->at[index->num]);
}

static void read_node_victims(struct reader *r, void *to)
{
    read_map(r, "map[string]*v1.MetaVictims", read_victims_of_node, to);
}

static const struct structure preemption_result = {
    "v1.ExtenderPreemptionResult", (const struct go_field[]){ { "NodeNameToMetaVictims", read_node_victims }, { 0 } }
};

static void read_preempt(struct reader *r, struct extender_answer *to)
{
    struct victims v = { 0 };
    map_str_init(&v.by_node);
    read_struct(r, &preemption_result, &v);
    map_str_fini(&v.by_node);
    to->victims = v.at;
    to->n_victims = (uint32_t)v.n;
}

/* ---- Bind ---- */

static void read_bind_error(struct reader *r, void *to)
{
    read_string(r, to);
}

static const struct structure binding_result = {
    "v1.ExtenderBindingResult", (const struct go_field[]){ { "Error", read_bind_error }, { 0 } }
};

static void read_bind(struct reader *r, struct extender_answer *to)
{
    struct str error = STR("");
    read_struct(r, &binding_result, &error);
    to->error = error.n ? error.p : NULL;
}

/* ---- All ---- */

/* Why there is no value at the beginning of the body. */
static const char *syntax_error(struct arena *a, struct str body)
{
    struct err e;
    err_init(&e, a);
    struct json_scan scan = json_scan_init(body);
    if (json_at_end(&scan))
        return "EOF";
    if (json_check(body, &e) == ERR_OK || strcmp(e.message, "unexpected end of JSON input") == 0)
        return "unexpected EOF";
    return e.message;
}

struct extender_answer extender_decode(struct arena *a, enum extender_verb verb, struct str body)
{
    static void (*const read[N_EXTENDER_VERBS])(struct reader *r, struct extender_answer *to) = {
        [EXTENDER_FILTER] = read_filter,
        [EXTENDER_PRIORITIZE] = read_prioritize,
        [EXTENDER_PREEMPT] = read_preempt,
        [EXTENDER_BIND] = read_bind,
    };
    struct extender_answer answer = { 0 };
    struct json_scan scan = json_scan_init(body);
    struct str value;
    if (!json_scan_value(&scan, &value))
        return (struct extender_answer){ .error = syntax_error(a, body) };
    struct reader r = { .scan = json_scan_init(value), .arena = a };
    read[verb](&r, &answer);
    if (r.error)
        return (struct extender_answer){ .error = r.error };
    return answer;
}
