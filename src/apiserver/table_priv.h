/* apiserver/table_priv.h - within table_*.c: columns, recipes of cells, and what writes them.
 *
 * A recipe is words separated by "; ":
 *
 *     name                   metadata.name
 *     text:PATH[|DEFAULT]    a text, or a number as text; the default when absent or empty
 *     int:PATH bool:PATH[|true] count:PATH
 *     age:PATH[|DEFAULT]     how long ago; <unknown> otherwise
 *     time:PATH              RFC 3339
 *     join:PATH[|DEFAULT]    texts with commas
 *     labels:PATH selector:PATH
 *     containers:PATH        two cells, names and images
 *     fn:NAME                one cell or more that are a function of their own */
#pragma once

#include "api/value.h"
#include "base/strbuf.h"

struct column {
    const char *name, *type, *format;
    int priority;
    const char *description;
};

struct table_kind {
    const char *group, *resource;
    const struct column *columns; /* ends with a NULL name */
    const char *cells;            /* the recipe */
};

const struct table_kind *table_kind(const struct resource *r);
bool table_kind_is_general(const struct table_kind *k);

/* A place in an object. Of a list, `t` is the type of its items. */
struct node {
    const struct type *t;
    const struct value *v;
};

struct cells {
    struct strbuf *to;
    struct arena *a;
    struct node root;
    int64_t now_ns;
    bool any;
};

struct node node_at(struct node n, const char *path);
struct node node_item(struct node list, uint32_t i);
uint32_t node_count(struct node list); /* of a list or map */
struct str node_text(struct node n, const char *path);
int64_t node_int(struct node n, const char *path);
bool node_bool(struct node n, const char *path, bool otherwise);
/* Nanoseconds since 1970; false when it is not there. */
bool node_time(struct node n, const char *path, int64_t *ret_ns);

void cell_text(struct cells *c, struct str text);
void cell_int(struct cells *c, int64_t number);
void cell_bool(struct cells *c, bool value);
void cell_printf(struct cells *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* <unknown> when `known` is false. */
void cell_age(struct cells *c, bool known, int64_t then_ns);
struct str age_text(struct cells *c, bool known, int64_t then_ns);
/* The selector's own text, and what people see of it: <none> when it selects all. */
struct str selector_of(struct cells *c, struct node selector, bool shown);

/* False when there is no function of that name. */
bool table_function(struct cells *c, struct str name);
