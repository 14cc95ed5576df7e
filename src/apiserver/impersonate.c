/* apiserver/impersonate.c - see impersonate.h. Upstream: endpoints/filters/impersonation. */
#include "apiserver/impersonate.h"

#include <stdlib.h>

#include "api/names.h"
#include "api/validate.h"
#include "apiserver/identity.h"
#include "apiserver/rbac_rule.h"
#include "base/hash.h"
#include "base/vec.h"

#define NODE_PREFIX "system:node:"
#define NODE_NAME "authentication.kubernetes.io/node-name"
#define AUTHENTICATION "authentication.k8s.io"

enum {
    REMEMBERED = 1024,   /* askers and their ways; a place is taken over by whoever comes there */
    MANY = 4,            /* so many groups or extra values are first asked about all at once */
};

struct impersonation {
    struct api_authz *authz;
    struct hash_seed seed;
    struct {
        uint64_t user; /* hash of the name */
        uint8_t way;   /* one more than its place in the table; 0: nobody */
    } last[REMEMBERED];
};

struct trial {
    struct impersonation *i;
    struct arena *arena;
    const struct authz_attributes *q;
    const struct user *wanted;
    const char *verb;    /* "impersonate:WAY", or "impersonate" */
    bool legacy;
    struct err *e;
};

/* ---- Which way is for whom ---- */

static struct str node_of(struct str user)
{
    if (!str_starts(user, STR(NODE_PREFIX)))
        return STR("");
    struct str name = str_from(user, sizeof(NODE_PREFIX) - 1);
    return name_is_dns_subdomain(name, false).n ? STR("") : name;
}

static bool is_account(struct str user)
{
    struct str namespace, name;
    return identity_split_account(user, &namespace, &name);
}

static bool only_name(const struct user *u)
{
    return u->uid.n == 0 && u->groups.n == 0 && u->n_extra == 0;
}

static bool fits_associated_node(const struct user *wanted, const struct user *asker)
{
    struct str node = node_of(wanted->name);
    if (!only_name(wanted) || node.n == 0 || !is_account(asker->name))
        return false;
    for (size_t i = 0; i < asker->n_extra; i++)
        if (str_is(asker->extra[i].key, NODE_NAME))
            return asker->extra[i].values.n == 1 && str_eq(asker->extra[i].values.at[0], node);
    return false;
}

static bool fits_arbitrary_node(const struct user *wanted, const struct user *asker)
{
    (void)asker;
    return only_name(wanted) && node_of(wanted->name).n;
}

static bool fits_account(const struct user *wanted, const struct user *asker)
{
    (void)asker;
    return only_name(wanted) && is_account(wanted->name);
}

static bool fits_user_info(const struct user *wanted, const struct user *asker)
{
    (void)asker;
    return !node_of(wanted->name).n && !is_account(wanted->name);
}

static const struct {
    const char *name; /* NULL: legacy */
    bool (*fits)(const struct user *wanted, const struct user *asker);
} ways[] = {
    { "associated-node", fits_associated_node },
    { "arbitrary-node", fits_arbitrary_node },
    { "serviceaccount", fits_account },
    { "user-info", fits_user_info },
    { NULL, NULL },
};
enum { N_WAYS = sizeof(ways) / sizeof(ways[0]) };

/* ---- Questions ---- */

static bool may(struct trial *t, const struct authz_attributes *q)
{
    struct str reason;
    if (api_authz_decide(t->i->authz, t->arena, q, &reason) == AUTHZ_ALLOW)
        return true;
    api_authz_refuse(q, reason, t->e);
    return false;
}

static struct authz_attributes question(const struct trial *t, const char *group, const char *resource, struct str name)
{
    return (struct authz_attributes){ .user = t->q->user, .verb = str_of(t->verb), .is_resource = true,
                                      .group = str_of(group), .version = STR("v1"), .resource = str_of(resource),
                                      .name = name };
}

/* Users, groups and accounts were of the core group before there was another. */
static const char *user_group(const struct trial *t)
{
    return t->legacy ? "" : AUTHENTICATION;
}

static bool may_be_name(struct trial *t, struct user *actual)
{
    struct str node = t->legacy ? STR("") : node_of(t->wanted->name), namespace, name;
    struct authz_attributes q = question(t, user_group(t), "users", t->wanted->name);
    if (node.n) {
        static const struct str nodes = { "system:nodes", 12 };
        q.resource = STR("nodes");
        /* Whoever is on a node may be it or not, whatever its name is. */
        q.name = str_is(q.verb, "impersonate:associated-node") ? STR("*") : node;
        actual->groups = (struct str_list){ &nodes, 1 };
    }
    if (identity_split_account(t->wanted->name, &namespace, &name)) {
        q.resource = STR("serviceaccounts");
        q.namespace = namespace;
        q.name = name;
        if (t->wanted->groups.n == 0)
            actual->groups = identity_of_account(t->arena, namespace, name, STR("")).groups;
    }
    return may(t, &q);
}

static bool may_be_uid(struct trial *t)
{
    struct authz_attributes q = question(t, AUTHENTICATION, "uids", t->wanted->uid);
    return t->wanted->uid.n == 0 || may(t, &q);
}

static bool refuse(struct trial *t, const struct authz_attributes *q, const char *why)
{
    api_authz_refuse(q, str_of(why), t->e);
    return false;
}

static bool may_be_in_groups(struct trial *t)
{
    const struct str_list *groups = &t->wanted->groups;
    struct authz_attributes q = question(t, user_group(t), "groups", STR(""));
    if (groups->n == 0)
        return true;
    if (!t->legacy && str_list_has(groups, STR("")))
        return refuse(t, &q, "impersonating the empty string group is not allowed");
    if (!t->legacy && str_list_has(groups, STR(GROUP_MASTERS))) {
        q.name = STR(GROUP_MASTERS);
        return refuse(t, &q, "impersonating the system:masters group is not allowed");
    }
    q.name = STR("*");
    if (!t->legacy && groups->n >= MANY && may(t, &q))
        return true;
    for (size_t i = 0; i < groups->n; i++) {
        q.name = groups->at[i];
        if (!may(t, &q))
            return false;
    }
    return true;
}

/* NULL: nothing is wrong with it. Keys are in lower case already. */
static const char *check_extra(struct trial *t)
{
    for (size_t i = 0; i < t->wanted->n_extra; i++) {
        const struct user_extra *x = &t->wanted->extra[i];
        struct field_path extra = field_child(NULL, "extra"), key = field_child(&extra, "key");
        struct field_errors errs;
        field_errors_init(&errs, t->arena);
        if (x->key.n == 0)
            return "impersonating the empty string key in extra is not allowed";
        validate_domain_prefixed_path(x->key, &key, &errs);
        if (errs.n)
            return arena_printf(t->arena, "impersonating an invalid key in extra is not allowed: %.*s",
                                STR_ARG(field_errors_text(t->arena, &errs)));
        if (str_list_has(&x->values, STR("")))
            return "impersonating the empty string value in extra is not allowed";
    }
    return NULL;
}

static bool may_have_extra(struct trial *t)
{
    const struct user *u = t->wanted;
    struct authz_attributes q = question(t, AUTHENTICATION, "userextras", STR(""));
    size_t n_values = 0;
    for (size_t i = 0; i < u->n_extra; i++)
        n_values += u->extra[i].values.n;
    const char *wrong = t->legacy || u->n_extra == 0 ? NULL : check_extra(t);
    if (wrong)
        return refuse(t, &q, wrong);
    q.name = q.subresource = STR("*");
    if (!t->legacy && n_values >= MANY && may(t, &q))
        return true;
    for (size_t i = 0; i < u->n_extra; i++)
        for (size_t k = 0; k < u->extra[i].values.n; k++) {
            q.subresource = u->extra[i].key;
            q.name = u->extra[i].values.at[k];
            if (!may(t, &q))
                return false;
        }
    return true;
}

/* ---- One way ---- */

static void ensure_group(struct arena *a, struct user *u, struct str group)
{
    if (str_list_has(&u->groups, group))
        return;
    struct str *groups = ARENA_NEW_N(a, struct str, u->groups.n + 1);
    if (u->groups.n)
        memcpy(groups, u->groups.at, u->groups.n * sizeof(groups[0]));
    groups[u->groups.n] = group;
    u->groups = (struct str_list){ groups, u->groups.n + 1 };
}

static bool may_do_so(struct trial *t, const char *way)
{
    struct authz_attributes q = *t->q;
    q.verb = str_of(arena_printf(t->arena, "impersonate-on:%s:%.*s", way, STR_ARG(t->q->verb)));
    return may(t, &q);
}

static const struct user *try_way(struct trial *t, size_t way)
{
    struct user *actual = ARENA_NEW(t->arena, struct user);
    const char *name = ways[way].name;
    *actual = *t->wanted;
    t->legacy = !name;
    t->verb = name ? arena_printf(t->arena, "impersonate:%s", name) : "impersonate";
    if (name && (!ways[way].fits(t->wanted, t->q->user) || !may_do_so(t, name)))
        return NULL;
    if (!may_be_name(t, actual) || !may_be_uid(t) || !may_be_in_groups(t) || !may_have_extra(t))
        return NULL;
    if (str_is(actual->name, USER_ANONYMOUS))
        ensure_group(t->arena, actual, STR(GROUP_UNAUTHENTICATED));
    else if (!str_list_has(&actual->groups, STR(GROUP_UNAUTHENTICATED)))
        ensure_group(t->arena, actual, STR(GROUP_AUTHENTICATED));
    return actual;
}

/* ---- Headers ---- */

static void add_go_strings(struct strbuf *to, const struct str_list *l)
{
    STRBUF_ADD_LIT(to, "[]string");
    if (l->n == 0) {
        STRBUF_ADD_LIT(to, "(nil)");
        return;
    }
    for (size_t i = 0; i < l->n; i++) {
        strbuf_add_text(to, i ? ", " : "{");
        strbuf_add_quoted_shown(to, l->at[i]);
    }
    strbuf_add_char(to, '}');
}

/* As Go's %#v of what was asked for. */
static enum err_code refuse_nameless(const struct user *u, struct err *e)
{
    struct strbuf text;
    strbuf_init(&text, ERR_MESSAGE_BYTES_MAX);
    STRBUF_ADD_LIT(&text, "requested &user.DefaultInfo{Name:\"\", UID:");
    strbuf_add_quoted_shown(&text, u->uid);
    STRBUF_ADD_LIT(&text, ", Groups:");
    add_go_strings(&text, &u->groups);
    strbuf_add_text(&text, u->n_extra ? ", Extra:map[string][]string{" : ", Extra:map[string][]string(nil");
    for (size_t i = 0; i < u->n_extra; i++) {
        strbuf_add_text(&text, i ? ", " : "");
        strbuf_add_quoted_shown(&text, u->extra[i].key);
        strbuf_add_char(&text, ':');
        add_go_strings(&text, &u->extra[i].values);
    }
    strbuf_add_text(&text, u->n_extra ? "}" : ")");
    STRBUF_ADD_LIT(&text, "} without impersonating a user name");
    err_set(e, ERR_BAD_REQUEST, "%.*s", STR_ARG(strbuf_str(&text)));
    strbuf_fini(&text);
    return e->code;
}

static struct str_list values_of(struct arena *a, const struct headers *h, const char *name)
{
    struct str *at = ARENA_NEW_N(a, struct str, h->n);
    size_t n = 0;
    for (uint32_t i = 0; i < h->n; i++)
        if (str_is_nocase(h->at[i].name, name))
            at[n++] = h->at[i].value;
    return (struct str_list){ at, n };
}

static enum err_code read_headers(struct arena *a, const struct headers *h, struct user *ret_wanted, struct err *e)
{
    static const struct str prefix = { "impersonate-extra-", 18 };
    struct str_list names = values_of(a, h, "impersonate-user"), uids = values_of(a, h, "impersonate-uid");
    struct user u = { .name = names.n ? names.at[0] : STR(""), .uid = uids.n ? uids.at[0] : STR("") };
    u.groups = values_of(a, h, "impersonate-group");
    if (!identity_read_extra(a, h, &(struct str_list){ &prefix, 1 }, &u))
        return err_set(e, ERR_BAD_REQUEST, "more than %d headers Impersonate-Extra-", IDENTITY_EXTRA_MAX);
    if (u.name.n == 0 && (u.uid.n || u.groups.n || u.n_extra))
        return refuse_nameless(&u, e);
    *ret_wanted = u;
    return ERR_OK;
}

/* ---- All ways ---- */

static const struct user *find_way(struct trial *t, struct err *e)
{
    uint64_t hash = hash_str(&t->i->seed, t->q->user->name);
    size_t place = hash % REMEMBERED, first = N_WAYS;
    if (t->i->last[place].way && t->i->last[place].user == hash)
        first = t->i->last[place].way - 1u;
    for (size_t n = 0; n <= N_WAYS; n++) {
        size_t way = n == 0 ? first : n - 1;
        if (way == N_WAYS || (n > 0 && way == first))
            continue;
        err_init(t->e, t->arena);
        const struct user *u = try_way(t, way);
        if (u) {
            t->i->last[place].user = hash;
            t->i->last[place].way = (uint8_t)(way + 1);
            return u;
        }
        if (!e->code && t->e->code)
            *e = *t->e;
    }
    return NULL;
}

enum err_code impersonation_find(struct impersonation *i, struct arena *a, const struct headers *h,
                                 const struct authz_attributes *q, const struct user **ret_user, struct err *e)
{
    struct user wanted = { 0 };
    struct err last;
    if (read_headers(a, h, &wanted, e))
        return e->code;
    if (wanted.name.n == 0) {
        *ret_user = q->user;
        return ERR_OK;
    }
    struct trial t = { .i = i, .arena = a, .q = q, .wanted = &wanted, .e = &last };
    struct user *copy = ARENA_NEW(a, struct user);
    e->code = ERR_OK;
    const struct user *u = find_way(&t, e);
    if (!u)
        return e->code;
    e->code = ERR_OK;
    *copy = user_copy(a, u);
    *ret_user = copy;
    return ERR_OK;
}

struct impersonation *impersonation_new(struct api_authz *z)
{
    struct impersonation *i = mem_zalloc(sizeof(*i));
    i->authz = z;
    i->seed = hash_seed();
    return i;
}

void impersonation_free(struct impersonation *i)
{
    free(i);
}
