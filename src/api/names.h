/* api/names.h - which texts are valid names, keys, values and ports, with upstream's words for why not.
 *
 * Every check returns the list of what is wrong, empty when nothing is. All texts are constants: checks
 * do not allocate and their results live forever. The texts quote regular expressions because clients
 * have always seen them; the matching is done by hand.
 *
 * Two generations of texts live side by side upstream and here: older checks say "no more than 63
 * characters", newer ones (label keys and values) "no more than 63 bytes". Both count bytes.
 *
 * Thread: any. */
#pragma once

#include "base/str.h"

enum {
    NAME_DNS1123_LABEL_MAX = 63,
    NAME_DNS1123_SUBDOMAIN_MAX = 253,
    NAME_DNS1035_LABEL_MAX = 63,
    NAME_LABEL_KEY_MAX = 63, /* without the prefix */
    NAME_LABEL_VALUE_MAX = 63,
    NAME_PORT_MAX = 15,
    NAME_ERRORS_MAX = 5,
};

struct name_errors {
    size_t n;
    const char *at[NAME_ERRORS_MAX];
};

typedef struct name_errors name_check(struct str name);

name_check name_dns1123_label;
name_check name_dns1123_subdomain;
name_check name_dns1123_subdomain_with_underscore;
name_check name_dns1035_label;
name_check name_wildcard_dns1123_subdomain;
name_check name_label_key; /* also called qualified name */
name_check name_label_value;
name_check name_port;
name_check name_c_identifier;
name_check name_env_var;
name_check name_relaxed_env_var;
name_check name_config_map_key;
name_check name_http_header;
name_check name_percent;
name_check name_decimal_integer;
name_check name_path_segment;
name_check name_path_segment_prefix;
struct name_errors name_port_number(int64_t port);
struct name_errors name_user_id(int64_t id);
struct name_errors name_group_id(int64_t id);

/* The rule for names of a kind. `prefix` says that the name is a generateName, to which characters are
 * going to be appended: it may end with a dash. */
typedef struct name_errors name_rule(struct str name, bool prefix);

name_rule name_is_dns_subdomain;
name_rule name_is_dns_label;
name_rule name_is_dns1035_label;
name_rule name_is_path_segment;
