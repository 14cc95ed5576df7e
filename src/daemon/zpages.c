/* daemon/zpages.c - see zpages.h. Upstream: apiserver/pkg/server/flagz and statusz. */
#include "daemon/zpages.h"

#include <stdio.h>
#include <time.h>

#include "codec/json.h"
#include "codec/yaml.h"
#include "apiserver/status_object.h"
#include "http/headers.h"

#define NOT_ACCEPTED "only the following media types are accepted: application/json, application/yaml, text/plain"
#define WARNING_TEXT                                                                                                   \
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is "   \
    "for debugging purposes only.\n"

/* ---- Negotiation ---- */

enum form { FORM_NONE, FORM_TEXT, FORM_JSON, FORM_YAML };

struct wanted {
    enum form form;
    const char *version; /* of the object */
};

static struct str trimmed(struct str s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
        s = str_from(s, 1);
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    return s;
}

/* Takes the part before `byte` off. */
static struct str cut(struct str *rest, char byte)
{
    size_t at = str_index(*rest, byte);
    struct str part = trimmed(str_first(*rest, at));
    *rest = str_from(*rest, at + 1);
    return part;
}

struct clause {
    struct str type, group, version, kind;
    double q;
};

static struct clause read_clause(struct str text)
{
    struct clause c = { .type = cut(&text, ';'), .q = 1 };
    while (text.n) {
        struct str value = cut(&text, ';'), name = cut(&value, '=');
        if (str_is(name, "g"))
            c.group = value;
        else if (str_is(name, "v"))
            c.version = value;
        else if (str_is(name, "as"))
            c.kind = value;
        else if (str_is(name, "q"))
            c.q = value.n == 1 && value.p[0] == '0' ? 0 : value.n > 2 && value.p[1] == '.' ? (value.p[2] - '0') / 10.0 : 1;
    }
    return c;
}

/* What a clause asks for; text is given without, an object only with its full name. */
static struct wanted wish_of(const struct clause *c, const char *kind)
{
    struct wanted w = { FORM_NONE, NULL };
    bool named = c->group.n || c->version.n || c->kind.n;
    bool anything = str_is(c->type, "*/*"), app = str_is(c->type, "application/*");
    if (!named)
        w.form = anything || str_is_nocase(c->type, "text/plain") || str_is_nocase(c->type, "text/*") ? FORM_TEXT
                                                                                                     : FORM_NONE;
    else if (str_is(c->group, "config.k8s.io") && str_is(c->kind, kind)) {
        w.version = str_is(c->version, "v1beta1") ? "v1beta1" : str_is(c->version, "v1alpha1") ? "v1alpha1" : NULL;
        if (w.version && (anything || app || str_is_nocase(c->type, "application/json")))
            w.form = FORM_JSON;
        else if (w.version && str_is_nocase(c->type, "application/yaml"))
            w.form = FORM_YAML;
    }
    return w;
}

/* The best of what can be given: by q, then in the order of the header. */
static struct wanted negotiate(struct str accept, const char *kind)
{
    struct wanted best = { FORM_NONE, NULL };
    double best_q = 0;
    if (trimmed(accept).n == 0)
        return (struct wanted){ FORM_TEXT, NULL };
    while (accept.n) {
        struct clause c = read_clause(cut(&accept, ','));
        struct wanted w = wish_of(&c, kind);
        if (w.form != FORM_NONE && c.q > best_q) {
            best = w;
            best_q = c.q;
        }
    }
    return best;
}

/* ---- Texts ---- */

static const char *const separators[] = { ":", ": ", "=", " " };

static void add_flags_text(struct strbuf *to, const struct zpages *z, const char *separator)
{
    strbuf_printf(to, "\n%s flagz\n" WARNING_TEXT, z->component);
    for (size_t i = 0; i < z->n_flags; i++)
        strbuf_printf(to, "%s%s%s\n", z->flags[i].name, separator, z->flags[i].value);
}

static void add_status_text(struct strbuf *to, const struct zpages *z, int64_t now_s, const char *separator)
{
    char started[64];
    struct tm tm;
    time_t start = (time_t)z->start_s;
    int64_t up_s = now_s > z->start_s ? now_s - z->start_s : 0;
    gmtime_r(&start, &tm);
    strftime(started, sizeof(started), "%a %b %e %H:%M:%S UTC %Y", &tm);
    strbuf_printf(to, "\n%s statusz\n" WARNING_TEXT "\n", z->component);
    strbuf_printf(to, "Started%s %s\n", separator, started);
    strbuf_printf(to, "Up%s %lld hr %02lld min %02lld sec\n", separator, (long long)(up_s / 3600),
                  (long long)(up_s / 60 % 60), (long long)(up_s % 60));
    strbuf_printf(to, "Go version%s %s\nBinary version%s %s\n", separator, z->go_version, separator, z->binary_version);
    strbuf_printf(to, "Emulation version%s %s\nPaths%s", separator, z->emulation_version, separator);
    for (size_t i = 0; i < z->n_paths; i++)
        strbuf_printf(to, " %s", z->paths[i]);
    strbuf_add_char(to, '\n');
}

/* ---- Objects ---- */

static void add_member(struct strbuf *to, const char *before, const char *name, const char *value)
{
    strbuf_add_text(to, before);
    json_add_string(to, str_of(name));
    strbuf_add_char(to, ':');
    json_add_string(to, str_of(value));
}

static void add_flags(struct strbuf *to, const struct zpages *z)
{
    STRBUF_ADD_LIT(to, ",\"flags\":{");
    for (size_t i = 0; i < z->n_flags; i++)
        add_member(to, i ? "," : "", z->flags[i].name, z->flags[i].value);
    strbuf_add_char(to, '}');
}

static void add_status(struct strbuf *to, const struct zpages *z, int64_t now_s)
{
    char started[64];
    struct tm tm;
    time_t start = (time_t)z->start_s;
    gmtime_r(&start, &tm);
    strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", &tm);
    add_member(to, ",", "startTime", started);
    strbuf_printf(to, ",\"uptimeSeconds\":%lld", (long long)(now_s > z->start_s ? now_s - z->start_s : 0));
    add_member(to, ",", "goVersion", z->go_version);
    add_member(to, ",", "binaryVersion", z->binary_version);
    add_member(to, ",", "emulationVersion", z->emulation_version);
    STRBUF_ADD_LIT(to, ",\"paths\":[");
    for (size_t i = 0; i < z->n_paths; i++) {
        if (i)
            strbuf_add_char(to, ',');
        json_add_string(to, str_of(z->paths[i]));
    }
    strbuf_add_char(to, ']');
}

static void add_object(struct strbuf *to, const struct zpages *z, const struct zpage_request *r, struct wanted w)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    strbuf_printf(&json, "{\"kind\":\"%s\",\"apiVersion\":\"config.k8s.io/%s\",\"metadata\":{",
                  r->page == ZPAGE_FLAGZ ? "Flagz" : "Statusz", w.version);
    add_member(&json, "", "name", z->component);
    strbuf_add_char(&json, '}');
    if (r->page == ZPAGE_FLAGZ)
        add_flags(&json, z);
    else
        add_status(&json, z, r->now_s);
    strbuf_add_char(&json, '}');
    if (w.form == FORM_JSON)
        json_add_shown(to, strbuf_str(&json), r->pretty);
    else
        yaml_from_json(to, strbuf_str(&json));
    strbuf_fini(&json);
}

struct zpage_answer zpage_answer(const struct zpages *z, const struct zpage_request *r, struct arena *a,
                                 struct strbuf *to)
{
    const char *kind = r->page == ZPAGE_FLAGZ ? "Flagz" : "Statusz";
    const char *separator = separators[r->lot % (sizeof(separators) / sizeof(separators[0]))];
    struct wanted w = negotiate(r->accept, kind);
    if (w.form == FORM_NONE) {
        status_add_failure(to, 406, "NotAcceptable", STR(NOT_ACCEPTED), false, r->pretty);
        return (struct zpage_answer){ 406, "application/json", NULL };
    }
    if (w.form == FORM_TEXT) {
        if (r->page == ZPAGE_FLAGZ)
            add_flags_text(to, z, separator);
        else
            add_status_text(to, z, r->now_s, separator);
        return (struct zpage_answer){ 200, "text/plain; charset=utf-8", NULL };
    }
    add_object(to, z, r, w);
    bool old = strcmp(w.version, "v1alpha1") == 0;
    return (struct zpage_answer){
        200,
        arena_printf(a, "application/%s;g=config.k8s.io;v=%s;as=%s", w.form == FORM_JSON ? "json" : "yaml", w.version,
                     kind),
        old ? arena_printf(a, "299 - \"This version of the %s endpoint is deprecated. Please use a newer version.\"",
                           r->page == ZPAGE_FLAGZ ? "flagz" : "statusz")
            : NULL,
    };
}
