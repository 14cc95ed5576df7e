/* cmd/setup.c - see setup.h. */
#include "cmd/setup.h"

#include "plugins/plugins.h"

int cmd_setup_load(struct setup *s, struct sym_table *syms, const struct cmd_setup *from)
{
    struct arena arena;
    struct err e;
    arena_init(&arena);
    err_init(&e, &arena);
    int code = 0;
    struct setup_source source = { .path = from->path, .feature_gates = from->feature_gates,
                                   .may_load_code = from->allow_plugins };
    enum err_code failed = setup_load(s, syms, &source, plugin_registry, &e);
    if (failed == ERR_FORBIDDEN)
        code = cmd_fail(from->c, EXIT_USAGE, "%s; --allow-plugins allows it", e.message);
    else if (failed)
        code = cmd_fail(from->c, 1, "%s", e.message);
    arena_fini(&arena);
    return code;
}
