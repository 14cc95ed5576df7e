/* tests/fuzz/fuzz_h1_client.c - any bytes to an HTTP/1 client, without sockets. */
#include "tests/fuzz/http_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct peer peer;
    if (n == 0)
        return 0;
    peer_init(&peer, false, false);
    peer_request(&peer, data[0] & 128 ? "HEAD" : "POST", "/a", "body");
    fuzz_feed(&peer, data, n);
    peer_fini(&peer);
    return 0;
}
