/*
 * report_fate.c -- what became of a wake, as findings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/explain/look/traits.h"
#include "sim/explain/report.h"

static struct sim_locations
one(const struct sim_location *location)
{
    return (struct sim_locations){location, 1};
}

static bool
is_same_line(const struct sim_location *a, const struct sim_location *b)
{
    return a->place.line == b->place.line && strcmp(a->place.file, b->place.file) == 0;
}

/* The same line wrote it in both runs, called from the same one. */
static bool
has_same_writer(const struct sim_deciding_read *read)
{
    return is_same_line(&read->by, &read->passing_by) &&
           read->by.caller.line == read->passing_by.caller.line;
}

/* Which line wrote what is read: where that is the line that reads, or that which writes it there
 * too, it says nothing. */
static void
find_writer(const struct sim_deciding_read *read, struct sim_findings *findings)
{
    bool itself = read->by.step == read->at.step && is_same_line(&read->by, &read->at);
    if (read->by.step != 0 && !itself && !has_same_writer(read)) {
        SIM_FIND(findings, SIM_FINDING_FATE_WRITTEN, .at = one(&read->by));
    }
}

static void
find_passing_writer(const struct sim_deciding_read *read, struct sim_findings *findings)
{
    if (read->passing_by.step == 0 || has_same_writer(read)) {
        return;
    }
    SIM_FIND(findings, SIM_FINDING_FATE_WRITTEN_PASSING, .at = one(&read->passing_by));
    if (read->later > read->at.step) {
        SIM_FIND(findings, SIM_FINDING_FATE_LATER, .step = read->later);
    } else if (read->later == 0 && read->earlier != 0) {
        SIM_FIND(findings, SIM_FINDING_FATE_EARLIER, .step = read->earlier);
    } else if (read->later == 0 && !read->cut) {
        SIM_FIND(findings, SIM_FINDING_FATE_NEVER);
    }
}

/* What changes it when that is too late. */
static void
find_after(const struct sim_deciding_read *read, struct sim_findings *findings)
{
    if (read->outdated.step != 0) {
        SIM_FIND(findings, SIM_FINDING_OUTDATED, .at = one(&read->outdated));
    }
    if (read->after.step != 0) {
        SIM_FIND(findings, SIM_FINDING_GUARD_AFTER, .at = one(&read->after));
    }
}

/* What it reads, and what is read there instead. Of a pointer only who wrote it says something. */
static void
find_read(const struct sim_deciding_read *read, struct sim_findings *findings)
{
    bool pointer = read->value[0] == '\0' || (read->compared && read->passing_value[0] == '\0');
    bool named = read->name[0] != '\0';
    rt_assert(read->at.step != 0);
    if (pointer && (!named || has_same_writer(read))) {
        return;
    }
    SIM_FIND(findings, SIM_FINDING_FATE_READ, .at = one(&read->at),
            .text = named ? read->name : read->value);
    if (named && !pointer) {
        SIM_FIND(findings, SIM_FINDING_FATE_VALUE, .text = read->value);
    }
    find_writer(read, findings);
    if (read->compared) {
        SIM_FIND(findings, pointer ? SIM_FINDING_FATE_READ_ELSE : SIM_FINDING_FATE_READ_PASSING,
                .text = read->passing_value);
    }
    find_passing_writer(read, findings);
    find_after(read, findings);
    SIM_FIND(findings, SIM_FINDING_STOP);
}

/* A condition (`said`: it was named already), and that the run passes where it is decided
 * otherwise. */
static void
find_condition(const struct sim_fate *fate, bool said, struct sim_findings *findings)
{
    bool read = fate->read.at.step != 0;
    if (!read && !said && fate->condition.step != 0) {
        SIM_FIND(findings, fate->tried ? SIM_FINDING_FATE_DECIDED : SIM_FINDING_FATE_CONDITION,
                .at = one(&fate->condition));
    }
    if (fate->times > 1) {
        SIM_FIND(findings, SIM_FINDING_FATE_TRIED_TIMES, .number = fate->times);
    } else if (fate->tried) {
        bool there = !read || is_same_line(&fate->read.at, &fate->condition);
        SIM_FIND(findings, there ? SIM_FINDING_FATE_TRIED_THERE : SIM_FINDING_FATE_TRIED,
                .at = one(&fate->condition));
    }
}

/* What the condition was decided on, and when that changes. */
void
sim__find_operand(const struct sim_guard *guard, struct sim_findings *findings)
{
    const struct sim_deciding_read *read = &guard->read;
    bool same = is_same_line(&read->at, &guard->condition);
    bool named = read->name[0] != '\0';
    if (read->at.step == 0) {
        SIM_FIND(findings, SIM_FINDING_STOP);
        return;
    }
    bool number = read->value[0] != '\0';
    SIM_FIND(findings, same ? SIM_FINDING_GUARD_READ : SIM_FINDING_GUARD_READ_IN,
            .at = one(&read->at),
            .text = named    ? read->name
                    : number ? read->value
                             : "a value");
    if (named && number) {
        SIM_FIND(findings, SIM_FINDING_FATE_VALUE, .text = read->value);
    }
    find_writer(read, findings);
    find_after(read, findings);
    SIM_FIND(findings, SIM_FINDING_STOP);
}

void
sim__find_guard(const struct sim_guard *guard, struct sim_findings *findings)
{
    if (guard->condition.step != 0) {
        SIM_FIND(findings, SIM_FINDING_GUARD, .at = one(&guard->condition));
        sim__find_operand(guard, findings);
        SIM_FIND(findings,
                guard->onward ? SIM_FINDING_GUARD_TRIED_ONWARD : SIM_FINDING_FATE_TRIED_THERE);
    }
}

static void
find_trait(const struct sim_unusual_trait *trait, struct sim_findings *findings)
{
    static const enum sim_finding_kind kinds[] = {
            [SIM_TRAIT_BRANCH] = SIM_FINDING_UNUSUAL_BRANCH,
            [SIM_TRAIT_READ] = SIM_FINDING_UNUSUAL_READ,
            [SIM_TRAIT_OVERWRITTEN] = SIM_FINDING_UNUSUAL_OVERWRITTEN,
            [SIM_TRAIT_STALE] = SIM_FINDING_UNUSUAL_STALE,
            [SIM_TRAIT_UNREAD] = SIM_FINDING_UNUSUAL_UNREAD,
            [SIM_TRAIT_WHILE] = SIM_FINDING_UNUSUAL_WHILE,
            [SIM_TRAIT_LOST] = SIM_FINDING_UNUSUAL_LOST,
            [SIM_TRAIT_OUTDATED] = SIM_FINDING_UNUSUAL_OUTDATED,
            [SIM_TRAIT_ASKED_AGAIN] = SIM_FINDING_UNUSUAL_ASKED_AGAIN,
            [SIM_TRAIT_REUSED] = SIM_FINDING_UNUSUAL_REUSED,
            [SIM_TRAIT_MERGED] = SIM_FINDING_UNUSUAL_MERGED,
            [SIM_TRAIT_OVERTAKES] = SIM_FINDING_UNUSUAL_OVERTAKES,
            [SIM_TRAIT_NOT_CANCELLED] = SIM_FINDING_UNUSUAL_NOT_CANCELLED,
    };
    static const enum sim_finding_kind since[] = {
            [SIM_TRAIT_OUTDATED] = SIM_FINDING_UNUSUAL_OUTDATED_SINCE,
            [SIM_TRAIT_ASKED_AGAIN] = SIM_FINDING_UNUSUAL_ASKED_AGAIN_SINCE,
            [SIM_TRAIT_REUSED] = SIM_FINDING_UNUSUAL_REUSED_SINCE,
    };
    if (trait->kind >= SIM_TRAIT_OUTDATED && trait->kind < SIM_TRAIT_MERGED) {
        SIM_FIND(findings, kinds[trait->kind], .at = one(&trait->at), .then = one(&trait->third));
        SIM_FIND(findings, since[trait->kind], .at = one(&trait->other));
        return;
    }
    SIM_FIND(findings,
            trait->within      ? SIM_FINDING_UNUSUAL_WITHIN
            : trait->line != 0 ? SIM_FINDING_UNUSUAL_BRANCH_TO
                               : kinds[trait->kind],
            .at = one(&trait->at), .then = one(&trait->other), .number = trait->line);
    if (trait->kind == SIM_TRAIT_STALE || trait->kind == SIM_TRAIT_LOST) {
        SIM_FIND(findings, SIM_FINDING_UNUSUAL_STALE_READ, .at = one(&trait->third));
    }
}

/* In how many of the runs it is. */
static void
find_shares(const struct sim_unusual *unusual, const struct sim_unusual_trait *trait,
        struct sim_findings *findings)
{
    bool all = trait->fails == unusual->failing;
    if (!all) {
        SIM_FIND(findings, SIM_FINDING_UNUSUAL_NOT_ALL, .number = trait->fails,
                .limit = unusual->failing);
    }
    if (trait->passes > 0) {
        SIM_FIND(findings, all ? SIM_FINDING_UNUSUAL_ALSO : SIM_FINDING_UNUSUAL_AND_ALSO,
                .number = trait->passes, .limit = unusual->passing);
    } else if (!all) {
        SIM_FIND(findings, SIM_FINDING_TEXT, .text = ")");
    }
}

void
sim__find_unusual(const struct sim_unusual *unusual, struct sim_findings *findings)
{
    bool never = unusual->all[0].passes == 0;
    SIM_FIND(findings, never ? SIM_FINDING_UNUSUAL : SIM_FINDING_UNUSUAL_MORE,
            .number = unusual->passing);
    if (unusual->failing > 0) {
        SIM_FIND(findings, SIM_FINDING_UNUSUAL_FAILING, .number = unusual->failing);
    }
    SIM_FIND(findings, SIM_FINDING_TEXT, .text = ": ");
    for (uint32_t i = 0; i < unusual->count; i++) {
        if (i > 0) {
            SIM_FIND(findings, SIM_FINDING_NEXT);
        }
        find_trait(&unusual->all[i], findings);
        find_shares(unusual, &unusual->all[i], findings);
    }
    SIM_FIND(findings, SIM_FINDING_STOP);
}

/* Who led to the write that the passing run has. */
static void
find_led(const struct sim_led_write *led, struct sim_findings *findings)
{
    bool differs = led->result[0] != '\0' && led->passing_result[0] != '\0' &&
                   strcmp(led->result, led->passing_result) != 0;
    if (led->ended.step == 0 && !differs) {
        return;
    }
    SIM_FIND(findings, SIM_FINDING_LED, .at = one(&led->by));
    if (led->ended.step != 0) {
        SIM_FIND(findings, SIM_FINDING_LED_LATE, .at = one(&led->here), .then = one(&led->ended));
    } else {
        SIM_FIND(findings, SIM_FINDING_LED_RESULT, .at = one(&led->here), .text = led->result);
        SIM_FIND(findings, SIM_FINDING_LED_PASSING_RESULT, .text = led->passing_result);
    }
}

/* What others have changed since it was read. */
static void
find_stale(const struct sim_stale_value *stale, struct sim_findings *findings)
{
    bool named = stale->name[0] != '\0';
    bool number = stale->value[0] != '\0';
    SIM_FIND(findings, named || number ? SIM_FINDING_FATE_READ : SIM_FINDING_STALE_READ,
            .at = one(&stale->at), .text = named ? stale->name : stale->value);
    if (named && number) {
        SIM_FIND(findings, SIM_FINDING_FATE_VALUE, .text = stale->value);
    }
    SIM_FIND(findings, SIM_FINDING_STALE_CHANGED, .at = one(&stale->last));
    SIM_FIND(findings, SIM_FINDING_STALE_USED, .at = one(&stale->used));
}

/* Where a loop goes through in each round. */
static void
find_round(const struct sim_failed_value *failed, struct sim_findings *findings)
{
    for (uint32_t i = 0; i < failed->round_count; i++) {
        const struct sim_round_call *call = &failed->round[i];
        SIM_FIND(findings, i == 0 ? SIM_FINDING_ROUND : SIM_FINDING_ROUND_ALSO,
                .at = one(&call->at));
        if (call->result[0] != '\0') {
            SIM_FIND(findings, SIM_FINDING_ROUND_RESULT, .text = call->result);
        }
    }
    if (failed->round_count > 0) {
        SIM_FIND(findings, SIM_FINDING_STOP);
    }
}

void
sim__find_waiting(const struct sim_cause *cause, struct sim_findings *findings)
{
    for (uint32_t i = 0; i < cause->waiting_count; i++) {
        find_read(&cause->waiting[i], findings);
    }
}

void
sim__find_failed(const struct sim_failed_value *failed, struct sim_findings *findings)
{
    find_round(failed, findings);
    if (failed->stale.at.step != 0) {
        find_stale(&failed->stale, findings);
    } else if (failed->read.at.step != 0) {
        find_read(&failed->read, findings);
        if (failed->filled.by.step != 0) {
            SIM_FIND(findings, SIM_FINDING_FILLED, .at = one(&failed->filled.by),
                    .text = failed->filled.result);
            SIM_FIND(findings, SIM_FINDING_FILLED_THERE, .text = failed->filled.passing_result);
        }
        if (failed->led.by.step != 0) {
            find_led(&failed->led, findings);
        }
    }
}

/* The actor of that name; SIM_PART_NONE. */
static uint32_t
part_named(const struct sim_actor_table *actor_table, const char *name)
{
    for (uint32_t part = 1; part < actor_table->count && name != NULL; part++) {
        const char *own = actor_table->parts[part].name;
        if (own != NULL && strcmp(own, name) == 0) {
            return part;
        }
    }
    return SIM_PART_NONE;
}

/* The last wake that the actor sends from that line; NULL: none is on record. */
static const struct sim_event *
last_at(const struct sim_actor_table *actor_table, const struct sim_location *line, uint32_t part)
{
    for (uint64_t i = actor_table->end; i-- > actor_table->first;) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        const struct rt_site *site = sim_actor_table_place(event->await, event->site);
        bool wakes = event->kind == RT_PROBE_FIRE || event->kind == RT_PROBE_FIRE_EMPTY;
        if (wakes && site != NULL && (uint32_t)site->line == line->place.line &&
                strcmp(site->file, line->place.file) == 0 &&
                sim_actor_table_part_of(actor_table, i) == part) {
            return event;
        }
    }
    return NULL;
}

/* What is done there in the run that passes. */
static enum sim_finding_kind
deed_of(const struct sim_explanation *explanation)
{
    const struct sim_fate *fate = &explanation->cause.fate;
    const struct sim_actor_table *passing = &explanation->passing_actor_table;
    uint32_t waiter = part_named(passing, explanation->actor_table.parts[fate->sleeps.part].name);
    uint64_t i = sim_actor_table_step_first(passing, fate->wake.step);
    for (; i < passing->end && sim_actor_table_event(passing, i)->step == fate->wake.step; i++) {
        const struct sim_event *event = sim_actor_table_event(passing, i);
        if (event->kind == RT_PROBE_WAKE && waiter != SIM_PART_NONE &&
                sim_actor_table_object(passing, event->object) == waiter) {
            return last_at(passing, &fate->wake, fate->wake.part) != NULL
                           ? SIM_FINDING_FATE_PASSING_WAKES
                           : SIM_FINDING_FATE_PASSING_WAKES_AFTER;
        }
    }
    return SIM_FINDING_FATE_PASSING_WRITES;
}

/* Who has raised what is read, and waits. */
static void
find_raised(const struct sim_deciding_read *read, struct sim_findings *findings)
{
    bool named = read->name[0] != '\0';
    SIM_FIND(findings, SIM_FINDING_FATE_READ, .at = one(&read->at),
            .text = named ? read->name : read->value);
    if (named) {
        SIM_FIND(findings, SIM_FINDING_FATE_VALUE, .text = read->value);
    }
    SIM_FIND(findings, SIM_FINDING_STOP);
    for (uint32_t i = 0; i < read->raised_count; i++) {
        SIM_FIND(findings, i == 0 ? SIM_FINDING_FATE_RAISED : SIM_FINDING_FATE_RAISED_TOO,
                .at = one(&read->raised[i]));
    }
    SIM_FIND(findings, SIM_FINDING_FATE_RAISED_WAIT);
}

/* A value that has come back. */
static void
find_returned(const struct sim_returned_value *returned, struct sim_findings *findings)
{
    bool named = returned->name[0] != '\0';
    SIM_FIND(findings, SIM_FINDING_FATE_READ, .at = one(&returned->at),
            .text = named ? returned->name : returned->value);
    if (named) {
        SIM_FIND(findings, SIM_FINDING_FATE_VALUE, .text = returned->value);
    }
    SIM_FIND(findings, SIM_FINDING_FATE_RETURNED, .at = one(&returned->seen));
    SIM_FIND(findings, SIM_FINDING_FATE_RETURNED_BY, .at = one(&returned->last),
            .number = returned->changes);
}

/* It does not come to the line that would wake, or comes to a wait that it would not come to. */
static void
find_turned(const struct sim_explanation *explanation, struct sim_findings *findings)
{
    const struct sim_fate *fate = &explanation->cause.fate;
    bool said = false;
    if (fate->returned.changes > 0 || fate->read.raised_count > 0) {
        SIM_FIND(findings, SIM_FINDING_FATE_STANDS, .actor = fate->sleeps.part,
                .at = one(&fate->sleeps));
        if (fate->returned.changes > 0) {
            find_returned(&fate->returned, findings);
        } else {
            find_raised(&fate->read, findings);
        }
        return;
    }
    if (fate->many) {
        SIM_FIND(findings, SIM_FINDING_FATE_RUNS_WAKE, .actor = fate->sleeps.part,
                .at = one(&fate->wake), .then = one(&fate->sleeps));
        SIM_FIND(findings, SIM_FINDING_FATE_ELSEWHERE, .step = fate->condition.step,
                .at = one(&fate->condition));
        said = true;
    } else if (fate->times > 0) {
        SIM_FIND(findings, SIM_FINDING_FATE_SKIPPED, .actor = fate->sleeps.part,
                .at = one(&fate->condition), .then = one(&fate->wake));
    } else {
        const struct sim_event *last = last_at(&explanation->actor_table, &fate->wake,
                part_named(&explanation->actor_table,
                        explanation->passing_actor_table.parts[fate->wake.part].name));
        SIM_FIND(findings, SIM_FINDING_FATE_NOT_REACHED, .at = one(&fate->wake),
                .then = one(&fate->sleeps));
        SIM_FIND(findings, deed_of(explanation), .at = one(&fate->wake));
        said = last == NULL && fate->condition.step != 0;
        SIM_FIND(findings,
                last != NULL ? SIM_FINDING_FATE_LAST_TIME
                : said       ? SIM_FINDING_FATE_ELSEWHERE
                             : SIM_FINDING_FATE_NOT_SO,
                .step = last != NULL ? last->step : fate->condition.step,
                .at = one(&fate->condition));
    }
    if (fate->read.at.step != 0) {
        find_read(&fate->read, findings);
    }
    find_condition(fate, said, findings);
}

/* Who was given the wake has given none in its turn. */
static bool
wakes_no_other(const struct sim_explanation *explanation)
{
    const struct sim_ledger *ledger = &explanation->ledger;
    const struct sim_fate *fate = &explanation->cause.fate;
    for (uint32_t i = 0; i < ledger->count; i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        if (wait->end == SIM_WAIT_FIRED && wait->object == fate->wait.object &&
                wait->ender == fate->taker.part && wait->end_step >= fate->call.step) {
            return false;
        }
    }
    return true;
}

/* It goes to another that waited for the same. */
static void
find_taken(const struct sim_explanation *explanation, struct sim_findings *findings)
{
    const struct sim_fate *fate = &explanation->cause.fate;
    bool ended = fate->ended.step != 0;
    SIM_FIND(findings, ended ? SIM_FINDING_FATE_HANDED : SIM_FINDING_FATE_TAKEN,
            .actor = fate->sleeps.part, .at = one(&fate->call), .other = fate->taker.part,
            .then = one(&fate->sleeps), .wait = &fate->wait);
    SIM_FIND(findings,
            fate->again ? SIM_FINDING_FATE_AGAIN
            : ended     ? SIM_FINDING_FATE_CANCELLED
                        : SIM_FINDING_FATE_KEPT,
            .other = fate->taker.part, .actor = fate->sleeps.part,
            .at = one(ended ? &fate->ended : &fate->taker));
    if (fate->again) {
        SIM_FIND(findings,
                wakes_no_other(explanation) ? SIM_FINDING_FATE_NO_OTHER : SIM_FINDING_STOP);
    }
    if (fate->way.step != 0) {
        SIM_FIND(findings, fate->way_line != 0 ? SIM_FINDING_FATE_WAY_TO : SIM_FINDING_FATE_WAY,
                .at = one(&fate->way), .number = fate->way_line);
    }
    if (fate->read.at.step != 0) {
        find_read(&fate->read, findings);
    }
}

void
sim__find_fate(const struct sim_explanation *explanation, struct sim_findings *findings)
{
    const struct sim_fate *fate = &explanation->cause.fate;
    rt_assert(fate->kind != SIM_FATE_NONE);
    if (fate->kind == SIM_FATE_EARLY) {
        SIM_FIND(findings, SIM_FINDING_FATE_EARLY, .actor = fate->sleeps.part,
                .at = one(&fate->call), .then = one(&fate->sleeps), .wait = &fate->wait);
    } else if (fate->kind == SIM_FATE_TAKEN) {
        find_taken(explanation, findings);
    } else if (fate->kind == SIM_FATE_OWED) {
        find_read(&fate->read, findings);
    } else if (fate->kind == SIM_FATE_SWALLOWED && fate->merged.step != 0) {
        SIM_FIND(findings, SIM_FINDING_FATE_MERGED, .actor = fate->sleeps.part,
                .at = one(&fate->call));
        SIM_FIND(findings, SIM_FINDING_FATE_MERGED_BEFORE, .actor = fate->sleeps.part,
                .at = one(&fate->merged), .then = one(&fate->sleeps), .step = fate->merged_step);
    } else if (fate->kind == SIM_FATE_SWALLOWED) {
        SIM_FIND(findings, SIM_FINDING_FATE_SWALLOWED, .actor = fate->sleeps.part,
                .at = one(&fate->call), .then = one(&fate->sleeps));
    } else {
        find_turned(explanation, findings);
    }
}

/* Where the one stands that is held, and what others change meanwhile. */
static void
find_held(const struct sim_meanwhile *meanwhile, struct sim_findings *findings)
{
    if (findings->count > 0) {
        SIM_FIND(findings, SIM_FINDING_TEXT, .text = " ");
    }
    SIM_FIND(findings, meanwhile->until != 0 ? SIM_FINDING_HELD_AT : SIM_FINDING_HELD_FOREVER,
            .at = {&meanwhile->held, 1}, .step = meanwhile->until);
    for (uint32_t i = 0; i < meanwhile->count; i++) {
        const struct sim_conflict *conflict = &meanwhile->all[i];
        SIM_FIND(findings, SIM_FINDING_MEANWHILE_CHANGE, .at = {&conflict->change, 1});
        if (conflict->before.step != 0) {
            SIM_FIND(findings, SIM_FINDING_MEANWHILE_READ, .at = {&conflict->before, 1});
        }
        if (conflict->after.step != 0) {
            SIM_FIND(findings,
                    conflict->before.step != 0 ? SIM_FINDING_MEANWHILE_USED
                                               : SIM_FINDING_MEANWHILE_READS,
                    .at = {&conflict->after, 1});
        }
        SIM_FIND(findings, SIM_FINDING_STOP);
    }
}

void
sim__find_meanwhile(const struct sim_explanation *explanation, struct sim_findings *findings)
{
    if (explanation->for_nothing.step != 0) {
        if (findings->count > 0) {
            SIM_FIND(findings, SIM_FINDING_TEXT, .text = " ");
        }
        SIM_FIND(findings, SIM_FINDING_WOKEN_FOR_NOTHING, .at = {&explanation->for_nothing, 1});
    }
    for (uint32_t i = 0; i < explanation->meanwhile_count; i++) {
        find_held(&explanation->meanwhile[i], findings);
    }
}
