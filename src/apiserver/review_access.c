/* apiserver/review_access.c - see review_access.h. Upstream: apis/authorization/validation, registry/authorization/util. */
#include "apiserver/review_access.h"

#include "api/label_selector.h"
#include "api/schema_slots.h"
#include "api/selector_parse.h"
#include "apiserver/identity.h"
#include "apiserver/rbac_rule.h"
#include "codec/json.h"

/* Field and label selectors look alike. */
_Static_assert((int)SLOT_authorization_v1_FieldSelectorAttributes_rawSelector ==
               (int)SLOT_authorization_v1_LabelSelectorAttributes_rawSelector, "selectors are read alike");
_Static_assert((int)SLOT_authorization_v1_FieldSelectorAttributes_requirements ==
               (int)SLOT_authorization_v1_LabelSelectorAttributes_requirements, "selectors are read alike");
_Static_assert((int)SLOT_meta_v1_FieldSelectorRequirement_key == (int)SLOT_meta_v1_LabelSelectorRequirement_key &&
               (int)SLOT_meta_v1_FieldSelectorRequirement_operator == (int)SLOT_meta_v1_LabelSelectorRequirement_operator &&
               (int)SLOT_meta_v1_FieldSelectorRequirement_values == (int)SLOT_meta_v1_LabelSelectorRequirement_values,
               "requirements are read alike");

enum { RAW_SELECTOR_BYTES_MAX = 64 << 10 };

static struct match_expression read_requirement(struct arena *a, const struct value *v)
{
    struct str_list values = str_list_of_value(a, value_slot(v, SLOT_meta_v1_FieldSelectorRequirement_values));
    return (struct match_expression){ value_text(value_slot(v, SLOT_meta_v1_FieldSelectorRequirement_key)),
                                      value_text(value_slot(v, SLOT_meta_v1_FieldSelectorRequirement_operator)),
                                      { values.at, values.n } };
}

static struct str raw_of(const struct value *selector)
{
    return value_text(value_slot(selector, SLOT_authorization_v1_FieldSelectorAttributes_rawSelector));
}

static uint32_t n_requirements(const struct value *selector)
{
    const struct value *list = value_slot(selector, SLOT_authorization_v1_FieldSelectorAttributes_requirements);
    return list->kind == VALUE_LIST ? list->n : 0;
}

static struct match_expression requirement(struct arena *a, const struct value *selector, uint32_t i)
{
    const struct value *list = value_slot(selector, SLOT_authorization_v1_FieldSelectorAttributes_requirements);
    return read_requirement(a, &list->items[i]);
}

/* ---- Checks ---- */

static bool is_set(struct str op)
{
    return str_is(op, "In") || str_is(op, "NotIn");
}

static bool is_existence(struct str op)
{
    return str_is(op, "Exists") || str_is(op, "DoesNotExist");
}

static void check_field_requirement(const struct match_expression *x, const struct field_path *at,
                                    struct field_errors *errs)
{
    struct field_path key = field_child(at, "key"), values = field_child(at, "values");
    if (x->key.n == 0)
        field_required(errs, &key, STR("must be specified"));
    if (is_set(x->op) && x->values.n == 0)
        field_required(errs, &values, STR("must be specified when `operator` is 'In' or 'NotIn'"));
    if (is_existence(x->op) && x->values.n)
        field_forbidden(errs, &values, STR("may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
}

static void check_selector(const struct value *selector, bool labels, const struct field_path *at,
                           struct field_errors *errs)
{
    struct field_path raw = field_child(at, "rawSelector"), list = field_child(at, "requirements");
    uint32_t n = n_requirements(selector);
    if (selector->kind != VALUE_STRUCT)
        return;
    if (raw_of(selector).n && n)
        field_invalid(errs, &raw, field_str(raw_of(selector)), STR("may not specified at the same time as requirements"));
    if (!raw_of(selector).n && !n)
        field_required(errs, &list,
                       str_of(arena_printf(errs->arena,
                                           "when spec.resourceAttributes.%.*s is specified, requirements or rawSelector is "
                                           "required", STR_ARG(at->text))));
    for (uint32_t i = 0; i < n && !field_errors_full(errs); i++) {
        struct match_expression x = requirement(errs->arena, selector, i);
        struct field_path path = field_index(&list, i);
        if (labels)
            match_expression_validate(&x, (struct label_selector_rules){ .allow_unknown_operators = true }, &path, errs);
        else
            check_field_requirement(&x, &path, errs);
    }
}

/* As upstream prints its own form of it. */
struct field_value access_shown_path(struct arena *a, const struct value *v)
{
    struct strbuf json;
    if (v->kind != VALUE_STRUCT)
        return field_json(STR("null"));
    strbuf_init(&json, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&json, "{\"Path\":");
    field_add_json_string(&json, value_text(value_slot(v, SLOT_authorization_v1_NonResourceAttributes_path)));
    STRBUF_ADD_LIT(&json, ",\"Verb\":");
    field_add_json_string(&json, value_text(value_slot(v, SLOT_authorization_v1_NonResourceAttributes_verb)));
    strbuf_add_char(&json, '}');
    return field_json(field_take_text(a, &json));
}

void access_check_spec(const struct type *t, const struct value *spec, bool self, struct field_errors *errs)
{
    const struct value *resource = value_path(t, spec, "resourceAttributes");
    const struct value *path = value_path(t, spec, "nonResourceAttributes");
    struct field_path at = field_child(NULL, "spec"), user = field_child(&at, "user");
    struct field_path at_resource = field_child(&at, "resourceAttributes");
    struct field_path at_path = field_child(&at, "nonResourceAttributes");
    struct field_path fields = field_child(&at_resource, "fieldSelector");
    struct field_path labels = field_child(&at_resource, "labelSelector");
    bool has_resource = resource->kind == VALUE_STRUCT, has_path = path->kind == VALUE_STRUCT;
    if (has_resource && has_path)
        field_invalid(errs, &at_path, access_shown_path(errs->arena, path),
                      STR("cannot be specified in combination with resourceAttributes"));
    if (!has_resource && !has_path)
        field_invalid(errs, &at_resource, field_json(STR("null")),
                      STR("exactly one of nonResourceAttributes or resourceAttributes must be specified"));
    if (!self && value_text(value_path(t, spec, "user")).n == 0 && value_path(t, spec, "groups")->n == 0)
        field_invalid(errs, &user, field_str(STR("")), STR("at least one of user or group must be specified"));
    check_selector(value_slot(resource, SLOT_authorization_v1_ResourceAttributes_fieldSelector), false, &fields, errs);
    check_selector(value_slot(resource, SLOT_authorization_v1_ResourceAttributes_labelSelector), true, &labels, errs);
}

/* ---- The question ---- */

struct selector_reading {
    uint32_t n_good, n_bad;
};

static struct selector_reading read_fields(struct arena *a, const struct value *selector, struct field_selector *ret)
{
    struct selector_reading r = { 0 };
    uint32_t n = n_requirements(selector);
    struct field_term *terms = ARENA_NEW_N(a, struct field_term, n);
    struct work work = work_init(RAW_SELECTOR_BYTES_MAX);
    struct err e;
    err_init(&e, a);
    if (raw_of(selector).n && !n) {
        bool good = field_selector_parse(a, &work, raw_of(selector), ret, &e) == ERR_OK;
        return (struct selector_reading){ good, !good };
    }
    for (uint32_t i = 0; i < n; i++) {
        struct match_expression x = requirement(a, selector, i);
        if (is_set(x.op) && x.values.n == 1)
            terms[r.n_good++] = (struct field_term){ x.key, x.values.at[0], str_is(x.op, "NotIn") };
        else
            r.n_bad++;
    }
    *ret = (struct field_selector){ terms, r.n_good };
    return r;
}

/* No mode looks at labels: all that is told is whether they can be read. */
static struct selector_reading read_labels(struct arena *a, const struct value *selector)
{
    struct selector_reading r = { 0 };
    struct selector parsed;
    struct work work = work_init(RAW_SELECTOR_BYTES_MAX);
    struct err e;
    err_init(&e, a);
    if (raw_of(selector).n && !n_requirements(selector)) {
        bool good = selector_parse(a, &work, raw_of(selector), &parsed, &e) == ERR_OK;
        return (struct selector_reading){ good, !good };
    }
    for (uint32_t i = 0; i < n_requirements(selector); i++) {
        struct match_expression x = requirement(a, selector, i);
        bool good = is_set(x.op) || is_existence(x.op);
        r.n_good += good;
        r.n_bad += !good;
    }
    return r;
}

static void tell(struct arena *a, struct access_question *q, const char *field, struct selector_reading r)
{
    if (r.n_bad == 0)
        return;
    const char *text = arena_printf(a, "%.*s%sspec.resourceAttributes.%s %signored due to parse error",
                                    STR_ARG(q->evaluation_error), q->evaluation_error.n ? "; " : "", field,
                                    r.n_good ? "partially " : "");
    q->evaluation_error = str_of(text);
}

static struct authz_attributes read_resource(const struct value *r, const struct user *u)
{
    return (struct authz_attributes){
        .user = u,
        .is_resource = true,
        .verb = value_text(value_slot(r, SLOT_authorization_v1_ResourceAttributes_verb)),
        .group = value_text(value_slot(r, SLOT_authorization_v1_ResourceAttributes_group)),
        .version = value_text(value_slot(r, SLOT_authorization_v1_ResourceAttributes_version)),
        .resource = value_text(value_slot(r, SLOT_authorization_v1_ResourceAttributes_resource)),
        .subresource = value_text(value_slot(r, SLOT_authorization_v1_ResourceAttributes_subresource)),
        .namespace = value_text(value_slot(r, SLOT_authorization_v1_ResourceAttributes_namespace)),
        .name = value_text(value_slot(r, SLOT_authorization_v1_ResourceAttributes_name)),
    };
}

void access_read(struct arena *a, const struct type *t, const struct value *spec, const struct user *u,
                 struct access_question *ret_question)
{
    const struct value *resource = value_path(t, spec, "resourceAttributes");
    const struct value *path = value_path(t, spec, "nonResourceAttributes");
    struct access_question q = { .evaluation_error = STR("") };
    if (resource->kind == VALUE_STRUCT) {
        const struct value *fields = value_slot(resource, SLOT_authorization_v1_ResourceAttributes_fieldSelector);
        const struct value *labels = value_slot(resource, SLOT_authorization_v1_ResourceAttributes_labelSelector);
        q.attributes = read_resource(resource, u);
        tell(a, &q, "fieldSelector", read_fields(a, fields, &q.fields));
        tell(a, &q, "labelSelector", read_labels(a, labels));
    } else {
        q.attributes = (struct authz_attributes){
            .user = u,
            .verb = value_text(value_slot(path, SLOT_authorization_v1_NonResourceAttributes_verb)),
            .path = value_text(value_slot(path, SLOT_authorization_v1_NonResourceAttributes_path)),
        };
    }
    *ret_question = q;
    ret_question->attributes.fields = &ret_question->fields;
}

struct user access_read_user(struct arena *a, const struct value *spec)
{
    const struct value *extra = value_slot(spec, SLOT_authorization_v1_SubjectAccessReviewSpec_extra);
    struct user u = {
        .name = value_text(value_slot(spec, SLOT_authorization_v1_SubjectAccessReviewSpec_user)),
        .uid = value_text(value_slot(spec, SLOT_authorization_v1_SubjectAccessReviewSpec_uid)),
        .groups = str_list_of_value(a, value_slot(spec, SLOT_authorization_v1_SubjectAccessReviewSpec_groups)),
    };
    if (extra->kind != VALUE_MAP)
        return u;
    struct user_extra *at = ARENA_NEW_N(a, struct user_extra, extra->n);
    for (uint32_t i = 0; i < extra->n; i++)
        at[i] = (struct user_extra){ extra->members[i].key, str_list_of_value(a, &extra->members[i].value) };
    u.extra = at;
    u.n_extra = extra->n;
    user_sort_extra(at, u.n_extra);
    return u;
}
