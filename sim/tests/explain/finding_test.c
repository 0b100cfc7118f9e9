/*
 * finding_test.c -- every template is well formed, and becomes text with references.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/tests/test.h"
#include "sim/explain/finding.h"
#include "sim/tests/explain/tale.h"

/* Every hole has a name that is known; brackets are closed, and none stands in another. */
TEST(finding_templates_have_known_holes_and_closed_brackets)
{
    for (unsigned kind = 0; kind < SIM_FINDINGS; kind++) {
        const char *text = sim_finding_template((enum sim_finding_kind)kind);
        bool open = false;
        for (const char *c = text; *c != '\0'; c++) {
            if (*c == '{') {
                const char *end = strchr(c, '}');
                ck_assert_msg(end != NULL, "%s", text);
                ck_assert_msg(sim_finding_has_hole(c + 1, (size_t)(end - c) - 1), "%s", text);
                c = end;
            } else if (*c == '[' || *c == ']') {
                ck_assert_msg(open == (*c == ']'), "%s", text);
                open = !open;
            }
        }
        ck_assert_msg(!open, "%s", text);
    }
}

/* Goal: what stands in brackets is left out whole, with its references. */
TEST(finding_leaves_out_what_is_not_known)
{
    struct tale *tale = tale_new();
    uint32_t client = tale_task(tale, "client");
    tale_poll(tale, client, 100, 0);
    tale_polled(tale, client, 0);
    struct sim_actor_table actor_table;
    struct sim_page page;
    sim_actor_table_make(&actor_table, &tale->recorder);
    sim_page_init(&page, false);
    const struct sim_finding_context names = {.actor_table = &actor_table};
    struct sim_finding finding = {
            .kind = SIM_FINDING_UNARMED, .actor = sim_actor_table_actor(&actor_table, client)};
    sim_finding_put(&page, &names, &finding);
    ck_assert_str_eq(sim_page_text(&page), "`client` blocks with something left to do");
    EXPECT_EQ(page.refs_count, 1);
    sim_page_clear(&page);
    finding.step = 1;
    sim_finding_put(&page, &names, &finding);
    ck_assert_str_eq(sim_page_text(&page), "`client` blocks at step 1 with something left to do");
    EXPECT_EQ(page.refs_count, 2);
    EXPECT_EQ(page.refs[1].kind, SIM_REF_STEP);
    EXPECT_EQ(page.refs[1].number, 1);
    sim_page_fini(&page);
    sim_actor_table_free(&actor_table);
    tale_free(tale);
}

/* Goal: a line that only closes a block is no key line; a step of the run that passes is none a
 * reader of this one can go to. */
TEST(finding_names_what_a_reader_can_use)
{
    struct tale *tale = tale_new();
    char file[] = "/tmp/finding-XXXXXX.c";
    int fd = mkstemps(file, 2);
    struct sim_actor_table actor_table;
    struct sim_page page;
    struct sim_named_lines named = {.count = 0};
    struct sim_location at = {.place = {.function = "drain", .line = 2}, .step = 7};
    rt_assert(fd >= 0 && write(fd, "take();\n});\n", 12) == 12);
    (void)snprintf(at.place.file, sizeof(at.place.file), "%s", file);
    sim_actor_table_make(&actor_table, &tale->recorder);
    sim_page_init(&page, false);
    const struct sim_finding_context names = {.actor_table = &actor_table, .named = &named};
    struct sim_finding finding = {.kind = SIM_FINDING_FATE_WRITTEN, .at = {&at, 1}};
    sim_finding_put(&page, &names, &finding);
    EXPECT(strstr(sim_page_text(&page), ", at the end of a block in drain() (finding-") != NULL);
    EXPECT_EQ(named.count, 0);
    at.place.line = 1;
    sim_page_clear(&page);
    sim_finding_put(&page, &names, &finding);
    EXPECT(strstr(sim_page_text(&page), ", in drain() (finding-") != NULL);
    EXPECT_EQ(named.count, 1);
    finding.kind = SIM_FINDING_DONE_AT;
    sim_page_clear(&page);
    sim_finding_put(&page, &names, &finding);
    EXPECT(strstr(sim_page_text(&page), ", at step 7 of that run") != NULL);
    for (uint32_t i = 0; i < page.refs_count; i++) {
        EXPECT(page.refs[i].kind != SIM_REF_STEP);
    }
    sim_page_fini(&page);
    sim_actor_table_free(&actor_table);
    tale_free(tale);
    (void)close(fd);
    (void)unlink(file);
}

/* Goal: in a line, what follows the end of a paragraph begins a sentence. */
TEST(finding_line_of_two_paragraphs)
{
    struct tale *tale = tale_new();
    struct sim_actor_table actor_table;
    struct sim_findings findings = {0};
    struct sim_page page;
    sim_actor_table_make(&actor_table, &tale->recorder);
    sim_page_init(&page, false);
    const struct sim_finding_context names = {.actor_table = &actor_table};
    SIM_FIND(&findings, SIM_FINDING_TEXT, .text = "one.");
    SIM_FIND(&findings, SIM_FINDING_END);
    SIM_FIND(&findings, SIM_FINDING_TEXT, .text = "two");
    SIM_FIND(&findings, SIM_FINDING_TEXT, .text = " and three");
    sim_findings_put_line(&page, &names, &findings);
    ck_assert_str_eq(sim_page_text(&page), "one. Two and three");
    sim_findings_fini(&findings);
    sim_page_fini(&page);
    sim_actor_table_free(&actor_table);
    tale_free(tale);
}

/* Goal: the kinds of `explain --json` are words, not numbers. */
TEST(finding_kinds_have_names)
{
    struct sim_page page;
    sim_page_init(&page, false);
    sim_finding_put_name(&page, SIM_FINDING_NOT_WOKEN_IN_TIME);
    ck_assert_str_eq(sim_page_text(&page), "not-woken-in-time");
    sim_page_fini(&page);
}
