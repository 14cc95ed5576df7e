/* Names: what each rule accepts, how many faults it finds, and the texts that clients see. */
#include "api/names.h"
#include "tests/test.h"

#define X63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define X253 X63 "." X63 "." X63 "." "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

TEST(rules_accept_and_refuse)
{
    static const struct {
        const char *name;
        name_check *check;
        const char *text;
        size_t n_errors;
    } rows[] = {
        { "label", name_dns1123_label, "a-b-9", 0 },
        { "label of 63", name_dns1123_label, X63, 0 },
        { "label of 64 is only too long", name_dns1123_label, X63 "a", 1 },
        { "label ends with a dash", name_dns1123_label, "a-", 1 },
        { "label in upper case", name_dns1123_label, "A", 1 },
        { "empty label", name_dns1123_label, "", 1 },
        { "subdomain of 253", name_dns1123_subdomain, X253, 0 },
        { "subdomain of 254", name_dns1123_subdomain, X253 "a", 1 },
        { "subdomain with an empty part", name_dns1123_subdomain, "a..b", 1 },
        { "subdomain ends with a dot", name_dns1123_subdomain, "a.", 1 },
        { "subdomain part ends with a dash", name_dns1123_subdomain, "a-.b", 1 },
        { "underscore inside and first", name_dns1123_subdomain_with_underscore, "_a_b.c", 0 },
        { "underscore last", name_dns1123_subdomain_with_underscore, "a_", 1 },
        { "two underscores first", name_dns1123_subdomain_with_underscore, "__a", 1 },
        { "1035 label begins with a letter", name_dns1035_label, "a1", 0 },
        { "1035 label begins with a digit", name_dns1035_label, "1a", 1 },
        { "wildcard", name_wildcard_dns1123_subdomain, "*.a.b", 0 },
        { "wildcard alone", name_wildcard_dns1123_subdomain, "*", 1 },
        { "wildcard and nothing", name_wildcard_dns1123_subdomain, "*.", 1 },
        { "two wildcards", name_wildcard_dns1123_subdomain, "*.*.a", 1 },
        { "key", name_label_key, "A_b.C-9", 0 },
        { "key with prefix", name_label_key, "example.com/x", 0 },
        { "key with a bad prefix and a bad name", name_label_key, "Up.com/-", 2 },
        { "key with everything wrong", name_label_key, X253 "A/" X63 "a-", 4 },
        { "key with two slashes", name_label_key, "a/b/c", 1 },
        { "key without a name", name_label_key, "a/", 2 },
        { "key without a prefix", name_label_key, "/a", 1 },
        { "empty value", name_label_value, "", 0 },
        { "value that begins with a dash", name_label_value, "-1", 1 },
        { "value of 64", name_label_value, X63 "a", 1 },
        { "port", name_port, "http-80", 0 },
        { "port without a letter", name_port, "80", 1 },
        { "port with all faults", name_port, "-_--_-_-_-_-_-_-_-", 5 },
        { "identifier", name_c_identifier, "_a9", 0 },
        { "identifier that begins with a digit", name_c_identifier, "9a", 1 },
        { "environment variable", name_env_var, "-.a", 0 },
        { "environment variable that leads out", name_env_var, "..a", 1 },
        { "environment variable of spaces", name_env_var, " ", 1 },
        { "relaxed takes spaces", name_relaxed_env_var, "a b!", 0 },
        { "relaxed refuses equals", name_relaxed_env_var, "a=b", 1 },
        { "relaxed refuses what is not ASCII", name_relaxed_env_var, "\u00e9", 1 },
        { "relaxed refuses DEL", name_relaxed_env_var, "\x7f", 1 },
        { "key of a config map", name_config_map_key, "a_B-.c", 0 },
        { "key of a config map: dot", name_config_map_key, ".", 1 },
        { "key of a config map: slash", name_config_map_key, "a/b", 1 },
        { "header", name_http_header, "X-Y", 0 },
        { "header with a colon", name_http_header, "X:", 1 },
        { "percent", name_percent, "5%", 0 },
        { "percent sign alone", name_percent, "%", 1 },
        { "zero", name_decimal_integer, "0", 0 },
        { "minus zero", name_decimal_integer, "-0", 1 },
        { "leading zero", name_decimal_integer, "01", 1 },
        { "no integer", name_decimal_integer, "", 1 },
        { "path segment", name_path_segment, "a:b c", 0 },
        { "path segment of dots", name_path_segment, "..", 1 },
        { "dots may begin one", name_path_segment_prefix, "..", 0 },
        { "path segment with slash and percent", name_path_segment, "/%", 2 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_INT(rows[i].name, rows[i].check(str_of(rows[i].text)).n, rows[i].n_errors);
}

TEST(texts_are_those_that_clients_know)
{
    CHECK_TEXT("regex", name_dns1123_label(STR("A")).at[0],
               "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
               "and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', "
               "regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
    CHECK_TEXT("dots", name_dns1123_label(STR("a.b")).at[0], "must not contain dots");
    CHECK_TEXT("older length", name_dns1123_label(STR(X63 "a")).at[0],
               "must be no more than 63 characters");
    CHECK_TEXT("newer length", name_label_value(STR(X63 "a")).at[0], "must be no more than 63 bytes");
    CHECK_TEXT("port", name_port_number(0).at[0], "must be between 1 and 65535, inclusive");
    CHECK_INT("last port", name_port_number(65535).n, 0);
    CHECK_INT("port after it", name_port_number(65536).n, 1);
    CHECK_TEXT("uid", name_user_id(-1).at[0], "must be between 0 and 2147483647, inclusive");
}

TEST(a_nul_is_a_character_like_others)
{
    CHECK_INT("label", name_dns1123_label(STR("a\0b")).n, 1);
    CHECK_INT("label", name_label_value(STR("\0")).n, 1);
}

TEST(a_generated_name_may_end_with_a_dash)
{
    static const struct {
        const char *name;
        name_rule *rule;
        const char *text;
        bool prefix;
        size_t n_errors;
    } rows[] = {
        { "as a name", name_is_dns_subdomain, "web-", false, 1 },
        { "as a prefix", name_is_dns_subdomain, "web-", true, 0 },
        { "what stands before the dash is forgiven", name_is_dns_subdomain, "web.-", true, 0 },
        { "but not more", name_is_dns_subdomain, "we.b--", true, 0 },
        { "a dash alone", name_is_dns_label, "-", true, 1 },
        { "64 characters with the dash count as 63", name_is_dns_label, X63 "-", true, 0 },
        { "label with dots", name_is_dns_label, "a.b-", true, 1 },
        { "1035", name_is_dns1035_label, "1b-", true, 1 },
        { "path segment as a prefix", name_is_path_segment, "..", true, 0 },
        { "path segment as a name", name_is_path_segment, "..", false, 1 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_INT(rows[i].name, rows[i].rule(str_of(rows[i].text), rows[i].prefix).n, rows[i].n_errors);
}
