/* cmd/objects.c - see objects.h. */
#include "cmd/objects.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "codec/json.h"
#include "codec/yaml.h"

enum { ASK_MS = 60 * 1000, DOCUMENT_BYTES_MAX = 64 << 20 };

/* ---- The connection ---- */

int objects_open(struct objects *k, const struct command *c, const struct objects_options *o)
{
    struct arena a;
    struct err e;
    *k = (struct objects){ .c = c, .o = o };
    arena_init(&a);
    err_init(&e, &a);
    strbuf_init(&k->body, STRBUF_NO_MAX);
    int code = cluster_open(&k->cluster, &o->cluster, NULL, MEDIA_JSON, &e) ? cmd_fail(c, 1, "%s", e.message) : 0;
    arena_fini(&a);
    return code;
}

void objects_close(struct objects *k)
{
    cluster_close(&k->cluster);
    strbuf_fini(&k->body);
}

static void on_answer(void *context, const struct api_answer *a)
{
    struct objects *k = context;
    strbuf_reset(&k->body);
    strbuf_add_str(&k->body, a->body);
    k->answer = *a;
    k->answer.body = strbuf_str(&k->body);
    k->answer.error = a->error ? arena_cstr(&k->cluster.arena, str_of(a->error)) : NULL;
    k->done = true;
}

bool objects_ask(struct objects *k, const char *method, struct str target, const char *media_type, struct str body)
{
    const struct api *api = k->cluster.api;
    struct api_request r = { .lane = API_LANE_READ, .method = method, .target = target, .media_type = media_type, .body = body,
                             .timeout_ms = ASK_MS };
    k->done = false;
    api->send(api->context, &r, on_answer, k);
    cluster_wait(&k->cluster, &k->done);
    return api_ok(&k->answer);
}

int objects_refused(struct objects *k)
{
    struct arena *a = &k->cluster.arena;
    const char *problem = api_problem(a, &k->answer);
    struct str reason = api_status_reason(a, &k->answer);
    if (k->answer.status == 0)
        return cmd_fail(k->c, 1, "%s", problem);
    return cmd_fail(k->c, 1, "Error from server (%.*s): %s", STR_ARG(reason.n ? reason : STR("Unknown")), problem);
}

/* ---- Names ---- */

static bool is_known(const struct resource *r)
{
    return r->served && r->type && r->verbs & VERB_GET;
}

static bool eq_case(struct str a, struct str b)
{
    return a.n == b.n && strncasecmp(a.p, b.p, a.n) == 0;
}

static bool is_called(const struct resource *r, struct str word)
{
    if (str_eq(word, r->plural) || str_eq(word, r->singular) || eq_case(word, r->kind))
        return true;
    for (const char *const *s = r->short_names; s && *s; s++)
        if (str_is(word, *s))
            return true;
    return false;
}

static bool is_stable(const struct resource *r)
{
    return !memchr(r->version.p, 'a', r->version.n) && !memchr(r->version.p, 'b', r->version.n); /* v1alpha1, v1beta1 */
}

/* "deployments", or "deployments.apps" where a group is to be told. */
const struct resource *objects_resource(struct str word)
{
    size_t dot = str_index(word, '.');
    struct str name = str_first(word, dot), group = dot < word.n ? str_from(word, dot + 1) : (struct str){ NULL, 0 };
    const struct resource *found = NULL;
    for (size_t i = 0; i < schema_n_resources; i++) {
        const struct resource *r = &schema_resources[i];
        if (!is_known(r) || !is_called(r, name) || (group.p && !str_eq(group, r->group)))
            continue;
        if (!found || (!is_stable(found) && is_stable(r)))
            found = r;
    }
    return found;
}

const struct resource *objects_resource_of(struct str api_version, struct str kind)
{
    struct str group, version;
    schema_split_api_version(api_version, &group, &version);
    for (size_t i = 0; i < schema_n_resources; i++) {
        const struct resource *r = &schema_resources[i];
        if (is_known(r) && str_eq(r->kind, kind) && str_eq(r->group, group) && str_eq(r->version, version))
            return r;
    }
    return NULL;
}

struct str objects_target(struct arena *a, const struct resource *r, const char *ns, struct str name)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_printf(&b, r->group.n ? "/apis/%.*s/%.*s" : "/api%.*s/%.*s", STR_ARG(r->group), STR_ARG(r->version));
    if (r->namespaced && ns) {
        STRBUF_ADD_LIT(&b, "/namespaces/");
        api_add_escaped(&b, str_of(ns));
    }
    strbuf_printf(&b, "/%.*s", STR_ARG(r->plural));
    if (name.n) {
        strbuf_add_char(&b, '/');
        api_add_escaped(&b, name);
    }
    struct str target = arena_str(a, strbuf_str(&b));
    strbuf_fini(&b);
    return target;
}

const char *objects_namespace(struct objects *k)
{
    struct str of_context = k->cluster.config.ns;
    return k->o->ns ? k->o->ns : of_context.n ? arena_cstr(&k->cluster.arena, of_context) : "default";
}

const char *objects_name(struct arena *a, const struct resource *r, struct str name)
{
    return arena_printf(a, "%.*s%s%.*s/%.*s", STR_ARG(r->singular), r->group.n ? "." : "", STR_ARG(r->group), STR_ARG(name));
}

/* ---- Documents ---- */

typedef int document_act(struct objects *k, const struct document *d);

static struct str text_at(const struct value *map, const char *name)
{
    const struct value *v = map && map->kind == VALUE_MAP ? value_member(map, str_of(name)) : NULL;
    return v ? value_text(v) : (struct str){ 0 };
}

static int act_on_object(struct objects *k, const char *path, const struct value *v, document_act *act)
{
    struct arena *a = &k->cluster.arena;
    const struct value *meta = v->kind == VALUE_MAP ? value_member(v, STR("metadata")) : NULL;
    struct str api_version = text_at(v, "apiVersion"), kind = text_at(v, "kind"), ns = text_at(meta, "namespace");
    struct document d = { .resource = objects_resource_of(api_version, kind), .name = text_at(meta, "name") };
    if (!d.resource)
        return cmd_fail(k->c, 1, "%s: no resource is known of kind \"%.*s\" in version \"%.*s\"", path, STR_ARG(kind),
                        STR_ARG(api_version));
    if (!d.name.n)
        return cmd_fail(k->c, 1, "%s: an object of kind %.*s has no name", path, STR_ARG(kind));
    if (d.resource->namespaced)
        d.ns = ns.n ? arena_cstr(a, ns) : objects_namespace(k);
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode_plain(&json, v);
    d.json = strbuf_str(&json);
    int code = act(k, &d);
    strbuf_fini(&json);
    return code;
}

/* A list is each of its items. */
static int act_on_value(struct objects *k, const char *path, const struct value *v, document_act *act)
{
    const struct value *items = v->kind == VALUE_MAP ? value_member(v, STR("items")) : NULL;
    if (!str_ends(text_at(v, "kind"), STR("List")) || !items || items->kind != VALUE_LIST)
        return act_on_object(k, path, v, act);
    int code = 0;
    for (uint32_t i = 0; i < items->n; i++) {
        int one = act_on_object(k, path, &items->items[i], act);
        code = code ? code : one;
    }
    return code;
}

static int act_on_text(struct objects *k, const char *path, struct str text, document_act *act)
{
    struct arena *a = &k->cluster.arena;
    struct yaml_stream stream;
    struct err e;
    int code = 0;
    err_init(&e, a);
    yaml_stream_init(&stream, text);
    for (;;) {
        struct str document, json;
        struct value v;
        struct work work = work_init(DOCUMENT_BYTES_MAX);
        if (yaml_next_document(&stream, &document, &e))
            return cmd_fail(k->c, 1, "%s: %s", path, e.message);
        if (!document.p)
            return code;
        if (yaml_to_json(a, &work, document, NULL, &json, &e) || json_decode_plain(a, &work, json, &v, &e))
            return cmd_fail(k->c, 1, "%s: %s", path, e.message);
        int one = act_on_value(k, path, &v, act);
        code = code ? code : one;
    }
}

static int act_on_file(struct objects *k, const char *path, document_act *act)
{
    size_t n;
    char *bytes = cmd_read_file(path, &n);
    if (!bytes)
        return cmd_fail(k->c, 1, "%s: %s", path, strerror(errno));
    int code = act_on_text(k, path, (struct str){ bytes, n }, act);
    free(bytes);
    return code;
}

static int is_manifest(const struct dirent *d)
{
    struct str name = str_of(d->d_name);
    return name.p[0] != '.' && (str_ends(name, STR(".yaml")) || str_ends(name, STR(".yml")) || str_ends(name, STR(".json")));
}

int objects_each(struct objects *k, const char *path, document_act *act)
{
    struct stat st;
    struct dirent **entries;
    if (strcmp(path, "-") == 0 || stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return act_on_file(k, path, act);
    int code = 0, n = scandir(path, &entries, is_manifest, alphasort);
    if (n < 0)
        return cmd_fail(k->c, 1, "%s: %s", path, strerror(errno));
    for (int i = 0; i < n; i++) {
        int one = act_on_file(k, arena_printf(&k->cluster.arena, "%s/%s", path, entries[i]->d_name), act);
        code = code ? code : one;
        free(entries[i]);
    }
    free(entries);
    return code;
}
