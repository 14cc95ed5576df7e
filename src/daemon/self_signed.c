/* daemon/self_signed.c - see self_signed.h. Upstream: client-go/util/cert, apiserver's SecureServingOptions. */
#include "daemon/self_signed.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/strbuf.h"

enum { HOUR_S = 3600, YEAR_S = 365 * 24 * HOUR_S };

static bool is_every_address(const char *address)
{
    return strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0;
}

static enum err_code make_pair(const struct self_signed_options *o, struct arena *a, struct str *ret_cert_pem,
                               struct str *ret_key_pem, struct err *e)
{
    int64_t now_s = clock_wall_ns(o->clock) / CLOCK_NS_PER_SECOND;
    struct tls_new_cert authority = {
        .common_name = arena_printf(a, "localhost-ca@%lld", (long long)now_s), .is_ca = true,
        .key = o->key, .not_before_s = now_s - HOUR_S, .not_after_s = now_s - HOUR_S + YEAR_S };
    struct str ca_cert, ca_key, cert;
    if (tls_make_cert(&authority, a, &ca_cert, &ca_key, e))
        return e->code;
    const char *names[SELF_SIGNED_NAMES_MAX + 2] = { "localhost" };
    const char *addresses[SELF_SIGNED_NAMES_MAX + 2] = { "127.0.0.1" };
    size_t n_names = 1, n_addresses = 1;
    assert(o->n_names <= SELF_SIGNED_NAMES_MAX && o->n_addresses <= SELF_SIGNED_NAMES_MAX);
    if (is_every_address(o->bind_address))
        names[n_names++] = "localhost"; /* twice, as upstream */
    else
        addresses[n_addresses++] = o->bind_address;
    for (size_t i = 0; i < o->n_names; i++)
        names[n_names++] = o->names[i];
    for (size_t i = 0; i < o->n_addresses; i++)
        addresses[n_addresses++] = o->addresses[i];
    struct tls_new_cert leaf = {
        .common_name = arena_printf(a, "localhost@%lld", (long long)now_s), .key = o->key,
        .only_server = true, .dns_names = names, .n_dns_names = n_names, .addresses = addresses,
        .n_addresses = n_addresses, .issuer_cert_pem = ca_cert, .issuer_key_pem = ca_key,
        .not_before_s = authority.not_before_s, .not_after_s = authority.not_after_s };
    if (tls_make_cert(&leaf, a, &cert, ret_key_pem, e))
        return e->code;
    *ret_cert_pem = str_of(arena_printf(a, "%.*s%.*s", STR_ARG(cert), STR_ARG(ca_cert)));
    return ERR_OK;
}

/* ---- Files ---- */

bool read_kept_text(const char *path, struct arena *a, struct str *ret_text)
{
    FILE *f = fopen(path, "re");
    struct strbuf text;
    if (!f)
        return false;
    strbuf_init(&text, TLS_PEM_BYTES_MAX);
    for (char *room; (room = strbuf_reserve(&text, 4096));) {
        size_t n = fread(room, 1, 4096, f);
        if (n == 0)
            break;
        strbuf_commit(&text, n);
    }
    bool good = !ferror(f) && !text.overflow && text.n > 0;
    *ret_text = arena_str(a, strbuf_str(&text));
    strbuf_fini(&text);
    fclose(f);
    return good;
}

/* A new file with these rights, under a name of its own first: nobody sees half of it. */
static enum err_code write_text(const char *path, struct str text, mode_t mode, struct arena *a, struct err *e)
{
    const char *fresh = arena_printf(a, "%s.%d", path, (int)getpid());
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (fd < 0)
        return err_set(e, ERR_IO, "open %s: %s", fresh, strerror(errno));
    size_t at = 0;
    while (at < text.n) {
        ssize_t n = write(fd, text.p + at, text.n - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    bool good = at == text.n;
    int failed = errno;
    if (close(fd) != 0 && good) {
        good = false;
        failed = errno;
    }
    if (good && rename(fresh, path) == 0)
        return ERR_OK;
    if (good)
        failed = errno;
    unlink(fresh);
    return err_set(e, ERR_IO, "write %s: %s", path, strerror(failed));
}

enum err_code make_folder_of(const char *path, struct arena *a, struct err *e)
{
    char *part = arena_cstr(a, str_of(path));
    for (char *slash = part + !!part[0]; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        if (mkdir(part, 0755) != 0 && errno != EEXIST)
            return err_set(e, ERR_IO, "mkdir %s: %s", part, strerror(errno));
    }
    return ERR_OK;
}

enum err_code keep_text(const char *folder, const char *name, struct str text, unsigned mode, struct arena *a,
                        struct err *e)
{
    const char *path = arena_printf(a, "%s/%s", folder, name);
    return make_folder_of(path, a, e) ? e->code : write_text(path, text, mode, a, e);
}

enum err_code self_signed_pair(const struct self_signed_options *o, struct arena *a, struct str *ret_cert_pem,
                               struct str *ret_key_pem, struct err *e)
{
    if (!o->cert_dir || !o->cert_dir[0]) {
        LOG_PLAIN(0, "Generated self-signed cert in-memory");
        return make_pair(o, a, ret_cert_pem, ret_key_pem, e);
    }
    const char *cert_file = arena_printf(a, "%s/%s.crt", o->cert_dir, o->name);
    const char *key_file = arena_printf(a, "%s/%s.key", o->cert_dir, o->name);
    bool has_cert = read_kept_text(cert_file, a, ret_cert_pem), has_key = read_kept_text(key_file, a, ret_key_pem);
    if (has_cert && has_key)
        return ERR_OK;
    if (has_cert || has_key)
        return err_set(e, ERR_INVALID, "error reading %s, certificate and key must be supplied as a pair",
                       has_cert ? key_file : cert_file);
    if (make_pair(o, a, ret_cert_pem, ret_key_pem, e))
        return e->code;
    if (keep_text(o->cert_dir, arena_printf(a, "%s.crt", o->name), *ret_cert_pem, 0644, a, e) ||
        keep_text(o->cert_dir, arena_printf(a, "%s.key", o->name), *ret_key_pem, 0600, a, e))
        return err_wrap(e, "unable to keep the self-signed certificate");
    LOG_PLAIN(0, arena_printf(a, "Generated self-signed cert (%s, %s)", cert_file, key_file));
    return ERR_OK;
}
