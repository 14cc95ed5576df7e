/* client/credentials.c - see credentials.h. */
#include "client/credentials.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base64.h"
#include "client/exec_plugin.h"
#include "client/kubeconfig_priv.h"

/* What a worker reads; it outlives credentials that are freed meanwhile. */
struct file_read {
    struct credentials *of; /* NULL: nobody wants it any more */
    const char *path;
    struct arena arena;
    struct err error;
    struct str token;
};

struct credentials {
    struct loop *loop;
    struct arena arena;
    struct headers fixed;     /* all but what changes */
    const char *token_file;   /* NULL: none */
    struct strbuf token;      /* the file's, or the one that serves until it can be read */
    bool has_token;
    int64_t due_ms;           /* when the file is to be read again */
    uint64_t version;
    struct file_read *reading;
    struct list waiters;

    struct client_config config; /* with a program; its `exec` is NULL otherwise */
    struct exec_run *run;        /* at most one */
    bool has_printed, expires;
    struct timestamp expires_at;
    struct strbuf cert;          /* as printed, to see a change */
    credentials_use_cert use_cert;
    void *context;
};

/* ---- Headers that stay ---- */

static void add_fixed(struct credentials *c, struct str name, struct str value)
{
    headers_add(&c->fixed, &c->arena, name, value);
}

/* The key of an extra field in a header's name: what is no token, and the sign of escaping, as %XX. */
static struct str extra_name(struct arena *a, struct str key)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&b, "impersonate-extra-");
    for (size_t i = 0; i < key.n; i++) {
        char byte = key.p[i];
        if (byte == '%' || !header_name_is_valid((struct str){ &key.p[i], 1 }))
            strbuf_printf(&b, "%%%02X", (unsigned char)byte);
        else
            strbuf_add_char(&b, byte);
    }
    struct str name = arena_str(a, strbuf_str(&b));
    strbuf_fini(&b);
    return name;
}

static void add_impersonation(struct credentials *c, const struct client_config *config)
{
    if (config->as_user.n == 0 && config->as_uid.n == 0 && config->n_as_groups == 0 && config->n_as_extra == 0)
        return;
    add_fixed(c, STR("impersonate-user"), config->as_user);
    if (config->as_uid.n)
        add_fixed(c, STR("impersonate-uid"), config->as_uid);
    for (uint32_t i = 0; i < config->n_as_groups; i++)
        add_fixed(c, STR("impersonate-group"), config->as_groups[i]);
    for (uint32_t i = 0; i < config->n_as_extra; i++)
        for (uint32_t k = 0; k < config->as_extra[i].n; k++)
            add_fixed(c, extra_name(&c->arena, config->as_extra[i].key), config->as_extra[i].values[k]);
}

static void add_basic(struct credentials *c, const struct client_config *config)
{
    struct strbuf pair, value;
    strbuf_init(&pair, STRBUF_NO_MAX);
    strbuf_init(&value, STRBUF_NO_MAX);
    strbuf_printf(&pair, "%.*s:%.*s", STR_ARG(config->username), STR_ARG(config->password));
    STRBUF_ADD_LIT(&value, "Basic ");
    base64_add(&value, strbuf_str(&pair));
    add_fixed(c, STR("authorization"), strbuf_str(&value));
    strbuf_fini(&pair);
    strbuf_fini(&value);
}

/* ---- The token file ---- */

static struct str trim(struct str s)
{
    while (s.n && strchr(" \t\r\n\v\f", s.p[0]))
        s = str_from(s, 1);
    while (s.n && strchr(" \t\r\n\v\f", s.p[s.n - 1]))
        s.n--;
    return s;
}

static enum err_code file_error(const char *path, const char *what, struct err *e)
{
    return err_set(e, ERR_IO, "%s %s: %s", what, path, client_errno_text(e->arena));
}

static enum err_code read_file(const char *path, struct str *ret_bytes, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer must not hold us */
    if (fd < 0)
        return file_error(path, "open", e);
    char *room = arena_alloc(e->arena, CREDENTIALS_FILE_BYTES_MAX + 1);
    size_t n = 0;
    ssize_t got = 1;
    while (got > 0 && n <= CREDENTIALS_FILE_BYTES_MAX) {
        got = read(fd, room + n, CREDENTIALS_FILE_BYTES_MAX + 1 - n);
        n += got > 0 ? (size_t)got : 0;
    }
    enum err_code rc = got < 0 ? file_error(path, "read", e) : ERR_OK;
    close(fd);
    if (!rc && n > CREDENTIALS_FILE_BYTES_MAX)
        rc = err_set(e, ERR_IO, "more than %d bytes", CREDENTIALS_FILE_BYTES_MAX);
    if (!rc)
        *ret_bytes = (struct str){ room, n };
    return rc;
}

static enum err_code read_token(const char *path, struct str *ret_token, struct err *e)
{
    struct str token;
    if (read_file(path, &token, e))
        return err_wrap(e, "failed to read token file \"%s\"", path);
    token = trim(token);
    if (token.n == 0)
        return err_set(e, ERR_IO, "read empty token from file \"%s\"", path);
    if (!header_value_is_valid(token))
        return err_set(e, ERR_IO, "token in file \"%s\" cannot stand in a header", path);
    *ret_token = token;
    return ERR_OK;
}

static void wake_all(struct credentials *c, const char *error)
{
    struct list_node *n;
    while ((n = list_first(&c->waiters))) {
        struct credentials_waiter *w = LIST_ITEM(n, struct credentials_waiter, node);
        list_remove(n);
        w->ready(w, error);
    }
}

static void take_token(struct credentials *c, struct str token)
{
    strbuf_reset(&c->token);
    strbuf_add_str(&c->token, token);
    c->has_token = true;
}

/* On failure the old token stays, and the file is tried again soon. */
static void finish_read(struct credentials *c, const struct file_read *r)
{
    c->reading = NULL;
    c->due_ms = loop_now_ms(c->loop) + (r->error.code ? CREDENTIALS_RETRY_MS : CREDENTIALS_FILE_MS);
    c->version++;
    if (!r->error.code)
        take_token(c, r->token);
    wake_all(c, c->has_token ? NULL : r->error.message);
}

static void read_on_worker(void *context)
{
    struct file_read *r = context;
    (void)!read_token(r->path, &r->token, &r->error); /* the error stays with it */
}

static void read_done(void *context)
{
    struct file_read *r = context;
    if (r->of)
        finish_read(r->of, r);
    arena_fini(&r->arena);
    free(r);
}

static void start_read(struct credentials *c)
{
    if (c->reading)
        return;
    struct file_read *r = mem_zalloc(sizeof(*r));
    arena_init(&r->arena);
    err_init(&r->error, &r->arena);
    r->of = c;
    r->path = arena_cstr(&r->arena, str_of(c->token_file));
    c->reading = r;
    loop_work(c->loop, read_on_worker, read_done, r);
}

/* ---- The program ---- */

static bool has_expired(const struct credentials *c)
{
    struct timestamp now = timestamp_unix(0, clock_wall_ns(loop_clock(c->loop)));
    return c->expires && timestamp_cmp(now, c->expires_at) > 0;
}

static enum err_code take_cert(struct credentials *c, const struct exec_result *x, struct err *e)
{
    if (str_eq(x->cert_pem, strbuf_str(&c->cert)))
        return ERR_OK;
    if (c->use_cert(c->context, x->cert_pem, x->key_pem, e))
        return err_wrap(e, "failed parsing client key/certificate");
    strbuf_reset(&c->cert);
    strbuf_add_str(&c->cert, x->cert_pem);
    return ERR_OK;
}

static const char *take_printed(struct credentials *c, const struct exec_result *x, struct err *e)
{
    if (x->token.n && !header_value_is_valid(x->token))
        return "exec plugin returned a token that cannot stand in a header";
    if (take_cert(c, x, e))
        return e->message;
    take_token(c, x->token);
    c->has_token = x->token.n > 0;
    c->expires = x->expires;
    c->expires_at = x->expires_at;
    c->has_printed = true;
    c->version++;
    return NULL;
}

/* What was printed before serves on if it can. */
static void program_done(void *context, const struct exec_result *x, const char *error)
{
    struct credentials *c = context;
    struct arena a;
    struct err e;
    c->run = NULL;
    arena_init(&a);
    err_init(&e, &a);
    if (!error)
        error = take_printed(c, x, &e);
    wake_all(c, c->has_printed && !has_expired(c) ? NULL : error);
    arena_fini(&a);
}

/* A program that wants to know the cluster gets the authorities themselves, not the name of their file. */
static enum err_code set_program(struct credentials *c, const struct client_config *config, struct err *e)
{
    struct str ca = config->ca_data;
    if (exec_check(config->exec, e))
        return e->code;
    if (config->exec->provide_cluster_info && config->ca_file.n && !ca.n &&
        read_file(arena_cstr(e->arena, config->ca_file), &ca, e))
        return e->code;
    c->config = *config;
    c->config.ca_data = arena_str(&c->arena, ca);
    return ERR_OK;
}

static void start_program(struct credentials *c)
{
    if (!c->run)
        c->run = exec_start(c->loop, &c->config, 0, program_done, c);
}

/* ---- Asking for them ---- */

/* Begins what has to be done first; false: nothing has. */
static bool prepare(struct credentials *c)
{
    if (c->config.exec && (c->run || !c->has_printed || has_expired(c)))
        start_program(c);
    else if (c->token_file && (c->reading || loop_now_ms(c->loop) >= c->due_ms))
        start_read(c);
    else
        return false;
    return true;
}

bool credentials_ready(struct credentials *c, struct credentials_waiter *w)
{
    if (!prepare(c))
        return true;
    list_push(&c->waiters, &w->node);
    return false;
}

void credentials_leave(struct credentials_waiter *w)
{
    if (list_has(&w->node))
        list_remove(&w->node);
}

void credentials_set_token(struct credentials *c, struct str token)
{
    take_token(c, token);
    c->version++;
}

uint64_t credentials_version(const struct credentials *c)
{
    return c->version;
}

void credentials_add(const struct credentials *c, struct headers *h, struct arena *a)
{
    if (c->has_token)
        headers_add(h, a, STR("authorization"),
                    str_of(arena_printf(a, "Bearer %.*s", STR_ARG(strbuf_str(&c->token)))));
    for (uint32_t i = 0; i < c->fixed.n; i++)
        headers_add(h, a, c->fixed.at[i].name, c->fixed.at[i].value);
}

void credentials_refused(struct credentials *c, uint64_t version)
{
    if (version != c->version)
        return; /* there are others already */
    c->due_ms = loop_now_ms(c->loop);
    if (c->config.exec)
        start_program(c);
}

/* ---- Life ---- */

static enum err_code read_first(struct credentials *c, struct err *e)
{
    struct str token;
    enum err_code rc = read_token(c->token_file, &token, e);
    c->due_ms = loop_now_ms(c->loop) + (rc ? CREDENTIALS_RETRY_MS : CREDENTIALS_FILE_MS);
    if (!rc)
        take_token(c, token);
    return c->has_token ? ERR_OK : rc;
}

/* Whether the program is what identifies us. */
static bool by_program(const struct client_config *c)
{
    return c->exec && !c->token.n && !c->token_file.n && !c->username.n && !c->password.n && !c->cert_data.n &&
           !c->cert_file.n;
}

enum err_code credentials_new(const struct client_config *config, struct loop *l, credentials_use_cert use_cert,
                              void *context, struct credentials **ret_credentials, struct err *e)
{
    struct credentials *c = mem_zalloc(sizeof(*c));
    c->loop = l;
    arena_init(&c->arena);
    strbuf_init(&c->token, CREDENTIALS_FILE_BYTES_MAX);
    strbuf_init(&c->cert, EXEC_OUTPUT_BYTES_MAX);
    list_init(&c->waiters);
    c->use_cert = use_cert;
    c->context = context;
    add_impersonation(c, config);
    bool by_token = config->token.n || config->token_file.n;
    if (!by_token && (config->username.n || config->password.n))
        add_basic(c, config);
    if (config->token.n)
        take_token(c, config->token);
    if (config->token_file.n)
        c->token_file = arena_cstr(&c->arena, config->token_file);
    if ((c->token_file && read_first(c, e)) || (by_program(config) && set_program(c, config, e))) {
        credentials_free(c);
        return e->code;
    }
    *ret_credentials = c;
    return ERR_OK;
}

void credentials_free(struct credentials *c)
{
    if (!c)
        return;
    assert(list_is_empty(&c->waiters));
    if (c->reading)
        c->reading->of = NULL;
    if (c->run)
        exec_abandon(c->run);
    strbuf_fini(&c->cert);
    strbuf_fini(&c->token);
    arena_fini(&c->arena);
    free(c);
}
