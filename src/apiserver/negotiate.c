/* apiserver/negotiate.c - see negotiate.h. Upstream: endpoints/handlers/negotiation and the router in front of it. */
#include "apiserver/negotiate.h"

#include <stdlib.h>
#include <strings.h>

#define MEDIA_NAMES "application/json, application/yaml, application/vnd.kubernetes.protobuf"
#define STREAM_NAMES "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"

/* ---- Clauses ---- */

struct clause {
    struct str type, subtype;
    struct str as, group, version, stream, server_version;
    double q;
    bool pretty, convert; /* convert: one of as, g, v is there */
};

static struct str trim(struct str s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
        s = str_from(s, 1);
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    return s;
}

/* The text before `separator`; *rest is what is behind it, empty when there is none. */
static struct str cut(struct str s, char separator, struct str *rest)
{
    size_t at = str_index(s, separator);
    *rest = str_from(s, at + 1);
    return str_first(s, at);
}

static double weight(struct str text)
{
    char number[32], *end;
    if (text.n == 0 || text.n >= sizeof(number))
        return 0;
    memcpy(number, text.p, text.n);
    number[text.n] = '\0';
    double q = strtod(number, &end);
    return *end == '\0' && q == q ? q : 0;
}

static void read_parameter(struct str text, struct clause *c)
{
    struct str value, name = trim(cut(text, '=', &value));
    if (value.n == 0 || str_index(value, '=') < value.n)
        return;
    if (str_is(name, "q")) {
        c->q = weight(value);
        return;
    }
    value = trim(value);
    struct {
        const char *name;
        struct str *to;
    } known[] = { { "as", &c->as }, { "g", &c->group }, { "v", &c->version }, { "stream", &c->stream },
                  { "sv", &c->server_version } };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (str_is(name, known[i].name)) {
            *known[i].to = value;
            c->convert |= i < 3;
        }
    if (str_is(name, "pretty"))
        c->pretty = str_is(value, "1");
}

static bool read_clause(struct str text, struct clause *ret_clause)
{
    struct str parameters, subtype, more, range = cut(trim(text), ';', &parameters);
    struct clause c = { .q = 1, .type = trim(cut(range, '/', &subtype)) };
    c.subtype = trim(cut(subtype, '/', &more));
    if (subtype.n == 0 && str_is(c.type, "*"))
        c.subtype = STR("*");
    else if (subtype.n == 0 || more.n)
        return false;
    while (parameters.n)
        read_parameter(cut(parameters, ';', &parameters), &c);
    *ret_clause = c;
    return true;
}

/* As upstream's parser orders them, which is no order in the strict sense: hence the plain insertion below. */
static bool goes_before(const struct clause *a, const struct clause *b)
{
    if (a->q > b->q)
        return true;
    return (!str_is(a->type, "*") && str_is(b->type, "*")) || (!str_is(a->subtype, "*") && str_is(b->subtype, "*"));
}

static size_t read_clauses(struct str accept, struct clause clauses[ACCEPT_CLAUSES_MAX])
{
    size_t n = 0;
    while (accept.n && n < ACCEPT_CLAUSES_MAX) {
        struct str text = cut(accept, ',', &accept);
        if (!read_clause(text, &clauses[n]))
            continue;
        for (size_t k = n; k > 0 && goes_before(&clauses[k], &clauses[k - 1]); k--) {
            struct clause swap = clauses[k];
            clauses[k] = clauses[k - 1];
            clauses[k - 1] = swap;
        }
        n++;
    }
    return n;
}

/* ---- The choice ---- */

/* Media in the order in which upstream has them. */
static bool clause_takes(const struct clause *c, enum media m)
{
    struct str name = str_of(media_content_type(m)), subtype, type = cut(name, '/', &subtype);
    if (str_is(c->type, "*") && str_is(c->subtype, "*"))
        return true;
    return str_eq(c->type, type) && (str_eq(c->subtype, subtype) || str_is(c->subtype, "*"));
}

static bool stream_is_there(const struct clause *c, enum media m)
{
    return c->stream.n == 0 || (m != MEDIA_YAML && str_is(c->stream, "watch"));
}

static bool takes_object(const struct clause *c, enum media m, struct answer_form *f)
{
    static const struct {
        const char *kind;
        enum transform as;
    } kinds[] = { { "Table", AS_TABLE }, { "PartialObjectMetadata", AS_METADATA },
                  { "PartialObjectMetadataList", AS_METADATA_LIST } };
    *f = (struct answer_form){ .media = m, .pretty = c->pretty, .meta_v1beta1 = str_is(c->version, "v1beta1") };
    if (c->server_version.n && !str_is(c->server_version, "v1"))
        return false;
    if (!c->convert)
        return true;
    if (!str_is(c->group, "meta.k8s.io") || !(str_is(c->version, "v1") || f->meta_v1beta1))
        return false;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (str_is(c->as, kinds[i].kind)) {
            f->as = kinds[i].as;
            return f->as != AS_TABLE || m != MEDIA_PROTOBUF;
        }
    return false;
}

static bool takes_untabled(const struct clause *c, enum media m, struct answer_form *f)
{
    return takes_object(c, m, f) && f->as != AS_TABLE;
}

typedef bool takes_fn(const struct clause *c, enum media m, struct answer_form *f);

static bool choose(struct str accept, takes_fn *takes, struct answer_form *ret_form)
{
    static const enum media medias[] = { MEDIA_JSON, MEDIA_YAML, MEDIA_PROTOBUF };
    struct clause clauses[ACCEPT_CLAUSES_MAX];
    *ret_form = (struct answer_form){ .media = MEDIA_JSON };
    if (accept.n == 0)
        return true;
    size_t n = read_clauses(accept, clauses);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 3; k++) {
            enum media m = medias[k];
            if (stream_is_there(&clauses[i], m) && clause_takes(&clauses[i], m) && takes(&clauses[i], m, ret_form))
                return true;
        }
    return false;
}

/* Upstream's router: one of the media by its exact name, or everything. */
static bool router_takes(struct str accept)
{
    if (accept.n == 0)
        return true;
    while (accept.n) {
        struct str rest, name = cut(cut(accept, ',', &accept), ';', &rest);
        while (name.n && name.p[0] == ' ')
            name = str_from(name, 1);
        while (name.n && name.p[name.n - 1] == ' ')
            name.n--;
        if (str_is(name, "*/*") || str_is(name, media_content_type(MEDIA_JSON)) ||
            str_is(name, media_content_type(MEDIA_YAML)) || str_is(name, media_content_type(MEDIA_PROTOBUF)))
            return true;
    }
    return false;
}

static enum err_code check_router(struct str accept, const char *more, struct err *e)
{
    if (router_takes(accept))
        return ERR_OK;
    e->kind = e->name = "";
    return err_set(e, ERR_NOT_ACCEPTABLE, "406: Not Acceptable\n\nAvailable representations: " MEDIA_NAMES "%s", more);
}

enum err_code negotiate_answer(struct str accept, enum accept_place place, struct answer_form *ret_form, struct err *e)
{
    bool one = place == ACCEPT_OBJECT || place == ACCEPT_UNTABLED;
    struct answer_form form;
    if (check_router(accept, one ? "" : ", " STREAM_NAMES, e))
        return e->code;
    if (!choose(accept, place == ACCEPT_UNTABLED ? takes_untabled : takes_object, &form))
        return err_set(e, ERR_NOT_ACCEPTABLE, "only the following media types are accepted: " MEDIA_NAMES);
    if (place == ACCEPT_WATCH && form.media == MEDIA_YAML)
        return err_set(e, ERR_NOT_ACCEPTABLE, "only the following media types are accepted: " STREAM_NAMES);
    *ret_form = form;
    return ERR_OK;
}

enum err_code negotiate_shape(const struct answer_form *form, bool list, const char *go_type, struct err *e)
{
    if (list && form->as == AS_METADATA)
        return err_set(e, ERR_NOT_ACCEPTABLE,
                       "you requested PartialObjectMetadata, but the requested object is a list (*%s)", go_type);
    if (!list && form->as == AS_METADATA_LIST)
        return err_set(e, ERR_NOT_ACCEPTABLE,
                       "you requested PartialObjectMetadataList, but the requested object is not a list (*%s)", go_type);
    return ERR_OK;
}

static bool takes_plain(const struct clause *c, enum media m, struct answer_form *f)
{
    *f = (struct answer_form){ .media = m, .pretty = c->pretty };
    return !c->convert && c->server_version.n == 0;
}

struct answer_form negotiate_error(struct str accept)
{
    struct answer_form form;
    if (!choose(accept, takes_plain, &form))
        form = (struct answer_form){ .media = MEDIA_JSON, .pretty = true };
    return form;
}

const char *answer_content_type(const struct answer_form *f, bool watch)
{
    return watch && f->media == MEDIA_PROTOBUF ? "application/vnd.kubernetes.protobuf;stream=watch"
                                               : media_content_type(f->media);
}

static bool takes_whole(const struct clause *c, enum media m, struct answer_form *f)
{
    *f = (struct answer_form){ .media = m, .as = c->convert ? AS_TABLE : AS_OBJECT };
    return !c->convert || (str_is(c->as, "APIGroupDiscoveryList") && str_is(c->version, "v2") &&
                           str_is(c->group, "apidiscovery.k8s.io"));
}

enum err_code negotiate_discovery(struct str accept, bool whole, bool routed, struct discovery_form *ret_form,
                                  struct err *e)
{
    struct answer_form form;
    if (routed && check_router(accept, "", e))
        return e->code;
    if (!choose(accept, whole ? takes_whole : takes_plain, &form))
        return err_set(e, ERR_NOT_ACCEPTABLE, "only the following media types are accepted: " MEDIA_NAMES);
    *ret_form = (struct discovery_form){ form.media, form.as != AS_OBJECT };
    return ERR_OK;
}

/* ---- Bodies ---- */

static bool is_token(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ' || (unsigned char)s.p[i] >= 0x7f || strchr("()<>@,;:\\\"/[]?=", s.p[i]))
            return false;
    return s.n > 0;
}

/* Whether Go's mime.ParseMediaType would read the parameters: name=token or name="text", no name twice. */
static bool parameters_are_right(struct str text)
{
    struct str seen[8];
    size_t n = 0;
    while (text.n) {
        struct str value, pair = trim(cut(text, ';', &text)), name = cut(pair, '=', &value);
        if (pair.n == 0 && text.n == 0)
            return true; /* a semicolon at the end */
        bool quoted = value.n >= 2 && value.p[0] == '"' && value.p[value.n - 1] == '"';
        if (n == sizeof(seen) / sizeof(seen[0]) || !is_token(name) || (!quoted && !is_token(value)))
            return false;
        for (size_t i = 0; i < n; i++)
            if (seen[i].n == name.n && strncasecmp(seen[i].p, name.p, name.n) == 0)
                return false;
        seen[n++] = name;
    }
    return true;
}

enum err_code negotiate_body(struct str content_type, enum media *ret_media, struct err *e)
{
    struct str parameters;
    cut(content_type, ';', &parameters);
    return media_of_content_type(parameters_are_right(parameters) ? content_type : STR("?"), ret_media, e);
}

enum err_code negotiate_patch(struct str content_type, enum patch_form *ret_form, struct err *e)
{
    static const char *const forms[] = { "application/json-patch+json", "application/merge-patch+json",
                                         "application/strategic-merge-patch+json", "application/apply-patch+yaml" };
    struct str rest, name = trim(cut(content_type, ';', &rest));
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (str_is(name, forms[i])) {
            *ret_form = (enum patch_form)i;
            return ERR_OK;
        }
    e->kind = e->name = "";
    return err_set(e, ERR_UNSUPPORTED_MEDIA_TYPE, "415: Unsupported Media Type");
}
