/* apiserver/kubelet.c - log, exec, attach, portforward, proxy: what is checked before a kubelet is asked, and that there is none.
 * Upstream: core/pod/strategy.go. */
#include "apiserver/exchange.h"
#include "apiserver/registry_priv.h"

#define NO_KUBELET "this API server reaches no kubelets: log, exec, attach, port-forward and proxy are not served"

static const struct {
    const char *list, *type;
} containers[] = {
    { "spec.initContainers", "core/v1.Container" },
    { "spec.containers", "core/v1.Container" },
    { "spec.ephemeralContainers", "core/v1.EphemeralContainer" },
};
enum { N_LISTS = sizeof(containers) / sizeof(containers[0]) };

/* Names of all containers, in upstream's order, parted by spaces; whether `wanted` is among them. */
static bool find_container(const struct value *pod, struct str wanted, struct strbuf *names)
{
    const struct type *t = schema_type(STR("core/v1.Pod"));
    bool found = false;
    for (size_t i = 0; i < N_LISTS; i++) {
        const struct value *list = value_path(t, pod, containers[i].list);
        const struct type *ct = schema_type(str_of(containers[i].type));
        for (uint32_t k = 0; list->kind == VALUE_LIST && k < list->n; k++) {
            struct str name = value_text(value_path(ct, &list->items[k], "name"));
            strbuf_add_text(names, names->n ? " " : "");
            strbuf_add_str(names, name);
            found |= str_eq(name, wanted);
        }
    }
    return found;
}

static enum err_code check_container(struct exchange *x, const struct value *pod)
{
    const struct type *t = schema_type(STR("core/v1.Pod"));
    struct str wanted = target_get(&x->target, "container");
    struct strbuf names;
    strbuf_init(&names, STRBUF_NO_MAX);
    bool found = find_container(pod, wanted, &names);
    if (wanted.n && !found)
        err_set(&x->err, ERR_BAD_REQUEST, "container %.*s is not valid for pod %.*s",
                STR_ARG(err_shown(&x->err, wanted)), STR_ARG(x->route.name));
    else if (!wanted.n && value_path(t, pod, "spec.containers")->n > 1)
        err_set(&x->err, ERR_BAD_REQUEST, "a container name must be specified for pod %.*s, choose one of: [%.*s]",
                STR_ARG(x->route.name), STR_ARG(strbuf_str(&names)));
    strbuf_fini(&names);
    return x->err.code;
}

static const struct value *find(struct exchange *x, struct str name)
{
    const struct resource *r = x->at.resource;
    const struct value *found = stored_get(x->server->o.objects, r, x->route.namespace, name);
    if (found)
        return found;
    x->err.kind = arena_cstr(&x->arena, r->plural);
    x->err.name = arena_cstr(&x->arena, name);
    err_set(&x->err, ERR_NOT_FOUND, "%s \"%s\" not found", x->err.kind, x->err.name);
    return NULL;
}

/* In "NAME", "NAME:PORT" and "SCHEME:NAME:PORT". */
static struct str proxied_name(struct str whole)
{
    size_t first = str_index(whole, ':');
    struct str rest = first < whole.n ? str_from(whole, first + 1) : STR("");
    size_t second = str_index(rest, ':');
    return second < rest.n ? str_first(rest, second) : str_first(whole, first);
}

static enum err_code check_pod(struct exchange *x, bool log, bool *ret_empty)
{
    const struct type *t = schema_type(STR("core/v1.Pod"));
    const struct value *pod = find(x, x->route.name);
    if (!pod)
        return x->err.code;
    if (!str_is(x->route.subresource, "portforward") && check_container(x, pod))
        return x->err.code;
    bool placed = value_text(value_path(t, pod, "spec.nodeName")).n > 0;
    *ret_empty = log && !placed;
    if (!log && !placed)
        return err_set(&x->err, ERR_BAD_REQUEST, "pod %.*s does not have a host assigned", STR_ARG(x->route.name));
    return ERR_OK;
}

void serve_kubelet(struct exchange *x)
{
    bool proxy = str_is(x->route.subresource, "proxy"), log = str_is(x->route.subresource, "log"), empty = false;
    if (proxy ? !find(x, proxied_name(x->route.name)) : check_pod(x, log, &empty)) {
        answer_error(x, NULL);
    } else if (!proxy && !log && !headers_get(&x->head->headers, "upgrade").n) {
        err_set(&x->err, ERR_BAD_REQUEST, "Upgrade request required");
        answer_error(x, NULL);
    } else if (empty) {
        answer_bytes(x, 204, NULL, STR(""));
    } else {
        err_set(&x->err, proxy ? ERR_UNAVAILABLE : ERR_UNKNOWN, NO_KUBELET);
        answer_error(x, NULL);
    }
}
