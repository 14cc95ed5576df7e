/* rules/pod_priv.h - what the files about pods share.
 *
 * Slots are named as the types are: GET(v, Container, name) is the slot `name` of a core/v1 Container, and so are
 * TEXT, NUMBER, FLAG and IS_SET for what is in it. An absent struct has absent slots, so that no reader asks before it
 * looks. Paths are literals on the stack: AT(at, "name").
 *
 * Ephemeral containers have the fields of containers in the same slots; checks take both.
 *
 * Thread: any. Memory: the arena of the errors. */
#pragma once

#include "api/field_error.h"
#include "api/labels.h"
#include "api/names.h"
#include "api/quantity.h"
#include "api/schema_slots.h"
#include "api/validate.h"
#include "base/map.h"
#include "rules/pod.h"

#define GET(v, type, field) value_slot((v), SLOT_core_v1_##type##_##field)
#define TEXT(v, type, field) value_text(GET(v, type, field))
#define NUMBER(v, type, field) pod_number(GET(v, type, field))
#define FLAG(v, type, field) pod_flag(GET(v, type, field))
#define IS_SET(v, type, field) (GET(v, type, field)->kind != VALUE_ABSENT)
#define META(v, field) value_slot((v), SLOT_meta_v1_ObjectMeta_##field)

#define AT(parent, name) (&(struct field_path){ (parent), STR(name), 0, FIELD_PATH_MEMBER })
/* As upstream prints a path whose only name is empty: "[]". */
#define AT_NOTHING AT_KEY(NULL, STR(""))
#define AT_NAME(parent, name) (&(struct field_path){ (parent), str_of(name), 0, FIELD_PATH_MEMBER })
#define AT_INDEX(parent, i) (&(struct field_path){ (parent), { NULL, 0 }, (i), FIELD_PATH_INDEX })
#define AT_KEY(parent, key) (&(struct field_path){ (parent), (key), 0, FIELD_PATH_KEY })

/* For checks that take either of two types. */
#define SAME_SLOT(one, other, field) ((int)SLOT_core_v1_##one##_##field == (int)SLOT_core_v1_##other##_##field)

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

_Static_assert(SAME_SLOT(Container, EphemeralContainer, name) && SAME_SLOT(Container, EphemeralContainer, tty),
               "checks of containers take ephemeral ones, too");

static inline int64_t pod_number(const struct value *v)
{
    return v->kind == VALUE_INT ? v->i : 0;
}
static inline bool pod_flag(const struct value *v)
{
    return v->kind == VALUE_BOOL && v->b;
}
static inline uint32_t pod_count(const struct value *v)
{
    return v->kind == VALUE_LIST || v->kind == VALUE_MAP ? v->n : 0;
}
/* Of a map of texts or amounts; an empty text without a value when it is not there. */
static inline struct str pod_entry(const struct value *map, const char *key)
{
    const struct value *v = map->kind == VALUE_MAP ? value_member(map, str_of(key)) : NULL;
    return v ? value_text(v) : (struct str){ NULL, 0 };
}
static inline bool pod_has_entry(const struct value *map, struct str key)
{
    return map->kind == VALUE_MAP && value_member(map, key) != NULL;
}
/* True for the first time that a text comes. */
static inline bool pod_add_new(struct map_str *set, struct str text)
{
    bool is_new;
    map_str_put(set, text, &is_new);
    return is_new;
}

/* What an object that is stored already may keep, although a new one must not have it. */
struct pod_leniency {
    bool deletion_cost, indivisible_huge_pages, affinity_labels, node_affinity_labels, spread_selectors,
        spread_match_keys, token_paths, host_sysctls, init_restarts, user_namespace_devices, user_namespace_network,
        any_label_policy;
};

/* A pod spec on its way through the checks. */
struct pod_check {
    const struct rules_context *c;
    struct field_errors *errs;
    struct arena *arena;
    const struct value *spec;
    const struct value *meta; /* of a pod; NULL: the spec is a template's */
    struct pod_leniency lenient;
    bool host_users;
    struct map_str volumes; /* by name, those without a fault: struct value */
    struct map_str claims;  /* names in spec.resourceClaims */
    struct str claims_text; /* those, sorted and with commas between; made when needed */
};

/* Calls for every container: init containers, containers, ephemeral ones. */
typedef void pod_visit(void *with, const struct value *container, const struct field_path *at);
void pod_visit_containers(const struct value *spec, const struct field_path *at, pod_visit *visit, void *with);

/* ---- Small checks (pod_text.c) ---- */

/* `path`.`name` is required when the text is empty; true when there is one. */
bool pod_require(struct str text, const struct field_path *at, const char *name, struct field_errors *errs);
/* Each text that is wrong is one error with the value. */
void pod_check_name(struct name_errors found, struct str value, const struct field_path *at, struct field_errors *errs);
/* One of a list that ends with NULL; the Go type of the value is no plain string. True when it is. */
bool pod_check_one_of(struct str value, const char *const *supported, const struct field_path *at,
                      struct field_errors *errs);
/* The same for a field without which nothing works: nothing in it is an error of its own. */
void pod_check_choice(struct str value, const char *const *supported, const struct field_path *at,
                      struct field_errors *errs);
void pod_check_range(int64_t value, int64_t min, int64_t max, const struct field_path *at, struct field_errors *errs);
void pod_check_file_mode(const struct value *mode, const struct field_path *at, struct field_errors *errs);
/* No ".." in it; and no "/" before it; and no ".." as its beginning. */
bool pod_has_backstep(struct str path);
void pod_check_no_backsteps(struct str path, const struct field_path *at, struct field_errors *errs);
void pod_check_descending_path(struct str path, const struct field_path *at, struct field_errors *errs);
void pod_check_local_path(struct str path, const struct field_path *at, struct field_errors *errs);
struct str pod_trim_space(struct str text);
/* Structs of a type; one that is not there is one with nothing in it. */
bool pod_same(const struct type *t, const struct value *a, const struct value *b);
struct labels pod_labels(struct arena *a, const struct value *map);
struct strs pod_strs(struct arena *a, const struct value *list);
/* A detail with texts in it, or none when nobody will read it. */
struct str pod_detail(struct field_errors *errs, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- How errors show values of internal types (pod_shown.c) ---- */

/* A struct, or a list of them, with the names of Go's fields. */
struct field_value pod_shown(struct arena *a, const struct type *t, const struct value *v);
struct field_value pod_shown_map(struct arena *a, const struct value *map);

/* ---- Parts of a spec, in the file of their name ---- */

void pod_check_volumes(struct pod_check *k, const struct field_path *at);
void pod_check_projected(struct pod_check *k, const struct value *source, const struct field_path *at);
void pod_check_key_paths(const struct value *items, const struct field_path *at, struct field_errors *errs);
void pod_check_downward_file(struct field_errors *errs, const struct value *file, const struct field_path *at);

void pod_check_containers(struct pod_check *k, const struct field_path *at);
void pod_check_init_containers(struct pod_check *k, const struct field_path *at);
void pod_check_ephemeral_containers(struct pod_check *k, const struct field_path *at);
/* Of pods alone: spaces around images. */
void pod_check_images(const struct value *containers, const struct field_path *at, struct field_errors *errs);

void pod_check_env(const struct value *env, const struct field_path *at, struct field_errors *errs);
void pod_check_env_from(const struct value *env_from, const struct field_path *at, struct field_errors *errs);
void pod_check_file_keys(struct pod_check *k, const struct field_path *at);
void pod_check_field_ref(const struct value *selector, const char *const *supported, const struct field_path *at,
                         struct field_errors *errs);
void pod_check_resource_ref(const struct value *selector, bool volume, const struct field_path *at,
                            struct field_errors *errs);

void pod_check_mounts(struct pod_check *k, const struct value *container, const struct field_path *at);
void pod_check_devices(struct pod_check *k, const struct value *container, const struct field_path *at);

void pod_check_probes(struct pod_check *k, const struct value *container, const struct field_path *at);
void pod_check_lifecycle(struct pod_check *k, const struct value *lifecycle, const struct field_path *at);

void pod_check_requirements(struct pod_check *k, const struct value *requirements, const struct field_path *at);
void pod_check_whole_resources(struct pod_check *k, const struct field_path *at);
/* Overhead is checked as limits of a container. */
void pod_check_overhead(struct pod_check *k, const struct field_path *at);
void pod_check_resource_claims(struct pod_check *k, const struct field_path *at);
bool pod_is_huge_page(struct str resource);
bool pod_uses_indivisible_pages(const struct value *amounts);
struct quantity pod_amount(struct arena *a, struct str text);

void pod_check_security(struct pod_check *k, const struct field_path *at);
void pod_check_container_security(struct pod_check *k, const struct value *context, const struct field_path *at);
void pod_check_host_processes(struct pod_check *k, const struct field_path *at);
void pod_check_host_users(struct pod_check *k, const struct field_path *at);
void pod_check_os(struct pod_check *k, const struct field_path *at);
void pod_check_app_armor(const struct value *profile, const struct field_path *at, struct field_errors *errs);
bool pod_has_host_sysctls(const struct value *spec);

void pod_check_affinity(struct pod_check *k, const struct field_path *at);
void pod_check_spread(struct pod_check *k, const struct field_path *at);
void pod_check_match_keys(const struct value *match, const struct value *mismatch, const struct value *selector,
                          const struct field_path *at, struct field_errors *errs);

/* `meta` holds annotations; `at` is their path. */
void pod_check_annotations(const struct value *meta, const struct value *spec, bool lenient_cost,
                           const struct field_path *at, struct field_errors *errs);
void pod_check_annotation_changes(const struct value *meta, const struct value *old_meta, const struct value *spec,
                                  bool lenient_cost, const struct field_path *at, struct field_errors *errs);
/* Fields against annotations that say the same; `at` is the path of the spec. */
void pod_check_profiles(const struct value *meta, const struct value *spec, const struct field_path *at,
                        struct field_errors *errs);
bool pod_cost_is_valid(const struct value *annotations);
/* The AppArmorProfile that an annotation stands for; absent when it is none. */
struct value pod_profile_of_annotation(struct arena *a, struct str annotation);

/* ---- Whole specs (pod_spec.c, pod_leniency.c) ---- */

struct pod_leniency pod_leniency(const struct rules_context *c, const struct value *old_spec,
                                 const struct value *old_meta);
/* ValidatePodSpec: everything but what only pods or only templates have. */
void pod_check_spec(const struct rules_context *c, const struct value *spec, const struct value *meta,
                    struct pod_leniency lenient, const struct field_path *at, struct field_errors *errs);
/* metadata and spec of a pod, new or changed. */
void pod_check_pod(const struct rules_context *c, const struct value *pod, struct pod_leniency lenient,
                   struct field_errors *errs);

/* ---- Prepare (pod_prepare.c) ---- */

/* A spec without the fields that gates turn off. */
struct value pod_drop_disabled(struct arena *a, const struct value *spec);
/* A map of amounts above zero decides: "Guaranteed", "Burstable", "BestEffort". */
const char *pod_qos_class(struct arena *a, const struct value *spec);

/* ---- The endpoints of pods ---- */

rules_prepare_create pod_prepare_create;
rules_prepare_update pod_prepare_update, pod_prepare_status, pod_prepare_ephemeral, pod_prepare_resize;
rules_validate_create pod_validate_create;
rules_validate_update pod_validate_update, pod_validate_status, pod_validate_ephemeral, pod_validate_resize;
rules_warn pod_warn, pod_warn_status;
