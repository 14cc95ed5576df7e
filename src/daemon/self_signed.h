/* daemon/self_signed.h - the serving certificate of who was given none: signed by an authority made for it alone.
 *
 * As upstream's: RSA keys of 2048 bits, good from an hour ago for a year, for localhost, 127.0.0.1 and the address that
 * is listened on. The chain has the certificate and its authority; nobody keeps that one's key.
 *
 * Thread: any; takes a moment, and writes files. Memory: texts live in the arena. */
#pragma once

#include "base/clock.h"
#include "base/err.h"

struct self_signed_options {
    const char *bind_address; /* "0.0.0.0" and "::" are every address */
    const char *cert_dir;     /* where it is kept and found again; NULL or empty: in memory only */
    const char *name;         /* of its files there: NAME.crt, NAME.key */
    const struct clock *clock;
};

/* PEM texts; from the folder when both files can be read. */
ERR_MUST_CHECK enum err_code self_signed_pair(const struct self_signed_options *o, struct arena *a,
                                              struct str *ret_cert_pem, struct str *ret_key_pem, struct err *e);
