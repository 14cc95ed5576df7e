/* rules/pod_probes.c - see pod_priv.h: probes, what runs when a container starts and before it stops.
 *
 * Signals that stop a container are behind a gate that is off: they are dropped before anything is checked. */
#include "rules/pod_priv.h"

static void check_port(const struct value *port, const struct field_path *at, struct field_errors *errs)
{
    if (port->kind == VALUE_STRING)
        pod_check_name(name_port(value_text(port)), value_text(port), at, errs);
    else
        validate_name_errors(name_port_number(pod_number(port)), field_int(pod_number(port)), at, errs);
}

static void check_http(const struct value *get, const struct field_path *at, struct field_errors *errs)
{
    static const char *const schemes[] = { "HTTP", "HTTPS", NULL };
    const struct value *headers = GET(get, HTTPGetAction, httpHeaders);
    pod_require(TEXT(get, HTTPGetAction, path), at, "path", errs);
    check_port(GET(get, HTTPGetAction, port), AT(at, "port"), errs);
    pod_check_one_of(TEXT(get, HTTPGetAction, scheme), schemes, AT(at, "scheme"), errs);
    for (uint32_t i = 0; i < pod_count(headers); i++) {
        struct str name = TEXT(&headers->items[i], HTTPHeader, name);
        pod_check_name(name_http_header(name), name, AT(at, "httpHeaders"), errs);
    }
}

/* `grace` is the spec's terminationGracePeriodSeconds. */
static void check_sleep(const struct value *sleep, const struct value *grace, const struct field_path *at,
                        struct field_errors *errs)
{
    int64_t seconds = NUMBER(sleep, SleepAction, seconds);
    if (grace->kind == VALUE_INT && (seconds < 0 || seconds > grace->i))
        field_invalid(errs, at, field_int(seconds),
                      pod_detail(errs, "must be non-negative and less than terminationGracePeriodSeconds (%lld)",
                                 (long long)grace->i));
}

/* What a probe or a hook does; absent where there is no such thing. */
struct handler {
    const struct value *exec, *http_get, *tcp_socket, *grpc, *sleep;
};

/* True when it is the first one, which is then checked; a further one is an error. */
static bool comes_first(const struct value *action, const char *name, unsigned *n, const struct field_path *at,
                        struct field_errors *errs)
{
    if (action->kind == VALUE_ABSENT)
        return false;
    if ((*n)++ == 0)
        return true;
    field_forbidden(errs, AT_NAME(at, name), STR("may not specify more than 1 handler type"));
    return false;
}

static void check_handler(struct pod_check *k, struct handler h, const struct field_path *at)
{
    struct field_errors *errs = k->errs;
    unsigned n = 0;
    if (comes_first(h.exec, "exec", &n, at, errs) && !pod_count(GET(h.exec, ExecAction, command)))
        field_required(errs, AT(AT(at, "exec"), "command"), STR(""));
    if (comes_first(h.http_get, "httpGet", &n, at, errs))
        check_http(h.http_get, AT(at, "httpGet"), errs);
    if (comes_first(h.tcp_socket, "tcpSocket", &n, at, errs))
        check_port(GET(h.tcp_socket, TCPSocketAction, port), AT(AT(at, "tcpSocket"), "port"), errs);
    if (comes_first(h.grpc, "grpc", &n, at, errs))
        check_port(GET(h.grpc, GRPCAction, port), AT(AT(at, "grpc"), "port"), errs);
    if (comes_first(h.sleep, "sleep", &n, at, errs))
        check_sleep(h.sleep, GET(k->spec, PodSpec, terminationGracePeriodSeconds), AT(at, "sleep"), errs);
    if (n == 0)
        field_required(errs, at, STR("must specify a handler type"));
}

/* ---- Probes ---- */

static void check_probe(struct pod_check *k, const struct value *probe, const struct field_path *at)
{
    static const struct value none = { .kind = VALUE_ABSENT };
    struct handler h = { GET(probe, Probe, exec), GET(probe, Probe, httpGet), GET(probe, Probe, tcpSocket),
                         GET(probe, Probe, grpc), &none };
    const struct value *grace = GET(probe, Probe, terminationGracePeriodSeconds);
    check_handler(k, h, at);
    validate_not_negative(NUMBER(probe, Probe, initialDelaySeconds), AT(at, "initialDelaySeconds"), k->errs);
    validate_not_negative(NUMBER(probe, Probe, timeoutSeconds), AT(at, "timeoutSeconds"), k->errs);
    validate_not_negative(NUMBER(probe, Probe, periodSeconds), AT(at, "periodSeconds"), k->errs);
    validate_not_negative(NUMBER(probe, Probe, successThreshold), AT(at, "successThreshold"), k->errs);
    validate_not_negative(NUMBER(probe, Probe, failureThreshold), AT(at, "failureThreshold"), k->errs);
    if (grace->kind == VALUE_INT && grace->i <= 0)
        field_invalid(k->errs, AT(at, "terminationGracePeriodSeconds"), field_int(grace->i),
                      STR("must be greater than 0"));
}

/* Of liveness and startup: one success is enough. */
static void check_single_success(struct pod_check *k, const struct value *probe, const struct field_path *at)
{
    if (probe->kind == VALUE_ABSENT)
        return;
    check_probe(k, probe, at);
    int64_t successes = NUMBER(probe, Probe, successThreshold);
    if (successes != 1)
        field_invalid(k->errs, AT(at, "successThreshold"), field_int(successes), STR("must be 1"));
}

static void check_readiness(struct pod_check *k, const struct value *probe, const struct field_path *at)
{
    if (probe->kind == VALUE_ABSENT)
        return;
    check_probe(k, probe, at);
    if (IS_SET(probe, Probe, terminationGracePeriodSeconds))
        field_invalid(k->errs, AT(at, "terminationGracePeriodSeconds"),
                      field_int(NUMBER(probe, Probe, terminationGracePeriodSeconds)),
                      STR("must not be set for readinessProbes"));
}

void pod_check_probes(struct pod_check *k, const struct value *container, const struct field_path *at)
{
    check_single_success(k, GET(container, Container, livenessProbe), AT(at, "livenessProbe"));
    check_readiness(k, GET(container, Container, readinessProbe), AT(at, "readinessProbe"));
    check_single_success(k, GET(container, Container, startupProbe), AT(at, "startupProbe"));
}

/* ---- Hooks ---- */

static void check_hook(struct pod_check *k, const struct value *hook, const struct field_path *at)
{
    static const struct value none = { .kind = VALUE_ABSENT };
    struct handler h = { GET(hook, LifecycleHandler, exec), GET(hook, LifecycleHandler, httpGet),
                         GET(hook, LifecycleHandler, tcpSocket), &none, GET(hook, LifecycleHandler, sleep) };
    if (hook->kind != VALUE_ABSENT)
        check_handler(k, h, at);
}

void pod_check_lifecycle(struct pod_check *k, const struct value *lifecycle, const struct field_path *at)
{
    check_hook(k, GET(lifecycle, Lifecycle, postStart), AT(at, "postStart"));
    check_hook(k, GET(lifecycle, Lifecycle, preStop), AT(at, "preStop"));
}
