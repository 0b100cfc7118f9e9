/*
 * guard.c -- the conditions of one step, and what they are decided on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/guard.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/explain/cause/reads.h"
#include "sim/explain/cause/unusual.h"

/* Functions, each of which returns what the next one has returned. */
#define RETURNS_MAX 3u

/* Conditions of a loop in the steps before that are tried. */
#define LAST_MAX 16u

/* ---- The conditions of the step. ------------------------------------------------------------- */

/* The last instruction of the actor up to the end of the step; of those of the step that are in the
 * line of `from`, where that has one, the last. UINT32_MAX: it executes nothing of the reader's. */
static uint32_t
find_pivot(const struct sim_fate_evidence *evidence, uint32_t actor_id,
        const struct sim_location *from)
{
    const struct sim_executed *here = evidence->here;
    uint32_t last = UINT32_MAX;
    uint32_t pivot = UINT32_MAX;
    struct sim_place place;
    for (uint32_t i = 0; i < here->count && here->all[i].step <= from->step; i++) {
        if (here->all[i].actor_id == actor_id) {
            bool is = from->place.line != 0 && here->all[i].step == from->step &&
                      sim__reader_at(evidence, here->all[i].pc, &place) &&
                      sim__is_same_line(&place, &from->place);
            pivot = is ? i : pivot;
            last = i;
        }
    }
    return pivot != UINT32_MAX ? pivot : last;
}

static uint32_t find_operand(
        const struct sim_fate_evidence *evidence, uint32_t jump, uint32_t depth);

/* Whether what `read` is about is not written in any step, and always read as that. */
static bool
is_same_in(const struct sim_executed *executed, const struct sim_instruction *read)
{
    for (uint32_t i = 0; executed != NULL && i < executed->count; i++) {
        const struct sim_instruction *one = &executed->all[i];
        if (one->address != 0 && one->step != 0 && sim__overlap(one, read) &&
                (one->writes || one->size != read->size || one->before != read->before)) {
            return false;
        }
    }
    return true;
}

bool
sim_guard_is_settled(const struct sim_fate_evidence *evidence, uint32_t jump)
{
    uint32_t read = find_operand(evidence, jump, 0);
    return read != UINT32_MAX && is_same_in(evidence->here, &evidence->here->all[read]) &&
           is_same_in(evidence->there, &evidence->here->all[read]);
}

static void
add_jump(const struct sim_fate_evidence *evidence, uint32_t actor_id, uint32_t index,
        struct sim_branches *branches)
{
    const struct sim_instruction *one = &evidence->here->all[index];
    struct sim_place place;
    if (one->jump && one->actor_id == actor_id && branches->count < SIM_BRANCHES_MAX &&
            sim__reader_at(evidence, one->pc, &place) && !sim_place_is_runtime(&place) &&
            !sim_guard_is_settled(evidence, index)) {
        branches->all[branches->count++] = sim_branch_at(evidence->here, index);
    }
}

/* A task is polled in that step: what it does begins there. */
static bool
is_poll(const struct sim_actor_table *actor_table, uint64_t step)
{
    bool polls = false;
    for (uint64_t i = sim_actor_table_step_first(actor_table, step);
            i != SIM_EVENT_NONE && i < actor_table->end &&
            sim_actor_table_event(actor_table, i)->step == step;
            i++) {
        polls = polls || sim_actor_table_event(actor_table, i)->kind == RT_PROBE_POLL;
    }
    return polls;
}

/* The name without classes and namespaces, which an event has and an address has not. */
static const char *
own_name(const char *function)
{
    const char *name = function;
    for (const char *at = strstr(name, "::"); at != NULL; at = strstr(name, "::")) {
        name = at + 2;
    }
    return name;
}

/* Whether the instruction is of the function of `line`. */
static bool
is_in_function(
        const struct sim_fate_evidence *evidence, uint32_t index, const struct sim_place *line)
{
    struct sim_place place;
    return sim__reader_at(evidence, evidence->here->all[index].pc, &place) &&
           strcmp(own_name(place.function), own_name(line->function)) == 0;
}

/* Behind each that is of the function that owes a wake: it may owe another one later. */
static void
add_onward(const struct sim_fate_evidence *evidence, const struct sim_location *from,
        struct sim_branches *branches)
{
    struct sim_branches all = *branches;
    branches->count = 0;
    for (uint32_t i = 0; i < all.count && branches->count < SIM_BRANCHES_MAX; i++) {
        uint32_t index = sim_branch_index(evidence->here, &all.all[i]);
        branches->all[branches->count++] = all.all[i];
        if (branches->count < SIM_BRANCHES_MAX && all.all[i].step == from->step &&
                is_in_function(evidence, index, &from->place)) {
            branches->all[branches->count] = all.all[i];
            branches->all[branches->count++].onward = true;
        }
    }
}

/* Those of the step after the pivot, then those before it, the nearest first, as far as they are
 * asked. A loop may have given way before that step: then its last ones in the steps before count
 * too. */
static void
add_jumps(const struct sim_fate_evidence *evidence, uint32_t actor_id,
        const struct sim_location *from, enum sim_guard_scope scope, uint32_t pivot,
        struct sim_branches *branches)
{
    const struct sim_executed *here = evidence->here;
    bool goes_on = scope == SIM_GUARD_STEP && !is_poll(evidence->failing->actor_table, from->step);
    for (uint32_t i = pivot + 1; i < here->count && here->all[i].step <= from->step; i++) {
        add_jump(evidence, actor_id, i, branches);
    }
    for (uint32_t i = pivot + 1;
            scope != SIM_GUARD_AFTER && i-- > 0 &&
            (here->all[i].step >= from->step || (goes_on && branches->count < LAST_MAX));) {
        if (scope == SIM_GUARD_STEP || is_in_function(evidence, i, &from->place)) {
            add_jump(evidence, actor_id, i, branches);
        }
    }
    add_onward(evidence, from, branches);
}

/* ---- What it is decided on. ------------------------------------------------------------------ */

/* Computed in this step by the same actor: it is not what the step found. */
static bool
is_own(const struct sim_executed *here, uint32_t read, uint32_t writer)
{
    return writer != UINT32_MAX && here->all[writer].step == here->all[read].step &&
           here->all[writer].actor_id == here->all[read].actor_id;
}

/* Whether instruction `index` reads a number that this step found. */
static bool
is_operand(const struct sim_executed *here, uint32_t index)
{
    const struct sim_instruction *read = &here->all[index];
    char value[SIM_FATE_VALUE_MAX] = "";
    if (read->reads && !is_own(here, index, sim__writer_of(here, index))) {
        sim__value_as_text(read->before, read->size, value);
    }
    return value[0] != '\0';
}

/* Whether it reads what another actor wrote, though it be no number: an instant, or a pointer. */
static bool
is_of_another(const struct sim_executed *here, uint32_t index)
{
    uint32_t writer = here->all[index].reads ? sim__writer_of(here, index) : UINT32_MAX;
    return writer != UINT32_MAX && here->all[writer].actor_id != here->all[index].actor_id;
}

static bool
is_in_line(const struct sim_fate_evidence *evidence, uint32_t index, const struct sim_place *line)
{
    struct sim_place place;
    return sim__reader_at(evidence, evidence->here->all[index].pc, &place) &&
           sim__is_same_line(&place, line);
}

/* The instruction before, of the same step and of that line; UINT32_MAX: there is none. */
static uint32_t
before_in_line(
        const struct sim_fate_evidence *evidence, uint32_t index, const struct sim_place *line)
{
    const struct sim_executed *here = evidence->here;
    uint32_t before = sim__before_of(here, index);
    bool is = before != UINT32_MAX && here->all[before].step == here->all[index].step &&
              is_in_line(evidence, before, line);
    return is ? before : UINT32_MAX;
}

/* Whether it is of another function than that of `line`. */
static bool
is_elsewhere(const struct sim_fate_evidence *evidence, uint32_t index, const struct sim_place *line)
{
    struct sim_place place;
    return index != UINT32_MAX && sim__reader_at(evidence, evidence->here->all[index].pc, &place) &&
           strcmp(place.function, line->function) != 0;
}

/* Whether `index` reads what a function has returned, and was put aside as it returned. */
static bool
is_returned(const struct sim_fate_evidence *evidence, uint32_t index, const struct sim_place *line)
{
    uint32_t writer = sim__writer_of(evidence->here, index);
    return writer != UINT32_MAX && !evidence->here->all[writer].reads &&
           is_elsewhere(evidence, sim__before_of(evidence->here, writer), line);
}

/* The same of what a function has returned to `line`, whose last instruction is the `last`-th: what
 * it has decided last, or where it decides nothing, what it has read last. */
static uint32_t
find_in_callee(const struct sim_fate_evidence *evidence, uint32_t last,
        const struct sim_place *line, uint32_t depth)
{
    const struct sim_executed *here = evidence->here;
    uint32_t read = UINT32_MAX;
    for (uint32_t i = last; i != UINT32_MAX && here->all[i].step == here->all[last].step &&
                            !is_in_line(evidence, i, line);
            i = sim__before_of(here, i)) {
        if (here->all[i].jump) {
            return depth < RETURNS_MAX ? find_operand(evidence, i, depth + 1) : UINT32_MAX;
        }
        read = read == UINT32_MAX && is_operand(here, i) ? i : read;
    }
    return read;
}

/* Whether `index` reads a number of the program's that this step has written in another line. */
static bool
is_state(const struct sim_fate_evidence *evidence, uint32_t index, const struct sim_place *line)
{
    const struct sim_instruction *read = &evidence->here->all[index];
    uint32_t writer = sim__writer_of(evidence->here, index);
    char value[SIM_FATE_VALUE_MAX] = "";
    if (read->reads && is_own(evidence->here, index, writer) && !sim__is_on_stack(read) &&
            !is_in_line(evidence, writer, line)) {
        sim__value_as_text(read->before, read->size, value);
    }
    return value[0] != '\0';
}

/* What the jump is decided on: the nearest such number that is read in its line, or in what
 * returned to it, where nothing else is read there. UINT32_MAX: not known. */
static uint32_t
find_operand(const struct sim_fate_evidence *evidence, uint32_t jump, uint32_t depth)
{
    const struct sim_executed *here = evidence->here;
    struct sim_place line;
    uint32_t i = sim__before_of(here, jump);
    bool known = sim__reader_at(evidence, here->all[jump].pc, &line);
    bool reads = false;
    uint32_t state = UINT32_MAX;
    uint32_t large = UINT32_MAX;
    while (known && i != UINT32_MAX && here->all[i].step == here->all[jump].step &&
            !here->all[i].call && !here->all[i].jump && is_in_line(evidence, i, &line)) {
        if (is_operand(here, i)) {
            return i;
        }
        large = large == UINT32_MAX && is_of_another(here, i) ? i : large;
        reads = reads || (here->all[i].reads && !is_returned(evidence, i, &line));
        bool is = state == UINT32_MAX && !is_returned(evidence, i, &line) &&
                  is_state(evidence, i, &line);
        state = is ? i : state;
        i = sim__before_of(here, i);
    }
    bool returned = known && !reads && is_elsewhere(evidence, i, &line);
    return returned ? find_in_callee(evidence, i, &line, depth)
                    : (state != UINT32_MAX ? state : large);
}

/* The first write after `read` that changes what it has read, and is not of the line that does so
 * for its condition; UINT32_MAX: none does. */
static uint32_t
next_writer(const struct sim_fate_evidence *evidence, uint32_t read, uint32_t jump)
{
    const struct sim_executed *here = evidence->here;
    struct sim_place line = {.line = 0};
    bool known = sim__reader_at(evidence, here->all[jump].pc, &line);
    for (uint32_t i = read + 1; i < here->count; i++) {
        const struct sim_instruction *write = &here->all[i];
        bool own = known && i < jump && write->actor_id == here->all[jump].actor_id &&
                   is_in_line(evidence, i, &line);
        if (write->writes && write->before != write->after && !own &&
                sim__overlap(write, &here->all[read])) {
            return i;
        }
    }
    return UINT32_MAX;
}

uint32_t
sim_guard_describe(const struct sim_fate_evidence *evidence, uint32_t jump, struct sim_guard *ret)
{
    const struct sim_executed *here = evidence->here;
    const struct sim_ledger *ledger = evidence->failing;
    uint32_t read = find_operand(evidence, jump, 0);
    ret->condition = sim__located(evidence, ledger, here, jump);
    if (read == UINT32_MAX) {
        return UINT32_MAX;
    }
    uint32_t by = sim__writer_of(here, read);
    uint32_t after = next_writer(evidence, read, jump);
    ret->read.at = sim__located(evidence, ledger, here, read);
    sim__value_as_text(here->all[read].before, here->all[read].size, ret->read.value);
    sim__name_memory(evidence, here->all[read].address, ret->read.name);
    sim__find_outdated(evidence, by, &ret->read);
    if (by != UINT32_MAX) {
        uint32_t set = sim__writer_of(here, by);
        ret->read.by = sim__located(evidence, ledger, here, by);
        if (set != UINT32_MAX && here->all[set].before == here->all[by].after &&
                here->all[set].after != here->all[by].after &&
                here->all[set].actor_id != here->all[read].actor_id) {
            ret->set = sim__located(evidence, ledger, here, set);
        }
    }
    if (after != UINT32_MAX) {
        ret->read.after = sim__located(evidence, ledger, here, after);
    }
    return by;
}

/* Whether what `write` writes is taken over from what `read` reads. */
static bool
is_taken_over(const struct sim_fate_evidence *evidence, uint32_t write, uint32_t read)
{
    const struct sim_executed *here = evidence->here;
    struct sim_place line;
    bool known = sim__reader_at(evidence, here->all[write].pc, &line);
    uint32_t i = known ? before_in_line(evidence, write, &line) : UINT32_MAX;
    for (; i != UINT32_MAX; i = before_in_line(evidence, i, &line)) {
        if (here->all[i].reads && sim__overlap(&here->all[i], &here->all[read])) {
            return here->all[i].before == here->all[write].after;
        }
    }
    return false;
}

/* What the jump compares it with, where its actor has written that itself in that step, as a copy
 * of it; UINT32_MAX. */
static uint32_t
find_copy(const struct sim_fate_evidence *evidence, uint32_t jump, uint32_t read)
{
    const struct sim_executed *here = evidence->here;
    struct sim_place line;
    bool known = sim__reader_at(evidence, here->all[jump].pc, &line);
    uint32_t i = known ? before_in_line(evidence, jump, &line) : UINT32_MAX;
    for (; i != UINT32_MAX; i = before_in_line(evidence, i, &line)) {
        uint32_t writer = here->all[i].reads ? sim__writer_of(here, i) : UINT32_MAX;
        if (is_own(here, i, writer) && !is_in_line(evidence, writer, &line) &&
                is_taken_over(evidence, writer, read)) {
            return writer;
        }
    }
    return UINT32_MAX;
}

bool
sim_guard_find_marked(const struct sim_fate_evidence *evidence, const struct sim_location *from,
        struct sim_guard *ret)
{
    const struct sim_executed *here = evidence->here;
    struct sim_branches branches = {.count = 0};
    uint32_t copies[SIM_BRANCHES_MAX];
    uint32_t actor_id = sim_actor_table_id(evidence->failing->actor_table, from->part);
    for (uint32_t i = here->count; i-- > 0 && branches.count < SIM_BRANCHES_MAX;) {
        bool is = here->all[i].step == from->step && here->all[i].jump &&
                  here->all[i].actor_id == actor_id;
        uint32_t read = is ? find_operand(evidence, i, 0) : UINT32_MAX;
        uint32_t by = read != UINT32_MAX ? sim__writer_of(here, read) : UINT32_MAX;
        uint32_t copy = by != UINT32_MAX && here->all[by].actor_id != actor_id
                                ? find_copy(evidence, i, read)
                                : UINT32_MAX;
        if (copy != UINT32_MAX) {
            copies[branches.count] = copy;
            branches.all[branches.count++] = sim_branch_at(here, i);
        }
    }
    (void)sim_guard_try(evidence, &branches, ret);
    for (uint32_t i = 0; i < branches.count && ret->condition.step != 0; i++) {
        uint32_t jump = sim_branch_index(here, &branches.all[i]);
        const struct sim_location at = sim__located(evidence, evidence->failing, here, jump);
        if (sim__is_same_line(&at.place, &ret->condition.place)) {
            ret->copied = sim__located(evidence, evidence->failing, here, copies[i]);
        }
    }
    return ret->copied.step != 0;
}

uint32_t
sim_guard_try(const struct sim_fate_evidence *evidence, const struct sim_branches *branches,
        struct sim_guard *ret)
{
    struct sim_switched switched;
    uint32_t by = UINT32_MAX;
    *ret = (struct sim_guard){.condition = {.step = 0}};
    sim_branches_find(evidence->runs, evidence->places, evidence->code, branches, &switched);
    uint32_t jump =
            switched.found ? sim_branch_index(evidence->here, &switched.branch) : UINT32_MAX;
    if (jump != UINT32_MAX) {
        by = sim_guard_describe(evidence, jump, ret);
        ret->onward = switched.branch.onward;
    }
    return by;
}

static void
find(const struct sim_fate_evidence *evidence, const struct sim_location *from,
        enum sim_guard_scope scope, bool own, struct sim_guard *ret)
{
    rt_assert(evidence->here != NULL && from->step != 0);
    struct sim_branches branches = {.may_end = own};
    uint32_t actor_id = sim__stepper(evidence->here, from->step);
    actor_id = actor_id != 0 ? actor_id
                             : sim_actor_table_id(evidence->failing->actor_table, from->part);
    uint32_t pivot = find_pivot(evidence, actor_id, from);
    if (actor_id != 0 && pivot != UINT32_MAX) {
        add_jumps(evidence, actor_id, from, scope, pivot, &branches);
    }
    if (!own) { /* By its own condition it waits in each run. */
        sim_unusual_keep(evidence->unusual, &branches);
    }
    (void)sim_guard_try(evidence, &branches, ret);
}

void
sim_guard_find(const struct sim_fate_evidence *evidence, const struct sim_location *from,
        enum sim_guard_scope scope, struct sim_guard *ret)
{
    find(evidence, from, scope, false, ret);
}

void
sim_guard_find_own(const struct sim_fate_evidence *evidence, const struct sim_location *from,
        struct sim_guard *ret)
{
    find(evidence, from, SIM_GUARD_STEP, true, ret);
    if (ret->read.by.step == 0 || ret->read.by.part == ret->read.at.part) {
        *ret = (struct sim_guard){.condition = {.step = 0}};
    }
}

void
sim_guard_find_resuming(const struct sim_fate_evidence *evidence, const struct sim_location *from,
        struct sim_guard *ret)
{
    struct sim_branches branches = {.resumes = true};
    uint32_t actor_id = sim_actor_table_id(evidence->failing->actor_table, from->part);
    for (uint32_t i = evidence->here->count; i-- > 0 && actor_id != 0;) {
        add_jump(evidence, actor_id, i, &branches);
    }
    (void)sim_guard_try(evidence, &branches, ret);
}
