/* forms/form.c - see form.h. */
#include "forms/form.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/work.h"

/* ---- Walking ---- */

void walk_array_slow(struct walk *w, void *pointer, size_t n_bytes, enum walk_region region)
{
    void *array;
    memcpy(&array, pointer, sizeof(array));
    if (n_bytes)
        array = memcpy(w->at[region], array, n_bytes);
    else
        array = NULL;
    memcpy(pointer, &array, sizeof(array));
    w->at[region] += n_bytes;
}

void walk_text(struct walk *w, const char **text)
{
    if (*text && w->mode != WALK_UNREF)
        walk_array(w, text, strlen(*text) + 1, WALK_TEXTS);
}

void walk_sym_slow(struct walk *w, sym id)
{
    if (w->mode == WALK_COPY)
        sym_ref(w->syms, id);
    else
        sym_unref(w->syms, id);
}

void walk_syms(struct walk *w, const sym **at, size_t n)
{
    WALK_ARRAY(w, *at, n);
    for (size_t i = 0; i < n; i++)
        walk_sym(w, (*at)[i]);
}

void walk_labels(struct walk *w, struct label_set *labels)
{
    WALK_ARRAY(w, labels->at, labels->n);
    for (uint32_t i = 0; i < labels->n; i++) {
        walk_sym(w, labels->at[i].key);
        walk_sym(w, labels->at[i].value);
    }
}

void walk_meta(struct walk *w, struct typed_meta *meta)
{
    WALK_TEXT(w, meta->name);
    WALK_TEXT(w, meta->uid);
    WALK_TEXT(w, meta->resource_version);
    walk_labels(w, &meta->labels);
    walk_sym(w, meta->ns);
}

static void walk_rules(struct walk *w, const struct match_rule **at, size_t n)
{
    WALK_ARRAY(w, *at, n);
    for (size_t i = 0; i < n; i++) {
        struct match_rule *rule = walk_into(&(*at)[i]);
        walk_sym(w, rule->key);
        if (rule->op != MATCH_GT && rule->op != MATCH_LT)
            walk_syms(w, &rule->values, rule->n_values);
    }
}

void walk_matcher(struct walk *w, struct matcher *m)
{
    if (m->mode == MATCHER_INVALID)
        WALK_TEXT(w, m->error);
    else
        walk_rules(w, &m->at, m->n);
}

void walk_node_rule(struct walk *w, struct node_rule *rule)
{
    walk_matcher(w, &rule->labels);
    walk_rules(w, &rule->fields, rule->n_fields);
}

void walk_node_rules(struct walk *w, struct node_rules *rules)
{
    WALK_TEXT(w, rules->error);
    WALK_ARRAY(w, rules->at, rules->n);
    for (uint16_t i = 0; i < rules->n; i++)
        walk_node_rule(w, walk_into(&rules->at[i]));
}

void walk_owner(struct walk *w, const struct owner_ref **owner)
{
    if (!*owner)
        return;
    WALK_ARRAY(w, *owner, 1);
    struct owner_ref *o = walk_into(*owner);
    WALK_TEXT(w, o->uid);
    walk_sym(w, o->api_version);
    walk_sym(w, o->kind);
    walk_sym(w, o->name);
}

/* ---- Blocks ---- */

/* `mode` is PACK or COPY. */
static void *make_block(const struct form_type *type, struct sym_table *syms, const void *form, enum walk_mode mode)
{
    struct walk measure = { .syms = syms, .mode = WALK_MEASURE };
    type->walk(&measure, walk_into(form));
    size_t words = type->n_bytes + measure.n_bytes[WALK_WORDS];
    size_t halves = words + measure.n_bytes[WALK_HALVES];
    size_t n_bytes = halves + measure.n_bytes[WALK_TEXTS];
    assert(n_bytes <= UINT32_MAX); /* inputs are limited: FILL_BYTES_MAX */
    char *block = mem_alloc(n_bytes);
    memcpy(block, form, type->n_bytes);
    struct walk w = { .syms = syms, .mode = mode, .at = { block + type->n_bytes, block + words, block + halves } };
    type->walk(&w, block);
    *(struct typed *)block = (struct typed){ .n_refs = 1, .n_bytes = (uint32_t)n_bytes };
    return block;
}

static void release_syms(const struct form_type *type, struct sym_table *syms, void *form)
{
    struct walk w = { .syms = syms, .mode = WALK_UNREF };
    type->walk(&w, form);
}

const void *form_copy(const struct form_type *type, struct sym_table *syms, const void *form)
{
    return make_block(type, syms, form, WALK_COPY);
}

const void *form_ref(const void *form)
{
    struct typed *t = walk_into(form);
    assert(t->n_refs > 0 && t->n_refs < UINT32_MAX);
    t->n_refs++;
    return form;
}

void form_unref(const struct form_type *type, struct sym_table *syms, const void *form)
{
    struct typed *t = walk_into(form);
    if (!t)
        return;
    assert(t->n_refs > 0);
    if (--t->n_refs > 0)
        return;
    release_syms(type, syms, t);
    free(t);
}

static enum err_code decode_scratch(const struct form_type *type, struct build *b, enum typed_format format,
                                    struct str bytes, const void **ret_form)
{
    void *input = arena_zalloc(b->arena, type->input->n_bytes);
    void *form = arena_zalloc(b->arena, type->n_bytes);
    if (fill_decode(b->arena, b->work, type->input, format, bytes, input, b->e))
        return b->e->code;
    enum err_code rc = type->build(b, input, form);
    if (!rc && b->spent)
        rc = work_error(b->e);
    if (rc) {
        release_syms(type, b->syms, form);
        return rc;
    }
    *ret_form = make_block(type, b->syms, form, WALK_PACK);
    return ERR_OK;
}

/* Gives the scratch memory back but keeps the message, which lies in it. */
static void rewind_error(struct err *e, struct arena_mark mark)
{
    size_t n = strlen(e->message) + 1;
    char *message = memcpy(mem_alloc(n), e->message, n);
    arena_rewind(e->arena, mark);
    e->message = arena_cstr(e->arena, str_of(message));
    free(message);
}

enum err_code form_decode(const struct form_type *type, struct sym_table *syms, enum typed_format format,
                          struct str bytes, const void **ret_form, struct err *e)
{
    struct arena_mark mark = arena_save(e->arena);
    struct work work = work_init(SIZE_MAX); /* whoever got the bytes limits them */
    struct build b = { e->arena, syms, e, &work, false };
    enum err_code rc = decode_scratch(type, &b, format, bytes, ret_form);
    if (rc)
        rewind_error(e, mark);
    else
        arena_rewind(e->arena, mark);
    return rc;
}
