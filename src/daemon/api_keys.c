/* daemon/api_keys.c - see api_keys.h. */
#include "daemon/api_keys.h"

#include "api/user.h"
#include "base/base64.h"
#include "base/log.h"
#include "config/config.h"
#include "daemon/self_signed.h"

#define HOUR_S 3600
#define YEARS_S(n) ((int64_t)(n) * 365 * 24 * HOUR_S)

const char *api_keys_folder(const struct apiserver_flags *f, const char *data_folder, struct arena *a)
{
    if (APISERVER_FLAG_GIVEN(f, cert_dir))
        return arena_cstr(a, f->cert_dir);
    return data_folder[0] ? arena_printf(a, "%s/pki", data_folder) : "";
}

/* A key alone: what comes with it is not used. */
static enum err_code make_key(const struct clock *clock, struct arena *a, struct str *ret_pem, struct err *e)
{
    int64_t now_s = clock_wall_ns(clock) / CLOCK_NS_PER_SECOND;
    struct tls_new_cert c = { .common_name = "service-accounts", .key = TLS_NEW_KEY_P256,
                              .not_before_s = now_s - HOUR_S, .not_after_s = now_s + YEARS_S(1) };
    struct str unused;
    return tls_make_cert(&c, a, &unused, ret_pem, e);
}

static enum err_code find_signing_key(const char *folder, const struct clock *clock, struct arena *a,
                                      struct str *ret_pem, struct err *e)
{
    if (folder[0] && read_kept_text(arena_printf(a, "%s/sa.key", folder), a, ret_pem))
        return ERR_OK;
    if (make_key(clock, a, ret_pem, e))
        return e->code;
    return folder[0] ? keep_text(folder, "sa.key", *ret_pem, 0600, a, e) : ERR_OK;
}

enum err_code api_keys_tokens(const struct apiserver_flags *f, const char *folder, const struct clock *clock,
                              struct arena *a, struct api_token_keys *ret_keys, struct err *e)
{
    struct api_token_keys keys = { .n_pems = f->service_account_key_file.n };
    keys.pems = ARENA_NEW_N(a, struct str, keys.n_pems + 1);
    for (size_t i = 0; i < keys.n_pems; i++)
        if (config_read_file(a, arena_cstr(a, f->service_account_key_file.at[i]), &keys.pems[i], e))
            return e->code;
    if (f->service_account_signing_key_file.n) {
        if (config_read_file(a, arena_cstr(a, f->service_account_signing_key_file), &keys.signing_pem, e))
            return err_wrap(e, "failed to parse service-account-issuer-key-file");
    } else if (keys.n_pems == 0 && find_signing_key(folder, clock, a, &keys.signing_pem, e)) {
        return e->code;
    }
    if (keys.n_pems == 0)
        keys.pems[keys.n_pems++] = keys.signing_pem;
    *ret_keys = keys;
    return ERR_OK;
}

/* ---- An administrator ---- */

bool api_keys_lacks_clients(const struct apiserver_flags *f)
{
    return f->client_ca_file.n == 0 && f->token_auth_file.n == 0 && f->requestheader_client_ca_file.n == 0;
}

static enum err_code make_authority(const char *folder, const struct clock *clock, struct arena *a,
                                    struct str *ret_cert, struct str *ret_key, struct err *e)
{
    int64_t now_s = clock_wall_ns(clock) / CLOCK_NS_PER_SECOND;
    struct tls_new_cert c = { .common_name = "berth-client-ca", .is_ca = true, .key = TLS_NEW_KEY_P256,
                              .not_before_s = now_s - HOUR_S, .not_after_s = now_s + YEARS_S(10) };
    if (tls_make_cert(&c, a, ret_cert, ret_key, e) || keep_text(folder, "client-ca.crt", *ret_cert, 0644, a, e) ||
        keep_text(folder, "client-ca.key", *ret_key, 0600, a, e))
        return e->code;
    return ERR_OK;
}

static void add_base64(struct strbuf *b, const char *name, struct str text)
{
    strbuf_printf(b, "    %s: ", name);
    base64_add(b, text);
    strbuf_add_char(b, '\n');
}

void api_keys_add_kubeconfig(struct strbuf *b, const char *url, struct str server_pem, struct str cert, struct str key)
{
    strbuf_printf(b, "apiVersion: v1\nkind: Config\ncurrent-context: berth\nclusters:\n- name: berth\n  cluster:\n"
                     "    server: %s\n", url);
    add_base64(b, "certificate-authority-data", server_pem);
    STRBUF_ADD_LIT(b, "users:\n- name: admin\n  user:\n");
    add_base64(b, "client-certificate-data", cert);
    add_base64(b, "client-key-data", key);
    STRBUF_ADD_LIT(b, "contexts:\n- name: berth\n  context:\n    cluster: berth\n    user: admin\n");
}

static enum err_code write_kubeconfig(const char *folder, const char *url, struct str server_pem, struct str cert,
                                      struct str key, struct arena *a, struct err *e)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    api_keys_add_kubeconfig(&b, url, server_pem, cert, key);
    enum err_code rc = keep_text(folder, "admin.kubeconfig", strbuf_str(&b), 0600, a, e);
    strbuf_fini(&b);
    return rc;
}

/* A new certificate each time: address and serving certificate may be others than at the last start. */
enum err_code api_keys_admin(const char *folder, const char *url, struct str server_pem, const struct clock *clock,
                             struct arena *a, struct str *ret_client_ca_pem, struct err *e)
{
    struct str ca_cert, ca_key, cert, key;
    bool has_ca = read_kept_text(arena_printf(a, "%s/client-ca.crt", folder), a, &ca_cert) &&
                  read_kept_text(arena_printf(a, "%s/client-ca.key", folder), a, &ca_key);
    if (!has_ca && make_authority(folder, clock, a, &ca_cert, &ca_key, e))
        return e->code;
    int64_t now_s = clock_wall_ns(clock) / CLOCK_NS_PER_SECOND;
    const char *const groups[] = { GROUP_MASTERS };
    struct tls_new_cert c = { .common_name = "kubernetes-admin", .organizations = groups, .n_organizations = 1,
                              .key = TLS_NEW_KEY_P256, .issuer_cert_pem = ca_cert, .issuer_key_pem = ca_key,
                              .not_before_s = now_s - HOUR_S, .not_after_s = now_s + YEARS_S(1) };
    if (tls_make_cert(&c, a, &cert, &key, e) || write_kubeconfig(folder, url, server_pem, cert, key, a, e))
        return e->code;
    *ret_client_ca_pem = ca_cert;
    return ERR_OK;
}
