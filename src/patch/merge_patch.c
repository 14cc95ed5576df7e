/* patch/merge_patch.c - JSON merge patch, with the semantics of the library that the API server uses.
 *
 * A member of the patch that is null removes, an object merges, all else replaces. Nulls inside of something
 * new are dropped from objects, also from objects in lists, and kept as elements of lists. A list or scalar
 * that replaces an object is taken as it is, nulls included: upstream prunes in the one case only. */
#include "codec/json_scan.h"
#include "patch/patch_priv.h"

/* What both walk with. When the budget is spent they stop, and the result is not used. */
struct merge {
    struct arena *arena;
    struct work *work;
};

static void prune_nulls(struct merge *m, struct node *n)
{
    doc_touch(m->work, n);
    if (!work_take(m->work, 1 + (uint64_t)n->n))
        return;
    if (n->kind == NODE_ARY) {
        for (uint32_t i = 0; i < n->n; i++)
            if (n->items[i])
                prune_nulls(m, n->items[i]);
    } else if (n->kind == NODE_DOC) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < n->n; i++) {
            if (!n->entries[i].node)
                continue;
            prune_nulls(m, n->entries[i].node);
            n->entries[kept++] = n->entries[i];
        }
        n->n = n->n_sorted = kept;
    }
}

static void merge_documents(struct merge *m, struct node *doc, struct node *patch);

static struct node *merge(struct merge *m, struct node *current, struct node *patch)
{
    if (!current || current->kind != NODE_DOC) {
        prune_nulls(m, patch);
        return patch;
    }
    if (patch->kind != NODE_DOC)
        return patch;
    merge_documents(m, current, patch);
    return current;
}

/* Both are sorted, so one walk over the two does it. */
static void merge_documents(struct merge *m, struct node *doc, struct node *patch)
{
    doc_touch(m->work, doc);
    doc_touch(m->work, patch);
    if (!work_take(m->work, (uint64_t)doc->n + patch->n))
        return;
    uint32_t cap = doc->n + patch->n, n = 0, i = 0, k = 0;
    struct entry *merged = arena_alloc(m->arena, cap * sizeof(*merged));
    while (i < doc->n || k < patch->n) {
        int order = i == doc->n ? 1 : k == patch->n ? -1 : str_cmp(doc->entries[i].key, patch->entries[k].key);
        struct node *current = order <= 0 ? doc->entries[i].node : NULL;
        if (order < 0) {
            merged[n++] = doc->entries[i++];
            continue;
        }
        struct entry change = patch->entries[k++];
        i += order == 0;
        if (!change.node)
            continue;
        change.node = merge(m, current, change.node);
        merged[n++] = change;
    }
    doc->entries = merged;
    doc->n = doc->n_sorted = n;
    doc->cap = cap;
}

/* False when the text is not JSON. */
static bool read_document(struct arena *a, struct str text, struct node **ret_node)
{
    struct err ignored;
    err_init(&ignored, a);
    return json_check(text, &ignored) == ERR_OK && doc_parse(a, text, ret_node);
}

enum err_code merge_patch_apply(struct arena *a, struct work *work, struct str document, struct str patch,
                                struct str *ret_document, struct err *e)
{
    struct node *doc = NULL, *change = NULL;
    struct merge m = { a, work };
    if (doc_begin(work, document, patch, e))
        return e->code;
    bool doc_good = read_document(a, document, &doc);
    bool patch_good = read_document(a, patch, &change);
    if (!doc_good || (patch_good && !doc))
        return err_set(e, ERR_UNKNOWN, "Invalid JSON Document");
    if (!patch_good || !change || change->kind == NODE_SCALAR)
        return err_set(e, ERR_BAD_REQUEST, "Invalid JSON Patch");
    if (doc->kind == NODE_DOC && change->kind == NODE_DOC) {
        merge_documents(&m, doc, change);
    } else {
        prune_nulls(&m, change);
        doc = change;
    }
    if (!doc_text(a, work, doc, ret_document))
        return err_set(e, ERR_UNKNOWN, "exceeded max depth");
    return work_take(work, 1 + ret_document->n) ? ERR_OK : work_error(e);
}
