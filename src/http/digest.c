/* http/digest.c - see digest.h. */
#include "http/digest.h"

#include <assert.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

void digest_sha256(struct str bytes, uint8_t ret_digest[DIGEST_BYTES])
{
    unsigned n;
    int done = EVP_Digest(bytes.n ? bytes.p : "", bytes.n, ret_digest, &n, EVP_sha256(), NULL);
    assert(done == 1);
    assert(n == DIGEST_BYTES);
}

void digest_hmac_sha256(const uint8_t key[DIGEST_BYTES], struct str bytes, uint8_t ret_digest[DIGEST_BYTES])
{
    unsigned n;
    const unsigned char *done = HMAC(EVP_sha256(), key, DIGEST_BYTES, (const unsigned char *)(bytes.n ? bytes.p : ""),
                                     bytes.n, ret_digest, &n);
    assert(done);
    assert(n == DIGEST_BYTES);
}

void digest_new_key(uint8_t ret_key[DIGEST_BYTES])
{
    int done = RAND_bytes(ret_key, DIGEST_BYTES);
    assert(done == 1);
}
