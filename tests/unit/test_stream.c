/* Bodies on their way out: own bytes and shared ones keep their order, and what was sent keeps no room. */
#include "http/stream_priv.h"
#include "tests/http_peer.h"
#include "tests/test.h"

struct pair {
    struct peer server, client;
};

/* A request for /later is under way. */
static void pair_init(struct pair *p, bool is_h2)
{
    peer_init(&p->server, true, is_h2);
    peer_init(&p->client, false, is_h2);
    peer_request(&p->client, "GET", "/later", "");
    peer_connect(&p->client, &p->server);
    CHECK(p->server.waiting);
    stream_send_head(p->server.waiting, &(struct head){ .status = 200 });
}

static void pair_fini(struct pair *p)
{
    peer_fini(&p->client);
    peer_fini(&p->server);
}

static void write_shared(struct stream *s, struct str bytes)
{
    struct blob *b = blob_new(bytes);
    CHECK(stream_write_shared(s, b));
    blob_unref(b);
}

TEST(shared_and_own_bytes_go_out_in_the_order_in_which_they_were_written)
{
    for (int is_h2 = 0; is_h2 < 2; is_h2++) {
        struct pair p;
        pair_init(&p, is_h2);
        struct stream *s = p.server.waiting;
        CHECK(stream_write(s, STR("one ")));
        write_shared(s, STR("two "));
        write_shared(s, STR(""));
        CHECK(stream_write(s, STR("three ")));
        write_shared(s, STR("four"));
        CHECK_INT("pending", stream_pending(s), sizeof("one two three four") - 1);
        stream_end(s, NULL);
        peer_connect(&p.client, &p.server);
        CHECK_STR("what came", strbuf_str(&p.client.log), STR("head 200\nbody one two three four\nclosed 0 \n"));
        pair_fini(&p);
    }
}

TEST(bytes_that_many_send_are_kept_once_and_given_back)
{
    struct pair pairs[3];
    struct blob *b = blob_new(STR("the same"));
    for (int i = 0; i < 3; i++) {
        pair_init(&pairs[i], true);
        for (int k = 0; k < 100; k++)
            CHECK(stream_write_shared(pairs[i].server.waiting, b));
    }
    CHECK_INT("references", b->n_refs, 301);
    peer_connect(&pairs[0].client, &pairs[0].server);
    CHECK_INT("after one was sent", b->n_refs, 201);
    peer_end(&pairs[1].server);
    CHECK_INT("after one has lost its connection", b->n_refs, 101);
    for (int i = 0; i < 3; i++)
        pair_fini(&pairs[i]);
    CHECK_INT("at the end", b->n_refs, 1);
    blob_unref(b);
}

TEST(a_full_stream_refuses_shared_bytes_and_says_when_there_is_room)
{
    struct pair p;
    pair_init(&p, true);
    struct stream *s = p.server.waiting;
    struct blob *b = blob_new(STR("0123456789"));
    uint32_t n = 0;
    while (stream_write_shared(s, b))
        n++;
    CHECK_INT("until the limit", n, (p.server.limits.out_bytes + 9) / 10);
    CHECK(s->out_refused);
    CHECK_INT("references", b->n_refs, n + 1);
    peer_connect(&p.client, &p.server);
    CHECK(!stream_pending(s));
    CHECK_INT("after that", b->n_refs, 1);
    pair_fini(&p);
    blob_unref(b);
}

/* As a list of any length is sent: before all of a part is out the next one is written. */
TEST(a_body_that_never_comes_to_rest_does_not_grow)
{
    enum { PART = 1000, PARTS = 2000 };
    char part[PART] = { 0 };
    struct pair p;
    pair_init(&p, true);
    struct stream *s = p.server.waiting;
    for (int i = 0; i < PARTS; i++) {
        CHECK(stream_write(s, (struct str){ part, PART }));
        if (i > 0)
            stream_pulled(s, PART);
        CHECK(s->out.cap <= 8 * PART);
    }
    struct blob *b = blob_new((struct str){ part, PART });
    stream_pulled(s, stream_pending(s));
    for (int i = 0; i < PARTS; i++) {
        CHECK(stream_write_shared(s, b));
        if (i > 0)
            stream_pulled(s, PART);
        CHECK(s->shared.cap <= 8);
        CHECK(b->n_refs <= 3);
    }
    pair_fini(&p);
    blob_unref(b);
}
