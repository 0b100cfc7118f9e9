/*
 * cause.c -- from evidence to one kind and one place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause.h"
#include "sim/explain/path.h"

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
    struct sim_spot spot;
    set_spot(&spot, site, step, part);
    if (site != NULL && cause->at_count < SIM_CAUSE_CALLS && sim_place_is_readers(&spot.place)) {
        cause->at[cause->at_count++] = spot;
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

/* The change of stacks itself is nobody's line. */
static bool
is_switch(const struct sim_place *place)
{
    return strncmp(place->file, "runtime/fiber/context", 21) == 0;
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
            if (sim_place_is_readers(&places[k]) && !is_switch(&places[k])) {
                add_spot(cause, &places[k], step, part);
            }
        }
    }
}

static bool
is_named(const struct sim_cause *cause, const struct sim_place *place)
{
    for (uint32_t i = 0; i < cause->at_count; i++) {
        if (strcmp(cause->at[i].place.function, place->function) == 0) {
            return true;
        }
    }
    return false;
}

/* The functions that were gone through in a trail, the last in front; those of the runtime only
 * where no others were. */
static void
blame_trail(const struct sim_evidence *evidence, struct sim_cause *cause, uint32_t index)
{
    const struct sim_study *study = evidence->study;
    struct sim_walked walked[SIM_PATH_FUNCTIONS];
    if (study == NULL || index >= study->trail_count || index >= SIM_STUDY_PATHS) {
        return;
    }
    const struct sim_trail *trail = &study->trails[index];
    const struct sim_cast *cast = evidence->ledger->cast;
    uint32_t part = trail->actor != UINT32_MAX ? sim_cast_actor(cast, trail->actor) : SIM_PART_NONE;
    const struct sim_walk_stop *asleep = &trail->path.asleep;
    uint32_t frames = asleep->frame_count <= SIM_WALK_FRAMES ? asleep->frame_count : 0;
    if (evidence->outcome->verdict == SIM_VERDICT_DEADLOCK) {
        blame_frames(evidence, cause, asleep->frames, frames, false, trail->to, part);
    }
    uint32_t count = sim_path_functions(evidence->places, &trail->path, walked);
    bool own = count > 0 && !sim_place_is_runtime(&walked[0].place);
    for (uint32_t i = 0; i < count; i++) {
        if (!is_named(cause, &walked[i].place) && !is_switch(&walked[i].place) &&
                (!own || !sim_place_is_runtime(&walked[i].place))) {
            add_spot(cause, &walked[i].place, trail->to, part);
        }
    }
}

static bool
same_folder(const struct sim_place *a, const struct sim_place *b)
{
    size_t length = (size_t)(sim_place_file(a) - a->file);
    return length == (size_t)(sim_place_file(b) - b->file) &&
           strncmp(a->file, b->file, length) == 0;
}

/* Where nobody but the runtime had a part in it: what was gone through in the same part of it. */
static void
blame_neighbours(const struct sim_evidence *evidence, struct sim_cause *cause, uint32_t index)
{
    struct sim_cause all = *cause;
    struct sim_walked walked[SIM_PATH_FUNCTIONS];
    const struct sim_study *study = evidence->study;
    if (cause->at_count == 0) {
        blame_trail(evidence, cause, index);
        return;
    }
    if (study == NULL || index >= study->trail_count || index >= SIM_STUDY_PATHS) {
        return;
    }
    const struct sim_trail *trail = &study->trails[index];
    uint32_t count = sim_path_functions(evidence->places, &trail->path, walked);
    for (uint32_t i = 0; i < count; i++) {
        const struct sim_place *place = &walked[i].place;
        if (same_folder(&all.at[0].place, place) && !is_named(cause, place)) {
            add_spot(cause, place, trail->to, SIM_PART_NONE);
        }
    }
}

/* The reader's function that was entered first in a trail: what was called. */
static void
blame_entry(const struct sim_evidence *evidence, struct sim_cause *cause, uint32_t index)
{
    const struct sim_study *study = evidence->study;
    struct sim_walked walked[SIM_PATH_FUNCTIONS];
    const struct sim_walked *entry = NULL;
    if (study == NULL || index >= study->trail_count || index >= SIM_STUDY_PATHS) {
        return;
    }
    const struct sim_trail *trail = &study->trails[index];
    uint32_t count = sim_path_functions(evidence->places, &trail->path, walked);
    for (uint32_t i = 0; i < count; i++) {
        bool own = !sim_place_is_runtime(&walked[i].place);
        if (own && (entry == NULL || walked[i].entered < entry->entered)) {
            entry = &walked[i];
        }
    }
    if (entry != NULL && !is_named(cause, &entry->place)) {
        add_spot(cause, &entry->place, trail->to, SIM_PART_NONE);
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

/* Where nobody called a verdict: who sleeps, or turns, in whatever they went through last. */
static bool
is_told_by_trail(const struct sim_outcome *outcome)
{
    return outcome->verdict == SIM_VERDICT_LIVELOCK || outcome->verdict == SIM_VERDICT_STARVATION ||
           outcome->verdict == SIM_VERDICT_STEP_LIMIT ||
           outcome->verdict == SIM_VERDICT_TIME_LIMIT || outcome->verdict == SIM_VERDICT_LEAK;
}

static void
blame_trails(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    uint32_t before = cause->at_count;
    for (uint32_t i = 0; i < SIM_STUDY_PATHS; i++) {
        blame_trail(evidence, cause, i);
    }
    cause->by_trail = before == 0 && cause->at_count > 0;
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
    if (is_told_by_trail(outcome) && cause->at_count == 0) {
        blame_trails(evidence, cause);
    }
    if (cause->at_count == 0) {
        add_site(cause, outcome->site, outcome->fail_step, evidence->fate->part);
    }
    if (cause->at_count == 0) {
        blame_last_event(evidence, cause);
    }
    if (outcome->verdict == SIM_VERDICT_DEADLOCK || outcome->verdict == SIM_VERDICT_CONTRACT) {
        blame_trails(evidence, cause);
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

/* What was fired instead was an empty place, or the waker of one who had gone on since. */
static bool
is_left_behind(const struct sim_evidence *evidence)
{
    const struct sim_cast *cast = evidence->ledger->cast;
    const struct sim_wait *other = evidence->fate->other;
    uint64_t fired = evidence->fate->instead;
    if (sim_cast_event(cast, fired)->kind == RT_PROBE_FIRE_EMPTY) {
        return true;
    }
    uint64_t stored = other->keep_event != SIM_EVENT_NONE ? other->keep_event : other->store_event;
    for (uint64_t i = stored; i < fired; i++) {
        const struct sim_event *event = sim_cast_event(cast, i);
        if (event->kind == RT_PROBE_POLL && event->step > other->store_step &&
                sim_cast_part_of(cast, i) == other->part) {
            return true;
        }
    }
    return false;
}

/*
 * What the step fired is a place in which the sleeper has no waker. Where it waits for the same
 * thing elsewhere, the wake should have gone on; where it does not, its waker should have been
 * here, and is not: the line that stores it for others is where it was not stored for this one.
 */
/* The timer that is waited for does not run: nobody started it for this wait, or it has rung. */
static bool
is_timer_at_rest(const struct sim_evidence *evidence, const struct sim_wait *wait)
{
    const struct sim_cast *cast = evidence->ledger->cast;
    if (wait == NULL || SIM_OBJECT_KIND(wait->object) != RT_OBJECT_TIMER) {
        return false;
    }
    for (uint64_t i = evidence->fate->horizon; i-- > cast->first;) {
        const struct sim_event *event = sim_cast_event(cast, i);
        if (event->object == wait->object && event->kind == RT_PROBE_ARM) {
            return false;
        }
        if (event->object == wait->object &&
                (event->kind == RT_PROBE_EXPIRE || event->kind == RT_PROBE_DISARM)) {
            return true;
        }
    }
    return true;
}

/* The last time that somebody else moved the timer that is waited for; SIM_EVENT_NONE. */
static uint64_t
last_move(const struct sim_evidence *evidence, const struct sim_wait *wait)
{
    const struct sim_cast *cast = evidence->ledger->cast;
    uint64_t found = SIM_EVENT_NONE;
    for (uint64_t i = 0; i < cast->moves.count && wait != NULL; i++) {
        uint64_t event = cast->moves.moves[i].event;
        if (event > wait->store_event && event < evidence->fate->horizon &&
                sim_cast_event(cast, event)->object == wait->object &&
                sim_cast_part_of(cast, event) != wait->part) {
            found = event;
        }
    }
    return found;
}

static void
find_never_fired(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    const struct sim_fate *fate = evidence->fate;
    bool elsewhere = fate->instead != SIM_EVENT_NONE && fate->other != NULL &&
                     !same_reason(fate->wait, fate->other) &&
                     fate->other->object != fate->wait->object && is_left_behind(evidence);
    cause->kind = SIM_CAUSE_NEVER_FIRED;
    if (elsewhere && fate->other->await != 0) {
        cause->kind = SIM_CAUSE_NEVER_STORED;
        blame_event(evidence, cause, fate->other->store_event);
        return;
    }
    if (is_timer_at_rest(evidence, fate->wait)) {
        cause->kind = SIM_CAUSE_NEVER_STORED;
        blame_event(evidence, cause, fate->wait->store_event);
        return;
    }
    blame_event(evidence, cause, last_move(evidence, fate->wait));
    if (cause->at_count == 0) {
        cause->by_word = deciding_word(evidence, cause) != NULL;
    }
    if (cause->at_count == 0 && fate->owed != SIM_EVENT_NONE) {
        blame_owed(evidence, cause);
    }
    cause->by_trail = cause->at_count == 0;
    blame_entry(evidence, cause, 0);
    if (cause->at_count == 0 || sim_place_is_runtime(&cause->at[cause->at_count - 1].place)) {
        blame_neighbours(evidence, cause, 0);
    }
    if (cause->at_count == 0 && fate->wait != NULL) {
        blame_event(evidence, cause, fate->wait->store_event);
    }
}

/* The last wake, by somebody else, in the place of `wait` before it was stored: of nobody, or of
 * another; SIM_EVENT_NONE. */
static uint64_t
wake_before(const struct sim_evidence *evidence, const struct sim_wait *wait)
{
    const struct sim_cast *cast = evidence->ledger->cast;
    for (uint64_t i = wait->store_event; i-- > cast->first && wait->object != 0;) {
        const struct sim_event *event = sim_cast_event(cast, i);
        bool fires = event->kind == RT_PROBE_FIRE || event->kind == RT_PROBE_FIRE_EMPTY;
        if (fires && event->object == wait->object && sim_cast_part_of(cast, i) != wait->part) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

/* A wake of the sleeper that found it awake, and that its last poll did not see; SIM_EVENT_NONE. */
static uint64_t
swallowed_wake(const struct sim_evidence *evidence)
{
    const struct sim_ledger *ledger = evidence->ledger;
    const struct sim_fate *fate = evidence->fate;
    uint64_t found = SIM_EVENT_NONE;
    for (uint32_t i = 0; i < ledger->count && fate->poll != SIM_EVENT_NONE; i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        uint32_t cause = sim_cast_event(ledger->cast, fate->poll)->cause;
        if (wait->part == fate->part && wait->end == SIM_WAIT_FIRED &&
                wait->wake == SIM_WAKE_COALESCED && wait->end_event < fate->poll && cause != 0 &&
                wait->end_step >= cause && (found == SIM_EVENT_NONE || wait->end_event > found)) {
            found = wait->end_event;
        }
    }
    return found;
}

static void
find_fired_early(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    const struct sim_fate *fate = evidence->fate;
    uint64_t wake = fate->culprit != SIM_EVENT_NONE ? SIM_EVENT_NONE : swallowed_wake(evidence);
    if (wake != SIM_EVENT_NONE) {
        cause->kind = SIM_CAUSE_COALESCED;
        blame_event(evidence, cause, wake);
        return;
    }
    wake = fate->culprit;
    if (wake == SIM_EVENT_NONE) {
        wake = wake_before(evidence, fate->wait);
    }
    cause->kind = SIM_CAUSE_FIRED_EARLY;
    blame_event(evidence, cause, wake != SIM_EVENT_NONE ? wake : fate->wait->store_event);
}

/* The poll that stored none, by what it went through. */
static void
find_never_stored(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    const struct sim_study *study = evidence->study;
    cause->kind = SIM_CAUSE_NEVER_STORED;
    if (study != NULL && study->trail_count > 0) {
        blame_trail(evidence, cause, study->trail_count - 1);
        cause->by_trail = cause->at_count > 0;
    }
    if (cause->at_count == 0) {
        blame_event(evidence, cause, evidence->fate->polled);
    }
}

/* ---- Nobody goes on, and a run near this one does. ------------------------------------------- */

static bool
same_name(const struct sim_cast *a, uint32_t part_a, const struct sim_cast *b, uint32_t part_b)
{
    const char *name = a->parts[part_a].name;
    const char *other = b->parts[part_b].name;
    return name != NULL && other != NULL && strcmp(name, other) == 0;
}

/* The wait of the passing run that is `wait`: of the same one, at the same line, the n-th alike. */
static const struct sim_wait *
its_like(const struct sim_evidence *evidence, const struct sim_wait *wait)
{
    const struct sim_ledger *passing = evidence->passing;
    for (uint32_t i = 0; i < passing->count; i++) {
        const struct sim_wait *like = &passing->waits[i];
        if (like->kind == wait->kind && like->await == wait->await && like->site == wait->site &&
                like->number == wait->number && like->end == SIM_WAIT_FIRED &&
                same_name(passing->cast, like->part, evidence->ledger->cast, wait->part)) {
            return like;
        }
    }
    return NULL;
}

/* Whoever it is sleeps in the failing run. */
static bool
sleeps(const struct sim_evidence *evidence, uint32_t passing_part)
{
    const struct sim_ledger *ledger = evidence->ledger;
    for (uint32_t i = 0; i < ledger->count; i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        if (wait->end == SIM_WAIT_OPEN && !ledger->cast->parts[wait->part].finished &&
                same_name(ledger->cast, wait->part, evidence->passing->cast, passing_part)) {
            return true;
        }
    }
    return false;
}

/* Whoever wakes it in the passing run does not in this one, and does not wait for others. */
static bool
blame_waker(
        const struct sim_evidence *evidence, const struct sim_wait *wait, struct sim_cause *cause)
{
    const struct sim_wait *like = its_like(evidence, wait);
    if (like == NULL || like->end_event == SIM_EVENT_NONE) {
        return false;
    }
    const struct sim_cast *cast = evidence->passing->cast;
    const struct sim_event *event = sim_cast_event(cast, like->end_event);
    uint32_t part = sim_cast_part_of(cast, like->end_event);
    if (SIM_OBJECT_KIND(like->object) == RT_OBJECT_TIMER || sleeps(evidence, part)) {
        return false;
    }
    add_site(cause, event->await, event->step, part);
    add_site(cause, event->site, event->step, part);
    return cause->at_count > 0;
}

/* The n-th time that the loop `part` blocks: its event; SIM_EVENT_NONE. */
static uint64_t
nth_block(const struct sim_cast *cast, uint32_t part, uint32_t nth)
{
    uint32_t seen = 0;
    for (uint64_t i = cast->first; i < cast->end; i++) {
        if (sim_cast_event(cast, i)->kind == SIM_EVENT_BLOCK && sim_cast_part_of(cast, i) == part &&
                ++seen == nth) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

static uint32_t
blocks(const struct sim_cast *cast, uint32_t part)
{
    uint32_t count = 0;
    for (uint64_t i = cast->first; i < cast->end; i++) {
        count += sim_cast_event(cast, i)->kind == SIM_EVENT_BLOCK &&
                 sim_cast_part_of(cast, i) == part;
    }
    return count;
}

/* The poll that began at `block` has come back, and had found nothing: its time was up. */
static bool
ended_by_time(const struct sim_cast *cast, uint32_t part, uint64_t block)
{
    for (uint64_t i = block; i < cast->end; i++) {
        const struct sim_event *event = sim_cast_event(cast, i);
        if (event->kind == SIM_EVENT_UNBLOCK && sim_cast_part_of(cast, i) == part) {
            return event->argument == 0;
        }
    }
    return false;
}

/* A loop sleeps in its host with no deadline, where in the passing run it had one. */
static bool
find_no_deadline(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    const struct sim_cast *cast = evidence->ledger->cast;
    uint32_t part = evidence->fate->part;
    uint32_t nth = part != SIM_PART_NONE ? blocks(cast, part) : 0;
    if (evidence->passing == NULL || nth == 0 ||
            sim_cast_blocked(cast, part, evidence->fate->horizon) == SIM_EVENT_NONE) {
        return false;
    }
    const struct sim_cast *passing = evidence->passing->cast;
    for (uint32_t like = 1; like < passing->count; like++) {
        uint64_t block = same_name(cast, part, passing, like) ? nth_block(passing, like, nth)
                                                              : SIM_EVENT_NONE;
        if (block != SIM_EVENT_NONE && ended_by_time(passing, like, block)) {
            cause->kind = SIM_CAUSE_NEVER_STORED;
            blame_trail(evidence, cause, 0);
            return cause->at_count > 0;
        }
    }
    return false;
}

/* Something that the sleeper stands in line for was given back, or destroyed, and the line was not
 * told. */
static bool
find_given_back(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    const struct sim_ledger *ledger = evidence->ledger;
    const struct sim_cast *cast = ledger->cast;
    for (uint32_t k = 0; k < ledger->count; k++) {
        const struct sim_wait *wait = &ledger->waits[k];
        bool asleep = wait->end == SIM_WAIT_OPEN && wait->kind == SIM_WAIT_SLOT &&
                      wait->object != 0 && !cast->parts[wait->part].finished;
        for (uint64_t i = wait->store_event; asleep && i < evidence->fate->horizon; i++) {
            const struct sim_event *event = sim_cast_event(cast, i);
            if (event->object == wait->object &&
                    (event->kind == RT_PROBE_UNGRANT || event->kind == RT_PROBE_DESTROY)) {
                cause->kind = SIM_CAUSE_NEVER_FIRED;
                blame_event(evidence, cause, i);
                return cause->at_count > 0;
            }
        }
    }
    return false;
}

static bool
find_by_passing(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    const struct sim_ledger *ledger = evidence->ledger;
    bool found = false;
    for (uint32_t own = 0; own < 2 && evidence->passing != NULL; own++) {
        for (uint32_t i = 0; i < ledger->count && !found; i++) {
            const struct sim_wait *wait = &ledger->waits[i];
            bool asleep = wait->end == SIM_WAIT_OPEN && wait->kind == SIM_WAIT_SLOT &&
                          !ledger->cast->parts[wait->part].finished;
            if (asleep && (wait->part == evidence->fate->part) == (own == 0)) {
                found = blame_waker(evidence, wait, cause);
            }
        }
    }
    if (found) {
        cause->kind = SIM_CAUSE_NEVER_FIRED;
        cause->by_passing = true;
        blame_trail(evidence, cause, 0);
    }
    return found;
}

static void
find_lost(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    const struct sim_fate *fate = evidence->fate;
    switch ((enum sim_fate_kind)fate->kind) {
    case SIM_FATE_NEVER_STORED:
        find_never_stored(evidence, cause);
        return;
    case SIM_FATE_NEVER_FIRED:
    case SIM_FATE_NOT_PASSED_ON:
        find_never_fired(evidence, cause);
        return;
    case SIM_FATE_TOO_EARLY:
        find_fired_early(evidence, cause);
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
        cause->kind = SIM_CAUSE_NEVER_FIRED;
        blame_event(evidence, cause, fate->culprit);
        blame_entry(evidence, cause, 0);
        return;
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

/* A deadline was passed over: whoever set that timer did not wake the loop that slept longer. */
static bool
find_late_timer(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    const struct sim_cast *cast = evidence->ledger->cast;
    uint32_t timer = 0;
    for (uint64_t i = evidence->fate->horizon; i-- > cast->first;) {
        const struct sim_event *event = sim_cast_event(cast, i);
        if (timer == 0 && event->kind == RT_PROBE_EXPIRE) {
            timer = event->object;
        } else if (timer != 0 && event->object == timer && event->kind == RT_PROBE_ARM) {
            cause->kind = SIM_CAUSE_NEVER_FIRED;
            blame_event(evidence, cause, i);
            return cause->at_count > 0;
        }
    }
    return false;
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
    bool asleep = outcome->verdict == SIM_VERDICT_CONTRACT && outcome->oracle == SIM_ORACLE_FAULT &&
                  evidence->fate->kind == SIM_FATE_NEVER_STORED &&
                  strstr(outcome->message, "RT_E_NO_WAKER") != NULL;
    if (outcome->verdict == SIM_VERDICT_LATE_WAKEUP && !lost &&
            find_late_timer(evidence, ret_cause)) {
        return;
    }
    if (lost) {
        find_lost(evidence, ret_cause);
    } else if (asleep) {
        find_never_stored(evidence, ret_cause);
    } else if (outcome->verdict != SIM_VERDICT_DEADLOCK ||
               (!find_given_back(evidence, ret_cause) && !find_by_passing(evidence, ret_cause) &&
                       !find_no_deadline(evidence, ret_cause))) {
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
