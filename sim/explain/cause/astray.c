/*
 * astray.c -- the calls that lead to a line, and the same calls in another part of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/astray.h"

#include "runtime/base/assert.h"
#include "sim/core/record/site.h"
#include "sim/explain/cause/guard.h"
#include "sim/explain/cause/priv.h"
#include "sim/explain/cause/reads.h"

/* Functions that call each other. */
#define WAY_MAX 16u

/* A way to a line, in one run: the instruction there, then the calls, the innermost first. */
struct way {
    const struct sim_executed *executed;
    const struct sim_ledger *ledger;
    uint64_t step;
    uint32_t actor_id;
    uint32_t begin; /* Instructions here count after this one: that began the wait. */
    uint32_t calls[WAY_MAX];
    uint32_t count;
};

/* ---- Where the like ends. -------------------------------------------------------------------- */

/* The last wait before it that was ended by an actor, of the same actor at the same line, else of
 * any there. NULL: there is none. */
static const struct sim_wait *
earlier_like(const struct sim_ledger *ledger, const struct sim_wait *wait)
{
    const struct sim_wait *found = NULL;
    for (uint32_t i = 0; i < ledger->count; i++) {
        const struct sim_wait *like = &ledger->waits[i];
        bool is = like->end == SIM_WAIT_FIRED && like->end_event != SIM_EVENT_NONE &&
                  like->end_event < wait->store_event && like->site == wait->site &&
                  like->await == wait->await && like->kind == wait->kind;
        bool better =
                is && (found == NULL || found->part != wait->part || like->part == wait->part);
        found = better ? like : found;
    }
    return found;
}

static bool
counts(const struct sim_fate_evidence *evidence, const struct sim_astray_question *question,
        const struct way *way, uint32_t index)
{
    const struct sim_instruction *one = &evidence->here->all[index];
    return one->actor_id == way->actor_id && one->step >= question->from &&
           one->step <= question->to && index >= way->begin;
}

/* Whether the function is entered here, where that counts. */
static bool
is_entered(const struct sim_fate_evidence *evidence, const struct sim_astray_question *question,
        const struct way *way, uintptr_t entry)
{
    for (uint32_t i = 0; i < evidence->here->count; i++) {
        if (evidence->here->all[i].pc == entry && counts(evidence, question, way, i)) {
            return true;
        }
    }
    return false;
}

/* After the instruction that began the wait. */
static uint32_t
find_begin(const struct sim_fate_evidence *evidence, const struct sim_wait *wait)
{
    const struct sim_executed *here = evidence->here;
    struct sim_location line;
    struct sim_place place;
    if (wait != NULL) {
        sim__location_set(&line, sim_actor_table_place(wait->await, wait->site), 0, wait->part);
    }
    for (uint32_t i = wait != NULL ? here->count : 0; i-- > 0;) {
        if (here->all[i].step == wait->store_step &&
                sim__reader_at(evidence, here->all[i].pc, &place) &&
                sim__is_same_line(&place, &line.place)) {
            return i + 1;
        }
    }
    return 0;
}

/* The last instruction of the step in that line; of an event without a line of that step, the call
 * of the first function that is not called here. UINT32_MAX: there is none. */
static uint32_t
find_line(const struct sim_fate_evidence *evidence, const struct sim_astray_question *question,
        const struct way *way, const struct sim_place *line)
{
    uint32_t found = UINT32_MAX;
    uint32_t first = UINT32_MAX;
    struct sim_place place;
    for (uint32_t i = 0; i < way->executed->count; i++) {
        const struct sim_instruction *one = &way->executed->all[i];
        if (one->step != way->step || one->actor_id != way->actor_id) {
            continue;
        }
        bool is = sim__reader_at(evidence, one->pc, &place) && sim__is_same_line(&place, line);
        found = is ? i : found;
        if (first == UINT32_MAX && one->pc == sim_code_entry(evidence->code, one->pc) &&
                !is_entered(evidence, question, way, one->pc)) {
            first = sim_executed_caller(way->executed, i);
        }
    }
    return found != UINT32_MAX ? found : first;
}

static bool
follow_calls(uint32_t at, struct way *way)
{
    way->count = 0;
    while (at != UINT32_MAX && way->count < WAY_MAX) {
        way->calls[way->count++] = at;
        at = sim_executed_caller(way->executed, at);
    }
    return way->count > 0;
}

/* By what is recorded of the end of a wait. */
static bool
find_end(const struct sim_fate_evidence *evidence, const struct sim_astray_question *question,
        const struct sim_wait *like, struct way *way)
{
    struct sim_location line;
    if (like == NULL || like->end != SIM_WAIT_FIRED || like->end_event == SIM_EVENT_NONE ||
            SIM_OBJECT_KIND(like->object) == RT_OBJECT_TIMER) {
        return false;
    }
    const struct sim_event *event =
            sim_actor_table_event(way->ledger->actor_table, like->end_event);
    sim__location_set(
            &line, sim_actor_table_place(event->await, event->site), event->step, like->ender);
    way->step = event->step;
    way->actor_id = sim__stepper(way->executed, event->step);
    return way->actor_id != 0 && follow_calls(find_line(evidence, question, way, &line.place), way);
}

/* By the call that wakes a loop. */
static bool
find_wake(const struct sim_fate_evidence *evidence, const struct sim_astray_question *question,
        struct way *way)
{
    struct sim_place places[SIM_INLINED_MAX];
    way->step = question->wake_step;
    way->actor_id = question->wake_id;
    for (uint32_t i = 0; i < question->wake->frame_count && i < SIM_WALK_FRAMES; i++) {
        uintptr_t pc = question->wake->frames[i];
        if (sim_code_entry(evidence->code, pc) != 0 &&
                sim_places_at(evidence->places, pc, true, places, SIM_INLINED_MAX) > 0) {
            return follow_calls(find_line(evidence, question, way, &places[0]), way);
        }
    }
    return false;
}

/* Where the task was polled last: the loop that does so has to come there again. What it executed
 * since its last poll of any counts. */
static bool
find_poll(const struct sim_fate_evidence *evidence, struct sim_astray_question *question,
        struct way *way)
{
    const struct sim_actor_table *actor_table = evidence->failing->actor_table;
    uint64_t last = 0;
    way->step = 0;
    for (uint64_t i = actor_table->first; i < actor_table->end; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->kind == RT_PROBE_POLL && event->step <= question->to) {
            bool its = sim_actor_table_part_of(actor_table, i) == evidence->part;
            way->step = its ? event->step : way->step;
            last = event->step;
        }
    }
    way->actor_id = way->step != 0 ? sim__stepper(evidence->here, way->step) : 0;
    if (way->actor_id == 0 || sim__stepper(evidence->here, last) != way->actor_id) {
        return false;
    }
    /* The step ends in what polls. */
    uint32_t at = evidence->here->count;
    while (at-- > 0 && (evidence->here->all[at].step != way->step ||
                               evidence->here->all[at].actor_id != way->actor_id)) {
    }
    question->from = (last > question->from ? last : question->from) + 1;
    return follow_calls(sim_executed_caller(evidence->here, at), way);
}

static bool
find_way(const struct sim_fate_evidence *evidence, struct sim_astray_question *question,
        struct way *way)
{
    bool compared = evidence->there != NULL && evidence->passing != NULL;
    uint32_t begin = find_begin(evidence, question->wait);
    *way = (struct way){.executed = evidence->there, .ledger = evidence->passing, .begin = begin};
    if (question->polled) {
        *way = (struct way){.executed = evidence->here, .ledger = evidence->failing};
        return find_poll(evidence, question, way);
    }
    if (compared && question->wake != NULL && find_wake(evidence, question, way)) {
        return true;
    }
    if (compared && question->wait != NULL &&
            find_end(evidence, question, sim_fate_like(evidence, question->wait), way)) {
        return true;
    }
    *way = (struct way){.executed = evidence->here, .ledger = evidence->failing, .begin = begin};
    return question->wait != NULL &&
           find_end(evidence, question, earlier_like(evidence->failing, question->wait), way);
}

/* ---- How far it comes here. ------------------------------------------------------------------ */

/* The last instruction of the function of the `depth`-th call; UINT32_MAX: it is not entered. */
static uint32_t
last_in(const struct sim_fate_evidence *evidence, const struct sim_astray_question *question,
        const struct way *way, uint32_t depth)
{
    uintptr_t entry = sim_code_entry(evidence->code, way->executed->all[way->calls[depth]].pc);
    bool outermost = depth + 1 == way->count;
    for (uint32_t i = evidence->here->count; i-- > 0;) {
        if (counts(evidence, question, way, i) &&
                sim_code_entry(evidence->code, evidence->here->all[i].pc) == entry) {
            return outermost || is_entered(evidence, question, way, entry) ? i : UINT32_MAX;
        }
    }
    return UINT32_MAX;
}

/* Whether the actor has not returned from what it called there. */
static bool
is_within(const struct sim_fate_evidence *evidence, const struct sim_astray_question *question,
        const struct way *way, uint32_t index)
{
    const struct sim_executed *here = evidence->here;
    uint32_t last = here->count;
    while (last-- > 0 && !counts(evidence, question, way, last)) {
    }
    uint32_t at = last;
    while (at != UINT32_MAX && at > index) {
        at = sim_executed_caller(here, at);
    }
    return at == index && here->all[index].call;
}

/* The nearest jump before that call, in its function, that goes the other way here; UINT32_MAX. */
static uint32_t
find_turn(const struct sim_fate_evidence *evidence, const struct sim_astray_question *question,
        const struct way *way, uint32_t call)
{
    uintptr_t entry = sim_code_entry(evidence->code, way->executed->all[call].pc);
    for (uint32_t i = call; i-- > 0 && way->executed->all[i].pc != entry;) {
        const struct sim_instruction *jump = &way->executed->all[i];
        bool is = jump->jump && jump->actor_id == way->actor_id &&
                  sim_code_entry(evidence->code, jump->pc) == entry;
        for (uint32_t k = is ? evidence->here->count : 0; k-- > 0;) {
            const struct sim_instruction *one = &evidence->here->all[k];
            if (one->pc == jump->pc && counts(evidence, question, way, k)) {
                if (one->taken != jump->taken) {
                    return k;
                }
                break;
            }
        }
    }
    return UINT32_MAX;
}

/* An instruction with the calls that lead to it. */
static struct sim_noted_call
located(const struct sim_fate_evidence *evidence, const struct sim_ledger *ledger,
        const struct sim_executed *executed, uint32_t index)
{
    struct sim_noted_call call = {.event = SIM_EVENT_NONE};
    uint32_t most = sizeof(call.at) / sizeof(*call.at);
    while (index != UINT32_MAX && call.at_count < most) {
        call.at[call.at_count++] = sim__located(evidence, ledger, executed, index);
        index = sim_executed_caller(executed, index);
    }
    return call;
}

/* Whose wait is ended in that step, by its actor; SIM_PART_NONE: none is. */
static uint32_t
ended_in(const struct sim_ledger *ledger, uint64_t step, uint32_t but)
{
    for (uint32_t i = 0; i < ledger->count; i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        if (wait->end == SIM_WAIT_FIRED && wait->end_step == step && wait->part != but) {
            return wait->part;
        }
    }
    return SIM_PART_NONE;
}

/* How often the actor comes here to the line. */
static uint32_t
times_here(const struct sim_fate_evidence *evidence, const struct way *way)
{
    uintptr_t pc = way->executed->all[way->calls[0]].pc;
    uint32_t times = 0;
    for (uint32_t i = 0; i < evidence->here->count; i++) {
        const struct sim_instruction *one = &evidence->here->all[i];
        times += one->pc == pc && one->actor_id == way->actor_id;
    }
    return times;
}

/* It comes to the line itself; where it should come again, it turned off after that. */
static bool
describe_coming(const struct sim_fate_evidence *evidence,
        const struct sim_astray_question *question, const struct way *way, struct sim_astray *ret)
{
    uintptr_t pc = way->executed->all[way->calls[0]].pc;
    uint32_t but = question->wait != NULL ? question->wait->part : evidence->part;
    for (uint32_t i = evidence->here->count; i-- > 0;) {
        const struct sim_instruction *one = &evidence->here->all[i];
        if (one->pc == pc && counts(evidence, question, way, i)) {
            ret->last = located(evidence, evidence->failing, evidence->here, i);
            ret->instead = ended_in(evidence->failing, one->step, but);
            ret->comes = true;
            break;
        }
    }
    bool fewer = ret->comes && way->executed == evidence->there &&
                 times_here(evidence, way) < sim_branch_at(way->executed, way->calls[0]).nth;
    uint32_t turn = fewer ? find_turn(evidence, question, way, way->calls[0]) : UINT32_MAX;
    if (turn != UINT32_MAX) {
        (void)sim_guard_describe(evidence, turn, &ret->turn);
    }
    return ret->comes;
}

/* It comes to the function of the `depth`-th call, and not on to the next one. */
static bool
describe_turning(const struct sim_fate_evidence *evidence,
        const struct sim_astray_question *question, const struct way *way, uint32_t depth,
        struct sim_astray *ret)
{
    uint32_t call = way->calls[depth];
    uint32_t last = last_in(evidence, question, way, depth);
    rt_assert(last != UINT32_MAX);
    /* All that the outermost function does in the end is to block: how did it come to that? */
    bool outermost = depth + 1 == way->count;
    ret->blocked = !outermost && is_within(evidence, question, way, last);
    uint32_t turn = ret->blocked ? UINT32_MAX : find_turn(evidence, question, way, call);
    if (turn != UINT32_MAX) {
        (void)sim_guard_describe(evidence, turn, &ret->turn);
    }
    ret->last =
            located(evidence, evidence->failing, evidence->here, turn != UINT32_MAX ? turn : last);
    return !outermost || turn != UINT32_MAX;
}

bool
sim_astray_find(const struct sim_fate_evidence *evidence,
        const struct sim_astray_question *question, struct sim_astray *ret)
{
    struct sim_astray_question asked = *question;
    struct way way;
    uint32_t depth = 0;
    *ret = (struct sim_astray){.instead = SIM_PART_NONE};
    if (evidence->here == NULL || evidence->code == NULL || !find_way(evidence, &asked, &way)) {
        return false;
    }
    ret->polls = question->polled;
    ret->passing = way.executed == evidence->there;
    ret->ends = located(evidence, way.ledger, way.executed, way.calls[0]);
    if (describe_coming(evidence, &asked, &way, ret)) {
        return true;
    }
    while (depth < way.count && last_in(evidence, &asked, &way, depth) == UINT32_MAX) {
        depth++;
    }
    return depth < way.count && describe_turning(evidence, &asked, &way, depth, ret);
}
