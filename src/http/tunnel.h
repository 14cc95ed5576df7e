/* http/tunnel.h - asks a proxy for a way through: CONNECT (HTTP/1.1) or SOCKS5. A protocol of proto.h that ends by
 * telling.
 *
 * Bounds: the proxy's answer has at most TUNNEL_ANSWER_BYTES_MAX bytes; its time is the connection's deadline.
 * Thread: the loop's. */
#pragma once

#include "http/proto.h"
#include "http/url.h"

#define TUNNEL_ANSWER_BYTES_MAX 16384

/* error is NULL: the way is free. Called from within input: replace the protocol, do not free it. */
typedef void (*tunnel_told)(void *context, const char *error);

/* The host's `wake` and its data are used; nothing else of it. */
struct proto *tunnel_new(const struct url *proxy, const char *host, int port, const struct proto_host *proto_host,
                         void *host_data, const struct http_limits *limits, tunnel_told told, void *context);
/* "Basic dXNlcjpwYXNz"; empty when the address has no user. */
struct str proxy_authorization(const struct url *proxy, struct arena *a);
