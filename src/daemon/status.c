/* daemon/status.c - see status.h. Upstream: endpoints/handlers/negotiation, apimachinery's JSON serializer. */
#include "daemon/status.h"

#include "codec/json.h"

bool wants_pretty(const struct head *request, const struct target *t)
{
    static const char *const yes[] = { "1", "t", "T", "true", "TRUE", "True" };
    struct str given = target_get(t, "pretty"), agent = headers_get(&request->headers, "user-agent");
    for (size_t i = 0; given.n && i < sizeof(yes) / sizeof(yes[0]); i++)
        if (str_is(given, yes[i]))
            return true;
    return given.n == 0 && (str_starts(agent, STR("curl")) || str_starts(agent, STR("Wget")) ||
                            str_starts(agent, STR("Mozilla/5.0")));
}

static void new_line(struct strbuf *to, int depth)
{
    strbuf_add_char(to, '\n');
    for (int i = 0; i < depth; i++)
        STRBUF_ADD_LIT(to, "  ");
}

/* As Go's json.Indent: members and items on lines of their own, what is empty stays together. */
static void indent(struct strbuf *to, struct str json)
{
    int depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < json.n; i++) {
        char c = json.p[i], last = i ? json.p[i - 1] : 0, next = i + 1 < json.n ? json.p[i + 1] : 0;
        if (in_string) {
            strbuf_add_char(to, c);
            if (c == '\\')
                strbuf_add_char(to, json.p[++i]);
            in_string = c != '"';
            continue;
        }
        in_string = c == '"';
        bool closes = c == '}' || c == ']', opens = c == '{' || c == '[';
        if (closes && last != (c == '}' ? '{' : '['))
            new_line(to, --depth);
        strbuf_add_char(to, c);
        if (opens && next != (c == '{' ? '}' : ']'))
            new_line(to, ++depth);
        else if (c == ',')
            new_line(to, depth);
        else if (c == ':')
            strbuf_add_char(to, ' ');
    }
}

void json_add_shown(struct strbuf *to, struct str json, bool pretty)
{
    if (pretty) {
        indent(to, json);
    } else {
        strbuf_add_str(to, json);
        strbuf_add_char(to, '\n');
    }
}

void status_add_failure(struct strbuf *to, int code, const char *reason, struct str message, bool details, bool pretty)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&json, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
                          "\"message\":");
    json_add_string(&json, message);
    strbuf_printf(&json, ",\"reason\":\"%s\"%s,\"code\":%d}", reason, details ? ",\"details\":{}" : "", code);
    json_add_shown(to, strbuf_str(&json), pretty);
    strbuf_fini(&json);
}
