/* forms/form.h - making, copying and freeing the blocks of typed forms.
 *
 * A kind builds its form in scratch memory, with pointers wherever arrays happen to lie. One function a kind,
 * its walk, then visits every array, text and sym of a form. The walk is all there is to know about a layout:
 * it measures a form, packs it into one block, copies a block and releases its syms.
 *
 *     static void lease_walk(struct walk *w, void *form)
 *     {
 *         struct lease *l = form;
 *         walk_meta(w, &l->meta);
 *         WALK_TEXT(w, l->holder);
 *         WALK_ARRAY(w, l->rules, l->n_rules);    the array first, then what its items hold
 *         for (uint32_t i = 0; i < l->n_rules; i++)
 *             walk_sym(w, l->rules[i].key);
 *     }
 *
 * In a block arrays of 8-byte things come first, then those of 4-byte things, then texts, so that nothing is
 * lost to alignment.
 *
 * Thread: the owner of the sym table. */
#pragma once

#include "forms/fill.h"
#include "forms/typed.h"

enum walk_mode {
    WALK_MEASURE,
    WALK_PACK,  /* moves arrays and texts into the block */
    WALK_COPY,  /* the same and takes a reference to every sym */
    WALK_UNREF, /* releases every sym */
};

enum walk_region { WALK_WORDS, WALK_HALVES, WALK_TEXTS, N_WALK_REGIONS };

struct walk {
    struct sym_table *syms;
    enum walk_mode mode;
    size_t n_bytes[N_WALK_REGIONS]; /* MEASURE */
    char *at[N_WALK_REGIONS];       /* PACK, COPY: free part of the block */
};

/* `pointer` is the address of the pointer to the array. */
void walk_array_slow(struct walk *w, void *pointer, size_t n_bytes, enum walk_region region);
static inline void walk_array(struct walk *w, void *pointer, size_t n_bytes, enum walk_region region)
{
    if (w->mode == WALK_MEASURE)
        w->n_bytes[region] += n_bytes;
    else if (w->mode != WALK_UNREF)
        walk_array_slow(w, pointer, n_bytes, region);
}
void walk_text(struct walk *w, const char **text); /* NULL stays NULL */
void walk_sym_slow(struct walk *w, sym id);
static inline void walk_sym(struct walk *w, sym id)
{
    if (w->mode >= WALK_COPY && id != SYM_EMPTY && id != SYM_NONE)
        walk_sym_slow(w, id);
}
/* An array of syms and the syms. */
void walk_syms(struct walk *w, const sym **at, size_t n);
void walk_meta(struct walk *w, struct typed_meta *meta);
void walk_labels(struct walk *w, struct label_set *labels);
void walk_matcher(struct walk *w, struct matcher *m);
void walk_node_rule(struct walk *w, struct node_rule *rule);
void walk_node_rules(struct walk *w, struct node_rules *rules);
void walk_owner(struct walk *w, const struct owner_ref **owner);

#define WALK_ARRAY(w, array, n)                                                            \
    walk_array((w), &(array), (size_t)(n) * sizeof(*(array)),                              \
               _Alignof(__typeof__(*(array))) == 8 ? WALK_WORDS : WALK_HALVES)
#define WALK_TEXT(w, text) walk_text((w), &(text))
/* To walk into const arrays: PACK and COPY change their pointers, in the block that is being made. */
static inline void *walk_into(const void *item)
{
    return (void *)(uintptr_t)item;
}

/* What a kind's build function works with. */
struct build {
    struct arena *arena; /* scratch: gone after the form is packed */
    struct sym_table *syms;
    struct err *e;
    struct work *work; /* of the object's bytes */
    bool spent;        /* more than that is needed: the object is refused */
};

struct form_type {
    const struct fill_type *input;
    size_t n_bytes; /* of the form's struct, which begins with struct typed */
    /* Fills the zeroed form. On failure too every sym in it must be one that it owns, or SYM_EMPTY. */
    enum err_code (*build)(struct build *b, const void *input, void *form);
    void (*walk)(struct walk *w, void *form);
};

enum err_code form_decode(const struct form_type *type, struct sym_table *syms, enum typed_format format,
                          struct str bytes, const void **ret_form, struct err *e) ERR_MUST_CHECK;
/* A new block with one reference. `form` may be a copy of a form's struct with some members changed: to make
 * another form out of one that is there. */
const void *form_copy(const struct form_type *type, struct sym_table *syms, const void *form);
const void *form_ref(const void *form);
void form_unref(const struct form_type *type, struct sym_table *syms, const void *form);

/* The three functions that every kind has, for the end of its file. */
#define FORM_FUNCTIONS(kind, type)                                                         \
    enum err_code kind##_decode(struct sym_table *syms, enum typed_format format, struct str bytes, \
                                const struct kind **ret_form, struct err *e)               \
    {                                                                                      \
        const void *form;                                                                  \
        enum err_code rc = form_decode(&(type), syms, format, bytes, &form, e);           \
        if (!rc)                                                                           \
            *ret_form = form;                                                              \
        return rc;                                                                         \
    }                                                                                      \
    const struct kind *kind##_ref(const struct kind *form)                                 \
    {                                                                                      \
        return form_ref(form);                                                             \
    }                                                                                      \
    void kind##_unref(struct sym_table *syms, const struct kind *form)                     \
    {                                                                                      \
        form_unref(&(type), syms, form);                                                  \
    }
