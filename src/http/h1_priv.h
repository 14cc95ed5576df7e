/* http/h1_priv.h - an HTTP/1 connection, shared by its reading (h1.c) and its writing (h1_write.c). */
#pragma once

#include <llhttp.h>

#include "http/stream_priv.h"

enum h1_framing {
    H1_HELD,    /* an upgrade was asked for: nothing before the answer */
    H1_NO_BODY, /* the message has none: what is written is dropped */
    H1_LENGTH,
    H1_CHUNKED,
    H1_TO_THE_END, /* of the connection; also after an upgrade */
};

struct h1 {
    struct proto p;
    llhttp_t parser;
    struct h1_options options;
    struct stream *s;     /* the exchange at hand; NULL between two, and while a body is discarded */
    struct strbuf text;   /* name and value of the field that is being read, or the target */
    struct strbuf control; /* bytes to send before anything of the stream: 100 Continue, errors */
    size_t n_name;        /* of text, the name's part */
    uint64_t n_discarded;
    uint32_t n_head_bytes, n_extension_bytes;
    int64_t head_since_ms; /* 0 = no head is being read */
    int64_t idle_since_ms;
    uint64_t out_left;     /* H1_LENGTH */
    enum h1_framing framing;
    uint16_t refuse;       /* status for what is wrong with a request; 0 = nothing */
    const char *why;       /* ... in words */
    bool in_message;       /* between its first byte and its end */
    bool in_trailers;
    bool answered;         /* the answer is out, the rest of the request is discarded */
    bool message_ended;    /* the parser stands at the end and waits for the other direction */
    bool keep_alive;
    bool raw;              /* after an upgrade: bytes are bytes */
    bool deaf;             /* whatever comes is dropped: the connection ends */
    bool skip_body;        /* clients: answer to HEAD */
};

/* From the writing half: the message is out. */
void h1_sent(struct h1 *h);
void h1_output(struct proto *p, struct strbuf *out, size_t max);
/* Puts a short answer with `Connection: close` into the control bytes. */
void h1_write_error(struct h1 *h, uint16_t status, const char *why);
