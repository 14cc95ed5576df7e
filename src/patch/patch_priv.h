/* patch/patch_priv.h - what the files of the patches share.
 *
 * The document of JSON and merge patches is a tree of nodes. A container starts out untouched: it still holds
 * its members in the order of the text, with keys given twice, and is written again as it came. Whoever looks
 * into it touches it: members are sorted, the last of equal keys stays, and it is written from its children.
 * Both is visible to clients (raw fields, quoted documents, findings), which is why it is done as upstream
 * does. A null inside a container is a NULL node.
 *
 * Whatever walks, sorts, compares or writes nodes charges it to the budget of the patch. What could not be paid is noticed
 * by the next who takes from it: nothing is left then.
 *
 * Thread: any. Memory: nodes live in the arena, texts in the parsed text or the arena. */
#pragma once

#include "base/strbuf.h"
#include "patch/patch.h"

enum node_kind { NODE_SCALAR, NODE_DOC, NODE_ARY };

struct entry {
    struct str key;
    struct node *node;
    uint32_t ordinal; /* place in the text; orders equal keys */
};

struct node {
    struct str raw; /* the text it was parsed from; p is NULL in a null that an operation brought along */
    uint8_t kind;
    bool touched;
    bool nil;                  /* a NODE_DOC that is written as null: a copy of such a null */
    uint32_t n, cap, n_sorted; /* of a document: entries behind n_sorted were added and are in no order */
    union {
        struct node **items;
        struct entry *entries;
    };
};

/* A patch is to be applied to a document of ours: sets the budget, and charges reading both. */
enum err_code doc_begin(struct work *work, struct str document, struct str patch, struct err *e) ERR_MUST_CHECK;
/* False when the text is not JSON or nested deeper than VALUE_DEPTH_MAX. */
bool doc_parse(struct arena *a, struct str text, struct node **ret_node);
/* "object", "array", "string", "number", "bool", "null". */
const char *doc_json_type(const struct node *n);
void doc_touch(struct work *work, struct node *n);
/* Of a touched document: the place of the member's node, or NULL. */
struct node **doc_find(struct node *doc, struct str key);
void doc_put(struct arena *a, struct node *doc, struct str key, struct node *value);
bool doc_remove(struct node *doc, struct str key);
/* Of a list; `at` is within it. */
/* Both move the elements behind the place. */
void ary_insert(struct arena *a, struct node *ary, uint32_t at, struct node *value);
void ary_remove(struct node *ary, uint32_t at);
/* Touches what it compares. Scalars are equal when they are spelled alike. False when the budget is spent. */
bool doc_equal(struct work *work, struct node *a, struct node *b);
/* The text, which is for the caller to charge; false when it is nested too deep. */
bool doc_text(struct arena *a, struct work *work, struct node *n, struct str *ret_text);

/* Texts about unknown and duplicate fields, bounded by the limits of patch.h. */
struct texts {
    struct arena *arena;
    const char **at;
    unsigned n, cap;
    size_t n_bytes;
    bool full; /* one did not fit: others are not looked at */
};
void texts_add(struct texts *t, struct str text);

/* What strict decoding of the patch itself complains about; BAD_REQUEST when it does not decode. */
enum err_code json_patch_check(struct arena *a, struct work *work, struct str patch, struct texts *findings,
                               struct err *e) ERR_MUST_CHECK;
enum err_code plain_check(struct arena *a, struct work *work, struct str patch, struct texts *findings,
                          struct err *e) ERR_MUST_CHECK;

/* For a message: cut as strbuf_add_shown does. */
void go_print_shown(struct strbuf *to, const struct value *v, char verb);
const char *go_kind(const struct value *v);  /* "map", "slice", "string", "int64", ... */
/* A buffer's text for an error message; the buffer is done with. */
const char *take_text(struct arena *a, struct strbuf *b);
