/* tests/fuzz/fuzz_h2_client.c - any bytes to an HTTP/2 client, without sockets. */
#include "tests/fuzz/http_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct peer peer;
    if (n == 0)
        return 0;
    peer_init(&peer, false, true);
    peer_request(&peer, "GET", "/a", "");
    peer_request(&peer, "POST", "/b", "body");
    stream_write(peer_request(&peer, "PUT", "/c", NULL), STR("more follows"));
    fuzz_feed(&peer, data, n);
    peer_fini(&peer);
    return 0;
}
