/* apiserver/token_file.c - see token_file.h. Upstream: authentication/token/tokenfile, with Go's encoding/csv. */
#include "apiserver/token_file.h"

#include "base/vec.h"

struct reading {
    struct arena *arena;
    struct str left;
    unsigned line;
    VEC(struct str) fields; /* of one record */
};

static char peek(const struct reading *r)
{
    return r->left.n ? r->left.p[0] : '\n';
}

static void skip(struct reading *r, size_t n)
{
    for (size_t i = 0; i < n && i < r->left.n; i++)
        r->line += r->left.p[i] == '\n';
    r->left = str_from(r->left, n);
}

/* Two quotes stand for one; commas and line ends are what they are. */
static enum err_code read_quoted(struct reading *r, struct str *ret_field, struct err *e)
{
    char *text = arena_alloc(r->arena, r->left.n);
    size_t n = 0;
    skip(r, 1);
    for (;;) {
        if (r->left.n == 0)
            return err_set(e, ERR_INVALID, "parse error on line %u: extraneous or missing \" in quoted-field", r->line);
        char c = peek(r);
        skip(r, 1);
        if (c == '"' && (r->left.n == 0 || peek(r) != '"'))
            break;
        if (c == '"')
            skip(r, 1);
        text[n++] = c;
    }
    if (!strchr(",\r\n", peek(r)))
        return err_set(e, ERR_INVALID, "parse error on line %u: extraneous or missing \" in quoted-field", r->line);
    *ret_field = (struct str){ text, n };
    return ERR_OK;
}

static enum err_code read_plain(struct reading *r, struct str *ret_field, struct err *e)
{
    size_t n = 0;
    while (n < r->left.n && r->left.p[n] != ',' && r->left.p[n] != '\n')
        n++;
    struct str field = str_first(r->left, n);
    skip(r, n);
    if (field.n && field.p[field.n - 1] == '\r' && peek(r) == '\n')
        field.n--;
    if (str_index(field, '"') != field.n)
        return err_set(e, ERR_INVALID, "parse error on line %u: bare \" in non-quoted field", r->line);
    *ret_field = field;
    return ERR_OK;
}

static enum err_code read_record(struct reading *r, struct err *e)
{
    vec_reset(&r->fields);
    for (;;) {
        struct str field;
        if (peek(r) == '"' ? read_quoted(r, &field, e) : read_plain(r, &field, e))
            return e->code;
        vec_push(&r->fields, field);
        if (peek(r) != ',' || r->left.n == 0)
            break;
        skip(r, 1);
    }
    if (peek(r) == '\r')
        skip(r, 1);
    skip(r, 1);
    return ERR_OK;
}

static struct str_list split_groups(struct arena *a, struct str text)
{
    VEC(struct str) found = { 0 };
    for (;;) {
        size_t comma = str_index(text, ',');
        vec_push(&found, str_first(text, comma));
        if (comma == text.n)
            break;
        text = str_from(text, comma + 1);
    }
    struct str_list list = str_list_copy(a, &(struct str_list){ found.at, found.n });
    vec_fini(&found);
    return list;
}

/* Of a token that is there twice the last line counts; lines without one say nothing. */
static void add_user(struct token_file *f, const struct str *fields, size_t n_fields)
{
    if (fields[0].n == 0)
        return;
    struct user *u = ARENA_NEW(&f->arena, struct user);
    u->name = arena_str(&f->arena, fields[1]);
    u->uid = arena_str(&f->arena, fields[2]);
    if (n_fields > 3)
        u->groups = split_groups(&f->arena, fields[3]);
    map_str_put(&f->users, arena_str(&f->arena, fields[0]), NULL)->ptr = u;
}

enum err_code token_file_read(struct str text, struct token_file *ret_file, struct err *e)
{
    struct token_file f;
    struct arena scratch;
    enum err_code rc = ERR_OK;
    arena_init(&f.arena);
    map_str_init(&f.users);
    arena_init(&scratch);
    struct reading r = { .arena = &scratch, .left = text, .line = 1 };
    while (!rc && r.left.n) {
        if (peek(&r) == '\n' || str_starts(r.left, STR("\r\n"))) {
            skip(&r, peek(&r) == '\n' ? 1 : 2);
            continue;
        }
        rc = read_record(&r, e);
        if (!rc && r.fields.n < 3)
            rc = err_set(e, ERR_INVALID, "token file must have at least 3 columns (token, user name, user uid), found %zu",
                         r.fields.n);
        if (!rc)
            add_user(&f, r.fields.at, r.fields.n);
    }
    vec_fini(&r.fields);
    arena_fini(&scratch);
    if (rc)
        token_file_fini(&f);
    else
        *ret_file = f;
    return rc;
}

void token_file_fini(struct token_file *f)
{
    map_str_fini(&f->users);
    arena_fini(&f->arena);
}

const struct user *token_file_find(const struct token_file *f, struct str token)
{
    union map_value *v = map_str_find(&f->users, token);
    return v ? v->const_ptr : NULL;
}
