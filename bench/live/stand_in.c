/* bench/live/stand_in.c - the program around the stand-in API server of stand_in.h.
 *
 *     bench-stand-in [--listen ADDRESS] [--kubeconfig FILE] [--plain] [--nodes N] [--pods N] [--placed N] [--later N]
 *                    [--expect N [--quit]] [-f FILE...] [--token TOKEN] [--requests FILE] [--explain FILE]
 *                    [--page N] [--expire] [--no-streaming] [--forbid RESOURCE...] [--forbid-all RESOURCE...]
 *                    [--not-served RESOURCE...]
 *
 * Serves HTTP/2 and HTTP/1.1 over TLS with a certificate that it makes, or --plain without; --kubeconfig writes the
 * file that leads to it. It begins with N nodes, N pods without a node and N that are placed on them; when the former are
 * bound, --later creates N more at once. After --expect bindings, and at the end (SIGTERM, SIGINT), it prints one line of
 * JSON with what it counted.
 *
 * For tests: -f reads a JSON List; --page bounds pages; --expire answers 410 to the first continue token; --forbid
 * answers 403 to lists, --forbid-all to lists of all namespaces; --requests writes a line a request, with its Accept and
 * Content-Type. */
#include "bench/live/stand_in.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/base64.h"

static _Noreturn void die(const char *message)
{
    fprintf(stderr, "bench-stand-in: %s\n", message);
    exit(1);
}

/* ---- Objects at the beginning ---- */

static void create_json(struct stand_in *x, struct shelf *f, const char *ns, struct str json)
{
    struct value v;
    struct err e;
    struct work work = work_init(64 << 20);
    err_init(&e, &x->scratch);
    if (json_decode(&x->scratch, &work, f->resource->type, json, NULL, &v, &e))
        die(e.message);
    if (!store_create(x, f, str_of(ns), &v))
        die("an object is given twice");
}

static void make_nodes(struct stand_in *x)
{
    struct shelf *f = store_shelf(x, STR(""), STR("v1"), STR("nodes"));
    for (uint32_t i = 0; i < x->o.n_nodes; i++) {
        arena_reset(&x->scratch);
        create_json(x, f, "",
                    str_of(arena_printf(&x->scratch,
                                        "{\"metadata\":{\"name\":\"node-%u\",\"labels\":{"
                                        "\"kubernetes.io/hostname\":\"node-%u\"}},\"status\":{\"allocatable\":{"
                                        "\"cpu\":\"4\",\"memory\":\"32Gi\",\"pods\":\"110\"}}}",
                                        i, i)));
    }
}

/* On nodes, in turn, or on none. */
static void make_pods(struct stand_in *x, const char *prefix, uint32_t n, bool placed)
{
    struct shelf *f = store_shelf(x, STR(""), STR("v1"), STR("pods"));
    for (uint32_t i = 0; i < n; i++) {
        arena_reset(&x->scratch);
        create_json(x, f, "default",
                    str_of(arena_printf(
                        &x->scratch,
                        "{\"metadata\":{\"name\":\"%s-%u\"},\"spec\":{%s\"schedulerName\":\"default-scheduler\",\"priority\":0,"
                        "\"containers\":[{\"name\":\"pause\",\"image\":\"registry.example.com/pause:1\",\"resources\":{"
                        "\"requests\":{\"cpu\":\"10m\",\"memory\":\"10Mi\"}}}]},\"status\":{\"phase\":\"%s\"}}",
                        prefix, i,
                        placed ? arena_printf(&x->scratch, "\"nodeName\":\"node-%u\",", i % x->o.n_nodes) : "",
                        placed ? "Running" : "Pending")));
    }
}

static void make_namespace(struct stand_in *x, const char *name)
{
    create_json(x, store_shelf(x, STR(""), STR("v1"), STR("namespaces")), "",
                str_of(arena_printf(&x->scratch, "{\"metadata\":{\"name\":\"%s\"}}", name)));
}

/* ---- Files ---- */

static struct str read_file(struct arena *a, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        die(arena_printf(a, "cannot read %s", path));
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *p = arena_alloc(a, (size_t)n + 1);
    size_t got = fread(p, 1, (size_t)n, f);
    fclose(f);
    return (struct str){ p, got };
}

static const struct resource *resource_of(const struct type *t)
{
    for (size_t i = 0; i < schema_n_resources; i++)
        if (schema_resources[i].type == t)
            return &schema_resources[i];
    die("a file has an object of an unknown kind");
}

static void load_item(struct stand_in *x, struct str json)
{
    struct object o;
    struct gvk seen, none = { STR(""), STR(""), STR("") };
    struct err e;
    struct work work = work_init(64 << 20);
    err_init(&e, &x->scratch);
    if (object_read(&x->scratch, &work, MEDIA_JSON, json, none, NULL, &o, &seen, &e))
        die(e.message);
    struct str ns = value_text(value_path(o.type, &o.value, "metadata.namespace"));
    const struct resource *r = resource_of(o.type);
    if (!store_create(x, &x->shelves[r - schema_resources], r->namespaced && !ns.n ? STR("default") : ns, &o.value))
        die("an object is given twice");
}

static void load_file(struct stand_in *x, const char *path)
{
    struct arena a;
    struct err e;
    struct value list;
    struct work work = work_init(1 << 30);
    arena_init(&a);
    err_init(&e, &a);
    const struct type *t = schema_type(STR("core/v1.List"));
    if (json_decode(&a, &work, t, read_file(&a, path), NULL, &list, &e))
        die(e.message);
    const struct value *items = value_path(t, &list, "items");
    for (uint32_t i = 0; items->kind == VALUE_LIST && i < items->n; i++) {
        arena_reset(&x->scratch);
        load_item(x, value_text(&items->items[i]));
    }
    arena_fini(&a);
}

/* ---- Figures ---- */

/* Of the stand-in itself, since it began. */
static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void report(const struct stand_in *x)
{
    const struct stand_in_counts *c = &x->counts;
    double seconds = (double)(c->last_bind_ns - c->first_bind_ns) / 1e9;
    double first_ms = c->first_bind_ns ? (double)(c->first_bind_ns - c->asked_ns) / 1e6 : 0;
    double synced_ms = c->synced_ns ? (double)(c->synced_ns - c->asked_ns) / 1e6 : 0;
    printf("{\"binds\":%llu,\"seconds\":%.3f,\"binds_per_second\":%.0f,\"synced_ms\":%.1f,\"first_bind_ms\":%.1f,"
           "\"first_bind_at_ns\":%lld,\"refused_binds\":%llu,\"patches\":%llu,\"events\":%llu,"
           "\"deleted\":%llu,\"requests\":%llu,\"cpu_seconds\":%.3f}\n",
           (unsigned long long)c->n_binds, seconds, seconds > 0 ? (double)(c->n_binds - 1) / seconds : 0, synced_ms,
           first_ms, (long long)c->first_bind_ns, (unsigned long long)c->n_refused_binds,
           (unsigned long long)c->n_patches,
           (unsigned long long)c->n_events, (unsigned long long)c->n_deleted, (unsigned long long)c->n_requests,
           cpu_seconds());
    fflush(stdout);
}

static void stopped(void *context)
{
    loop_stop(((struct stand_in *)context)->loop);
}

static void quit(struct stand_in *x)
{
    server_stop(x->server, 100, stopped, x);
}

void stand_in_bound(struct stand_in *x)
{
    struct stand_in_counts *c = &x->counts;
    c->last_bind_ns = now_ns();
    if (!c->n_binds++)
        c->first_bind_ns = c->last_bind_ns;
    if (c->n_binds == x->o.n_pods && x->o.n_later) { /* the figures are about these, then */
        report(x);
        *c = (struct stand_in_counts){ .asked_ns = c->last_bind_ns };
        make_pods(x, "later", x->o.n_later, false);
        x->o.n_later = 0;
    } else if (c->n_binds == x->o.expect) {
        report(x);
        if (x->o.quit)
            quit(x);
    }
}

/* ---- Options ---- */

static uint32_t number_option(const char *text)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*end || !*text || n > 10000000)
        die("a number is expected");
    return (uint32_t)n;
}

static bool take_flag(struct stand_in_options *o, const char *name)
{
    const struct {
        const char *name;
        bool *to;
    } flags[] = { { "--plain", &o->plain }, { "--no-streaming", &o->no_streaming }, { "--expire", &o->expire },
                  { "--quit", &o->quit } };
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (strcmp(name, flags[i].name) == 0)
            return *flags[i].to = true;
    return false;
}

static void take_value(struct stand_in_options *o, const char *name, const char *value)
{
    if (strcmp(name, "--listen") == 0)
        o->address = value;
    else if (strcmp(name, "--kubeconfig") == 0)
        o->kubeconfig = value;
    else if (strcmp(name, "--token") == 0)
        o->token = value;
    else if (strcmp(name, "--requests") == 0)
        o->requests = value;
    else if (strcmp(name, "--explain") == 0)
        o->explain = value;
    else if (strcmp(name, "--nodes") == 0)
        o->n_nodes = number_option(value);
    else if (strcmp(name, "--pods") == 0)
        o->n_pods = number_option(value);
    else if (strcmp(name, "--placed") == 0)
        o->n_placed = number_option(value);
    else if (strcmp(name, "--later") == 0)
        o->n_later = number_option(value);
    else if (strcmp(name, "--page") == 0)
        o->page = number_option(value);
    else if (strcmp(name, "--expect") == 0)
        o->expect = number_option(value);
    else if (strcmp(name, "-f") == 0)
        vec_push(&o->files, value);
    else if (strcmp(name, "--forbid") == 0)
        vec_push(&o->forbidden, value);
    else if (strcmp(name, "--forbid-all") == 0)
        vec_push(&o->forbidden_all, value);
    else if (strcmp(name, "--not-served") == 0)
        vec_push(&o->not_served, value);
    else
        die("unknown option");
}

static void take_options(struct stand_in_options *o, int argc, char **argv)
{
    *o = (struct stand_in_options){ .address = "127.0.0.1:0" };
    for (int i = 1; i < argc; i++) {
        if (take_flag(o, argv[i]))
            continue;
        if (i + 1 == argc)
            die("an option needs a value");
        take_value(o, argv[i], argv[i + 1]);
        i++;
    }
}

/* ---- The server ---- */

static struct tls_context *make_tls(struct arena *a, struct str *ret_cert)
{
    const char *address = "127.0.0.1";
    int64_t now_s = time(NULL);
    struct tls_new_cert new = { .common_name = "stand-in", .addresses = &address, .n_addresses = 1, .is_ca = true,
                                .not_before_s = now_s - 3600, .not_after_s = now_s + 86400 };
    struct str key;
    struct err e;
    struct tls_context *tls;
    err_init(&e, a);
    if (tls_make_cert(&new, a, ret_cert, &key, &e))
        die(e.message);
    struct tls_cert_source source = { .cert_pem = *ret_cert, .key_pem = key };
    if (tls_context_new(&(struct tls_options){ .is_server = true, .certs = &source, .n_certs = 1 }, &tls, &e))
        die(e.message);
    return tls;
}

static void write_kubeconfig(const struct stand_in *x, int port, struct str cert)
{
    struct strbuf ca;
    FILE *f = fopen(x->o.kubeconfig, "w");
    if (!f)
        die("cannot write the kubeconfig");
    strbuf_init(&ca, STRBUF_NO_MAX);
    base64_add(&ca, cert);
    fprintf(f, "apiVersion: v1\nkind: Config\nclusters:\n- name: stand-in\n  cluster:\n    server: %s://127.0.0.1:%d\n",
            x->o.plain ? "http" : "https", port);
    if (cert.n)
        fprintf(f, "    certificate-authority-data: %.*s\n", STR_ARG(strbuf_str(&ca)));
    fprintf(f, "users:\n- name: user\n  user: {token: %s}\n", x->o.token ? x->o.token : "any");
    fprintf(f, "contexts:\n- name: stand-in\n  context: {cluster: stand-in, user: user, namespace: default}\n"
               "current-context: stand-in\n");
    fclose(f);
    strbuf_fini(&ca);
}

static void on_signal(uv_signal_t *handle, int number)
{
    (void)number;
    uv_signal_stop(handle);
    quit(handle->data);
}

static void fill(struct stand_in *x)
{
    if (!x->o.files.n) {
        make_namespace(x, "default");
        make_namespace(x, "kube-system");
    }
    for (size_t i = 0; i < x->o.files.n; i++)
        load_file(x, x->o.files.at[i]);
    make_nodes(x);
    if (x->o.n_placed && !x->o.n_nodes)
        die("placed pods need nodes");
    make_pods(x, "placed", x->o.n_placed, true);
    make_pods(x, "pod", x->o.n_pods, false);
}

static void serve(struct stand_in *x)
{
    struct arena a;
    struct err e;
    struct str cert = { 0 };
    int port;
    arena_init(&a);
    err_init(&e, &a);
    struct tls_context *tls = x->o.plain ? NULL : make_tls(&a, &cert);
    static struct http_limits limits;
    limits = http_server_limits;
    limits.streams = 1000;
    x->server = server_new(&(struct server_options){ .loop = x->loop, .handler = stand_in_handle, .context = x,
                                                     .limits = &limits });
    if (server_listen(x->server, x->o.address, tls, &port, &e))
        die(e.message);
    for (int i = 0; i < 2; i++) {
        uv_signal_init(loop_uv(x->loop), &x->signals[i]);
        x->signals[i].data = x;
        uv_signal_start(&x->signals[i], on_signal, i ? SIGINT : SIGTERM);
    }
    if (x->o.kubeconfig)
        write_kubeconfig(x, port, cert);
    printf("listening %d\n", port);
    fflush(stdout);
    loop_run(x->loop);
    for (int i = 0; i < 2; i++)
        uv_close((uv_handle_t *)&x->signals[i], NULL);
    server_free(x->server);
    tls_context_unref(tls);
    arena_fini(&a);
}

int main(int argc, char **argv)
{
    struct stand_in *x = mem_zalloc(sizeof(*x));
    signal(SIGPIPE, SIG_IGN);
    take_options(&x->o, argc, argv);
    x->loop = loop_new(NULL);
    arena_init(&x->scratch);
    strbuf_init(&x->out, STRBUF_NO_MAX);
    store_init(x);
    watches_init(x);
    x->requests = x->o.requests ? fopen(x->o.requests, "w") : NULL;
    if (x->requests)
        setvbuf(x->requests, NULL, _IOLBF, 0);
    fill(x);
    serve(x);
    report(x);
    store_fini(x);
    loop_free(x->loop);
    if (x->requests)
        fclose(x->requests);
    vec_fini(&x->o.files);
    vec_fini(&x->o.forbidden);
    vec_fini(&x->o.forbidden_all);
    vec_fini(&x->o.not_served);
    strbuf_fini(&x->out);
    arena_fini(&x->scratch);
    free(x);
    return 0;
}
