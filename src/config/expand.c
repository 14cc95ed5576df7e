/* config/expand.c - see expand.h. Upstream: pkg/scheduler/framework/runtime/framework.go (NewFramework),
 * pkg/scheduler/profile/profile.go, v1.36. */
#include "config/expand.h"

#include "config/args.h"
#include "config/points.h"
#include "sched/era.h"

#define SCORE_TOTAL_MAX INT64_MAX

/* What is needed while one profile is built. */
struct expansion {
    struct arena *arena;
    const struct profile_config *config;
    const struct expand_options *options;
    struct profile *profile;
    struct err *e;
};

static bool set_has(plugin_refs refs, struct str name)
{
    for (size_t i = 0; i < refs.n; i++)
        if (str_eq(refs.at[i].name, name))
            return true;
    return false;
}

static const char *quoted(struct arena *a, struct str s)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_quoted(&b, s);
    const char *text = arena_cstr(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

/* ---- Plugins ---- */

static bool is_needed(const struct profile_config *p, const char *name)
{
    for (unsigned i = 0; i < N_SETS; i++)
        if (set_has(p->sets[i].enabled, str_of(name)))
            return true;
    return false;
}

static const struct plugin_instance *find_instance(const struct profile *p, struct str name)
{
    for (uint8_t i = 0; i < p->n_instances; i++)
        if (str_is(name, p->instances[i].plugin->name))
            return &p->instances[i];
    return NULL;
}

static const struct plugin_config *find_config(const struct profile_config *p, const char *name)
{
    for (size_t i = 0; i < p->n_plugin_config; i++)
        if (str_is(p->plugin_config[i].name, name))
            return &p->plugin_config[i];
    return NULL;
}

/* Arguments as the plugin receives them; NULL when it has none. Those of a plugin without a kind stay
 * JSON text. */
static enum err_code make_args(struct expansion *x, const char *name, const void **ret_args)
{
    const struct plugin_config *c = find_config(x->config, name);
    *ret_args = NULL;
    if (!c || c->args.kind == VALUE_ABSENT)
        return ERR_OK;
    if (!c->kind) {
        *ret_args = arena_cstr(x->arena, value_text(&c->args));
        return ERR_OK;
    }
    struct field_errors errs;
    field_errors_init(&errs, x->e->arena);
    c->kind->validate(&c->args, x->options->features, NULL, &errs);
    if (errs.n) {
        struct str text = field_errors_text(x->e->arena, &errs);
        return err_set(x->e, ERR_INVALID, "%.*s", STR_ARG(text));
    }
    *ret_args = c->kind->build(x->arena, &c->args);
    return ERR_OK;
}

static enum err_code make_instance(struct expansion *x, const struct plugin *plugin)
{
    struct profile *p = x->profile;
    const void *args;
    if (p->n_instances == PLUGINS_MAX)
        return err_set(x->e, ERR_INVALID, "more than %d plugins", PLUGINS_MAX);
    struct plugin_instance *instance = &p->instances[p->n_instances];
    *instance = (struct plugin_instance){
        .plugin = plugin, .index = p->n_instances, .syms = x->options->syms, .features = x->options->features,
        .era = x->profile->era
    };
    if (make_args(x, plugin->name, &args) || (plugin->init && plugin->init(instance, args, x->e)))
        return err_wrap(x->e, "initializing plugin %s", quoted(x->e->arena, str_of(plugin->name)));
    p->n_instances++;
    return ERR_OK;
}

static enum err_code make_instances(struct expansion *x)
{
    const struct profile_config *c = x->config;
    for (size_t i = 0; i < c->n_plugin_config; i++)
        for (size_t k = 0; k < i; k++)
            if (str_eq(c->plugin_config[i].name, c->plugin_config[k].name))
                return err_set(x->e, ERR_INVALID, "repeated config for plugin %.*s", STR_ARG(c->plugin_config[i].name));
    for (const struct plugin *const *plugin = x->options->registry; *plugin; plugin++)
        if (is_needed(c, (*plugin)->name) && make_instance(x, *plugin))
            return x->e->code;
    return ERR_OK;
}

/* ---- Points ---- */

static enum err_code no_such_plugin(struct expansion *x, enum extension_point point, struct str name)
{
    return err_set(x->e, ERR_INVALID, "%s %s does not exist", point_names[point].interface, quoted(x->e->arena, name));
}

static enum err_code registered_twice(struct expansion *x, enum extension_point point, struct str name)
{
    return err_set(x->e, ERR_INVALID, "plugin %s already registered as \"%s\"", quoted(x->e->arena, name),
                   point_names[point].interface);
}

static bool at_point(const struct point_plugins *list, const struct plugin_instance *instance)
{
    for (uint8_t i = 0; i < list->n; i++)
        if (list->at[i] == instance)
            return true;
    return false;
}

static void append(struct point_plugins *list, const struct plugin_instance *instance)
{
    list->at[list->n++] = instance; /* an instance is on a list once, so there is room */
}

/* The plugins that the set of the point itself enables. */
static enum err_code read_own(struct expansion *x, enum extension_point point, struct point_plugins *own)
{
    plugin_refs enabled = x->config->sets[point].enabled;
    for (size_t i = 0; i < enabled.n; i++) {
        struct str name = enabled.at[i].name;
        const struct plugin_instance *instance = find_instance(x->profile, name);
        if (!instance)
            return no_such_plugin(x, point, name);
        if (!plugin_extends(instance->plugin, point))
            return err_set(x->e, ERR_INVALID, "plugin %s does not extend %s plugin", quoted(x->e->arena, name),
                           point_names[point].interface);
        if (at_point(own, instance))
            return registered_twice(x, point, name);
        append(own, instance);
    }
    return ERR_OK;
}

/* Those that come through multiPoint; of the point's own ones only which of them do. */
static enum err_code read_expanded(struct expansion *x, enum extension_point point, const struct point_plugins *own,
                                   struct point_plugins *expanded, struct point_plugins *overridden)
{
    plugin_refs multi = x->config->sets[SET_MULTI_POINT].enabled, disabled = x->config->sets[point].disabled;
    for (size_t i = 0; i < multi.n; i++) {
        struct str name = multi.at[i].name;
        const struct plugin_instance *instance = find_instance(x->profile, name);
        if (!instance)
            return no_such_plugin(x, point, name);
        if (!plugin_extends(instance->plugin, point) || set_has(disabled, name))
            continue;
        if (at_point(own, instance)) {
            if (!at_point(overridden, instance))
                append(overridden, instance);
            continue;
        }
        if (at_point(expanded, instance))
            return registered_twice(x, point, name);
        append(expanded, instance);
    }
    return ERR_OK;
}

/* First the point's own plugins that are in multiPoint too, in the point's order, then the rest of
 * multiPoint, then the point's own. */
static enum err_code expand_point(struct expansion *x, enum extension_point point)
{
    struct point_plugins *list = &x->profile->points[point];
    struct point_plugins own = *list, expanded = { .n = 0 }, overridden = { .n = 0 };
    if (set_has(x->config->sets[point].disabled, STR("*")))
        return ERR_OK;
    if (read_expanded(x, point, &own, &expanded, &overridden))
        return x->e->code;
    list->n = 0;
    for (uint8_t i = 0; i < own.n; i++)
        if (at_point(&overridden, own.at[i]))
            append(list, own.at[i]);
    for (uint8_t i = 0; i < expanded.n; i++)
        append(list, expanded.at[i]);
    for (uint8_t i = 0; i < own.n; i++)
        if (!at_point(&overridden, own.at[i]))
            append(list, own.at[i]);
    return ERR_OK;
}

static enum err_code fill_points(struct expansion *x)
{
    for (unsigned i = 0; i < N_POINTS; i++)
        if (read_own(x, point_order[i], &x->profile->points[point_order[i]]))
            return x->e->code;
    for (unsigned i = 0; i < N_POINTS; i++)
        if (expand_point(x, point_order[i]))
            return x->e->code;
    return ERR_OK;
}

/* ---- Weights ---- */

/* The weight that counts is that of the point's own set, then that of multiPoint; none is 1. */
static int64_t weight_of(const struct profile_config *p, enum extension_point point, struct str name)
{
    const plugin_refs sets[] = { p->sets[point].enabled, p->sets[SET_MULTI_POINT].enabled };
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < sets[i].n; k++)
            if (str_eq(sets[i].at[k].name, name))
                return sets[i].at[k].weight ? sets[i].at[k].weight : 1;
    return 1;
}

/* All plugins of the profile that could score count, also those disabled at the point, as upstream. */
static enum err_code check_total(struct expansion *x, enum extension_point point, const char *what)
{
    int64_t total = 0;
    for (uint8_t i = 0; i < x->profile->n_instances; i++) {
        const struct plugin *plugin = x->profile->instances[i].plugin;
        struct str name = str_of(plugin->name);
        bool configured =
            set_has(x->config->sets[point].enabled, name) || set_has(x->config->sets[SET_MULTI_POINT].enabled, name);
        if (!configured || !plugin_extends(plugin, point))
            continue;
        int64_t points = weight_of(x->config, point, name) * SCORE_MAX; /* weights are 32 bits wide */
        if (total > 0 && points > SCORE_TOTAL_MAX - total)
            return err_set(x->e, ERR_INVALID, "%s: total score of Score plugins could overflow", what);
        total += points;
    }
    return ERR_OK;
}

static void fill_weights(const struct expansion *x, enum extension_point point, int64_t *weights)
{
    const struct point_plugins *list = &x->profile->points[point];
    for (uint8_t i = 0; i < list->n; i++)
        weights[i] = weight_of(x->config, point, str_of(list->at[i]->plugin->name));
}

/* ---- One profile ---- */

static enum err_code check_points(struct expansion *x)
{
    const struct point_plugins *points = x->profile->points;
    const char *name = quoted(x->e->arena, x->config->scheduler_name);
    if (points[POINT_QUEUE_SORT].n != 1)
        return err_set(x->e, ERR_INVALID,
                       "only one queue sort plugin required for profile with scheduler name %s, but got %d", name,
                       points[POINT_QUEUE_SORT].n);
    if (points[POINT_BIND].n == 0)
        return err_set(x->e, ERR_INVALID, "at least one bind plugin is needed for profile with scheduler name %s",
                       name);
    if (points[POINT_PLACEMENT_GENERATE].n > 1)
        return err_set(x->e, ERR_INVALID,
                       "at most one placement generate plugin is allowed for profile with scheduler name %s", name);
    return ERR_OK;
}

static enum err_code build_profile(struct expansion *x)
{
    const struct profile_config *c = x->config;
    struct profile *p = x->profile;
    p->scheduler_name = arena_cstr(x->arena, c->scheduler_name);
    p->scheduler_name_sym = sym_intern(x->options->syms, c->scheduler_name);
    p->era = x->options->era ? x->options->era : &era_modern;
    p->runs_all_filters = c->runs_all_filters;
    p->percentage_of_nodes_to_score = c->has_percentage ? c->percentage_of_nodes_to_score : -1;
    if (make_instances(x) || fill_points(x) || check_points(x) || check_total(x, POINT_SCORE, "score plugins") ||
        check_total(x, POINT_PLACEMENT_SCORE, "placement score plugins"))
        return err_wrap(x->e, "creating profile for scheduler name %.*s", STR_ARG(c->scheduler_name));
    fill_weights(x, POINT_SCORE, p->weights);
    profile_settle(p);
    return ERR_OK;
}

static struct value args_of(const struct profile_config *p, const char *plugin)
{
    const struct plugin_config *c = find_config(p, plugin);
    return c ? c->args : (struct value){ 0 };
}

/* All profiles share one queue. */
static enum err_code check_queue_sort(const struct config *c, struct profile *const *profiles, size_t i, struct err *e)
{
    const char *first = profiles[0]->points[POINT_QUEUE_SORT].at[0]->plugin->name;
    const char *sort = profiles[i]->points[POINT_QUEUE_SORT].at[0]->plugin->name;
    const char *name = quoted(e->arena, c->profiles[i].scheduler_name);
    struct value first_args = args_of(&c->profiles[0], first), args = args_of(&c->profiles[i], sort);
    if (c->profiles[i].scheduler_name.n == 0)
        return err_set(e, ERR_INVALID, "scheduler name is needed");
    for (size_t k = 0; k < i; k++)
        if (str_eq(c->profiles[k].scheduler_name, c->profiles[i].scheduler_name))
            return err_set(e, ERR_INVALID, "duplicate profile with scheduler name %s", name);
    if (strcmp(first, sort) != 0)
        return err_set(e, ERR_INVALID, "different queue sort plugins for profile %s: \"%s\", first: \"%s\"", name, sort,
                       first);
    if (!value_equal(&first_args, &args))
        return err_set(e, ERR_INVALID, "different queue sort plugin args for profile %s", name);
    return ERR_OK;
}

void profiles_fini(struct profile *const *profiles, size_t n, struct sym_table *syms)
{
    for (size_t i = 0; i < n; i++) {
        for (uint8_t k = 0; k < profiles[i]->n_instances; k++) {
            struct plugin_instance *instance = &profiles[i]->instances[k];
            if (instance->plugin->fini)
                instance->plugin->fini(instance);
        }
        sym_unref(syms, profiles[i]->scheduler_name_sym);
    }
}

enum err_code profiles_build(struct arena *a, const struct config *c, const struct expand_options *options,
                             struct profile ***ret_profiles, struct err *e)
{
    assert(options->registry);
    assert(options->syms);
    assert(options->features);
    if (c->n_profiles > PROFILES_MAX)
        return err_set(e, ERR_INVALID, "there are %zu profiles, and at most %d can be run", c->n_profiles, PROFILES_MAX);
    struct profile **profiles = ARENA_NEW_N(a, struct profile *, c->n_profiles);
    enum err_code rc = ERR_OK;
    size_t n = 0;
    while (!rc && n < c->n_profiles) {
        profiles[n] = ARENA_NEW(a, struct profile);
        struct expansion x = { a, &c->profiles[n], options, profiles[n], e };
        rc = build_profile(&x);
        if (!rc)
            rc = check_queue_sort(c, profiles, n, e);
        n++;
    }
    if (rc) {
        profiles_fini(profiles, n, options->syms);
        return err_wrap(e, "initializing profiles");
    }
    *ret_profiles = profiles;
    return ERR_OK;
}
