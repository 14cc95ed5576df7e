/* apiserver/identity.c - see identity.h. Upstream: apiserver/pkg/authentication/request. */
#include "apiserver/identity.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/names.h"
#include "base/vec.h"
#include "http/digest.h"
#include "http/target.h"

/* ---- Headers ---- */

static char lower_byte(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool same_name(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (lower_byte(a.p[i]) != lower_byte(b.p[i]))
            return false;
    return true;
}

/* The first value that is not empty of the first header that has one, in the order of the names. */
static struct str first_value(const struct headers *h, const struct str_list *names)
{
    for (size_t i = 0; i < names->n; i++)
        for (uint32_t k = 0; k < h->n; k++)
            if (same_name(h->at[k].name, names->at[i])) {
                if (h->at[k].value.n)
                    return h->at[k].value;
                break; /* as Go: only the first of a name is looked at */
            }
    return STR("");
}

static struct str_list all_values(struct arena *a, const struct headers *h, const struct str_list *names)
{
    VEC(struct str) found = { 0 };
    for (size_t i = 0; i < names->n; i++)
        for (uint32_t k = 0; k < h->n; k++)
            if (same_name(h->at[k].name, names->at[i]) && h->at[k].value.n)
                vec_push(&found, h->at[k].value);
    struct str_list list = str_list_copy(a, &(struct str_list){ found.at, found.n });
    vec_fini(&found);
    return list;
}

static struct str lower(struct arena *a, struct str s)
{
    char *to = arena_cstr(a, s);
    for (size_t i = 0; i < s.n; i++)
        to[i] = lower_byte(to[i]);
    return (struct str){ to, s.n };
}

static struct str extra_key(struct arena *a, struct str escaped)
{
    struct str low = lower(a, escaped), key = target_unescape(a, low, false);
    return key.p ? key : low; /* as upstream: also what is not escaped well */
}

struct extra_value {
    struct str key, value;
};

static int by_key(const void *a, const void *b)
{
    return str_cmp(((const struct user_extra *)a)->key, ((const struct user_extra *)b)->key);
}

void user_sort_extra(struct user_extra *at, size_t n)
{
    qsort(at, n, sizeof(at[0]), by_key);
}

/* Values of one key stand together, keys in their order. */
static void group_extra(struct arena *a, const struct extra_value *at, size_t n, struct user *u)
{
    struct user_extra *extra = ARENA_NEW_N(a, struct user_extra, n);
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < u->n_extra && !str_eq(extra[k].key, at[i].key))
            k++;
        if (k < u->n_extra)
            continue;
        struct str *values = ARENA_NEW_N(a, struct str, n);
        for (size_t j = i; j < n; j++)
            if (str_eq(at[j].key, at[i].key))
                values[extra[k].values.n++] = arena_str(a, at[j].value);
        extra[k].key = at[i].key;
        extra[k].values.at = values;
        u->n_extra++;
    }
    user_sort_extra(extra, u->n_extra);
    u->extra = extra;
}

bool identity_read_extra(struct arena *a, const struct headers *h, const struct str_list *prefixes, struct user *u)
{
    struct extra_value found[IDENTITY_EXTRA_MAX];
    size_t n = 0;
    for (size_t i = 0; i < prefixes->n; i++)
        for (uint32_t k = 0; k < h->n; k++) {
            struct str name = h->at[k].name, prefix = prefixes->at[i];
            if (name.n < prefix.n || !same_name(str_first(name, prefix.n), prefix))
                continue;
            if (n == IDENTITY_EXTRA_MAX)
                return false;
            found[n++] = (struct extra_value){ extra_key(a, str_from(name, prefix.n)), h->at[k].value };
        }
    group_extra(a, found, n, u);
    return true;
}

/* ---- Front proxy ---- */

enum identity_said identity_by_proxy(struct arena *a, const struct identity_proxy *p, const struct headers *h,
                                     const struct tls_peer *peer, struct user *ret_user, const char **ret_why)
{
    if (!peer || !p->roots)
        return IDENTITY_NOTHING;
    const char *why = tls_roots_check_client(p->roots, peer);
    if (!why && p->allowed_names.n && !str_list_has(&p->allowed_names, peer->common_name))
        why = arena_printf(a, "x509: subject with cn=%.*s is not in the allowed list", STR_ARG(peer->common_name));
    if (why) {
        *ret_why = why;
        return IDENTITY_WRONG;
    }
    struct user u = { .name = first_value(h, &p->user_headers) };
    if (u.name.n == 0)
        return IDENTITY_NOTHING;
    u.uid = first_value(h, &p->uid_headers);
    u.groups = all_values(a, h, &p->group_headers);
    if (!identity_read_extra(a, h, &p->extra_prefixes, &u)) {
        /* It speaks for somebody: what it says must not end in a request of its own. */
        *ret_why = "the front proxy sends too many extra headers";
        return IDENTITY_REFUSED;
    }
    *ret_user = u;
    return IDENTITY_USER;
}

enum err_code identity_proxy_set(struct identity_proxy *to, struct str ca_pem, const struct identity_proxy *from,
                                 struct err *e)
{
    struct tls_roots *roots = NULL;
    if (ca_pem.n && tls_roots_new(ca_pem, &roots, e))
        return e->code;
    identity_proxy_fini(to);
    struct arena *a = &to->arena;
    arena_init_small(a);
    to->roots = roots;
    to->allowed_names = str_list_copy(a, &from->allowed_names);
    to->user_headers = str_list_copy(a, &from->user_headers);
    to->uid_headers = str_list_copy(a, &from->uid_headers);
    to->group_headers = str_list_copy(a, &from->group_headers);
    to->extra_prefixes = str_list_copy(a, &from->extra_prefixes);
    return ERR_OK;
}

void identity_proxy_fini(struct identity_proxy *p)
{
    tls_roots_free(p->roots);
    arena_fini(&p->arena);
    *p = (struct identity_proxy){ 0 };
}

/* ---- Client certificate ---- */

void user_add_extra(struct arena *a, struct user *u, const char *key, struct str text)
{
    struct user_extra *extra = ARENA_NEW_N(a, struct user_extra, u->n_extra + 1);
    struct str *value = ARENA_NEW(a, struct str);
    if (u->n_extra)
        memcpy(extra, u->extra, u->n_extra * sizeof(extra[0]));
    *value = text;
    extra[u->n_extra++] = (struct user_extra){ str_of(key), { value, 1 } };
    user_sort_extra(extra, u->n_extra);
    u->extra = extra;
}

enum identity_said identity_by_certificate(struct arena *a, const struct tls_roots *roots, const struct tls_peer *peer,
                                           struct user *ret_user, const char **ret_why)
{
    if (!peer || !roots)
        return IDENTITY_NOTHING;
    const char *why = tls_roots_check_client(roots, peer);
    if (why) {
        *ret_why = arena_printf(a, "verifying certificate of %.*s failed: %s", STR_ARG(peer->common_name), why);
        return IDENTITY_WRONG;
    }
    if (peer->common_name.n == 0)
        return IDENTITY_NOTHING;
    uint8_t digest[DIGEST_BYTES];
    char hex[2 * DIGEST_BYTES + 1];
    digest_sha256(peer->der, digest);
    for (size_t i = 0; i < DIGEST_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    *ret_user = (struct user){ .name = peer->common_name, .groups = { peer->organizations, peer->n_organizations } };
    user_add_extra(a, ret_user, CREDENTIAL_ID, str_of(arena_printf(a, "X509SHA256=%s", hex)));
    return IDENTITY_USER;
}

/* ---- Bearer token ---- */

static struct str trimmed(struct str s)
{
    while (s.n && strchr(" \t\r\n", s.p[0]))
        s = str_from(s, 1);
    while (s.n && strchr(" \t\r\n", s.p[s.n - 1]))
        s.n--;
    return s;
}

struct str identity_bearer_token(const struct headers *h)
{
    struct str field = trimmed(headers_get(h, "authorization"));
    size_t space = str_index(field, ' ');
    if (!str_is_nocase(str_first(field, space), "bearer"))
        return STR("");
    struct str rest = str_from(field, space + 1);
    return str_first(rest, str_index(rest, ' '));
}

/* ---- Service accounts ---- */

#define ACCOUNT_PREFIX "system:serviceaccount:"
#define ACCOUNTS_GROUP "system:serviceaccounts"

bool identity_split_account(struct str user, struct str *ret_namespace, struct str *ret_name)
{
    if (!str_starts(user, STR(ACCOUNT_PREFIX)))
        return false;
    struct str rest = str_from(user, sizeof(ACCOUNT_PREFIX) - 1);
    size_t colon = str_index(rest, ':');
    struct str namespace = str_first(rest, colon), name = str_from(rest, colon + 1);
    if (colon == rest.n || name_is_dns_label(namespace, false).n || name_is_dns_subdomain(name, false).n)
        return false;
    *ret_namespace = namespace;
    *ret_name = name;
    return true;
}

struct user identity_of_account(struct arena *a, struct str namespace, struct str name, struct str uid)
{
    struct str *groups = ARENA_NEW_N(a, struct str, 2);
    groups[0] = STR(ACCOUNTS_GROUP);
    groups[1] = str_of(arena_printf(a, ACCOUNTS_GROUP ":%.*s", STR_ARG(namespace)));
    const char *user = arena_printf(a, ACCOUNT_PREFIX "%.*s:%.*s", STR_ARG(namespace), STR_ARG(name));
    return (struct user){ .name = str_of(user), .uid = uid, .groups = { groups, 2 } };
}

/* ---- Groups that everyone is in ---- */

const struct user *identity_known(struct arena *a, const struct user *user)
{
    struct user *u = ARENA_NEW(a, struct user);
    *u = *user;
    if (!str_list_has(&u->groups, STR(GROUP_AUTHENTICATED)) && !str_list_has(&u->groups, STR(GROUP_UNAUTHENTICATED)) &&
        !str_is(u->name, USER_ANONYMOUS)) {
        struct str *groups = ARENA_NEW_N(a, struct str, u->groups.n + 1);
        if (u->groups.n)
            memcpy(groups, u->groups.at, u->groups.n * sizeof(groups[0]));
        groups[u->groups.n] = STR(GROUP_AUTHENTICATED);
        u->groups = (struct str_list){ groups, u->groups.n + 1 };
    }
    return u;
}

const struct user *identity_anonymous(void)
{
    static const struct str group = { GROUP_UNAUTHENTICATED, sizeof(GROUP_UNAUTHENTICATED) - 1 };
    static const struct user anonymous = { .name = { USER_ANONYMOUS, sizeof(USER_ANONYMOUS) - 1 },
                                           .groups = { &group, 1 } };
    return &anonymous;
}
