/* base/crc32c.c - see crc32c.h. By the processor where it has an instruction for it (x86-64 with SSE 4.2: a
 * store sums up all its bytes at start); otherwise half a byte at a time: the table fits a cache line. */
#include "base/crc32c.h"

static const uint32_t table[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static uint32_t sum_by_instruction(uint32_t crc, const uint8_t *p, size_t n)
{
    uint64_t wide = crc, word;
    for (; n >= sizeof(word); n -= sizeof(word), p += sizeof(word)) {
        memcpy(&word, p, sizeof(word));
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    for (; n; n--, p++)
        crc = __builtin_ia32_crc32qi(crc, *p);
    return crc;
}
#endif

/* A fuzzer that looks at every comparison here learns nothing, and spends a fifth of its time on it. */
#ifdef __clang__
__attribute__((no_sanitize("coverage")))
#endif
uint32_t crc32c(uint32_t crc, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    crc = ~crc;
#ifdef __x86_64__
    if (__builtin_cpu_supports("sse4.2"))
        return ~sum_by_instruction(crc, p, n);
#endif
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}
