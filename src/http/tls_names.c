/* http/tls_names.c - see tls_names.h. */
#include "http/tls_names.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/strbuf.h"

/* NULL: of TLS 1.3; "": not in OpenSSL 3. */
static const struct {
    const char *go, *openssl;
} ciphers[] = {
    { "TLS_AES_128_GCM_SHA256", NULL },
    { "TLS_AES_256_GCM_SHA384", NULL },
    { "TLS_CHACHA20_POLY1305_SHA256", NULL },
    { "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA" },
    { "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "ECDHE-ECDSA-AES128-SHA256" },
    { "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256" },
    { "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA" },
    { "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384" },
    { "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "ECDHE-ECDSA-CHACHA20-POLY1305" },
    { "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305" },
    { "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA", "" },
    { "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA", "ECDHE-RSA-DES-CBC3-SHA" },
    { "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA" },
    { "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", "ECDHE-RSA-AES128-SHA256" },
    { "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256" },
    { "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA" },
    { "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384" },
    { "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "ECDHE-RSA-CHACHA20-POLY1305" },
    { "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305" },
    { "TLS_ECDHE_RSA_WITH_RC4_128_SHA", "" },
    { "TLS_RSA_WITH_3DES_EDE_CBC_SHA", "DES-CBC3-SHA" },
    { "TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA" },
    { "TLS_RSA_WITH_AES_128_CBC_SHA256", "AES128-SHA256" },
    { "TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256" },
    { "TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA" },
    { "TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384" },
    { "TLS_RSA_WITH_RC4_128_SHA", "" },
};

static const struct {
    int32_t id;
    const char *name;
} groups[] = { { 23, "P-256" }, { 24, "P-384" }, { 25, "P-521" }, { 29, "X25519" }, { 4588, "X25519MLKEM768" } };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void add(struct strbuf *list, const char *name)
{
    if (list->n)
        strbuf_add_char(list, ':');
    strbuf_add_text(list, name);
}

static const char *finished(struct strbuf *list, struct arena *a)
{
    const char *text = arena_cstr(a, strbuf_str(list));
    strbuf_fini(list);
    return text;
}

enum err_code tls_choose_ciphers(const char *const *names, size_t n, struct arena *a,
                                 struct tls_chosen_ciphers *ret_chosen, struct err *e)
{
    struct strbuf list;
    size_t n_tls13 = 0;
    strbuf_init(&list, STRBUF_NO_MAX);
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        while (at < COUNT(ciphers) && strcmp(ciphers[at].go, names[i]) != 0)
            at++;
        if (at == COUNT(ciphers)) {
            strbuf_fini(&list);
            return err_set(e, ERR_INVALID, "Cipher suite %s not supported or doesn't exist", names[i]);
        }
        if (!ciphers[at].openssl)
            n_tls13++;
        else if (ciphers[at].openssl[0])
            add(&list, ciphers[at].openssl);
    }
    bool none = list.n == 0;
    const char *text = finished(&list, a);
    if (n && none && !n_tls13)
        return err_set(e, ERR_INVALID, "none of the cipher suites is known to OpenSSL any more");
    *ret_chosen = (struct tls_chosen_ciphers){ .list = none ? NULL : text, .only_tls13 = none && n_tls13 };
    return ERR_OK;
}

static bool group_is_known(const char *name)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());
    bool known = ctx && SSL_CTX_set1_groups_list(ctx, name) == 1;
    SSL_CTX_free(ctx);
    ERR_clear_error();
    return known;
}

enum err_code tls_choose_groups(const int32_t *ids, size_t n, struct arena *a, const char **ret_list, struct err *e)
{
    struct strbuf list;
    strbuf_init(&list, STRBUF_NO_MAX);
    for (size_t i = 0; i < n; i++)
        for (size_t at = 0; at < COUNT(groups); at++)
            if (groups[at].id == ids[i] && group_is_known(groups[at].name))
                add(&list, groups[at].name);
    bool none = list.n == 0;
    const char *text = finished(&list, a);
    if (n && none)
        return err_set(e, ERR_INVALID, "none of the groups for the exchange of keys is known");
    *ret_list = none ? NULL : text;
    return ERR_OK;
}
