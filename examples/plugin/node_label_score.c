/* NodeLabelScore: a sample plugin for berth. Nodes that have a label get points, nodes that have another one are left out.
 *
 *     pluginConfig:
 *     - name: NodeLabelScore
 *       args: {"prefer": "disktype=ssd", "avoid": "example.com/maintenance"}
 *
 * "prefer" is a key or key=value, "avoid" is a key; both may be missing. Points: Filter, Score. A pod that was
 * rejected comes back when a node without the avoided label appears, or a node loses it. */
#include <berth/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_BYTES_MAX = 512, POINTS = 100 };

static const struct berth_host *host;

struct settings {
    char prefer_key[LABEL_BYTES_MAX], prefer_value[LABEL_BYTES_MAX]; /* key "": nothing is preferred */
    bool any_value;
    char avoid[LABEL_BYTES_MAX]; /* "": nothing is avoided */
};

/* ---- Arguments: a flat JSON object of strings, no escapes: labels need none ---- */

static const char *skip_space(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* A quoted text; NULL when there is none, or it is too long. */
static const char *read_text(const char *p, char *to)
{
    size_t n = *p == '"' ? strcspn(p + 1, "\"\\") : 0;
    if (*p != '"' || p[n + 1] != '"' || n >= LABEL_BYTES_MAX)
        return NULL;
    memcpy(to, p + 1, n);
    to[n] = '\0';
    return skip_space(p + n + 2);
}

static bool set(struct settings *s, const char *key, const char *value, char *error, size_t error_bytes)
{
    if (strcmp(key, "avoid") == 0) {
        strcpy(s->avoid, value);
    } else if (strcmp(key, "prefer") == 0) {
        size_t n = strcspn(value, "=");
        memcpy(s->prefer_key, value, n);
        s->prefer_key[n] = '\0';
        s->any_value = value[n] == '\0';
        strcpy(s->prefer_value, s->any_value ? "" : value + n + 1);
    } else {
        snprintf(error, error_bytes, "unknown argument \"%s\"", key);
        return false;
    }
    return true;
}

static bool parse(struct settings *s, const char *p, char *error, size_t error_bytes)
{
    char key[LABEL_BYTES_MAX], value[LABEL_BYTES_MAX];
    snprintf(error, error_bytes, "args must be an object of strings");
    p = skip_space(p);
    if (*p == '\0')
        return true; /* no args at all */
    if (*p++ != '{')
        return false;
    p = skip_space(p);
    while (*p != '}') {
        p = read_text(p, key);
        if (!p || *p != ':' || !(p = read_text(skip_space(p + 1), value)))
            return false;
        if (!set(s, key, value, error, error_bytes))
            return false;
        if (*p != ',' && *p != '}')
            return false;
        p = *p == ',' ? skip_space(p + 1) : p;
    }
    return true;
}

static bool init(const char *args, size_t n_args, void **ret_data, char *error, size_t error_bytes)
{
    (void)n_args;
    struct settings *s = calloc(1, sizeof(*s));
    if (!s || !parse(s, args, error, error_bytes)) {
        free(s);
        return false;
    }
    *ret_data = s;
    return true;
}

/* ---- Points ---- */

static bool is_avoided(const struct settings *s, struct berth_call *call, const struct berth_node *node)
{
    return *s->avoid && host->node_label(call, node, s->avoid);
}

static struct berth_verdict filter(void *data, struct berth_call *call, const struct berth_node *node)
{
    if (is_avoided(data, call, node))
        return (struct berth_verdict){ BERTH_UNRESOLVABLE, "node(s) had a label that is avoided" };
    return (struct berth_verdict){ BERTH_SUCCESS, NULL };
}

static int64_t score(void *data, struct berth_call *call, const struct berth_node *node)
{
    const struct settings *s = data;
    const char *value = *s->prefer_key ? host->node_label(call, node, s->prefer_key) : NULL;
    return value && (s->any_value || strcmp(value, s->prefer_value) == 0) ? POINTS : 0;
}

static bool node_changed(void *data, struct berth_call *call, const struct berth_pod *waiting,
                         const struct berth_event *event)
{
    (void)waiting;
    const struct berth_node *node = host->event_new_node(call, event);
    return node && !is_avoided(data, call, node);
}

static const struct berth_registration events[] = {
    { BERTH_RES_NODE, BERTH_ACT_ADD | BERTH_ACT_UPDATE_NODE_LABEL, node_changed },
};

static const struct berth_plugin plugin = {
    .abi_version = BERTH_ABI_VERSION,
    .n_bytes = sizeof(struct berth_plugin),
    .name = "NodeLabelScore",
    .init = init,
    .fini = free,
    .filter = filter,
    .score = score,
    .events = events,
    .n_events = sizeof(events) / sizeof(events[0]),
};

BERTH_EXPORT const struct berth_plugin *berth_plugin_entry(const struct berth_host *berth);

const struct berth_plugin *berth_plugin_entry(const struct berth_host *berth)
{
    host = berth;
    return &plugin;
}
