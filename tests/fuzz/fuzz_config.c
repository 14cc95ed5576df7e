/* tests/fuzz/fuzz_config.c - any bytes as a configuration file, and as the value of --feature-gates.
 *
 * What loads is validated, expanded over dummy plugins and printed; what was printed loads again and prints the
 * same. Arguments of unknown plugins are any JSON, which YAML need not bring back, so they are left out of that. */
#include <stdlib.h>

#include "config/expand.h"
#include "config/features.h"
#include "tests/dummy_plugins.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void drop_raw_args(struct config *c)
{
    for (size_t i = 0; i < c->n_profiles; i++) {
        struct profile_config *p = &c->profiles[i];
        size_t n = 0;
        for (size_t k = 0; k < p->n_plugin_config; k++)
            if (p->plugin_config[k].kind)
                p->plugin_config[n++] = p->plugin_config[k];
        p->n_plugin_config = n;
    }
}

/* Prints, loads and prints again, into `to`. */
static void print_again(struct arena *a, struct config *c, const struct features *f, struct strbuf *to)
{
    struct err e;
    struct config *again;
    err_init(&e, a);
    drop_raw_args(c);
    strbuf_reset(to);
    config_add_yaml(to, c);
    must(!config_load(a, strbuf_str(to), f, &again, &e));
    strbuf_reset(to);
    config_add_yaml(to, again);
}

static void check_printing(struct arena *a, struct config *c, const struct features *f)
{
    struct strbuf first, second;
    struct err e;
    struct config *again;
    err_init(&e, a);
    strbuf_init(&first, STRBUF_NO_MAX);
    strbuf_init(&second, STRBUF_NO_MAX);
    print_again(a, c, f, &first); /* bytes that are not UTF-8 are gone after one round */
    must(!config_load(a, strbuf_str(&first), f, &again, &e));
    print_again(a, again, f, &second);
    must(str_eq(strbuf_str(&first), strbuf_str(&second)));
    strbuf_fini(&second);
    strbuf_fini(&first);
}

static void run_config(struct arena *a, struct str text, const struct features *f)
{
    struct err e;
    struct config *c;
    struct profile **profiles;
    struct sym_table syms;
    err_init(&e, a);
    if (config_load(a, text, f, &c, &e))
        return;
    bool valid = !config_validate(c, f, &e) && !config_apply_extenders(a, c, &e);
    if (!valid)
        return;
    sym_init(&syms);
    struct expand_options options = { dummy_registry, &syms, f };
    if (!profiles_build(a, c, &options, &profiles, &e))
        profiles_fini(profiles, c->n_profiles, &syms);
    must(dummy_n_live == 0 && sym_n_live(&syms) == 1);
    sym_fini(&syms);
    check_printing(a, c, f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a;
    struct gates g;
    struct err e;
    struct str text = { (const char *)data, n };
    arena_init(&a);
    err_init(&e, &a);
    gates_init(&g);
    bool set = !gates_set(&g, &text, 1, &e);
    must(set || e.message);
    struct features f = gates_features(&g);
    run_config(&a, text, &f);
    arena_fini(&a);
    return 0;
}
