/*
 * describe_sent_test.c -- a wake that was sent, and which no poll followed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/explain/view/columns.h"
#include "sim/explain/view/describe.h"
#include "sim/tests/explain/story.h"

/* A loop polls both in its own steps: the blocked task stores, is woken in step 2, and the loop
 * goes to sleep in step 3. */
static void
story_swallow(struct story *story)
{
    struct tale *tale = story->tale;
    uint32_t loop = tale_actor(tale, SIM_ACTOR_LOOP, "loop");
    tale_step(tale, loop, 0);
    tale->actor = story->waiter;
    tale_do(tale, RT_PROBE_POLL, story->self, 0);
    tale_store(tale, story->waiter, story->slot, "an item", tale_site(0));
    tale_do(tale, RT_PROBE_POLLED, story->self, PENDING);
    story_bring(story);
    tale_do_at(tale, RT_PROBE_FIRE, story->slot, story->self, 0, tale_site(1));
    tale_do_at(tale, RT_PROBE_WAKE, story->self, 0, 0, tale_site(1));
    tale_polled(tale, story->bringer, READY);
    tale_step(tale, loop, 300);
    tale_do(tale, SIM_EVENT_BLOCK, 0, 1);
}

/* The same page for verdict and step: first sentence, picture and reason. */
static const char *
printed(struct story *story, uint32_t verdict, uint32_t owed)
{
    struct tale *tale = story->tale;
    tale->outcome.missing_wake_step = owed;
    tale->outcome.oracle = SIM_ORACLE_REWAKE;
    tale_end(tale, verdict, story->waiter);
    tale->outcome.fail_step = verdict == SIM_VERDICT_LATE_WAKEUP ? 3 : 0;
    struct sim_run_view page = {
            .recorder = &tale->recorder, .outcome = &tale->outcome, .rows_max = SIM_ROWS_DEFAULT};
    sim_describe_run(&story->page, &page, SIM_DESCRIBE_FAILURE);
    return sim_page_text(&story->page);
}

static void
expect_parts(const char *text, const char *const *parts)
{
    for (; *parts != NULL; parts++) {
        ck_assert_msg(strstr(text, *parts) != NULL, "no \"%s\" in:\n%s", *parts, text);
    }
}

/*
 * Goal: a wake that was sent is never said to be missing. It is drawn as sent, and the task that
 * had it last is named, with the step in which it went to sleep over it.
 */
TEST(describe_wake_that_was_dropped_is_told_as_sent)
{
    static const char *const parts[] = {
            "it waits for an item\nsince step 1 (0ns), was woken at step 2 (100ns), and was never "
            "polled after that.",
            "<-- here blocked was woken, and no poll followed\n",
            "no poll followed. So the\nwake was sent, and lost between there and the poll. The "
            "waker was called; `loop`, which polls it,\ndid not poll it: it blocked at step 3 "
            "(300ns).\n",
            NULL};
    struct story story;
    story_begin(&story);
    story_swallow(&story);
    const char *text = printed(&story, SIM_VERDICT_LOST_WAKEUP, 2);
    expect_parts(text, parts);
    EXPECT(strstr(text, "should have been woken") == NULL);
    story_end(&story);
}

/*
 * Goal: what came later than the wake is reported after it; the mark stands where it could go on.
 */
TEST(describe_wake_that_was_dropped_before_it_could_go_on)
{
    static const char *const parts[] = {
            "could have made progress after step 3 (300ns), was woken at step 2",
            "<-- here blocked could make progress: woken at step 2, never polled\n",
            "should have been woken by step 3", NULL};
    struct story story;
    story_begin(&story);
    story_swallow(&story);
    expect_parts(printed(&story, SIM_VERDICT_LOST_WAKEUP, 3), parts);
    story_end(&story);
}

/*
 * Goal: a poll that came in the end is never said to be missing.
 */
TEST(describe_wake_whose_poll_came_late)
{
    static const char *const parts[] = {"`blocked` was polled too late: it waits for an item",
            "was woken at\nstep 2 (100ns), and was still blocked when",
            "<-- here blocked was woken; its poll came too late\n",
            "no poll followed before\nstep 4 (1us)", NULL};
    struct story story;
    story_begin(&story);
    story_swallow(&story);
    tale_clock(story.tale, 1000);
    tale_poll(story.tale, story.waiter, 1000, 2);
    tale_polled(story.tale, story.waiter, READY);
    const char *text = printed(&story, SIM_VERDICT_LATE_WAKEUP, 2);
    expect_parts(text, parts);
    EXPECT(strstr(text, "lost between") == NULL);
    story_end(&story);
}
