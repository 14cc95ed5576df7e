/* tests/fuzz/fuzz_store_record.c - any bytes as records of a store's file.
 *
 * If the first byte is odd the rest is a key and a record as they are; otherwise they get a right checksum here, so
 * that what is behind it is reached. Bit 1: the record about the file. What is read is written again and must be the
 * same. */
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "store/lmdb_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_state(struct str record)
{
    struct arena a;
    struct err e;
    struct engine_state state;
    uint8_t again[LMDB_STATE_BYTES];
    arena_init(&a);
    err_init(&e, &a);
    if (lmdb_state_read(record, &state, &e) == ERR_OK) {
        lmdb_state_write(&state, again);
        if (record.n != sizeof(again) || memcmp(record.p, again, sizeof(again)) != 0)
            abort();
    } else if (!e.message) {
        abort();
    }
    arena_fini(&a);
}

static void check_record(struct str key, struct str record)
{
    struct arena a;
    struct err e;
    struct store_item *item;
    arena_init(&a);
    err_init(&e, &a);
    if (lmdb_record_read(key, record, &item, &e) == ERR_OK) {
        uint8_t *again = malloc(lmdb_record_bytes(item));
        lmdb_record_write(item, lmdb_key_make(item->mod_revision, item->part), again);
        if (record.n != lmdb_record_bytes(item) || memcmp(record.p, again, record.n) != 0)
            abort();
        free(again);
        store_item_unref(item);
    } else if (!e.message) {
        abort();
    }
    arena_fini(&a);
}

static void put_sum(const uint8_t *key, uint8_t *record, size_t n)
{
    uint32_t sum = crc32c(crc32c(0, key, LMDB_KEY_BYTES), record + 4, n - 4);
    for (int i = 3; i >= 0; i--, sum >>= 8)
        record[i] = (uint8_t)sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0)
        return 0;
    uint8_t zero[LMDB_KEY_BYTES] = { 0 }, *copy = malloc(n);
    bool is_state = data[0] & 2;
    size_t n_key = is_state ? 0 : n - 1 < LMDB_KEY_BYTES ? n - 1 : LMDB_KEY_BYTES, n_record = n - 1 - n_key;
    memcpy(copy, data + 1, n - 1);
    uint8_t *record = copy + n_key;
    if (!(data[0] & 1) && n_record >= 4 && (is_state || n_key == LMDB_KEY_BYTES))
        put_sum(is_state ? zero : copy, record, n_record);
    if (is_state)
        check_state((struct str){ (const char *)record, n_record });
    else
        check_record((struct str){ (const char *)copy, n_key }, (struct str){ (const char *)record, n_record });
    free(copy);
    return 0;
}
