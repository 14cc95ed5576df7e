/* patch/patch_doc.c - the document of JSON and merge patches, see patch_priv.h. */
#include "base/vec.h"
#include "codec/json.h"
#include "codec/json_scan.h"
#include "patch/patch_priv.h"

/* Stands in place of a member that was removed, so that removing moves nothing. */
static struct node removed;

enum err_code doc_begin(struct work *work, struct str document, struct str patch, struct err *e)
{
    if (work_begin(work, patch.n, e)) /* to check it */
        return e->code;
    work_extend(work, document.n);
    bool enough = work_take(work, patch.n + 2 * (uint64_t)document.n); /* to parse it; to check and parse the document */
    return enough ? ERR_OK : work_error(e);
}

struct parser {
    struct arena *arena;
    struct json_scan scan;
    VEC(struct entry) stack; /* children of the containers that are open */
};

static void pop_entries(struct parser *p, size_t from, struct node *doc)
{
    doc->n = doc->cap = (uint32_t)(p->stack.n - from);
    doc->entries = arena_alloc(p->arena, doc->n * sizeof(*doc->entries));
    if (doc->n)
        memcpy(doc->entries, p->stack.at + from, doc->n * sizeof(*doc->entries));
    p->stack.n = from;
}

static void pop_items(struct parser *p, size_t from, struct node *ary)
{
    ary->n = ary->cap = (uint32_t)(p->stack.n - from);
    ary->items = arena_alloc(p->arena, ary->n * sizeof(*ary->items));
    for (uint32_t i = 0; i < ary->n; i++)
        ary->items[i] = p->stack.at[from + i].node;
    p->stack.n = from;
}

static bool parse_value(struct parser *p, struct node **ret_node);

static bool parse_container(struct parser *p, char open, struct node *c)
{
    size_t from = p->stack.n;
    bool first = true, fault;
    if (p->scan.depth == VALUE_DEPTH_MAX || !json_enter(&p->scan, open))
        return false;
    while (json_next(&p->scan, open == '{' ? '}' : ']', &first, &fault)) {
        struct entry child = { .ordinal = (uint32_t)(p->stack.n - from) };
        struct json_text key;
        if (open == '{') {
            if (!json_scan_key(&p->scan, &key))
                return false;
            child.key = json_unescape(p->arena, key);
        }
        if (!parse_value(p, &child.node))
            return false;
        vec_push(&p->stack, child);
    }
    if (open == '{')
        pop_entries(p, from, c);
    else
        pop_items(p, from, c);
    return !fault;
}

static bool parse_value(struct parser *p, struct node **ret_node)
{
    char c = json_peek(&p->scan);
    const char *start = p->scan.at;
    *ret_node = NULL;
    if (c == 'n')
        return json_scan_word(&p->scan, STR("null"));
    struct node *n = ARENA_NEW(p->arena, struct node);
    n->kind = c == '{' ? NODE_DOC : c == '[' ? NODE_ARY : NODE_SCALAR;
    bool good = n->kind == NODE_SCALAR ? json_skip_value(&p->scan) : parse_container(p, c, n);
    n->raw = str_range(start, p->scan.at);
    *ret_node = n;
    return good;
}

bool doc_parse(struct arena *a, struct str text, struct node **ret_node)
{
    struct parser p = { .arena = a, .scan = json_scan_init(text) };
    bool good = parse_value(&p, ret_node) && json_at_end(&p.scan);
    vec_fini(&p.stack);
    return good;
}

const char *doc_json_type(const struct node *n)
{
    return json_kind_name(n && n->raw.p ? n->raw.p[0] : 'n');
}

static int by_key_and_place(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = str_cmp(x->key, y->key);
    return order ? order : (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

static void sort_entries(struct work *work, struct node *doc)
{
    uint64_t n_bytes = 0;
    for (uint32_t i = 0; i < doc->n; i++)
        n_bytes += doc->entries[i].key.n + 1;
    (void)work_take(work, n_bytes + work_of_sorting(doc->n, n_bytes));
    bool sorted = true;
    for (uint32_t i = 1; i < doc->n && sorted; i++)
        sorted = str_cmp(doc->entries[i - 1].key, doc->entries[i].key) < 0;
    if (!sorted)
        qsort(doc->entries, doc->n, sizeof(*doc->entries), by_key_and_place);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < doc->n; i++) {
        bool last = i + 1 == doc->n || !str_eq(doc->entries[i].key, doc->entries[i + 1].key);
        if (last)
            doc->entries[kept++] = doc->entries[i];
    }
    doc->n = doc->n_sorted = kept;
}

void doc_touch(struct work *work, struct node *n)
{
    if (n->touched || n->kind == NODE_SCALAR)
        return;
    n->touched = true;
    if (n->kind == NODE_DOC)
        sort_entries(work, n);
}

static struct entry *find_entry(const struct node *doc, struct str key)
{
    uint32_t low = 0, high = doc->n_sorted;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        int order = str_cmp(key, doc->entries[mid].key);
        if (order == 0)
            return &doc->entries[mid];
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    /* At most one was added per operation, so this stays short enough to walk. */
    for (uint32_t i = doc->n_sorted; i < doc->n; i++)
        if (str_eq(doc->entries[i].key, key))
            return &doc->entries[i];
    return NULL;
}

struct node **doc_find(struct node *doc, struct str key)
{
    struct entry *found = find_entry(doc, key);
    return found && found->node != &removed ? &found->node : NULL;
}

/* Room for one more child of `size` bytes: doubling, because an arena gives nothing back. */
static void *grown(struct arena *a, struct node *c, void *children, size_t size)
{
    if (c->n < c->cap)
        return children;
    c->cap = c->cap ? c->cap * 2 : 4;
    void *larger = arena_alloc(a, mem_product(c->cap, size));
    if (c->n)
        memcpy(larger, children, c->n * size);
    return larger;
}

void doc_put(struct arena *a, struct node *doc, struct str key, struct node *value)
{
    struct entry *found = find_entry(doc, key);
    if (found) {
        found->node = value;
        return;
    }
    doc->entries = grown(a, doc, doc->entries, sizeof(*doc->entries));
    doc->entries[doc->n++] = (struct entry){ .key = key, .node = value };
}

bool doc_remove(struct node *doc, struct str key)
{
    struct node **found = doc_find(doc, key);
    if (found)
        *found = &removed;
    return found != NULL;
}

void ary_insert(struct arena *a, struct node *ary, uint32_t at, struct node *value)
{
    ary->items = grown(a, ary, ary->items, sizeof(struct node *));
    memmove(ary->items + at + 1, ary->items + at, (ary->n - at) * sizeof(struct node *));
    ary->items[at] = value;
    ary->n++;
}

void ary_remove(struct node *ary, uint32_t at)
{
    ary->n--;
    memmove(ary->items + at, ary->items + at + 1, (ary->n - at) * sizeof(struct node *));
}

static uint32_t count_members(const struct node *doc)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < doc->n; i++)
        n += doc->entries[i].node != &removed;
    return n;
}

static bool members_equal(struct work *work, struct node *a, struct node *b)
{
    if (count_members(a) != count_members(b))
        return false;
    for (uint32_t i = 0; i < a->n; i++) {
        struct entry *mine = &a->entries[i];
        if (mine->node == &removed)
            continue;
        struct node **other = doc_find(b, mine->key);
        if (!other || !doc_equal(work, mine->node, *other))
            return false;
    }
    return true;
}

static bool items_equal(struct work *work, struct node *a, struct node *b)
{
    if (a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!doc_equal(work, a->items[i], b->items[i]))
            return false;
    return true;
}

bool doc_equal(struct work *work, struct node *a, struct node *b)
{
    if (!a || !b)
        return a == b;
    if (a->kind != b->kind)
        return false;
    if (a->kind == NODE_SCALAR)
        return work_take(work, b->raw.n) && str_eq(a->raw, b->raw);
    doc_touch(work, a);
    doc_touch(work, b);
    if (a->kind == NODE_ARY)
        return work_take(work, b->n) && items_equal(work, a, b);
    return work_take(work, (uint64_t)a->n + b->n) && members_equal(work, a, b);
}

/* Appends the text; false when it is nested too deep. */
static bool write_node(struct strbuf *to, struct work *work, struct node *n, unsigned depth);

static bool write_members(struct strbuf *to, struct work *work, struct node *doc, unsigned depth)
{
    if (doc->n > doc->n_sorted)
        sort_entries(work, doc);
    (void)work_take(work, doc->n); /* those that were removed leave no text */
    bool first = true;
    strbuf_add_char(to, '{');
    for (uint32_t i = 0; i < doc->n; i++) {
        if (doc->entries[i].node == &removed)
            continue;
        if (!first)
            strbuf_add_char(to, ',');
        first = false;
        json_add_string(to, doc->entries[i].key);
        strbuf_add_char(to, ':');
        if (!write_node(to, work, doc->entries[i].node, depth))
            return false;
    }
    strbuf_add_char(to, '}');
    return true;
}

static bool write_items(struct strbuf *to, struct work *work, struct node *ary, unsigned depth)
{
    strbuf_add_char(to, '[');
    for (uint32_t i = 0; i < ary->n; i++) {
        if (i)
            strbuf_add_char(to, ',');
        if (!write_node(to, work, ary->items[i], depth))
            return false;
    }
    strbuf_add_char(to, ']');
    return true;
}

/* Operations can nest documents into each other beyond what the parser takes. */
static bool write_node(struct strbuf *to, struct work *work, struct node *n, unsigned depth)
{
    if (!n || !n->raw.p || n->nil) {
        STRBUF_ADD_LIT(to, "null");
        return true;
    }
    if (!n->touched) {
        json_compact(to, n->raw);
        return true;
    }
    if (depth == VALUE_DEPTH_MAX)
        return false;
    return n->kind == NODE_DOC ? write_members(to, work, n, depth + 1) : write_items(to, work, n, depth + 1);
}

bool doc_text(struct arena *a, struct work *work, struct node *n, struct str *ret_text)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    bool good = write_node(&b, work, n, 0);
    if (good)
        *ret_text = arena_str(a, strbuf_str(&b));
    strbuf_fini(&b);
    return good;
}

const char *take_text(struct arena *a, struct strbuf *b)
{
    const char *text = arena_cstr(a, strbuf_str(b));
    strbuf_fini(b);
    return text;
}
