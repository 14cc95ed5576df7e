/* daemon/serving.c - see serving.h. */
#include "daemon/serving.h"

static const char *given(struct arena *a, struct str s)
{
    return s.n ? arena_cstr(a, s) : NULL;
}

static const char *const *texts(struct arena *a, const struct flag_strings *from)
{
    const char **at = ARENA_NEW_N(a, const char *, from->n);
    for (size_t i = 0; i < from->n; i++)
        at[i] = arena_cstr(a, from->at[i]);
    return at;
}

static int min_tls_version(struct str name)
{
    static const char *const names[] = { "VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13" };
    for (int i = 0; i < 4; i++)
        if (str_is(name, names[i]))
            return 10 + i;
    return 0;
}

static const struct ops_sni *sni_of(struct arena *a, const struct flag_cert_keys *from)
{
    struct ops_sni *at = ARENA_NEW_N(a, struct ops_sni, from->n);
    for (size_t i = 0; i < from->n; i++)
        at[i] = (struct ops_sni){ arena_cstr(a, from->at[i].cert_file), arena_cstr(a, from->at[i].key_file),
                                  from->at[i].names.n ? texts(a, &from->at[i].names) : NULL, from->at[i].names.n };
    return at;
}

/* What lies in a folder is read again when it changes, as files that are named are. */
static enum err_code make_certificate(struct self_signed_options *self, struct arena *a, struct ops_options *o,
                                      struct err *e)
{
    if (self_signed_pair(self, a, &o->cert_pem, &o->key_pem, e))
        return e->code;
    if (self->cert_dir && self->cert_dir[0]) {
        o->cert_file = arena_printf(a, "%s/%s.crt", self->cert_dir, self->name);
        o->key_file = arena_printf(a, "%s/%s.key", self->cert_dir, self->name);
    }
    return ERR_OK;
}

enum err_code serving_options(const struct scheduler_flags *f, struct loop *l, struct self_signed_options self,
                              struct arena *a, struct ops_options *ret_options, struct err *e)
{
    char *address = arena_alloc(a, IP_TEXT_MAX);
    ip_print(&f->bind_address, address);
    struct ops_options o = {
        .loop = l,
        .bind_address = address,
        .port = (int)f->secure_port,
        .cert_file = given(a, f->tls_cert_file),
        .key_file = given(a, f->tls_private_key_file),
        .sni = sni_of(a, &f->tls_sni_cert_key),
        .n_sni = f->tls_sni_cert_key.n,
        .cipher_suites = texts(a, &f->tls_cipher_suites),
        .n_cipher_suites = f->tls_cipher_suites.n,
        .curves = f->tls_curve_preferences.at,
        .n_curves = f->tls_curve_preferences.n,
        .min_tls_version = min_tls_version(f->tls_min_version),
        .no_http2 = f->disable_http2_serving,
        .max_streams = (uint32_t)f->http2_max_streams_per_connection,
        .share_port = f->permit_port_sharing,
        .ask_for_certificates = true,
    };
    self.bind_address = address;
    self.clock = loop_clock(l);
    if (!self.cert_dir)
        self.cert_dir = given(a, f->cert_dir);
    if (!o.cert_file && make_certificate(&self, a, &o, e))
        return e->code;
    *ret_options = o;
    return ERR_OK;
}
