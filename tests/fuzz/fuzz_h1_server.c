/* tests/fuzz/fuzz_h1_server.c - any bytes to an HTTP/1 server, without sockets. */
#include "tests/fuzz/http_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct peer peer;
    if (n == 0)
        return 0;
    peer_init(&peer, true, false);
    fuzz_feed(&peer, data, n);
    peer_fini(&peer);
    return 0;
}
