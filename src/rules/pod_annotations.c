/* rules/pod_annotations.c - see pod_priv.h: annotations that mean something to pods, most of them older than the fields
 * that say the same. */
#include "codec/json.h"
#include "rules/pod_priv.h"

#define MIRROR "kubernetes.io/config.mirror"
#define TOLERATIONS "scheduler.alpha.kubernetes.io/tolerations"
#define DELETION_COST "controller.kubernetes.io/pod-deletion-cost"
#define SECCOMP_POD "seccomp.security.alpha.kubernetes.io/pod"
#define SECCOMP_CONTAINER "container.seccomp.security.alpha.kubernetes.io/"
#define APP_ARMOR "container.apparmor.security.beta.kubernetes.io/"

/* ---- Single ones ---- */

/* A number of 32 bits, written without a plus and without zeros before it. */
bool pod_cost_is_valid(const struct value *annotations)
{
    struct str cost = pod_entry(annotations, DELETION_COST);
    if (!pod_has_entry(annotations, STR(DELETION_COST)))
        return true;
    int64_t number;
    char first = cost.n ? cost.p[0] : 0;
    bool begins_well = first == '-' || str_is(cost, "0") || (first >= '1' && first <= '9');
    return begins_well && labels_parse_int(cost, &number) && number >= INT32_MIN && number <= INT32_MAX;
}

static void check_tolerations(struct str text, const struct field_path *at, struct field_errors *errs)
{
    const struct type *spec = schema_type(STR("core/v1.PodSpec"));
    struct err e;
    struct value holder;
    err_init(&e, errs->arena);
    /* Decoded as the field that it once was to become. */
    struct str json = str_of(arena_printf(errs->arena, "{\"tolerations\":%.*s}", STR_ARG(text)));
    if (json_decode(errs->arena, WORK_OWN, spec, json, NULL, &holder, &e))
        field_invalid(errs, at, field_str(STR(TOLERATIONS)), str_of(e.message));
    else
        rules_check_tolerations(GET(&holder, PodSpec, tolerations), AT(at, TOLERATIONS), errs);
}

static void check_seccomp_text(struct str profile, const struct field_path *at, struct field_errors *errs)
{
    static const char *const known[] = { "runtime/default", "docker/default", "unconfined" };
    for (size_t i = 0; i < N_OF(known); i++)
        if (str_is(profile, known[i]))
            return;
    if (str_starts(profile, STR("localhost/")))
        pod_check_descending_path(str_from(profile, sizeof("localhost/") - 1), at, errs);
    else
        field_invalid(errs, at, field_str(profile), STR("must be a valid seccomp profile"));
}

static void check_seccomp(const struct value *annotations, const struct field_path *at, struct field_errors *errs)
{
    if (pod_has_entry(annotations, STR(SECCOMP_POD)))
        check_seccomp_text(pod_entry(annotations, SECCOMP_POD), AT(at, SECCOMP_POD), errs);
    for (uint32_t i = 0; i < pod_count(annotations); i++) {
        struct str key = annotations->members[i].key;
        if (str_starts(key, STR(SECCOMP_CONTAINER)))
            check_seccomp_text(value_text(&annotations->members[i].value),
                               &(struct field_path){ at, key, 0, FIELD_PATH_MEMBER }, errs);
    }
}

static void add_name(void *with, const struct value *container, const struct field_path *at)
{
    (void)at;
    pod_add_new(with, TEXT(container, Container, name));
}

static void check_app_armor_text(struct str profile, const struct field_path *at, struct field_errors *errs)
{
    if (!profile.n || str_is(profile, "runtime/default") || str_is(profile, "unconfined") ||
        str_starts(profile, STR("localhost/")))
        return;
    struct strbuf detail;
    strbuf_init(&detail, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&detail, "invalid AppArmor profile name: ");
    strbuf_add_quoted_shown(&detail, profile);
    field_invalid(errs, at, field_str(profile), field_take_text(errs->arena, &detail));
}

static void check_app_armor(const struct value *annotations, const struct value *spec, const struct field_path *at,
                            struct field_errors *errs)
{
    struct map_str names;
    map_str_init(&names);
    pod_visit_containers(spec, NULL, add_name, &names);
    for (uint32_t i = 0; i < pod_count(annotations); i++) {
        struct str key = annotations->members[i].key;
        if (!str_starts(key, STR(APP_ARMOR)))
            continue;
        struct str container = str_from(key, sizeof(APP_ARMOR) - 1);
        if (!map_str_find(&names, container))
            field_invalid(errs, AT_KEY(at, key), field_str(container), STR("container not found"));
        check_app_armor_text(value_text(&annotations->members[i].value), AT_KEY(at, key), errs);
    }
    map_str_fini(&names);
}

void pod_check_annotations(const struct value *meta, const struct value *spec, bool lenient_cost,
                           const struct field_path *at, struct field_errors *errs)
{
    const struct value *annotations = META(meta, annotations);
    struct str mirror = pod_entry(annotations, MIRROR), tolerations = pod_entry(annotations, TOLERATIONS);
    if (pod_has_entry(annotations, STR(MIRROR)) && !TEXT(spec, PodSpec, nodeName).n)
        field_invalid(errs, AT_KEY(at, STR(MIRROR)), field_str(mirror),
                      STR("must set spec.nodeName if mirror pod annotation is set"));
    if (tolerations.n)
        check_tolerations(tolerations, at, errs);
    if (!lenient_cost && !pod_cost_is_valid(annotations))
        field_invalid(errs, AT_KEY(at, STR(DELETION_COST)), field_str(pod_entry(annotations, DELETION_COST)),
                      STR("must be a 32bit integer"));
    check_seccomp(annotations, at, errs);
    check_app_armor(annotations, spec, at, errs);
}

/* ---- Changes ---- */

static bool is_same(const struct value *annotations, const struct member *m)
{
    const struct value *other = annotations->kind == VALUE_MAP ? value_member(annotations, m->key) : NULL;
    return other && value_equal(other, &m->value);
}

static void check_fixed(struct str key, const char *app_armor, const char *mirror, const struct field_path *at,
                        struct field_errors *errs)
{
    if (str_starts(key, STR(APP_ARMOR)))
        field_forbidden(errs, AT_KEY(at, key), str_of(app_armor));
    if (str_is(key, MIRROR))
        field_forbidden(errs, AT_KEY(at, key), str_of(mirror));
}

void pod_check_annotation_changes(const struct value *meta, const struct value *old_meta, const struct value *spec,
                                  bool lenient_cost, const struct field_path *at, struct field_errors *errs)
{
    const struct value *new = META(meta, annotations), *old = META(old_meta, annotations);
    for (uint32_t i = 0; i < pod_count(old); i++)
        if (!is_same(new, &old->members[i]))
            check_fixed(old->members[i].key, "may not remove or update AppArmor annotations",
                        "may not remove or update mirror pod annotation", at, errs);
    for (uint32_t i = 0; i < pod_count(new); i++)
        if (!pod_has_entry(old, new->members[i].key))
            check_fixed(new->members[i].key, "may not add AppArmor annotations", "may not add mirror pod annotation", at,
                        errs);
    pod_check_annotations(meta, spec, lenient_cost, at, errs);
}

/* ---- Fields and annotations that say the same ---- */

/* What an annotation and a profile (seccomp's or AppArmor's: both have type and file in the same places) disagree in. */
static void check_match(struct str annotation, const struct value *profile, const char *what, const struct field_path *at,
                        struct field_errors *errs)
{
    _Static_assert(SAME_SLOT(SeccompProfile, AppArmorProfile, type) &&
                       SAME_SLOT(SeccompProfile, AppArmorProfile, localhostProfile),
                   "one check for both");
    struct str type = TEXT(profile, SeccompProfile, type), file = TEXT(profile, SeccompProfile, localhostProfile);
    bool local = str_starts(annotation, STR("localhost/")), has_file = IS_SET(profile, SeccompProfile, localhostProfile);
    bool seccomp = strcmp(what, "seccomp") == 0;
    bool wrong_type =
        (str_is(type, "Unconfined") && !str_is(annotation, "unconfined")) || (str_is(type, "Localhost") && !local) ||
        (str_is(type, "RuntimeDefault") && !str_is(annotation, "runtime/default") &&
         !(seccomp && str_is(annotation, "docker/default")));
    if (wrong_type)
        field_forbidden(errs, AT(at, "type"), pod_detail(errs, "%s type in annotation and field must match", what));
    else if (str_is(type, "Localhost") &&
             (!has_file || !str_eq(str_from(annotation, sizeof("localhost/") - 1), file)))
        field_forbidden(errs, AT(at, "localhostProfile"),
                        pod_detail(errs, "%s profile in annotation and field must match", what));
}

struct profiles {
    const struct value *annotations, *of_pod; /* of_pod: AppArmor's */
    struct field_errors *errs;
};

static const struct value *annotation_of(const struct profiles *p, const char *prefix, const struct value *container)
{
    struct str name = TEXT(container, Container, name);
    struct str key = str_of(arena_printf(p->errs->arena, "%s%.*s", prefix, STR_ARG(name)));
    return p->annotations->kind == VALUE_MAP ? value_member(p->annotations, key) : NULL;
}

static void check_container_seccomp(void *with, const struct value *container, const struct field_path *at)
{
    struct profiles *p = with;
    const struct value *field = GET(GET(container, Container, securityContext), SecurityContext, seccompProfile);
    const struct value *annotation = annotation_of(p, SECCOMP_CONTAINER, container);
    if (field->kind != VALUE_ABSENT && annotation)
        check_match(value_text(annotation), field, "seccomp", AT(AT(at, "securityContext"), "seccompProfile"), p->errs);
}

static void check_container_app_armor(void *with, const struct value *container, const struct field_path *at)
{
    struct profiles *p = with;
    const struct value *own = GET(GET(container, Container, securityContext), SecurityContext, appArmorProfile);
    const struct value *field = own->kind != VALUE_ABSENT ? own : p->of_pod;
    const struct value *annotation = annotation_of(p, APP_ARMOR, container);
    if (field->kind != VALUE_ABSENT && annotation)
        check_match(value_text(annotation), field, "apparmor", AT(AT(at, "securityContext"), "appArmorProfile"), p->errs);
}

void pod_check_profiles(const struct value *meta, const struct value *spec, const struct field_path *at,
                        struct field_errors *errs)
{
    const struct value *context = GET(spec, PodSpec, securityContext);
    const struct value *seccomp = GET(context, PodSecurityContext, seccompProfile);
    struct profiles p = { META(meta, annotations), GET(context, PodSecurityContext, appArmorProfile), errs };
    if (seccomp->kind != VALUE_ABSENT && pod_has_entry(p.annotations, STR(SECCOMP_POD)))
        check_match(pod_entry(p.annotations, SECCOMP_POD), seccomp, "seccomp",
                    AT(AT(at, "securityContext"), "seccompProfile"), errs);
    pod_visit_containers(spec, at, check_container_seccomp, &p);
    if (!str_is(TEXT(GET(spec, PodSpec, os), PodOS, name), "windows"))
        pod_visit_containers(spec, at, check_container_app_armor, &p);
}

struct value pod_profile_of_annotation(struct arena *a, struct str annotation)
{
    const struct type *t = schema_type(STR("core/v1.AppArmorProfile"));
    struct value profile = value_struct(a, t);
    struct value *type = &profile.slots[SLOT_core_v1_AppArmorProfile_type];
    if (str_is(annotation, "unconfined")) {
        *type = value_string(STR("Unconfined"));
    } else if (str_is(annotation, "runtime/default")) {
        *type = value_string(STR("RuntimeDefault"));
    } else if (str_starts(annotation, STR("localhost/")) && annotation.n > sizeof("localhost/") - 1) {
        *type = value_string(STR("Localhost"));
        profile.slots[SLOT_core_v1_AppArmorProfile_localhostProfile] =
            value_string(str_from(annotation, sizeof("localhost/") - 1));
    } else {
        return (struct value){ .kind = VALUE_ABSENT };
    }
    return profile;
}
