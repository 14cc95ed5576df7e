/* codec/yaml_priv.h - what the YAML files share: the meaning of plain texts, the parsed nodes, the
 * decoded items.
 *
 * The way in: yaml_parse.c makes nodes of libyaml's events, yaml_in.c makes items of nodes (tags,
 * aliases, merges, keys given twice), yaml_json.c writes items as JSON. Each step fails before the next
 * one begins, so that of several errors the same one is told as upstream does. The way out: yaml_out.c
 * makes a tree of JSON and walks it, yaml_emit.c writes indentation and scalars.
 *
 * Thread: any. Memory: nodes and items live in the arena given. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"

/* ---- Plain texts ---- */

enum yaml_type {
    YAML_NULL,
    YAML_BOOL,
    YAML_INT,
    YAML_UINT, /* above INT64_MAX only */
    YAML_FLOAT,
    YAML_TIMESTAMP, /* read as a string, but printed in quotes */
    YAML_STR,
    YAML_LIST, /* from here on items only */
    YAML_MAP,
};

struct yaml_scalar {
    enum yaml_type type;
    union {
        bool boolean;
        int64_t integer;
        uint64_t natural;
        double number;
    };
};

/* What `text` means without quotes, by YAML 1.1 as go-yaml v2 takes it: also yes, no, on, off, y and n are
 * booleans, 0777 and 0o777 octal; base 60 is no number. Timestamps are looked for only when asked. */
struct yaml_scalar yaml_resolve(struct str text, bool timestamps);

/* ---- Nodes ---- */

enum yaml_node_kind { YAML_NODE_SCALAR, YAML_NODE_LIST, YAML_NODE_MAP, YAML_NODE_ALIAS };

struct yaml_node {
    enum yaml_node_kind kind;
    bool plain;   /* scalar: without quotes and tag, or with the tag "!" */
    bool entered; /* alias: being followed right now */
    size_t line;  /* from 0 */
    struct str tag;
    struct str text;          /* scalar: value; alias: name of the anchor */
    struct yaml_node *target; /* alias */
    struct yaml_node *first, *last; /* children; of a map key, value, key, value */
    struct yaml_node *prev, *next;
};

/* The first document of `yaml`; *ret_root is NULL when there is none. */
enum err_code yaml_parse(struct arena *a, struct str yaml, struct yaml_node **ret_root,
                         struct err *e) ERR_MUST_CHECK;

/* ---- Items ---- */

struct yaml_entry;

struct yaml_item {
    struct yaml_scalar scalar; /* its type is the item's */
    union {
        struct str text;         /* YAML_STR */
        struct yaml_item *first; /* YAML_LIST */
        struct {                 /* YAML_MAP: keys differ, sorted by type and value */
            struct yaml_entry **entries;
            size_t n_entries;
        };
    };
    struct yaml_item *next; /* in a list */
};

struct yaml_entry {
    struct yaml_item *key, *value;
    size_t line;  /* of the value, from 0 */
    bool merged;  /* by "<<" */
    size_t order; /* of settings in the whole document */
    struct yaml_entry *next; /* while the map is being read */
};

enum { YAML_GO_SYNTAX_BYTES_MAX = 64 << 10 }; /* of an error text */

/* Appends JSON as encoding/json writes it, with sorted keys. */
enum err_code yaml_add_json(struct arena *scratch, struct strbuf *to, const struct yaml_item *item,
                            struct err *e) ERR_MUST_CHECK;
/* Appends what Go's %#v prints of it; error texts hold that. */
void yaml_add_go_syntax(struct strbuf *to, const struct yaml_item *item);

/* ---- The emitter ---- */

struct yaml_emitter {
    struct strbuf *to;
    size_t column;   /* in characters */
    int indent;      /* -1 before the root */
    bool whitespace; /* the last character was a blank or began a line */
    bool indention;  /* nothing but indentation and indicators on this line so far */
    bool visible;    /* characters that are not printable (base/printable.h) are escaped, too */
};

struct yaml_emitter yaml_emitter_init(struct strbuf *to, bool visible);
/* To a line of its own at the current indentation, unless there already. */
void yaml_emit_indent(struct yaml_emitter *m);
/* An indicator as - ? : [ { with a blank before it if asked and needed. */
void yaml_emit_indicator(struct yaml_emitter *m, struct str text, bool blank_before, bool blank_after,
                         bool keeps_indention);
/* A key that fits before a colon: short and of one line. */
bool yaml_emit_is_simple_key(struct str text);
/* A string in the style that it needs; `key`: as a simple key. */
void yaml_emit_string(struct yaml_emitter *m, struct str text, bool key);
/* A number, boolean or null. */
void yaml_emit_plain(struct yaml_emitter *m, struct str text);
