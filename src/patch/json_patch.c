/* patch/json_patch.c - JSON patch, with the semantics of the library that the API server uses.
 *
 * They differ from RFC 6902 where clients have come to see it: `replace` and `test` of a missing member look
 * at null, `copy` of one adds null, an index may be negative (from the end) or carry a sign, whatever stands
 * before the first slash of a path does not count, and the root can be replaced and tested only. Messages are
 * upstream's, as they name the operation that failed. Where upstream would crash (a value that is missing or
 * null in an odd place), the operation fails here. */
#include "codec/json_scan.h"
#include "patch/patch_priv.h"

#define MISSING_VALUE "missing value"
#define TEST_FAILED "test failed"

struct run {
    struct arena *arena;
    struct work *work;
    struct err *e;
    struct node *root, *op;
    size_t copied_bytes;
    size_t visited_bytes; /* of the operation at hand, beyond its own text */
};

enum text_state { TEXT_GIVEN, TEXT_MISSING, TEXT_NOT_STRING };

/* A member of the operation that must be a string; null counts as missing. */
static enum text_state op_text(struct run *r, struct str name, struct str *ret_text)
{
    struct node **member = doc_find(r->op, name);
    if (!member || !*member)
        return TEXT_MISSING;
    struct json_scan scan = json_scan_init((*member)->raw);
    struct json_text text;
    if (!json_scan_string(&scan, &text))
        return TEXT_NOT_STRING;
    *ret_text = json_unescape(r->arena, text);
    return TEXT_GIVEN;
}

/* Why `name` could not be read, as far as an operation tells. */
static const char *op_text_fault(struct run *r, enum text_state state, const char *name)
{
    if (state == TEXT_MISSING)
        return arena_printf(r->arena, "operation%s missing %s field: " MISSING_VALUE,
                            name[0] == 'f' ? "," : "", name);
    struct node **member = doc_find(r->op, str_of(name));
    return arena_printf(r->arena, "json: cannot unmarshal %s into Go value of type string",
                        doc_json_type(*member));
}

/* NULL when the operation has none; a node without text when it is null. */
static struct node *op_value(struct run *r)
{
    struct node **member = doc_find(r->op, STR("value"));
    if (!member)
        return NULL;
    return *member ? *member : ARENA_NEW(r->arena, struct node);
}

/* One part of a path: ~1 is a slash, ~0 a tilde. */
static struct str decode_part(struct arena *a, struct str part)
{
    if (str_index(part, '~') == part.n)
        return part;
    char *start = arena_alloc(a, part.n), *to = start;
    for (size_t i = 0; i < part.n; i++) {
        bool escape = part.p[i] == '~' && i + 1 < part.n && (part.p[i + 1] == '0' || part.p[i + 1] == '1');
        *to++ = !escape ? part.p[i] : part.p[i + 1] == '0' ? '~' : '/';
        i += escape;
    }
    return str_range(start, to);
}

/* A decimal number with an optional sign; on failure the reason in the words of Go's strconv. */
static const char *parse_index(struct arena *a, struct str key, int64_t *ret_index)
{
    bool negative = key.n && key.p[0] == '-', sign = negative || (key.n && key.p[0] == '+');
    bool good = key.n > sign, range = true;
    int64_t value = 0;
    for (size_t i = sign; i < key.n && good; i++) {
        good = key.p[i] >= '0' && key.p[i] <= '9';
        int digit = key.p[i] - '0';
        range = range && !__builtin_mul_overflow(value, 10, &value) &&
                !__builtin_add_overflow(value, negative ? -digit : digit, &value);
    }
    *ret_index = value;
    if (good && range)
        return NULL;
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&b, "strconv.Atoi: parsing ");
    strbuf_add_quoted(&b, key);
    strbuf_add_text(&b, good ? ": value out of range" : ": invalid syntax");
    return take_text(a, &b);
}

/* The place that `key` names in a list of `n`, negative ones from the end. */
static const char *list_place(struct arena *a, struct str key, uint32_t n, uint32_t *ret_at)
{
    int64_t index;
    const char *why = parse_index(a, key, &index);
    if (why)
        return why;
    if (index >= (int64_t)n || index < -(int64_t)n)
        return arena_printf(a, "Unable to access invalid index: %lld: invalid index referenced",
                            (long long)index);
    *ret_at = (uint32_t)(index < 0 ? index + n : index);
    return NULL;
}

/* Looking up a member walks those that were added; changing a list moves its elements, some at a time. */
static void visit(struct run *r, const struct node *c)
{
    enum { ENTRIES_A_BYTE = 16, ITEMS_A_BYTE = 8 };
    r->visited_bytes += c->kind == NODE_DOC ? (c->n - c->n_sorted) / ENTRIES_A_BYTE : c->n / ITEMS_A_BYTE;
}

/* The four things one can do to a container; each returns NULL or why it cannot be done. */

static const char *get_child(struct run *r, struct node *c, struct str key, struct node **ret_child)
{
    visit(r, c);
    if (c->kind == NODE_DOC) {
        struct node **member = doc_find(c, key);
        *ret_child = member ? *member : NULL;
        return NULL;
    }
    uint32_t at = 0;
    const char *why = list_place(r->arena, key, c->n, &at);
    if (!why)
        *ret_child = c->items[at];
    return why;
}

static const char *set_child(struct run *r, struct node *c, struct str key, struct node *value)
{
    visit(r, c);
    uint32_t at = 0;
    if (c->kind == NODE_DOC) {
        doc_put(r->arena, c, key, value);
        return NULL;
    }
    const char *why = list_place(r->arena, key, c->n, &at);
    if (!why)
        c->items[at] = value;
    return why;
}

static const char *add_child(struct run *r, struct node *c, struct str key, struct node *value)
{
    visit(r, c);
    if (c->kind == NODE_DOC) {
        doc_put(r->arena, c, key, value);
        return NULL;
    }
    uint32_t at = c->n;
    int64_t index;
    if (!str_eq(key, STR("-"))) {
        const char *why = parse_index(r->arena, key, &index);
        if (why)
            return arena_printf(r->arena, "value was not a proper array index: '%.*s': %s", STR_ARG(key), why);
        why = list_place(r->arena, key, c->n + 1, &at);
        if (why)
            return why;
    }
    ary_insert(r->arena, c, at, value);
    return NULL;
}

static const char *remove_child(struct run *r, struct node *c, struct str key)
{
    visit(r, c);
    uint32_t at = 0;
    if (c->kind == NODE_DOC) {
        if (doc_remove(c, key))
            return NULL;
        return arena_printf(r->arena, "Unable to remove nonexistent key: %.*s: " MISSING_VALUE, STR_ARG(key));
    }
    const char *why = list_place(r->arena, key, c->n, &at);
    if (!why)
        ary_remove(c, at);
    return why;
}

/* The container that the path leads into, and the key within it; NULL when the way there is missing. */
static struct node *find_container(struct run *r, struct str path, struct str *ret_key)
{
    size_t slash = str_index(path, '/');
    if (slash == path.n)
        return NULL;
    struct node *c = r->root;
    struct str rest = str_from(path, slash + 1);
    for (slash = str_index(rest, '/'); slash < rest.n; slash = str_index(rest, '/')) {
        struct node *next = NULL;
        const char *why = get_child(r, c, decode_part(r->arena, str_first(rest, slash)), &next);
        if (why || !next || next->kind == NODE_SCALAR || next->nil)
            return NULL;
        doc_touch(r->work, next);
        c = next;
        rest = str_from(rest, slash + 1);
    }
    *ret_key = decode_part(r->arena, rest);
    return c;
}

static enum err_code fail(struct run *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static enum err_code fail(struct run *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(r->arena, format, args);
    va_end(args);
    return err_set(r->e, ERR_INVALID, "%s", text);
}

static enum err_code op_add(struct run *r)
{
    struct str path, key;
    if (op_text(r, STR("path"), &path))
        return fail(r, "add operation failed to decode path: " MISSING_VALUE);
    struct node *c = find_container(r, path, &key);
    if (!c)
        return fail(r, "add operation does not apply: doc is missing path: \"%.*s\": " MISSING_VALUE,
                    STR_ARG(path));
    const char *why = add_child(r, c, key, op_value(r));
    return why ? fail(r, "error in add for path: '%.*s': %s", STR_ARG(path), why) : ERR_OK;
}

static enum err_code op_remove(struct run *r)
{
    struct str path, key;
    if (op_text(r, STR("path"), &path))
        return fail(r, "remove operation failed to decode path: " MISSING_VALUE);
    struct node *c = find_container(r, path, &key);
    if (!c)
        return fail(r, "remove operation does not apply: doc is missing path: \"%.*s\": " MISSING_VALUE,
                    STR_ARG(path));
    const char *why = remove_child(r, c, key);
    return why ? fail(r, "error in remove for path: '%.*s': %s", STR_ARG(path), why) : ERR_OK;
}

static enum err_code replace_root(struct run *r)
{
    struct node *value = op_value(r);
    if (!value || value->kind == NODE_SCALAR)
        return fail(r, "replace operation value must be object or array: %%!w(<nil>)");
    doc_touch(r->work, value);
    r->root = value;
    return ERR_OK;
}

static enum err_code op_replace(struct run *r)
{
    struct str path, key;
    enum text_state state = op_text(r, STR("path"), &path);
    if (state)
        return fail(r, "replace operation failed to decode path: %s", op_text_fault(r, state, "path"));
    if (path.n == 0)
        return replace_root(r);
    struct node *c = find_container(r, path, &key), *old;
    if (!c)
        return fail(r, "replace operation does not apply: doc is missing path: %.*s: " MISSING_VALUE,
                    STR_ARG(path));
    if (get_child(r, c, key, &old))
        return fail(r, "replace operation does not apply: doc is missing key: %.*s: " MISSING_VALUE,
                    STR_ARG(path));
    const char *why = set_child(r, c, key, op_value(r));
    return why ? fail(r, "error in remove for path: '%.*s': %s", STR_ARG(path), why) : ERR_OK;
}

static enum err_code op_move(struct run *r)
{
    struct str from, path, key;
    enum text_state state = op_text(r, STR("from"), &from);
    if (state)
        return fail(r, "move operation failed to decode from: %s", op_text_fault(r, state, "from"));
    struct node *c = find_container(r, from, &key), *value = NULL;
    if (!c)
        return fail(r, "move operation does not apply: doc is missing from path: %.*s: " MISSING_VALUE,
                    STR_ARG(from));
    const char *why = get_child(r, c, key, &value);
    if (!why)
        why = remove_child(r, c, key);
    if (why)
        return fail(r, "error in move for path: '%.*s': %s", STR_ARG(key), why);
    state = op_text(r, STR("path"), &path);
    if (state)
        return fail(r, "move operation failed to decode path: %s", op_text_fault(r, state, "path"));
    c = find_container(r, path, &key);
    if (!c)
        return fail(r, "move operation does not apply: doc is missing destination path: %.*s: " MISSING_VALUE,
                    STR_ARG(path));
    why = add_child(r, c, key, value);
    return why ? fail(r, "error in move for path: '%.*s': %s", STR_ARG(path), why) : ERR_OK;
}

static enum err_code op_test(struct run *r)
{
    struct str path, key;
    enum text_state state = op_text(r, STR("path"), &path);
    if (state)
        return fail(r, "test operation failed to decode path: %s", op_text_fault(r, state, "path"));
    struct node *found = r->root, *want = op_value(r);
    if (path.n) {
        struct node *c = find_container(r, path, &key);
        if (!c)
            return fail(r, "test operation does not apply: is missing path: %.*s: " MISSING_VALUE,
                        STR_ARG(path));
        const char *why = get_child(r, c, key, &found);
        if (why)
            return fail(r, "error in test for path: '%.*s': %s", STR_ARG(path), why);
    }
    bool holds = found ? want && doc_equal(r->work, found, want) : !want || !want->raw.p;
    return holds ? ERR_OK : fail(r, "testing value %.*s failed: " TEST_FAILED, STR_ARG(path));
}

/* A copy is taken over its text. One of a null that an operation brought along is an odd thing: it reads as
 * an object without members and is written as null. */
static enum err_code copy_node(struct run *r, struct node *from, struct node **ret_copy)
{
    struct str text;
    *ret_copy = NULL;
    if (!from)
        return ERR_OK;
    if (!doc_text(r->arena, r->work, from, &text))
        return fail(r, "error while performing deep copy: exceeded max depth");
    r->copied_bytes += text.n;
    if (r->copied_bytes > PATCH_COPIED_BYTES_MAX)
        return fail(r, "Unable to complete the copy, the accumulated size increase of copy is %zu, "
                       "exceeding the limit %d", r->copied_bytes, PATCH_COPIED_BYTES_MAX);
    work_extend(r->work, text.n); /* copies have a limit of their own, and are then ours */
    r->visited_bytes += 2 * text.n; /* written and parsed */
    if (!doc_parse(r->arena, text, ret_copy))
        return fail(r, "error while performing deep copy: exceeded max depth");
    if (!*ret_copy) {
        *ret_copy = ARENA_NEW(r->arena, struct node);
        **ret_copy = (struct node){ .raw = text, .kind = NODE_DOC, .nil = true };
    }
    return ERR_OK;
}

static enum err_code op_copy(struct run *r)
{
    struct str from, path, key;
    enum text_state state = op_text(r, STR("from"), &from);
    if (state)
        return fail(r, "copy operation failed to decode from: %s", op_text_fault(r, state, "from"));
    struct node *c = find_container(r, from, &key), *value = NULL, *copy;
    if (!c)
        return fail(r, "copy operation does not apply: doc is missing from path: %.*s: " MISSING_VALUE,
                    STR_ARG(from));
    const char *why = get_child(r, c, key, &value);
    if (why)
        return fail(r, "error in copy for from: '%.*s': %s", STR_ARG(from), why);
    if (op_text(r, STR("path"), &path))
        return fail(r, "copy operation failed to decode path: " MISSING_VALUE);
    c = find_container(r, path, &key);
    if (!c)
        return fail(r, "copy operation does not apply: doc is missing destination path: %.*s: " MISSING_VALUE,
                    STR_ARG(path));
    if (copy_node(r, value, &copy))
        return r->e->code;
    why = add_child(r, c, key, copy);
    return why ? fail(r, "error while adding value during copy: %s", why) : ERR_OK;
}

static enum err_code run_operation(struct run *r)
{
    static const struct {
        struct str name;
        enum err_code (*run)(struct run *r);
    } kinds[] = {
        { { "add", 3 }, op_add },       { { "remove", 6 }, op_remove }, { { "replace", 7 }, op_replace },
        { { "move", 4 }, op_move },     { { "test", 4 }, op_test },     { { "copy", 4 }, op_copy },
    };
    struct str name = STR("unknown");
    if (r->op) {
        doc_touch(r->work, r->op);
        (void)op_text(r, STR("op"), &name);
    }
    for (size_t i = 0; r->op && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (str_eq(kinds[i].name, name))
            return kinds[i].run(r);
    return fail(r, "Unexpected kind: %.*s", STR_ARG(name));
}

/* The list of operations; NULL is a patch without any. */
static enum err_code decode_patch(struct arena *a, struct str patch, struct node **ret_ops, struct err *e)
{
    if (json_check(patch, e))
        return e->code;
    if (!doc_parse(a, patch, ret_ops))
        return err_set(e, ERR_BAD_REQUEST, "exceeded max depth");
    struct node *ops = *ret_ops;
    if (ops && ops->kind != NODE_ARY)
        return err_set(e, ERR_BAD_REQUEST, "json: cannot unmarshal %s into Go value of type jsonpatch.Patch",
                       doc_json_type(ops));
    for (uint32_t i = 0; ops && i < ops->n; i++)
        if (ops->items[i] && ops->items[i]->kind != NODE_DOC)
            return err_set(e, ERR_BAD_REQUEST,
                           "json: cannot unmarshal %s into Go value of type jsonpatch.Operation",
                           doc_json_type(ops->items[i]));
    if (ops && ops->n > PATCH_OPERATIONS_MAX)
        return err_set(e, ERR_TOO_LARGE,
                       "Request entity too large: The allowed maximum operations in a JSON patch is %d, got %u",
                       PATCH_OPERATIONS_MAX, ops->n);
    return ERR_OK;
}

static enum err_code decode_document(struct run *r, struct str document)
{
    if (json_check(document, r->e) || !doc_parse(r->arena, document, &r->root))
        return err_set(r->e, ERR_INVALID, "%s", r->e->message ? r->e->message : "exceeded max depth");
    if (!r->root || r->root->kind == NODE_SCALAR)
        return fail(r, "json: cannot unmarshal %s into Go value of type jsonpatch.partialDoc",
                    doc_json_type(r->root));
    doc_touch(r->work, r->root);
    return ERR_OK;
}

enum err_code json_patch_apply(struct arena *a, struct work *work, struct str document, struct str patch,
                               struct str *ret_document, struct err *e)
{
    struct node *ops = NULL;
    struct run r = { .arena = a, .work = work, .e = e };
    if (doc_begin(work, document, patch, e) || decode_patch(a, patch, &ops, e) || decode_document(&r, document))
        return e->code;
    for (uint32_t i = 0; ops && i < ops->n; i++) {
        r.op = ops->items[i];
        r.visited_bytes = 0;
        enum err_code rc = run_operation(&r);
        if (!work_take(work, 1 + r.visited_bytes))
            return work_error(e);
        if (rc)
            return rc;
    }
    if (!doc_text(a, work, r.root, ret_document))
        return fail(&r, "exceeded max depth");
    return work_take(work, 1 + ret_document->n) ? ERR_OK : work_error(e);
}
