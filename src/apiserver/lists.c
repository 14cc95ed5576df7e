/* apiserver/lists.c - see lists.h. Upstream: storage/etcd3/store.go, storage/continue.go. */
#include "apiserver/lists.h"

#include "base/base64.h"
#include "codec/json.h"
#include "http/headers.h"

#define TOO_OLD "The resourceVersion for the provided list is too old."
#define CONTINUE_TOO_OLD                                                                                               \
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without " \
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "     \
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "     \
    "deleted between the time the first chunk was returned and now may show up in the list."

/* ---- Versions ---- */

enum err_code lists_read_version(struct str text, bool list, uint64_t *ret_version, struct err *e)
{
    *ret_version = 0;
    if (text.n == 0 || parse_length(text, ret_version))
        return ERR_OK;
    struct strbuf quoted;
    strbuf_init(&quoted, STRBUF_NO_MAX);
    strbuf_add_quoted_shown(&quoted, text);
    const char *q = strbuf_cstr(&quoted);
    enum err_code rc = err_set(e, list ? ERR_BAD_REQUEST : ERR_UNKNOWN,
                               "%sresourceVersion: Invalid value: %s: strconv.ParseUint: parsing %s: invalid syntax",
                               list ? "invalid resource version: " : "", q, q);
    strbuf_fini(&quoted);
    return rc;
}

/* ---- Tokens: base64url of {"v":"meta.k8s.io/v1","rv":6200,"start":"default/cj-1\u0000"} ---- */

enum { CONTINUE_BYTES_MAX = 8 << 10 };

static struct str make_token(struct arena *a, int64_t revision, struct str start)
{
    struct strbuf json, token;
    strbuf_init(&json, STRBUF_NO_MAX);
    strbuf_init(&token, STRBUF_NO_MAX);
    strbuf_printf(&json, "{\"v\":\"meta.k8s.io/v1\",\"rv\":%lld,\"start\":", (long long)revision);
    json_add_string(&json, start);
    strbuf_add_char(&json, '}');
    base64_add(&token, strbuf_str(&json));
    char *text = arena_alloc(a, token.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < token.n && token.p[i] != '='; i++) {
        char c = token.p[i];
        text[n++] = c;
        if (c == '+')
            text[n - 1] = '-';
        if (c == '/')
            text[n - 1] = '_';
    }
    strbuf_fini(&json);
    strbuf_fini(&token);
    return (struct str){ text, n };
}

/* base64url without padding, as plain base64. */
static struct str unpack_token(struct arena *a, struct str token)
{
    char *text = arena_alloc(a, token.n + 4);
    size_t n = 0;
    for (size_t i = 0; i < token.n; i++) {
        char c = token.p[i];
        text[n++] = c;
        if (c == '-')
            text[n - 1] = '+';
        if (c == '_')
            text[n - 1] = '/';
    }
    while (n % 4)
        text[n++] = '=';
    return (struct str){ text, n };
}

static enum err_code bad_token(struct err *e, const char *why)
{
    return err_set(e, ERR_BAD_REQUEST, "invalid continue token: %s", why);
}

static enum err_code read_token(struct arena *a, struct str token, int64_t *ret_revision, struct str *ret_start,
                                struct err *e)
{
    struct str json;
    struct value v;
    size_t bad_at;
    struct work work = work_init(CONTINUE_BYTES_MAX);
    if (token.n > CONTINUE_BYTES_MAX)
        return bad_token(e, "continue key is not valid");
    if (!base64_decode(a, unpack_token(a, token), &json, &bad_at))
        return bad_token(e, arena_printf(a, "continue key is not valid: illegal base64 data at input byte %zu",
                                         bad_at < token.n ? bad_at : token.n - 1));
    if (json_decode_plain(a, &work, json, &v, e) || v.kind != VALUE_MAP)
        return bad_token(e, "continue key is not valid");
    const struct value *version = value_member(&v, STR("v")), *rv = value_member(&v, STR("rv"));
    const struct value *start = value_member(&v, STR("start"));
    struct str name = version ? value_text(version) : STR("");
    if (!str_is(name, "meta.k8s.io/v1"))
        return bad_token(e, arena_printf(a, "continue key is not valid: server does not recognize this encoded version %.*s",
                                         STR_ARG(err_shown(e, name))));
    if (!rv || rv->kind != VALUE_INT || rv->i == 0)
        return bad_token(e, "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
    if (!start || value_text(start).n == 0)
        return bad_token(e, "continue key is not valid: encoded start key empty (version meta.k8s.io/v1)");
    *ret_revision = rv->i;
    *ret_start = value_text(start);
    return ERR_OK;
}

/* ---- The list ---- */

struct place {
    uint64_t revision; /* 0: the newest, but not older than: */
    uint64_t not_older;
    struct str start;  /* behind the prefix; empty: its beginning */
    bool continues;
    int64_t limit;     /* 0: none */
};

static enum err_code find_place(struct arena *a, const struct list_request *r, struct place *ret, struct err *e)
{
    const struct list_options *o = r->options;
    uint64_t version;
    *ret = (struct place){ .limit = o->limit > 0 ? o->limit : 0 };
    if (o->continue_token.n) {
        int64_t revision = 0;
        if (read_token(a, o->continue_token, &revision, &ret->start, e))
            return e->code;
        if (o->resource_version.n && !str_is(o->resource_version, "0"))
            return err_set(e, ERR_BAD_REQUEST, "specifying resource version is not allowed when using continue");
        ret->continues = true;
        ret->revision = revision > 0 ? (uint64_t)revision : 0;
        return ERR_OK;
    }
    if (lists_read_version(o->resource_version, true, &version, e))
        return e->code;
    if (str_is(o->resource_version, "0")) {
        ret->limit = 0; /* everything, whatever the limit says */
        return ERR_OK;
    }
    bool exact = str_is(o->resource_version_match, "Exact") || (!o->resource_version_match.n && o->limit > 0);
    if (exact)
        ret->revision = version;
    else
        ret->not_older = version;
    return ERR_OK;
}

enum err_code lists_find_version(struct arena *a, const struct list_request *r, uint64_t *ret_version, bool *ret_exact,
                                 struct err *e)
{
    struct place p;
    if (find_place(a, r, &p, e))
        return e->code;
    *ret_exact = p.revision != 0;
    *ret_version = p.revision ? p.revision : p.not_older;
    return ERR_OK;
}

static enum err_code refuse_old(struct arena *a, const struct place *p, struct list_answer *ret, struct err *e)
{
    if (p->continues)
        ret->expired_continue = make_token(a, -1, p->start);
    return err_set(e, ERR_EXPIRED, "%s", p->continues ? CONTINUE_TOO_OLD : TOO_OLD);
}

/* Those that the selectors want, up to the limit; *ret_more: there are others behind them. */
static size_t choose(const struct list_request *r, struct store_list *list, size_t limit, bool *ret_more)
{
    size_t n = 0;
    *ret_more = false;
    for (size_t i = 0; i < list->n; i++) {
        if (!selectable_matches(r->options, stored_selectable(r->objects, r->resource, list->items[i])))
            continue;
        if (limit && n == limit) {
            *ret_more = true;
            break;
        }
        list->items[n++] = list->items[i];
    }
    return n;
}

static struct str joined(struct arena *a, struct str first, struct str second)
{
    char *text = arena_alloc(a, first.n + second.n);
    memcpy(text, first.p, first.n);
    memcpy(text + first.n, second.p, second.n);
    return (struct str){ text, first.n + second.n };
}

static struct str number(struct arena *a, uint64_t value)
{
    return str_of(arena_printf(a, "%llu", (unsigned long long)value));
}

enum err_code lists_read(struct arena *a, const struct list_request *r, struct list_answer *ret_answer, struct err *e)
{
    struct place p;
    *ret_answer = (struct list_answer){ 0 };
    if (find_place(a, r, &p, e))
        return e->code;
    bool all = selects_all(r->options);
    struct str prefix = stored_prefix(a, r->resource, r->namespace);
    struct store_range range = { .prefix = prefix, .revision = p.revision,
                                 .limit = all && p.limit ? (uint32_t)(p.limit < UINT32_MAX ? p.limit : UINT32_MAX) : 0 };
    if (p.start.n)
        range.from = joined(a, prefix, p.start);
    struct store_list list;
    enum err_code rc = store_list(stored_store(r->objects), &range, a, &list, e);
    if (rc == ERR_EXPIRED)
        return refuse_old(a, &p, ret_answer, e);
    if (rc)
        return rc;
    bool more = list.n_left > 0;
    size_t n = all ? list.n : choose(r, &list, (size_t)p.limit, &more);
    *ret_answer = (struct list_answer){ .items = list.items, .n = n, .revision = list.revision };
    ret_answer->meta.resource_version = number(a, list.revision);
    if (more && n) {
        struct str last = str_from(store_item_key(list.items[n - 1]), prefix.n);
        struct str start = joined(a, last, (struct str){ "", 1 }); /* the key and one byte 0: right behind it */
        ret_answer->meta.continue_token = make_token(a, (int64_t)list.revision, start);
        ret_answer->meta.remaining = all ? (int64_t)list.n_left : 0;
    }
    return ERR_OK;
}
