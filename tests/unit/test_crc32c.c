/* CRC-32C: known sums, and that parts sum up to the whole. */
#include "base/crc32c.h"
#include "base/rand.h"
#include "tests/test.h"

TEST(known_sums)
{
    static const struct {
        struct str bytes;
        uint32_t sum;
    } rows[] = {
        { STR(""), 0 },
        { STR("123456789"), 0xe3069283 },
        { STR("a"), 0xc1d04330 },
        { { "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 32 }, 0x8a9136aa }, /* RFC 3720 B.4 */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_INT(rows[i].bytes.n ? rows[i].bytes.p : "empty", crc32c(0, rows[i].bytes.p, rows[i].bytes.n), rows[i].sum);
}

TEST(parts_sum_up_to_the_whole)
{
    static const char digits[] = "123456789";
    for (size_t i = 0; i <= 9; i++)
        CHECK_INT("parts", crc32c(crc32c(0, digits, i), &digits[i], 9 - i), 0xe3069283);
}

/* Bit by bit, as it is defined. */
static uint32_t plain_sum(const uint8_t *p, size_t n)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    return ~crc;
}

TEST(every_length_and_alignment)
{
    uint8_t bytes[100];
    struct rand r;
    rand_init(&r, 1);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)rand_u64(&r);
    for (size_t from = 0; from < 16; from++)
        for (size_t n = 0; from + n <= sizeof(bytes); n++)
            CHECK_INT("sum", crc32c(0, bytes + from, n), plain_sum(bytes + from, n));
}
