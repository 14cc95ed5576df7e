/* apiserver/jwt.h - JSON web tokens in compact form, signed with RSA or ECDSA keys, and the keys themselves.
 *
 * A token's header says which algorithm it was signed with; that is believed only when it is the one algorithm that the
 * key is for: RS256 of RSA, ES256, ES384 and ES512 of the three curves.
 *
 * Thread: any; keys are never changed. */
#pragma once

#include "api/value.h"
#include "base/err.h"
#include "base/strbuf.h"

enum {
    JWT_BYTES_MAX = 64 << 10, /* of a token; those of service accounts have about one kilobyte */
    JWT_KEYS_MAX = 64,        /* a token without a key's name is tried with each */
};

struct jwt_key;

struct jwt_keys {
    struct jwt_key *at[JWT_KEYS_MAX];
    size_t n;
};

/* Adds all keys of a text: public ones, those of private keys and of certificates. None at all is an error. */
ERR_MUST_CHECK enum err_code jwt_keys_add(struct jwt_keys *keys, struct str pem, struct err *e);
/* The first private key of a text. */
ERR_MUST_CHECK enum err_code jwt_signer_new(struct str pem, struct jwt_key **ret_key, struct err *e);
void jwt_key_free(struct jwt_key *k);
void jwt_keys_fini(struct jwt_keys *keys);

const char *jwt_key_algorithm(const struct jwt_key *k);
/* As a JSON web key. */
void jwt_key_add_json(const struct jwt_key *k, struct strbuf *to);

/* What a token says, not yet believed. */
struct jwt {
    struct str signed_part, signature;
    struct str algorithm, key_id; /* key_id may be empty */
    struct value claims;          /* a plain map */
};

/* False: it is none. Duplicate names within header or claims make it none, too. */
bool jwt_read(struct arena *a, struct str token, struct jwt *ret_jwt);
/* NULL: one of the keys signed it. Otherwise what is wrong, in upstream's words. */
const char *jwt_verify(const struct jwt *t, const struct jwt_keys *keys);
/* Claims are JSON. */
struct str jwt_sign(struct arena *a, const struct jwt_key *k, struct str claims);
