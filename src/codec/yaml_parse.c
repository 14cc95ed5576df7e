/* codec/yaml_parse.c - see yaml_priv.h: libyaml's events become a tree of nodes.
 *
 * go-yaml v2, which upstream stands on, is a translation of libyaml, so faults of syntax have the same words
 * here; fault() puts the line before them as go-yaml does. Where libyaml 0.2.5 has gone on since, it is
 * followed: [what?] and "\/" are read, [a:,b] and !!str,x are not. */
#include "codec/yaml_priv.h"

#include <yaml.h>

#include "base/map.h"
#include "codec/yaml.h"

#define UNKNOWN_ESCAPE "found unknown escape character"

enum {
    REPAIR_BYTES_MAX = 4 << 20, /* read again in all, see yaml_parse */
    TAG_DIRECTIVES_MAX = 100,   /* libyaml compares each with all others */
};

struct reader {
    yaml_parser_t yaml;
    yaml_event_t event; /* the newest */
    struct str rest;    /* not yet given to libyaml */
    struct arena *arena;
    struct map_str anchors; /* name -> node, the latest of that name */
    unsigned depth;
    struct err *e;
};

/* As fail in decode.go of go-yaml v2: a line of 0 is taken as unknown, and only the scanner's are counted
 * from 1. */
static enum err_code fault(struct reader *r)
{
    const char *problem = r->yaml.problem;
    size_t line = r->yaml.problem_mark.line;
    if (line && r->yaml.error == YAML_SCANNER_ERROR)
        line++;
    else if (!line)
        line = r->yaml.context_mark.line;
    if (r->yaml.tag_directives.top - r->yaml.tag_directives.start > TAG_DIRECTIVES_MAX)
        problem = "too many %TAG directives";
    if (!problem)
        problem = "unknown problem parsing YAML content";
    if (!line)
        return err_set(r->e, ERR_BAD_REQUEST, "yaml: %s", problem);
    return err_set(r->e, ERR_BAD_REQUEST, "yaml: line %zu: %s", line, problem);
}

/* libyaml's read handler. It reads some kilobytes at a time, so a document can pass the maximum by what they
 * hold and not more. */
static int give_bytes(void *data, unsigned char *to, size_t room, size_t *ret_n)
{
    struct reader *r = data;
    if (r->yaml.tag_directives.top - r->yaml.tag_directives.start > TAG_DIRECTIVES_MAX)
        return 0;
    struct str part = str_first(r->rest, room);
    if (part.n)
        memcpy(to, part.p, part.n);
    r->rest = str_from(r->rest, part.n);
    *ret_n = part.n;
    return 1;
}

/* The next event, in place of the last one. */
static enum err_code advance(struct reader *r)
{
    yaml_event_delete(&r->event);
    return yaml_parser_parse(&r->yaml, &r->event) ? ERR_OK : fault(r);
}

static struct str copy(struct reader *r, const yaml_char_t *text, size_t n)
{
    return arena_str(r->arena, (struct str){ (const char *)text, n });
}

static struct str copy_name(struct reader *r, const yaml_char_t *name)
{
    return name ? arena_str(r->arena, str_of((const char *)name)) : (struct str){ 0 };
}

static struct yaml_node *node_new(struct reader *r, enum yaml_node_kind kind, const yaml_char_t *anchor)
{
    struct yaml_node *node = ARENA_NEW(r->arena, struct yaml_node);
    node->kind = kind;
    node->line = r->event.start_mark.line;
    if (anchor)
        map_str_put(&r->anchors, copy_name(r, anchor), NULL)->ptr = node;
    return node;
}

static void append(struct yaml_node *parent, struct yaml_node *child)
{
    child->prev = parent->last;
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
}

static struct yaml_node *scalar(struct reader *r)
{
    struct yaml_node *node = node_new(r, YAML_NODE_SCALAR, r->event.data.scalar.anchor);
    node->tag = copy_name(r, r->event.data.scalar.tag);
    node->text = copy(r, r->event.data.scalar.value, r->event.data.scalar.length);
    node->plain = r->event.data.scalar.plain_implicit;
    return node;
}

static enum err_code alias(struct reader *r, struct yaml_node **ret_node)
{
    struct yaml_node *node = node_new(r, YAML_NODE_ALIAS, NULL);
    node->text = copy_name(r, r->event.data.alias.anchor);
    union map_value *target = map_str_find(&r->anchors, node->text);
    if (!target)
        return err_set(r->e, ERR_BAD_REQUEST, "yaml: unknown anchor '%.*s' referenced",
                       STR_ARG(node->text));
    node->target = target->ptr;
    *ret_node = node;
    return ERR_OK;
}

static enum err_code read_node(struct reader *r, struct yaml_node **ret_node);

static enum err_code children(struct reader *r, struct yaml_node *parent, yaml_event_type_t end)
{
    if (++r->depth > YAML_DEPTH_MAX)
        return err_set(r->e, ERR_BAD_REQUEST, "yaml: line %zu: exceeded max depth of %d",
                       parent->line + 1, YAML_DEPTH_MAX);
    for (;;) {
        struct yaml_node *child = NULL;
        if (advance(r))
            return r->e->code;
        if (r->event.type == end)
            break;
        if (read_node(r, &child))
            return r->e->code;
        append(parent, child);
    }
    r->depth--;
    return ERR_OK;
}

/* The node that begins with the newest event; the newest one afterwards is its last. */
static enum err_code read_node(struct reader *r, struct yaml_node **ret_node)
{
    switch (r->event.type) {
    case YAML_ALIAS_EVENT:
        return alias(r, ret_node);
    case YAML_SCALAR_EVENT:
        *ret_node = scalar(r);
        return ERR_OK;
    case YAML_SEQUENCE_START_EVENT:
        *ret_node = node_new(r, YAML_NODE_LIST, r->event.data.sequence_start.anchor);
        return children(r, *ret_node, YAML_SEQUENCE_END_EVENT);
    case YAML_MAPPING_START_EVENT:
        *ret_node = node_new(r, YAML_NODE_MAP, r->event.data.mapping_start.anchor);
        return children(r, *ret_node, YAML_MAPPING_END_EVENT);
    default: /* libyaml gives no other inside of a document */
        return err_set(r->e, ERR_INTERNAL, "yaml: unexpected event %d", (int)r->event.type);
    }
}

/* libyaml takes 1.2 as well. */
static enum err_code check_version(struct reader *r)
{
    const yaml_version_directive_t *version = r->event.data.document_start.version_directive;
    if (!version || (version->major == 1 && version->minor == 1))
        return ERR_OK;
    r->yaml.error = YAML_PARSER_ERROR;
    r->yaml.problem = "found incompatible YAML document";
    r->yaml.problem_mark = r->event.start_mark;
    return fault(r);
}

/* Stream start, document start, the root and the document's end, whose text may hold a fault still. */
static enum err_code document(struct reader *r, struct yaml_node **ret_root)
{
    *ret_root = NULL;
    if (advance(r) || advance(r))
        return r->e->code;
    if (r->event.type == YAML_STREAM_END_EVENT)
        return ERR_OK;
    if (check_version(r) || advance(r) || read_node(r, ret_root))
        return r->e->code;
    return advance(r);
}

/* *ret_escape is where the scanner met an escape that it does not know, counted in characters; else 0. */
static enum err_code parse_once(struct arena *a, struct str yaml, struct yaml_node **ret_root,
                                size_t *ret_escape, struct err *e)
{
    struct reader r = { .rest = yaml, .arena = a, .e = e };
    if (!yaml_parser_initialize(&r.yaml))
        return err_set(e, ERR_INTERNAL, "yaml: out of memory");
    map_str_init(&r.anchors);
    yaml_parser_set_input(&r.yaml, give_bytes, &r);
    enum err_code rc = document(&r, ret_root);
    bool escape = rc && r.yaml.problem && strcmp(r.yaml.problem, UNKNOWN_ESCAPE) == 0;
    *ret_escape = escape ? r.yaml.problem_mark.index : 0;
    yaml_event_delete(&r.event);
    yaml_parser_delete(&r.yaml);
    map_str_fini(&r.anchors);
    return rc;
}

/* Byte offset of a character; a byte order mark at the beginning is none. */
static size_t offset_of(struct str yaml, size_t n_chars)
{
    size_t at = str_starts(yaml, STR("\xEF\xBB\xBF")) ? 3 : 0;
    while (at < yaml.n && n_chars--)
        do
            at++;
        while (at < yaml.n && ((unsigned char)yaml.p[at] & 0xC0) == 0x80);
    return at;
}

static bool is_quote_escape(struct str s, size_t at)
{
    return str_starts(str_from(s, at), STR("\\'"));
}

/* Takes the backslash out of each \' from `at` to the end of the quoted text there. Returns the new
 * length. */
static size_t drop_quote_escapes(char *text, size_t n_bytes, size_t at)
{
    struct str s = { text, n_bytes };
    size_t n = at;
    while (at < s.n && s.p[at] != '"') {
        bool dropped = is_quote_escape(s, at), pair = !dropped && s.p[at] == '\\' && at + 1 < s.n;
        at += dropped;
        text[n++] = s.p[at++];
        if (pair)
            text[n++] = s.p[at++];
    }
    memmove(text + n, text + at, s.n - at);
    return n + (s.n - at);
}

/* Between double quotes go-yaml knows the escape \', libyaml does not: then that text is read without it. */
enum err_code yaml_parse(struct arena *a, struct str yaml, struct yaml_node **ret_root, struct err *e)
{
    size_t n_again = yaml.n ? REPAIR_BYTES_MAX / yaml.n : 0, escape;
    char *copy = NULL;
    for (;;) {
        struct arena_mark mark = arena_save(a);
        enum err_code rc = parse_once(a, yaml, ret_root, &escape, e);
        size_t at = rc && escape ? offset_of(yaml, escape) : yaml.n;
        if (!is_quote_escape(yaml, at) || n_again-- == 0)
            return rc;
        arena_rewind(a, mark);
        err_init(e, e->arena);
        if (!copy)
            copy = arena_cstr(a, yaml);
        yaml = (struct str){ copy, drop_quote_escapes(copy, yaml.n, at) };
    }
}
