/* apiserver/lists.h - which objects a list shows: versions, chunks, selectors.
 *
 * Thread: the store's. Memory: the arena; items are borrowed until the store is polled. */
#pragma once

#include "apiserver/stored.h"
#include "apiserver/table.h"

struct list_request {
    struct stored *objects;
    const struct resource *resource;
    struct str namespace;          /* empty: all */
    struct list_options *options;  /* checked; versions and token are read here */
};

struct list_answer {
    struct store_item **items;
    size_t n;
    struct table_meta meta;
    uint64_t revision;
    struct str expired_continue; /* with ERR_EXPIRED: a token to go on with, at the newest version; or empty */
};

/* The version that must be there before the list is read; 0: any. `exact`: the list shows that one. */
ERR_MUST_CHECK enum err_code lists_find_version(struct arena *a, const struct list_request *r, uint64_t *ret_version,
                                                bool *ret_exact, struct err *e);
/* Once that version is there. ERR_BAD_REQUEST, ERR_EXPIRED. */
ERR_MUST_CHECK enum err_code lists_read(struct arena *a, const struct list_request *r, struct list_answer *ret_answer,
                                        struct err *e);
/* A version in a query: empty and "0" are 0. With upstream's texts, which differ by the place. */
ERR_MUST_CHECK enum err_code lists_read_version(struct str text, bool list, uint64_t *ret_version, struct err *e);
