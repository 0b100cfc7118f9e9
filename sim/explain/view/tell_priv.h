/*
 * tell_priv.h -- what the files that tell a failure share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_EXPLAIN_VIEW_TELL_PRIV_H
#define SIM_EXPLAIN_VIEW_TELL_PRIV_H

#include "sim/core/code/frames.h"
#include "sim/explain/view/tell.h"
#include "sim/explain/view/wake_outcome.h"

/* A failure, read. `line` collects what is then wrapped into the page. */
struct sim__telling {
    struct sim_actor_table actor_table;
    struct sim_ledger ledger;
    struct sim_wake_outcome wake_outcome;
    struct sim_page line;
    struct sim_page *page;
    const struct sim_outcome *outcome;
    struct sim_frames frames; /* Of outcome->stack. */
    bool went_on;             /* As in struct sim_tale. */
};

/* ---- Words, added to the line. --------------------------------------------------------------- */

/* "`client`", or what the outcome calls it. */
void sim__put_who(struct sim__telling *telling, uint32_t part);

/* "step 41 (3.1ms)". */
void sim__put_step(struct sim__telling *telling, uint64_t step);

/* " at file.c:41 in function()"; nothing when no place is known. */
void sim__put_at(struct sim__telling *telling, uint32_t await, uint32_t site);
void sim__put_at_event(struct sim__telling *telling, uint64_t event);

/* "step 41 (3.1ms), a step of `response`: is ready". */
void sim__put_deed(struct sim__telling *telling, uint64_t step);

/* What is waited for in `wait`; of a combinator, for what its children wait: "a connection or sleep
 * (timer 3), in race (group 1)". */
void sim__put_wait(struct sim__telling *telling, const struct sim_wait *wait);

/* The next open wait of `part` after `after` (NULL: the first) that tells something: no question
 * to the host, which is there as a waker too, and no child of a combinator, told with it. */
const struct sim_wait *sim__next_wait(
        const struct sim__telling *telling, uint32_t part, const struct sim_wait *after);

/* "; the last waker in there was that of `owner`, stored at … and fired at step 9 (1ms)" */
void sim__put_last_waker(struct sim__telling *telling, const struct sim_wait *last);

/* What `part` waits for: "the reply (response), since step 17 (1.2ms)"; false: for nothing that is
 * on record, nothing added. `after`: NULL, or the wait told last, which is updated. */
bool sim__put_waiting(struct sim__telling *telling, uint32_t part, const struct sim_wait **after);

/* True for tasks and loops that have not finished. */
bool sim__is_left(const struct sim__telling *telling, uint32_t part);

/* True for a lost wake-up that no single poll showed, but polling everybody in turn. */
bool sim__found_by_rounds(const struct sim_outcome *outcome);

/* Wraps the line into the page, `indent` blanks deep, and empties it. */
void sim__end_line(struct sim__telling *telling, uint32_t indent);

/* ---- tell_where.c: lines of the reader's source. --------------------------------------------- */

/* "#0 crash_main executor.c:218  #1 ...", a paragraph; nothing for less than a stack. */
void sim__put_stack(struct sim__telling *telling);

/* " in crash_main (executor.c:218)"; false: nothing is known, nothing added. */
bool sim__put_where(struct sim__telling *telling);

/* What is known is the poll function that broke the rule: it had returned by then. */
bool sim__is_of_poll(const struct sim__telling *telling);

/* A line for each clone that is still open, and the step in which it was lost. */
void sim__list_clones(struct sim__telling *telling);

/* ---- tell_clues.c: sentences beside the wake outcome of the waker.
 * ----------------------------------- */

/* " `consumer A` continued at step 7 (1us), left it there, and then waited for sleep (timer 1)."
 * Where the waker was still stored at `until`, but its owner waited elsewhere by then. */
void sim__put_left_behind(
        struct sim__telling *telling, const struct sim_wait *wait, uint64_t until);

/* What the owed step fired instead: where it may be what the blocked task waits for. A waker that
 * went to whom it should, in a place for something else, is no clue. */
void sim__put_instead(struct sim__telling *telling);

/* " At step 18 (1.3ms) `bob` moved that timer from 2ms to 2.3ms at …." for the first moves, by
 * others, of the timer that is waited for. */
void sim__put_moves(struct sim__telling *telling);

/* ---- tell_wake_outcome.c, tell_deadlock.c, tell_verdict.c: paragraphs.
 * ------------------------------- */

/* What became of the waker. */
void sim__tell_wake_outcome(struct sim__telling *telling);

/* A deadlock: its first sentence, its paragraph; "- `a` waits for …" for everybody who is left. */
void sim__head_deadlock(struct sim__telling *telling);
void sim__why_deadlock(struct sim__telling *telling);
void sim__list_waits(struct sim__telling *telling);

/* The first sentence, and the paragraph, of the verdict. */
void sim__tell_headline(struct sim__telling *telling);
void sim__tell_why(struct sim__telling *telling);

/* Adds one sentence, without a full stop, on what this kind of verdict is and how it was found;
 * nothing for a pass. */
void sim__put_kind(struct sim__telling *telling);

#endif
