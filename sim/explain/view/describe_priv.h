/*
 * describe_priv.h -- what the files that describe a run share.
 *
 *      describe            the sections, and what a verdict is
 *      describe_verdict    headline and reason of each verdict
 *      describe_deadlock   … of a deadlock
 *      describe_wake       what became of a waker
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/code/frames.h"
#include "sim/explain/finding.h"
#include "sim/explain/view/describe.h"
#include "sim/explain/view/wake_outcome.h"

/* A run, read, and the findings about it that are not printed yet. */
struct sim__reading {
    struct sim_actor_table actor_table;
    struct sim_ledger ledger;
    struct sim_wake_outcome wake_outcome;
    struct sim_finding_context names;
    struct sim_findings *findings; /* About the blocked task, where they name no other. */
    const struct sim_outcome *outcome;
    bool progressed;          /* As in struct sim_run_view. */
    uint32_t first;           /* … */
    struct sim_frames frames; /* Of outcome->stack. */
    char frame_texts[SIM_FRAMES_MAX][512];
    char where[512];                   /* " in crash_main (executor.c:218)", or "". */
    char message[SIM_MESSAGE_MAX + 1]; /* What the judge said. */
};

/* ---- describe.c: findings, added to the list. ------------------------------------------------ */

/* One about the event at index `event`: its actor is {other}; step, object and line are its own. */
void sim__add_event(struct sim__reading *reading, enum sim_finding_kind kind, uint64_t event);

/* One about `wait`: who waits is {other}, and step and line are those of its store. */
void sim__add_wait(
        struct sim__reading *reading, enum sim_finding_kind kind, const struct sim_wait *wait);

/* Ends a paragraph, `indent` blanks deep. */
void sim__end(struct sim__reading *reading, uint32_t indent);

/* "; the last waker in there was that of `owner`, stored at … and fired at step 9 (1ms)." */
void sim__add_last_waker(struct sim__reading *reading, const struct sim_wait *last);

/* The event at `index`; its step. */
const struct sim_event *sim__event(const struct sim__reading *reading, uint64_t index);
uint64_t sim__step_of(const struct sim__reading *reading, uint64_t index);

/* True for tasks and loops that have not finished. */
bool sim__is_left(const struct sim__reading *reading, uint32_t actor);

/* True for a lost wake-up that no single poll showed, but polling all in turn. */
bool sim__found_by_rounds(const struct sim_outcome *outcome);

/* True where what is known is the poll function that broke the rule: it had returned by then. */
bool sim__is_of_poll(const struct sim__reading *reading);

/* ---- The other files: paragraphs. ------------------------------------------------------------ */

/* What became of the waker. */
void sim__find_wake(struct sim__reading *reading);

/* A deadlock: its first sentence, its paragraph; "- `a` waits for …" for all who are left. */
void sim__find_deadlock_head(struct sim__reading *reading);
void sim__find_deadlock(struct sim__reading *reading);
void sim__find_waits(struct sim__reading *reading);

/* The first sentence, and the paragraph, of the verdict. */
void sim__find_headline(struct sim__reading *reading);
void sim__find_why(struct sim__reading *reading);
