/* IP addresses and CIDR ranges: what parses, what was sloppy about it, the canonical form. */
#include "api/netaddr.h"
#include "tests/test.h"

TEST(addresses_parse_and_print_canonically)
{
    static const struct {
        const char *name, *text, *canonical; /* canonical NULL: refused */
        bool leading_zeros;
    } rows[] = {
        { "IPv4", "10.0.255.1", "10.0.255.1", false },
        { "leading zero", "10.0.0.01", "10.0.0.1", true },
        { "octet too large", "1.2.3.256", NULL, false },
        { "three octets", "1.2.3", NULL, false },
        { "five octets", "1.2.3.4.5", NULL, false },
        { "dot at the end", "1.2.3.4.", NULL, false },
        { "number that wraps", "1.2.3.4294967297", NULL, false },
        { "all groups", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8", false },
        { "upper case", "FE80::ABCD", "fe80::abcd", false },
        { "nothing but a gap", "::", "::", false },
        { "gap at the end", "1::", "1::", false },
        { "gap for one group is spelled out", "1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7", false },
        { "first of two equal runs", "1:0:0:2:0:0:3:4", "1::2:0:0:3:4", false },
        { "longer of two runs", "1:0:0:2:0:0:0:4", "1:0:0:2::4", false },
        { "gap that stands for nothing", "1:2:3:4:5:6:7:8::", NULL, false },
        { "gap before eight groups", "::1:2:3:4:5:6:7:8", NULL, false },
        { "two gaps", "1::2::3", NULL, false },
        { "three colons", "1:::2", NULL, false },
        { "colon at the end", "1:2:3:4:5:6:7:", NULL, false },
        { "colon at the start", ":1:2:3:4:5:6:7", NULL, false },
        { "nine groups", "1:2:3:4:5:6:7:8:9", NULL, false },
        { "group of five digits", "::00001", "::1", true },
        { "group too large", "::10000", NULL, false },
        { "dotted end", "64:ff9b::1.2.3.4", "64:ff9b::102:304", false },
        { "dotted end with all groups", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304", false },
        { "dotted end too early", "1:2:1.2.3.4", NULL, false },
        { "dotted end too late", "1:2:3:4:5:6:7:1.2.3.4", NULL, false },
        { "mapped", "::ffff:1.2.3.4", "1.2.3.4", false },
        { "zone", "fe80::1%eth0", NULL, false },
        { "empty", "", NULL, false },
        { "neither dot nor colon", "12", NULL, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ip_addr addr = { 0 };
        CHECK_INT(rows[i].name, ip_parse(str_of(rows[i].text), &addr), rows[i].canonical != NULL);
        char text[IP_TEXT_MAX];
        if (!rows[i].canonical)
            continue;
        CHECK_INT(rows[i].name, ip_print(&addr, text), strlen(rows[i].canonical));
        CHECK_TEXT(rows[i].name, text, rows[i].canonical);
        CHECK_INT(rows[i].name, addr.leading_zeros, rows[i].leading_zeros);
    }
}

TEST(ranges_parse_with_their_length)
{
    static const struct {
        const char *name, *text;
        bool valid;
        unsigned bits;
        bool host_bits, leading_zeros;
    } rows[] = {
        { "IPv4", "10.0.0.0/8", true, 8, false, false },
        { "host bits", "10.0.0.1/8", true, 8, true, false },
        { "whole address", "10.0.0.1/32", true, 32, false, false },
        { "too long", "10.0.0.0/33", false, 0, false, false },
        { "leading zero", "10.0.0.0/08", true, 8, false, true },
        { "IPv6", "2001:db8::/32", true, 32, false, false },
        { "IPv6 host bit at the border", "2001:db8:8000::/32", true, 32, true, false },
        { "IPv6 whole address", "::1/128", true, 128, false, false },
        { "IPv6 too long", "::1/129", false, 0, false, false },
        { "no length", "10.0.0.0/", false, 0, false, false },
        { "no slash", "10.0.0.0", false, 0, false, false },
        { "two slashes", "10.0.0.0/8/8", false, 0, false, false },
        { "sign", "10.0.0.0/+8", false, 0, false, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ip_addr addr = { 0 };
        unsigned bits = 0;
        CHECK_INT(rows[i].name, cidr_parse(str_of(rows[i].text), &addr, &bits), rows[i].valid);
        if (!rows[i].valid)
            continue;
        CHECK_INT(rows[i].name, bits, rows[i].bits);
        CHECK_INT(rows[i].name, ip_has_host_bits(&addr, bits), rows[i].host_bits);
        CHECK_INT(rows[i].name, addr.leading_zeros, rows[i].leading_zeros);
    }
}

TEST(the_longest_texts_fit)
{
    struct ip_addr addr;
    char text[CIDR_TEXT_MAX];
    CHECK(ip_parse(STR("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), &addr));
    CHECK_INT("length", cidr_print(&addr, 128, text), 43);
    CHECK_TEXT("text", text, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128");
}
