/* http/digest.h - SHA-256, plain and with a key. Thread: any. */
#pragma once

#include <stdint.h>

#include "base/str.h"

enum { DIGEST_BYTES = 32 };

void digest_sha256(struct str bytes, uint8_t ret_digest[DIGEST_BYTES]);
/* HMAC: nobody without the key can tell which bytes have which digest. */
void digest_hmac_sha256(const uint8_t key[DIGEST_BYTES], struct str bytes, uint8_t ret_digest[DIGEST_BYTES]);
/* A key that nobody can guess. */
void digest_new_key(uint8_t ret_key[DIGEST_BYTES]);
