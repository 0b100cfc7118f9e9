/*
 * story.c -- telling it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/explain/story.h"

#include <stdio.h>
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/explain/view/describe.h"

void
story_begin(struct story *story)
{
    *story = (struct story){.tale = tale_new()};
    story->waiter = tale_task(story->tale, "blocked");
    story->bringer = tale_task(story->tale, "bringer");
    story->self = tale_object_of(story->tale, story->waiter);
    story->slot = SIM_OBJECT(RT_OBJECT_SLOT, 0, 1);
    story->tale->outcome.object = story->slot;
}

void
story_sleep(struct story *story)
{
    tale_poll(story->tale, story->waiter, story->tale->step * UINT64_C(100), 0);
    tale_store(story->tale, story->waiter, story->slot, "an item", tale_site(0));
    tale_polled(story->tale, story->waiter, PENDING);
}

void
story_bring(struct story *story)
{
    tale_poll(story->tale, story->bringer, story->tale->step * UINT64_C(100), 0);
}

void
story_end(struct story *story)
{
    ck_assert_uint_le(tale_width(sim_page_text(&story->page)), SIM_PAGE_WIDTH);
    sim_page_fini(&story->page);
    tale_free(story->tale);
}

const char *
why_lost(struct story *story, uint32_t owed)
{
    struct sim_run_view tale = {
            .recorder = &story->tale->recorder, .outcome = &story->tale->outcome, .rows_max = 60};
    story->tale->outcome.missing_wake_step = owed;
    story->tale->outcome.oracle = SIM_ORACLE_REWAKE;
    tale_end(story->tale, SIM_VERDICT_LOST_WAKEUP, story->waiter);
    sim_describe_run(&story->page, &tale, SIM_DESCRIBE_WHY);
    /* How it was found is the same for all of them. */
    char *end = strstr(story->page.bytes, "\nWhen the run stalled");
    ck_assert_ptr_nonnull(end);
    end[1] = '\0';
    return sim_page_text(&story->page);
}

const char *
head_and_why_of(struct story *story, bool progressed)
{
    struct sim_run_view view = {.recorder = &story->tale->recorder,
            .outcome = &story->tale->outcome,
            .rows_max = 60,
            .progressed = progressed};
    sim_describe_run(&story->page, &view, SIM_DESCRIBE_HEADLINE);
    sim_describe_run(&story->page, &view, SIM_DESCRIBE_WHY);
    return sim_page_text(&story->page);
}

const char *
head_and_why(struct story *story)
{
    return head_and_why_of(story, false);
}

void
story_says(struct story *story, enum sim_oracle oracle, const char *message)
{
    story->tale->outcome.oracle = (uint8_t)oracle;
    (void)snprintf(story->tale->outcome.message, SIM_MESSAGE_MAX, "%s", message);
}

void
story_waits(struct story *story, uint32_t actor, const char *reason)
{
    story->tale->outcome.oracle = SIM_ORACLE_STALL;
    sim_record_text(&story->tale->recorder, SIM_TEXT_WAITER, actor, reason, strlen(reason));
}
