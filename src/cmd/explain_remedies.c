/* cmd/explain_remedies.c - see explain.h: what would place a pending pod, for people. */
#include "base/printable.h"
#include "cmd/explain.h"

void explain_add_remedies_text(struct strbuf *to, const struct remedies *r)
{
    if (r->fits)
        return;
    struct arena a;
    arena_init(&a);
    STRBUF_ADD_LIT(to, "\nWhat would place it (any one of these, smallest first; each was tried)\n");
    for (uint32_t i = 0; i < r->n; i++)
        printable_printf(to, "  %u. %s\n", i + 1, remedy_text(&r->at[i], &a));
    if (!r->n)
        strbuf_printf(to, "  no single change was found in %u %s\n", r->n_tried, r->n_tried == 1 ? "try" : "tries");
    else if (r->cut)
        STRBUF_ADD_LIT(to, "  there are more than are shown\n");
    arena_fini(&a);
}
