/* Small plugins about pods and nodes: TaintNodesByCondition, AlwaysPullImages, LimitPodHardAntiAffinityTopology,
 * RuntimeClass, PodTopologyLabels, PodResizeValidator. */
#include "api/admit.h"
#include "api/field_error.h"
#include "api/pod_sums.h"
#include "api/quantity.h"
#include "apiserver/admission_priv.h"

/* ---- TaintNodesByCondition: a new node takes no pods until somebody has seen that it is ready ---- */

enum err_code node_taint(struct admission_request *r, struct err *e)
{
    const struct type *t = schema_type(STR("core/v1.Taint"));
    (void)e;
    if (!req_is_whole(r, "nodes", ""))
        return ERR_OK;
    const struct value *taints = req_at(r, "spec.taints");
    EACH_ITEM(taint, taints)
        if (str_is(value_text(value_path(t, taint, "key")), "node.kubernetes.io/not-ready") &&
            str_is(value_text(value_path(t, taint, "effect")), "NoSchedule"))
            return ERR_OK;
    struct value taint = value_struct(r->arena, t);
    taint = edit_set(r->arena, t, &taint, "key", edit_text("node.kubernetes.io/not-ready"));
    taint = edit_set(r->arena, t, &taint, "effect", edit_text("NoSchedule"));
    req_set(r, "spec.taints", edit_append(r->arena, taints, taint));
    return ERR_OK;
}

/* ---- AlwaysPullImages: who may not pull an image does not get it because it is there already ---- */

static struct text_list images_of(const struct admission_request *r, const struct value *spec)
{
    struct text_list images = { r->arena };
    const struct container *all;
    size_t n = spec_containers(r->arena, spec, &all);
    for (size_t i = 0; i < n; i++)
        text_list_add(&images, value_text(value_path(all[i].type, all[i].value, "image")));
    text_list_sort(&images);
    return images;
}

static bool has_new_images(const struct admission_request *r)
{
    if (r->operation != ADMIT_UPDATE)
        return true;
    struct text_list old = images_of(r, req_old(r, "spec")), new = images_of(r, req_at(r, "spec"));
    for (size_t i = 0; i < new.n; i++)
        if (!text_list_has(&old, new.at[i]))
            return true;
    return false;
}

static void pull_always(struct admission_request *r, const char *path, struct str type)
{
    const struct type *t = schema_type(type);
    const struct value *list = req_at(r, path);
    if (list->kind != VALUE_LIST)
        return;
    bool volumes = str_is(type, "core/v1.Volume");
    struct value *items = ARENA_NEW_N(r->arena, struct value, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        items[i] = list->items[i];
        if (!volumes)
            items[i] = edit_set(r->arena, t, &items[i], "imagePullPolicy", edit_text("Always"));
        else if (value_path(t, &items[i], "image")->kind == VALUE_STRUCT)
            items[i] = edit_set(r->arena, t, &items[i], "image.pullPolicy", edit_text("Always"));
    }
    req_set(r, path, value_list(items, list->n));
}

enum err_code always_pull_admit(struct admission_request *r, struct err *e)
{
    (void)e;
    if (!req_is_whole(r, "pods", "") || !has_new_images(r))
        return ERR_OK;
    pull_always(r, "spec.initContainers", STR("core/v1.Container"));
    pull_always(r, "spec.containers", STR("core/v1.Container"));
    pull_always(r, "spec.ephemeralContainers", STR("core/v1.EphemeralContainer"));
    pull_always(r, "spec.volumes", STR("core/v1.Volume"));
    return ERR_OK;
}

static void add_unsupported(struct field_errors *errs, const char *path, struct str policy)
{
    static const char *const always[] = { "Always" };
    struct field_path at = field_child(NULL, path);
    if (!str_is(policy, "Always") && !field_errors_full(errs))
        field_not_supported(errs, &at, field_enum(policy), always, 1);
}

/* A list of refusals is, as upstream, itself none of a kind that the server knows. */
static enum err_code refuse_policies(struct admission_request *r, const struct field_errors *errs, struct err *e)
{
    struct strbuf all;
    strbuf_init(&all, ERR_MESSAGE_BYTES_MAX);
    for (size_t i = 0; i < errs->n; i++)
        strbuf_printf(&all, "%spods \"%.*s\" is forbidden: %.*s", i ? ", " : "", STR_ARG(req_shown_name(r)),
                      STR_ARG(field_error_text(r->arena, &errs->at[i])));
    enum err_code rc = err_set(e, ERR_UNKNOWN, errs->n > 1 ? "[%.*s]" : "%.*s", STR_ARG(strbuf_str(&all)));
    strbuf_fini(&all);
    return rc;
}

enum err_code always_pull_validate(struct admission_request *r, struct err *e)
{
    const struct container *all;
    struct field_errors errs;
    if (!req_is_whole(r, "pods", "") || !has_new_images(r))
        return ERR_OK;
    field_errors_init(&errs, r->arena);
    size_t n = spec_containers(r->arena, req_at(r, "spec"), &all);
    for (size_t i = 0; i < n; i++)
        add_unsupported(&errs, arena_printf(r->arena, "spec.%s[%u].imagePullPolicy", all[i].list, all[i].index),
                        value_text(value_path(all[i].type, all[i].value, "imagePullPolicy")));
    const struct type *t = schema_type(STR("core/v1.Volume"));
    unsigned at = 0;
    EACH_ITEM(volume, req_at(r, "spec.volumes")) {
        if (value_path(t, volume, "image")->kind == VALUE_STRUCT)
            add_unsupported(&errs, arena_printf(r->arena, "spec.volumes[%u].image.pullPolicy", at),
                            value_text(value_path(t, volume, "image.pullPolicy")));
        at++;
    }
    return errs.n ? refuse_policies(r, &errs, e) : ERR_OK;
}

/* ---- LimitPodHardAntiAffinityTopology: a pod keeps others off its node, not off more ---- */

enum err_code anti_affinity_topology(struct admission_request *r, struct err *e)
{
    const struct type *t = schema_type(STR("core/v1.PodAffinityTerm"));
    if (!req_is_whole(r, "pods", ""))
        return ERR_OK;
    EACH_ITEM(term, req_at(r, "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution")) {
        struct str key = value_text(value_path(t, term, "topologyKey"));
        if (!str_is(key, "kubernetes.io/hostname"))
            return err_set(e, ERR_FORBIDDEN,
                           "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey %.*s but only key "
                           "kubernetes.io/hostname is allowed",
                           STR_ARG(key));
    }
    return ERR_OK;
}

/* ---- RuntimeClass ---- */

static const struct value *runtime_class(const struct admission_request *r)
{
    return req_find(r, "runtimeclasses", "node.k8s.io", STR(""), req_text(r, "spec.runtimeClassName"));
}

/* Overhead that the class does not have is refused by the second pass only, behind what others refuse there. */
enum err_code runtime_class_admit(struct admission_request *r, struct err *e)
{
    const struct type *t = schema_type(STR("node.k8s.io/v1.RuntimeClass"));
    if (!req_is_whole(r, "pods", "") || req_at(r, "spec.runtimeClassName")->kind == VALUE_ABSENT)
        return ERR_OK;
    const struct value *class = runtime_class(r), tolerations = *req_at(r, "spec.tolerations");
    const struct value overhead = *req_at(r, "spec.overhead");
    bool later = class && value_path(t, class, "overhead")->kind != VALUE_STRUCT;
    if (later)
        req_set(r, "spec.overhead", (struct value){ 0 });
    if (admit_runtime_class(r->arena, &r->object, class, &r->object, e))
        return e->code;
    if (later)
        req_set(r, "spec.overhead", overhead);
    const struct value *more = value_path(t, class, "scheduling.tolerations");
    if (more->kind == VALUE_LIST)
        req_set(r, "spec.tolerations", tolerations_merge(r->arena, &tolerations, more));
    return ERR_OK;
}

enum err_code runtime_class_validate(struct admission_request *r, struct err *e)
{
    if (!req_is_whole(r, "pods", ""))
        return ERR_OK;
    const struct value *class = runtime_class(r), *own = req_at(r, "spec.overhead");
    if (!class && req_at(r, "spec.runtimeClassName")->kind != VALUE_ABSENT)
        return err_set(e, ERR_FORBIDDEN, "pod rejected: RuntimeClass \"%.*s\" not found",
                       STR_ARG(req_text(r, "spec.runtimeClassName")));
    const struct type *t = schema_type(STR("node.k8s.io/v1.RuntimeClass"));
    if (class && value_path(t, class, "overhead")->kind == VALUE_STRUCT)
        return value_equal(own, value_path(t, class, "overhead.podFixed"))
                   ? ERR_OK
                   : err_set(e, ERR_FORBIDDEN,
                             "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
    if (own->kind == VALUE_MAP)
        return err_set(e, ERR_FORBIDDEN,
                       "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
    return ERR_OK;
}

/* ---- PodTopologyLabels: a pod knows where its node is ---- */

enum err_code pod_topology_labels(struct admission_request *r, struct err *e)
{
    static const char *const keys[] = { "topology.kubernetes.io/region", "topology.kubernetes.io/zone" };
    bool binds = req_is_sub(r, "pods", "", "binding") && str_is(req_text(r, "target.kind"), "Node");
    (void)e;
    if (!binds && !req_is_whole(r, "pods", ""))
        return ERR_OK;
    const struct value *node = req_find(r, "nodes", "", STR(""), req_text(r, binds ? "target.name" : "spec.nodeName"));
    for (size_t i = 0; node && i < 2; i++) {
        const struct value *label = meta_label(schema_type(STR("core/v1.Node")), node, keys[i]);
        if (label)
            req_set(r, "metadata.labels", edit_member(r->arena, req_at(r, "metadata.labels"), str_of(keys[i]), *label));
    }
    return ERR_OK;
}

/* ---- PodResizeValidator: a pod grows only as far as its node can take it at all ---- */

static struct quantity amount(struct arena *a, const struct value *map, const char *key)
{
    struct quantity q = { 0 };
    struct err ignored;
    err_init(&ignored, a);
    const struct value *v = value_member(map, str_of(key));
    if (v && quantity_parse(a, value_text(v), &q, &ignored))
        q = (struct quantity){ 0 };
    return q;
}

static enum err_code check_node_capacity(struct admission_request *r, const struct value *node, struct err *e)
{
    static const struct {
        const char *name;
        int32_t scale;
    } rows[] = { { "cpu", QUANTITY_MILLI }, { "memory", 0 } };
    struct value requests = pod_sum(r->arena, &r->object, "requests");
    const struct value *room = value_path(schema_type(STR("core/v1.Node")), node, "status.allocatable");
    const char *text = "";
    for (size_t i = 0; i < 2; i++) {
        struct quantity want = amount(r->arena, &requests, rows[i].name), has = amount(r->arena, room, rows[i].name);
        if (quantity_cmp(&want, &has) > 0)
            text = arena_printf(r->arena, "%s%s%s, requested: %lld, allocatable: %lld", text, *text ? "; " : "",
                                rows[i].name, (long long)quantity_scaled(&want, rows[i].scale),
                                (long long)quantity_scaled(&has, rows[i].scale));
    }
    if (!*text)
        return ERR_OK;
    r->cause_reason = "NodeCapacity";
    return err_set(e, ERR_FORBIDDEN, "node didn't have enough allocatable resources: %s", text);
}

enum err_code pod_resize(struct admission_request *r, struct err *e)
{
    struct str name = req_text(r, "spec.nodeName");
    bool changes = !value_equal(req_at(r, "spec"), req_old(r, "spec"));
    if (!req_is_sub(r, "pods", "", "resize") || !name.n || !changes)
        return ERR_OK;
    const struct value *node = req_find(r, "nodes", "", STR(""), name);
    if (!node)
        return err_set(e, ERR_FORBIDDEN, "node \"%.*s\" not found", STR_ARG(name));
    const struct value *os = meta_label(schema_type(STR("core/v1.Node")), node, "kubernetes.io/os");
    if (os && !str_is(value_text(os), "linux")) {
        r->cause_reason = "UnsupportedPlatform";
        return err_set(e, ERR_FORBIDDEN, "pod resize is only supported on linux nodes, node \"%.*s\" is \"%.*s\"",
                       STR_ARG(name), STR_ARG(value_text(os)));
    }
    return check_node_capacity(r, node, e);
}
