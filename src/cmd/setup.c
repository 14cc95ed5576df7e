/* cmd/setup.c - see setup.h. */
#include "cmd/setup.h"

#include "config/policy_source.h"
#include "plugins/plugins.h"

#define NEWEST "v1.36"

static bool is_asked_for(const struct cmd_compat *c)
{
    return c && (c->policy_file || c->provider || (c->level && strcmp(c->level, NEWEST) != 0));
}

/* Fills in *ret_legacy. 0, or the exit code after saying why. */
static int read_compat(const struct cmd_setup *from, struct arena *a, struct setup_legacy *ret_legacy, struct err *e)
{
    const struct cmd_compat *c = from->compat;
    bool newest = !c->level || strcmp(c->level, NEWEST) == 0;
    const struct level *level = newest ? level_for_policies() : level_find(str_of(c->level));
    if (!level)
        return cmd_fail(from->c, EXIT_USAGE, "--compat %s: v1.0, v1.3, v1.11, v1.15, v1.20 or " NEWEST " is expected",
                        c->level);
    if (from->path)
        return cmd_fail(from->c, EXIT_USAGE, "--config does not go with --compat, --policy-config-file and "
                                             "--algorithm-provider");
    struct policy_flags flags = { .config_file = c->policy_file, .provider = c->provider,
                                  .hard_pod_affinity_weight = 1 };
    *ret_legacy = (struct setup_legacy){ .level = level };
    return policy_choose(a, &flags, &policy_files, ret_legacy, e) ? cmd_fail(from->c, 1, "%s", e->message) : 0;
}

static int load(struct setup *s, struct sym_table *syms, const struct cmd_setup *from, struct arena *a)
{
    struct err e;
    struct setup_legacy legacy;
    err_init(&e, a);
    struct setup_source source = { .path = from->path, .feature_gates = from->feature_gates,
                                   .may_load_code = from->allow_plugins };
    if (is_asked_for(from->compat)) {
        int code = read_compat(from, a, &legacy, &e);
        if (code)
            return code;
        source.legacy = &legacy;
    }
    enum err_code failed = setup_load(s, syms, &source, plugin_registry, &e);
    if (failed == ERR_FORBIDDEN)
        return cmd_fail(from->c, EXIT_USAGE, "%s; --allow-plugins allows it", e.message);
    return failed ? cmd_fail(from->c, s->fatal ? 255 : 1, "%s", e.message) : 0;
}

int cmd_setup_load(struct setup *s, struct sym_table *syms, const struct cmd_setup *from)
{
    struct arena arena;
    arena_init(&arena);
    int code = load(s, syms, from, &arena);
    arena_fini(&arena);
    return code;
}
