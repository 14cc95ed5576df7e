/* daemon/up_keys.c - see up_keys.h. */
#include "daemon/up_keys.h"

#include "api/user.h"
#include "daemon/api_keys.h"
#include "daemon/self_signed.h"

#define HOUR_S 3600
#define YEARS_S(n) ((int64_t)(n) * 365 * 24 * HOUR_S)
#define SERVICE_ADDRESS "10.0.0.1" /* of default/kubernetes in the default range */

struct pair {
    struct str cert, key;
};

struct making {
    const char *folder; /* .../pki */
    int64_t now_s;
    struct arena *arena;
    struct err *e;
};

static bool read_pair(const struct making *m, const char *name, struct pair *ret_pair)
{
    return read_kept_text(arena_printf(m->arena, "%s/%s.crt", m->folder, name), m->arena, &ret_pair->cert) &&
           read_kept_text(arena_printf(m->arena, "%s/%s.key", m->folder, name), m->arena, &ret_pair->key);
}

static enum err_code make_pair(const struct making *m, const char *name, struct tls_new_cert c, int64_t years,
                               struct pair *ret_pair)
{
    c.key = TLS_NEW_KEY_P256;
    c.not_before_s = m->now_s - HOUR_S;
    c.not_after_s = m->now_s + YEARS_S(years);
    if (tls_make_cert(&c, m->arena, &ret_pair->cert, &ret_pair->key, m->e) ||
        keep_text(m->folder, arena_printf(m->arena, "%s.crt", name), ret_pair->cert, 0644, m->arena, m->e) ||
        keep_text(m->folder, arena_printf(m->arena, "%s.key", name), ret_pair->key, 0600, m->arena, m->e))
        return m->e->code;
    return ERR_OK;
}

/* The one that is kept, while it is good. */
static enum err_code find_pair(const struct making *m, const char *name, struct tls_new_cert c, const struct pair *ca,
                               const char *address, struct pair *ret_pair)
{
    if (read_pair(m, name, ret_pair) &&
        tls_cert_is_good(ret_pair->cert, ca ? ca->cert : ret_pair->cert, address, m->now_s + UP_KEYS_RENEW_S))
        return ERR_OK;
    if (ca) {
        c.issuer_cert_pem = ca->cert;
        c.issuer_key_pem = ca->key;
    }
    return make_pair(m, name, c, ca ? 1 : 10, ret_pair);
}

static enum err_code find_serving(const struct making *m, const struct pair *ca, const char *address,
                                  struct pair *ret_pair)
{
    const char *names[] = { "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
                            "kubernetes.default.svc.cluster.local" };
    const char *addresses[] = { "127.0.0.1", "::1", SERVICE_ADDRESS, address };
    struct tls_new_cert c = { .common_name = "berth-apiserver", .only_server = true, .dns_names = names, .n_dns_names = 5,
                              .addresses = addresses, .n_addresses = 4 };
    return find_pair(m, "apiserver", c, ca, address, ret_pair);
}

static enum err_code find_admin(const struct making *m, const struct pair *ca, struct pair *ret_pair)
{
    const char *const groups[] = { GROUP_MASTERS };
    struct tls_new_cert c = { .common_name = "kubernetes-admin", .organizations = groups, .n_organizations = 1 };
    return find_pair(m, "admin", c, ca, NULL, ret_pair);
}

/* Not written again when it is there as it should be. */
static enum err_code keep_kubeconfig(const char *folder, struct str text, struct arena *a, struct err *e)
{
    struct str there;
    if (read_kept_text(arena_printf(a, "%s/kubeconfig", folder), a, &there) && str_eq(there, text))
        return ERR_OK;
    return keep_text(folder, "kubeconfig", text, 0600, a, e);
}

enum err_code up_keys_make(const char *folder, const char *address, const char *url, const struct clock *clock,
                           struct arena *a, struct up_keys *ret_keys, struct err *e)
{
    struct making m = { arena_printf(a, "%s/pki", folder), clock_wall_ns(clock) / CLOCK_NS_PER_SECOND, a, e };
    struct pair ca, serving, admin;
    struct tls_new_cert authority = { .common_name = "berth-ca", .is_ca = true };
    if (find_pair(&m, "ca", authority, NULL, NULL, &ca) || find_serving(&m, &ca, address, &serving) ||
        find_admin(&m, &ca, &admin))
        return e->code;
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    api_keys_add_kubeconfig(&text, url, ca.cert, admin.cert, admin.key);
    enum err_code rc = keep_kubeconfig(folder, strbuf_str(&text), a, e);
    strbuf_fini(&text);
    if (rc)
        return rc;
    *ret_keys = (struct up_keys){ .ca_pem = ca.cert, .folder = m.folder,
                                  .ca_file = arena_printf(a, "%s/ca.crt", m.folder),
                                  .cert_file = arena_printf(a, "%s/apiserver.crt", m.folder),
                                  .key_file = arena_printf(a, "%s/apiserver.key", m.folder) };
    return ERR_OK;
}
