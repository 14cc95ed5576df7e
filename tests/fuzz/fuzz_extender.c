/* tests/fuzz/fuzz_extender.c - any bytes as the answer of an extender; the first byte picks the verb.
 *
 * What is no JSON is an error, and what there is in an answer lies apart from its bytes. */
#include "codec/json_scan.h"
#include "daemon/extender_codec.h"
#include "tests/fuzz/effort.h"
#include "tests/test.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static size_t n_read;

/* Reads every byte, and its end. */
static void look(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        n_read += s.p[i] == 0;
    CHECK(s.p && s.p[s.n] == 0);
}

static void look_at_all(const struct extender_answer *x)
{
    for (uint32_t i = 0; i < x->node_names.n; i++)
        look(x->node_names.at[i]);
    for (uint32_t i = 0; i < x->nodes.n; i++)
        look(x->nodes.at[i]);
    for (uint32_t i = 0; i < x->n_failed; i++)
        n_read += strlen(x->failed[i].why);
    for (uint32_t i = 0; i < x->n_unresolvable; i++)
        n_read += strlen(x->unresolvable[i].why);
    for (uint32_t i = 0; i < x->n_scores; i++)
        look(x->scores[i].node);
    for (uint32_t i = 0; i < x->n_victims; i++)
        for (uint32_t k = 0; k < x->victims[i].n_uids; k++)
            look(x->victims[i].uids[k]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0)
        return 0;
    struct arena a;
    arena_init(&a);
    effort_begin(n);
    struct err e;
    err_init(&e, &a);
    char *body = mem_alloc(n);
    memcpy(body, data + 1, n - 1);
    struct str text = { body, n - 1 };
    struct json_scan scan = json_scan_init(text);
    bool is_json = json_skip_value(&scan);
    struct extender_answer x = extender_decode(&a, data[0] % N_EXTENDER_VERBS, text);
    memset(body, 'x', n - 1);
    CHECK(is_json || x.error);
    if (x.error)
        n_read += strlen(x.error);
    look_at_all(&x);
    free(body);
    effort_end(&a, n);
    arena_fini(&a);
    return 0;
}
