/*
 * values.c -- a slice of what both runs execute, backwards from a jump.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/values.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/explain/cause/priv.h"
#include "sim/explain/cause/reads.h"

#define READS_MAX 16u
#define SEEN_MAX 128u

/* Writers, one of what the other has read. */
#define DEPTH_MAX 8u

#define RESULT_MAX 4096

/* Below the stack pointer, and above it, where the locals of a function and its callers are. */
#define STACK_BELOW 256u
#define STACK_ABOVE 65536u

/* ---- What an instruction has computed with. -------------------------------------------------- */

struct slice {
    const struct sim_fate_evidence *evidence;
    const struct sim_executed *executed;
    struct sim_place line; /* Of what is asked about: also locals count that are read in it. */
    uint32_t reads[READS_MAX];
    uint32_t count;
    uint32_t seen[SEEN_MAX];
    uint32_t seen_count;
    bool conditions; /* Where it is a constant: the condition before that. */
};

static bool
is_local(const struct sim_instruction *one)
{
    return one->stack != 0 && one->address + STACK_BELOW >= one->stack &&
           one->address < one->stack + STACK_ABOVE;
}

static bool
is_in_line(const struct slice *slice, uint32_t index)
{
    struct sim_place place;
    return sim__reader_at(slice->evidence, slice->executed->all[index].pc, &place) &&
           sim__is_same_line(&place, &slice->line);
}

/* The condition that its actor decided last in the same function; UINT32_MAX. */
static uint32_t
condition_before(const struct sim_executed *executed, uint32_t index)
{
    const struct sim_instruction *at = &executed->all[index];
    for (uint32_t i = index; (i = sim__before_of(executed, i)) != UINT32_MAX;) {
        const struct sim_instruction *one = &executed->all[i];
        if (one->step != at->step || one->stack > at->stack) {
            break;
        }
        if (one->jump && one->stack == at->stack) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* Puts what is to be visited next at the end of `seen`, once. */
static void
see(struct slice *slice, uint32_t index)
{
    for (uint32_t i = 0; i < slice->seen_count; i++) {
        if (slice->seen[i] == index) {
            return;
        }
    }
    if (index != UINT32_MAX && slice->seen_count < SEEN_MAX) {
        slice->seen[slice->seen_count++] = index;
    }
}

static void
visit(struct slice *slice, uint32_t index)
{
    const struct sim_instruction *one = &slice->executed->all[index];
    struct sim_registers registers;
    bool passes = slice->seen[0] == index && !one->jump && !one->reads && !one->writes;
    if ((one->call && !passes) || !sim_registers_of(one->pc, &registers)) {
        return;
    }
    if (one->piece && one->copied) {
        see(slice, index - 1);
        return;
    }
    if (!one->piece && !one->call && one->reads && index > 0 &&
            slice->executed->all[index - 1].piece && !slice->executed->all[index - 1].moved &&
            slice->executed->all[index - 1].pc == one->pc) {
        see(slice, index - 1);
    }
    uint64_t wanted = passes ? SIM_REGISTERS_PASSED : registers.reads;
    if (one->reads) {
        bool local = is_local(one);
        if ((!local || is_in_line(slice, index)) && slice->count < READS_MAX) {
            slice->reads[slice->count++] = index;
        }
        if (local) {
            see(slice, sim__writer_of(slice->executed, index));
        } else {
            wanted |= registers.address;
        }
    }
    wanted &= ~SIM_REGISTER_STACK;
    if (wanted == 0 && !one->reads && slice->conditions) {
        see(slice, condition_before(slice->executed, index));
    }
    for (uint64_t bit = 1; bit != 0 && bit <= wanted; bit <<= 1) {
        if ((wanted & bit) != 0) {
            see(slice, sim_executed_register(slice->evidence->code, slice->executed, index, bit));
        }
    }
}

/* All that the `index`-th instruction was computed from, the nearest first, up to memory that is no
 * local; it stays with `line` where that is of it. */
static void
make_slice(const struct sim_fate_evidence *evidence, const struct sim_executed *executed,
        uint32_t index, bool conditions, struct slice *ret)
{
    ret->evidence = evidence;
    ret->executed = executed;
    ret->count = 0;
    ret->seen_count = 0;
    ret->conditions = conditions;
    ret->line = (struct sim_place){.line = 0};
    (void)sim__reader_at(evidence, executed->all[index].pc, &ret->line);
    see(ret, index);
    for (uint32_t i = 0; i < ret->seen_count; i++) {
        visit(ret, ret->seen[i]);
    }
}

/* Without what it reads only to change it. */
static bool
is_own_word(const struct sim_executed *executed, uint32_t read, uint32_t index)
{
    return read == index || (executed->all[index].writes &&
                                    sim__overlap(&executed->all[read], &executed->all[index]));
}

/* ---- Stale. ---------------------------------------------------------------------------------- */

/* Others have changed what `read` has read before its actor came to `use`. */
static bool
is_stale(const struct sim_executed *executed, uint32_t read, uint32_t use, uint32_t *ret_last,
        uint32_t *ret_changes)
{
    *ret_changes = 0;
    for (uint32_t i = read + 1; i < use; i++) {
        const struct sim_instruction *one = &executed->all[i];
        if (one->writes && one->before != one->after &&
                one->actor_id != executed->all[read].actor_id &&
                sim__overlap(one, &executed->all[read])) {
            *ret_last = i;
            (*ret_changes)++;
        }
    }
    return *ret_changes > 0;
}

struct stale {
    uint32_t read; /* UINT32_MAX: there is none. */
    uint32_t use;
    uint32_t last;
    uint32_t changes;
};

/* Of what the jump was computed from, each of its writers in turn: the latest read whose word
 * others had changed when what was made of it was written. */
static struct stale
find_stale(const struct sim_fate_evidence *evidence, const struct sim_executed *executed,
        uint32_t fails)
{
    struct stale found = {.read = UINT32_MAX};
    struct slice slice;
    uint32_t uses[DEPTH_MAX] = {fails};
    uint32_t count = 1;
    for (uint32_t i = 0; i < count && found.read == UINT32_MAX; i++) {
        make_slice(evidence, executed, uses[i], false, &slice);
        for (uint32_t k = 0; k < slice.count; k++) {
            struct stale one = {.read = slice.reads[k], .use = uses[i]};
            if (i > 0 && executed->all[one.read].actor_id == executed->all[one.use].actor_id &&
                    !is_local(&executed->all[one.use]) &&
                    is_stale(executed, one.read, one.use, &one.last, &one.changes) &&
                    (found.read == UINT32_MAX || one.read > found.read)) {
                found = one;
            }
            uint32_t writer = sim__writer_of(executed, one.read);
            if (writer != UINT32_MAX && count < DEPTH_MAX) {
                uses[count++] = writer;
            }
        }
    }
    return found;
}

static void
describe_stale(const struct sim_fate_evidence *evidence, const struct stale *stale,
        struct sim_stale_value *ret)
{
    const struct sim_executed *here = evidence->here;
    const struct sim_instruction *read = &here->all[stale->read];
    ret->at = sim__located(evidence, evidence->failing, here, stale->read);
    ret->used = sim__located(evidence, evidence->failing, here, stale->use);
    ret->last = sim__located(evidence, evidence->failing, here, stale->last);
    ret->changes = stale->changes;
    sim__name_memory(evidence, read->address, ret->name);
    sim__value_as_text(read->before, read->size, ret->value);
}

/* ---- Both runs. ------------------------------------------------------------------------------ */

/* The same execution of the same instruction there; the last where it does not come so often. */
static uint32_t
like_of(const struct sim_fate_evidence *evidence, uint32_t here)
{
    struct sim_branch branch = sim_branch_at(evidence->here, here);
    uint32_t like = sim_branch_index(evidence->there, &branch);
    for (; like == UINT32_MAX && branch.nth > 1; branch.nth--) {
        like = sim_branch_index(evidence->there, &branch);
    }
    return like;
}

static bool
is_number(const struct sim_executed *executed, uint32_t read)
{
    char value[SIM_FATE_VALUE_MAX];
    sim__value_as_text(executed->all[read].before, executed->all[read].size, value);
    return value[0] != '\0';
}

/* A read here, and its like there. */
struct pair {
    uint32_t here; /* UINT32_MAX: there is none. */
    uint32_t there;
};

/* The first two reads in the same place whose values differ, of what is not only changed. */
static struct pair
differing(const struct slice *here, const struct slice *there, uint32_t index)
{
    for (uint32_t i = 0; i < here->count && i < there->count; i++) {
        const struct sim_instruction *a = &here->executed->all[here->reads[i]];
        const struct sim_instruction *b = &there->executed->all[there->reads[i]];
        if (a->pc != b->pc) {
            break;
        }
        if (a->before != b->before && !is_own_word(here->executed, here->reads[i], index) &&
                is_number(here->executed, here->reads[i]) &&
                is_number(there->executed, there->reads[i])) {
            return (struct pair){here->reads[i], there->reads[i]};
        }
    }
    return (struct pair){UINT32_MAX, UINT32_MAX};
}

static struct pair
differing_of(const struct sim_fate_evidence *evidence, struct pair of, bool conditions)
{
    struct slice here;
    struct slice there;
    make_slice(evidence, evidence->here, of.here, conditions, &here);
    make_slice(evidence, evidence->there, of.there, conditions, &there);
    return differing(&here, &there, of.here);
}

/* What it writes is made of what was there. */
static bool
adds_up(const struct sim_fate_evidence *evidence, uint32_t write)
{
    struct slice slice;
    make_slice(evidence, evidence->here, write, false, &slice);
    for (uint32_t i = 0; i < slice.count; i++) {
        if (is_own_word(evidence->here, slice.reads[i], write)) {
            return true;
        }
    }
    return false;
}

/* Both were written by the same instruction of the same actor, called from the same line; of a
 * message, as much of it. */
static bool
has_same_writer(const struct sim_fate_evidence *evidence, struct pair read, struct pair *ret)
{
    *ret = (struct pair){
            sim__writer_of(evidence->here, read.here), sim__writer_of(evidence->there, read.there)};
    if (ret->here == UINT32_MAX || ret->there == UINT32_MAX) {
        return false;
    }
    const struct sim_instruction *a = &evidence->here->all[ret->here];
    const struct sim_instruction *b = &evidence->there->all[ret->there];
    struct sim_location by = sim__located(evidence, evidence->failing, evidence->here, ret->here);
    struct sim_location passing_by =
            sim__located(evidence, evidence->passing, evidence->there, ret->there);
    return a->pc == b->pc && a->size == b->size && a->actor_id == b->actor_id &&
           by.caller.line == passing_by.caller.line;
}

/* What the jump was decided on, and differs; then what that was computed from, as far as the same
 * line wrote it. */
static struct pair
find_pair(const struct sim_fate_evidence *evidence, uint32_t fails)
{
    struct pair jump = {fails, like_of(evidence, fails)};
    struct pair found = {UINT32_MAX, UINT32_MAX};
    struct pair writers;
    for (uint32_t conditions = 0; conditions < 2 && jump.there != UINT32_MAX; conditions++) {
        found = found.here == UINT32_MAX ? differing_of(evidence, jump, conditions == 1) : found;
    }
    for (uint32_t depth = 0; depth < DEPTH_MAX && found.here != UINT32_MAX &&
                             has_same_writer(evidence, found, &writers);
            depth++) {
        struct pair before = differing_of(evidence, writers, false);
        if (before.here == UINT32_MAX || adds_up(evidence, writers.here)) {
            break;
        }
        found = before;
    }
    return found;
}

/* ---- Who led to a write of the run that passes. ---------------------------------------------- */

/* The task that is polled in that step, else the actor that takes it. */
static uint32_t
part_in_step(const struct sim_actor_table *actor_table, uint64_t step, uint32_t actor_id)
{
    uint32_t part = sim_actor_table_of_id(actor_table, actor_id);
    for (uint64_t i = sim_actor_table_step_first(actor_table, step);
            i != SIM_EVENT_NONE && i < actor_table->end; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->step != step) {
            break;
        }
        uint32_t polled = event->kind == RT_PROBE_POLL && event->object != 0
                                  ? sim_actor_table_object(actor_table, event->object)
                                  : SIM_PART_NONE;
        part = polled != SIM_PART_NONE ? polled : part;
    }
    return part;
}

/* The last event up to step `step` by which another has made `part` run. */
static uint64_t
waking_event(const struct sim_actor_table *actor_table, uint32_t part, uint64_t step)
{
    for (uint64_t i = actor_table->end; i-- > actor_table->first;) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->step <= step && event->object != 0 &&
                (event->kind == RT_PROBE_WAKE || event->kind == RT_PROBE_POST) &&
                sim_actor_table_object(actor_table, event->object) == part) {
            uint32_t by = sim_actor_table_part_of(actor_table, i);
            return by != part && by != SIM_PART_NONE ? i : SIM_EVENT_NONE;
        }
    }
    return SIM_EVENT_NONE;
}

/* The reader's line of that event, or of the last before it in its step that has one; else where
 * its actor was last. */
static bool
line_of_event(const struct sim_fate_evidence *evidence, uint64_t event, struct sim_location *ret)
{
    const struct sim_actor_table *actor_table = evidence->passing->actor_table;
    uint32_t part = sim_actor_table_part_of(actor_table, event);
    uint64_t step = sim_actor_table_event(actor_table, event)->step;
    uint32_t actor_id = sim_actor_table_id(actor_table, part);
    for (uint64_t i = event + 1;
            i-- > actor_table->first && sim_actor_table_event(actor_table, i)->step == step;) {
        const struct sim_event *one = sim_actor_table_event(actor_table, i);
        sim__location_set(ret, sim_actor_table_place(one->await, one->site), step, part);
        if (sim_actor_table_part_of(actor_table, i) == part && ret->place.line != 0 &&
                sim_place_is_readers(&ret->place) && !sim_place_is_runtime(&ret->place)) {
            return true;
        }
    }
    for (uint32_t i = evidence->there->count; i-- > 0;) {
        if (evidence->there->all[i].actor_id == actor_id && evidence->there->all[i].step <= step) {
            *ret = sim__located(evidence, evidence->passing, evidence->there, i);
            return ret->place.line != 0;
        }
    }
    return false;
}

/* The `nth` call (0: the last) of the actor in that line up to step `until`; *ret_count is how many
 * there are. UINT32_MAX. */
static uint32_t
call_in(const struct sim_fate_evidence *evidence, const struct sim_executed *executed,
        uint32_t actor_id, const struct sim_place *line, uint64_t until, uint32_t nth,
        uint32_t *ret_count)
{
    uint32_t found = UINT32_MAX;
    *ret_count = 0;
    for (uint32_t i = 0; i < executed->count && (nth == 0 || *ret_count < nth); i++) {
        const struct sim_instruction *one = &executed->all[i];
        struct sim_place place;
        if (one->call && one->actor_id == actor_id && one->step <= until &&
                sim__reader_at(evidence, one->pc, &place) && sim__is_same_line(&place, line)) {
            found = i;
            (*ret_count)++;
        }
    }
    return nth == 0 || *ret_count == nth ? found : UINT32_MAX;
}

/* The first instruction after that call in the function that made it; UINT32_MAX: it has not
 * returned. */
static uint32_t
return_of(const struct sim_executed *executed, uint32_t call)
{
    for (uint32_t i = call + 1; i < executed->count; i++) {
        if (executed->all[i].actor_id == executed->all[call].actor_id &&
                executed->all[i].stack >= executed->all[call].stack) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* What that call has returned, if it is as small as counts and errors are: more may be what a
 * smaller one has left of the register. */
static void
result_of(const struct sim_executed *executed, uint32_t back, char ret[SIM_FATE_VALUE_MAX])
{
    int64_t value = sim__number_of(executed->all[back].result, 4);
    ret[0] = '\0';
    if (value > -RESULT_MAX && value < RESULT_MAX) {
        sim__value_as_text(executed->all[back].result, 4, ret);
    }
}

/* The call from which a library called the function of the write there has returned here before
 * `step`. */
static void
find_ended(const struct sim_fate_evidence *evidence, uint32_t write, uint64_t step,
        struct sim_led_write *ret)
{
    uint32_t call = sim_executed_caller(evidence->there, write);
    if (call == UINT32_MAX) {
        return;
    }
    struct sim_branch branch = sim_branch_at(evidence->there, call);
    uint32_t like = sim_branch_index(evidence->here, &branch);
    uint32_t back = like != UINT32_MAX ? return_of(evidence->here, like) : UINT32_MAX;
    if (back != UINT32_MAX && evidence->here->all[back].step < step) {
        ret->ended = sim__located(evidence, evidence->failing, evidence->here, like);
        ret->ended.step = evidence->here->all[back].step;
    }
}

/* The call that has moved the message of which the `read`-th is a piece, and what its actor
 * executes after it. */
static bool
call_of_message(const struct sim_executed *executed, uint32_t read, struct sim_filled_word *ret)
{
    const struct sim_instruction *one = &executed->all[read];
    uint32_t call = read;
    uint32_t back = read;
    while (call != UINT32_MAX && (executed->all[call].moved || executed->all[call].pc != one->pc ||
                                         executed->all[call].actor_id != one->actor_id)) {
        call--;
    }
    while (back < executed->count &&
            (executed->all[back].moved || executed->all[back].actor_id != one->actor_id)) {
        back++;
    }
    *ret = (struct sim_filled_word){.call = call, .back = back};
    return call != UINT32_MAX && back < executed->count;
}

/* The call that has put there what `read` finds, after any other write. False: none has. */
static bool
filled_of(const struct sim_executed *executed, uint32_t read, struct sim_filled_word *ret)
{
    const struct sim_instruction *one = &executed->all[read];
    uint32_t write = read;
    if (one->moved) {
        return call_of_message(executed, read, ret);
    }
    do {
        write--;
    } while (write != UINT32_MAX &&
             !(executed->all[write].writes && sim__overlap(&executed->all[write], one)));
    for (uint32_t i = executed->filled_count; i-- > 0;) {
        const struct sim_filled_word *word = &executed->filled[i];
        if (word->back <= read && (write == UINT32_MAX || word->back > write) &&
                word->address <= one->address && one->address < word->address + sizeof(uint64_t)) {
            *ret = *word;
            return true;
        }
    }
    return false;
}

/* Both were put there by the same call, which returned something else there. */
static void
find_filled(
        const struct sim_fate_evidence *evidence, struct pair read, struct sim_filled_value *ret)
{
    struct sim_filled_word here;
    struct sim_filled_word there;
    if (!filled_of(evidence->here, read.here, &here) ||
            !filled_of(evidence->there, read.there, &there) ||
            evidence->here->all[here.call].pc != evidence->there->all[there.call].pc) {
        return;
    }
    result_of(evidence->here, here.back, ret->result);
    result_of(evidence->there, there.back, ret->passing_result);
    if (ret->result[0] != '\0' && ret->passing_result[0] != '\0' &&
            strcmp(ret->result, ret->passing_result) != 0) {
        ret->by = sim__located(evidence, evidence->failing, evidence->here, here.call);
    }
}

/* The write there, `write`, comes in a step of its actor that another has led to: the call of that
 * one, and its like here. */
static void
find_led(const struct sim_fate_evidence *evidence, uint32_t write, struct sim_led_write *ret)
{
    const struct sim_instruction *one = &evidence->there->all[write];
    const struct sim_actor_table *actor_table = evidence->passing->actor_table;
    uint32_t part = part_in_step(actor_table, one->step, one->actor_id);
    uint64_t event =
            part != SIM_PART_NONE ? waking_event(actor_table, part, one->step) : SIM_EVENT_NONE;
    struct sim_location by;
    uint32_t times = 0;
    uint32_t ignored = 0;
    if (event == SIM_EVENT_NONE || !line_of_event(evidence, event, &by)) {
        return;
    }
    uint32_t actor_id = sim_actor_table_id(actor_table, by.part);
    uint32_t there = call_in(evidence, evidence->there, actor_id, &by.place, by.step, 0, &times);
    uint32_t here = there != UINT32_MAX ? call_in(evidence, evidence->here, actor_id, &by.place,
                                                  UINT64_MAX, times, &ignored)
                                        : UINT32_MAX;
    uint32_t back = here != UINT32_MAX ? return_of(evidence->here, here) : UINT32_MAX;
    uint32_t back_there = here != UINT32_MAX ? return_of(evidence->there, there) : UINT32_MAX;
    if (here == UINT32_MAX) {
        return;
    }
    ret->by = by;
    ret->here = sim__located(evidence, evidence->failing, evidence->here, here);
    find_ended(evidence, write, ret->here.step, ret);
    if (back != UINT32_MAX && back_there != UINT32_MAX) {
        result_of(evidence->here, back, ret->result);
        result_of(evidence->there, back_there, ret->passing_result);
    }
}

/* ---- The interface. -------------------------------------------------------------------------- */

/* Its line, from the end backwards: a jump in it decides; without one, what is passed to the call
 * that fails, or to which it goes on without return. */
uint32_t
sim_values_failing(const struct sim_fate_evidence *evidence, const struct sim_place *place)
{
    const struct sim_executed *here = evidence->here;
    uint32_t last = here->count > 0 ? here->count - 1 : UINT32_MAX;
    struct sim_place found;
    for (uint32_t i = last; i != UINT32_MAX && here->all[i].step == here->all[last].step;
            i = sim__before_of(here, i)) {
        if (here->all[i].stack > here->all[last].stack) {
            break;
        }
        if (here->all[i].stack < here->all[last].stack) {
            continue; /* A function that the condition calls. */
        }
        if (!sim__reader_at(evidence, here->all[i].pc, &found) ||
                !sim__is_same_line(&found, place)) {
            break;
        }
        if (here->all[i].jump) {
            return i;
        }
    }
    bool calls = last != UINT32_MAX && sim__reader_at(evidence, here->all[last].pc, &found) &&
                 sim__is_same_line(&found, place);
    return calls ? last : UINT32_MAX;
}

/* The `index`-th instruction leads back in its function. */
static bool
goes_back(const struct sim_executed *executed, uint32_t index)
{
    const struct sim_instruction *jump = &executed->all[index];
    for (uint32_t i = index + 1; i < executed->count && jump->jump && jump->taken; i++) {
        if (executed->all[i].actor_id == jump->actor_id) {
            return executed->all[i].pc < jump->pc && executed->all[i].stack == jump->stack;
        }
    }
    return false;
}

/* What is walked ends within the loop: it is looked for in the last part of that, all of which its
 * function is in. */
uint32_t
sim_values_looping(const struct sim_fate_evidence *evidence)
{
    const struct sim_executed *here = evidence->here;
    uint32_t found = UINT32_MAX;
    uintptr_t top = 0;
    struct sim_place place;
    for (uint32_t i = here->count; i-- > here->count / 2;) {
        const struct sim_instruction *one = &here->all[i];
        if (one->actor_id != here->all[here->count - 1].actor_id) {
            continue;
        }
        top = one->stack > top ? one->stack : top;
        if (goes_back(here, i) && (found == UINT32_MAX || one->stack > here->all[found].stack) &&
                sim__reader_at(evidence, one->pc, &place) && !sim_place_is_runtime(&place)) {
            found = i;
        }
    }
    return found != UINT32_MAX && here->all[found].stack == top ? found : UINT32_MAX;
}

/* What the call has returned is read before anything else is put there. */
static bool
is_used(const struct sim_executed *executed, uint32_t back)
{
    for (uint32_t i = back, left = 4; i < executed->count && left > 0; i++) {
        struct sim_registers registers;
        if (executed->all[i].actor_id != executed->all[back].actor_id) {
            continue;
        }
        left--;
        bool known = sim_registers_of(executed->all[i].pc, &registers);
        if (!known || ((registers.reads | registers.address | registers.writes) & 1) != 0) {
            return known && ((registers.reads | registers.address) & 1) != 0;
        }
    }
    return false;
}

void
sim_values_find_round(
        const struct sim_fate_evidence *evidence, uint32_t loops, struct sim_failed_value *ret)
{
    const struct sim_executed *here = evidence->here;
    const struct sim_instruction *loop = &here->all[loops];
    uint32_t begin = loops;
    do {
        begin = sim__before_of(here, begin);
    } while (begin != UINT32_MAX && here->all[begin].pc != loop->pc);
    ret->condition = sim__located(evidence, evidence->failing, here, loops);
    ret->round_count = 0;
    for (uint32_t i = begin; i < loops && ret->round_count < SIM_ROUND_CALLS; i++) {
        const struct sim_instruction *one = &here->all[i];
        uint32_t back = one->call && one->actor_id == loop->actor_id && one->stack == loop->stack
                                ? return_of(here, i)
                                : UINT32_MAX;
        if (back != UINT32_MAX) {
            struct sim_round_call *call = &ret->round[ret->round_count++];
            call->at = sim__located(evidence, evidence->failing, here, i);
            call->result[0] = '\0';
            if (is_used(here, back)) {
                result_of(here, back, call->result);
            }
        }
    }
}

void
sim_values_add_skipping(
        const struct sim_fate_evidence *evidence, uint32_t fails, struct sim_branches *branches)
{
    struct slice slice;
    make_slice(evidence, evidence->here, fails, false, &slice);
    for (uint32_t i = 0; i < slice.count; i++) {
        uint32_t writer = is_number(evidence->here, slice.reads[i])
                                  ? sim__writer_of(evidence->here, slice.reads[i])
                                  : UINT32_MAX;
        if (writer != UINT32_MAX) {
            sim_branches_add_leading(evidence->here, evidence->here, writer, branches);
        }
    }
}

static void
describe_read_alone(
        const struct sim_fate_evidence *evidence, uint32_t read, struct sim_deciding_read *ret)
{
    const struct sim_instruction *one = &evidence->here->all[read];
    uint32_t by = sim__writer_of(evidence->here, read);
    ret->at = sim__located(evidence, evidence->failing, evidence->here, read);
    if (by != UINT32_MAX) {
        ret->by = sim__located(evidence, evidence->failing, evidence->here, by);
    }
    sim__name_memory(evidence, one->address, ret->name);
    sim__value_as_text(one->before, one->size, ret->value);
}

/* What it has read that was written here; not compared. */
static void
describe_alone(
        const struct sim_fate_evidence *evidence, uint32_t fails, struct sim_deciding_read *ret)
{
    struct slice slice;
    make_slice(evidence, evidence->here, fails, false, &slice);
    for (uint32_t i = 0; i < slice.count && ret->at.step == 0; i++) {
        if (sim__writer_of(evidence->here, slice.reads[i]) != UINT32_MAX &&
                is_number(evidence->here, slice.reads[i])) {
            describe_read_alone(evidence, slice.reads[i], ret);
        }
    }
}

/* The last number that the condition has read; UINT32_MAX: none. */
static uint32_t
number_read(const struct sim_fate_evidence *evidence, uint32_t condition)
{
    struct slice slice;
    make_slice(evidence, evidence->here, condition, false, &slice);
    for (uint32_t i = 0; i < slice.count; i++) {
        if (is_number(evidence->here, slice.reads[i])) {
            return slice.reads[i];
        }
    }
    return UINT32_MAX;
}

void
sim_values_waiting(
        const struct sim_fate_evidence *evidence, uint32_t part, struct sim_deciding_read *ret)
{
    const struct sim_executed *here = evidence->here;
    uint32_t actor_id = sim_actor_table_id(evidence->failing->actor_table, part);
    uint32_t last = here->count;
    *ret = (struct sim_deciding_read){.later = 0};
    while (last-- > 0 && here->all[last].actor_id != actor_id) {
    }
    if (last == UINT32_MAX || !here->all[last].leaves) {
        return;
    }
    uintptr_t frame = here->all[last].stack;
    uint32_t read = UINT32_MAX;
    for (uint32_t i = last; read == UINT32_MAX && (i = sim__before_of(here, i)) != UINT32_MAX;) {
        const struct sim_instruction *one = &here->all[i];
        if (one->stack > frame) {
            return; /* Its caller. */
        }
        read = one->jump && one->stack == frame ? number_read(evidence, i) : UINT32_MAX;
    }
    if (read != UINT32_MAX) {
        describe_read_alone(evidence, read, ret);
    }
}

void
sim_values_find(
        const struct sim_fate_evidence *evidence, uint32_t fails, struct sim_failed_value *ret)
{
    rt_assert(fails < evidence->here->count);
    ret->read = (struct sim_deciding_read){.later = 0};
    ret->stale = (struct sim_stale_value){.changes = 0};
    ret->led = (struct sim_led_write){.by = {.step = 0}};
    ret->filled = (struct sim_filled_value){.by = {.step = 0}};
    struct stale stale = find_stale(evidence, evidence->here, fails);
    if (evidence->there == NULL) {
        return;
    }
    uint32_t like = like_of(evidence, fails);
    struct stale there = like != UINT32_MAX ? find_stale(evidence, evidence->there, like)
                                            : (struct stale){.read = UINT32_MAX};
    if (stale.read != UINT32_MAX &&
            (there.read == UINT32_MAX ||
                    evidence->there->all[there.use].pc != evidence->here->all[stale.use].pc)) {
        describe_stale(evidence, &stale, &ret->stale);
    }
    struct pair pair = find_pair(evidence, fails);
    if (pair.here == UINT32_MAX) {
        describe_alone(evidence, fails, &ret->read);
        return;
    }
    sim__describe_read(evidence, pair.here, pair.there, &ret->read);
    find_filled(evidence, pair, &ret->filled);
    if (ret->filled.by.step != 0) {
        ret->read.by = ret->read.passing_by = (struct sim_location){.step = 0};
        ret->read.compared = strcmp(ret->read.value, ret->read.passing_value) != 0;
    }
    uint32_t write = sim__writer_of(evidence->there, pair.there);
    if (write != UINT32_MAX && ret->read.later == 0 && ret->read.passing_by.step != 0) {
        find_led(evidence, write, &ret->led);
    }
}
