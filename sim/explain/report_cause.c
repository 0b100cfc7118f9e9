/*
 * report_cause.c -- the cause, in a sentence or two.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/explain/report.h"
#include "sim/explain/words.h"
#include "sim/trace/site.h"

static const struct sim_spot *
blamed(const struct sim_cause *cause)
{
    return cause->at_count > 0 ? &cause->at[0] : NULL;
}

/* Names that are given beside the place itself. */
#define NAMES 4u

/* Steps after which somebody who waits is worth a word while others turn. */
#define SLEEPS_LONG 1000u

/* Is it worth a name: not one that was given, and the runtime's only where nothing else is. */
static bool
is_news(const struct sim_cause *cause, uint32_t from, uint32_t index, bool trail)
{
    const struct sim_spot *spot = &cause->at[index];
    if (spot->trail != trail ||
            (sim_place_is_runtime(&spot->place) && !sim_place_is_runtime(&cause->at[0].place))) {
        return false;
    }
    for (uint32_t i = from; i < index; i++) {
        if (strcmp(cause->at[i].place.function, spot->place.function) == 0) {
            return false;
        }
    }
    return true;
}

/* False: there are none. */
static bool
put_names(struct sim_page *page, const struct sim_cause *cause, uint32_t from, uint32_t to,
        bool trail, const char *before)
{
    uint32_t count = 0;
    for (uint32_t i = from + 1; i < to && count < NAMES; i++) {
        if (is_news(cause, from, i, trail)) {
            sim_page_printf(
                    page, "%s%s()", count++ == 0 ? before : ", ", cause->at[i].place.function);
        }
    }
    return count > 0;
}

/* " in permit_release() (a18.c:84), called from author_poll()" */
static void
put_place(struct sim_page *page, const struct sim_cause *cause, uint32_t from, uint32_t to)
{
    sim_page_put(page, " ");
    sim_words_put_place(page, &cause->at[from].place);
    (void)put_names(page, cause, from, to, false, ", called from ");
}

/* The same with what was gone through: " in timeout_of() (d19.c:80), after kernel_wait()". */
static void
put_at(struct sim_page *page, const struct sim_cause *cause)
{
    if (cause->at_count > 0) {
        put_place(page, cause, 0, cause->at_count);
        (void)put_names(page, cause, 0, cause->at_count, true,
                cause->at[0].trail ? ", after " : "; gone through in that step: ");
    }
}

static void
put_stored(struct sim_page *page, const struct sim_cause *cause)
{
    if (cause->stored.place.function[0] != '\0') {
        sim_page_put(page, " It had stored its waker ");
        sim_words_put_place(page, &cause->stored.place);
        sim_page_printf(page, " at step %llu.", (unsigned long long)cause->stored.step);
    }
}

/* "… at step 6 `author`" */
static void
put_when(struct sim_page *page, const struct sim_explanation *explanation, const char *before)
{
    const struct sim_spot *at = blamed(&explanation->cause);
    if (at != NULL && at->step != 0 && at->part != SIM_PART_NONE) {
        sim_page_printf(page, "%s at step %llu ", before, (unsigned long long)at->step);
        sim_words_put_who(&explanation->cast, page, at->part);
    } else {
        sim_page_printf(page, "%s somebody", before);
    }
}

/* It could go on when it fell asleep, and nobody else has to do with it. */
static void
put_unarmed(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    const struct sim_spot *at = blamed(cause);
    const struct sim_fate *fate = &explanation->fate;
    sim_words_put_who(&explanation->cast, page, fate->part);
    sim_page_put(page, " falls asleep");
    if (fate->poll != SIM_EVENT_NONE) {
        sim_page_printf(page, " at step %llu",
                (unsigned long long)sim_cast_event(&explanation->cast, fate->poll)->step);
    }
    sim_page_put(page, " with something left to do, and asks for no wake that would come");
    if (cause->by_passing && at != NULL) {
        sim_page_put(page, ": it does not start the timer, or store the waker,");
        put_place(page, cause, 0, cause->at_count);
        sim_page_printf(page,
                ", as it does in that turn of the nearest run that passes (its step "
                "%llu).",
                (unsigned long long)at->step);
        if (put_names(page, cause, 0, cause->at_count, true, " Here it goes through ")) {
            sim_page_put(page, ".");
        }
        return;
    }
    sim_page_put(page, ". In that step it is last");
    put_at(page, cause);
    sim_page_put(page, ".");
    put_stored(page, cause);
}

/* A loop asks its host for less than it does in the run that passes. */
static void
put_unregistered(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    sim_words_put_who(&explanation->cast, page, explanation->fate.part);
    sim_page_put(page, " sleeps, and does not ask its host for what it waits for. In the nearest "
                       "run that passes it does,");
    put_place(page, cause, 0, cause->at_count);
    sim_page_put(page, ", before it blocks; here that call is not made.");
    if (put_names(page, cause, 0, cause->at_count, true, " In its last step it goes through ")) {
        sim_page_put(page, ".");
    }
}

static void
put_never_stored(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    const struct sim_spot *at = blamed(cause);
    if (cause->past != 0 && at != NULL) {
        sim_page_put(page, "the wake of ");
        sim_words_put_who(&explanation->cast, page, explanation->fate.part);
        sim_page_put(page, " goes past ");
        sim_cast_put_object(&explanation->cast, page, cause->past, explanation->fate.part);
        sim_page_printf(
                page, ": at step %llu its own waker is stored", (unsigned long long)at->step);
        put_at(page, cause);
        sim_page_put(page, ", where that of ");
        sim_cast_put_object(&explanation->cast, page, cause->past, explanation->fate.part);
        sim_page_put(page, " should be. Polled after that wake, ");
        sim_cast_put_object(&explanation->cast, page, cause->past, explanation->fate.part);
        sim_page_put(page, " asks no child of which it was not told.");
        return;
    }
    if (cause->by_look) {
        put_unarmed(page, explanation);
        return;
    }
    if (cause->by_call) {
        put_unregistered(page, explanation);
        return;
    }
    sim_words_put_who(&explanation->cast, page, explanation->fate.part);
    if (cause->by_rest) {
        sim_page_put(page, " waits for ");
        sim_cast_put_object(
                &explanation->cast, page, explanation->fate.wait->object, explanation->fate.part);
        sim_page_put(page, ", which does not run: its waker is stored");
        put_at(page, cause);
        sim_page_put(page, ", and the timer is not started for that wait.");
        return;
    }
    sim_page_put(page,
            " sleeps, and no waker of its own, and no deadline, stands where it would be "
            "woken. It should have been put there");
    put_at(page, cause);
    sim_page_put(page, ".");
}

/* "`hasty` is given what `patient` waits for, by `holder` in …, and does not pass it on" */
static void
put_lost(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    const struct sim_spot *at = &cause->at[0];
    sim_words_put_who(&explanation->cast, page, at->part);
    if (cause->given.place.function[0] != '\0') {
        sim_page_printf(
                page, " is given at step %llu what ", (unsigned long long)cause->given.step);
        sim_words_put_who(&explanation->cast, page, explanation->fate.part);
        sim_page_put(page, " waits for, by ");
        sim_words_put_who(&explanation->cast, page, cause->given.part);
        sim_page_put(page, " ");
        sim_words_put_place(page, &cause->given.place);
        sim_page_put(page, ", and does not pass it on: it");
    } else {
        sim_page_put(page, " does not do what ");
        sim_words_put_who(&explanation->cast, page, explanation->fate.part);
        sim_page_put(page, " waits for: it");
    }
    sim_page_printf(page, " goes another way at step %llu, ", (unsigned long long)at->step);
    sim_words_put_place(page, &at->place);
    sim_page_put(page, cause->lost_only ? ", where it does not come in the run that passes" : "");
    (void)put_names(page, cause, 0, cause->lost_count, false, "; it goes through ");
    sim_page_put(page, ".");
}

/* The step is one of the run that passes. */
static void
put_elsewhere(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    const struct sim_spot *at = &cause->at[cause->lost_count];
    if (cause->lost_count > 0) {
        put_lost(page, explanation);
        sim_page_put(page, " In the nearest run that passes it is done");
    } else {
        sim_words_put_who(&explanation->cast, page, explanation->fate.part);
        sim_page_put(page, " waits for something that nobody does here. The nearest run that "
                           "passes does it");
    }
    put_place(page, cause, cause->lost_count, cause->at_count);
    sim_page_printf(page, ", at its step %llu", (unsigned long long)at->step);
    if (at->part != SIM_PART_NONE) {
        sim_page_put(page, ", a step of ");
        sim_words_put_who(&explanation->passing_cast, page, at->part);
    }
    sim_page_put(page, ". With what it writes there in memory here too, ");
    sim_words_put_who(&explanation->cast, page, explanation->fate.part);
    sim_page_put(page, " would go on.");
    if (cause->lost_count == 0 && put_names(page, cause, 0, cause->at_count, true,
                                          " Here, before it sleeps, it goes through ")) {
        sim_page_put(page, ".");
    }
}

/* Somebody changed what it had looked at, and told it nothing. */
static void
put_untold(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    sim_words_put_who(&explanation->cast, page, explanation->fate.part);
    put_when(page, explanation, " is never woken:");
    sim_page_put(page, " changes what it has looked at before it fell asleep,");
    put_at(page, cause);
    sim_page_put(page, ", and does not wake it. If it looked again, it would go on.");
}

static void
put_overdue(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    sim_words_put_who(&explanation->cast, page, explanation->fate.part);
    sim_page_put(page, " is never woken: ");
    sim_cast_put_object(
            &explanation->cast, page, explanation->fate.wait->object, explanation->fate.part);
    put_when(page, explanation, " is due, and");
    sim_page_put(page, " does not fire it");
    put_place(page, cause, 0, cause->at_count);
    sim_page_put(page, ", where timers are fired.");
    if (put_names(page, cause, 0, cause->at_count, true, " It goes through ")) {
        sim_page_put(page, ".");
    }
    put_stored(page, cause);
}

/* It could go on, and the record names no line. */
static void
put_untraced(struct sim_page *page, const struct sim_explanation *explanation)
{
    sim_words_put_who(&explanation->cast, page, explanation->fate.part);
    sim_page_put(page,
            " could go on, and nobody wakes it; no line is on record for that (a library "
            "tells its lines when it is built with the flags of pkg-config rewake).");
}

static void
put_never_fired(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    if (cause->by_wish == SIM_WISH_ELSEWHERE) {
        put_elsewhere(page, explanation);
        return;
    }
    if (cause->by_wish == SIM_WISH_UNTOLD) {
        put_untold(page, explanation);
        return;
    }
    if (cause->by_timer) {
        put_overdue(page, explanation);
        return;
    }
    bool late = sim_explanation_outcome(explanation)->verdict == SIM_VERDICT_LATE_WAKEUP;
    if (cause->at_count == 0) {
        put_untraced(page, explanation);
        return;
    }
    sim_words_put_who(&explanation->cast, page, explanation->fate.part);
    put_when(page, explanation, late ? " is not woken in time:" : " is never woken:");
    sim_page_put(
            page, cause->by_word ? " makes it so that it could go on," : " should have woken it,");
    put_place(page, cause, 0, cause->at_count);
    sim_page_put(page, cause->by_word ? ", and fires nothing for it there." : ", and did not.");
    if (put_names(page, cause, 0, cause->at_count, true, " In that step it goes through ")) {
        sim_page_put(page, ".");
    }
    put_stored(page, cause);
}

/* What came, and who wrote over it. */
static void
put_written_over(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    sim_page_put(page, "what ");
    sim_words_put_who(&explanation->cast, page, explanation->fate.part);
    sim_page_printf(page, " waits for came, and is lost: at step %llu ",
            (unsigned long long)cause->before.step);
    sim_words_put_who(&explanation->cast, page, cause->before.part);
    sim_page_put(page, " writes it ");
    sim_words_put_place(page, &cause->before.place);
    put_when(page, explanation, ", and");
    sim_page_put(page, " writes over it");
    put_at(page, cause);
    sim_page_put(page, cause->wiped ? ", as it falls asleep; were it still there, "
                                    : ". In between nobody had looked; were it still there, ");
    sim_words_put_who(&explanation->cast, page, explanation->fate.part);
    sim_page_put(page, " would go on.");
}

static void
put_taken(struct sim_page *page, const struct sim_explanation *explanation, const char *how)
{
    sim_page_put(page, "the waker of ");
    sim_words_put_who(&explanation->cast, page, explanation->fate.part);
    put_when(page, explanation, " is lost:");
    sim_page_printf(page, " %s", how);
    put_at(page, &explanation->cause);
    sim_page_put(page, ".");
    put_stored(page, &explanation->cause);
}

static void
put_fired_early(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    if (cause->by_word) {
        sim_page_put(page, "what ");
        sim_words_put_who(&explanation->cast, page, explanation->fate.part);
        put_when(page, explanation, " waits for comes too early:");
        sim_page_put(page, " writes it");
        put_at(page, cause);
        sim_page_put(page, ", where no waker is stored yet.");
    } else {
        put_when(page, explanation, "the wake comes too early:");
        sim_page_put(page, " fires it");
        put_at(page, cause);
        sim_page_put(page, ", when nobody waits there yet.");
    }
    if (cause->stored.place.function[0] != '\0') {
        sim_page_put(page, " Only afterwards ");
        sim_words_put_who(&explanation->cast, page, explanation->fate.part);
        sim_page_put(page, " stores its waker ");
        sim_words_put_place(page, &cause->stored.place);
        sim_page_printf(page, " at step %llu, and does not look again.",
                (unsigned long long)cause->stored.step);
    }
}

/* A loop blocks although a wake for it had come. */
static void
put_blocked_on(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    sim_words_put_who(&explanation->cast, page, explanation->fate.part);
    sim_page_printf(page, " blocks at step %llu although it was woken before:",
            (unsigned long long)explanation->wish.step);
    put_when(page, explanation, "");
    sim_page_put(page, " wakes it");
    put_at(page, cause);
    sim_page_put(page, ", and it does not look whether it was. Had its host come back with "
                       "nothing, it would have gone on.");
}

/* Who would wake it was turned away by a flag that it takes down too late. */
static void
put_turned_away(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    const struct sim_spot *flag = &cause->at[cause->lost_count];
    put_when(page, explanation, "the wake is swallowed:");
    sim_page_put(page, " comes to wake ");
    sim_words_put_who(&explanation->cast, page, explanation->fate.part);
    put_place(page, cause, 0, cause->lost_count);
    sim_page_put(page, ", and leaves it, for something in memory says that it is awake or will be. "
                       "In the nearest run that passes ");
    sim_words_put_who(&explanation->cast, page, explanation->fate.part);
    sim_page_put(page, " takes that down before,");
    put_place(page, cause, cause->lost_count, cause->at_count);
    sim_page_printf(page, ", at its step %llu. Had it done so here, it would be woken.",
            (unsigned long long)flag->step);
}

static void
put_coalesced(struct sim_page *page, const struct sim_explanation *explanation)
{
    if (explanation->cause.by_wish == SIM_WISH_SWALLOWED) {
        put_blocked_on(page, explanation);
        return;
    }
    if (explanation->cause.by_wish == SIM_WISH_ELSEWHERE) {
        put_turned_away(page, explanation);
        return;
    }
    sim_page_put(page, "the wake of ");
    sim_words_put_who(&explanation->cast, page, explanation->fate.part);
    put_when(page, explanation, " is sent, and swallowed on its way:");
    sim_page_put(page, " sends it");
    put_at(page, &explanation->cause);
    sim_page_put(page, explanation->fate.kind == SIM_FATE_NOT_POLLED
                               ? ", and no poll of it follows."
                               : ", and the poll that followed has not seen it.");
}

/* Of each where it sleeps: "`main` sleeps in lock_take() (lock.h:40), called from drop_jobs()". */
static void
put_sleepers(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    for (uint32_t from = 0, to = 0; from < cause->at_count; from = to) {
        while (to < cause->at_count && cause->at[to].part == cause->at[from].part) {
            to++;
        }
        sim_page_put(page, from == 0 ? ": " : "; ");
        sim_words_put_who(&explanation->cast, page, cause->at[from].part);
        sim_page_put(page, cause->at[from].trail ? " was last" : " sleeps");
        put_place(page, cause, from, to);
        (void)put_names(page, cause, from, to, true, ", after ");
    }
    sim_page_put(page, ".");
}

/* It has had a turn lately: it is one of those who turn. */
static bool
turns(const struct sim_explanation *explanation, uint32_t part)
{
    const struct sim_cast *cast = &explanation->cast;
    uint64_t end = sim_explanation_outcome(explanation)->fail_step;
    for (uint64_t i = cast->end; i-- > cast->first;) {
        const struct sim_event *event = sim_cast_event(cast, i);
        if (event->step + SLEEPS_LONG < end) {
            return false;
        }
        if (event->kind == RT_PROBE_POLL && sim_cast_part_of(cast, i) == part) {
            return true;
        }
    }
    return false;
}

/* Whoever waits while others turn: "Meanwhile `asker` waits for the answer since step 11". */
static void
put_meanwhile(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_ledger *ledger = &explanation->ledger;
    const struct sim_cast *cast = &explanation->cast;
    uint32_t named = 0;
    for (uint32_t i = 0; i < ledger->count && named < NAMES; i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        const struct rt_site *site = sim_site_find(wait->await != 0 ? wait->await : wait->site);
        if (wait->end != SIM_WAIT_OPEN || wait->kind != SIM_WAIT_SLOT || wait->unknown != 0 ||
                SIM_OBJECT_KIND(wait->object) == RT_OBJECT_TIMER ||
                cast->parts[wait->part].finished || turns(explanation, wait->part)) {
            continue;
        }
        sim_page_put(page, named++ == 0 ? " Meanwhile " : "; ");
        sim_words_put_who(cast, page, wait->part);
        sim_page_printf(page, " waits for %s since step %u",
                wait->reason != NULL ? wait->reason : "something", (unsigned)wait->store_step);
        if (site != NULL) {
            sim_page_printf(page, ", in %s() (%s:%u)", site->function, sim_site_file(site),
                    (unsigned)site->line);
        }
    }
    sim_page_put(page, named > 0 ? ", and nobody who runs wakes it." : "");
}

/* A loop of the reader's fell asleep on something that its host had told it of before. */
static void
put_untaken(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    sim_words_put_who(&explanation->cast, page, explanation->fate.part);
    sim_page_printf(page,
            " falls asleep at step %llu with something untaken: its host has it ready, has told it "
            "so before, and does not tell it again. It was last",
            (unsigned long long)sim_explanation_outcome(explanation)->owed_step);
    put_at(page, cause);
    sim_page_put(page, ", and did not take all that was there.");
}

static void
put_not_a_wake(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_outcome *outcome = sim_explanation_outcome(explanation);
    const struct sim_cause *cause = &explanation->cause;
    bool lost = outcome->verdict == SIM_VERDICT_LOST_WAKEUP;
    if (lost && cause->at_count > 0 && outcome->oracle == SIM_ORACLE_REWAKE_SOURCES) {
        put_untaken(page, explanation);
        return;
    }
    if (lost && cause->at_count == 0) {
        put_untraced(page, explanation);
        return;
    }
    sim_page_put(page, "no missing wake was found");
    if (cause->at_count == 0) {
        sim_page_put(page, ", and the record names no line.");
        return;
    }
    if (outcome->verdict == SIM_VERDICT_DEADLOCK) {
        put_sleepers(page, explanation);
        return;
    }
    const char *where = outcome->verdict == SIM_VERDICT_LIVELOCK     ? ": the run turns in circles"
                        : outcome->verdict == SIM_VERDICT_STARVATION ? ": the others run"
                                                                     : ": it goes wrong";
    sim_page_put(page, where);
    put_at(page, cause);
    sim_page_put(page, ".");
    if (outcome->verdict == SIM_VERDICT_LIVELOCK || outcome->verdict == SIM_VERDICT_STEP_LIMIT) {
        put_meanwhile(page, explanation);
    }
}

void
sim_report_put_cause(struct sim_page *page, const struct sim_explanation *explanation)
{
    switch ((enum sim_cause_kind)explanation->cause.kind) {
    case SIM_CAUSE_NEVER_STORED:
        put_never_stored(page, explanation);
        return;
    case SIM_CAUSE_NEVER_FIRED:
        put_never_fired(page, explanation);
        return;
    case SIM_CAUSE_REPLACED:
        put_taken(page, explanation, "puts another into its place");
        return;
    case SIM_CAUSE_ERASED:
        if (explanation->cause.by_wish == SIM_WISH_LOST || explanation->cause.wiped) {
            put_written_over(page, explanation);
            return;
        }
        put_taken(page, explanation, "empties its place without waking");
        return;
    case SIM_CAUSE_DROPPED:
        put_taken(page, explanation, "drops it without waking");
        return;
    case SIM_CAUSE_FIRED_EARLY:
        put_fired_early(page, explanation);
        return;
    case SIM_CAUSE_COALESCED:
        put_coalesced(page, explanation);
        return;
    case SIM_CAUSE_NOT_A_WAKE:
    case SIM_CAUSES:
        put_not_a_wake(page, explanation);
        return;
    }
}
