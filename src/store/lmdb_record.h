/* store/lmdb_record.h - what one record of the LMDB file looks like.
 *
 * The key of a record is its revision (8 bytes) and the part of its commit (4 bytes), so that LMDB keeps them in the
 * order in which they came. All numbers are big-endian.
 *
 *     0  checksum: CRC-32C of the key and of all bytes behind the checksum
 *     4  what it is: 1 a value, 2 a deletion
 *     5  0
 *     6  length of the key
 *     8  create revision    16  version    24  time to live, ms    32  end of it, wall clock, ms; both 0: it stays
 *    40  key of the object, then its value up to the end
 *
 * Revision 0 is about the file as a whole:
 *
 *     0  checksum, as above    4  "berthkv1"    12  format, 1
 *    16  revision: no commit up to it was lost from the end    24  ceiling: no revision above it was shown
 *    32  compacted: what is older than this is there only as far as it is current
 *
 * Thread: any. */
#pragma once

#include "base/err.h"
#include "base/strbuf.h"
#include "store/engine.h"

enum {
    LMDB_KEY_BYTES = 12,
    LMDB_HEAD_BYTES = 40,  /* before the key of the object */
    LMDB_STATE_BYTES = 40, /* the record about the file */
    LMDB_FORMAT = 1,
};

struct lmdb_key {
    uint8_t bytes[LMDB_KEY_BYTES];
};

struct lmdb_key lmdb_key_make(uint64_t revision, uint32_t part);
void lmdb_key_split(const uint8_t key[LMDB_KEY_BYTES], uint64_t *ret_revision, uint32_t *ret_part);

size_t lmdb_record_bytes(const struct store_item *item);
/* Fills lmdb_record_bytes(item) bytes. */
void lmdb_record_write(const struct store_item *item, struct lmdb_key key, uint8_t *to);
/* Checks everything. */
ERR_MUST_CHECK enum err_code lmdb_record_read(struct str key, struct str record, struct store_item **ret_item,
                                              struct err *e);

void lmdb_state_write(const struct engine_state *state, uint8_t to[LMDB_STATE_BYTES]);
ERR_MUST_CHECK enum err_code lmdb_state_read(struct str record, struct engine_state *ret_state, struct err *e);
