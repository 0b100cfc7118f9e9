/*
 * http_request.h -- one request of HTTP/1.1 (RFC 9112), read from bytes that have arrived.
 *
 *      GET /path HTTP/1.1 CRLF  field: value CRLF ... CRLF  body of Content-Length bytes
 *
 * Strict: what two readers could read differently is refused, for that is how requests are
 * smuggled. A line ends with CRLF; no space before a colon, no folded line, no control character;
 * one Host (none is needed before 1.1); one Content-Length, digits only. A Transfer-Encoding is
 * refused: 501, with a Content-Length 400.
 *
 * Nothing is copied: texts lie in the caller's bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_PROGRAMS_HTTP_REQUEST_H
#define RT_PROGRAMS_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HTTP_FIELDS_MAX 64u

struct http_text {
    const char *at;
    size_t size;
};

bool http_text_is(struct http_text text, const char *word);

struct http_request {
    struct http_text method;
    struct http_text target;
    bool keep_alive; /* The client sends more, as far as it knows. */
    bool expects;    /* Expect: 100-continue. */
    struct http_text body;
    size_t size; /* All of it: the next request begins after it. */
};

/* What http_request_parse answers, besides a status from 400 on. */
#define HTTP_COMPLETE 0
#define HTTP_MORE 1      /* The head is not complete. */
#define HTTP_MORE_BODY 2 /* The head is; `expects` is valid. */

/*
 * Reads the request at the beginning of `bytes`. `limit`: no request may be longer; a head that is
 * is 431, a body 413. Otherwise a status: 400 (not HTTP), 501, 505. After a status nothing that
 * follows can be understood.
 */
int http_request_parse(
        const char *bytes, size_t size, size_t limit, struct http_request *ret_request);

#ifdef __cplusplus
}
#endif
#endif
