/* sim/read.c - see input.h: objects from texts.
 *
 * A document of JSON is walked once, from its first brace on: the items of a list are taken one by one,
 * each from its slice of the text, and all memory for one is used again for the next. kubectl prints
 * the kind of a list behind its items, so that this begins before it is known what the document is.
 * When it turns out to be something else, or no JSON at all, what was added is taken back
 * (sim_input_rewind) and the document is read the long way: as a tree, or as YAML. */
#include "base/utf8.h"
#include "codec/json.h"
#include "codec/json_scan.h"
#include "codec/proto.h"
#include "codec/type_meta.h"
#include "codec/yaml.h"
#include "sim/admission.h"
#include "sim/check.h"
#include "sim/forms.h"
#include "sim/input.h"

enum {
    TELL_BYTES = 1 << 20, /* how often progress is told */
    LIST_DEPTH_MAX = 8,   /* of lists within lists */
};

struct reader {
    struct sim_input *in;
    struct arena scratch;    /* of one object */
    struct arena document;   /* of one document that is no JSON or no plain list */
    const struct type *last; /* what the last item was: the next one probably is the same */
    struct findings findings;
    enum typed_format format; /* of what pods are read from */
    struct err *e;
    struct str text;
    size_t told;      /* how much of the text was reported */
    unsigned n_lists; /* around the object at hand */
    bool any_list;    /* was read, perhaps without items */
};

/* Where something stands. */
struct origin {
    const char *file;
    size_t document; /* from 1; 0: it is no file but a server */
    int64_t item;    /* -1: the document itself */
    const char *outer; /* origin of a list in a list, or NULL */
};

static const char *origin_text(struct arena *a, const struct origin *at)
{
    if (at->outer)
        return arena_printf(a, "%s, items[%lld]", at->outer, (long long)at->item);
    if (!at->document)
        return arena_cstr(a, str_of(at->file));
    if (at->item < 0)
        return arena_printf(a, "%s, document %zu", at->file, at->document);
    return arena_printf(a, "%s, document %zu, items[%lld]", at->file, at->document, (long long)at->item);
}

static enum err_code wrap(struct reader *r, const struct origin *at)
{
    return err_wrap(r->e, "%s", origin_text(&r->in->arena, at));
}

/* `at` need not be in the text: YAML becomes another one first. */
static void tell(struct reader *r, const char *at)
{
    uintptr_t done = (uintptr_t)at - (uintptr_t)r->text.p;
    if (done >= r->text.n || done < r->told + TELL_BYTES)
        return;
    r->told = done;
    sim_tell(&r->in->progress, SIM_READING, done, r->text.n);
}

/* ---- Messages ---- */

/* To the value of a member of the object at which `s` stands; false when there is none. */
static bool enter_member(struct json_scan *s, const char *name)
{
    struct json_text key;
    bool first = true, fault;
    if (!json_enter(s, '{'))
        return false;
    while (json_next(s, '}', &first, &fault)) {
        if (!json_scan_key(s, &key))
            return false;
        if (key.plain && str_is(key.raw, name))
            return true;
        if (!json_skip_value(s))
            return false;
    }
    return false;
}

static bool scan_text(struct json_scan *s, struct str *ret_text)
{
    struct json_text text;
    if (json_peek(s) != '"' || !json_scan_string(s, &text) || !text.plain)
        return false;
    *ret_text = text.raw;
    return true;
}

static struct str metadata_text(struct str json, const char *name)
{
    struct json_scan s = json_scan_init(json);
    struct str text = STR("");
    if (enter_member(&s, "metadata") && enter_member(&s, name))
        scan_text(&s, &text);
    return text;
}

/* "file, document 1: Pod shop/cart" of an object that may be wrong in any way. */
static const char *object_text(struct arena *a, const struct origin *at, const struct type *t, struct str json)
{
    struct str ns = metadata_text(json, "namespace"), name = metadata_text(json, "name");
    return arena_printf(a, "%s: %.*s%s%.*s%s%.*s", origin_text(a, at), STR_ARG(t->kind), name.n ? " " : "", STR_ARG(ns),
                        ns.n ? "/" : "", STR_ARG(name));
}

/* What the decoder refused, in words that name the field. */
static enum err_code fail_object(struct reader *r, const struct origin *at, const struct type *t, struct str json)
{
    struct json_fault fault = r->findings.fault;
    if (fault.path)
        err_set(r->e, ERR_INVALID, "%s%s%s", fault.path, *fault.path ? ": " : "", fault.what);
    return err_wrap(r->e, "%s", object_text(&r->in->arena, at, t, json));
}

static void warn_findings(struct reader *r, const struct origin *at, const struct type *t, struct str json)
{
    for (unsigned i = 0; i < r->findings.n; i++)
        sim_warn(r->in, "%s: %s", object_text(&r->scratch, at, t, json), r->findings.texts[i]);
    r->findings.n = 0;
    if (utf8_valid_prefix(json) < json.n)
        sim_warn(r->in, "%s: bytes that are not UTF-8 are read as U+FFFD", object_text(&r->scratch, at, t, json));
}

/* ---- One object ---- */

static enum err_code add_list(struct reader *r, const struct origin *at, const struct type *t, const struct value *v);

/* A pod straight from its bytes to its form. */
static enum err_code keep_pod(struct reader *r, const struct origin *at, struct sim_object *o, struct str bytes)
{
    const struct pod *form;
    if (pod_decode(r->in->syms, r->format, bytes, &form, r->e))
        return err_wrap(r->e, "%s", object_text(&r->in->arena, at, o->type, bytes));
    o->form = form;
    if (sim_input_add_pod(r->in, o, r->e))
        return r->e->code;
    sim_check_form(r->in, &r->in->objects.at[r->in->last]);
    return ERR_OK;
}

static enum err_code keep_value(struct reader *r, struct sim_object *o, struct value *v)
{
    int managed = schema_slot(schema_type(STR("meta/v1.ObjectMeta")), STR("managedFields"));
    struct value *meta = &v->slots[schema_slot(o->type, STR("metadata"))];
    if (meta->kind == VALUE_STRUCT)
        meta->slots[managed] = (struct value){ 0 }; /* large, and nobody asks */
    o->value = value_copy(sim_value_arena(r->in, o), v);
    return sim_input_add(r->in, o, r->e);
}

/* An object whose value lies in scratch memory and that was read from `bytes`; p is NULL when there are none. */
static enum err_code keep(struct reader *r, const struct origin *at, const struct type *t, struct value *v,
                          struct str bytes)
{
    struct sim_input *in = r->in;
    const struct sim_kind *kind = sim_kind_of(t);
    if (!kind) {
        in->n_ignored++;
        return ERR_OK;
    }
    struct sim_object o = { .type = t, .sim_kind = kind, .kind = kind->kind, .origin = origin_text(&in->arena, at) };
    bool complete = kind->form == SIM_FORM_POD && bytes.p && sim_pod_is_complete(v);
    if (complete ? keep_pod(r, at, &o, bytes) : keep_value(r, &o, v))
        return r->e->code;
    return sim_check_value(in, &in->objects.at[in->last], v, r->e);
}

static enum err_code add_value(struct reader *r, const struct origin *at, const struct type *t, struct value *v,
                               struct str json)
{
    bool is_list = str_ends(t->kind, STR("List")) && schema_slot(t, STR("items")) >= 0;
    return is_list ? add_list(r, at, t, v) : keep(r, at, t, v, json);
}

/* The type that a text says it is; NULL, with a warning, when it is not known. */
static enum err_code find_type(struct reader *r, struct arena *a, const struct origin *at, struct str json,
                               const struct type **ret_type)
{
    struct str api_version, kind;
    struct json_scan s = json_scan_init(json);
    char c = json_peek(&s);
    bool fits = c == '{' && !type_meta_read(a, json, &api_version, &kind, r->e);
    if (!fits && json_check(json, r->e))
        return wrap(r, at);
    if (!fits)
        err_set(r->e, ERR_INVALID, c == '{' ? "kind and apiVersion must be strings" : "%s where an object is expected",
                json_kind_name(c));
    else if (!kind.n || !api_version.n)
        err_set(r->e, ERR_INVALID, "%s is missing", kind.n ? "apiVersion" : "kind");
    if (r->e->code)
        return wrap(r, at);
    *ret_type = schema_object_type(api_version, kind);
    if (!*ret_type)
        sim_warn(r->in, "%s: %.*s of %.*s is not known and left out", origin_text(a, at), STR_ARG(kind),
                 STR_ARG(api_version));
    return ERR_OK;
}

/* The usual case: what the text before it was. False when it is not, or is not right. */
static bool decode_as(struct reader *r, const struct type *t, struct str json, struct value *ret_value)
{
    struct err ignored;
    err_init(&ignored, &r->scratch);
    struct work work = work_init(SIM_DOCUMENT_BYTES_MAX);
    if (!t || !(t->flags & TYPE_OBJECT) ||
        json_decode(&r->scratch, &work, t, json, &r->findings, ret_value, &ignored))
        return false;
    struct str api_version = value_text(&ret_value->slots[SLOT_API_VERSION]);
    struct str kind = value_text(&ret_value->slots[SLOT_KIND]);
    if (str_eq(kind, t->kind) && schema_object_type(api_version, kind) == t)
        return true;
    r->findings.n = 0;
    return false;
}

static enum err_code read_typed(struct reader *r, const struct origin *at, const struct type *t, struct str json)
{
    struct value v;
    struct work work = work_init(SIM_DOCUMENT_BYTES_MAX);
    arena_reset(&r->scratch);
    if (json_decode(&r->scratch, &work, t, json, &r->findings, &v, r->e))
        return fail_object(r, at, t, json);
    warn_findings(r, at, t, json);
    return add_value(r, at, t, &v, json);
}

/* An object that says what it is. */
static enum err_code read_object(struct reader *r, const struct origin *at, struct str json)
{
    struct value v;
    arena_reset(&r->scratch);
    if (decode_as(r, r->last, json, &v)) {
        warn_findings(r, at, r->last, json);
        return add_value(r, at, r->last, &v, json);
    }
    arena_reset(&r->scratch);
    if (find_type(r, &r->scratch, at, json, &r->last))
        return r->e->code;
    return r->last ? read_typed(r, at, r->last, json) : ERR_OK;
}

/* ---- A list as a tree ---- */

/* The tree of a list in a list lies in scratch memory, which its items will use. */
static enum err_code add_list(struct reader *r, const struct origin *at, const struct type *t, const struct value *v)
{
    const struct field *f = &t->fields[schema_slot(t, STR("items"))];
    struct value items = v->slots[schema_slot(t, STR("items"))];
    if (r->n_lists == LIST_DEPTH_MAX) {
        err_set(r->e, ERR_INVALID, "more than %d lists within each other", LIST_DEPTH_MAX);
        return wrap(r, at);
    }
    r->n_lists++;
    r->any_list = true;
    struct arena inner;
    arena_init(&inner);
    items = value_copy(&inner, &items);
    struct origin item = { .outer = origin_text(&inner, at) };
    enum err_code code = ERR_OK;
    for (uint32_t i = 0; items.kind == VALUE_LIST && i < items.n && !code; i++) {
        item.item = i;
        code = f->kind == KIND_STRUCT ? add_value(r, &item, f->type, &items.items[i], (struct str){ 0 })
                                      : read_object(r, &item, value_text(&items.items[i]));
    }
    arena_fini(&inner);
    r->n_lists--;
    return code;
}

/* ---- A document of JSON, walked ---- */

struct walk_state {
    struct str kind, api_version; /* as far as they were met */
    bool items, others;           /* were met: items, members that lists do not have */
    int64_t n_items;              /* that were read */
};

/* What a list's items are: *ret_item is NULL when they say it themselves. False when it is no list. */
static bool list_type(const struct walk_state *w, const struct type **ret_item)
{
    const struct type *t = w->kind.n && w->api_version.n ? schema_object_type(w->api_version, w->kind) : NULL;
    int slot = t && str_ends(t->kind, STR("List")) ? schema_slot(t, STR("items")) : -1;
    if (slot < 0)
        return false;
    *ret_item = t->fields[slot].kind == KIND_STRUCT ? t->fields[slot].type : NULL;
    return true;
}

/* Behind the items, at which `s` stands: what the list is, for items that do not say what they are. */
static void look_ahead(struct json_scan s, struct walk_state *w)
{
    struct json_text key;
    bool first = false, fault, ok = json_skip_value(&s);
    while (ok && json_next(&s, '}', &first, &fault) && json_scan_key(&s, &key)) {
        bool is_kind = key.plain && str_is(key.raw, "kind"), is_version = key.plain && str_is(key.raw, "apiVersion");
        ok = is_kind ? scan_text(&s, &w->kind) : is_version ? scan_text(&s, &w->api_version) : json_skip_value(&s);
    }
}

static bool says_what_it_is(struct reader *r, struct str json)
{
    struct str api_version, kind;
    struct err ignored;
    err_init(&ignored, &r->scratch);
    arena_reset(&r->scratch);
    return !type_meta_read(&r->scratch, json, &api_version, &kind, &ignored) && kind.n && api_version.n;
}

static bool walk_item(struct reader *r, const struct origin *at, const struct type *t, struct json_scan *s)
{
    struct str item;
    if (json_peek(s) != '{' || !json_scan_value(s, &item))
        return false;
    if (t ? read_typed(r, at, t, item) : read_object(r, at, item))
        return false;
    tell(r, s->at);
    return true;
}

/* False: the long way it is, or an error is set. */
static bool walk_items(struct reader *r, struct origin *at, struct walk_state *w, struct json_scan *s)
{
    struct json_scan inside = *s;
    struct str item;
    bool first = true, fault = false;
    if (!json_enter(&inside, '['))
        return false;
    bool early = !w->kind.n || !w->api_version.n;
    if (early && json_peek(&inside) == '{' && json_scan_value(&inside, &item) && !says_what_it_is(r, item))
        look_ahead(*s, w);
    const struct type *item_type = NULL;
    if (w->kind.n && w->api_version.n && !list_type(w, &item_type))
        return false;
    bool ok = json_enter(s, '[');
    for (at->item = 0; ok && json_next(s, ']', &first, &fault); at->item += ok)
        ok = walk_item(r, at, item_type, s);
    w->n_items = at->item;
    if (!ok || fault)
        return false;
    at->item = -1;
    return true;
}

/* One member of the document. */
static bool walk_member(struct reader *r, struct origin *at, struct walk_state *w, struct json_scan *s)
{
    struct json_text key;
    if (!json_scan_key(s, &key) || !key.plain)
        return false;
    if (str_is(key.raw, "kind"))
        return scan_text(s, &w->kind);
    if (str_is(key.raw, "apiVersion"))
        return scan_text(s, &w->api_version);
    if (str_is(key.raw, "items") && !w->items && json_peek(s) == '[') {
        w->items = true;
        return walk_items(r, at, w, s);
    }
    w->others |= !str_is(key.raw, "metadata");
    return json_skip_value(s);
}

static size_t line_of(struct str text, const char *at)
{
    size_t n = 1;
    for (const char *p = text.p; p < at && (p = memchr(p, '\n', (size_t)(at - p))); p++)
        n++;
    return n;
}

/* A document that stopped being JSON at `at`, behind some items: it is not going to be YAML. */
static void fail_syntax(struct reader *r, const struct origin *where, struct str document, const char *at)
{
    struct json_scan s = json_scan_init(document);
    if (json_skip_value(&s))
        return;
    if (!json_check(document, r->e))
        err_set(r->e, ERR_INVALID, "invalid JSON");
    err_wrap(r->e, "%s: line %zu", origin_text(&r->in->arena, where), line_of(r->text, at));
}

/* True when the document was read; *ret_text is it. Otherwise, unless there is an error, nothing has
 * happened. */
static bool walk_document(struct reader *r, struct origin at, struct str rest, struct str *ret_text)
{
    struct json_scan s = json_scan_init(rest);
    struct walk_state w = { .items = false };
    struct sim_mark mark = sim_input_mark(r->in);
    json_skip_space(&s);
    const char *start = s.at;
    bool first = true, fault = false, ok = json_enter(&s, '{');
    while (ok && json_next(&s, '}', &first, &fault))
        ok = walk_member(r, &at, &w, &s);
    const struct type *item;
    if (ok && !fault && (!w.items || (!w.others && list_type(&w, &item)))) {
        *ret_text = str_range(start, s.at);
        r->any_list |= w.items;
        return w.items || read_object(r, &at, *ret_text) == ERR_OK;
    }
    if (!r->e->code && w.n_items && (!ok || fault))
        fail_syntax(r, &at, rest, s.at);
    if (!r->e->code)
        sim_input_rewind(r->in, mark);
    return false;
}

/* ---- All documents ---- */

/* What begins as JSON does was perhaps meant to be JSON. */
static enum err_code fail_yaml(struct reader *r, const struct origin *at, struct str text)
{
    struct json_scan s = json_scan_init(text);
    const char *yaml = r->e->message;
    if (json_peek(&s) == '{' && json_check(text, r->e))
        err_set(r->e, ERR_INVALID, "neither JSON (%s) nor YAML (%s)", r->e->message, yaml);
    return wrap(r, at);
}

static enum err_code read_yaml(struct reader *r, const struct origin *at, struct str yaml)
{
    struct str json, whole;
    struct work work = work_init(SIM_DOCUMENT_BYTES_MAX);
    arena_reset(&r->document);
    r->findings.of_file = true;
    if (yaml_to_json(&r->document, &work, yaml, &r->findings, &json, r->e))
        return fail_yaml(r, at, yaml);
    for (unsigned i = 0; i < r->findings.n; i++)
        sim_warn(r->in, "%s: %s", origin_text(&r->document, at), r->findings.texts[i]);
    r->findings.n = 0;
    if (walk_document(r, *at, json, &whole))
        return ERR_OK;
    return r->e->code ? r->e->code : read_object(r, at, json);
}

static enum err_code read_documents(struct reader *r, const char *file)
{
    struct yaml_stream stream;
    yaml_stream_init(&stream, r->text);
    for (struct origin at = { .file = file, .document = 1, .item = -1 };; at.document++) {
        struct str document;
        if (stream.json && walk_document(r, at, str_from(r->text, stream.at), &document)) {
            stream.at = (size_t)(document.p + document.n - r->text.p);
            stream.n_json++;
            continue;
        }
        if (r->e->code)
            return r->e->code;
        if (yaml_next_document(&stream, &document, r->e))
            return wrap(r, &at);
        if (!document.p)
            return ERR_OK;
        tell(r, document.p);
        if (stream.json ? read_object(r, &at, document) : read_yaml(r, &at, document))
            return r->e->code;
    }
}

enum err_code sim_input_text(struct sim_input *in, const char *file, struct str text, struct err *e)
{
    struct reader r = { .in = in, .e = e, .text = text };
    arena_init(&r.scratch);
    arena_init(&r.document);
    e->code = ERR_OK;
    struct sim_mark mark = sim_input_mark(in);
    enum err_code code = read_documents(&r, file);
    if (!code && !sim_input_changed(in, mark) && !r.any_list)
        sim_warn(in, "%s: there is no object in it", file);
    sim_tell(&in->progress, SIM_READING, text.n, text.n);
    arena_fini(&r.scratch);
    arena_fini(&r.document);
    return code;
}

/* ---- One object of a server ---- */

static enum err_code read_message(struct reader *r, const struct origin *at, const struct type *t, struct str bytes)
{
    struct value v;
    struct work work = work_init(SIM_DOCUMENT_BYTES_MAX);
    if (proto_decode(&r->scratch, &work, t, bytes, &v, r->e))
        return wrap(r, at);
    return keep(r, at, t, &v, bytes);
}

enum err_code sim_input_object(struct sim_input *in, const struct type *t, enum typed_format format, struct str bytes,
                               const char *origin, struct err *e)
{
    struct reader r = { .in = in, .e = e, .text = bytes, .format = format };
    struct origin at = { .file = origin, .item = -1 };
    arena_init(&r.scratch);
    e->code = ERR_OK;
    enum err_code code = (format == TYPED_PROTOBUF ? read_message : read_typed)(&r, &at, t, bytes);
    arena_fini(&r.scratch);
    return code;
}
