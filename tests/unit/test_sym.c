/* Sym: one number a text, references, reuse of numbers and memory, overhead, long random runs. */
#include "base/sym.h"

#include "tests/test.h"

static uint64_t state = 88172645463325252;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

TEST(the_empty_text_is_zero_and_permanent)
{
    struct sym_table t;
    sym_init(&t);
    CHECK_INT("found", sym_find(&t, STR("")), SYM_EMPTY);
    CHECK_INT("no pointer", sym_find(&t, (struct str){ NULL, 0 }), SYM_EMPTY);
    CHECK_INT("interned", sym_intern(&t, (struct str){ NULL, 0 }), SYM_EMPTY);
    sym_unref(&t, SYM_EMPTY);
    sym_unref(&t, SYM_EMPTY);
    CHECK_STR("text", sym_text(&t, SYM_EMPTY), STR(""));
    CHECK_INT("live", sym_n_live(&t), 1);
    sym_fini(&t);
}

TEST(equal_texts_get_the_same_number_and_others_do_not)
{
    static const struct str texts[] = {
        { "a", 1 },     { "b", 1 },           { "a\0", 2 },
        { "\0", 1 },    { "kubernetes.io", 13 }, { "\xff\xfe", 2 },
    };
    enum { N = sizeof(texts) / sizeof(texts[0]) };
    struct sym_table t;
    sym_init(&t);
    for (sym i = 0; i < N; i++) {
        CHECK_INT("before", sym_find(&t, texts[i]), SYM_NONE);
        CHECK_INT("dense", sym_intern(&t, texts[i]), i + 1);
    }
    for (sym i = 0; i < N; i++) {
        CHECK_INT("again", sym_intern(&t, texts[i]), i + 1);
        CHECK_STR("text", sym_text(&t, i + 1), texts[i]);
        CHECK(sym_text(&t, i + 1).p[texts[i].n] == '\0');
    }
    CHECK_INT("limit", sym_limit(&t), N + 1);
    sym_fini(&t);
}

TEST(the_last_reference_frees_the_text_and_the_number)
{
    struct sym_table t;
    sym_init(&t);
    sym a = sym_intern(&t, STR("zone-a")), b = sym_intern(&t, STR("zone-b"));
    CHECK_INT("second reference", sym_intern(&t, STR("zone-a")), a);
    CHECK_INT("third reference", sym_ref(&t, a), a);
    sym_unref(&t, a);
    sym_unref(&t, a);
    CHECK_INT("one is left", sym_find(&t, STR("zone-a")), a);
    sym_unref(&t, a);
    CHECK_INT("gone", sym_find(&t, STR("zone-a")), SYM_NONE);
    CHECK_INT("live", sym_n_live(&t), 2);
    CHECK_INT("the number is used again", sym_intern(&t, STR("rack-1")), a);
    CHECK_STR("text", sym_text(&t, a), STR("rack-1"));
    CHECK_STR("the other stays", sym_text(&t, b), STR("zone-b"));
    CHECK_INT("limit", sym_limit(&t), 3);
    sym_fini(&t);
}

TEST(static_texts_stay_whatever_is_given_back)
{
    struct sym_table t;
    sym_init(&t);
    sym counted = sym_intern(&t, STR("cpu"));
    CHECK_INT("same", sym_intern_static(&t, STR("cpu")), counted);
    for (int i = 0; i < 5; i++)
        sym_unref(&t, counted);
    CHECK_INT("still there", sym_find(&t, STR("cpu")), counted);
    sym_fini(&t);
}

TEST(texts_of_every_length_are_kept_in_new_memory_and_in_freed)
{
    struct sym_table t;
    static char bytes[2000];
    sym_init(&t);
    for (int round = 0; round < 3; round++) {
        memset(bytes, 'x' + round, sizeof(bytes));
        for (size_t n = 1; n < sizeof(bytes); n++)
            sym_intern(&t, (struct str){ bytes, n });
        for (size_t n = 1; n < sizeof(bytes); n++) {
            sym id = sym_find(&t, (struct str){ bytes, n });
            CHECK_STR("text", sym_text(&t, id), ((struct str){ bytes, n }));
            CHECK(sym_text(&t, id).p[n] == '\0');
        }
        for (size_t n = sizeof(bytes) - 1; n > 0; n--)
            sym_unref(&t, sym_find(&t, (struct str){ bytes, n }));
        CHECK_INT("live", sym_n_live(&t), 1);
        CHECK_INT("limit", sym_limit(&t), sizeof(bytes));
    }
    sym_fini(&t);
}

enum { N_NAMES = 3000 };

static struct str name_of(uint64_t i, char to[64])
{
    int n = snprintf(to, 64, "%.*spod-%d", (int)(i % 40), "namespace-namespace-namespace-namespace-", (int)i);
    return (struct str){ to, (size_t)n };
}

TEST(random_references_equal_an_array_of_counts)
{
    static uint32_t n_refs[N_NAMES];
    static sym ids[N_NAMES];
    struct sym_table t;
    char name[64];
    uint32_t n_live = 1;
    sym_init(&t);
    for (int round = 0; round < 300000; round++) {
        uint64_t i = next_random() % N_NAMES;
        struct str text = name_of(i, name);
        CHECK_INT("found", sym_find(&t, text), n_refs[i] ? ids[i] : SYM_NONE);
        if (next_random() % 8 < (round / 30000 % 2 ? 2u : 6u)) {
            sym id = sym_intern(&t, text);
            CHECK(n_refs[i] == 0 || id == ids[i]);
            ids[i] = id;
            n_live += n_refs[i]++ == 0;
        } else if (n_refs[i]) {
            CHECK_STR("text", sym_text(&t, ids[i]), text);
            sym_unref(&t, ids[i]);
            n_live -= --n_refs[i] == 0;
        }
        CHECK_INT("live", sym_n_live(&t), n_live);
    }
    CHECK(sym_limit(&t) <= N_NAMES + 1);
    sym_fini(&t);
}

/* What the header promises, with room for the unused halves of arrays that double. */
TEST(memory_is_bounded_and_small)
{
    enum { N = 200000 };
    struct sym_table t;
    char name[64];
    size_t n_text = 0, first_bytes = 0;
    sym_init(&t);
    for (int round = 0; round < 4; round++) {
        n_text = 0;
        for (uint64_t i = 0; i < N; i++) {
            struct str text = name_of(i + (uint64_t)round * 40 * N, name);
            sym_intern(&t, text);
            n_text += text.n;
        }
        if (round == 0)
            first_bytes = sym_bytes(&t);
        for (sym id = 1; id <= N; id++)
            sym_unref(&t, id);
    }
    size_t array_bytes = t.entries_cap * sizeof(struct sym_entry) + (t.mask + 1) * sizeof(struct sym_slot);
    size_t text_overhead = first_bytes - array_bytes - n_text;
    CHECK(text_overhead / N <= 6 || ARENA_GAP_BYTES); /* sanitizers have gaps between texts */
    CHECK(t.entries_cap <= 2 * N && t.mask < 4 * N);
    if (sym_bytes(&t) > first_bytes + first_bytes / 4)
        FAIL("%zu bytes after the first round, %zu after the last", first_bytes, sym_bytes(&t));
    CHECK_INT("live", sym_n_live(&t), 1);
    sym_fini(&t);
}

TEST(texts_that_were_chosen_to_meet_are_parted)
{
    enum { N = 3000, BITS = 14 };
    hash_set_seed(3);
    struct sym_table t;
    sym_init(&t);
    struct hash_seed known = t.slot_seed;
    static char texts[N][24];
    static sym ids[N];
    unsigned number = 0;
    for (int i = 0; i < N; i++) {
        do
            snprintf(texts[i], sizeof(texts[i]), "s%u", ++number);
        while (hash_str(&known, str_of(texts[i])) & ((1u << BITS) - 1));
        ids[i] = sym_intern(&t, str_of(texts[i]));
        CHECK_INT("numbers do not depend on seeds", ids[i], i + 1);
    }
    CHECK(t.slot_seed.k0 != known.k0);
    CHECK(t.seed.k0 == known.k0);
    uint32_t longest = 0;
    for (uint32_t i = 0; i <= t.mask; i++) {
        uint32_t probe = t.slots[i].id == SYM_NONE ? 0 : (i - t.slots[i].hash) & t.mask;
        longest = probe > longest ? probe : longest;
    }
    CHECK(longest < 100);
    for (int i = 0; i < N; i++) {
        CHECK(sym_find(&t, str_of(texts[i])) == ids[i]);
        sym_unref(&t, ids[i]);
    }
    CHECK_INT("live", sym_n_live(&t), 1);
    sym_fini(&t);
}
