/* store/lmdb_record.c - see lmdb_record.h. */
#include "store/lmdb_record.h"

#include "base/crc32c.h"

enum { SUM_BYTES = 4, IS_VALUE = 1, IS_DELETION = 2 };

static const char magic[8] = { 'b', 'e', 'r', 't', 'h', 'k', 'v', '1' };

/* ---- Numbers ---- */

static void put_number(uint8_t *to, uint64_t number, int n_bytes)
{
    for (int i = n_bytes - 1; i >= 0; i--, number >>= 8)
        to[i] = (uint8_t)number;
}

static uint64_t get_number(const void *from, int n_bytes)
{
    const uint8_t *p = from;
    uint64_t number = 0;
    for (int i = 0; i < n_bytes; i++)
        number = number << 8 | p[i];
    return number;
}

struct lmdb_key lmdb_key_make(uint64_t revision, uint32_t part)
{
    struct lmdb_key key;
    put_number(key.bytes, revision, 8);
    put_number(key.bytes + 8, part, 4);
    return key;
}

void lmdb_key_split(const uint8_t key[LMDB_KEY_BYTES], uint64_t *ret_revision, uint32_t *ret_part)
{
    *ret_revision = get_number(key, 8);
    *ret_part = (uint32_t)get_number(key + 8, 4);
}

static uint32_t checksum(const uint8_t *key, const uint8_t *record, size_t n)
{
    return crc32c(crc32c(0, key, LMDB_KEY_BYTES), record + SUM_BYTES, n - SUM_BYTES);
}

/* ---- Objects ---- */

size_t lmdb_record_bytes(const struct store_item *item)
{
    return LMDB_HEAD_BYTES + (size_t)item->n_key + item->n_value;
}

void lmdb_record_write(const struct store_item *item, struct lmdb_key key, uint8_t *to)
{
    to[4] = item->deleted ? IS_DELETION : IS_VALUE;
    to[5] = 0;
    put_number(to + 6, item->n_key, 2);
    put_number(to + 8, item->create_revision, 8);
    put_number(to + 16, item->version, 8);
    put_number(to + 24, (uint64_t)item->ttl_ms, 8);
    put_number(to + 32, (uint64_t)item->expires_wall_ms, 8);
    memcpy(to + LMDB_HEAD_BYTES, item->bytes, (size_t)item->n_key + item->n_value);
    put_number(to, checksum(key.bytes, to, lmdb_record_bytes(item)), SUM_BYTES);
}

/* What a sum that happens to be right must not lead to: numbers that the store would stumble over. */
static const char *find_fault(const struct store_item *item, unsigned what, unsigned zero)
{
    if ((what != IS_VALUE && what != IS_DELETION) || zero)
        return "is of an unknown kind";
    if (item->create_revision == 0 || item->create_revision > item->mod_revision || item->version == 0)
        return "has revisions that contradict each other";
    if (item->ttl_ms < 0 || item->expires_wall_ms < 0 || (item->ttl_ms == 0) != (item->expires_wall_ms == 0))
        return "has times that contradict each other";
    if (item->deleted && (item->n_value || item->ttl_ms))
        return "is a deletion with a value";
    return NULL;
}

enum err_code lmdb_record_read(struct str key, struct str record, struct store_item **ret_item, struct err *e)
{
    const uint8_t *k = (const uint8_t *)key.p, *r = (const uint8_t *)record.p;
    uint64_t revision;
    uint32_t part;
    if (key.n != LMDB_KEY_BYTES)
        return err_set(e, ERR_IO, "a record has a key of %zu bytes, not %d", key.n, LMDB_KEY_BYTES);
    lmdb_key_split(k, &revision, &part);
    if (record.n < LMDB_HEAD_BYTES)
        return err_set(e, ERR_IO, "record %llu/%u has %zu bytes, too few", (unsigned long long)revision, part, record.n);
    if (get_number(r, SUM_BYTES) != checksum(k, r, record.n))
        return err_set(e, ERR_IO, "record %llu/%u is damaged: its checksum is wrong", (unsigned long long)revision, part);
    size_t n_key = get_number(r + 6, 2), n_rest = record.n - LMDB_HEAD_BYTES;
    if (n_key == 0 || n_key > STORE_KEY_BYTES_MAX || n_key > n_rest || n_rest - n_key > STORE_VALUE_BYTES_MAX)
        return err_set(e, ERR_IO, "record %llu/%u has impossible lengths", (unsigned long long)revision, part);
    struct str object_key = { record.p + LMDB_HEAD_BYTES, n_key };
    struct str value = str_from(record, LMDB_HEAD_BYTES + n_key);
    struct store_item *item = store_item_new(object_key, value, r[4] == IS_DELETION);
    item->mod_revision = revision;
    item->part = part;
    item->create_revision = get_number(r + 8, 8);
    item->version = get_number(r + 16, 8);
    item->ttl_ms = (int64_t)get_number(r + 24, 8);
    item->expires_wall_ms = (int64_t)get_number(r + 32, 8);
    const char *fault = find_fault(item, r[4], r[5]);
    if (fault) {
        store_item_unref(item);
        return err_set(e, ERR_IO, "record %llu/%u %s", (unsigned long long)revision, part, fault);
    }
    *ret_item = item;
    return ERR_OK;
}

/* ---- The file ---- */

void lmdb_state_write(const struct engine_state *state, uint8_t to[LMDB_STATE_BYTES])
{
    struct lmdb_key key = lmdb_key_make(0, 0);
    memcpy(to + 4, magic, sizeof(magic));
    put_number(to + 12, LMDB_FORMAT, 4);
    put_number(to + 16, state->revision, 8);
    put_number(to + 24, state->ceiling, 8);
    put_number(to + 32, state->compacted, 8);
    put_number(to, checksum(key.bytes, to, LMDB_STATE_BYTES), SUM_BYTES);
}

enum err_code lmdb_state_read(struct str record, struct engine_state *ret_state, struct err *e)
{
    const uint8_t *r = (const uint8_t *)record.p;
    struct lmdb_key key = lmdb_key_make(0, 0);
    if (record.n < 16 || memcmp(r + 4, magic, sizeof(magic)) != 0)
        return err_set(e, ERR_IO, "it is no store of berth");
    if (get_number(r + 12, 4) != LMDB_FORMAT)
        return err_set(e, ERR_IO, "it has format %llu, this berth reads format %d",
                       (unsigned long long)get_number(r + 12, 4), LMDB_FORMAT);
    if (record.n != LMDB_STATE_BYTES || get_number(r, SUM_BYTES) != checksum(key.bytes, r, record.n))
        return err_set(e, ERR_IO, "the record about the file is damaged: its checksum is wrong");
    struct engine_state state = { get_number(r + 16, 8), get_number(r + 24, 8), get_number(r + 32, 8) };
    if (state.ceiling < state.revision || state.compacted > state.ceiling || state.ceiling > INT64_MAX)
        return err_set(e, ERR_IO, "the record about the file has revisions that contradict each other");
    *ret_state = state;
    return ERR_OK;
}
