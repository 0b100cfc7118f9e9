/*
 * diff_test.c -- where two runs part.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/test.h"
#include "sim/explain/view/diff.h"
#include "sim/tests/explain/tale.h"

/* Two tasks take turns for `steps` steps; at step `odd` (0: never) the second one is woken as
 * well. */
static struct tale *
turns(uint32_t steps, uint32_t odd)
{
    struct tale *tale = tale_new();
    uint32_t tasks[2];
    tasks[0] = tale_task(tale, "ping");
    tasks[1] = tale_task(tale, "pong");
    for (uint32_t i = 0; i < steps; i++) {
        tale_poll(tale, tasks[i % 2], i * UINT64_C(100), 0);
        if (i + 1 == odd) {
            tale_do_at(tale, RT_PROBE_WAKE, tale_object_of(tale, tasks[1]), 0, 0, tale_site(2));
        }
        tale_polled(tale, tasks[i % 2], 0);
    }
    tale_end(tale, SIM_VERDICT_PASS, UINT32_MAX);
    return tale;
}

static struct sim_difference
difference_of(struct tale *a, struct tale *b)
{
    struct sim_difference difference;
    sim_diff_find(&a->recorder, &b->recorder, &difference);
    return difference;
}

/*
 * Goal: the same run twice has no difference.
 */
TEST(diff_of_a_run_with_itself_is_none)
{
    struct sim_page page = {0};
    struct tale *a = turns(500, 0);
    struct tale *b = turns(500, 0);
    EXPECT_EQ(difference_of(a, b).kind, SIM_DIFF_SAME);
    sim_diff_put(&page, &a->recorder, "here", &b->recorder, "there");
    EXPECT_STR(sim_page_text(&page), "The runs are the same: 1503 events.\n");
    sim_page_fini(&page);
    tale_free(a);
    tale_free(b);
}

/*
 * Goal: the first event that differs is found, in whatever chunk it is.
 * Method: each place in a run of 1000 steps, every 7th; the event is computed by hand: 2
 * announcements, 3 events a step, the odd one is the third of its step.
 */
TEST(diff_finds_the_first_event_wherever_it_is)
{
    struct tale *a = turns(1000, 0);
    for (uint32_t odd = 1; odd <= 1000; odd += 7) {
        struct tale *b = turns(1000, odd);
        struct sim_difference difference = difference_of(a, b);
        EXPECT_EQ(difference.kind, SIM_DIFF_EVENT);
        EXPECT_EQ(difference.event, 2 + 3 * (odd - 1) + 2);
        tale_free(b);
    }
    tale_free(a);
}

/*
 * Goal: no field of an event may differ unseen.
 * Method: one bit of each byte of one event.
 */
TEST(diff_sees_every_byte_of_an_event)
{
    struct tale *a = turns(50, 0);
    struct tale *b = turns(50, 0);
    for (size_t i = 0; i < sizeof(struct sim_event); i++) {
        unsigned char *byte = (unsigned char *)&b->recorder.memory.events[77] + i;
        *byte = (unsigned char)(*byte ^ 1u);
        /* The hash is of what was recorded, before the change: the chunk is not passed over. */
        b->recorder.memory.hashes[0] ^= 1;
        EXPECT_EQ(difference_of(a, b).kind, SIM_DIFF_EVENT);
        EXPECT_EQ(difference_of(a, b).event, 77);
        *byte = (unsigned char)(*byte ^ 1u);
        b->recorder.memory.hashes[0] ^= 1;
    }
    EXPECT_EQ(difference_of(a, b).kind, SIM_DIFF_SAME);
    tale_free(a);
    tale_free(b);
}

/*
 * Goal: a run that ends where the other one goes on differs there.
 */
TEST(diff_of_a_shorter_run_is_its_end)
{
    struct sim_page page = {0};
    struct tale *a = turns(10, 0);
    struct tale *b = turns(10, 0);
    b->recorder.count--; /* As if the end had not been written. */
    EXPECT_EQ(difference_of(a, b).kind, SIM_DIFF_ENDS);
    EXPECT_EQ(difference_of(b, a).event, 32);
    sim_diff_put(&page, &a->recorder, "first", &b->recorder, "second");
    EXPECT_STR(sim_page_text(&page),
            /* clang-format off */
"The first difference is event 32.\n"
"Before that, in both:\n"
"  step 7, ping: poll -> pending\n"
"  step 8, pong: poll -> pending\n"
"  step 9, ping: poll -> pending\n"
"  step 10, pong: poll -> pending\n"
"Then:\n"
"  first: step 10, the world: end (pass)\n"
"  second: the run has ended\n");
    /* clang-format on */
    sim_page_fini(&page);
    tale_free(a);
    tale_free(b);
}

/*
 * Goal: what is reported is the few steps before, and what each did then.
 */
TEST(diff_is_told_with_the_steps_before)
{
    struct sim_page page = {0};
    struct tale *a = turns(200, 0);
    struct tale *b = turns(200, 100);
    sim_diff_put(&page, &a->recorder, "run 1", &b->recorder, "run 2");
    EXPECT_STR(sim_page_text(&page),
            /* clang-format off */
"The first difference is event 301.\n"
"Before that, in both:\n"
"  step 97, ping: poll -> pending\n"
"  step 98, pong: poll -> pending\n"
"  step 99, ping: poll -> pending\n"
"  step 100, pong: poll\n"
"Then:\n"
"  run 1: step 100, pong: -> pending\n"
"  run 2: step 100, pong: wakes itself at story.c:30 in step_2()\n"
"They differ in: kind, awaiting line.\n");
    /* clang-format on */
    ck_assert_uint_le(tale_width(sim_page_text(&page)), SIM_PAGE_WIDTH);
    sim_page_fini(&page);
    tale_free(a);
    tale_free(b);
}

/*
 * Goal: where the ring has lost the events, the hashes still say where the runs part.
 * Method: 3000 steps are more than twice the ring; the odd step is near the start.
 */
TEST(diff_of_lost_events_names_their_chunk)
{
    struct sim_page page = {0};
    struct tale *a = turns(3000, 0);
    struct tale *b = turns(3000, 100);
    struct sim_difference difference = difference_of(a, b);
    EXPECT_EQ(difference.kind, SIM_DIFF_LOST);
    EXPECT_EQ(difference.from, 299 / 128 * 128);
    EXPECT_EQ(difference.to, 299 / 128 * 128 + 128);
    sim_diff_put(&page, &a->recorder, "run 1", &b->recorder, "run 2");
    EXPECT_STR(sim_page_text(&page),
            /* clang-format off */
"The runs diverge somewhere in events 256 to 383; these were not kept. Replay both with more capacity\n"
"  for events, or with a smaller scenario.\n");
    /* clang-format on */
    sim_page_fini(&page);
    tale_free(a);
    tale_free(b);
}

/*
 * Goal: runs of different scenarios have no "before", and are not reported as if they had one.
 * Method: the first event differs; then the first step does, and the set-up is in common.
 */
TEST(diff_of_runs_with_nothing_in_common_says_so)
{
    struct sim_page page = {0};
    struct tale *a = turns(5, 0);
    struct tale *b = tale_new();
    uint32_t server = tale_actor(b, SIM_ACTOR_SOURCE, "server");
    tale_step(b, server, 0);
    tale_end(b, SIM_VERDICT_PASS, UINT32_MAX);
    sim_diff_put(&page, &a->recorder, "run 1", &b->recorder, "run 2");
    EXPECT_STR(sim_page_text(&page),
            /* clang-format off */
"They differ from the first event on:\n"
"  run 1: step 0, ping: actor\n"
"  run 2: step 0, server: actor\n"
"They differ in: object, argument.\n");
    /* clang-format on */
    tale_free(b);
    sim_page_clear(&page);
    b = tale_new();
    (void)tale_task(b, "ping");
    tale_poll(b, tale_task(b, "pong"), 0, 0);
    tale_end(b, SIM_VERDICT_PASS, UINT32_MAX);
    sim_diff_put(&page, &a->recorder, "run 1", &b->recorder, "run 2");
    EXPECT_STR(sim_page_text(&page),
            /* clang-format off */
"The first difference is event 2; in common is only what was set up before the first step:\n"
"  run 1: step 1, ping: step at 0ns\n"
"  run 2: step 1, pong: step at 0ns\n"
"They differ in: actor.\n");
    /* clang-format on */
    sim_page_fini(&page);
    tale_free(a);
    tale_free(b);
}
