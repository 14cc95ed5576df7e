/* config/flag_value.h - values of flags: from text and to text, as Go's strconv, pflag and component-base have them.
 *
 * Every type is one C type; texts of refusals are those that users of kube-scheduler see. Lists grow when a flag is
 * given again, and the first time takes the place of the default.
 *
 * Thread: any. Memory: values borrow from the text they were read from and from the arena. */
#pragma once

#include "api/netaddr.h"
#include "config/flag_csv.h"

struct flag_ints {
    int32_t *at;
    size_t n, cap;
};

struct flag_pair {
    struct str key, value;
};

struct flag_pairs { /* each key once */
    struct flag_pair *at;
    size_t n, cap;
};

struct flag_cert_key {
    struct str cert_file, key_file;
    struct flag_strings names; /* domain patterns; none: those of the certificate */
};

struct flag_cert_keys {
    struct flag_cert_key *at;
    size_t n, cap;
};

struct flag_quantity {
    int64_t value; /* rounded up to whole units */
    struct str text;
};

struct flag_port_range {
    int32_t first, n; /* n of 0: none */
};

/* name, C type, how help names it */
#define FLAG_TYPES(X)                                                      \
    X(BOOL, bool, "")                                                      \
    X(STRING, struct str, "string")                                        \
    X(INT, int64_t, "int")                                                 \
    X(INT32, int32_t, "int32")                                             \
    X(FLOAT32, float, "float32")                                           \
    X(FLOAT64, double, "float")                                            \
    X(DURATION, int64_t, "duration") /* nanoseconds */                     \
    X(IP, struct ip_addr, "ip")                                            \
    X(IP_OR_NONE, struct ip_addr, "ip") /* :: is none */                   \
    X(STRINGS, struct flag_strings, "strings")                             \
    X(STRING_ARRAY, struct flag_strings, "stringArray") /* commas part nothing */ \
    X(INT32S, struct flag_ints, "int32Slice")                              \
    X(PAIRS, struct flag_pairs, "stringToString")                          \
    X(MAP, struct flag_pairs, "mapStringString")                           \
    X(SWITCHES, struct flag_pairs, "mapStringString") /* a key may stand alone */ \
    X(CERT_KEYS, struct flag_cert_keys, "namedCertKey")                    \
    X(MULTIMAP, struct flag_strings, "colonSeparatedMultimapStringString") \
    X(LEVEL, int32_t, "Level")                                             \
    X(VMODULE, struct str, "pattern=N,...")                                \
    X(QUANTITY, struct flag_quantity, "quantity")                          \
    X(PORT_RANGE, struct flag_port_range, "portRange")                     \
    X(VERSION, struct str, "version") /* false, true, raw or a version */

enum flag_type {
#define X(name, c_type, shown) FLAG_##name,
    FLAG_TYPES(X)
#undef X
    N_FLAG_TYPES
};

#define X(name, c_type, shown) typedef c_type flag_type_##name;
FLAG_TYPES(X)
#undef X

/* What --version=vX.Y.Z may change: only what stands behind these three numbers. */
#define FLAG_VERSION_DEFAULT "v1.36.4"

/* `again`: the flag was given before. A value that is refused leaves the old one. */
enum err_code flag_value_set(struct arena *a, enum flag_type type, struct str text, bool again, void *value,
                             struct err *e) ERR_MUST_CHECK;
void flag_value_add(struct strbuf *b, enum flag_type type, const void *value);
/* As help names it; empty for those that need no value. */
const char *flag_type_name(enum flag_type type);
/* Whether "--flag" alone means "--flag=true". */
bool flag_type_is_optional(enum flag_type type);
/* Whether help does not show it as a default. */
bool flag_value_is_zero(enum flag_type type, struct str text);

/* As strconv.ParseBool, with its message. */
enum err_code flag_parse_bool(struct str text, bool *ret_value, struct err *e) ERR_MUST_CHECK;
/* As strconv.ParseInt(text, 0, bits): 10, -0x1f, 0b11, 0o17, 017, 1_000. */
enum err_code flag_parse_int(struct str text, unsigned bits, int64_t *ret_value, struct err *e) ERR_MUST_CHECK;
/* A text between quotes, as Go's %q. */
const char *flag_quoted(struct arena *a, struct str text);
/* For a pair whose key may be there already. */
void flag_pairs_put(struct arena *a, struct flag_pairs *pairs, struct str key, struct str value);
/* Without white space at both ends. */
struct str flag_trimmed(struct str text);
/* The part before the separator, which is passed over with it. */
struct str flag_take_until(struct str *text, char separator);
