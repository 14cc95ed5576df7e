/* tests/vectors/effective.c - scheduling scenarios with a configuration: which plugins it comes to, in which
 * order and with which weights. */
#include "config/expand.h"
#include "config/features.h"
#include "config/points.h"
#include "plugins/plugins.h"
#include "tests/vectors/vectors.h"

static void check_point(struct vector_case *c, const struct profile *p, enum extension_point point, yyjson_val *want)
{
    const char *what = point_names[point].json;
    size_t n = yyjson_arr_size(want);
    if (!want || n != p->points[point].n) {
        vector_mismatch(c, "%s of %s: %d plugins, want %zu", what, p->scheduler_name, p->points[point].n, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        yyjson_val *name = yyjson_arr_get(want, i);
        vector_text(c, what, str_of(p->points[point].at[i]->plugin->name),
                    (struct str){ yyjson_get_str(name), yyjson_get_len(name) });
    }
}

static void check_weights(struct vector_case *c, const struct profile *p, yyjson_val *want)
{
    vector_int(c, "number of weights", p->points[POINT_SCORE].n, (int64_t)yyjson_obj_size(want));
    for (uint8_t i = 0; i < p->points[POINT_SCORE].n; i++) {
        const char *name = p->points[POINT_SCORE].at[i]->plugin->name;
        vector_int(c, name, p->weights[i], vector_num(want, name));
    }
}

static void check_profiles(struct vector_case *c, struct profile *const *profiles, size_t n, yyjson_val *effective)
{
    vector_int(c, "number of profiles", (int64_t)n, (int64_t)yyjson_obj_size(effective));
    for (size_t i = 0; i < n; i++) {
        yyjson_val *want = yyjson_obj_get(effective, profiles[i]->scheduler_name);
        for (enum extension_point point = 0; point <= POINT_POST_BIND; point++)
            check_point(c, profiles[i], point, yyjson_obj_get(want, point_names[point].json));
        check_weights(c, profiles[i], yyjson_obj_get(want, "weights"));
    }
}

void check_effective(struct vector_case *c)
{
    yyjson_val *given = yyjson_obj_get(c->record, "config");
    if (!given)
        return;
    struct gates gates;
    struct sym_table syms;
    struct err e;
    struct config *config;
    struct profile **profiles;
    gates_init(&gates);
    sym_init(&syms);
    err_init(&e, c->arena);
    struct features features = gates_features(&gates);
    struct expand_options options = { plugin_registry, &syms, &features };
    if (config_load(c->arena, vector_json(c, given), &features, &config, &e) ||
        config_validate(config, &features, &e) || config_apply_extenders(c->arena, config, &e) ||
        profiles_build(c->arena, config, &options, &profiles, &e)) {
        vector_mismatch(c, "config: %s", e.message);
    } else {
        check_profiles(c, profiles, config->n_profiles, yyjson_obj_get(c->record, "effective"));
        profiles_fini(profiles, config->n_profiles, &syms);
    }
    sym_fini(&syms);
}
