/*
 * protobuf_test.c -- bytes as Protocol Buffers has them; known answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/export/protobuf.h"

#include <string.h>

#include "runtime/tests/test.h"
#include "sim/base/utf8.h"

static void
expect(struct sim_page *out, const char *bytes, size_t length)
{
    ck_assert_uint_eq(out->length, length);
    ck_assert_mem_eq(out->bytes, bytes, length);
    sim_page_clear(out);
}

TEST(protobuf_numbers_are_varints_after_their_key)
{
    struct sim_page out;
    sim_page_init(&out, false);
    report_protobuf_number(&out, 1, 150);
    expect(&out, "\x08\x96\x01", 3); /* The example of the published encoding. */
    report_protobuf_number(&out, 1, 0);
    expect(&out, "\x08\x00", 2);
    report_protobuf_number(&out, 60, UINT64_MAX);
    expect(&out, "\xe0\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12);
    report_protobuf_fixed64(&out, 47, 0x0102030405060708);
    expect(&out, "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01", 10);
    sim_page_fini(&out);
}

TEST(protobuf_lengths_have_one_width_and_nest)
{
    struct sim_page out;
    sim_page_init(&out, false);
    report_protobuf_text(&out, 2, "hi");
    expect(&out, "\x12\x82\x80\x80\x00hi", 7);
    size_t outer = report_protobuf_open(&out, 1);
    size_t inner = report_protobuf_open(&out, 1);
    report_protobuf_close(&out, inner);
    report_protobuf_close(&out, outer);
    expect(&out, "\x0a\x85\x80\x80\x00\x0a\x80\x80\x80\x00", 10);
    sim_page_fini(&out);
}

TEST(protobuf_text_is_made_utf8)
{
    struct sim_page out;
    sim_page_init(&out, false);
    report_protobuf_text(&out, 1, "\xffz");
    expect(&out, "\x0a\x84\x80\x80\x00\xef\xbf\xbdz", 9);
    sim_page_fini(&out);
}

/* The first character of each: bytes, 0 where it is none. */
TEST(utf8_forms_that_are_too_long_or_none_are_refused)
{
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {{"a", 1}, {"\xc3\xa9", 2}, {"\xe2\x82\xac", 3}, {"\xf0\x9f\x90\x9b", 4},
            {"\x80", 0}, {"\xc0\xaf", 0}, {"\xc3", 0}, {"\xe0\x80\xaf", 0}, {"\xed\xa0\x80", 0},
            {"\xf4\x90\x80\x80", 0}, {"\xf0\x9f\x90", 0}, {"\xff", 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        size_t length = 0;
        bool good = sim_character(cases[i].text, &length) != SIM_NO_CHARACTER;
        ck_assert_msg(good == (cases[i].length > 0), "case %zu", i);
        ck_assert_uint_eq(length, good ? cases[i].length : 1);
    }
}
