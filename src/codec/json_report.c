/* codec/json_report.c - texts of decoding errors and of findings, as the API server's decoder words them. */
#include "codec/json_priv.h"

/* Keys of a body can be long and paths repeat them, so texts are limited, and so is looking for new
 * ones. */
enum { FINDINGS_BYTES_MAX = 1 << 20, FINDINGS_WORK_MAX = 64 << 20 };

/* Names of fields from the root on with dots between them, embedded structs included. */
static void add_go_path(struct strbuf *to, const struct place *p)
{
    if (!p)
        return;
    add_go_path(to, p->up);
    if (!p->type)
        return;
    if (to->n)
        strbuf_add_char(to, '.');
    strbuf_add_text(to, p->field->go_path);
    strbuf_add_str(to, p->field->name);
}

static const char *without_package(const char *go_name)
{
    const char *dot = strchr(go_name, '.');
    return dot ? dot + 1 : go_name;
}

static void add_path(struct strbuf *to, const struct place *p)
{
    if (!p)
        return;
    add_path(to, p->up);
    bool index = !p->type && !p->key;
    if (index) {
        strbuf_printf(to, "[%u]", p->index);
        return;
    }
    if (p->up)
        strbuf_add_char(to, '.');
    strbuf_add_str(to, p->type ? p->field->name : *p->key);
}

/* Where the error is that goes out. What is fatal goes before what was noted. */
static void note_fault(struct decoder *d, bool fatal, const char *what)
{
    if (!d->findings || (d->fault_path && !fatal))
        return;
    struct strbuf path;
    strbuf_init(&path, STRBUF_NO_MAX);
    add_path(&path, d->place);
    d->fault_path = arena_cstr(d->arena, strbuf_str(&path));
    d->fault = what;
    strbuf_fini(&path);
}

/* A Go type in the words of JSON, where they say the same. */
static const char *plain_type(const char *go_type)
{
    go_type += *go_type == '*';
    if (strncmp(go_type, "[]", 2) == 0)
        return "array";
    return strchr(go_type, '.') || strncmp(go_type, "map[", 4) == 0 ? "object" : go_type;
}

/* Digits without end are cut. */
static struct str shown_number(struct decoder *d, struct str number)
{
    struct err e;
    err_init(&e, d->arena);
    return err_shown(&e, number);
}

static const char *expected_text(struct decoder *d, const char *what, struct str number, const char *go_type)
{
    return arena_printf(d->arena, "%s%s%.*s where %s is expected", what, number.n ? " " : "", STR_ARG(number),
                        plain_type(go_type));
}

static const char *mismatch_text(struct decoder *d, const char *what, struct str number, const char *go_type)
{
    const struct place *p = d->place;
    while (p && !p->type)
        p = p->up;
    const char *space = number.n ? " " : "";
    if (!p)
        return arena_printf(d->arena, "json: cannot unmarshal %s%s%.*s into Go value of type %s", what, space,
                            STR_ARG(number), go_type);
    struct strbuf path;
    strbuf_init(&path, STRBUF_NO_MAX);
    add_go_path(&path, p);
    const char *text = arena_printf(
        d->arena, "json: cannot unmarshal %s%s%.*s into Go struct field %s.%.*s of type %s", what, space,
        STR_ARG(number), without_package(p->type->go_name), STR_ARG(strbuf_str(&path)), go_type);
    strbuf_fini(&path);
    return text;
}

void json_note(struct decoder *d, const char *message)
{
    if (d->mismatch)
        return;
    d->mismatch = message;
    note_fault(d, false, message);
}

static void note_mismatch(struct decoder *d, const char *what, struct str number, const char *go_type)
{
    if (d->mismatch)
        return;
    number = shown_number(d, number);
    d->mismatch = mismatch_text(d, what, number, go_type);
    note_fault(d, false, expected_text(d, what, number, go_type));
}

bool json_mismatch(struct decoder *d, const char *go_type)
{
    note_mismatch(d, json_kind_name(json_peek(&d->scan)), (struct str){ NULL, 0 }, go_type);
    return json_skip_value(&d->scan);
}

bool json_mismatch_number(struct decoder *d, struct str number, const char *go_type)
{
    note_mismatch(d, "number", number, go_type);
    return true;
}

bool json_fatal(struct decoder *d, const char *message)
{
    d->fatal = message;
    note_fault(d, true, message);
    return false;
}

static bool fatal_mismatch(struct decoder *d, const char *what, struct str number, const char *go_type)
{
    number = shown_number(d, number);
    d->fatal = mismatch_text(d, what, number, go_type);
    note_fault(d, true, expected_text(d, what, number, go_type));
    return false;
}

bool json_fatal_mismatch(struct decoder *d, const char *go_type)
{
    return fatal_mismatch(d, json_kind_name(json_peek(&d->scan)), (struct str){ NULL, 0 }, go_type);
}

bool json_fatal_mismatch_number(struct decoder *d, struct str number, const char *go_type)
{
    return fatal_mismatch(d, "number", number, go_type);
}

static bool found_before(const struct findings *f, const char *text)
{
    for (unsigned i = 0; i < f->n; i++)
        if (strcmp(f->texts[i], text) == 0)
            return true;
    return false;
}

void json_find(struct decoder *d, const struct place *at, const char *kind, struct str name)
{
    struct findings *f = d->findings;
    if (d->n_findings >= JSON_FINDINGS_MAX || d->findings_bytes > FINDINGS_BYTES_MAX ||
        d->findings_work > FINDINGS_WORK_MAX)
        return;
    struct strbuf path, text;
    strbuf_init(&path, STRBUF_NO_MAX);
    strbuf_init(&text, STRBUF_NO_MAX);
    add_path(&path, at);
    if (at)
        strbuf_add_char(&path, '.');
    strbuf_add_str(&path, name);
    strbuf_add_text(&text, kind);
    STRBUF_ADD_LIT(&text, " field ");
    strbuf_add_quoted(&text, strbuf_str(&path));
    d->findings_work += text.n;
    if (!found_before(f, strbuf_cstr(&text))) {
        f->texts[f->n++] = arena_cstr(d->arena, strbuf_str(&text));
        d->n_findings++;
        d->findings_bytes += text.n;
    }
    strbuf_fini(&text);
    strbuf_fini(&path);
}
