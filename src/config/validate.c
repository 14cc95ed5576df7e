/* config/validate.c - see config_validate in config.h: what a configuration may say.
 * Upstream: pkg/scheduler/apis/config/validation/validation.go, component-base/config/validation, v1.36.
 *
 * Errors stand in upstream's order; where that is the random one of a map, in the order of the fields. */
#include "api/duration.h"
#include "api/validate.h"
#include "codec/json.h"
#include "config/args.h"
#include "config/points.h"
#include "config/slots.h"
#include "config/validate.h"

static void invalid_int(struct field_errors *errs, const struct field_path *at, int64_t value, const char *detail)
{
    field_invalid(errs, at, field_int(value), str_of(detail));
}

/* ---- Client and leader election ---- */

static void invalid_duration(struct field_errors *errs, const struct field_path *parent, const char *name, int64_t ns,
                             const char *detail)
{
    struct field_path at = field_child(parent, name);
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_add_char(&text, '"');
    duration_add(&text, ns);
    strbuf_add_char(&text, '"');
    field_invalid(errs, &at, field_json(field_take_text(errs->arena, &text)), str_of(detail));
}

static void require_text(struct field_errors *errs, const struct field_path *parent, const char *name, struct str text)
{
    struct field_path at = field_child(parent, name);
    if (text.n == 0)
        field_required(errs, &at, STR(""));
}

static void check_leader_election(const struct leader_election_config *l, struct field_errors *errs)
{
    struct field_path at = field_child(NULL, "leaderElection"), lock = field_child(&at, "resourceLock");
    if (!l->leader_elect)
        return;
    if (l->lease_duration_ns <= 0)
        invalid_duration(errs, &at, "leaseDuration", l->lease_duration_ns, "must be greater than zero");
    if (l->renew_deadline_ns <= 0)
        invalid_duration(errs, &at, "renewDeadline", l->renew_deadline_ns, "must be greater than zero");
    if (l->retry_period_ns <= 0)
        invalid_duration(errs, &at, "retryPeriod", l->retry_period_ns, "must be greater than zero");
    if (l->lease_duration_ns <= l->renew_deadline_ns) /* upstream shows the deadline as the lease */
        invalid_duration(errs, &at, "leaseDuration", l->renew_deadline_ns, "must be greater than `RenewDeadline`");
    require_text(errs, &at, "resourceLock", l->resource_lock);
    require_text(errs, &at, "resourceNamespace", l->resource_namespace);
    require_text(errs, &at, "resourceName", l->resource_name);
    if (!str_is(l->resource_lock, "leases"))
        field_invalid(errs, &lock, field_str(l->resource_lock), STR("resourceLock value must be \"leases\""));
}

/* ---- Profiles ---- */

static void check_percentage(int32_t percentage, const struct field_path *at, struct field_errors *errs)
{
    if (percentage < 0 || percentage > 100)
        invalid_int(errs, at, percentage, "not in valid range [0-100]");
}

/* Plugins that older versions had. */
static bool is_removed(struct str plugin)
{
    static const char *const removed[] = { "AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits" };
    for (size_t i = 0; i < sizeof(removed) / sizeof(removed[0]); i++)
        if (str_is(plugin, removed[i]))
            return true;
    return false;
}

static void invalid_plugin(struct str plugin, const struct field_path *at, struct field_errors *errs)
{
    field_invalid(
        errs, at, field_str(plugin),
        STR("was invalid in version \"v1\" (KubeSchedulerConfiguration is version \"" CONFIG_API_VERSION "\")"));
}

static void check_sets(const struct profile_config *p, const struct field_path *at, struct field_errors *errs)
{
    struct field_path plugins = field_child(at, "plugins");
    for (unsigned i = 0; i <= POINT_POST_BIND; i++) { /* the other sets are not looked at, as upstream */
        struct field_path set = field_child(&plugins, point_names[i].json), list = field_child(&set, "enabled");
        for (size_t k = 0; k < p->sets[i].enabled.n; k++) {
            struct field_path item = field_index(&list, k);
            if (is_removed(p->sets[i].enabled.at[k].name))
                invalid_plugin(p->sets[i].enabled.at[k].name, &item, errs);
        }
    }
}

static void check_plugin_config(const struct profile_config *p, const struct features *f, const struct field_path *at,
                                struct field_errors *errs)
{
    struct field_path list = field_child(at, "pluginConfig");
    for (size_t i = 0; i < p->n_plugin_config; i++) {
        const struct plugin_config *c = &p->plugin_config[i];
        struct field_path item = field_index(&list, i), args = field_child(&item, "args");
        bool repeated = false;
        for (size_t k = 0; k < i; k++)
            repeated |= str_eq(p->plugin_config[k].name, c->name);
        if (repeated)
            field_duplicate(errs, &item, field_str(c->name));
        if (is_removed(c->name))
            invalid_plugin(c->name, &item, errs);
        else if (c->kind && !c->kind->validated_late)
            c->kind->validate(&c->args, f, &args, errs);
    }
}

static void check_profile(const struct config *c, size_t i, const struct features *f, const struct field_path *list,
                          struct field_errors *errs)
{
    const struct profile_config *p = &c->profiles[i];
    struct field_path at = field_index(list, i), name = field_child(&at, "schedulerName");
    struct field_path percentage = field_child(&at, "percentageOfNodesToScore");
    bool repeated = false;
    if (p->scheduler_name.n == 0)
        field_required(errs, &name, STR(""));
    if (p->has_percentage)
        check_percentage(p->percentage_of_nodes_to_score, &percentage, errs);
    check_sets(p, &at, errs);
    check_plugin_config(p, f, &at, errs);
    for (size_t k = 0; k < i; k++)
        repeated |= str_eq(c->profiles[k].scheduler_name, p->scheduler_name);
    if (repeated)
        field_duplicate(errs, &name, field_json(STR("{}"))); /* upstream shows a path, which has nothing to show */
}

/* ---- Queue sort: the same for all profiles ---- */

static bool refs_equal(plugin_refs a, plugin_refs b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (!str_eq(a.at[i].name, b.at[i].name) || a.at[i].weight != b.at[i].weight)
            return false;
    return true;
}

/* As Go shows a list of the internal type, which has no JSON names. */
static void add_refs(struct strbuf *to, plugin_refs refs)
{
    if (refs.n == 0)
        STRBUF_ADD_LIT(to, "null");
    for (size_t i = 0; i < refs.n; i++) {
        strbuf_add_text(to, i ? ",{\"Name\":" : "[{\"Name\":");
        field_add_json_string(to, refs.at[i].name);
        strbuf_printf(to, ",\"Weight\":%d}%s", refs.at[i].weight, i + 1 == refs.n ? "]" : "");
    }
}

static struct str set_text(struct arena *a, const struct plugin_set *set)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&b, "{\"Enabled\":");
    add_refs(&b, set->enabled);
    STRBUF_ADD_LIT(&b, ",\"Disabled\":");
    add_refs(&b, set->disabled);
    strbuf_add_char(&b, '}');
    return field_take_text(a, &b);
}

static struct str args_text(struct arena *a, const struct plugin_config *c)
{
    struct strbuf b;
    if (c->args.kind == VALUE_ABSENT)
        return STR("null");
    if (!c->kind)
        return value_text(&c->args);
    strbuf_init(&b, STRBUF_NO_MAX);
    json_encode(&b, schema_type(str_of(c->kind->type)), &c->args);
    return field_take_text(a, &b);
}

/* The arguments of a plugin, the last ones if they are given twice; absent when there are none. */
static struct value args_of(const struct profile_config *p, struct str plugin)
{
    struct value args = { 0 };
    for (size_t i = 0; plugin.n && i < p->n_plugin_config; i++)
        if (str_eq(p->plugin_config[i].name, plugin))
            args = p->plugin_config[i].args;
    return args;
}

static void check_same_queue_sort(const struct profile_config *first, const struct profile_config *p,
                                  const struct field_path *at, struct field_errors *errs)
{
    const struct plugin_set *want = &first->sets[POINT_QUEUE_SORT], *set = &p->sets[POINT_QUEUE_SORT];
    struct str plugin = want->enabled.n ? want->enabled.at[0].name : STR("");
    struct value args = args_of(first, plugin);
    struct field_path plugins = field_child(at, "plugins"), sort = field_child(&plugins, "queueSort");
    struct field_path list = field_child(at, "pluginConfig"), args_path = field_child(&list, "args");
    if (!refs_equal(want->enabled, set->enabled) || !refs_equal(want->disabled, set->disabled))
        field_invalid(errs, &sort, field_json(set_text(errs->arena, set)), STR("must be the same for all profiles"));
    for (size_t i = 0; i < p->n_plugin_config; i++)
        if (str_eq(p->plugin_config[i].name, plugin) && !value_equal(&p->plugin_config[i].args, &args))
            field_invalid(errs, &args_path, field_json(args_text(errs->arena, &p->plugin_config[i])),
                          STR("queueSort must be the same for all profiles"));
}

static void check_queue_sort(const struct config *c, const struct field_path *list, struct field_errors *errs)
{
    struct field_path first = field_index(list, 0), plugins = field_child(&first, "plugins");
    struct field_path sort = field_child(&plugins, "queueSort"), enabled = field_child(&sort, "Enabled");
    size_t n = c->profiles[0].sets[POINT_QUEUE_SORT].enabled.n;
    if (n > 1)
        invalid_int(errs, &enabled, (int64_t)n, "only one queue sort plugin can be enabled");
    for (size_t i = 1; i < c->n_profiles; i++) {
        struct field_path at = field_index(list, i);
        check_same_queue_sort(&c->profiles[0], &c->profiles[i], &at, errs);
    }
}

/* ---- Extenders ---- */

static bool is_extended_resource(struct arena *a, struct str name)
{
    static const char native_domain[] = "kubernetes.io/"; /* anywhere in the name, as upstream */
    if (str_index(name, '/') == name.n || str_starts(name, STR("requests.")))
        return false;
    bool native = memmem(name.p, name.n, native_domain, sizeof(native_domain) - 1);
    /* What quotas call it must be a valid name too. */
    struct str quota = str_of(arena_printf(a, "requests.%.*s", STR_ARG(name)));
    return !native && name_label_key(quota).n == 0;
}

static bool managed_before(const struct config *c, size_t extender, size_t resource)
{
    struct str name = c->extenders[extender].managed_resources[resource].name;
    for (size_t i = 0; i <= extender; i++)
        for (size_t k = 0; k < (i == extender ? resource : c->extenders[i].n_managed_resources); k++)
            if (str_eq(c->extenders[i].managed_resources[k].name, name))
                return true;
    return false;
}

static void check_managed(const struct config *c, size_t extender, bool repeats_name, const struct field_path *at,
                          struct field_errors *errs)
{
    struct field_path list = field_child(at, "managedResources");
    for (size_t i = 0; i < c->extenders[extender].n_managed_resources && !field_errors_full(errs); i++) {
        struct str resource = c->extenders[extender].managed_resources[i].name;
        struct field_path item = field_index(&list, i), name = field_child(&item, "name");
        struct name_errors found = name_label_key(resource);
        validate_name_errors(found, field_enum(resource), &name, errs);
        if (found.n == 0 && !is_extended_resource(errs->arena, resource))
            field_invalid(errs, &name, field_str(resource),
                          str_of(arena_printf(errs->arena, "%.*s%sis an invalid extended resource name",
                                              repeats_name ? (int)resource.n : 0, resource.p, repeats_name ? " " : "")));
        if (managed_before(c, extender, i))
            field_invalid(errs, &name, field_str(resource), STR("duplicate extender managed resource name"));
    }
}

void validate_extenders(const struct config *c, bool repeats_name, struct field_errors *errs)
{
    struct field_path list = field_child(NULL, "extenders");
    size_t n_binders = 0;
    for (size_t i = 0; i < c->n_extenders; i++) {
        const struct extender_config *x = &c->extenders[i];
        struct field_path at = field_index(&list, i), weight = field_child(&at, "weight");
        if (x->prioritize_verb.n && x->weight <= 0)
            invalid_int(errs, &weight, x->weight, "must have a positive weight applied to it");
        n_binders += x->bind_verb.n > 0;
        check_managed(c, i, repeats_name, &at, errs);
    }
    if (n_binders > 1)
        field_invalid(errs, &list,
                      field_str(str_of(arena_printf(errs->arena, "found %zu extenders implementing bind", n_binders))),
                      STR("only one extender can implement bind"));
}

/* ---- All of it ---- */

static void check_config(const struct config *c, const struct features *f, struct field_errors *errs)
{
    struct field_path client = field_child(NULL, "clientConnection"), burst = field_child(&client, "burst");
    struct field_path parallelism = field_child(NULL, "parallelism"), profiles = field_child(NULL, "profiles");
    struct field_path percentage = field_child(NULL, "percentageOfNodesToScore");
    struct field_path initial = field_child(NULL, "podInitialBackoffSeconds");
    struct field_path max = field_child(NULL, "podMaxBackoffSeconds");
    if (c->client_connection.burst < 0)
        invalid_int(errs, &burst, c->client_connection.burst, "must be non-negative");
    check_leader_election(&c->leader_election, errs);
    if (c->parallelism <= 0)
        invalid_int(errs, &parallelism, c->parallelism, "should be an integer value greater than zero");
    if (c->n_profiles == 0)
        field_required(errs, &profiles, STR(""));
    for (size_t i = 0; i < c->n_profiles && !field_errors_full(errs); i++)
        check_profile(c, i, f, &profiles, errs);
    if (c->n_profiles)
        check_queue_sort(c, &profiles, errs);
    check_percentage(c->percentage_of_nodes_to_score, &percentage, errs);
    if (c->pod_initial_backoff_s <= 0)
        invalid_int(errs, &initial, c->pod_initial_backoff_s, "must be greater than 0");
    if (c->pod_max_backoff_s < c->pod_initial_backoff_s)
        invalid_int(errs, &max, c->pod_max_backoff_s, "must be greater than or equal to PodInitialBackoffSeconds");
    validate_extenders(c, false, errs);
}

enum err_code config_validate(const struct config *c, const struct features *f, struct err *e)
{
    assert(c);
    assert(f);
    struct field_errors errs;
    field_errors_init(&errs, e->arena);
    check_config(c, f, &errs);
    if (errs.n == 0)
        return ERR_OK;
    struct str text = field_errors_text(e->arena, &errs);
    return err_set(e, ERR_INVALID, "%.*s", STR_ARG(text));
}
