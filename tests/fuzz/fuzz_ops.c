/* tests/fuzz/fuzz_ops.c - what clients and API servers send to the secure port: targets, headers, answers of reviews,
 * published trust.
 *
 * The first byte says which: 0 a target, 1 an Accept header, 2 the headers of a request (lines "name: value") from a client
 * without certificate, 3 a TokenReview's answer, 4 a SubjectAccessReview's, 5 the ConfigMap. With 8 added the bytes are
 * protobuf where that is possible. */
#include <stdlib.h>

#include "base/log.h"
#include "daemon/authn.h"
#include "daemon/authz.h"
#include "daemon/delegation.h"
#include "daemon/health.h"
#include "apiserver/status_object.h"
#include "daemon/zpages.h"
#include "tests/fuzz/effort.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static api_done last_done;
static void *last_context;

static api_call play_send(void *context, const struct api_request *r, api_done done, void *done_context)
{
    (void)context;
    (void)r;
    last_done = done;
    last_context = done_context;
    return 1;
}

static api_call play_open(void *context, const struct api_request *r, const struct api_stream *stream)
{
    (void)context;
    (void)r;
    (void)stream;
    return 2;
}

static void play_call(void *context, api_call call)
{
    (void)context;
    (void)call;
}

static const struct api api = { NULL, MEDIA_JSON, play_send, play_open, play_call, play_call };

static void quiet(void *context, struct str record)
{
    (void)context;
    (void)record;
}

static void try_target(struct arena *a, struct str text)
{
    static const struct health_check checks[] = { { .name = "a" }, { .name = "b" } };
    const struct health h = { .name = "readyz", .checks = checks, .n_checks = 2 };
    struct strbuf to;
    struct target t;
    strbuf_init(&to, STRBUF_NO_MAX);
    if (target_read(a, text, &t)) {
        if (t.path.n == 0 || t.path.p[0] != '/' || t.path.n > text.n || t.n_query > TARGET_PAIRS_MAX)
            abort();
        if (health_answer(&h, &t, &to) != 200 || to.n < 2)
            abort();
    }
    strbuf_fini(&to);
}

static void try_accept(struct arena *a, struct str text)
{
    static const struct flagz_pair flag = { "v", "4" };
    const struct zpages z = { .component = "c", .flags = &flag, .n_flags = 1, .go_version = "g", .binary_version = "b",
                              .emulation_version = "e" };
    for (int page = 0; page < 2; page++) {
        struct strbuf to;
        strbuf_init(&to, STRBUF_NO_MAX);
        struct zpage_answer r = zpage_answer(&z, &(struct zpage_request){ .page = (enum zpage)page, .accept = text,
                                                                          .pretty = true }, a, &to);
        if ((r.status != 200 && r.status != 406) || !r.content_type || to.n == 0)
            abort();
        strbuf_fini(&to);
    }
}

static struct head *head_of(struct arena *a, struct str lines)
{
    struct head *h = ARENA_NEW(a, struct head);
    while (lines.n && h->headers.n < 1000) {
        struct str line = str_first(lines, str_index(lines, '\n'));
        size_t colon = str_index(line, ':');
        if (header_name_is_valid(str_first(line, colon))) /* others do not pass the protocols */
            headers_add(&h->headers, a, str_first(line, colon), str_from(line, colon + 2));
        lines = str_from(lines, line.n + 1);
    }
    return h;
}

static int n_done;

static void authn_done(struct authn_call *c)
{
    (void)c;
    n_done++;
}

static void authz_done(struct authz_call *c)
{
    (void)c;
    n_done++;
}

static void was_read(void *context, const char *error)
{
    (void)context;
    (void)error;
    n_done++;
}

/* Nobody without certificate and token is anyone. */
static void try_headers(struct authn *n, struct arena *a, struct str text)
{
    struct authn_call c = { .arena = a, .head = head_of(a, text), .done = authn_done };
    if (authn_ask(n, &c) && (!c.user || !str_is(c.user->name, USER_ANONYMOUS)))
        abort();
    authn_leave(&c);
}

static void try_token_answer(struct authn *n, struct arena *a, const struct api_answer *answer)
{
    struct authn_call c = { .arena = a, .head = head_of(a, STR("authorization: Bearer x")), .done = authn_done };
    if (authn_ask(n, &c))
        abort();
    last_done(last_context, answer);
    if (n_done != 1)
        abort();
    if (c.user && !str_list_has(&c.user->groups, STR(GROUP_AUTHENTICATED)) &&
        !str_list_has(&c.user->groups, STR(GROUP_UNAUTHENTICATED)) && !str_is(c.user->name, USER_ANONYMOUS))
        abort();
}

static void try_access_answer(struct authz *z, struct arena *a, const struct api_answer *answer)
{
    const struct user u = { .name = STR("u") };
    struct authz_call c = { .arena = a, .user = &u, .verb = STR("get"), .path = STR("/x"), .done = authz_done };
    if (authz_ask(z, &c))
        abort();
    last_done(last_context, answer);
    if (n_done != 1)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a;
    struct err e;
    struct authz *z;
    struct clock_manual clock;
    if (n == 0)
        return 0;
    log_set_sink(quiet, NULL);
    effort_begin(n);
    arena_init(&a);
    err_init(&e, &a);
    clock_manual_init(&clock, CLOCK_NS_PER_SECOND, 0);
    struct loop *loop = loop_new(&clock.clock);
    struct authn *authn = authn_new(&(struct authn_options){ .loop = loop, .api = &api, .token_ttl_ms = 1000 });
    if (authz_new(&(struct authz_options){ .loop = loop, .api = &api, .allowed_ttl_ms = 1000 }, &z, &e))
        abort();
    struct str text = { (const char *)data + 1, n - 1 };
    struct api_answer answer = { .status = 201, .media = data[0] & 8 ? MEDIA_PROTOBUF : MEDIA_JSON, .body = text };
    struct delegation *d = NULL;
    n_done = 0;
    switch (data[0] & 7) {
    case 0:
        try_target(&a, text);
        break;
    case 1:
        try_accept(&a, text);
        break;
    case 2:
        try_headers(authn, &a, text);
        break;
    case 3:
        try_token_answer(authn, &a, &answer);
        break;
    case 4:
        try_access_answer(z, &a, &answer);
        break;
    default:
        d = delegation_new(&(struct delegation_options){ .loop = loop, .api = &api, .authn = authn, .client_ca = true,
                                                         .proxy = true, .read = was_read });
        last_done(last_context, &answer);
    }
    delegation_free(d);
    authn_free(authn);
    authz_free(z);
    loop_free(loop);
    effort_end(&a, n);
    arena_fini(&a);
    return 0;
}
