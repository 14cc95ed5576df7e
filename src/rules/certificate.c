/* rules/certificate.c - CertificateSigningRequest: who asks is written down, the request must be signed by its own key, and
 * approvals and certificates each have an endpoint of their own. */
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "api/edit.h"
#include "rules/diff.h"
#include "rules/place.h"

enum { EXPIRATION_SECONDS_MIN = 600, SIGNER_BYTES_MAX = 253 + 1 + 253 + 63 + 1 };

#define LEGACY_SIGNER "kubernetes.io/legacy-unknown"

/* ---- PEM ---- */

/* The first block of a PEM text; what was before it is skipped. The caller frees both with OPENSSL_free. */
static bool read_block(BIO *in, char **ret_name, bool *ret_has_headers, unsigned char **ret_der, long *ret_n)
{
    char *header;
    if (!PEM_read_bio(in, ret_name, &header, ret_der, ret_n))
        return false;
    *ret_has_headers = header && *header;
    OPENSSL_free(header);
    return true;
}

static const char *request_fault_of_der(const unsigned char *der, long n)
{
    const unsigned char *end = der;
    X509_REQ *request = d2i_X509_REQ(NULL, &end, n);
    if (!request || end != der + n) {
        X509_REQ_free(request);
        return "asn1: syntax error: data truncated";
    }
    EVP_PKEY *key = X509_REQ_get0_pubkey(request);
    const char *fault = key && X509_REQ_verify(request, key) == 1 ? NULL : "x509: certificate request signature is invalid";
    X509_REQ_free(request);
    return fault;
}

/* What is wrong with a request, or NULL. */
static const char *request_fault(struct str pem)
{
    static const char no_request[] = "PEM block type must be CERTIFICATE REQUEST";
    BIO *in = BIO_new_mem_buf(pem.n ? pem.p : "", str_precision(pem.n));
    char *name = NULL;
    unsigned char *der = NULL;
    bool has_headers;
    long n;
    const char *fault = no_request;
    if (in && read_block(in, &name, &has_headers, &der, &n) && strcmp(name, "CERTIFICATE REQUEST") == 0)
        fault = request_fault_of_der(der, n);
    OPENSSL_free(name);
    OPENSSL_free(der);
    BIO_free(in);
    return fault;
}

static const char *certificate_block_fault(struct arena *a, const char *name, bool has_headers,
                                           const unsigned char *der, long n)
{
    const unsigned char *end = der;
    if (strcmp(name, "CERTIFICATE") != 0)
        return arena_printf(a, "only CERTIFICATE PEM blocks are allowed, found \"%s\"", name);
    if (has_headers)
        return "no PEM block headers are permitted";
    X509 *certificate = n ? d2i_X509(NULL, &end, n) : NULL;
    const char *fault = certificate ? NULL : n ? "x509: malformed certificate"
                                               : "found CERTIFICATE PEM block containing 0 certificates";
    X509_free(certificate);
    return fault;
}

static const char *certificate_fault(struct arena *a, struct str pem)
{
    if (pem.n == 0)
        return NULL;
    BIO *in = BIO_new_mem_buf(pem.p, str_precision(pem.n));
    const char *fault = NULL;
    size_t n_blocks = 0;
    for (bool more = in != NULL; more && !fault;) {
        char *name = NULL;
        unsigned char *der = NULL;
        bool has_headers;
        long n;
        more = read_block(in, &name, &has_headers, &der, &n);
        if (more) {
            fault = certificate_block_fault(a, name, has_headers, der, n);
            n_blocks++;
        }
        OPENSSL_free(name);
        OPENSSL_free(der);
    }
    BIO_free(in);
    return fault || n_blocks ? fault : "must contain at least one CERTIFICATE PEM block";
}

/* ---- The spec ---- */

static const char *const usages[] = {
    "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment",
    "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel",
    "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime",
    "server auth", "signing", "timestamping", NULL,
};

/* What the request before had that a new one could not. */
struct leniency {
    bool both_decisions, legacy_signer, repeated_conditions, empty_condition, any_certificate, repeated_usages, any_usages;
};

static bool has_repeated(const struct place *list, const char *field)
{
    struct seen seen;
    bool repeated = false;
    seen_init(&seen);
    for (uint32_t i = 0; i < place_n(list); i++) {
        struct place item = place_item(list, i);
        repeated |= seen_before(&seen, field ? child_text(&item, field) : place_text(&item));
    }
    seen_fini(&seen);
    return repeated;
}

static bool has_condition(const struct place *conditions, const char *type)
{
    for (uint32_t i = 0; i < place_n(conditions); i++) {
        struct place one = place_item(conditions, i);
        if (str_is(child_text(&one, "type"), type))
            return true;
    }
    return false;
}

static struct leniency leniency_of(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, old, &none), spec = place_child(&root, "spec");
    struct place status = place_child(&root, "status");
    struct place list = place_child(&spec, "usages"), conditions = place_child(&status, "conditions");
    struct place certificate = place_child(&status, "certificate");
    bool any_usages = false;
    for (uint32_t i = 0; i < place_n(&list); i++)
        any_usages |= !text_is_one_of(value_text(&list.value->items[i]), usages);
    bool same = str_eq(value_text(value_path(c->type, new, "status.certificate")), place_text(&certificate));
    return (struct leniency){
        .both_decisions = has_condition(&conditions, "Approved") && has_condition(&conditions, "Denied"),
        .legacy_signer = str_is(child_text(&spec, "signerName"), LEGACY_SIGNER),
        .repeated_conditions = has_repeated(&conditions, "type"),
        .empty_condition = has_condition(&conditions, ""),
        .any_certificate = same || certificate_fault(c->arena, place_text(&certificate)),
        .repeated_usages = has_repeated(&list, NULL),
        .any_usages = any_usages,
    };
}

static void check_usages(const struct place *spec, const struct leniency *lenient)
{
    struct place list = place_child(spec, "usages");
    struct seen seen;
    if (place_n(&list) == 0)
        place_required(&list, "");
    for (uint32_t i = 0; !lenient->any_usages && i < place_n(&list); i++) {
        struct place usage = place_item(&list, i);
        place_check_supported(&usage, usages);
    }
    seen_init(&seen);
    for (uint32_t i = 0; !lenient->repeated_usages && i < place_n(&list); i++) {
        struct place usage = place_item(&list, i);
        if (seen_before(&seen, place_text(&usage)))
            place_duplicate(&usage);
    }
    seen_fini(&seen);
}

/* Every part between dots; the first that is wrong is told, all that is wrong with it. */
static size_t check_labels(const struct place *signer, struct str segment, name_check *check)
{
    size_t n = 1;
    bool told = false;
    struct str rest = segment;
    for (;; n++) {
        size_t dot = str_index(rest, '.');
        struct str label = str_first(rest, dot);
        struct name_errors found = told ? (struct name_errors){ 0 } : check(label);
        for (size_t i = 0; i < found.n; i++) {
            struct strbuf text;
            strbuf_init(&text, STRBUF_NO_MAX);
            STRBUF_ADD_LIT(&text, "validating label ");
            strbuf_add_quoted(&text, label);
            strbuf_printf(&text, ": %s", found.at[i]);
            field_invalid(signer->errs, &signer->path, field_str(segment), field_take_text(signer->errs->arena, &text));
        }
        told |= found.n > 0;
        if (dot == rest.n)
            return n;
        rest = str_from(rest, dot + 1);
    }
}

static void check_signer(const struct place *signer)
{
    struct str text = place_text(signer);
    size_t slash = str_index(text, '/');
    struct str domain = str_first(text, slash), path = str_from(text, slash + 1);
    if (text.n == 0) {
        place_required(signer, "");
        return;
    }
    if (slash == text.n || str_index(path, '/') < path.n) {
        place_invalid(signer, "must be a fully qualified domain and path of the form 'example.com/signer-name'");
        return;
    }
    if (domain.n > NAME_DNS1123_SUBDOMAIN_MAX)
        field_too_long(signer->errs, &signer->path, NAME_DNS1123_SUBDOMAIN_MAX);
    if (check_labels(signer, domain, name_dns1123_label) < 2)
        field_invalid(signer->errs, &signer->path, field_str(domain),
                      STR("should be a domain with at least two segments separated by dots"));
    check_labels(signer, path, name_dns1123_subdomain);
    if (text.n > SIGNER_BYTES_MAX)
        field_too_long(signer->errs, &signer->path, SIGNER_BYTES_MAX);
}

/* ---- Conditions ---- */

static void check_condition_status(const struct place *condition)
{
    static const char *const deciding[] = { "Approved", "Denied", "Failed", NULL };
    static const char *const all[] = { "False", "True", "Unknown", NULL }, *const only_true[] = { "True", NULL };
    struct place status = place_child(condition, "status");
    place_check_choice(&status, text_is_one_of(child_text(condition, "type"), deciding) ? only_true : all);
}

static void check_conditions(const struct place *status, const struct leniency *lenient)
{
    struct place list = place_child(status, "conditions");
    bool approved = false, denied = false;
    struct seen types;
    seen_init(&types);
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place one = place_item(&list, i), type = place_child(&one, "type");
        bool approves = str_is(place_text(&type), "Approved"), denies = str_is(place_text(&type), "Denied");
        if (!lenient->empty_condition && place_text(&type).n == 0)
            place_required(&type, "");
        check_condition_status(&one);
        approved |= approves;
        denied |= denies;
        if (!lenient->both_decisions && (approves || denies) && approved && denied)
            field_invalid(list.errs, &list.path, field_str(place_text(&type)),
                          STR("Approved and Denied conditions are mutually exclusive"));
        if (!lenient->repeated_conditions && seen_before(&types, place_text(&type)))
            place_duplicate(&type);
    }
    seen_fini(&types);
}

static struct name_errors any_name(struct str name, bool prefix)
{
    (void)name, (void)prefix;
    return (struct name_errors){ 0 };
}

static void check_request(const struct rules_context *c, const struct value *new, const struct leniency *lenient,
                          struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place status = place_child(&root, "status");
    struct place request = place_child(&spec, "request"), signer = place_child(&spec, "signerName");
    struct place expiration = place_child(&spec, "expirationSeconds");
    struct place certificate = place_child(&status, "certificate");
    rules_check_meta(c, new, any_name, errs);
    const char *fault = request_fault(place_text(&request));
    if (fault)
        place_invalid(&request, fault);
    check_usages(&spec, lenient);
    if (!lenient->legacy_signer && str_is(place_text(&signer), LEGACY_SIGNER))
        place_invalid(&signer, "the legacy signerName is not allowed via this API version");
    else
        check_signer(&signer);
    if (place_is_set(&expiration) && place_int(&expiration) < EXPIRATION_SECONDS_MIN)
        place_invalid(&expiration, "may not specify a duration less than 600 seconds (10 minutes)");
    check_conditions(&status, lenient);
    fault = lenient->any_certificate ? NULL : certificate_fault(c->arena, place_text(&certificate));
    if (fault)
        field_invalid(errs, &certificate.path, field_str(STR("<certificate data>")), str_of(fault));
}

static void validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    check_request(c, new, &(struct leniency){ 0 }, errs);
}

/* ---- Changes ---- */

/* Conditions of a type, in order, as one list. */
static struct value conditions_of(struct arena *a, const struct place *conditions, const char *type)
{
    struct value *items = ARENA_NEW_N(a, struct value, place_n(conditions));
    uint32_t n = 0;
    for (uint32_t i = 0; i < place_n(conditions); i++) {
        struct place one = place_item(conditions, i);
        if (str_is(child_text(&one, "type"), type))
            items[n++] = *one.value;
    }
    return value_list(items, n);
}

static void check_kept(const struct place *conditions, const struct place *old, const char *type)
{
    struct arena *a = conditions->errs->arena;
    if (conditions_of(a, conditions, type).n < conditions_of(a, old, type).n)
        place_forbidden(conditions, arena_printf(a, "updates may not remove a condition of type \"%s\"", type));
}

static void check_untouched(const struct place *conditions, const struct place *old, const char *type)
{
    struct arena *a = conditions->errs->arena;
    struct value is = conditions_of(a, conditions, type), was = conditions_of(a, old, type);
    struct place x = *conditions, y = *old;
    x.value = &is;
    y.value = &was;
    if (is.n > was.n) {
        place_forbidden(conditions, arena_printf(a, "updates may not add a condition of type \"%s\"", type));
    } else if (is.n == was.n && !place_same(&x, &y)) {
        const char *text = arena_printf(a, "updates may not modify a condition of type \"%s\"", type);
        place_forbidden(conditions, rules_diff_text(a, text, place_shown_as_go(&y).text, place_shown_as_go(&x).text));
    }
}

static void check_update(const struct rules_context *c, const struct value *new, const struct value *old,
                         bool may_decide, bool may_certify, struct field_errors *errs)
{
    static const char *const kept[] = { "Approved", "Denied", "Failed" };
    struct leniency lenient = leniency_of(c, new, old);
    struct place root = place_root(c, new, errs), status = place_child(&root, "status");
    struct place old_root = place_root(c, old, errs), old_status = place_child(&old_root, "status");
    struct place conditions = place_child(&status, "conditions");
    struct place old_conditions = place_child(&old_status, "conditions");
    struct place certificate = place_child(&status, "certificate"), was = place_child(&old_status, "certificate");
    check_request(c, new, &lenient, errs);
    for (size_t i = 0; i < 3; i++)
        check_kept(&conditions, &old_conditions, kept[i]);
    for (size_t i = 0; !may_decide && i < 2; i++)
        check_untouched(&conditions, &old_conditions, kept[i]);
    if (!str_eq(place_text(&certificate), place_text(&was))) {
        if (!may_certify)
            place_forbidden(&certificate, "updates may not set certificate content");
        else if (place_text(&was).n)
            place_forbidden(&certificate, "updates may not modify existing certificate content");
    }
    rules_check_meta_update(c, new, old, errs);
}

static void validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                            struct field_errors *errs)
{
    check_update(c, new, old, false, false, errs);
}

static void validate_status(const struct rules_context *c, const struct value *new, const struct value *old,
                            struct field_errors *errs)
{
    check_update(c, new, old, false, true, errs);
}

static void validate_approval(const struct rules_context *c, const struct value *new, const struct value *old,
                              struct field_errors *errs)
{
    check_update(c, new, old, true, false, errs);
}

/* ---- Preparing ---- */

static struct value texts(struct arena *a, const struct str_list *list)
{
    struct value *items = ARENA_NEW_N(a, struct value, list->n);
    for (size_t i = 0; i < list->n; i++)
        items[i] = value_string(list->at[i]);
    return value_list(items, (uint32_t)list->n);
}

static struct value extra_of(struct arena *a, const struct user *user)
{
    struct member *members = ARENA_NEW_N(a, struct member, user->n_extra);
    for (size_t i = 0; i < user->n_extra; i++)
        members[i] = (struct member){ user->extra[i].key, texts(a, &user->extra[i].values) };
    return value_map(members, (uint32_t)user->n_extra);
}

static struct value prepare_create(const struct rules_context *c, const struct value *new)
{
    const struct value nothing = { .kind = VALUE_ABSENT };
    const struct user *user = c->user;
    struct value out = rules_drop_status(c, new);
    const struct {
        const char *path;
        struct value value;
    } asks[] = {
        { "spec.username", user->name.n ? value_string(user->name) : nothing },
        { "spec.uid", user->uid.n ? value_string(user->uid) : nothing },
        { "spec.groups", user->groups.n ? texts(c->arena, &user->groups) : nothing },
        { "spec.extra", user->n_extra ? extra_of(c->arena, user) : nothing },
    };
    for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
        out = edit_set(c->arena, c->type, &out, asks[i].path, asks[i].value);
    return out;
}

static struct value prepare_update(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct value out = rules_keep_spec(c, new, old);
    return rules_keep_status(c, &out, old);
}

/* When it became so: as before if it was so before, else now. */
static struct value transition_of(const struct rules_context *c, const struct place *one, const struct place *old)
{
    for (uint32_t i = 0; i < place_n(old); i++) {
        struct place was = place_item(old, i);
        if (str_eq(child_text(&was, "type"), child_text(one, "type")) &&
            str_eq(child_text(&was, "status"), child_text(one, "status")) && child_is_set(&was, "lastTransitionTime"))
            return *child_value(&was, "lastTransitionTime");
    }
    return value_time(c->now_s, 0);
}

/* Conditions are few: CONDITIONS_MAX bounds what comparing them with the old ones can cost. */
enum { CONDITIONS_MAX = 1000 };

static struct value with_times(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), status = place_child(&root, "status");
    struct place old_root = place_root(c, old, &none), old_status = place_child(&old_root, "status");
    struct place list = place_child(&status, "conditions"), was = place_child(&old_status, "conditions");
    uint32_t n = place_n(&list);
    if (n == 0 || n > CONDITIONS_MAX)
        return *new;
    struct value *items = ARENA_NEW_N(c->arena, struct value, n);
    for (uint32_t i = 0; i < n; i++) {
        struct place one = place_item(&list, i);
        items[i] = *one.value;
        if (!child_is_set(&one, "lastUpdateTime"))
            items[i] = edit_set(c->arena, one.type, &items[i], "lastUpdateTime", value_time(c->now_s, 0));
        if (!child_is_set(&one, "lastTransitionTime"))
            items[i] = edit_set(c->arena, one.type, &items[i], "lastTransitionTime", transition_of(c, &one, &was));
    }
    return edit_set(c->arena, c->type, new, "status.conditions", value_list(items, n));
}

/* Decisions of the old request in the place of those of the new one, when there are as many. */
static struct value with_decisions(const struct rules_context *c, const struct value *new, const struct value *old,
                                   const char *type)
{
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), status = place_child(&root, "status");
    struct place old_root = place_root(c, old, &none), old_status = place_child(&old_root, "status");
    struct place list = place_child(&status, "conditions"), old_list = place_child(&old_status, "conditions");
    struct value is = conditions_of(c->arena, &list, type), was = conditions_of(c->arena, &old_list, type);
    if (is.n != was.n || is.n == 0)
        return *new;
    struct value *items = ARENA_NEW_N(c->arena, struct value, place_n(&list));
    uint32_t k = 0;
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place one = place_item(&list, i);
        items[i] = str_is(child_text(&one, "type"), type) ? was.items[k++] : *one.value;
    }
    return edit_set(c->arena, c->type, new, "status.conditions", value_list(items, place_n(&list)));
}

static struct value prepare_status(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct value out = rules_keep_spec(c, new, old);
    out = with_decisions(c, &out, old, "Approved");
    out = with_decisions(c, &out, old, "Denied");
    return with_times(c, &out, old);
}

static struct value prepare_approval(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct value timed = with_times(c, new, old), out = prepare_update(c, &timed, old);
    return edit_set(c->arena, c->type, &out, "status.conditions", *value_path(c->type, &timed, "status.conditions"));
}

static const char *const reset_all[] = { "spec", "status", NULL };
static const char *const reset_decisions[] = { "spec", "status.conditions", NULL };
static const char *const reset_certificate[] = { "spec", "status.certificate", NULL };

static const struct sub_rules subs[] = {
    { .name = "status", .prepare_update = prepare_status, .validate_update = validate_status,
      .reset_fields = reset_decisions },
    { .name = "approval", .prepare_update = prepare_approval, .validate_update = validate_approval,
      .reset_fields = reset_certificate },
    { 0 },
};

const struct kind_rules certificate_rules[] = {
    { .type = "certificates.k8s.io/v1.CertificateSigningRequest", .name = any_name, .prepare_create = prepare_create,
      .prepare_update = prepare_update, .validate_create = validate_create, .validate_update = validate_update,
      .reset_fields = reset_all, .subs = subs },
    { 0 },
};
