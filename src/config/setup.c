/* config/setup.c - see setup.h. */
#include "config/setup.h"

#include "config/expand.h"
#include "config/features.h"
#include "config/policy.h"
#include "sched/extender.h"
#include "sched/plugin_library.h"

static enum err_code open_libraries(struct setup *s, const struct plugin *const **registry, struct err *e)
{
    const struct berth_config *b = &s->config->berth;
    if (b->n_plugin_libraries == 0)
        return ERR_OK;
    if (plugin_libraries_open(b->plugin_libraries, b->n_plugin_libraries, *registry, &s->libraries, e))
        return e->code;
    *registry = plugin_libraries_registry(s->libraries);
    return ERR_OK;
}

static enum err_code refuse_libraries(const struct config *config, bool may_load_code, const char *path, struct err *e)
{
    const struct berth_config *b = &config->berth;
    if (may_load_code || b->n_plugin_libraries == 0)
        return ERR_OK;
    return err_set(e, ERR_FORBIDDEN, "%s: pluginLibraries would load code: %.*s%s", path, STR_ARG(b->plugin_libraries[0]),
                   b->n_plugin_libraries > 1 ? ", ..." : "");
}

static struct extender *build_extender(struct setup *s, const struct extender_config *from)
{
    struct arena *a = &s->arena;
    sym *managed = ARENA_NEW_N(a, sym, from->n_managed_resources);
    for (size_t i = 0; i < from->n_managed_resources; i++)
        managed[i] = sym_intern_static(s->syms, from->managed_resources[i].name);
    struct extender *x = ARENA_NEW(a, struct extender);
    *x = (struct extender){
        .url_prefix = arena_cstr(a, from->url_prefix),
        .verbs = { [EXTENDER_FILTER] = arena_cstr(a, from->filter_verb),
                   [EXTENDER_PRIORITIZE] = arena_cstr(a, from->prioritize_verb),
                   [EXTENDER_PREEMPT] = arena_cstr(a, from->preempt_verb),
                   [EXTENDER_BIND] = arena_cstr(a, from->bind_verb) },
        .weight = from->weight,
        .managed_resources = managed,
        .n_managed_resources = (uint32_t)from->n_managed_resources, /* at most CONFIG_ITEMS_MAX */
        .node_cache_capable = from->node_cache_capable,
        .ignorable = from->ignorable,
    };
    return x;
}

static void build_extenders(struct setup *s)
{
    const struct extender_config **order = config_extender_order(&s->arena, s->config);
    struct extender **extenders = ARENA_NEW_N(&s->arena, struct extender *, s->config->n_extenders);
    for (size_t i = 0; i < s->config->n_extenders; i++)
        extenders[i] = build_extender(s, order[i]);
    s->extenders = extenders;
    s->n_extenders = (uint32_t)s->config->n_extenders;
}

static enum err_code build_profiles(struct setup *s, struct err *e)
{
    struct profile **profiles;
    const struct expand_options options = { s->registry, s->syms, &s->features, s->config->era };
    if (profiles_build(&s->arena, s->config, &options, &profiles, e))
        return e->code;
    s->profiles = profiles;
    s->n_profiles = (uint32_t)s->config->n_profiles;
    return ERR_OK;
}

static enum err_code build(struct setup *s, const struct plugin *const *registry, struct err *e)
{
    if (config_apply_extenders(&s->arena, s->config, e) || open_libraries(s, &registry, e))
        return e->code;
    s->registry = s->config->registry ? s->config->registry : registry;
    if (build_profiles(s, e)) {
        plugin_libraries_close(s->libraries);
        return s->config->origin ? err_wrap(e, "%s", s->config->origin) : e->code;
    }
    build_extenders(s);
    return ERR_OK;
}

static enum err_code set_features(struct setup *s, const char *feature_gates, struct err *e)
{
    struct gates gates;
    struct str flag = feature_gates ? str_of(feature_gates) : (struct str){ NULL, 0 };
    gates_init(&gates);
    if (feature_gates && gates_set(&gates, &flag, 1, e))
        return err_wrap(e, "feature gates");
    s->features = gates_features(&gates);
    return ERR_OK;
}

static enum err_code load_config(struct setup *s, const struct setup_source *from, struct err *e)
{
    if (from->text.p)
        return config_load(&s->arena, from->text, &s->features, &s->config, e);
    if (from->path)
        return config_load_file(&s->arena, from->path, &s->features, &s->config, e);
    s->config = config_default(&s->arena, &s->features);
    return ERR_OK;
}

enum err_code setup_load(struct setup *s, struct sym_table *syms, const struct setup_source *from,
                         const struct plugin *const *registry, struct err *e)
{
    assert(syms);
    assert(registry);
    *s = (struct setup){ .syms = syms };
    arena_init(&s->arena);
    enum err_code code = set_features(s, from->feature_gates, e);
    if (!code)
        code = load_config(s, from, e);
    if (!code)
        code = refuse_libraries(s->config, from->may_load_code, from->path ? from->path : "the configuration", e);
    if (!code)
        code = config_validate(s->config, &s->features, e);
    if (!code && from->legacy) {
        s->features.balance_attached_node_volumes = from->legacy->balance_attached_node_volumes;
        s->features.csi_migration_aws = from->legacy->csi_migration_aws;
        code = legacy_apply(&s->arena, from->legacy, &s->features, s->config, &s->fatal, e);
    }
    if (!code)
        code = build(s, registry, e);
    if (code)
        arena_fini(&s->arena);
    return code;
}

enum err_code setup_from_config(struct setup *s, struct sym_table *syms, const struct config *config,
                                const struct features *features, bool may_load_code,
                                const struct plugin *const *registry, struct err *e)
{
    *s = (struct setup){ .syms = syms, .features = *features };
    arena_init(&s->arena);
    s->config = config_copy(&s->arena, config);
    enum err_code code = refuse_libraries(s->config, may_load_code, "the configuration", e);
    if (!code)
        code = build(s, registry, e);
    if (code)
        arena_fini(&s->arena);
    return code;
}

enum err_code setup_from_text(struct setup *s, struct sym_table *syms, struct str text,
                              const struct plugin *const *registry, struct err *e)
{
    struct setup_source from = { .text = text, .may_load_code = true };
    return setup_load(s, syms, &from, registry, e);
}

enum err_code setup_again(struct setup *s, const struct setup *from, struct err *e)
{
    *s = *from;
    s->libraries = NULL; /* who opened them closes them */
    arena_init(&s->arena);
    enum err_code code = build_profiles(s, e);
    if (code)
        arena_fini(&s->arena);
    return code;
}

void setup_fini(struct setup *s)
{
    profiles_fini(s->profiles, s->n_profiles, s->syms);
    plugin_libraries_close(s->libraries);
    arena_fini(&s->arena);
}
