/* rules/pod_update.c - see pod_priv.h: new pods, and what may change of a pod that exists. */
#include "rules/diff.h"
#include "rules/go_form.h"
#include "rules/pod_priv.h"

static const struct type *spec_type(void)
{
    return schema_type(STR("core/v1.PodSpec"));
}

/* ---- New pods ---- */

void pod_validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    const struct value *spec = GET(new, Pod, spec);
    const struct field_path *at = AT(NULL, "spec");
    pod_check_pod(c, new, (struct pod_leniency){ 0 }, errs);
    if (pod_count(GET(spec, PodSpec, ephemeralContainers)))
        field_forbidden(errs, AT(at, "ephemeralContainers"), STR("cannot be set on create"));
    if (TEXT(spec, PodSpec, nodeName).n && pod_count(GET(spec, PodSpec, schedulingGates)))
        field_forbidden(errs, AT(at, "nodeName"), STR("cannot be set until all schedulingGates have been cleared"));
    pod_check_profiles(GET(new, Pod, metadata), spec, at, errs);
}

/* ---- Fields that may change ---- */

/* False when the lists cannot be compared. */
static bool check_containers(const struct value *new, const struct value *old, const struct field_path *at,
                             struct field_errors *errs)
{
    if (pod_count(new) != pod_count(old)) {
        field_forbidden(errs, at, STR("pod updates may not add or remove containers"));
        return false;
    }
    for (uint32_t i = 0; i < pod_count(new); i++) {
        struct str image = TEXT(&new->items[i], Container, image);
        pod_require(image, AT_INDEX(at, i), "image", errs);
        if (pod_trim_space(image).n != image.n)
            field_invalid(errs, AT(AT_INDEX(at, i), "image"), field_str(image),
                          STR("must not have leading or trailing whitespace"));
    }
    return true;
}

/* From none to some, or to less. False ends the check. */
static bool check_deadline(const struct value *new, const struct value *old, const struct field_path *at,
                           struct field_errors *errs)
{
    if (new->kind != VALUE_INT) {
        if (old->kind == VALUE_INT)
            field_invalid(errs, at, field_json(STR("null")), STR("must not update from a positive integer to nil value"));
        return true;
    }
    bool in_range = new->i >= 0 && new->i <= INT32_MAX, more = old->kind == VALUE_INT && old->i < new->i;
    if (!in_range)
        pod_check_range(new->i, 0, INT32_MAX, at, errs);
    else if (more)
        field_invalid(errs, at, field_int(new->i), STR("must be less than or equal to previous value"));
    return in_range && !more;
}

/* All of a toleration but its seconds. */
static struct str toleration_key(struct arena *a, const struct value *t)
{
    struct str key = TEXT(t, Toleration, key), op = TEXT(t, Toleration, operator), value = TEXT(t, Toleration, value);
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    field_add_json_string(&text, key);
    field_add_json_string(&text, op);
    field_add_json_string(&text, value);
    field_add_json_string(&text, TEXT(t, Toleration, effect));
    return field_take_text(a, &text);
}

static void check_tolerations(const struct value *new, const struct value *old, const struct field_path *at,
                              struct field_errors *errs)
{
    struct map_str kept;
    bool lost = false;
    map_str_init(&kept);
    for (uint32_t i = 0; i < pod_count(new); i++)
        pod_add_new(&kept, toleration_key(errs->arena, &new->items[i]));
    for (uint32_t i = 0; i < pod_count(old); i++)
        lost |= !map_str_find(&kept, toleration_key(errs->arena, &old->items[i]));
    map_str_fini(&kept);
    if (lost)
        field_forbidden(errs, at, STR("existing toleration can not be modified except its tolerationSeconds"));
    else
        rules_check_tolerations(new, at, errs);
}

static void check_gates(const struct value *new, const struct value *old, const struct field_path *at,
                        struct field_errors *errs)
{
    struct map_str known;
    map_str_init(&known);
    for (uint32_t i = 0; i < pod_count(old); i++)
        pod_add_new(&known, TEXT(&old->items[i], PodSchedulingGate, name));
    for (uint32_t i = 0; i < pod_count(new); i++) {
        struct str name = TEXT(&new->items[i], PodSchedulingGate, name);
        if (!map_str_find(&known, name))
            field_forbidden(errs, AT(AT_INDEX(at, i), "name"),
                            pod_detail(errs, "only deletion is allowed, but found new scheduling gate '%.*s'",
                                       STR_ARG(name)));
    }
    map_str_fini(&known);
}

/* ---- Pods behind gates: where they may run can still be narrowed ---- */

static void check_node_selector(const struct value *new, const struct value *old, const struct field_path *at,
                                struct field_errors *errs)
{
    for (uint32_t i = 0; i < pod_count(old); i++) {
        const struct value *v = new->kind == VALUE_MAP ? value_member(new, old->members[i].key) : NULL;
        if (v && value_equal(v, &old->members[i].value))
            continue;
        field_invalid(errs, at, pod_shown_map(errs->arena, new),
                      STR("only additions to spec.nodeSelector are allowed (no mutations or deletions)"));
        return;
    }
}

/* The old requirements come first, and as they were. */
static bool begins_with(const struct value *new, const struct value *old)
{
    const struct type *t = schema_type(STR("core/v1.NodeSelectorRequirement"));
    if (pod_count(new) < pod_count(old))
        return false;
    for (uint32_t i = 0; i < pod_count(old); i++)
        if (!pod_same(t, &new->items[i], &old->items[i]))
            return false;
    return true;
}

static bool only_adds(const struct value *new, const struct value *old)
{
    const struct value *expressions = GET(new, NodeSelectorTerm, matchExpressions);
    const struct value *fields = GET(new, NodeSelectorTerm, matchFields);
    const struct value *old_expressions = GET(old, NodeSelectorTerm, matchExpressions);
    const struct value *old_fields = GET(old, NodeSelectorTerm, matchFields);
    /* A term without anything matches nothing, and would match more with something in it. */
    bool was_empty = !pod_count(old_expressions) && !pod_count(old_fields);
    if (was_empty && (pod_count(expressions) || pod_count(fields)))
        return false;
    return begins_with(expressions, old_expressions) && begins_with(fields, old_fields);
}

static void check_node_affinity(const struct value *new, const struct value *old, const struct field_path *at,
                                struct field_errors *errs)
{
    const struct type *t = schema_type(STR("core/v1.NodeSelectorTerm"));
    const struct value *old_terms = GET(GET(old, NodeAffinity, requiredDuringSchedulingIgnoredDuringExecution),
                                        NodeSelector, nodeSelectorTerms);
    const struct value *terms = GET(GET(new, NodeAffinity, requiredDuringSchedulingIgnoredDuringExecution), NodeSelector,
                                    nodeSelectorTerms);
    const struct field_path *path = AT(AT(at, "requiredDuringSchedulingIgnoredDuringExecution"), "nodeSelectorTerms");
    if (pod_count(old_terms) && pod_count(old_terms) != pod_count(terms)) {
        field_invalid(errs, path, pod_shown(errs->arena, t, terms),
                      STR("no additions/deletions to non-empty NodeSelectorTerms list are allowed"));
        return;
    }
    for (uint32_t i = 0; i < pod_count(old_terms); i++)
        if (!only_adds(&terms->items[i], &old_terms->items[i]))
            field_invalid(errs, AT_INDEX(path, i), pod_shown(errs->arena, t, &terms->items[i]),
                          STR("only additions are allowed (no mutations or deletions)"));
}

/* ---- All other fields ---- */

/* `spec` is a copy whose slots may be set: what has been checked becomes what it was. */
static void mask_images(struct arena *a, struct value *spec, const struct value *old, unsigned slot)
{
    struct value list = *value_slot(spec, slot);
    const struct value *was = value_slot(old, slot);
    if (!pod_count(&list))
        return;
    const struct value *items = list.items;
    list.items = ARENA_NEW_N(a, struct value, list.n);
    for (uint32_t i = 0; i < list.n; i++) {
        list.items[i] = items[i];
        if (items[i].kind != VALUE_STRUCT)
            continue;
        list.items[i].slots = ARENA_NEW_N(a, struct value, items[i].n);
        memcpy(list.items[i].slots, items[i].slots, items[i].n * sizeof(struct value));
        list.items[i].slots[SLOT_core_v1_Container_image] = *GET(&was->items[i], Container, image);
    }
    spec->slots[slot] = list;
}

static void mask_grace(struct value *spec, const struct value *old)
{
    int64_t was = NUMBER(old, PodSpec, terminationGracePeriodSeconds);
    if (was < 0 && NUMBER(spec, PodSpec, terminationGracePeriodSeconds) == 1)
        spec->slots[SLOT_core_v1_PodSpec_terminationGracePeriodSeconds] = value_int(was);
}

static void mask_node_affinity(struct arena *a, struct value *spec, const struct value *old)
{
    const struct value *was = GET(old, PodSpec, affinity), *is = GET(spec, PodSpec, affinity);
    struct value copy = value_struct(a, schema_type(STR("core/v1.Affinity")));
    if (is->kind == VALUE_STRUCT)
        memcpy(copy.slots, is->slots, copy.n * sizeof(*copy.slots));
    copy.slots[SLOT_core_v1_Affinity_nodeAffinity] = *GET(was, Affinity, nodeAffinity);
    bool alone = !IS_SET(&copy, Affinity, podAffinity) && !IS_SET(&copy, Affinity, podAntiAffinity);
    bool nothing = was->kind == VALUE_ABSENT && alone;
    spec->slots[SLOT_core_v1_PodSpec_affinity] = nothing ? (struct value){ .kind = VALUE_ABSENT } : copy;
}

static void check_gated(struct arena *a, struct value *spec, const struct value *old, const struct field_path *at,
                        struct field_errors *errs)
{
    const struct type *t = schema_type(STR("core/v1.NodeAffinity"));
    const struct value *new_affinity = GET(GET(spec, PodSpec, affinity), Affinity, nodeAffinity);
    const struct value *old_affinity = GET(GET(old, PodSpec, affinity), Affinity, nodeAffinity);
    check_node_selector(GET(spec, PodSpec, nodeSelector), GET(old, PodSpec, nodeSelector), AT(at, "nodeSelector"), errs);
    spec->slots[SLOT_core_v1_PodSpec_nodeSelector] = *GET(old, PodSpec, nodeSelector);
    bool same = new_affinity->kind == old_affinity->kind && pod_same(t, new_affinity, old_affinity);
    if (same)
        return;
    check_node_affinity(new_affinity, old_affinity, AT(AT(at, "affinity"), "nodeAffinity"), errs);
    mask_node_affinity(a, spec, old);
}

static struct str spec_json(struct arena *a, const struct value *spec)
{
    struct field as = { .type = spec_type(), .kind = KIND_STRUCT };
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    go_form_add(&json, &as, spec);
    return field_take_text(a, &json);
}

static void check_rest(struct arena *a, const struct value *new, const struct value *old, const struct field_path *at,
                       struct field_errors *errs)
{
    static const unsigned checked[] = { SLOT_core_v1_PodSpec_activeDeadlineSeconds, SLOT_core_v1_PodSpec_schedulingGates,
                                        SLOT_core_v1_PodSpec_tolerations };
    struct value spec = value_struct(a, spec_type());
    memcpy(spec.slots, new->slots, spec.n * sizeof(*spec.slots));
    mask_images(a, &spec, old, SLOT_core_v1_PodSpec_containers);
    mask_images(a, &spec, old, SLOT_core_v1_PodSpec_initContainers);
    for (size_t i = 0; i < N_OF(checked); i++)
        spec.slots[checked[i]] = *value_slot(old, checked[i]);
    mask_grace(&spec, old);
    if (pod_count(GET(old, PodSpec, schedulingGates)))
        check_gated(a, &spec, old, at, errs);
    if (pod_same(spec_type(), &spec, old))
        return;
    if (!field_errors_full(errs))
        field_forbidden(errs, at,
                        str_of(rules_diff_text(a, "pod updates may not change fields other than "
                                               "`spec.containers[*].image`,`spec.initContainers[*].image`,"
                                               "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
                                               "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 "
                                               "if it was previously negative)",
                                               spec_json(a, old), spec_json(a, &spec))));
}

static void check_spec_update(const struct rules_context *c, const struct value *new, const struct value *old,
                              struct field_errors *errs)
{
    const struct field_path *at = AT(NULL, "spec");
    if (!check_containers(GET(new, PodSpec, containers), GET(old, PodSpec, containers), AT(at, "containers"), errs) ||
        !check_containers(GET(new, PodSpec, initContainers), GET(old, PodSpec, initContainers), AT(at, "initContainers"),
                          errs) ||
        !check_deadline(GET(new, PodSpec, activeDeadlineSeconds), GET(old, PodSpec, activeDeadlineSeconds),
                        AT(at, "activeDeadlineSeconds"), errs))
        return;
    check_tolerations(GET(new, PodSpec, tolerations), GET(old, PodSpec, tolerations), AT(at, "tolerations"), errs);
    check_gates(GET(new, PodSpec, schedulingGates), GET(old, PodSpec, schedulingGates), AT(at, "schedulingGates"), errs);
    if (new->kind == VALUE_STRUCT && !pod_same(spec_type(), new, old))
        check_rest(c->arena, new, old, at, errs);
}

/* ---- The endpoints ---- */

static struct pod_leniency leniency_of(const struct rules_context *c, const struct value *old)
{
    return pod_leniency(c, GET(old, Pod, spec), GET(old, Pod, metadata));
}

void pod_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                         struct field_errors *errs)
{
    struct pod_leniency lenient = leniency_of(c, old);
    rules_check_meta_update(c, new, old, errs);
    pod_check_pod(c, new, lenient, errs);
    pod_check_annotation_changes(GET(new, Pod, metadata), GET(old, Pod, metadata), GET(new, Pod, spec),
                                 lenient.deletion_cost, AT(AT(NULL, "metadata"), "annotations"), errs);
    check_spec_update(c, GET(new, Pod, spec), GET(old, Pod, spec), errs);
}

static bool is_mirror(const struct value *pod)
{
    return pod_has_entry(META(GET(pod, Pod, metadata), annotations), STR("kubernetes.io/config.mirror"));
}

/* Those that are there stay, and stay what they are. */
static void check_kept(const struct value *new, const struct value *old, struct field_errors *errs)
{
    const struct type *t = schema_type(STR("core/v1.EphemeralContainer"));
    const struct field_path *at = AT(AT(NULL, "spec"), "ephemeralContainers");
    struct map_str by_name;
    map_str_init(&by_name);
    for (uint32_t i = 0; i < pod_count(new); i++)
        map_str_put(&by_name, TEXT(&new->items[i], Container, name), NULL)->num = i;
    for (uint32_t i = 0; i < pod_count(old); i++) {
        struct str name = TEXT(&old->items[i], Container, name);
        const union map_value *found = map_str_find(&by_name, name);
        if (!found || !pod_same(t, &old->items[i], &new->items[found->num]))
            field_forbidden(errs, at,
                            pod_detail(errs, "existing ephemeral containers \"%.*s\" may not be %s\n", STR_ARG(name),
                                       found ? "changed" : "removed"));
    }
    map_str_fini(&by_name);
}

void pod_validate_ephemeral(const struct rules_context *c, const struct value *new, const struct value *old,
                            struct field_errors *errs)
{
    struct pod_leniency lenient = leniency_of(c, old);
    if (is_mirror(old)) {
        field_forbidden(errs, AT_NOTHING, STR("static pods do not support ephemeral containers"));
        return;
    }
    rules_check_meta_update(c, new, old, errs);
    pod_check_pod(c, new, lenient, errs);
    pod_check_annotation_changes(GET(new, Pod, metadata), GET(old, Pod, metadata), GET(new, Pod, spec),
                                 lenient.deletion_cost, AT(AT(NULL, "metadata"), "annotations"), errs);
    check_kept(GET(GET(new, Pod, spec), PodSpec, ephemeralContainers), GET(GET(old, Pod, spec), PodSpec, ephemeralContainers),
               errs);
}
