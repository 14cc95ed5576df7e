/* client/exec_plugin.c - see exec_plugin.h. */
#include "client/exec_plugin.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base64.h"
#include "codec/json.h"

#define V1 "client.authentication.k8s.io/v1"
#define V1BETA1 "client.authentication.k8s.io/v1beta1"
#define NOT_INSTALLED                                                                                        \
    "\n\nIt looks like you are trying to use a client-go credential plugin that is not installed.\n\n"       \
    "To learn more about this feature, consult the documentation available at:\n"                            \
    "      https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins"

struct exec_run {
    struct loop *loop;
    const struct client_config *config;
    exec_done done;
    void *context;
    struct arena arena;
    struct err error;
    uv_process_t process;
    uv_pipe_t out;
    int n_open;               /* handles that are not closed yet */
    struct strbuf output;
    int64_t exit_code;
    bool has_handle, has_process; /* the handle also of a process that could not be started */
    bool has_exited, has_ended;   /* ended: its output */
    bool is_concluded;            /* only its end is awaited */
    struct loop_timer timer;
    struct loop_task task;
};

enum err_code exec_check(const struct client_exec *x, struct err *e)
{
    if (!str_is(x->api_version, V1) && !str_is(x->api_version, V1BETA1))
        return err_set(e, ERR_INVALID, "exec plugin: invalid apiVersion \"%.*s\"", STR_ARG(x->api_version));
    return ERR_OK;
}

/* ---- What the program is told ---- */

static void add_member(struct strbuf *b, const char *name, struct str text)
{
    if (text.n == 0)
        return;
    strbuf_printf(b, ",\"%s\":", name);
    json_add_string(b, text);
}

static void add_cluster(struct strbuf *b, const struct client_config *c)
{
    STRBUF_ADD_LIT(b, "\"cluster\":{\"server\":");
    json_add_string(b, c->server);
    add_member(b, "tls-server-name", c->tls_server_name);
    if (c->insecure_skip_tls_verify)
        STRBUF_ADD_LIT(b, ",\"insecure-skip-tls-verify\":true");
    if (c->ca_data.n) {
        STRBUF_ADD_LIT(b, ",\"certificate-authority-data\":\"");
        base64_add(b, c->ca_data);
        STRBUF_ADD_LIT(b, "\"");
    }
    add_member(b, "proxy-url", c->proxy_url);
    if (c->disable_compression)
        STRBUF_ADD_LIT(b, ",\"disable-compression\":true");
    struct str extension = c->exec->cluster_extension;
    strbuf_printf(b, ",\"config\":%.*s},", STR_ARG(extension.n ? extension : STR("null")));
}

static struct str exec_info(struct arena *a, const struct client_config *c)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_printf(&b, "{\"kind\":\"ExecCredential\",\"apiVersion\":\"%.*s\",\"spec\":{", STR_ARG(c->exec->api_version));
    if (c->exec->provide_cluster_info)
        add_cluster(&b, c);
    STRBUF_ADD_LIT(&b, "\"interactive\":false}}\n");
    struct str info = arena_str(a, strbuf_str(&b));
    strbuf_fini(&b);
    return info;
}

struct environment {
    struct arena *arena;
    char **at; /* ends with NULL */
    size_t n;
};

/* A name that is there already gets the new value: programs differ in which of two they see. */
static void set_variable(struct environment *v, char *text)
{
    size_t n_name = str_index(str_of(text), '=') + 1;
    for (size_t i = 0; i < v->n; i++)
        if (strncmp(v->at[i], text, n_name) == 0) {
            v->at[i] = text;
            return;
        }
    v->at[v->n++] = text;
}

static char **make_environment(struct arena *a, const struct client_config *c)
{
    const struct client_exec *x = c->exec;
    size_t n = 0;
    while (environ[n])
        n++;
    struct environment v = { .arena = a, .at = ARENA_NEW_N(a, char *, n + x->n_env + 2) };
    for (size_t i = 0; i < n; i++)
        set_variable(&v, environ[i]);
    for (uint32_t i = 0; i < x->n_env; i++)
        set_variable(&v, arena_printf(a, "%.*s=%.*s", STR_ARG(x->env[i].name), STR_ARG(x->env[i].value)));
    set_variable(&v, arena_printf(a, "KUBERNETES_EXEC_INFO=%.*s", STR_ARG(exec_info(a, c))));
    return v.at;
}

static char **make_arguments(struct arena *a, const struct client_exec *x)
{
    char **args = ARENA_NEW_N(a, char *, x->n_args + 2);
    args[0] = arena_cstr(a, x->command);
    for (uint32_t i = 0; i < x->n_args; i++)
        args[i + 1] = arena_cstr(a, x->args[i]);
    return args;
}

/* ---- What it prints ---- */

static struct str text_of(const struct value *map, const char *name)
{
    const struct value *v = map && map->kind == VALUE_MAP ? value_member(map, str_of(name)) : NULL;
    return v ? value_text(v) : (struct str){ 0 };
}

static enum err_code check_kind(const struct value *v, const struct client_exec *x, struct err *e)
{
    struct str version = text_of(v, "apiVersion");
    if (!str_is(text_of(v, "kind"), "ExecCredential"))
        return err_set(e, ERR_INVALID, "decoding stdout: not an ExecCredential");
    if (!str_eq(version, x->api_version))
        return err_set(e, ERR_INVALID,
                       "exec plugin is configured to use API version %.*s, plugin returned version %.*s",
                       STR_ARG(x->api_version), STR_ARG(version));
    return ERR_OK;
}

static enum err_code read_output(struct exec_run *r, struct exec_result *ret_result, struct err *e)
{
    struct value v;
    struct work work = work_init(EXEC_OUTPUT_BYTES_MAX);
    if (json_decode_plain(&r->arena, &work, strbuf_str(&r->output), &v, e))
        return err_wrap(e, "decoding stdout");
    if (check_kind(&v, r->config->exec, e))
        return e->code;
    const struct value *status = value_member(&v, STR("status"));
    if (!status || status->kind != VALUE_MAP)
        return err_set(e, ERR_INVALID, "exec plugin didn't return a status field");
    struct exec_result x = { .token = text_of(status, "token"), .cert_pem = text_of(status, "clientCertificateData"),
                             .key_pem = text_of(status, "clientKeyData") };
    struct str expires = text_of(status, "expirationTimestamp");
    if (x.token.n == 0 && x.cert_pem.n == 0 && x.key_pem.n == 0)
        return err_set(e, ERR_INVALID, "exec plugin didn't return a token or cert/key pair");
    if (!x.cert_pem.n != !x.key_pem.n)
        return err_set(e, ERR_INVALID, "exec plugin returned only certificate or key, not both");
    x.expires = expires.n > 0;
    if (x.expires && timestamp_parse(expires, &x.expires_at, e))
        return err_wrap(e, "decoding stdout");
    *ret_result = x;
    return ERR_OK;
}

/* ---- The run ---- */

static void handle_closed(uv_handle_t *h)
{
    struct exec_run *r = h->data;
    if (--r->n_open)
        return;
    strbuf_fini(&r->output);
    arena_fini(&r->arena);
    free(r);
}

/* The memory stays until libuv has closed both handles; that of a process only after its end, or nobody would collect
 * it. */
static void close_all(struct exec_run *r)
{
    r->is_concluded = true;
    loop_timer_stop(r->loop, &r->timer);
    loop_task_stop(&r->task);
    r->n_open = 1 + r->has_handle;
    if (r->has_process && !r->has_exited)
        uv_process_kill(&r->process, SIGKILL);
    else if (r->has_handle)
        uv_close((uv_handle_t *)&r->process, handle_closed);
    uv_close((uv_handle_t *)&r->out, handle_closed);
}

static void conclude(struct exec_run *r, const char *failure)
{
    struct exec_result result;
    struct str command = r->config->exec->command;
    if (!failure && r->exit_code)
        failure = arena_printf(&r->arena, "exec: executable %.*s failed with exit code %lld", STR_ARG(command),
                               (long long)r->exit_code);
    if (!failure && read_output(r, &result, &r->error))
        failure = r->error.message;
    r->done(r->context, failure ? NULL : &result, failure);
    close_all(r);
}

static void check_over(struct exec_run *r)
{
    if (r->has_exited && r->has_ended)
        conclude(r, NULL);
}

static void on_exit_code(uv_process_t *process, int64_t exit_code, int signal)
{
    struct exec_run *r = process->data;
    r->has_exited = true;
    r->exit_code = signal ? -1 : exit_code; /* Go's number for a signal */
    if (r->is_concluded)
        uv_close((uv_handle_t *)process, handle_closed);
    else
        check_over(r);
}

static void give_room(uv_handle_t *h, size_t n, uv_buf_t *ret_room)
{
    struct exec_run *r = h->data;
    (void)n;
    *ret_room = uv_buf_init(loop_read_room(r->loop), LOOP_READ_BYTES);
}

static void on_output(uv_stream_t *s, ssize_t n, const uv_buf_t *room)
{
    struct exec_run *r = s->data;
    if (n > 0)
        strbuf_add(&r->output, room->base, (size_t)n);
    if (r->output.overflow) {
        uv_read_stop(s);
        conclude(r, arena_printf(&r->arena, "exec: executable %.*s printed more than %d bytes",
                                 STR_ARG(r->config->exec->command), EXEC_OUTPUT_BYTES_MAX));
    } else if (n < 0) {
        uv_read_stop(s);
        r->has_ended = true;
        check_over(r);
    }
}

static void on_time(struct loop_timer *t)
{
    struct exec_run *r = HEAP_ITEM(&t->node, struct exec_run, timer.node);
    conclude(r, arena_printf(&r->arena, "exec: executable %.*s did not end in time",
                             STR_ARG(r->config->exec->command)));
}

static void not_started(struct loop_task *t)
{
    struct exec_run *r = LIST_ITEM(&t->node, struct exec_run, task.node);
    conclude(r, r->error.message);
}

static const char *start_problem(struct exec_run *r, int status)
{
    const struct client_exec *x = r->config->exec;
    const char *hint = x->install_hint.n ? arena_printf(&r->arena, "\n\n%.*s", STR_ARG(x->install_hint)) : "";
    if (status == UV_ENOENT)
        return arena_printf(&r->arena, "exec: executable %.*s not found" NOT_INSTALLED "%s", STR_ARG(x->command), hint);
    return arena_printf(&r->arena, "exec: fork/exec %.*s: %s", STR_ARG(x->command), uv_strerror(status));
}

static void spawn(struct exec_run *r)
{
    uv_stdio_container_t stdio[3] = { { .flags = UV_IGNORE },
                                      { .flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE,
                                        .data.stream = (uv_stream_t *)&r->out },
                                      { .flags = UV_INHERIT_FD, .data.fd = 2 } };
    char **args = make_arguments(&r->arena, r->config->exec);
    uv_process_options_t o = { .file = args[0], .args = args, .env = make_environment(&r->arena, r->config),
                               .stdio = stdio, .stdio_count = 3, .exit_cb = on_exit_code };
    r->has_handle = true;
    int status = uv_spawn(loop_uv(r->loop), &r->process, &o);
    if (status)
        r->error.message = start_problem(r, status);
    else {
        r->has_process = true;
        uv_read_start((uv_stream_t *)&r->out, give_room, on_output);
    }
}

struct exec_run *exec_start(struct loop *l, const struct client_config *config, int64_t run_ms, exec_done done,
                            void *context)
{
    struct exec_run *r = mem_zalloc(sizeof(*r));
    r->loop = l;
    r->config = config;
    r->done = done;
    r->context = context;
    r->timer.fire = on_time;
    r->task.run = not_started;
    arena_init(&r->arena);
    err_init(&r->error, &r->arena);
    strbuf_init(&r->output, EXEC_OUTPUT_BYTES_MAX);
    uv_pipe_init(loop_uv(l), &r->out, 0);
    r->process.data = r->out.data = r;
    if (str_is(config->exec->interactive_mode, "Always"))
        r->error.message = "exec plugin cannot support interactive mode: standard input is not a terminal";
    else
        spawn(r);
    if (r->error.message)
        loop_defer(l, &r->task);
    else
        loop_timer_set(l, &r->timer, loop_now_ms(l) + (run_ms ? run_ms : EXEC_RUN_MS));
    return r;
}

/* The loop may be about to end: so the killed program is waited for here. */
void exec_abandon(struct exec_run *r)
{
    if (r->has_process && !r->has_exited) {
        uv_process_kill(&r->process, SIGKILL);
        waitpid(uv_process_get_pid(&r->process), NULL, 0);
        r->has_exited = true;
    }
    close_all(r);
}
