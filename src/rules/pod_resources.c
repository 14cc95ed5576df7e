/* rules/pod_resources.c - see pod_priv.h: what containers and whole pods ask for and may use at most. */
#include "api/pod_sums.h"
#include "base/sort.h"
#include "rules/pod_priv.h"

struct quantity pod_amount(struct arena *a, struct str text)
{
    struct err ignored;
    struct quantity q = { 0 };
    err_init(&ignored, a);
    return quantity_parse(a, text, &q, &ignored) ? (struct quantity){ 0 } : q;
}

/* ---- Names of resources ---- */

bool pod_is_huge_page(struct str resource)
{
    return str_starts(resource, STR("hugepages-"));
}

static bool is_listed(struct str resource, const char *const *list)
{
    for (; *list; list++)
        if (str_is(resource, *list))
            return true;
    return false;
}

static bool is_standard(struct str resource)
{
    static const char *const standard[] = {
        "cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.ephemeral-storage",
        "limits.cpu", "limits.memory", "limits.ephemeral-storage", "pods", "resourcequotas", "services",
        "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims", "storage", "requests.storage",
        "services.nodeports", "services.loadbalancers", NULL,
    };
    return is_listed(resource, standard) || pod_is_huge_page(resource) ||
           str_starts(resource, STR("requests.hugepages-"));
}

/* Of a container, without a slash. */
static bool is_for_containers(struct str resource)
{
    static const char *const standard[] = { "cpu", "memory", "ephemeral-storage", NULL };
    return is_listed(resource, standard) || pod_is_huge_page(resource);
}

static bool has_text(struct str text, struct str part)
{
    return part.n <= text.n && memmem(text.p, text.n, part.p, part.n) != NULL;
}

static bool is_prefixed(struct str resource)
{
    return str_index(resource, '/') < resource.n;
}

/* Of ours: without a domain, or in one of kubernetes.io. */
static bool is_native(struct str resource)
{
    return !is_prefixed(resource) || has_text(resource, STR("kubernetes.io/"));
}

/* It must still be a name as a quota has it, with "requests." before it. */
static bool is_extended(struct arena *a, struct str resource)
{
    if (is_native(resource) || str_starts(resource, STR("requests.")))
        return false;
    return name_label_key(str_of(arena_printf(a, "requests.%.*s", STR_ARG(resource)))).n == 0;
}

static bool is_whole(struct arena *a, struct str resource)
{
    static const char *const counted[] = { "pods", "resourcequotas", "services", "replicationcontrollers", "secrets",
                                           "configmaps", "persistentvolumeclaims", "services.nodeports",
                                           "services.loadbalancers", NULL };
    return is_listed(resource, counted) || is_extended(a, resource);
}

static bool may_overcommit(struct str resource)
{
    return is_native(resource) && !pod_is_huge_page(resource);
}

/* True when it is a name at all. */
static bool check_resource_name(struct str resource, const struct field_path *at, struct field_errors *errs)
{
    struct name_errors found = name_label_key(resource);
    validate_name_errors(found, field_enum(resource), at, errs);
    if (found.n)
        return false;
    if (!is_prefixed(resource) && !is_standard(resource)) {
        field_invalid(errs, at, field_enum(resource), STR("must be a standard resource type or fully qualified"));
        return false;
    }
    return true;
}

static void check_container_name(struct str resource, const struct field_path *at, struct field_errors *errs)
{
    check_resource_name(resource, at, errs);
    if (!is_prefixed(resource) && !is_for_containers(resource))
        field_invalid(errs, at, field_enum(resource), STR("must be a standard resource for containers"));
    else if (is_prefixed(resource) && !is_native(resource) && !is_extended(errs->arena, resource))
        field_invalid(errs, at, field_enum(resource), STR("doesn't follow extended resource name standard"));
}

static void check_whole_name(struct str resource, const struct field_path *at, struct field_errors *errs)
{
    static const char *const supported[] = { "cpu", "hugepages-", "memory" };
    if (!check_resource_name(resource, at, errs))
        return;
    if (!str_is(resource, "cpu") && !str_is(resource, "memory") && !pod_is_huge_page(resource))
        field_not_supported(errs, at, field_enum(resource), supported, N_OF(supported));
}

/* ---- Amounts ---- */

static void check_amount(struct str resource, struct str text, const struct field_path *at, struct field_errors *errs)
{
    struct quantity amount = pod_amount(errs->arena, text);
    if (quantity_sign(&amount) < 0)
        field_invalid(errs, at, field_str(text), STR("must be greater than or equal to 0"));
    if (is_whole(errs->arena, resource) && !quantity_passes_as_whole(&amount))
        field_invalid(errs, at, field_enum(text), STR("must be an integer"));
}

/* An amount of huge pages is a number of pages. */
static bool is_divisible(struct arena *a, struct str resource, struct str text)
{
    struct err ignored;
    struct quantity page, amount = pod_amount(a, text);
    err_init(&ignored, a);
    if (quantity_parse(a, str_from(resource, sizeof("hugepages-") - 1), &page, &ignored))
        return false;
    if (quantity_sign(&page) <= 0 || quantity_milli(&page) % 1000 != 0)
        return false;
    return quantity_value(&amount) % quantity_value(&page) == 0;
}

bool pod_uses_indivisible_pages(const struct value *amounts)
{
    struct arena scratch;
    bool found = false;
    arena_init_small(&scratch);
    for (uint32_t i = 0; i < pod_count(amounts); i++)
        found |= pod_is_huge_page(amounts->members[i].key) &&
                 !is_divisible(&scratch, amounts->members[i].key, value_text(&amounts->members[i].value));
    arena_fini(&scratch);
    return found;
}

static void check_pages(struct str resource, struct str text, bool lenient, const struct field_path *at,
                        struct field_errors *errs)
{
    if (pod_is_huge_page(resource) && !lenient && !is_divisible(errs->arena, resource, text))
        field_invalid(errs, at, field_str(text),
                      pod_detail(errs, "%.*s is not positive integer multiple of %.*s", STR_ARG(text), STR_ARG(resource)));
}

typedef void check_name(struct str resource, const struct field_path *at, struct field_errors *errs);

/* limits and requests of somebody; what is seen on the way. */
struct requirements {
    const struct value *limits, *requests;
    check_name *name;
    bool lenient_pages;
    bool has_pages, has_compute;
    const struct field_path *at;
    struct field_errors *errs;
};

static void note_resource(struct requirements *r, struct str resource)
{
    r->has_pages |= pod_is_huge_page(resource);
    r->has_compute |= str_is(resource, "cpu") || str_is(resource, "memory");
}

static void check_limits(struct requirements *r)
{
    const struct field_path *limits = AT(r->at, "limits");
    for (uint32_t i = 0; i < pod_count(r->limits); i++) {
        struct str resource = r->limits->members[i].key, text = value_text(&r->limits->members[i].value);
        const struct field_path *at = AT_KEY(limits, resource);
        r->name(resource, at, r->errs);
        check_amount(resource, text, at, r->errs);
        check_pages(resource, text, r->lenient_pages, at, r->errs);
        note_resource(r, resource);
    }
}

static void check_against_limit(struct requirements *r, struct str resource, struct str text)
{
    const struct value *limit = r->limits->kind == VALUE_MAP ? value_member(r->limits, resource) : NULL;
    if (!limit) {
        if (!may_overcommit(resource))
            field_required(r->errs, AT(r->at, "limits"), STR("Limit must be set for non overcommitable resources"));
        return;
    }
    struct quantity asked = pod_amount(r->errs->arena, text), most = pod_amount(r->errs->arena, value_text(limit));
    int order = quantity_cmp(&asked, &most);
    bool equal = order != 0 && !may_overcommit(resource);
    if (equal || order > 0)
        field_invalid(r->errs, AT(r->at, "requests"), field_str(text),
                      pod_detail(r->errs, "must be %s to %.*s limit of %.*s", equal ? "equal" : "less than or equal",
                                 STR_ARG(resource), STR_ARG(value_text(limit))));
}

static void check_requests(struct requirements *r)
{
    const struct field_path *requests = AT(r->at, "requests");
    for (uint32_t i = 0; i < pod_count(r->requests); i++) {
        struct str resource = r->requests->members[i].key, text = value_text(&r->requests->members[i].value);
        const struct field_path *at = AT_KEY(requests, resource);
        r->name(resource, at, r->errs);
        check_amount(resource, text, at, r->errs);
        check_against_limit(r, resource, text);
        check_pages(resource, text, r->lenient_pages, at, r->errs);
        note_resource(r, resource);
    }
}

static void check_amounts(struct requirements *r)
{
    check_limits(r);
    check_requests(r);
    if (r->has_pages && !r->has_compute)
        field_forbidden(r->errs, r->at, STR("HugePages require cpu or memory"));
}

static void check_overhead(const struct value *amounts, bool lenient_pages, const struct field_path *at,
                           struct field_errors *errs)
{
    static const struct value none = { .kind = VALUE_ABSENT };
    struct requirements r = { .limits = amounts, .requests = &none, .name = check_container_name,
                              .lenient_pages = lenient_pages, .at = at, .errs = errs };
    check_amounts(&r);
}

void pod_check_overhead(struct pod_check *k, const struct field_path *at)
{
    check_overhead(GET(k->spec, PodSpec, overhead), k->lenient.indivisible_huge_pages, at, k->errs);
}

void rules_check_overhead(const struct value *amounts, const struct field_path *at, struct field_errors *errs)
{
    check_overhead(amounts, false, at, errs);
}

/* ---- Claims that a container uses ---- */

static int compare_strs(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* "must be one of the names ...", made once however many errors say it. */
static struct str claims_detail(struct pod_check *k)
{
    if (k->claims_text.n)
        return k->claims_text;
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&text, "must be one of the names in pod.spec.resourceClaims");
    struct str *names = ARENA_NEW_N(k->arena, struct str, k->claims.n);
    size_t n = 0;
    for (struct map_str_slot *s = NULL; (s = map_str_next(&k->claims, s));)
        names[n++] = map_str_key(s);
    sort_stable(k->arena, names, n, sizeof(*names), compare_strs);
    strbuf_add_text(&text, n ? "" : " which is empty");
    for (size_t i = 0; i < n; i++) {
        strbuf_add_text(&text, i ? ", " : ": ");
        strbuf_add_str(&text, names[i]);
    }
    return k->claims_text = field_take_text(k->arena, &text);
}

/* Names and names with requests that came before; by name how many of the latter. */
struct used_claims {
    struct map_str names, requests;
};

static void check_claim_use(struct pod_check *k, struct str name, struct str request, struct used_claims *used,
                            const struct field_path *at)
{
    if (map_str_find(&used->names, name)) {
        field_duplicate(k->errs, at, field_str(name));
        return;
    }
    struct str key = name;
    if (request.n) {
        pod_check_name(name_dns1123_label(request), request, AT(at, "request"), k->errs);
        key = str_of(arena_printf(k->arena, "%.*s/%.*s", STR_ARG(name), STR_ARG(request)));
    }
    const union map_value *before = map_str_find(&used->requests, name);
    if (map_str_find(&used->names, key))
        field_duplicate(k->errs, at, field_str(key));
    else
        for (uint64_t i = 0; !request.n && before && i < before->num; i++)
            field_duplicate(k->errs, at, field_str(name));
    if (pod_add_new(&used->names, key) && request.n)
        map_str_put(&used->requests, name, NULL)->num++;
}

static void check_claims(struct pod_check *k, const struct value *claims, const struct field_path *at)
{
    struct used_claims used;
    map_str_init(&used.names);
    map_str_init(&used.requests);
    for (uint32_t i = 0; i < pod_count(claims); i++) {
        struct str name = TEXT(&claims->items[i], ResourceClaim, name);
        const struct field_path *path = AT_INDEX(at, i);
        if (!name.n) {
            field_required(k->errs, path, STR(""));
            continue;
        }
        check_claim_use(k, name, TEXT(&claims->items[i], ResourceClaim, request), &used, path);
        if (!map_str_find(&k->claims, name))
            field_not_found_among(k->errs, path, field_str(name), claims_detail(k));
    }
    map_str_fini(&used.names);
    map_str_fini(&used.requests);
}

static void check_requirements(struct pod_check *k, const struct value *v, check_name *name, const struct field_path *at)
{
    struct requirements r = {
        .limits = GET(v, ResourceRequirements, limits), .requests = GET(v, ResourceRequirements, requests), .name = name,
        .lenient_pages = k->lenient.indivisible_huge_pages, .at = at, .errs = k->errs,
    };
    check_amounts(&r);
    check_claims(k, GET(v, ResourceRequirements, claims), AT(at, "claims"));
}

void pod_check_requirements(struct pod_check *k, const struct value *requirements, const struct field_path *at)
{
    check_requirements(k, requirements, check_container_name, at);
}

/* ---- The pod as a whole ---- */

static bool is_more(struct arena *a, struct str than, struct str text)
{
    struct quantity amount = pod_amount(a, text), other = pod_amount(a, than);
    return quantity_cmp(&amount, &other) > 0;
}

static void check_sum(struct pod_check *k, const struct value *whole, const char *which, bool pages_only,
                      const struct field_path *at)
{
    struct value sum = pod_sum_containers(k->arena, k->spec, which);
    for (uint32_t i = 0; i < pod_count(&sum); i++) {
        struct str resource = sum.members[i].key, text = value_text(&sum.members[i].value);
        const struct value *given = whole->kind == VALUE_MAP ? value_member(whole, resource) : NULL;
        if (!given || (pages_only && !pod_is_huge_page(resource)) || !is_more(k->arena, value_text(given), text))
            continue;
        field_invalid(k->errs, AT_KEY(at, resource), field_str(value_text(given)),
                      pod_detail(k->errs, "must be greater than or equal to aggregate container %s of %.*s", which,
                                 STR_ARG(text)));
    }
}

/* No container may use more than the pod; the path is as odd as upstream's. */
static void check_container_limits(struct pod_check *k, const struct value *whole, const struct field_path *at)
{
    const struct value *list = GET(k->spec, PodSpec, containers);
    for (uint32_t i = 0; i < pod_count(list); i++) {
        const struct value *limits = GET(GET(&list->items[i], Container, resources), ResourceRequirements, limits);
        for (uint32_t m = 0; m < pod_count(limits); m++) {
            struct str resource = limits->members[m].key, text = value_text(&limits->members[m].value);
            const struct value *most = whole->kind == VALUE_MAP ? value_member(whole, resource) : NULL;
            if (most && is_more(k->arena, value_text(most), text))
                field_invalid(k->errs, AT(AT_KEY(AT_INDEX(AT(at, "containers"), i), resource), "limits"), field_str(text),
                              pod_detail(k->errs, "must be less than or equal to pod limits of %.*s",
                                         STR_ARG(value_text(most))));
        }
    }
}

void pod_check_whole_resources(struct pod_check *k, const struct field_path *at)
{
    const struct value *whole = GET(k->spec, PodSpec, resources);
    if (whole->kind == VALUE_ABSENT)
        return;
    if (str_is(TEXT(GET(k->spec, PodSpec, os), PodOS, name), "windows")) {
        field_forbidden(k->errs, at, STR("may not be set for a windows pod"));
        return;
    }
    if (IS_SET(whole, ResourceRequirements, claims))
        field_forbidden(k->errs, AT(at, "claims"), STR("claims may not be set for Resources at pod-level"));
    check_requirements(k, whole, check_whole_name, at);
    const struct value *limits = GET(whole, ResourceRequirements, limits);
    check_sum(k, GET(whole, ResourceRequirements, requests), "requests", false, AT(at, "requests"));
    check_sum(k, limits, "limits", true, AT(at, "limits"));
    check_container_limits(k, limits, at);
}

/* ---- Claims of the pod ---- */

static void check_resource_claim(struct pod_check *k, const struct value *claim, struct map_str *names,
                                 const struct field_path *at)
{
    struct str name = TEXT(claim, PodResourceClaim, name);
    const struct value *own = GET(claim, PodResourceClaim, resourceClaimName);
    const struct value *template = GET(claim, PodResourceClaim, resourceClaimTemplateName);
    if (pod_require(name, at, "name", k->errs) && !pod_add_new(names, name))
        field_duplicate(k->errs, AT(at, "name"), field_str(name));
    else if (name.n)
        pod_check_name(name_dns1123_label(name), name, AT(at, "name"), k->errs);
    bool both = own->kind != VALUE_ABSENT && template->kind != VALUE_ABSENT;
    if (both || (own->kind == VALUE_ABSENT && template->kind == VALUE_ABSENT))
        field_invalid(k->errs, at, pod_shown(k->arena, schema_type(STR("core/v1.PodResourceClaim")), claim),
                      both ? STR("at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified")
                           : STR("must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"));
    if (own->kind != VALUE_ABSENT)
        pod_check_name(name_dns1123_subdomain(value_text(own)), value_text(own), AT(at, "resourceClaimName"), k->errs);
    if (template->kind != VALUE_ABSENT)
        pod_check_name(name_dns1123_subdomain(value_text(template)), value_text(template),
                       AT(at, "resourceClaimTemplateName"), k->errs);
}

void pod_check_resource_claims(struct pod_check *k, const struct field_path *at)
{
    const struct value *claims = GET(k->spec, PodSpec, resourceClaims);
    bool is_mirror = k->meta && pod_has_entry(META(k->meta, annotations), STR("kubernetes.io/config.mirror"));
    struct map_str names;
    map_str_init(&names);
    for (uint32_t i = 0; i < pod_count(claims); i++) {
        struct str name = TEXT(&claims->items[i], PodResourceClaim, name);
        if (name.n)
            pod_add_new(&k->claims, name);
        if (is_mirror)
            field_forbidden(k->errs, AT_NOTHING, STR("static pods do not support resource claims"));
        else
            check_resource_claim(k, &claims->items[i], &names, AT_INDEX(at, i));
    }
    map_str_fini(&names);
}
