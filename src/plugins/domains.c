/* plugins/domains.c - see domains.h. */
#include "plugins/domains.h"

struct domains domains_of(const struct cycle *c, sym key)
{
    const struct topology_key *k = topology_key(c->cache->topology, key);
    bool by_row = topology_is_by_node(c->cache->topology, k);
    return (struct domains){ k, by_row ? c->cache->col.n_rows : (uint32_t)k->domains.n, by_row };
}

/* ---- Counting ---- */

static void add_columns(int32_t *restrict to, const int32_t *restrict column, node_id n_rows)
{
    for (node_id row = 0; row < n_rows; row++)
        to[row] = (int32_t)((uint32_t)to[row] + (uint32_t)column[row]);
}

static void add_at(int32_t *to, uint32_t place, int32_t n)
{
    to[place] = (int32_t)((uint32_t)to[place] + (uint32_t)n);
}

/* With few domains neighbouring rows often add to the same entry, and each addition would wait for the
 * one before it: rows take turns between four tables. */
enum { N_TURNS = 4, FEW_DOMAINS = 64 };

static void sum_few(const uint32_t *restrict of_row, const int32_t *restrict column, node_id n_rows,
                    int32_t sums[FEW_DOMAINS])
{
    int32_t part[N_TURNS][FEW_DOMAINS] = { 0 };
    node_id row = 0;
    for (; row + N_TURNS <= n_rows; row += N_TURNS)
        for (unsigned i = 0; i < N_TURNS; i++)
            add_at(part[i], of_row[row + i], column[row + i]);
    for (; row < n_rows; row++)
        add_at(part[0], of_row[row], column[row]);
    for (unsigned d = 0; d < FEW_DOMAINS; d++)
        sums[d] = (int32_t)((uint32_t)part[0][d] + (uint32_t)part[1][d] + (uint32_t)part[2][d] + (uint32_t)part[3][d]);
}

static void add_by_domain(const struct domains *d, const int32_t *column, node_id n_rows, int32_t *to)
{
    const uint32_t *of_row = d->topology->of_row;
    if (d->n_places <= FEW_DOMAINS) {
        int32_t sums[FEW_DOMAINS];
        sum_few(of_row, column, n_rows, sums);
        add_columns(to, sums, d->n_places);
    } else {
        for (node_id row = 0; row < n_rows; row++)
            add_at(to, of_row[row], column[row]);
    }
}

static void add_some(const struct domains *d, const int32_t *column, const uint64_t *rows, node_id n_rows, int32_t *to)
{
    for (node_id base = 0; base < n_rows; base += 64)
        for (uint64_t todo = rows[base / 64]; todo; todo &= todo - 1) {
            node_id row = base + (node_id)__builtin_ctzll(todo);
            add_at(to, domains_place(d, row), column[row]);
        }
}

/* A table that may be changed. */
static int32_t *own_table(struct cycle *c, const struct domains *d, struct tally *t)
{
    if (t->own)
        return t->own;
    t->own = arena_alloc(c->arena, d->n_places * sizeof(*t->own));
    if (t->n)
        memcpy(t->own, t->n, d->n_places * sizeof(*t->own));
    else
        memset(t->own, 0, d->n_places * sizeof(*t->own));
    t->n = t->own;
    return t->own;
}

static void clear_no_domain(const struct domains *d, int32_t *table)
{
    if (!d->by_row)
        table[0] = 0;
}

void tally_column(struct cycle *c, const struct domains *d, const int32_t *column, const uint64_t *rows,
                  struct tally *t)
{
    node_id n_rows = c->cache->col.n_rows;
    if (d->by_row && !rows && !t->n) {
        t->n = column;
        return;
    }
    int32_t *to = own_table(c, d, t);
    if (rows)
        add_some(d, column, rows, n_rows, to);
    else if (d->by_row)
        add_columns(to, column, n_rows);
    else
        add_by_domain(d, column, n_rows, to);
    clear_no_domain(d, to);
}

void tally_term(struct cycle *c, const struct domains *d, const struct counted_term *term, struct tally *t)
{
    if (term->dense) {
        tally_column(c, d, term->dense, NULL, t);
        return;
    }
    int32_t *to = own_table(c, d, t);
    for (size_t i = 0; i < term->sparse.n; i++)
        add_at(to, domains_place(d, term->sparse.at[i].row), term->sparse.at[i].n);
    clear_no_domain(d, to);
}

void tally_finish(struct cycle *c, const struct domains *d, struct tally *t)
{
    if (!t->n)
        own_table(c, d, t);
}

static uint32_t count_rows(const uint32_t *restrict of_row, const int32_t *restrict n, uint32_t n_rows)
{
    uint32_t count = 0;
    for (uint32_t row = 0; row < n_rows; row++)
        count += (of_row[row] != 0) & (n[row] != 0);
    return count;
}

uint32_t tally_n_places(const struct domains *d, const struct tally *t)
{
    if (d->by_row)
        return count_rows(d->topology->of_row, t->n, d->n_places);
    uint32_t count = 0;
    for (uint32_t place = 1; place < d->n_places; place++)
        count += t->n[place] != 0;
    return count;
}

/* ---- Weighing ---- */

int64_t *weights_new(struct cycle *c, const struct domains *d)
{
    return ARENA_NEW_N(c->arena, int64_t, d->n_places);
}

/* The same as to[row] += weight * column[row]. Counts are not negative, so that the product is one of
 * unsigned 32-bit numbers, for which there are vector instructions everywhere. */
static void weigh_rows(const int32_t *restrict column, node_id n_rows, int64_t weight, int64_t *restrict to)
{
    uint32_t size = (uint32_t)(weight < 0 ? -weight : weight);
    int64_t flip = weight < 0 ? -1 : 0;
    for (node_id row = 0; row < n_rows; row++) {
        int64_t product = (int64_t)((uint64_t)size * (uint32_t)column[row]);
        to[row] += (product ^ flip) - flip;
    }
}

void weights_add_column(const struct cycle *c, const struct domains *d, const int32_t *column, int64_t weight,
                        int64_t *to)
{
    node_id n_rows = c->cache->col.n_rows;
    const uint32_t *of_row = d->topology->of_row;
    assert(weight >= INT32_MIN && weight <= (int64_t)INT32_MAX + 1);
    if (d->by_row) {
        weigh_rows(column, n_rows, weight, to);
        return;
    }
    if (d->n_places <= FEW_DOMAINS) {
        int32_t sums[FEW_DOMAINS];
        sum_few(of_row, column, n_rows, sums);
        for (uint32_t place = 1; place < d->n_places; place++)
            to[place] += weight * sums[place];
        return;
    }
    for (node_id row = 0; row < n_rows; row++)
        to[of_row[row]] += weight * column[row];
    to[0] = 0;
}

void weights_add_term(const struct cycle *c, const struct domains *d, const struct counted_term *term, int64_t weight,
                      int64_t *to)
{
    if (term->dense) {
        weights_add_column(c, d, term->dense, weight, to);
        return;
    }
    for (size_t i = 0; i < term->sparse.n; i++)
        to[domains_place(d, term->sparse.at[i].row)] += weight * term->sparse.at[i].n;
    if (!d->by_row)
        to[0] = 0;
}

bool domains_have_pod(const struct cycle *c, const struct domains *d, const int32_t *column)
{
    for (node_id row = 0; row < c->cache->col.n_rows; row++)
        if (column[row] && d->topology->of_row[row])
            return true;
    return false;
}

bool domains_have_term(const struct cycle *c, const struct domains *d, const struct counted_term *term)
{
    if (term->dense)
        return domains_have_pod(c, d, term->dense);
    for (size_t i = 0; i < term->sparse.n; i++)
        if (d->topology->of_row[term->sparse.at[i].row])
            return true;
    return false;
}

/* ---- Dropping ---- */

uint8_t *marks_new(struct cycle *c, const struct domains *d)
{
    return ARENA_NEW_N(c->arena, uint8_t, bitset_words(d->n_places) * 64);
}

/* Eight bytes that are 0 or 1 as eight bits: the factor moves the k-th of them to bit 56 + k. */
static uint64_t pack_bits(const uint8_t bytes[64])
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++) {
        uint64_t eight;
        memcpy(&eight, bytes + i * 8, sizeof(eight));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        eight = __builtin_bswap64(eight);
#endif
        word |= (eight * 0x0102040810204080u >> 56) << (i * 8);
    }
    return word;
}

void marks_drop(const struct cycle *c, const struct domains *d, const uint8_t *marks, uint64_t *alive)
{
    const uint32_t *of_row = d->topology->of_row;
    for (size_t w = 0; w < bitset_words(c->cache->col.n_rows); w++, of_row += 64) {
        if (!alive[w])
            continue;
        uint8_t here[64];
        if (d->by_row)
            memcpy(here, marks + w * 64, sizeof(here));
        else
            for (unsigned i = 0; i < 64; i++)
                here[i] = marks[of_row[i]];
        alive[w] &= ~pack_bits(here);
    }
}
