/*
 * priv.h -- what the files of the cause share.
 *
 *      cause        which of these to ask, and who is to blame where no wake is missing
 *      wake         the blocked task could make progress: its wake is missing
 *      rest         no actor makes progress
 *      turns        the same turn in both runs
 *      held         what is held, or has to be answered
 *      attempted    who came to wake a loop, and did not
 *      fate         what became of the wake that the passing run has
 *      unnotified   what is ready, and not reported
 *      unanswered   what was asked for, and did not happen
 *      unusual      what runs that fail do, and few that pass
 *      omitted      … by which condition it is not read
 *      word         what has become of a word before it is read
 *      places       lines and callers, for all of them; noted, for events; reads, for instructions
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/cause/cause.h"

/* ---- places.c: each adds to cause->at what is a reader's, innermost first. ------------------- */

void sim__location_set(
        struct sim_location *location, const struct rt_site *site, uint64_t step, uint32_t part);

/* Whether a place in the function of `place` is to blame already. */
bool sim__cause_names(const struct sim_cause *cause, const struct sim_place *place);

/* The site with number `id`; 0: none. */
void sim__cause_add_site(struct sim_cause *cause, uint32_t id, uint64_t step, uint32_t part);

/* The lines of an event: the reader's first, then the runtime's, which did it for them.
 * SIM_EVENT_NONE: none. */
void sim__cause_add_event(
        const struct sim_evidence *evidence, struct sim_cause *cause, uint64_t index);

/* The frames of a stack. `first_is_return`: also the first is an address of return. */
void sim__cause_add_frames(const struct sim_evidence *evidence, struct sim_cause *cause,
        const uintptr_t *frames, uint32_t count, bool first_is_return, uint64_t step,
        uint32_t part);

/* The functions of the analysis' trace `index`: the last one first, those of the runtime only where
 * there are no others; */
void sim__cause_add_trace(
        const struct sim_evidence *evidence, struct sim_cause *cause, uint32_t index);
/* … what in the same folder as what is to blame already; all of it, where nothing is; */
void sim__cause_add_neighbours(
        const struct sim_evidence *evidence, struct sim_cause *cause, uint32_t index);
/* … and the function that was entered first. */
void sim__cause_add_entry(
        const struct sim_evidence *evidence, struct sim_cause *cause, uint32_t index);

/* ---- noted.c: one event as a call with its place. -------------------------------------------- */

/* None. */
extern const struct sim_noted_call sim__no_call;

struct sim_noted_call sim__noted(const struct sim_actor_table *actor_table, uint64_t index);

bool sim__is_event(
        const struct sim_actor_table *actor_table, uint64_t index, uint32_t kind, uint32_t object);

/* The last such event before `before` (SIM_EVENT_NONE: of all); no call: there is none. */
struct sim_noted_call sim__last_noted(
        const struct sim_actor_table *actor_table, uint32_t object, uint32_t kind, uint64_t before);

/* ---- cause.c --------------------------------------------------------------------------------- */

void sim__cause_no_wake(const struct sim_evidence *evidence, struct sim_cause *cause);

/* ---- wake.c ---------------------------------------------------------------------------------- */

/* The blocked task's last poll stored no waker. */
void sim__cause_never_stored(const struct sim_evidence *evidence, struct sim_cause *cause);

/* A verdict that says that a wake is missing, or came late. */
void sim__cause_lost(const struct sim_evidence *evidence, struct sim_cause *cause);

/* What had come before the blocked task fell blocked, written by a reader's line, and its author:
 * its places are to blame. NULL: no word of others. */
const struct sim_arrived_word *sim__cause_add_arrived(
        const struct sim_evidence *evidence, struct sim_cause *cause);

/* A deadline was passed over: the actor that set that timer did not wake the loop, which slept
 * longer. False: no timer is on record. */
bool sim__cause_late_timer(const struct sim_evidence *evidence, struct sim_cause *cause);

/* ---- turns.c --------------------------------------------------------------------------------- */

/* Two parts, of two runs, that have the same name. */
bool sim__same_name(const struct sim_actor_table *a, uint32_t part_a,
        const struct sim_actor_table *b, uint32_t part_b);

/* Adds the line that starts a timer, or stores a waker, in the turn of the passing run in which the
 * blocked task fell asleep here, and that it does not come to here. False: there is none. */
bool sim__cause_add_armed(const struct sim_evidence *evidence, struct sim_cause *cause);

/* ---- attempted.c ----------------------------------------------------------------------------- */

/* What is known of who came to wake the loop. */
void sim__cause_attempted(
        const struct sim_evidence *evidence, struct sim_attempted_wake *ret_attempted);

/* Where the loop that was asked gave its stack up. */
void sim__cause_blocked_at(const struct sim_evidence *evidence, struct sim_cause *cause);

/* ---- held.c ---------------------------------------------------------------------------------- */

/* A circle of actors that wait for each other, or one that keeps what it holds. */
bool sim__cause_held(const struct sim_evidence *evidence, struct sim_cause *cause);

/* ---- rest.c ---------------------------------------------------------------------------------- */

/* Of a task that was woken, and that its loop does not poll. False: as below. */
bool sim__cause_unpolled(const struct sim_evidence *evidence, struct sim_cause *cause);

/* False: nothing is found, and `cause` as it was. */
bool sim__cause_rest(const struct sim_evidence *evidence, struct sim_cause *cause);
