/*
 * cause.c -- from evidence to one kind and one place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/trace/site.h"

#define INLINED_MAX 8u

/* ---- Places. --------------------------------------------------------------------------------- */

static void
set_spot(struct sim_spot *spot, const struct rt_site *site, uint64_t step, uint32_t part)
{
    *spot = (struct sim_spot){.step = step, .part = part};
    if (site != NULL) {
        (void)snprintf(spot->place.function, sizeof(spot->place.function), "%s", site->function);
        (void)snprintf(spot->place.file, sizeof(spot->place.file), "%s", site->file);
        spot->place.line = site->line;
    }
}

static void
add_spot(struct sim_cause *cause, const struct sim_place *place, uint64_t step, uint32_t part)
{
    if (cause->at_count < SIM_CAUSE_CALLS) {
        cause->at[cause->at_count++] = (struct sim_spot){*place, step, part};
    }
}

static void
add_site(struct sim_cause *cause, uint32_t id, uint64_t step, uint32_t part)
{
    const struct rt_site *site = id != 0 ? sim_site_find(id) : NULL;
    if (site != NULL && cause->at_count < SIM_CAUSE_CALLS) {
        set_spot(&cause->at[cause->at_count++], site, step, part);
    }
}

/* The reader's line first, then the runtime's, which did it for them. */
static void
blame_event(const struct sim_evidence *evidence, struct sim_cause *cause, uint64_t index)
{
    const struct sim_cast *cast = evidence->ledger->cast;
    if (index == SIM_EVENT_NONE) {
        return;
    }
    const struct sim_event *event = sim_cast_event(cast, index);
    uint32_t part = sim_cast_part_of(cast, index);
    add_site(cause, event->await, event->step, part);
    add_site(cause, event->site, event->step, part);
}

/* The frames of a stack that a reader can change, innermost first. The first address is that of an
 * instruction, the others are addresses of return. */
static void
blame_frames(const struct sim_evidence *evidence, struct sim_cause *cause, const uintptr_t *frames,
        uint32_t count, bool first_is_return, uint64_t step, uint32_t part)
{
    struct sim_place places[INLINED_MAX];
    for (uint32_t i = 0; i < count && evidence->places != NULL; i++) {
        uint32_t found = sim_places_at(
                evidence->places, frames[i], i > 0 || first_is_return, places, INLINED_MAX);
        for (uint32_t k = 0; k < found; k++) {
            if (sim_place_is_readers(&places[k])) {
                add_spot(cause, &places[k], step, part);
            }
        }
    }
}

/* ---- No wake is missing. --------------------------------------------------------------------- */

/* The handler's own frames stand before that of the signal, whose address is the instruction's. */
static void
blame_crash(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    const struct sim_crash *crash = evidence->crash;
    uint32_t count = crash->frame_count <= SIM_CRASH_FRAMES ? crash->frame_count : 0;
    uint32_t from = 0;
    while (from < count && crash->frames[from] != crash->pc) {
        from++;
    }
    uint64_t step = evidence->outcome->fail_step;
    if (from < count) {
        blame_frames(evidence, cause, crash->frames + from, count - from, false, step,
                evidence->fate->part);
    } else {
        blame_frames(evidence, cause, &crash->pc, 1, false, step, evidence->fate->part);
    }
}

/* The last event before the verdict that has a place, of whom it is about. */
static void
blame_last_event(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    const struct sim_cast *cast = evidence->ledger->cast;
    uint32_t part = evidence->fate->part;
    for (uint64_t i = evidence->fate->horizon; i-- > cast->first && cause->at_count == 0;) {
        const struct sim_event *event = sim_cast_event(cast, i);
        if ((event->await != 0 || event->site != 0) &&
                (part == SIM_PART_NONE || sim_cast_part_of(cast, i) == part)) {
            blame_event(evidence, cause, i);
        }
    }
}

static void
find_no_wake(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    const struct sim_outcome *outcome = evidence->outcome;
    cause->kind = SIM_CAUSE_NOT_A_WAKE;
    if (evidence->crash != NULL && evidence->crash->signal != 0) {
        blame_crash(evidence, cause);
    }
    if (evidence->study != NULL && cause->at_count == 0) {
        const struct sim_walk_stop *failed = &evidence->study->failed;
        blame_frames(evidence, cause, failed->frames, failed->frame_count, true, outcome->fail_step,
                evidence->fate->part);
    }
    if (cause->at_count == 0) {
        add_site(cause, outcome->site, outcome->fail_step, evidence->fate->part);
    }
    if (cause->at_count == 0) {
        blame_last_event(evidence, cause);
    }
}

/* ---- The wake that is missing. --------------------------------------------------------------- */

/* The word that decides, written by a reader's line: the last that was written. NULL: none. */
static const struct sim_word *
deciding_word(const struct sim_evidence *evidence, struct sim_cause *ret)
{
    const struct sim_study *study = evidence->study;
    uint64_t step = evidence->outcome->owed_step;
    uint64_t owed = evidence->fate->owed;
    uint32_t part =
            owed != SIM_EVENT_NONE ? sim_cast_part_of(evidence->ledger->cast, owed) : SIM_PART_NONE;
    for (uint32_t i = 0; study != NULL && i < study->word_count; i++) {
        const struct sim_word *word = &study->words[i];
        if (word->state != SIM_WORD_DECIDES || word->writer.frame_count == 0 ||
                word->writer.frame_count > SIM_WALK_FRAMES) {
            continue;
        }
        ret->at_count = 0;
        blame_frames(
                evidence, ret, word->writer.frames, word->writer.frame_count, false, step, part);
        if (ret->at_count > 0) {
            return word;
        }
    }
    ret->at_count = 0;
    return NULL;
}

/* The last place on record in the step that owed the wake. */
static void
blame_owed(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    const struct sim_cast *cast = evidence->ledger->cast;
    uint64_t found = SIM_EVENT_NONE;
    for (uint64_t i = evidence->fate->owed; i < evidence->fate->horizon; i++) {
        const struct sim_event *event = sim_cast_event(cast, i);
        if (event->step != evidence->outcome->owed_step || event->kind == RT_PROBE_POLLED) {
            break;
        }
        if (event->await != 0 || (event->site != 0 && event->kind != RT_PROBE_POLL)) {
            found = i;
        }
    }
    blame_event(evidence, cause, found);
}

static bool
same_reason(const struct sim_wait *a, const struct sim_wait *b)
{
    return a != NULL && b != NULL && a->reason != NULL && b->reason != NULL &&
           strcmp(a->reason, b->reason) == 0;
}

/*
 * What the step fired is a place in which the sleeper has no waker. Where it waits for the same
 * thing elsewhere, the wake should have gone on; where it does not, its waker should have been
 * here, and is not: the line that stores it for others is where it was not stored for this one.
 */
static void
find_never_fired(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    const struct sim_fate *fate = evidence->fate;
    bool elsewhere = fate->instead != SIM_EVENT_NONE && fate->other != NULL &&
                     !same_reason(fate->wait, fate->other) &&
                     fate->other->object != fate->wait->object;
    cause->kind = SIM_CAUSE_NEVER_FIRED;
    if (elsewhere && fate->other->await != 0) {
        cause->kind = SIM_CAUSE_NEVER_STORED;
        blame_event(evidence, cause, fate->other->store_event);
        return;
    }
    cause->by_word = deciding_word(evidence, cause) != NULL;
    if (!cause->by_word && fate->owed != SIM_EVENT_NONE) {
        blame_owed(evidence, cause);
    }
    if (cause->at_count == 0 && fate->wait != NULL) {
        blame_event(evidence, cause, fate->wait->store_event);
    }
}

static void
find_lost(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    const struct sim_fate *fate = evidence->fate;
    switch ((enum sim_fate_kind)fate->kind) {
    case SIM_FATE_NEVER_STORED:
        cause->kind = SIM_CAUSE_NEVER_STORED;
        blame_event(evidence, cause, fate->polled);
        return;
    case SIM_FATE_NEVER_FIRED:
    case SIM_FATE_NOT_PASSED_ON:
        find_never_fired(evidence, cause);
        return;
    case SIM_FATE_TOO_EARLY:
        cause->kind = SIM_CAUSE_FIRED_EARLY;
        blame_event(evidence, cause,
                fate->culprit != SIM_EVENT_NONE ? fate->culprit : fate->wait->store_event);
        return;
    case SIM_FATE_REPLACED:
        cause->kind = SIM_CAUSE_REPLACED;
        break;
    case SIM_FATE_ERASED:
        cause->kind = SIM_CAUSE_ERASED;
        break;
    case SIM_FATE_DROPPED:
        cause->kind = SIM_CAUSE_DROPPED;
        break;
    case SIM_FATE_FIRED_OTHER:
    case SIM_FATE_FIRED_DEAD:
    case SIM_FATE_STOPPED:
    case SIM_FATE_NOT_POLLED:
        cause->kind = SIM_CAUSE_COALESCED;
        break;
    case SIM_FATE_UNKNOWN:
    case SIM_FATES:
        find_no_wake(evidence, cause);
        return;
    }
    blame_event(evidence, cause, fate->culprit);
}

void
sim_cause_find(const struct sim_evidence *evidence, struct sim_cause *ret_cause)
{
    rt_assert(evidence->ledger != NULL && evidence->fate != NULL);
    const struct sim_outcome *outcome = evidence->outcome;
    const struct sim_wait *wait = evidence->fate->wait;
    bool lost =
            outcome->verdict == SIM_VERDICT_LOST_WAKEUP ||
            (outcome->verdict == SIM_VERDICT_LATE_WAKEUP && outcome->oracle != SIM_ORACLE_TIMER);
    *ret_cause = (struct sim_cause){.kind = SIM_CAUSE_NOT_A_WAKE};
    ret_cause->stored.part = SIM_PART_NONE;
    if (wait != NULL && wait->unknown == 0) {
        set_spot(&ret_cause->stored, sim_site_find(wait->await != 0 ? wait->await : wait->site),
                wait->store_step, wait->part);
    }
    if (lost) {
        find_lost(evidence, ret_cause);
    } else {
        find_no_wake(evidence, ret_cause);
    }
}

/* ---- Names. ---------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    const char *meaning;
} names[] = {
#define CAUSE_NAME(name, text, meaning) {text, meaning},
        SIM_CAUSE_LIST(CAUSE_NAME)
#undef CAUSE_NAME
};

const char *
sim_cause_name(uint32_t kind)
{
    return kind < SIM_CAUSES ? names[kind].text : "?";
}

const char *
sim_cause_meaning(uint32_t kind)
{
    return kind < SIM_CAUSES ? names[kind].meaning : "?";
}
