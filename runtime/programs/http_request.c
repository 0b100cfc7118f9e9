/*
 * http_request.c -- the parser: lines, then fields by a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/programs/http_request.h"

#include <stdint.h>
#include <string.h>

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

#define BAD 400
#define TOO_LARGE 413
#define HEAD_TOO_LARGE 431
#define NOT_IMPLEMENTED 501
#define NO_VERSION 505

/* What is known so far. */
struct reader {
    const char *at;
    const char *end; /* Of the head, after its last field. */
    struct http_request *request;
    bool old; /* HTTP/1.0 */
    unsigned hosts;
    unsigned lengths;
    bool encoded; /* A Transfer-Encoding. */
    size_t length;
};

static char
lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

bool
http_text_is(struct http_text text, const char *word)
{
    return strlen(word) == text.size && memcmp(text.at, word, text.size) == 0;
}

/* As http_text_is, without regard to case; `word` is in lower case. */
static bool
is_word(struct http_text text, const char *word)
{
    size_t i = 0;
    while (i < text.size && word[i] != '\0' && lower(text.at[i]) == word[i]) {
        i++;
    }
    return i == text.size && word[i] == '\0';
}

/* Whether a list "a, b" has the word. */
static bool
has_word(struct http_text list, const char *word)
{
    const char *end = list.at + list.size;
    while (list.at < end) {
        const char *comma = memchr(list.at, ',', (size_t)(end - list.at));
        const char *stop = comma != NULL ? comma : end;
        struct http_text item = {list.at, (size_t)(stop - list.at)};
        for (; item.size > 0 && (*item.at == ' ' || *item.at == '\t'); item.size--) {
            item.at++;
        }
        while (item.size > 0 && (item.at[item.size - 1] == ' ' || item.at[item.size - 1] == '\t')) {
            item.size--;
        }
        if (is_word(item, word)) {
            return true;
        }
        list.at = comma != NULL ? comma + 1 : end;
    }
    return false;
}

static bool
is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

/* A character of a method or of a field's name (RFC 9110, 5.6.2). */
static bool
is_token(char letter)
{
    bool name = is_digit(letter) || (lower(letter) >= 'a' && lower(letter) <= 'z');
    return name || (letter != '\0' && strchr("!#$%&'*+-.^_`|~", letter) != NULL);
}

static bool
all_tokens(struct http_text text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (!is_token(text.at[i])) {
            return false;
        }
    }
    return text.size > 0;
}

/* The next line without its CRLF; false when it ends or has a control character otherwise. */
static bool
next_line(struct reader *reader, struct http_text *ret_line)
{
    const char *at = reader->at;
    while (at < reader->end && ((unsigned char)*at >= ' ' || *at == '\t') && *at != 127) {
        at++;
    }
    *ret_line = (struct http_text){reader->at, (size_t)(at - reader->at)};
    reader->at = at + 2;
    return at + 2 <= reader->end && at[0] == '\r' && at[1] == '\n';
}

/* ---- The request line. ----------------------------------------------------------------------- */

static int
read_version(struct reader *reader, struct http_text version)
{
    static const char name[] = "HTTP/";
    if (version.size != 8 || memcmp(version.at, name, 5) != 0 || version.at[6] != '.') {
        return BAD;
    }
    if (!is_digit(version.at[5]) || !is_digit(version.at[7])) {
        return BAD;
    }
    if (version.at[5] != '1') {
        return NO_VERSION;
    }
    reader->old = version.at[7] == '0';
    reader->request->keep_alive = !reader->old;
    return HTTP_COMPLETE;
}

static int
read_request_line(struct reader *reader)
{
    struct http_text line;
    if (!next_line(reader, &line)) {
        return BAD;
    }
    const char *end = line.at + line.size;
    const char *first = memchr(line.at, ' ', line.size);
    const char *second = first == NULL ? NULL : memchr(first + 1, ' ', (size_t)(end - first - 1));
    if (second == NULL) {
        return BAD;
    }
    struct http_request *request = reader->request;
    request->method = (struct http_text){line.at, (size_t)(first - line.at)};
    request->target = (struct http_text){first + 1, (size_t)(second - first - 1)};
    bool whole = request->target.size > 0 &&
                 memchr(request->target.at, '\t', request->target.size) == NULL;
    if (!all_tokens(request->method) || !whole) {
        return BAD;
    }
    return read_version(reader, (struct http_text){second + 1, (size_t)(end - second - 1)});
}

/* ---- Fields. --------------------------------------------------------------------------------- */

static bool
take_host(struct reader *reader, struct http_text value)
{
    (void)value;
    return ++reader->hosts == 1;
}

static bool
take_length(struct reader *reader, struct http_text value)
{
    size_t length = 0;
    for (size_t i = 0; i < value.size; i++) {
        if (!is_digit(value.at[i])) {
            return false;
        }
        /* More than fits stays more than any limit. */
        length = length < SIZE_MAX / 16 ? length * 10 + (size_t)(value.at[i] - '0') : length;
    }
    reader->length = length;
    return value.size > 0 && ++reader->lengths == 1;
}

static bool
take_encoding(struct reader *reader, struct http_text value)
{
    (void)value;
    reader->encoded = true;
    return true;
}

static bool
take_connection(struct reader *reader, struct http_text value)
{
    if (has_word(value, "close")) {
        reader->request->keep_alive = false;
    } else if (reader->old && has_word(value, "keep-alive")) {
        reader->request->keep_alive = true;
    }
    return true;
}

static bool
take_expect(struct reader *reader, struct http_text value)
{
    reader->request->expects = !reader->old && is_word(value, "100-continue");
    return true;
}

static const struct {
    const char *name;
    bool (*take)(struct reader *reader, struct http_text value);
} fields[] = {
        {"host", take_host},
        {"content-length", take_length},
        {"transfer-encoding", take_encoding},
        {"connection", take_connection},
        {"expect", take_expect},
};

static int
read_field(struct reader *reader, struct http_text line)
{
    const char *colon = memchr(line.at, ':', line.size);
    if (colon == NULL || !all_tokens((struct http_text){line.at, (size_t)(colon - line.at)})) {
        return BAD; /* A folded line begins with a space, which is no token. */
    }
    struct http_text name = {line.at, (size_t)(colon - line.at)};
    struct http_text value = {colon + 1, line.size - name.size - 1};
    while (value.size > 0 && (*value.at == ' ' || *value.at == '\t')) {
        value = (struct http_text){value.at + 1, value.size - 1};
    }
    while (value.size > 0 &&
            (value.at[value.size - 1] == ' ' || value.at[value.size - 1] == '\t')) {
        value.size--;
    }
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (is_word(name, fields[i].name)) {
            return fields[i].take(reader, value) ? HTTP_COMPLETE : BAD;
        }
    }
    return HTTP_COMPLETE;
}

static int
read_fields(struct reader *reader)
{
    unsigned count = 0;
    while (reader->at < reader->end) {
        struct http_text line;
        int status = next_line(reader, &line) ? read_field(reader, line) : BAD;
        if (status != HTTP_COMPLETE) {
            return status;
        }
        if (++count > HTTP_FIELDS_MAX) {
            return HEAD_TOO_LARGE;
        }
    }
    return HTTP_COMPLETE;
}

/* ---- The whole. ------------------------------------------------------------------------------ */

/* What the fields mean together. */
static int
check_fields(const struct reader *reader)
{
    if (reader->encoded) {
        return reader->lengths != 0 || reader->old ? BAD : NOT_IMPLEMENTED;
    }
    return reader->hosts == 0 && !reader->old ? BAD : HTTP_COMPLETE;
}

/* The first byte after the head's empty line; NULL: not there yet. */
static const char *
end_of_head(const char *bytes, size_t size)
{
    for (size_t i = 3; i < size; i++) {
        if (bytes[i] == '\n' && memcmp(bytes + i - 3, "\r\n\r\n", 4) == 0) {
            return bytes + i + 1;
        }
    }
    return NULL;
}

int
http_request_parse(const char *bytes, size_t size, size_t limit, struct http_request *ret_request)
{
    rt_assert(size <= limit);
    const char *head_end = end_of_head(bytes, size);
    *ret_request = (struct http_request){.keep_alive = false};
    if (head_end == NULL) {
        return size == limit ? HEAD_TOO_LARGE : HTTP_MORE;
    }
    struct reader reader = {.at = bytes, .end = head_end - 2, .request = ret_request};
    int status = read_request_line(&reader);
    status = status == HTTP_COMPLETE ? read_fields(&reader) : status;
    status = status == HTTP_COMPLETE ? check_fields(&reader) : status;
    if (status != HTTP_COMPLETE) {
        return status;
    }
    size_t head = (size_t)(head_end - bytes);
    if (reader.length > limit - head) {
        return TOO_LARGE;
    }
    ret_request->body = (struct http_text){head_end, reader.length};
    ret_request->size = head + reader.length;
    return ret_request->size <= size ? HTTP_COMPLETE : HTTP_MORE_BODY;
}
