/* apiserver/authn.c - see authn.h. Upstream: pkg/kubeapiserver/authenticator/config.go and what it puts together. */
#include "apiserver/authn.h"

#include <stdlib.h>

#include "apiserver/identity.h"
#include "apiserver/token_file.h"

#define INVALID_TOKEN "invalid bearer token"

struct api_authn {
    struct stored *objects;
    struct sa_tokens *tokens; /* NULL: tokens of service accounts are not known */
    struct tls_roots *clients; /* NULL: certificates are nobody's */
    struct identity_proxy proxy;
    struct token_file file;
    bool has_file;
    bool anonymous, anonymous_health;
};

/* ---- Tokens ---- */

/* Those of `wanted` that are audiences of this server: tokens of the file are good for nobody else. */
static struct str_list own_audiences(const struct api_authn *n, struct arena *a, struct str_list wanted)
{
    struct str_list own = n->tokens ? sa_tokens_audiences(n->tokens) : (struct str_list){ 0 };
    struct str *both = ARENA_NEW_N(a, struct str, wanted.n);
    size_t count = 0;
    if (wanted.n == 0)
        return str_list_copy(a, &own);
    for (size_t i = 0; i < wanted.n; i++)
        if (str_list_has(&own, wanted.at[i]))
            both[count++] = arena_str(a, wanted.at[i]);
    return (struct str_list){ both, count };
}

static enum err_code check_token(struct api_authn *n, struct arena *a, struct str token, struct str_list audiences,
                                 int64_t now_s, const struct user **ret_user, struct str_list *ret_audiences,
                                 struct err *e)
{
    const struct user *u = n->has_file ? token_file_find(&n->file, token) : NULL;
    if (u) {
        struct str_list fitting = own_audiences(n, a, audiences);
        if (audiences.n == 0 || fitting.n) {
            struct user copy = user_copy(a, u);
            *ret_user = identity_known(a, &copy);
            *ret_audiences = fitting;
            return ERR_OK;
        }
    }
    if (!n->tokens || !sa_token_is_ours(n->tokens, token))
        return err_set(e, ERR_UNAUTHORIZED, INVALID_TOKEN);
    if (sa_token_check(n->tokens, a, n->objects, token, audiences, now_s, &u, ret_audiences, e))
        /* As upstream's Aggregate of what two ways of looking at it say. */
        return err_set(e, ERR_UNAUTHORIZED, "[" INVALID_TOKEN ", %s]", e->message);
    *ret_user = identity_known(a, u);
    return ERR_OK;
}

enum err_code api_authn_review(struct api_authn *n, struct arena *a, struct str token, struct str_list audiences,
                               int64_t now_s, const struct user **ret_user, struct str_list *ret_audiences,
                               struct err *e)
{
    /* As if it stood behind "Bearer ": what follows a space is not looked at. */
    return check_token(n, a, str_first(token, str_index(token, ' ')), audiences, now_s, ret_user, ret_audiences, e);
}

/* ---- Requests ---- */

static bool is_health(struct str path)
{
    return str_is(path, "/healthz") || str_is(path, "/livez") || str_is(path, "/readyz");
}

static enum identity_said by_certificates(const struct api_authn *n, struct arena *a, const struct head *head,
                                          const struct tls_peer *peer, struct user *ret_user, const char **ret_why)
{
    const char *why = NULL;
    enum identity_said said = identity_by_proxy(a, &n->proxy, &head->headers, peer, ret_user, ret_why);
    if (said == IDENTITY_USER || said == IDENTITY_REFUSED)
        return said;
    enum identity_said next = identity_by_certificate(a, n->clients, peer, ret_user, &why);
    if (next == IDENTITY_NOTHING)
        return said;
    if (!*ret_why)
        *ret_why = why;
    return next;
}

enum err_code api_authn_find(struct api_authn *n, struct arena *a, const struct head *head, struct str path,
                             const struct tls_peer *peer, int64_t now_s, const struct user **ret_user, struct err *e)
{
    struct user u;
    struct str_list audiences;
    const char *why = NULL;
    enum identity_said said = by_certificates(n, a, head, peer, &u, &why);
    if (said == IDENTITY_USER) {
        *ret_user = identity_known(a, &u);
        return ERR_OK;
    }
    struct str token = n->has_file || n->tokens ? identity_bearer_token(&head->headers) : STR("");
    if (said != IDENTITY_REFUSED && token.n) {
        if (!check_token(n, a, token, (struct str_list){ 0 }, now_s, ret_user, &audiences, e))
            return ERR_OK;
        return why ? err_set(e, ERR_UNAUTHORIZED, "[%s, %s]", why, e->message) : e->code;
    }
    /* Who shows something that is not good is refused, also where nobody has to show anything. */
    if (why)
        return err_set(e, ERR_UNAUTHORIZED, "%s", why);
    if (!n->anonymous && !(n->anonymous_health && is_health(path)))
        return err_set(e, ERR_UNAUTHORIZED, "nothing says who asks");
    *ret_user = identity_anonymous();
    return ERR_OK;
}

/* ---- What is believed ---- */

enum err_code api_authn_set_client_ca(struct api_authn *n, struct str pem, struct err *e)
{
    struct tls_roots *roots = NULL;
    if (pem.n && tls_roots_new(pem, &roots, e))
        return e->code;
    tls_roots_free(n->clients);
    n->clients = roots;
    return ERR_OK;
}

static enum err_code read_options(struct api_authn *n, const struct api_authn_options *o, struct err *e)
{
    struct identity_proxy proxy = { .allowed_names = o->proxy_names, .user_headers = o->proxy_user_headers,
                                    .uid_headers = o->proxy_uid_headers, .group_headers = o->proxy_group_headers,
                                    .extra_prefixes = o->proxy_extra_prefixes };
    if (api_authn_set_client_ca(n, o->client_ca_pem, e) || identity_proxy_set(&n->proxy, o->proxy_ca_pem, &proxy, e))
        return e->code;
    if (o->token_file.n && token_file_read(o->token_file, &n->file, e))
        return e->code;
    n->has_file = o->token_file.n > 0;
    return ERR_OK;
}

enum err_code api_authn_new(const struct api_authn_options *o, struct api_authn **ret_authn, struct err *e)
{
    struct api_authn *n = mem_zalloc(sizeof(*n));
    n->objects = o->objects;
    n->tokens = o->tokens;
    n->anonymous = o->anonymous;
    n->anonymous_health = o->anonymous_health;
    if (read_options(n, o, e)) {
        api_authn_free(n);
        return e->code;
    }
    *ret_authn = n;
    return ERR_OK;
}

void api_authn_free(struct api_authn *n)
{
    if (!n)
        return;
    tls_roots_free(n->clients);
    identity_proxy_fini(&n->proxy);
    if (n->has_file)
        token_file_fini(&n->file);
    free(n);
}
