/*
 * fate.c -- the like of a wait, the line that ends it, and that line in the failing run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/fate.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/code/frames.h"
#include "sim/core/record/site.h"
#include "sim/explain/cause/priv.h"
#include "sim/explain/cause/reads.h"
#include "sim/explain/cause/unusual.h"
#include "sim/explain/cause/word.h"
#include "sim/explain/view/phrase.h"

/* Conditions, each of which is decided by what the next one leads to. */
#define LEADS_MAX 4u

/* ---- Waits. ---------------------------------------------------------------------------------- */

static bool
is_of_thread(const struct sim_ledger *ledger, const struct sim_wait *wait)
{
    return wait->kind == SIM_WAIT_SLOT && wait->unknown == 0 &&
           ledger->actor_table->parts[wait->part].name != NULL;
}

/* How often `part` has waited at this line up to that wait. */
static uint32_t
nth_wait(const struct sim_ledger *ledger, const struct sim_wait *wait)
{
    uint32_t nth = 0;
    for (const struct sim_wait *one = ledger->waits; one <= wait; one++) {
        nth += is_of_thread(ledger, one) && one->part == wait->part && one->site == wait->site &&
               one->await == wait->await;
    }
    rt_assert(nth > 0);
    return nth;
}

const struct sim_wait *
sim_fate_like(const struct sim_fate_evidence *evidence, const struct sim_wait *wait)
{
    bool known = is_of_thread(evidence->failing, wait);
    uint32_t left = known ? nth_wait(evidence->failing, wait) : 0;
    const struct sim_ledger *ledger = evidence->passing;
    for (uint32_t i = 0; i < ledger->count && known; i++) {
        const struct sim_wait *like = &ledger->waits[i];
        left -= is_of_thread(ledger, like) && like->site == wait->site &&
                like->await == wait->await &&
                sim__same_name(ledger->actor_table, like->part, evidence->failing->actor_table,
                        wait->part);
        if (left == 0) {
            return like;
        }
    }
    return NULL;
}

/* ---- Lines. ---------------------------------------------------------------------------------- */

/* How often an actor has come to a line; the first and the last step of the last time. */
struct visits {
    uint32_t count;
    uint64_t from;
    uint64_t to;
};

/* Of that actor to the line of `place`, up to step `until` or to the `most`-th time. */
static struct visits
come_to(const struct sim_fate_evidence *evidence, const struct sim_executed *executed,
        uint32_t actor_id, const struct sim_place *place, uint64_t until, uint32_t most)
{
    struct visits visits = {.count = 0};
    bool was = false;
    for (uint32_t i = 0; i < executed->count; i++) {
        const struct sim_instruction *instruction = &executed->all[i];
        struct sim_place found;
        if (instruction->actor_id != actor_id) {
            continue;
        }
        bool is = sim__reader_at(evidence, instruction->pc, &found) &&
                  sim__is_same_line(&found, place);
        if (is && !was && (instruction->step > until || visits.count == most)) {
            break;
        }
        visits.count += is && !was;
        visits.from = is && !was ? instruction->step : visits.from;
        visits.to = is ? instruction->step : visits.to;
        was = is;
    }
    return visits;
}

/* The reader's line in which the actor was last before step `step` began: there it called what
 * makes the step. False: in none. */
static bool
line_before(const struct sim_fate_evidence *evidence, const struct sim_executed *executed,
        uint32_t actor_id, uint64_t step, struct sim_place *ret)
{
    for (uint32_t i = executed->count; i-- > 0;) {
        if (executed->all[i].actor_id == actor_id && executed->all[i].step < step &&
                sim__reader_at(evidence, executed->all[i].pc, ret)) {
            return true;
        }
    }
    return false;
}

/* That line, which an event or a wait has; where a library made the call for the reader, the line
 * that had called the library. */
static void
set_line(const struct sim_fate_evidence *evidence, const struct rt_site *line, uint64_t step,
        uint32_t part, struct sim_location *ret)
{
    sim__location_set(ret, line, step, part);
    if (part != SIM_PART_NONE && (line == NULL || !sim_place_is_readers(&ret->place))) {
        (void)line_before(evidence, evidence->here,
                sim_actor_table_id(evidence->failing->actor_table, part), step, &ret->place);
    }
}

/* ---- A read that decides. -------------------------------------------------------------------- */

/* Both wrote it in the same place on the way to the read: what they had read differs. */
static bool
is_derived(const struct sim_fate_evidence *evidence, uint32_t here, uint32_t there)
{
    uint32_t a = sim__writer_of(evidence->here, here);
    uint32_t b = sim__writer_of(evidence->there, there);
    uint32_t actor = evidence->here->all[here].actor_id;
    return a != UINT32_MAX && b != UINT32_MAX &&
           evidence->here->all[a].pc == evidence->there->all[b].pc &&
           evidence->here->all[a].actor_id == actor && evidence->there->all[b].actor_id == actor;
}

/* The step of the first write here after the read `index`, or of the last one before it, to what it
 * reads, by the instruction of `write` and its actor; 0. */
static uint64_t
step_of_write(const struct sim_executed *here, uint32_t index, const struct sim_instruction *write,
        bool after)
{
    const struct sim_instruction *read = &here->all[index];
    for (uint32_t i = index; i < here->count; i += after ? 1 : UINT32_MAX) {
        const struct sim_instruction *one = &here->all[i];
        if (one->pc == write->pc && one->actor_id == write->actor_id && sim__overlap(one, read)) {
            return one->step;
        }
    }
    return 0;
}

void
sim__describe_read(const struct sim_fate_evidence *evidence, uint32_t here, uint32_t there,
        struct sim_deciding_read *ret)
{
    const struct sim_instruction *read = &evidence->here->all[here];
    uint32_t a = sim__writer_of(evidence->here, here);
    uint32_t b = sim__writer_of(evidence->there, there);
    ret->at = sim__located(evidence, evidence->failing, evidence->here, here);
    sim__name_memory(evidence, read->address, ret->name);
    sim__value_as_text(read->before, read->size, ret->value);
    sim__word_find_raisers(evidence, here, ret);
    ret->compared = true;
    sim__find_outdated(evidence, a, ret);
    sim__value_as_text(evidence->there->all[there].before, read->size, ret->passing_value);
    if (a != UINT32_MAX) {
        ret->by = sim__located(evidence, evidence->failing, evidence->here, a);
    }
    if (b != UINT32_MAX) {
        const struct sim_instruction *write = &evidence->there->all[b];
        ret->passing_by = sim__located(evidence, evidence->passing, evidence->there, b);
        ret->later = step_of_write(evidence->here, here, write, true);
        ret->earlier = step_of_write(evidence->here, here, write, false);
        ret->cut = !evidence->here->whole;
    }
}

/* The k-th instruction of an actor there is the k-th of that actor here, up to where they part. */
static uint32_t
index_there(const struct sim_fate_evidence *evidence, uint32_t here)
{
    uint32_t actor_id = evidence->here->all[here].actor_id;
    uint32_t left = 1;
    for (uint32_t i = here; (i = sim__before_of(evidence->here, i)) != UINT32_MAX;) {
        left++;
    }
    for (uint32_t i = 0; i < evidence->there->count; i++) {
        left -= evidence->there->all[i].actor_id == actor_id;
        if (left == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* The last instruction of the actor up to step `until`. */
static uint32_t
last_of(const struct sim_executed *executed, uint32_t actor_id, uint64_t until)
{
    uint32_t i = executed->count;
    while (i-- > 0) {
        if (executed->all[i].actor_id == actor_id && executed->all[i].step <= until) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* Of two executions that read the same memory in turn, backwards from these: the last read whose
 * value differs, and is not itself computed from such a one. */
static void
find_read(const struct sim_fate_evidence *evidence, uint32_t here, uint32_t there,
        struct sim_deciding_read *ret)
{
    while (here != UINT32_MAX && there != UINT32_MAX) {
        const struct sim_instruction *a = &evidence->here->all[here];
        const struct sim_instruction *b = &evidence->there->all[there];
        if (a->reads && b->reads && a->before != b->before && !is_derived(evidence, here, there)) {
            sim__describe_read(evidence, here, there, ret);
            /* A pointer that the system gave says nothing. */
            if (ret->value[0] != '\0' || ret->by.step != 0 || ret->passing_by.step != 0) {
                break;
            }
            *ret = (struct sim_deciding_read){.later = 0};
        }
        here = sim__before_of(evidence->here, here);
        there = sim__before_of(evidence->there, there);
    }
}

/*
 * The actor goes another way than there before step `until`, or goes the same way with another
 * value: it has read that. False: neither.
 */
static bool
find_turn(const struct sim_fate_evidence *evidence, uint32_t actor_id, uint64_t until,
        struct sim_fate *ret)
{
    uint32_t here = sim_executed_parts(evidence->here, evidence->there, actor_id);
    bool turns = here != UINT32_MAX && evidence->here->all[here].step <= until;
    here = turns ? here : last_of(evidence->here, actor_id, until);
    uint32_t there = here != UINT32_MAX ? index_there(evidence, here) : UINT32_MAX;
    if (turns) {
        ret->condition = sim__located(evidence, evidence->failing, evidence->here, here);
    }
    find_read(evidence, here, there, &ret->read);
    return ret->condition.place.line != 0 || ret->read.at.place.line != 0;
}

/* The last execution of `pc` by the actor before `index`. */
static uint32_t
last_at(const struct sim_executed *executed, uint32_t actor_id, uintptr_t pc, uint32_t index)
{
    while (index-- > 0) {
        if (executed->all[index].pc == pc && executed->all[index].actor_id == actor_id) {
            return index;
        }
    }
    return UINT32_MAX;
}

/* Where the passing run goes after instruction `index`: the line of the next call, else the next
 * line. */
static struct sim_location
line_after(const struct sim_fate_evidence *evidence, uint32_t index)
{
    const struct sim_executed *there = evidence->there;
    struct sim_location from = sim__located(evidence, evidence->passing, there, index);
    uint32_t next = index;
    for (uint32_t i = index + 1; i < there->count; i++) {
        struct sim_place place;
        if (there->all[i].actor_id != there->all[index].actor_id ||
                !sim__reader_at(evidence, there->all[i].pc, &place) ||
                sim__is_same_line(&place, &from.place)) {
            continue;
        }
        if (there->all[i].call || there->all[i].jump) {
            next = there->all[i].call || next == index ? i : next;
            break;
        }
        next = next == index ? i : next;
    }
    return sim__located(evidence, evidence->passing, there, next);
}

/* By which condition the passing run comes to what is waited for, and this one does not: decided
 * as there, this run passes. */
static bool
find_lead(const struct sim_fate_evidence *evidence, uint32_t actor_id, uint32_t depth,
        struct sim_fate *ret)
{
    struct sim_branches branches = {.count = 0};
    struct sim_switched switched;
    struct sim_place place;
    uint32_t target = evidence->there->count;
    while (target-- > 0) {
        const struct sim_instruction *one = &evidence->there->all[target];
        if (one->actor_id == actor_id && one->step <= ret->wake.step &&
                sim__reader_at(evidence, one->pc, &place) &&
                sim__is_same_line(&place, &ret->wake.place)) {
            break;
        }
    }
    if (target == UINT32_MAX) {
        return false;
    }
    sim_branches_add_leading(evidence->here, evidence->there, target, &branches);
    sim_unusual_keep(evidence->unusual, &branches);
    sim_branches_find(evidence->runs, evidence->places, evidence->code, &branches, &switched);
    if (!switched.found) {
        return false;
    }
    uint32_t here = sim_branch_index(evidence->here, &switched.branch);
    uint32_t there = last_at(evidence->there, actor_id, switched.branch.pc, target);
    rt_assert(here != UINT32_MAX && there != UINT32_MAX);
    ret->kind = SIM_FATE_TURNED;
    ret->condition = sim__located(evidence, evidence->failing, evidence->here, here);
    ret->read = (struct sim_deciding_read){.later = 0};
    find_read(evidence, here, there, &ret->read);
    ret->tried = true;
    /* It has decided so as it had not done something itself before: what led to that says more. */
    struct sim_fate before = *ret;
    before.wake = ret->read.passing_by;
    if (before.wake.step != 0 && ret->read.later == 0 && depth < LEADS_MAX &&
            sim__stepper(evidence->there, before.wake.step) == actor_id &&
            find_lead(evidence, actor_id, depth + 1, &before)) {
        ret->condition = before.condition;
        ret->read = before.read;
    }
    return true;
}

/* ---- One wait. ------------------------------------------------------------------------------- */

/* Where one was cancelled that was woken, and had not been polled since; SIM_EVENT_NONE. */
static uint64_t
cancel_of(const struct sim_actor_table *actor_table, const struct sim_wait *taken)
{
    for (uint64_t i = taken->end_event; i < actor_table->end; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        bool its = event->object != 0 &&
                   sim_actor_table_object(actor_table, event->object) == taken->part;
        if (its && event->kind == RT_PROBE_CANCEL) {
            return i;
        }
        if (its && event->kind == RT_PROBE_POLL) {
            break;
        }
    }
    return SIM_EVENT_NONE;
}

/* The wait at the same object that `waker` (of any, SIM_PART_NONE) ended first, or last, from step
 * `step` on; NULL: none. */
static const struct sim_wait *
woken_at(const struct sim_ledger *ledger, const struct sim_wait *wait, uint64_t step,
        uint32_t waker, bool first)
{
    const struct sim_wait *found = NULL;
    for (uint32_t i = 0; i < ledger->count; i++) {
        const struct sim_wait *other = &ledger->waits[i];
        bool fits = other->end == SIM_WAIT_FIRED && other->end_step >= step &&
                    other->object == wait->object && other->part != wait->part &&
                    (waker == SIM_PART_NONE || other->ender == waker) &&
                    is_of_thread(ledger, other);
        if (fits && (found == NULL || (first ? other->end_step < found->end_step
                                             : other->end_step >= found->end_step))) {
            found = other;
        }
    }
    return found;
}

/* Another was woken there: it waits there again, or continues from its wait. */
void
sim__fate_note_taken(const struct sim_fate_evidence *evidence, const struct sim_wait *taken,
        struct sim_fate *fate)
{
    const struct sim_ledger *ledger = evidence->failing;
    const struct sim_wait *again = NULL;
    for (uint32_t i = 0; i < ledger->count && again == NULL; i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        bool is = wait->part == taken->part && wait->object == taken->object &&
                  wait->store_step > taken->end_step;
        again = is ? wait : NULL;
    }
    const struct sim_wait *at = again != NULL ? again : taken;
    fate->kind = SIM_FATE_TAKEN;
    fate->again = again != NULL;
    fate->call.step = taken->end_step;
    set_line(evidence, sim_actor_table_place(at->await, at->site),
            again != NULL ? again->store_step : taken->end_step, taken->part, &fate->taker);
}

/* The first event of `kind` in that step; SIM_EVENT_NONE. */
static uint64_t
event_in_step(const struct sim_actor_table *actor_table, uint64_t step, uint32_t kind)
{
    for (uint64_t i = sim_actor_table_step_first(actor_table, step);
            i != SIM_EVENT_NONE && i < actor_table->end &&
            sim_actor_table_event(actor_table, i)->step == step;
            i++) {
        if (sim_actor_table_event(actor_table, i)->kind == kind) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

/* Which thread of the passing run ends `like`, and in which line. What a host reports was made
 * ready by the thread whose step it was. False: none is known to. */
static bool
find_waker(const struct sim_fate_evidence *evidence, const struct sim_wait *like,
        struct sim_location *ret)
{
    const struct sim_actor_table *passing = evidence->passing->actor_table;
    const struct sim_event *event = sim_actor_table_event(passing, like->end_event);
    const struct rt_site *line = sim_actor_table_place(event->await, event->site);
    uint32_t part = sim_actor_table_part_of(passing, like->end_event);
    if (part != SIM_PART_NONE && line != NULL) {
        sim__location_set(ret, line, event->step, part);
        return true;
    }
    part = sim_phrase_whose_step(passing, event->step);
    uint32_t actor_id = part != SIM_PART_NONE ? sim_actor_table_id(passing, part) : 0;
    *ret = (struct sim_location){.step = event->step, .part = part};
    return actor_id != 0 && part != like->part &&
           line_before(evidence, evidence->there, actor_id, event->step, &ret->place);
}

/* The step in which what `part` calls in that line, from `step` on, wakes `object`: that of the
 * call, or the next one. */
static uint64_t
step_of_call(const struct sim_actor_table *actor_table, const struct sim_place *line, uint32_t part,
        uint32_t object, uint64_t step)
{
    for (uint64_t i = sim_actor_table_step_first(actor_table, step);
            i != SIM_EVENT_NONE && i < actor_table->end; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        const struct rt_site *site = sim_actor_table_place(event->await, event->site);
        bool there = site != NULL && site->line == line->line &&
                     strcmp(site->function, line->function) == 0;
        bool wakes = event->object == object &&
                     (event->kind == RT_PROBE_FIRE || event->kind == RT_PROBE_FIRE_EMPTY);
        if ((there || wakes) && sim_actor_table_part_of(actor_table, i) == part) {
            return event->step;
        }
    }
    return step;
}

/* A call that writes nothing comes when what another has written is not read yet. */
static void
note_merged(const struct sim_fate_evidence *evidence, const struct sim_wait *wait,
        struct sim_fate *fate)
{
    const struct sim_actor_table *actor_table = evidence->failing->actor_table;
    uint32_t object = 0;
    for (uint64_t i = actor_table->end; i-- > actor_table->first;) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        uint32_t part = sim_actor_table_part_of(actor_table, i);
        bool before = event->step < fate->call.step;
        if (event->kind == SIM_EVENT_READ && part == wait->part && !before) {
            object = event->object;
            fate->merged_step = event->step;
        } else if (event->object == object && object != 0 && before) {
            if (event->kind == SIM_EVENT_WRITE) {
                fate->merged = (struct sim_location){.step = event->step, .part = part};
                (void)line_before(evidence, evidence->here, sim_actor_table_id(actor_table, part),
                        event->step, &fate->merged.place);
            }
            if (event->kind == SIM_EVENT_WRITE || event->kind == SIM_EVENT_READ) {
                return;
            }
        }
    }
}

/* A wake that came before the wait was its own only if, right after it began, a wake would not have
 * left it waiting. */
bool
sim__fate_would_help(const struct sim_fate_evidence *evidence, const struct sim_wait *wait)
{
    uint32_t actor = evidence->failing->actor_table->parts[wait->part].actor;
    return sim_runs_ask(evidence->runs, actor, wait->store_step) != SIM_REACTION_BLOCKED;
}

/* An earlier wait of the same actor has ended in these steps. */
static bool
ends_earlier(
        const struct sim_ledger *ledger, const struct sim_wait *wait, const struct visits *visits)
{
    bool ends = false;
    for (const struct sim_wait *one = ledger->waits; one < wait; one++) {
        ends = ends || (one->part == wait->part && one->end == SIM_WAIT_FIRED &&
                               one->end_step >= visits->from && one->end_step <= visits->to + 1);
    }
    return ends;
}

/* The line that ends it there was come to here, or was not. */
static bool
follow_wake(const struct sim_fate_evidence *evidence, const struct sim_wait *wait,
        const struct sim_wait *like, struct sim_fate *fate)
{
    if (!find_waker(evidence, like, &fate->wake)) {
        return false;
    }
    const struct sim_place *line = &fate->wake.place;
    uint32_t part = sim__part_like(
            evidence->failing->actor_table, evidence->passing->actor_table, fate->wake.part);
    uint32_t actor_id =
            part != SIM_PART_NONE ? sim_actor_table_id(evidence->failing->actor_table, part) : 0;
    actor_id = actor_id != 0 ? actor_id : sim__stepper(evidence->there, fate->wake.step);
    const struct visits there =
            come_to(evidence, evidence->there, actor_id, line, fate->wake.step, UINT32_MAX);
    const struct visits here =
            come_to(evidence, evidence->here, actor_id, line, UINT64_MAX, there.count);
    if (actor_id == 0 || there.count == 0) {
        return false;
    }
    if (here.count < there.count) {
        fate->kind = SIM_FATE_TURNED;
        return find_lead(evidence, actor_id, 0, fate) ||
               find_turn(evidence, actor_id, UINT64_MAX, fate);
    }
    uint64_t step = here.to;
    fate->call = (struct sim_location){.place = *line, .step = step, .part = part};
    /* What is written stays until it is read. */
    bool stays = event_in_step(evidence->passing->actor_table, fate->wake.step, SIM_EVENT_WRITE) !=
                 SIM_EVENT_NONE;
    bool written = false;
    for (uint64_t at = here.from; at <= here.to + 1; at++) {
        written = written || event_in_step(evidence->failing->actor_table, at, SIM_EVENT_WRITE) !=
                                     SIM_EVENT_NONE;
    }
    /* One that is blocked itself could not send it. */
    if (stays && !written && sim_ledger_open_of(evidence->failing, part, NULL) == NULL) {
        fate->kind = SIM_FATE_SWALLOWED;
        note_merged(evidence, wait, fate);
        return true;
    }
    bool early = step < wait->store_step && !stays &&
                 SIM_OBJECT_KIND(wait->object) != RT_OBJECT_SEMAPHORE;
    if (early && (ends_earlier(evidence->failing, wait, &here) ||
                         !sim__fate_would_help(evidence, wait))) {
        return false;
    }
    if (early) {
        fate->call.step =
                step_of_call(evidence->failing->actor_table, line, part, wait->object, step);
        fate->kind = SIM_FATE_EARLY;
        return true;
    }
    const struct sim_wait *taken = woken_at(evidence->failing, wait, step, part, true);
    if (taken != NULL) {
        sim__fate_note_taken(evidence, taken, fate);
    }
    return taken != NULL;
}

/* The first time after step `after` that its actor has executed the instruction and read the same,
 * where it has not read something else in between. */
static uint32_t
first_alike(const struct sim_executed *executed, uint32_t index, uint64_t after)
{
    const struct sim_instruction *last = &executed->all[index];
    uint32_t first = index;
    for (uint32_t i = index; i-- > 0 && executed->all[i].step > after;) {
        const struct sim_instruction *one = &executed->all[i];
        bool same = one->pc == last->pc && one->actor_id == last->actor_id;
        if (same && one->before != last->before) {
            break;
        }
        first = same ? i : first;
    }
    return first;
}

/* What an actor that should have woken it read of what it waits for, the last time up to step
 * `until`. */
static bool
find_look(const struct sim_fate_evidence *evidence, const struct sim_wait *wait, uint32_t actor_id,
        uint64_t until, struct sim_fate *fate)
{
    struct sim_deciding_read *read = &fate->read;
    char name[SIM_FATE_NAME_MAX];
    sim__name_object(evidence->failing->actor_table, wait->object, name);
    for (uint32_t i = evidence->here->count; i-- > 0 && name[0] != '\0';) {
        const struct sim_instruction *found = &evidence->here->all[i];
        if (found->actor_id != actor_id || !found->reads || found->step > until ||
                found->step <= wait->store_step) {
            continue;
        }
        sim__name_memory(evidence, found->address, read->name);
        uint32_t by = sim__writer_of(evidence->here, i);
        if (strcmp(read->name, name) == 0 && by != UINT32_MAX) {
            i = first_alike(evidence->here, i, wait->store_step);
            by = sim__writer_of(evidence->here, i);
            found = &evidence->here->all[i];
            read->at = sim__located(evidence, evidence->failing, evidence->here, i);
            read->by = sim__located(evidence, evidence->failing, evidence->here, by);
            sim__value_as_text(found->before, found->size, read->value);
            return true;
        }
    }
    return false;
}

/* The last place of the reader's that is come to in the step, in a function that was not in it
 * before; of event `index` where that has one. */
static void
find_ended(const struct sim_fate_evidence *evidence, uint64_t index, struct sim_location *ret)
{
    const struct sim_actor_table *actor_table = evidence->failing->actor_table;
    const struct sim_event *event = sim_actor_table_event(actor_table, index);
    struct sim_place seen[SIM_INLINED_MAX];
    struct sim_place place;
    uint32_t count = 0;
    sim__location_set(ret, sim_actor_table_place(event->await, event->site), event->step,
            sim_actor_table_part_of(actor_table, index));
    for (uint32_t i = 0; i < evidence->here->count && count < SIM_INLINED_MAX; i++) {
        const struct sim_instruction *one = &evidence->here->all[i];
        if (one->step != event->step || !sim__reader_at(evidence, one->pc, &place) ||
                sim_place_is_runtime(&place)) {
            continue;
        }
        uint32_t k = 0;
        while (k < count && strcmp(seen[k].function, place.function) != 0) {
            k++;
        }
        if (k == count) {
            seen[count++] = place;
            ret->place = place;
        }
    }
}

/* One that waited in the same line was woken, and cancelled before it was polled. */
static bool
find_cancelled(const struct sim_fate_evidence *evidence, const struct sim_wait *wait,
        struct sim_fate *fate)
{
    const struct sim_ledger *ledger = evidence->failing;
    for (uint32_t i = ledger->count; i-- > 0;) {
        const struct sim_wait *other = &ledger->waits[i];
        bool like = other->end == SIM_WAIT_FIRED && other->part != wait->part &&
                    other->site == wait->site && other->await == wait->await &&
                    is_of_thread(ledger, other);
        uint64_t cancel = like ? cancel_of(ledger->actor_table, other) : SIM_EVENT_NONE;
        if (cancel != SIM_EVENT_NONE) {
            const struct sim_event *event =
                    sim_actor_table_event(ledger->actor_table, other->end_event);
            sim__location_set(&fate->call, sim_actor_table_place(event->await, event->site),
                    event->step, other->ender);
            sim__fate_note_taken(evidence, other, fate);
            find_ended(evidence, cancel, &fate->ended);
            return true;
        }
    }
    return false;
}

/* The one that should have woken it woke another in its place. */
static bool
find_taken(const struct sim_fate_evidence *evidence, const struct sim_wait *wait,
        struct sim_fate *fate)
{
    const struct sim_ledger *ledger = evidence->failing;
    const struct sim_wait *taken =
            woken_at(ledger, wait, wait->store_step, evidence->owed_part, false);
    if (taken == NULL) {
        return false;
    }
    const struct sim_event *event = sim_actor_table_event(ledger->actor_table, taken->end_event);
    set_line(evidence, sim_actor_table_place(event->await, event->site), event->step, taken->ender,
            &fate->call);
    sim__fate_note_taken(evidence, taken, fate);
    if (!fate->again) {
        (void)find_look(evidence, wait, sim_actor_table_id(ledger->actor_table, taken->part),
                UINT64_MAX, fate);
    }
    return fate->call.place.line != 0;
}

/* A trial has shown it, or an event. */
static bool
is_shown(const struct sim_fate *fate)
{
    return fate->tried || fate->ended.step != 0;
}

/* Where a thread waits that waits at the end of the run: the line of the reader's that called what
 * it waits in, of which its stack knows. No line: there is none. */
static void
blocked_at(const struct sim_fate_evidence *evidence, const struct sim_wait *wait,
        struct sim_place *ret)
{
    const struct sim_actor_table *actor_table = evidence->failing->actor_table;
    struct sim_stack stack;
    struct sim_frames frames;
    *ret = (struct sim_place){.line = 0};
    if (!sim_recorder_stack(actor_table->recorder, actor_table->parts[wait->part].actor, &stack)) {
        (void)line_before(evidence, evidence->here, sim_actor_table_id(actor_table, wait->part),
                wait->store_step, ret);
        return;
    }
    sim_frames_find(&stack, &frames);
    if (frames.count > 0 && frames.all[0].line != 0) {
        (void)snprintf(ret->function, sizeof(ret->function), "%.*s", (int)sizeof(ret->function) - 1,
                frames.all[0].function);
        (void)snprintf(ret->file, sizeof(ret->file), "%s", frames.all[0].file);
        ret->line = (uint32_t)frames.all[0].line;
    }
}

void
sim__find_sleeps(const struct sim_fate_evidence *evidence, const struct sim_wait *wait,
        struct sim_location *ret)
{
    sim__location_set(
            ret, sim_actor_table_place(wait->await, wait->site), wait->store_step, wait->part);
    if (ret->place.line == 0 || !sim_place_is_readers(&ret->place)) {
        blocked_at(evidence, wait, &ret->place);
    }
}

static bool
follow(const struct sim_fate_evidence *evidence, const struct sim_wait *wait, struct sim_fate *fate)
{
    const struct sim_wait *like = evidence->passing != NULL ? sim_fate_like(evidence, wait) : NULL;
    uint32_t actor_id = sim_actor_table_id(evidence->failing->actor_table, wait->part);
    *fate = (struct sim_fate){.kind = SIM_FATE_NONE, .wait = *wait};
    fate->wake.part = SIM_PART_NONE;
    sim__find_sleeps(evidence, wait, &fate->sleeps);
    bool wakes = like != NULL && like->end == SIM_WAIT_FIRED && like->end_event != SIM_EVENT_NONE;
    if (find_cancelled(evidence, wait, fate)) {
        return true;
    }
    struct sim_fate first = *fate;
    if (evidence->lost) {
        struct sim_fate sent = *fate;
        bool found = wakes && follow_wake(evidence, wait, like, &sent);
        if (!evidence->shown && !(found && sent.kind != SIM_FATE_TURNED) &&
                find_taken(evidence, wait, fate)) {
            return true;
        }
        if (found && (is_shown(&sent) || (sent.kind != SIM_FATE_TURNED && !evidence->shown))) {
            *fate = sent;
            return true;
        }
        *fate = first;
        fate->kind = SIM_FATE_OWED;
        return !evidence->shown && evidence->owed_part != SIM_PART_NONE &&
               find_look(evidence, wait,
                       sim_actor_table_id(evidence->failing->actor_table, evidence->owed_part),
                       evidence->owed_step, fate);
    }
    if (wakes && follow_wake(evidence, wait, like, fate) && (is_shown(fate) || !evidence->shown)) {
        return true;
    }
    *fate = first;
    if (evidence->due.step != 0 || evidence->shown) {
        fate->wake = evidence->due;
        return evidence->due.step != 0 &&
               find_lead(evidence, sim__stepper(evidence->there, evidence->due.step), 0, fate);
    }
    fate->kind = SIM_FATE_TURNED;
    fate->wake = (struct sim_location){.part = SIM_PART_NONE};
    sim__word_find_returned(evidence, wait, &fate->sleeps.place, &fate->returned);
    if (fate->returned.changes > 0) {
        return true;
    }
    /* What it waits for is taken, and not given back; that it has read something else says less. */
    return actor_id != 0 && find_turn(evidence, actor_id, wait->store_step, fate) &&
           fate->read.raised_count > 0;
}

/* How much is known: what was seen before what is compared, a race before what is one's own. */
static uint32_t
weight_of(const struct sim_fate *fate)
{
    const struct sim_deciding_read *read = &fate->read;
    if (fate->kind != SIM_FATE_TURNED) {
        return fate->kind == SIM_FATE_NONE ? 0 : 4;
    }
    if (fate->returned.changes > 0) {
        return 3;
    }
    bool other = (read->by.step != 0 && read->by.part != read->at.part) ||
                 (read->by.step == 0 && read->passing_by.step != 0);
    return read->at.step == 0 ? 1 : other ? 3 : 2;
}

/* One that waits for a lock, or for another to end, waits for what that other one waits for. */
static bool
is_blocked(const struct sim_ledger *ledger, const struct sim_wait *wait)
{
    return wait->end == SIM_WAIT_OPEN && is_of_thread(ledger, wait) &&
           !ledger->actor_table->parts[wait->part].finished &&
           SIM_OBJECT_KIND(wait->object) != RT_OBJECT_TASK &&
           SIM_OBJECT_KIND(wait->object) != RT_OBJECT_MUTEX;
}

/* From where the function was called whose line that is. */
static void
find_caller(const struct sim_fate_evidence *evidence, struct sim_location *at)
{
    uint32_t actor_id =
            at->step != 0 ? sim_actor_table_id(evidence->failing->actor_table, at->part) : 0;
    for (uint32_t i = evidence->here->count; actor_id != 0 && i-- > 0;) {
        const struct sim_instruction *one = &evidence->here->all[i];
        struct sim_place place;
        if (one->actor_id == actor_id && one->step <= at->step &&
                sim__reader_at(evidence, one->pc, &place) &&
                sim__is_same_line(&place, &at->place)) {
            at->caller = sim__located(evidence, evidence->failing, evidence->here, i).caller;
            return;
        }
    }
}

/* Of what is inlined from a library, the line of the reader's that called it. */
static void
find_own_line(const struct sim_fate_evidence *evidence, struct sim_location *at)
{
    struct sim_place place;
    if (at->place.line != 0 && !sim_place_is_readers(&at->place) &&
            line_before(evidence, evidence->here,
                    sim_actor_table_id(evidence->failing->actor_table, at->part), at->step,
                    &place)) {
        at->place = place;
    }
}

/* A condition of one that is blocked at the end, the last that it decides: by it it waits. */
static bool
is_guard(const struct sim_fate_evidence *evidence, const struct sim_branch *branch)
{
    uint32_t part = sim_actor_table_of_id(evidence->failing->actor_table, branch->actor_id);
    uint32_t index = sim_branch_index(evidence->here, branch);
    if (part == SIM_PART_NONE || sim_ledger_open_of(evidence->failing, part, NULL) == NULL) {
        return false;
    }
    if (evidence->shown) {
        return true; /* No wake is known to be missing: each of both waits for the other. */
    }
    for (uint32_t i = index + 1; i < evidence->here->count; i++) {
        if (evidence->here->all[i].actor_id == branch->actor_id && evidence->here->all[i].jump) {
            return false;
        }
    }
    return true;
}

/* Without guards, the setup, which is no actor's, and what comes before a wake that is lost: it
 * only avoids that one. */
static void
keep_skipping(const struct sim_fate_evidence *evidence, struct sim_branches *branches)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < branches->count; i++) {
        uint64_t step = branches->all[i].step;
        if (step > 0 && step >= evidence->woken_step && !is_guard(evidence, &branches->all[i])) {
            branches->all[kept++] = branches->all[i];
        }
    }
    branches->count = kept;
}

/* Whether the actor of the `index`-th instruction comes to that line here, before it returns. */
static bool
comes_to(const struct sim_fate_evidence *evidence, uint32_t index, const struct sim_place *line)
{
    const struct sim_executed *here = evidence->here;
    for (uint32_t i = index; i < here->count; i++) {
        const struct sim_instruction *one = &here->all[i];
        struct sim_place place;
        if (one->actor_id != here->all[index].actor_id) {
            continue;
        }
        if (one->stack > here->all[index].stack) {
            return false;
        }
        if (sim__reader_at(evidence, one->pc, &place) && sim__is_same_line(&place, line)) {
            return true;
        }
    }
    return false;
}

bool
sim_fate_find_differing(const struct sim_fate_evidence *evidence, struct sim_fate *ret)
{
    rt_assert(evidence->here != NULL && evidence->there != NULL);
    uint32_t actor_id = sim_actor_table_id(evidence->failing->actor_table, evidence->part);
    struct sim_branches branches = {.count = 0};
    struct sim_switched switched;
    sim_branches_add_differing(evidence->here, evidence->there, actor_id, &branches);
    keep_skipping(evidence, &branches);
    sim_unusual_keep(evidence->unusual, &branches);
    sim_branches_find(evidence->runs, evidence->places, evidence->code, &branches, &switched);
    uint32_t here =
            switched.found ? sim_branch_index(evidence->here, &switched.branch) : UINT32_MAX;
    uint32_t there =
            switched.found ? sim_branch_index(evidence->there, &switched.branch) : UINT32_MAX;
    if (here == UINT32_MAX || there == UINT32_MAX) {
        return false;
    }
    *ret = (struct sim_fate){
            .kind = SIM_FATE_TURNED,
            .sleeps.part = evidence->part,
            .condition = sim__located(evidence, evidence->failing, evidence->here, here),
            .times = switched.times,
            .wake = line_after(evidence, there),
            .tried = true,
    };
    if (comes_to(evidence, here, &ret->wake.place)) {
        ret->wake.place = (struct sim_place){.line = 0}; /* That is not what is skipped. */
    }
    find_read(evidence, here, there, &ret->read);
    return true;
}

void
sim_fate_find(const struct sim_fate_evidence *evidence, struct sim_fate *ret)
{
    rt_assert(evidence->here != NULL);
    rt_assert(evidence->lost || (evidence->passing != NULL && evidence->there != NULL));
    struct sim_fate fate = {.kind = SIM_FATE_NONE};
    *ret = fate;
    for (uint32_t own = 0; own < 2; own++) {
        for (uint32_t i = 0; i < evidence->failing->count; i++) {
            const struct sim_wait *wait = &evidence->failing->waits[i];
            bool wanted = is_blocked(evidence->failing, wait) &&
                          (wait->part == evidence->part) == (own == 0) &&
                          (own == 0 || !evidence->lost);
            if (wanted && follow(evidence, wait, &fate) && weight_of(&fate) > weight_of(ret)) {
                *ret = fate;
            }
        }
    }
    find_own_line(evidence, &ret->call);
    find_caller(evidence, &ret->call);
    find_own_line(evidence, &ret->taker);
}
