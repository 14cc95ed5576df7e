/* tests/vectors/legacy.c - scenarios of Policy files and algorithm providers: whether the scheduler starts, with which
 * words it does not, and what it then consists of. Format: README of those vectors. */
#include <stdlib.h>

#include "config/args.h"
#include "config/points.h"
#include "config/policy_source.h"
#include "codec/json.h"
#include "plugins/plugins.h"
#include "tests/vectors/vectors.h"

#define POLICY_FILE "policy.cfg"

bool vector_is_legacy(const struct vector_case *c)
{
    return strncmp(c->family, "policy-", 7) == 0 || strstr(c->family, "-provider");
}

/* ---- The flags ---- */

static const char *flag_value(yyjson_val *flag, const char *name)
{
    const char *text = yyjson_get_str(flag);
    size_t n = strlen(name);
    return text && strncmp(text, name, n) == 0 && text[n] == '=' ? text + n + 1 : NULL;
}

static void read_flags(struct vector_case *c, struct policy_flags *f, struct setup_legacy *to)
{
    size_t i, max;
    yyjson_val *flag, *map = yyjson_obj_get(c->record, "policyConfigMap");
    *f = (struct policy_flags){ .hard_pod_affinity_weight = 1 };
    if (vector_has(c->record, "policy") || vector_has(c->record, "policyText"))
        f->config_file = POLICY_FILE;
    if (map) {
        f->configmap = arena_cstr(c->arena, vector_str(map, "name"));
        f->configmap_namespace = arena_cstr(c->arena, vector_str(map, "namespace"));
    }
    if (vector_has(c->record, "provider"))
        f->provider = arena_cstr(c->arena, vector_str(c->record, "provider"));
    yyjson_arr_foreach(yyjson_obj_get(c->record, "flags"), i, max, flag) {
        const char *v;
        if ((v = flag_value(flag, "--policy-config-file")))
            f->config_file = v;
        else if ((v = flag_value(flag, "--use-legacy-policy-config")))
            f->use_legacy_config = strcmp(v, "true") == 0;
        else if ((v = flag_value(flag, "--hard-pod-affinity-symmetric-weight")))
            f->hard_pod_affinity_weight = atoll(v);
        else if ((v = flag_value(flag, "--scheduler-name")))
            to->scheduler_name = v;
        else if ((v = flag_value(flag, "--algorithm-provider")))
            f->provider = v;
        else
            vector_mismatch(c, "flag %zu is not known to the test", i);
    }
}

static enum err_code read_file(void *context, struct arena *a, const char *path, struct str *ret_text, struct err *e)
{
    struct vector_case *c = context;
    (void)a;
    if (strcmp(path, POLICY_FILE) != 0)
        return err_set(e, ERR_NOT_FOUND, "no such file");
    yyjson_val *policy = yyjson_obj_get(c->record, "policy");
    *ret_text = policy ? vector_json(c, policy) : vector_str(c->record, "policyText");
    return ERR_OK;
}

static enum err_code read_configmap(void *context, struct arena *a, const char *ns, const char *name,
                                    struct str *ret_text, struct err *e)
{
    struct vector_case *c = context;
    (void)a;
    size_t i, max;
    yyjson_val *object;
    yyjson_arr_foreach(yyjson_obj_get(yyjson_obj_get(c->record, "objects"), "configmaps"), i, max, object) {
        yyjson_val *meta = yyjson_obj_get(object, "metadata");
        if (str_is(vector_str(meta, "namespace"), ns) && str_is(vector_str(meta, "name"), name)) {
            *ret_text = vector_str(yyjson_obj_get(object, "data"), POLICY_KEY);
            return ERR_OK;
        }
    }
    return err_set(e, ERR_NOT_FOUND, "configmaps \"%s\" not found", name);
}

static bool gate(struct vector_case *c, const char *name, bool otherwise)
{
    yyjson_val *v = yyjson_obj_get(yyjson_obj_get(c->record, "featureGates"), name);
    return v ? yyjson_get_bool(v) : otherwise;
}

static void set_environment(struct vector_case *c)
{
    yyjson_val *limit = yyjson_obj_get(yyjson_obj_get(c->record, "env"), "KUBE_MAX_PD_VOLS");
    if (limit)
        setenv("KUBE_MAX_PD_VOLS", yyjson_get_str(limit), 1);
    else
        unsetenv("KUBE_MAX_PD_VOLS");
}

enum err_code vector_legacy_setup(struct vector_case *c, struct setup *s, struct sym_table *syms, struct err *e)
{
    struct policy_flags flags;
    struct setup_legacy legacy = {
        .level = level_find(STR("v1.20")),
        .no_default_spread = !gate(c, "DefaultPodTopologySpread", true),
        .balance_attached_node_volumes = gate(c, "BalanceAttachedNodeVolumes", false),
        .csi_migration_aws = gate(c, "CSIMigrationAWS", false),
    };
    const struct policy_reader reader = { c, read_file, read_configmap };
    struct setup_source from = { .legacy = &legacy };
    set_environment(c);
    s->fatal = false;
    read_flags(c, &flags, &legacy);
    return policy_choose(c->arena, &flags, &reader, &legacy, e) ? e->code
                                                                : setup_load(s, syms, &from, plugin_registry, e);
}

/* ---- What it comes to ---- */

static void check_point(struct vector_case *c, const struct profile *p, enum extension_point point, yyjson_val *want)
{
    const char *what = point_names[point].json ? point_names[point].json : "a point without a name";
    size_t n = yyjson_arr_size(want);
    if (n != p->points[point].n)
        vector_mismatch(c, "%s: %d plugins, want %zu", what, p->points[point].n, n);
    for (size_t i = 0; i < n && i < p->points[point].n; i++) {
        yyjson_val *name = yyjson_arr_get(want, i);
        vector_text(c, what, str_of(p->points[point].at[i]->plugin->name),
                    (struct str){ yyjson_get_str(name), yyjson_get_len(name) });
    }
}

static void check_weights(struct vector_case *c, const struct profile *p, yyjson_val *want)
{
    for (uint8_t i = 0; i < p->points[POINT_SCORE].n; i++) {
        const char *name = p->points[POINT_SCORE].at[i]->plugin->name;
        vector_int(c, name, p->weights[i], vector_num(want, name));
    }
}

/* Members that v1.20 does not have are not compared. */
static void check_args(struct vector_case *c, const struct profile_config *p, yyjson_val *want)
{
    size_t i, max, k, k_max;
    yyjson_val *name, *args, *key, *value;
    yyjson_obj_foreach(want, i, max, name, args) {
        yyjson_val *got = NULL;
        yyjson_doc *doc = NULL;
        for (size_t n = 0; n < p->n_plugin_config; n++) {
            const struct plugin_config *pc = &p->plugin_config[n];
            if (!str_is(pc->name, yyjson_get_str(name)) || !pc->kind)
                continue;
            struct strbuf json;
            strbuf_init(&json, STRBUF_NO_MAX);
            json_encode(&json, schema_type(str_of(pc->kind->type)), &pc->args);
            doc = yyjson_read(json.p, json.n, 0);
            got = yyjson_doc_get_root(doc);
            strbuf_fini(&json);
        }
        if (!got)
            vector_mismatch(c, "args of %s are missing", yyjson_get_str(name));
        yyjson_obj_foreach(args, k, k_max, key, value) {
            yyjson_val *v = yyjson_obj_get(got, yyjson_get_str(key));
            if (!v || !yyjson_equals(v, value))
                vector_mismatch(c, "args of %s: %s differs", yyjson_get_str(name), yyjson_get_str(key));
        }
        yyjson_doc_free(doc);
    }
}

static void check_start_error(struct vector_case *c, const struct setup *s, bool started, const struct err *e,
                              yyjson_val *want)
{
    struct str kind = vector_str(want, "kind");
    if (started) {
        vector_mismatch(c, "it starts");
        return;
    }
    if (str_is(kind, "panic"))
        return;
    vector_int(c, "exit", s->fatal ? 255 : 1, vector_num(want, "exit"));
    struct str prefix = vector_str(want, "prefix"), got = str_of(e->message);
    if (!prefix.n)
        vector_text(c, "startError", got, vector_str(want, "text"));
    else if (!str_starts(got, prefix))
        vector_text(c, "prefix of startError", got, prefix);
}

void check_legacy_start(struct vector_case *c)
{
    struct setup s;
    struct sym_table syms;
    struct err e;
    sym_init(&syms);
    err_init(&e, c->arena);
    bool started = vector_legacy_setup(c, &s, &syms, &e) == ERR_OK;
    yyjson_val *want = yyjson_obj_get(c->record, "startError");
    if (want) {
        check_start_error(c, &s, started, &e, want);
    } else if (!started) {
        vector_mismatch(c, "it does not start: %s", e.message);
    } else {
        const struct profile *p = s.profiles[0];
        yyjson_val *effective = yyjson_obj_get(yyjson_obj_get(c->record, "effective"), p->scheduler_name);
        if (!effective)
            vector_mismatch(c, "scheduler name %s", p->scheduler_name);
        for (enum extension_point point = POINT_QUEUE_SORT; point <= POINT_POST_BIND; point++)
            check_point(c, p, point, yyjson_obj_get(effective, point_names[point].json));
        check_weights(c, p, yyjson_obj_get(effective, "weights"));
        check_args(c, &s.config->profiles[0], yyjson_obj_get(effective, "args"));
    }
    if (started)
        setup_fini(&s);
    sym_fini(&syms);
}
