/* sched/class_key.c - see class_key.h. */
#include "sched/class_key.h"

void class_key_num(struct strbuf *key, int64_t n)
{
    strbuf_add(key, &n, sizeof(n));
}

static void add_count(struct strbuf *key, uint32_t n)
{
    strbuf_add(key, &n, sizeof(n));
}

void class_key_count(struct strbuf *key, uint32_t n)
{
    add_count(key, n);
}

void class_key_sym(struct strbuf *key, const struct cycle *c, sym s)
{
    struct str text = s == SYM_NONE ? (struct str){ NULL, 0 } : sym_text(c->syms, s);
    add_count(key, (uint32_t)text.n);
    strbuf_add_str(key, text);
}

void class_key_nothing(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key)
{
    (void)p;
    (void)c;
    (void)key;
}
