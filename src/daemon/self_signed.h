/* daemon/self_signed.h - the serving certificate of who was given none: signed by an authority made for it alone.
 *
 * As upstream's: RSA keys of 2048 bits, unless asked for ECDSA keys, which are made in no time; good from an hour ago
 * for a year, for localhost, 127.0.0.1, the address that is listened on, and what else is named. The chain has the
 * certificate and its authority; nobody keeps that one's key.
 *
 * Thread: any; takes a moment, and writes files. Memory: texts live in the arena. */
#pragma once

#include "base/clock.h"
#include "base/err.h"
#include "http/tls.h"

struct self_signed_options {
    const char *bind_address; /* "0.0.0.0" and "::" are every address */
    const char *cert_dir;     /* where it is kept and found again; NULL or empty: in memory only */
    const char *name;         /* of its files there: NAME.crt, NAME.key */
    const struct clock *clock;
    enum tls_new_key key;
    const char *const *names, *const *addresses; /* further ones that it is for */
    size_t n_names, n_addresses;
};

enum { SELF_SIGNED_NAMES_MAX = 16 };

/* PEM texts; from the folder when both files can be read. */
ERR_MUST_CHECK enum err_code self_signed_pair(const struct self_signed_options *o, struct arena *a,
                                              struct str *ret_cert_pem, struct str *ret_key_pem, struct err *e);
/* A new file with these rights, whole or not at all; folders on the way to it are made. */
ERR_MUST_CHECK enum err_code keep_text(const char *folder, const char *name, struct str text, unsigned mode,
                                       struct arena *a, struct err *e);
/* All folders on the way to a path, without its last part. */
ERR_MUST_CHECK enum err_code make_folder_of(const char *path, struct arena *a, struct err *e);
/* False: it is not there or cannot be read. */
bool read_kept_text(const char *path, struct arena *a, struct str *ret_text);
