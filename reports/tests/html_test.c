/*
 * html_test.c -- nothing that comes from a scenario is more than text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/base/html.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/tests/test.h"

static const char *
escaped(const char *text)
{
    static struct report_html html;
    report_html_fini(&html);
    report_html_text(&html, text);
    return sim_page_text(&html.page);
}

TEST(html_text_is_never_markup)
{
    EXPECT_STR(escaped("<script>alert('1')</script>"),
            "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;");
    EXPECT_STR(escaped("\"><img src=x onerror=\"x\">"),
            "&quot;&gt;&lt;img src=x onerror=&quot;x&quot;&gt;");
    EXPECT_STR(escaped("a&amp;b"), "a&amp;amp;b");
    EXPECT_STR(escaped(NULL), "");
}

TEST(html_text_is_always_utf8)
{
    EXPECT_STR(escaped("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"),
            "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
    EXPECT_STR(escaped("a\xff"), "a\xef\xbf\xbd");
    EXPECT_STR(escaped("cut\xe2\x82"), "cut\xef\xbf\xbd\xef\xbf\xbd");
    EXPECT_STR(escaped("\xc0\xbc"), "\xef\xbf\xbd\xef\xbf\xbd");                 /* Overlong '<'. */
    EXPECT_STR(escaped("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* Surrogate. */
    EXPECT_STR(escaped("\x1b[31m\x7f"), "\xef\xbf\xbd[31m\xef\xbf\xbd");
    /* What turns the direction of all that follows. */
    EXPECT_STR(escaped("\xe2\x80\xae"
                       "reentrancy"),
            "\xef\xbf\xbd"
            "reentrancy");
}

TEST(html_text_that_is_too_long_is_cut_and_says_so)
{
    static char text[REPORT_TEXT_MAX + 8];
    memset(text, 'x', sizeof(text) - 1);
    const char *result = escaped(text);
    EXPECT(strlen(result) < REPORT_TEXT_MAX + 32);
    EXPECT(strstr(result, "7 bytes more") != NULL);
    /* A letter over the border is whole. */
    memset(text, 'x', REPORT_TEXT_MAX - 1);
    memcpy(text + REPORT_TEXT_MAX - 1, "\xe2\x82\xac", 4);
    EXPECT(strstr(escaped(text), "\xe2\x82\xac") != NULL);
}

TEST(html_put_escapes_each_text_and_no_markup)
{
    struct report_html html = {.page.length = 0};
    report_html_put(&html, "<p class=\"%s\">%u %% of %lld, %s</p>", "a\"b", 5u, -7LL, "<i>%s");
    EXPECT_STR(sim_page_text(&html.page), "<p class=\"a&quot;b\">5 % of -7, &lt;i&gt;%s</p>");
    report_html_fini(&html);
}

TEST(html_link_goes_to_pages_of_the_report_only)
{
    static const char *const refused[] = {"javascript:alert(1)", "http://a.b/", "//a.b", "/etc",
            "../x.html", "", "a.html?x", "\tx.html"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct report_html html = {.page.length = 0};
        report_html_link(&html, refused[i], "a<b");
        EXPECT_STR(sim_page_text(&html.page), "a&lt;b");
        report_html_fini(&html);
    }
    struct report_html html = {.page.length = 0};
    report_html_link(&html, "failure-3.html#step-12", "a<b");
    EXPECT_STR(sim_page_text(&html.page), "<a href=\"failure-3.html#step-12\">a&lt;b</a>");
    report_html_fini(&html);
}

TEST(html_command_is_whole_however_long)
{
    static char command[3 * REPORT_TEXT_MAX];
    struct report_html html = {.page.length = 0};
    memset(command, 'y', sizeof(command) - 1);
    memcpy(command + REPORT_TEXT_MAX - 1, "\xc3\xbc", 2); /* Over the border of a piece. */
    report_html_command(&html, "Replay it", command);
    EXPECT(strstr(sim_page_text(&html.page), command) != NULL);
    report_html_fini(&html);
}

TEST(html_page_asks_for_nothing_from_elsewhere)
{
    struct report_html html;
    report_html_begin(&html, "a <b> \"c\"", REPORT_NAV_FAILURE);
    report_html_end(&html);
    const char *text = sim_page_text(&html.page);
    EXPECT(strstr(text, "<title>a &lt;b&gt; &quot;c&quot;</title>") != NULL);
    EXPECT(strstr(text, "default-src 'none'") != NULL);
    const char *script = strstr(text, "<script");
    EXPECT(script != NULL && strncmp(script + 8, report_script, strlen(report_script)) == 0);
    EXPECT(strstr(script + 1, "<script") == NULL);
    EXPECT(strstr(text, "script-src '" REPORT_SCRIPT_HASH "'") != NULL);
    EXPECT(strstr(text, "http://") == NULL && strstr(text, "https://") == NULL);
    EXPECT(strstr(text, "url(") == NULL && strstr(text, "@import") == NULL);
    report_html_fini(&html);
}
