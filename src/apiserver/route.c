/* apiserver/route.c - see route.h. */
#include "apiserver/route.h"

#include <strings.h>

#include "api/field_selector.h"
#include "apiserver/options.h"

#define NOT_FOUND "the server could not find the requested resource"
#define NOT_ALLOWED "the server does not allow this method on the requested resource"

/* ---- Words of the path ---- */

struct words {
    struct str left; /* p is NULL behind the last one */
};

static struct str trim_slashes(struct str path)
{
    while (path.n && path.p[0] == '/')
        path = str_from(path, 1);
    while (path.n && path.p[path.n - 1] == '/')
        path.n--;
    return path;
}

static bool next_word(struct words *w, struct str *ret_word)
{
    if (!w->left.p)
        return false;
    size_t slash = str_index(w->left, '/');
    *ret_word = str_first(w->left, slash);
    w->left = slash < w->left.n ? str_from(w->left, slash + 1) : (struct str){ 0 };
    return true;
}

static size_t count_words(struct words w)
{
    struct str word;
    size_t n = 0;
    while (next_word(&w, &word))
        n++;
    return n;
}

/* ---- Verbs ---- */

static struct str lower(struct arena *a, struct str text)
{
    char *to = arena_alloc(a, text.n + 1);
    for (size_t i = 0; i < text.n; i++)
        to[i] = (char)(text.p[i] >= 'A' && text.p[i] <= 'Z' ? text.p[i] | 0x20 : text.p[i]);
    return (struct str){ to, text.n };
}

static struct str verb_of_method(struct str method)
{
    static const struct {
        const char *method, *verb;
    } verbs[] = {
        { "GET", "get" }, { "HEAD", "get" }, { "POST", "create" }, { "PUT", "update" }, { "PATCH", "patch" },
        { "DELETE", "delete" },
    };
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (str_is(method, verbs[i].method))
            return str_of(verbs[i].verb);
    return STR("");
}

bool query_bool(const struct target *t, const char *name)
{
    struct str given = target_get(t, name);
    return given.p && !str_is(given, "0") && !(given.n == 5 && strncasecmp(given.p, "false", 5) == 0);
}

static bool is_path_segment(struct str name)
{
    return !str_is(name, ".") && !str_is(name, "..") && str_index(name, '/') == name.n && str_index(name,
                                                                                                    '%') == name.n;
}

/* A list of one name is a question about that name, unless the query cannot be read: then it is about all. */
static void take_name_of_selector(struct arena *a, const struct target *t, struct route *r)
{
    struct err ignored;
    struct list_options options;
    err_init(&ignored, a);
    if (options_read_list(a, t, &options, &ignored))
        return;
    const struct str *name = field_selector_exact(&options.fields, STR("metadata.name"));
    if (name && is_path_segment(*name))
        r->name = *name;
}

static void settle_verb(struct arena *a, const struct target *t, struct route *r)
{
    if (r->name.n == 0 && str_is(r->verb, "get")) {
        r->verb = query_bool(t, "watch") ? STR("watch") : STR("list");
        take_name_of_selector(a, t, r);
    } else if (r->name.n == 0 && str_is(r->verb, "delete")) {
        r->verb = STR("deletecollection");
    }
}

/* ---- The request ---- */

static bool is_namespace_subresource(struct str word)
{
    return str_is(word, "status") || str_is(word, "finalize");
}

/* resource/name/subresource/and what we do not look at */
static void read_parts(struct words w, struct route *r)
{
    struct words namespaced = w;
    struct str word, third;
    if (next_word(&namespaced, &word) && str_is(word, "namespaces") && next_word(&namespaced, &r->namespace)) {
        struct words ahead = namespaced;
        if (next_word(&ahead, &third) && !is_namespace_subresource(third)) {
            r->in_namespace = true;
            w = namespaced;
        }
    }
    size_t n = count_words(w);
    r->n_parts = n < 4 ? (uint8_t)n : 4;
    next_word(&w, &r->resource);
    next_word(&w, &r->name);
    if (!str_is(r->verb, "proxy"))
        next_word(&w, &r->subresource);
    if (w.left.p)
        r->rest = w.left;
}

enum err_code route_read(struct arena *a, struct str method, const struct target *t, struct route *ret_route,
                         struct err *e)
{
    struct route r = { .path = t->path, .verb = lower(a, method) };
    struct words w = { trim_slashes(t->path) };
    struct str prefix, word;
    size_t n = w.left.n ? count_words(w) : 0;
    *ret_route = r;
    if (n < 3 || !next_word(&w, &prefix))
        return ERR_OK;
    bool groups = str_is(prefix, "apis");
    if (!groups && !str_is(prefix, "api"))
        return ERR_OK;
    if (groups && (n < 4 || !next_word(&w, &r.group)))
        return ERR_OK;
    r.is_resource = next_word(&w, &r.version);
    r.verb = verb_of_method(method);
    struct words ahead = w;
    if (next_word(&ahead, &word) && (str_is(word, "watch") || str_is(word, "proxy"))) {
        if (!ahead.left.p)
            return err_set(e, ERR_UNKNOWN, "unable to determine kind and namespace from url, %.*s", STR_ARG(t->path));
        r.verb = word;
        r.watch_path = str_is(word, "watch");
        w = ahead;
    }
    read_parts(w, &r);
    settle_verb(a, t, &r);
    *ret_route = r;
    return ERR_OK;
}

/* ---- What there is ---- */

static enum err_code refuse(struct err *e, enum err_code code, const char *message)
{
    e->kind = e->name = "";
    return err_set(e, code, "%s", message);
}

static bool group_is_served(struct str group)
{
    for (size_t i = 0; i < schema_n_resources; i++)
        if (schema_resources[i].served && str_eq(schema_resources[i].group, group))
            return true;
    return false;
}

bool route_missing_is_plain(struct str path)
{
    if (str_starts(path, STR("/api/")) || str_is(path, "/api"))
        return false;
    if (!str_starts(path, STR("/apis/")))
        return true;
    struct str group = str_from(path, 6);
    group = str_first(group, str_index(group, '/'));
    return group.n == 0 || !group_is_served(group);
}

static const struct subresource *find_subresource(const struct resource *res, struct str name)
{
    for (const struct subresource *s = res->subresources; s && s->name; s++)
        if (str_is(name, s->name))
            return s;
    return NULL;
}

static bool connects(struct str subresource)
{
    return str_is(subresource, "exec") || str_is(subresource, "attach") || str_is(subresource, "portforward") ||
           str_is(subresource, "proxy");
}

/* The verbs that the place in the path has, whatever is asked; 0 when there is no such place. */
static unsigned verbs_of_place(const struct route *r, const struct resource *res, const struct subresource *sub)
{
    enum { ITEM = VERB_GET | VERB_UPDATE | VERB_PATCH | VERB_DELETE };
    if ((r->in_namespace && !res->namespaced) || str_is(r->verb, "proxy")) /* the old way to a proxy is gone */
        return 0;
    bool everywhere = res->namespaced && !r->in_namespace;
    if (r->watch_path) {
        bool item = r->n_parts == 2;
        return r->n_parts > 2 || !(res->verbs & VERB_WATCH) || (item && everywhere) ? 0 : VERB_WATCH;
    }
    if (r->n_parts == 1)
        return res->verbs & (everywhere ? (unsigned)(VERB_LIST | VERB_WATCH) : ~(unsigned)ITEM);
    if (everywhere)
        return 0;
    if (r->n_parts == 2)
        return res->verbs & ITEM;
    if (!sub || (r->n_parts > 3 && !str_is(r->subresource, "proxy")))
        return 0;
    return sub->verbs;
}

static unsigned verb_of_name(struct str verb)
{
    static const struct {
        const char *name;
        unsigned verb;
    } verbs[] = {
        { "create", VERB_CREATE }, { "delete", VERB_DELETE }, { "deletecollection", VERB_DELETECOLLECTION },
        { "get", VERB_GET }, { "list", VERB_LIST }, { "patch", VERB_PATCH }, { "update", VERB_UPDATE },
        { "watch", VERB_WATCH },
    };
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (str_is(verb, verbs[i].name))
            return verbs[i].verb;
    return 0;
}

/* A watch where there is none, but a list, has a text of its own. */
static enum err_code check_verb(const struct route *r, struct str method, unsigned have, struct err *e)
{
    unsigned want = verb_of_name(r->verb);
    bool get = str_is(method, "GET");
    if (r->n_parts > 2 && str_is(r->subresource, "proxy"))
        return ERR_OK; /* any method goes through */
    if (r->watch_path || str_is(method, "HEAD"))
        return get ? ERR_OK : refuse(e, ERR_METHOD_NOT_ALLOWED, NOT_ALLOWED);
    if (want & have)
        return ERR_OK;
    if (want != VERB_WATCH || !(have & VERB_LIST))
        return refuse(e, ERR_METHOD_NOT_ALLOWED, NOT_ALLOWED);
    e->kind = arena_cstr(e->arena, r->resource);
    return err_set(e, ERR_METHOD_NOT_ALLOWED, "watch is not supported on resources of kind \"%.*s\"",
                   STR_ARG(r->resource));
}

static enum err_code check_names(const struct route *r, struct err *e)
{
    if (r->in_namespace && (str_is(r->namespace, ".") || str_is(r->namespace, "..")))
        return err_set(e, ERR_UNKNOWN, "invalid key: \"/%.*s/%.*s%s%.*s\"", STR_ARG(r->resource), STR_ARG(r->namespace),
                       r->n_parts > 1 ? "/" : "", STR_ARG(r->n_parts > 1 ? r->name : STR("")));
    if (r->n_parts < 2 || is_path_segment(r->name))
        return ERR_OK;
    const char *what = str_is(r->name, ".") ? "may not be '.'" : "may not be '..'";
    if (str_index(r->name, '%') < r->name.n)
        what = "may not contain '%'";
    struct strbuf name;
    strbuf_init(&name, STRBUF_NO_MAX);
    strbuf_add_quoted_shown(&name, r->name);
    enum err_code code = err_set(e, ERR_BAD_REQUEST, "Name parameter invalid: %s: %s", strbuf_cstr(&name), what);
    strbuf_fini(&name);
    return code;
}

enum err_code route_find(const struct route *r, struct str method, struct endpoint *ret_endpoint, struct err *e)
{
    const struct resource *res = schema_resource(r->group, r->version, r->resource);
    if (!res || !res->served || route_missing_is_plain(r->path))
        return refuse(e, ERR_NOT_FOUND, NOT_FOUND);
    const struct subresource *sub = r->n_parts > 2 ? find_subresource(res, r->subresource) : NULL;
    unsigned have = verbs_of_place(r, res, sub);
    if (!have)
        return refuse(e, ERR_NOT_FOUND, NOT_FOUND);
    if (r->n_parts > 1 && r->name.n == 0)
        return err_set(e, ERR_BAD_REQUEST, "name must be provided");
    if (check_verb(r, method, have, e) || check_names(r, e))
        return e->code;
    *ret_endpoint = (struct endpoint){ .resource = res, .subresource = sub, .type = res->type,
                                       .collection = r->n_parts == 1, .connect = sub && connects(r->subresource) };
    if (sub)
        ret_endpoint->type = schema_type(str_of(sub->type));
    return ERR_OK;
}
