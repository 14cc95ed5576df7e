/* http/headers.h - heads of messages: header lists, requests and responses.
 *
 * Names are in lower case, as HTTP/2 has them; HTTP/1 writes them with capitals. Order and duplicates are kept.
 * Thread: any, one at a time.    Owns: nothing; texts live in the arena of the exchange. */
#pragma once

#include "base/arena.h"

struct header {
    struct str name, value;
};

struct headers {
    struct header *at;
    uint32_t n, cap;
};

/* Copies both. The name is one of ours and a token; control bytes in the value become spaces, so that no value can
 * begin another line. */
void headers_add(struct headers *h, struct arena *a, struct str name, struct str value);
/* The same, with texts that are checked already and live long enough. */
void headers_add_borrowed(struct headers *h, struct arena *a, struct str name, struct str value);
/* The first one; p is NULL when there is none. Names in lower case. */
struct str headers_get(const struct headers *h, const char *name);
uint32_t headers_count(const struct headers *h, const char *name);
/* Whether a comma-separated list has the word, case aside: headers_has_word(h, "connection", "close"). */
bool headers_has_word(const struct headers *h, const char *name, const char *word);
void headers_copy(struct headers *to, struct arena *a, const struct headers *from);

bool header_name_is_valid(struct str name);  /* a token, in lower case or not */
bool header_value_is_valid(struct str value); /* no control bytes but tab, no space at its ends */
/* Fields that belong to one connection and never pass through HTTP/2. */
bool header_is_hop_by_hop(struct str name);

bool str_is_nocase(struct str a, const char *text);

enum http_version { HTTP_1_0 = 10, HTTP_1_1 = 11, HTTP_2 = 20 };

/* A request has method, scheme, authority and target; a response a status. */
struct head {
    enum http_version version; /* of what came; no matter for what goes */
    struct str method;         /* "GET" */
    struct str scheme;         /* "https" */
    struct str authority;      /* "host:port"; empty when HTTP/1.0 has no Host */
    struct str target;         /* path and query: "/a?b=c", or "*" */
    uint16_t status;
    struct headers headers;    /* without Host */
};

void head_copy(struct head *to, struct arena *a, const struct head *from);
/* Whether a final response to this method has no body, whatever its fields say. */
bool status_has_no_body(uint16_t status);
const char *status_text(uint16_t status); /* "Not Found"; "Status" for unknown ones */

/* "Tue, 15 Nov 1994 08:12:31 GMT" */
enum { HTTP_DATE_BYTES = 29 };
void http_date(int64_t wall_ns, char ret_text[HTTP_DATE_BYTES + 1]);

struct str number_text(struct arena *a, uint64_t number);
/* Decimal digits only, at most 18 of them. */
bool parse_length(struct str text, uint64_t *ret_length);
