/* patch/patch_strict.c - what strict decoding of a patch finds in the patch itself.
 *
 * The API server decodes the body once more for that, into maps, or for a JSON patch into a struct of four
 * fields: keys given twice are found everywhere, unknown ones in operations. Found is told once, in the order
 * of the text, and a hundred at most. */
#include <stdlib.h>

#include "codec/json.h"
#include "codec/json_scan.h"
#include "patch/patch_priv.h"

void texts_add(struct texts *t, struct str text)
{
    t->full = t->full || t->n == PATCH_FINDINGS_MAX || t->n_bytes + text.n > PATCH_FINDINGS_BYTES_MAX;
    if (t->full)
        return;
    if (t->n == t->cap) {
        unsigned cap = t->cap ? t->cap * 2 : 8;
        const char **larger = ARENA_NEW_N(t->arena, const char *, cap);
        if (t->n)
            memcpy(larger, t->at, t->n * sizeof(*larger));
        t->at = larger;
        t->cap = cap;
    }
    t->at[t->n++] = arena_cstr(t->arena, text);
    t->n_bytes += text.n;
}

struct finder {
    struct arena *arena;
    struct work *work;
    struct texts *findings;
    const char *prefix;
    struct strbuf path;
};

/* Appends a key to the path; returns the length to go back to. */
static size_t push_key(struct finder *f, struct str key)
{
    size_t before = f->path.n;
    if (before)
        strbuf_add_char(&f->path, '.');
    strbuf_add_str(&f->path, key);
    return before;
}

static size_t push_index(struct finder *f, uint32_t index)
{
    size_t before = f->path.n;
    strbuf_printf(&f->path, "[%u]", index);
    return before;
}

/* The path can be as long as the body, and what is told already is made again only to see that: both are paid for. */
static void note(struct finder *f, const char *what, struct str key)
{
    if (f->findings->n >= JSON_FINDINGS_MAX || f->findings->full ||
        !work_take(f->work, (uint64_t)f->path.n + key.n + f->findings->n_bytes))
        return;
    size_t before = push_key(f, key);
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_printf(&text, "%s%s field ", f->prefix, what);
    strbuf_add_quoted(&text, strbuf_str(&f->path));
    f->path.n = before;
    bool told = false;
    for (unsigned i = 0; i < f->findings->n && !told; i++)
        told = str_is(strbuf_str(&text), f->findings->at[i]);
    if (!told)
        texts_add(f->findings, strbuf_str(&text));
    strbuf_fini(&text);
}

static int by_key_and_place(const void *a, const void *b)
{
    const struct entry *x = *(const struct entry *const *)a, *y = *(const struct entry *const *)b;
    int order = str_cmp(x->key, y->key);
    return order ? order : (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

/* One flag a member: it is the second with its key. NULL when there is none; the third is told by the
 * second. */
static bool *mark_duplicates(struct finder *f, const struct node *doc)
{
    const struct entry **order = arena_alloc(f->arena, doc->n * sizeof(*order));
    bool *marks = NULL;
    uint64_t n_bytes = 0;
    for (uint32_t i = 0; i < doc->n; i++) {
        order[i] = &doc->entries[i];
        n_bytes += doc->entries[i].key.n + 1;
    }
    if (!work_take(f->work, work_of_sorting(doc->n, n_bytes)))
        return NULL;
    qsort(order, doc->n, sizeof(*order), by_key_and_place);
    for (uint32_t i = 1; i < doc->n; i++) {
        if (!str_eq(order[i - 1]->key, order[i]->key))
            continue;
        if (!marks)
            marks = ARENA_NEW_N(f->arena, bool, doc->n);
        bool second = i == 1 || !str_eq(order[i - 2]->key, order[i]->key);
        marks[order[i]->ordinal] = second;
    }
    return marks;
}

static void find_duplicates(struct finder *f, const struct node *n)
{
    if (!n || n->kind == NODE_SCALAR || n->n == 0)
        return;
    if (n->kind == NODE_ARY) {
        for (uint32_t i = 0; i < n->n; i++) {
            size_t before = push_index(f, i);
            find_duplicates(f, n->items[i]);
            f->path.n = before;
        }
        return;
    }
    const bool *marks = n->n > 1 ? mark_duplicates(f, n) : NULL;
    for (uint32_t i = 0; i < n->n; i++) {
        if (marks && marks[i])
            note(f, "duplicate", n->entries[i].key);
        size_t before = push_key(f, n->entries[i].key);
        find_duplicates(f, n->entries[i].node);
        f->path.n = before;
    }
}

static enum err_code parse(struct arena *a, struct work *work, struct str text, struct node **ret_root, struct err *e)
{
    if (work_begin(work, text.n, e) || work_begin(work, text.n, e)) /* to check it, and to parse it */
        return e->code;
    if (json_check(text, e))
        return e->code;
    if (!doc_parse(a, text, ret_root))
        return err_set(e, ERR_BAD_REQUEST, "exceeded max depth");
    return ERR_OK;
}

enum err_code plain_check(struct arena *a, struct work *work, struct str patch, struct texts *findings, struct err *e)
{
    struct node *root = NULL;
    if (parse(a, work, patch, &root, e))
        return e->code;
    if (root && root->kind != NODE_DOC)
        return err_set(e, ERR_BAD_REQUEST,
                       "json: cannot unmarshal %s into Go value of type map[string]interface {}",
                       doc_json_type(root));
    if (!findings)
        return ERR_OK;
    struct finder f = { .arena = a, .work = work, .findings = findings, .prefix = "" };
    strbuf_init(&f.path, STRBUF_NO_MAX);
    find_duplicates(&f, root);
    strbuf_fini(&f.path);
    return work_take(work, 1) ? ERR_OK : work_error(e);
}

enum op_field { OP_OP, OP_PATH, OP_FROM, OP_VALUE, OP_UNKNOWN };

static enum op_field op_field(struct str name)
{
    static const char *const names[] = { "op", "path", "from", "value" };
    for (int i = 0; i < OP_UNKNOWN; i++)
        if (str_is(name, names[i]))
            return (enum op_field)i;
    return OP_UNKNOWN;
}

static enum err_code check_member(struct finder *f, const struct entry *member, unsigned *seen, struct err *e)
{
    enum op_field field = op_field(member->key);
    if (field == OP_UNKNOWN) {
        note(f, "unknown", member->key);
        return ERR_OK;
    }
    if (*seen & 1u << field)
        note(f, "duplicate", member->key);
    *seen |= 1u << field;
    const char *type = doc_json_type(member->node);
    if (field != OP_VALUE && member->node && strcmp(type, "string") != 0)
        return err_set(e, ERR_BAD_REQUEST,
                       "json: cannot unmarshal %s into Go struct field jsonPatchOp.%.*s of type string", type,
                       STR_ARG(member->key));
    if (field == OP_VALUE) {
        size_t before = push_key(f, member->key);
        find_duplicates(f, member->node);
        f->path.n = before;
    }
    return ERR_OK;
}

static enum err_code check_operation(struct finder *f, const struct node *op, struct err *e)
{
    unsigned seen = 0;
    if (!op)
        return ERR_OK;
    if (op->kind != NODE_DOC)
        return err_set(e, ERR_BAD_REQUEST,
                       "json: cannot unmarshal %s into Go value of type handlers.jsonPatchOp",
                       doc_json_type(op));
    for (uint32_t i = 0; i < op->n; i++)
        if (check_member(f, &op->entries[i], &seen, e))
            return e->code;
    return ERR_OK;
}

enum err_code json_patch_check(struct arena *a, struct work *work, struct str patch, struct texts *findings, struct err *e)
{
    struct node *root = NULL;
    if (parse(a, work, patch, &root, e))
        return e->code;
    if (root && root->kind != NODE_ARY)
        return err_set(e, ERR_BAD_REQUEST,
                       "json: cannot unmarshal %s into Go value of type []handlers.jsonPatchOp",
                       doc_json_type(root));
    enum err_code rc = ERR_OK;
    struct finder f = { .arena = a, .work = work, .findings = findings, .prefix = "json patch " };
    strbuf_init(&f.path, STRBUF_NO_MAX);
    for (uint32_t i = 0; root && i < root->n && !rc; i++) {
        size_t before = push_index(&f, i);
        rc = check_operation(&f, root->items[i], e);
        f.path.n = before;
    }
    strbuf_fini(&f.path);
    return rc || work_take(work, 1) ? rc : work_error(e);
}
