/*
 * possible_test.c -- records that no run can have are found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/tests/host/kernel/arm.h"
#include "sim/tests/host/record/record.h"

#define TOKEN UINT64_C(0x100000000)

enum { MAKES, WATCHES, IN_VAIN, WRITES, FETCHES, READS, STEPS };

/* A pipe, read in vain, written, reported, read. */
static struct record *
a_pipe(void)
{
    static struct record record;
    static const struct rt_net_part part = {"abcd", 4};
    static const struct record_step steps[STEPS] = {
            [MAKES] = {{.kind = RECORD_PIPE}, {.made = 2}},
            [WATCHES] = {{.kind = RECORD_WATCH, .token = TOKEN}, {.err = RT_OK}},
            [IN_VAIN] = {{.kind = RECORD_READ, .size = 9}, {.err = RT_E_AGAIN}},
            [WRITES] = {{.kind = RECORD_WRITE, .socket = 1, .parts = &part, .count = 1},
                    {.size = 4}},
            [FETCHES] = {{.kind = RECORD_FETCH, .count = 8},
                    {.events_count = 1, .events = {{TOKEN, RT_NET_READABLE}}}},
            [READS] = {{.kind = RECORD_READ, .size = 9}, {.size = 4}},
    };
    memcpy(record.steps, steps, sizeof(steps));
    record.steps[READS].answer.hash = kernel_hash("abcd", 4);
    record.count = STEPS;
    return &record;
}

/* The step that no run gets past; STEPS: there is a run. */
static uint32_t
last_step(const struct record *record)
{
    struct record_answer nearest;
    uint32_t step = 0;
    uint32_t runs = 0;
    return record_possible(record, &step, &nearest, &runs) ? STEPS : step;
}

TEST(record_of_a_pipe_is_possible)
{
    EXPECT_EQ(last_step(a_pipe()), STEPS);
}

TEST(record_with_other_bytes_is_impossible)
{
    struct record *record = a_pipe();
    record->steps[READS].answer.hash++;
    EXPECT_EQ(last_step(record), READS);
}

TEST(record_with_bytes_from_nowhere_is_impossible)
{
    struct record *record = a_pipe();
    record->steps[IN_VAIN].answer = record->steps[READS].answer;
    EXPECT_EQ(last_step(record), IN_VAIN);
}

TEST(record_with_an_event_for_nothing_is_impossible)
{
    struct record *record = a_pipe();
    record->steps[FETCHES].answer.events[0].events |= RT_NET_ERROR;
    EXPECT_EQ(last_step(record), FETCHES);
}

/* The read was in vain, so the event is owed: without it the reader would wait forever. */
TEST(record_without_an_event_that_is_owed_is_impossible)
{
    struct record *record = a_pipe();
    record->steps[FETCHES].answer.events_count = 0;
    EXPECT_EQ(last_step(record), FETCHES);
}

/* It is not owed to one who has not asked. */
TEST(record_without_an_event_that_is_not_owed_is_possible)
{
    struct record *record = a_pipe();
    record->steps[IN_VAIN].call.kind = RECORD_FETCH;
    record->steps[IN_VAIN].call.count = 8;
    record->steps[IN_VAIN].answer.err = RT_OK;
    record->steps[FETCHES].answer.events_count = 0;
    EXPECT_EQ(last_step(record), STEPS);
}

TEST(record_of_an_end_that_never_came_is_impossible)
{
    struct record *record = a_pipe();
    record->steps[READS].answer = (struct record_answer){.err = RT_E_CLOSED};
    EXPECT_EQ(last_step(record), READS);
}
