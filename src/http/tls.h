/* http/tls.h - TLS for both ends: contexts (whose certificates, whom to trust) and sessions (one connection's bytes).
 *
 * A session has no socket: bytes of the peer go in, plain bytes and bytes for the peer come out. So it runs on any
 * stream, also inside another session (an https proxy), and in tests without any.
 *
 * A context re-reads its files: tls_context_reload builds everything anew and takes it only when all of it is good;
 * sessions that exist keep what they began with. tls_watch does it from a timer, on a worker thread.
 *
 * TLS 1.2 and 1.3 unless the options want older ones; Go's cipher suites; no renegotiation, compression, tickets or resumption.
 *
 * Thread: the loop's.    Owns: copies of all options. */
#pragma once

#include "base/err.h"
#include "base/strbuf.h"

#define TLS_PEM_BYTES_MAX (16u << 20) /* of one file of certificates */
#define TLS_CHAIN_DEPTH_MAX 8         /* certificates between the peer's and a trusted one */

/* ---- Contexts ---- */

enum tls_client_certs {
    TLS_CLIENT_CERTS_IGNORED,
    TLS_CLIENT_CERTS_REQUESTED, /* any is let in: tls_peer says whether it is good */
    TLS_CLIENT_CERTS_REQUIRED,  /* a good one, or the handshake fails */
};

/* A chain, the own certificate first, and its key: file names, or the texts themselves. */
struct tls_cert_source {
    const char *cert_file, *key_file;
    struct str cert_pem, key_pem;
    const char *const *names; /* for which server names: "a.example", "*.example"; NULL = those in the certificate */
    size_t n_names;
};

struct tls_options {
    bool is_server;
    const struct tls_cert_source *certs; /* servers: the first also for names that none has; clients: at most one */
    size_t n_certs;
    const char *ca_file;  /* servers: for client certificates; clients: without file and text the system's */
    struct str ca_pem;    /* in addition to the file */
    enum tls_client_certs client_certs;
    bool insecure_skip_verify; /* clients: any certificate, any name */
    const char *server_name;   /* clients: instead of the host's name, asked for and checked */
    bool no_http2;             /* ALPN offers and takes http/1.1 only */
    int min_version;           /* 12 or 13; 0 = 12; servers may be told 10 or 11, for peers that know nothing better */
    const char *ciphers;       /* up to TLS 1.2, in OpenSSL's form (tls_names.h); NULL = Go's */
    const char *groups;        /* for the exchange of keys, in OpenSSL's form (tls_names.h); NULL = OpenSSL's */
};

struct tls_context;

ERR_MUST_CHECK enum err_code tls_context_new(const struct tls_options *o, struct tls_context **ret_context,
                                             struct err *e);
struct tls_context *tls_context_ref(struct tls_context *c);
void tls_context_unref(struct tls_context *c);
/* Reads all files now, on this thread. On failure the context stays as it is. */
ERR_MUST_CHECK enum err_code tls_context_reload(struct tls_context *c, struct err *e);
/* How often its files were taken anew. */
uint32_t tls_context_n_reloads(const struct tls_context *c);

/* ---- Files that change ---- */

struct loop;
struct tls_watch;

/* error is NULL when new files were taken; otherwise the old ones stay and the next look tries again. */
typedef void (*tls_watch_told)(void *context, const char *error);

/* Looks at the files every period_ms, by size, times and inode; reads them on a worker thread. `told` may be NULL. */
struct tls_watch *tls_watch_new(struct loop *l, struct tls_context *c, int64_t period_ms, tls_watch_told told,
                                void *context);
/* Looks now. */
void tls_watch_poke(struct tls_watch *w);
/* `told` is not called any more. The loop must still turn while a worker is busy with it. */
void tls_watch_free(struct tls_watch *w);

/* ---- Sessions ---- */

enum tls_state {
    TLS_HANDSHAKING,
    TLS_OPEN,
    TLS_CLOSED, /* the peer said good-bye */
    TLS_FAILED, /* tls_session_error says why */
};

struct tls_session;

/* host: for clients the name or address of the peer, which its certificate must have. */
struct tls_session *tls_session_new(struct tls_context *c, const char *host);
void tls_session_free(struct tls_session *s);

/* Bytes from the peer (none to begin). Appends plain bytes to `plain` and what the peer must get to `cipher`, in any
 * state. */
enum tls_state tls_session_input(struct tls_session *s, struct str bytes, struct strbuf *plain, struct strbuf *cipher);
/* Only when open. */
void tls_session_write(struct tls_session *s, struct str plain, struct strbuf *cipher);
/* Good-bye to the peer. */
void tls_session_close(struct tls_session *s, struct strbuf *cipher);
enum tls_state tls_session_state(const struct tls_session *s);
const char *tls_session_error(const struct tls_session *s);
/* "h2", "http/1.1" or empty. */
struct str tls_session_alpn(const struct tls_session *s);

/* Whom the certificate of the other side names. */
struct tls_peer {
    bool verified;            /* chain, dates and use are good; for clients the name too */
    const char *verify_error; /* NULL when verified */
    struct str common_name;
    const struct str *organizations; /* in the order of the certificate */
    size_t n_organizations;
    struct str der; /* the whole certificate */
    const struct str *others; /* further certificates it showed, between its own and one that is trusted */
    size_t n_others;
};

/* NULL when it showed none. Texts live in the arena. */
const struct tls_peer *tls_session_peer(const struct tls_session *s, struct arena *a);

/* ---- Whom to trust, apart from any connection ---- */

/* Certificates of authorities, as read from one text. Never changed; any thread. */
struct tls_roots;

/* A text without a certificate is an error. */
ERR_MUST_CHECK enum err_code tls_roots_new(struct str pem, struct tls_roots **ret_roots, struct err *e);
void tls_roots_free(struct tls_roots *r);
/* NULL: its certificate is good for a client, now, and leads to one of the roots. Otherwise why not. */
const char *tls_roots_check_client(const struct tls_roots *r, const struct tls_peer *peer);

/* ---- Making certificates ---- */

enum tls_new_key { TLS_NEW_KEY_P256, TLS_NEW_KEY_RSA_2048 };

struct tls_new_cert {
    const char *common_name;
    const char *const *organizations;
    size_t n_organizations;
    const char *const *dns_names, *const *addresses; /* subject alternative names */
    size_t n_dns_names, n_addresses;
    bool is_ca;
    enum tls_new_key key;
    bool only_server; /* of no use to clients */
    struct str issuer_cert_pem, issuer_key_pem; /* empty: signed by itself */
    int64_t not_before_s, not_after_s;          /* since 1970 */
};

/* A key and its certificate, for servers and clients, as PEM texts. */
ERR_MUST_CHECK enum err_code tls_make_cert(const struct tls_new_cert *c, struct arena *a, struct str *ret_cert_pem,
                                           struct str *ret_key_pem, struct err *e);
/* Whether a certificate (PEM) was signed by `issuer_pem`, lasts until then, and is for `address` (NULL: whomever). */
bool tls_cert_is_good(struct str pem, struct str issuer_pem, const char *address, int64_t until_s);
