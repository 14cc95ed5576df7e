/* tests/fuzz/fuzz_h2_server.c - any bytes to an HTTP/2 server, without sockets. */
#include "tests/fuzz/http_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct peer peer;
    if (n == 0)
        return 0;
    peer_init(&peer, true, true);
    if (data[0] & 128) /* otherwise the greeting is the input's, too */
        peer_feed(&peer, STR(H2_PREFACE "\0\0\0\4\0\0\0\0\0"), 0);
    fuzz_feed(&peer, data, n);
    peer_fini(&peer);
    return 0;
}
