/*
 * http_request_test.c -- what is a request, and what is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/programs/http_request.h"

#include <string.h>

#include "runtime/tests/test.h"

#define LIMIT 512u

static int
parse(const char *text, struct http_request *ret_request)
{
    return http_request_parse(text, strlen(text), LIMIT, ret_request);
}

TEST(http_request_is_read_with_its_body)
{
    struct http_request request;
    const char *text = "POST /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /";
    EXPECT_EQ(parse(text, &request), HTTP_COMPLETE);
    EXPECT(http_text_is(request.method, "POST"));
    EXPECT(http_text_is(request.target, "/a?b"));
    EXPECT(http_text_is(request.body, "abc"));
    EXPECT(request.keep_alive);
    EXPECT_EQ(request.size, strlen(text) - strlen("GET /"));
}

/* Every beginning of a request is "more", none is an error. */
TEST(http_request_in_pieces_is_complete_with_its_last_byte)
{
    struct http_request request;
    const char *text = "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab";
    for (size_t size = 0; size < strlen(text); size++) {
        int status = http_request_parse(text, size, LIMIT, &request);
        EXPECT_EQ(status, size < strlen(text) - 2 ? HTTP_MORE : HTTP_MORE_BODY);
    }
    EXPECT_EQ(parse(text, &request), HTTP_COMPLETE);
}

#define HOST "Host: x\r\n"

static const struct {
    const char *text;
    int status;
} table[] = {
        {"GET / HTTP/1.1\r\n" HOST "\r\n", HTTP_COMPLETE},
        {"GET / HTTP/1.0\r\n\r\n", HTTP_COMPLETE},
        {"GET / HTTP/1.1\r\n\r\n", 400}, /* No Host. */
        {"GET / HTTP/1.1\r\n" HOST HOST "\r\n", 400},
        {"GET / HTTP/2.0\r\n" HOST "\r\n", 505},
        {"GET / HTTP/1.x\r\n" HOST "\r\n", 400},
        {"GET /\r\n" HOST "\r\n", 400},
        {"GET  / HTTP/1.1\r\n" HOST "\r\n", 400},
        {"G(T / HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET / HTTP/1.1\n" HOST "\r\n\r\n", 400}, /* No CR. */
        {"GET / HTTP/1.1\r\n" HOST "a: b\n\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST "a : b\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST "a: b\r\n folded\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST "a: \x01\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST "no colon\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST ": no name\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST "Content-Length: +1\r\n\r\na", 400},
        {"GET / HTTP/1.1\r\n" HOST "Content-Length: \r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 1\r\n\r\na", 400},
        {"GET / HTTP/1.1\r\n" HOST "Content-Length: 1, 1\r\n\r\na", 400},
        {"GET / HTTP/1.1\r\n" HOST "Content-Length: 513\r\n\r\n", 413},
        {"GET / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999999999\r\n\r\n", 413},
        {"GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501},
        {"GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", 400},
        {"GET / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", 400},
};

TEST(http_request_that_two_readers_could_read_differently_is_refused)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct http_request request;
        int status = parse(table[i].text, &request);
        ck_assert_msg(status == table[i].status, "%d, expected %d: %s", status, table[i].status,
                table[i].text);
    }
}

TEST(http_request_says_whether_its_connection_stays)
{
    static const struct {
        const char *text;
        bool keep_alive;
    } rows[] = {
            {"GET / HTTP/1.1\r\n" HOST "\r\n", true},
            {"GET / HTTP/1.1\r\n" HOST "Connection: upgrade , Close\r\n\r\n", false},
            {"GET / HTTP/1.1\r\n" HOST "Connection: closed\r\n\r\n", true},
            {"GET / HTTP/1.0\r\n\r\n", false},
            {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct http_request request;
        EXPECT_EQ(parse(rows[i].text, &request), HTTP_COMPLETE);
        EXPECT_EQ(request.keep_alive, rows[i].keep_alive);
    }
}

TEST(http_request_head_that_fills_the_limit_is_refused)
{
    struct http_request request;
    char text[LIMIT];
    memset(text, 'a', sizeof(text));
    EXPECT_EQ(http_request_parse(text, LIMIT - 1, LIMIT, &request), HTTP_MORE);
    EXPECT_EQ(http_request_parse(text, LIMIT, LIMIT, &request), 431);
}

TEST(http_request_may_have_many_fields_but_not_more)
{
    struct http_request request;
    char text[LIMIT] = "GET / HTTP/1.1\r\n" HOST;
    for (unsigned i = 1; i < HTTP_FIELDS_MAX; i++) {
        (void)strncat(text, "a:\r\n", sizeof(text) - strlen(text) - 1);
    }
    size_t end = strlen(text);
    (void)strncat(text, "\r\n", sizeof(text) - end - 1);
    EXPECT_EQ(parse(text, &request), HTTP_COMPLETE);
    text[end] = '\0';
    (void)strncat(text, "a:\r\n\r\n", sizeof(text) - end - 1);
    EXPECT_EQ(parse(text, &request), 431);
}
