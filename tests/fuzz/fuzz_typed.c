/* tests/fuzz/fuzz_typed.c - any bytes as an object of every kind that has a typed form.
 *
 * The first byte picks the kind, the second the format. What decodes can be dumped, and when it is given up,
 * or when decoding failed, no sym stays. */
#include <stdlib.h>

#include "tests/fuzz/effort.h"
#include "tests/typed_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 2)
        return 0;
    size_t n_kinds = 0;
    while (typed_kinds[n_kinds].kind)
        n_kinds++;
    const struct typed_kind *k = &typed_kinds[data[0] % n_kinds];
    struct str bytes = { (const char *)data + 2, n - 2 };
    struct arena a;
    arena_init(&a);
    effort_begin(n);
    struct err e;
    err_init(&e, &a);
    struct sym_table syms;
    sym_init(&syms);
    const void *form;
    if (k->decode(&syms, data[1] & 1 ? TYPED_PROTOBUF : TYPED_JSON, bytes, &form, &e)) {
        must(e.message && *e.message);
    } else {
        struct strbuf dump;
        strbuf_init(&dump, STRBUF_NO_MAX);
        k->dump(&dump, &syms, form);
        strbuf_fini(&dump);
        k->unref(&syms, form);
    }
    must(sym_n_live(&syms) == 1);
    sym_fini(&syms);
    effort_end(&a, n);
    arena_fini(&a);
    return 0;
}
