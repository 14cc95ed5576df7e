/* tests/http_peer.h - a protocol of http/proto.h without a socket, for tests and fuzz targets.
 *
 * A server answers each request when it has ended: "METHOD TARGET BODY" as text, with the request's trailers repeated;
 * targets decide otherwise: /close (the last answer on the
 * connection), /later and /never (peer_answer answers the last of them), /early (before the body), /big/N,
 * /upgrade (asked for by the client and granted by the server, which then repeats every byte).
 * What goes out is collected in `sent`; what came in and how exchanges ended in `log`. */
#pragma once

#include "http/proto.h"

struct peer {
    struct proto *p;
    struct strbuf sent, log, unread;
    struct http_limits limits;
    int64_t now_ms;
    struct stream *waiting; /* the last of /later and /never; NULL when it is gone */
    int n_requests, n_closed;
    bool woken, hold; /* hold: bodies are not consumed */
};

void peer_init(struct peer *peer, bool is_server, bool is_h2);
void peer_fini(struct peer *peer);
/* Bytes of the other side, in pieces of at most `n_piece` bytes (0 = at once); then everything runs until it is quiet.
 * */
void peer_feed(struct peer *peer, struct str bytes, size_t n_piece);
/* The other side sends no more. */
void peer_end(struct peer *peer);
void peer_run(struct peer *peer);
void peer_advance(struct peer *peer, int64_t ms);
void peer_answer(struct peer *peer, const char *text);
/* Clients: a request whose course goes to the log. */
struct stream *peer_request(struct peer *peer, const char *method, const char *target, const char *body);
/* Carries bytes between two until both are quiet. */
void peer_connect(struct peer *a, struct peer *b);
bool peer_ended(const struct peer *peer);
