/*
 * reads.c -- what an instruction of the reader's reads, and which one wrote it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/code/variables.h"
#include "sim/core/record/site.h"
#include "sim/explain/cause/priv.h"
#include "sim/explain/cause/reads.h"

/* An event in place of an instruction: its pc is this and the number of its line. */
#define EVENT_PC ((uintptr_t)1 << 62)

uint32_t
sim__part_like(const struct sim_actor_table *actor_table, const struct sim_actor_table *other,
        uint32_t part)
{
    for (uint32_t i = 1; i < actor_table->count; i++) {
        if (sim__same_name(actor_table, i, other, part)) {
            return i;
        }
    }
    return SIM_PART_NONE;
}

/* What lies so near to the pointer to the stack are a function's own variables. */
#define STACK_NEAR 65536u
#define STACK_BELOW 256u

bool
sim__reader_at(const struct sim_fate_evidence *evidence, uintptr_t pc, struct sim_place *ret)
{
    struct sim_place places[SIM_INLINED_MAX];
    struct sim_location location;
    if ((pc & EVENT_PC) != 0) {
        sim__location_set(&location, sim_site_find((uint32_t)pc), 0, SIM_PART_NONE);
        *ret = location.place;
        return sim_place_is_readers(ret);
    }
    uint32_t count = sim_places_at(evidence->places, pc, false, places, SIM_INLINED_MAX);
    for (uint32_t i = 0; i < count; i++) {
        if (sim_place_is_readers(&places[i])) {
            *ret = places[i];
            return true;
        }
    }
    return false;
}

bool
sim__is_same_line(const struct sim_place *a, const struct sim_place *b)
{
    return a->line == b->line && strcmp(sim_place_file(a), sim_place_file(b)) == 0;
}

int64_t
sim__number_of(uint64_t value, uint8_t size)
{
    rt_assert(size >= 1 && size <= 8);
    uint32_t shift = 64 - 8 * (uint32_t)size;
    return (int64_t)(value << shift) >> shift;
}

uint32_t
sim__before_of(const struct sim_executed *executed, uint32_t index)
{
    uint32_t actor_id = executed->all[index].actor_id;
    while (index-- > 0) {
        if (executed->all[index].actor_id == actor_id) {
            return index;
        }
    }
    return UINT32_MAX;
}

/* The reader's line from where the function at the instruction was called, whose line is `place`;
 * line 0: not known. */
static struct sim_place
caller_of(const struct sim_fate_evidence *evidence, const struct sim_executed *executed,
        uint32_t index, const struct sim_place *place)
{
    struct sim_place places[SIM_INLINED_MAX];
    for (uint32_t at = index; at != UINT32_MAX; at = sim_executed_caller(executed, at)) {
        uint32_t count = sim_places_at(
                evidence->places, executed->all[at].pc, false, places, SIM_INLINED_MAX);
        for (uint32_t i = 0; i < count; i++) {
            if (sim_place_is_readers(&places[i]) && !sim__is_same_line(&places[i], place)) {
                return places[i];
            }
        }
    }
    return (struct sim_place){.line = 0};
}

/* Of a long run the beginning is not on record: then by its name in the other one. */
static uint32_t
part_of(const struct sim_fate_evidence *evidence, const struct sim_actor_table *actor_table,
        uint32_t actor_id)
{
    uint32_t part = sim_actor_table_of_id(actor_table, actor_id);
    const struct sim_actor_table *passing =
            evidence->passing != NULL ? evidence->passing->actor_table : NULL;
    if (part == SIM_PART_NONE && passing != NULL && passing != actor_table) {
        uint32_t there = sim_actor_table_of_id(passing, actor_id);
        part = there != SIM_PART_NONE ? sim__part_like(actor_table, passing, there) : part;
    }
    return part;
}

struct sim_location
sim__located(const struct sim_fate_evidence *evidence, const struct sim_ledger *ledger,
        const struct sim_executed *executed, uint32_t index)
{
    const struct sim_instruction *instruction = &executed->all[index];
    struct sim_location location = {.step = instruction->step,
            .part = part_of(evidence, ledger->actor_table, instruction->actor_id)};
    while (index != UINT32_MAX &&
            !sim__reader_at(evidence, executed->all[index].pc, &location.place)) {
        index = sim__before_of(executed, index);
    }
    if (index == UINT32_MAX) {
        location.place = (struct sim_place){.line = 0};
    } else if (executed->all[index].stack != 0) {
        location.caller = caller_of(evidence, executed, index, &location.place);
    }
    return location;
}

uint32_t
sim__stepper(const struct sim_executed *executed, uint64_t step)
{
    for (uint32_t i = 0; i < executed->count; i++) {
        if (executed->all[i].step == step) {
            return executed->all[i].actor_id;
        }
    }
    return 0;
}

bool
sim__overlap(const struct sim_instruction *a, const struct sim_instruction *b)
{
    return a->address < b->address + b->size && b->address < a->address + a->size;
}

/* What `write` has left is what `read` finds, as far as it covers that. */
static bool
is_found(const struct sim_instruction *write, const struct sim_instruction *read)
{
    if (write->address > read->address ||
            write->address + write->size < read->address + read->size) {
        return true;
    }
    uint64_t left = write->after >> (8 * (read->address - write->address));
    return sim__number_of(left, read->size) == sim__number_of(read->before, read->size);
}

bool
sim__is_on_stack(const struct sim_instruction *one)
{
    return one->address + STACK_BELOW >= one->stack && one->address < one->stack + STACK_NEAR;
}

uint32_t
sim__writer_of(const struct sim_executed *executed, uint32_t before)
{
    const struct sim_instruction *read = &executed->all[before];
    for (uint32_t i = before; i-- > 0;) {
        const struct sim_instruction *write = &executed->all[i];
        if (write->writes && sim__overlap(write, read)) {
            return is_found(write, read) ? i : UINT32_MAX;
        }
    }
    return UINT32_MAX;
}

/* What that write has copied: the last read before it in its line of the same value. */
static uint32_t
original_of(const struct sim_fate_evidence *evidence, uint32_t by)
{
    const struct sim_executed *here = evidence->here;
    const struct sim_instruction *write = &here->all[by];
    struct sim_place line;
    struct sim_place place;
    if (!sim__reader_at(evidence, write->pc, &line)) {
        return UINT32_MAX;
    }
    for (uint32_t i = sim__before_of(here, by);
            i != UINT32_MAX && here->all[i].step == write->step &&
            sim__reader_at(evidence, here->all[i].pc, &place) && sim__is_same_line(&place, &line);
            i = sim__before_of(here, i)) {
        const struct sim_instruction *read = &here->all[i];
        if (read->reads && !read->writes && !sim__is_on_stack(read) && read->size == write->size &&
                read->before == write->after) {
            return i;
        }
    }
    return UINT32_MAX;
}

void
sim__find_outdated(
        const struct sim_fate_evidence *evidence, uint32_t by, struct sim_deciding_read *ret)
{
    const struct sim_executed *here = evidence->here;
    uint32_t original = by != UINT32_MAX ? original_of(evidence, by) : UINT32_MAX;
    for (uint32_t i = by + 1; original != UINT32_MAX && i < here->count; i++) {
        const struct sim_instruction *one = &here->all[i];
        if (one->writes && one->before != one->after && one->step != here->all[by].step &&
                sim__overlap(one, &here->all[original])) {
            ret->outdated = sim__located(evidence, evidence->failing, here, i);
            return;
        }
    }
}

void
sim__name_object(
        const struct sim_actor_table *actor_table, uint32_t object, char ret[SIM_FATE_NAME_MAX])
{
    struct sim_page page;
    ret[0] = '\0';
    if (sim_actor_table_has_name(actor_table, object)) {
        sim_page_init(&page, false);
        sim_actor_table_put_object(actor_table, &page, object, SIM_PART_NONE);
        (void)snprintf(ret, SIM_FATE_NAME_MAX, "%.*s", (int)page.length, page.bytes);
        sim_page_fini(&page);
    }
}

void
sim__name_memory(
        const struct sim_fate_evidence *evidence, uintptr_t address, char ret[SIM_FATE_NAME_MAX])
{
    if ((address & EVENT_PC) != 0) {
        sim__name_object(evidence->failing->actor_table, (uint32_t)(address >> 3), ret);
    } else if (!sim_variable_name((const void *)address, ret, SIM_FATE_NAME_MAX)) {
        ret[0] = '\0';
    }
}

void
sim__value_as_text(uint64_t value, uint8_t size, char ret[SIM_FATE_VALUE_MAX])
{
    int64_t number = sim__number_of(value, size);
    bool pointer = size == 8 && number > INT64_C(0xffffffff);
    ret[0] = '\0';
    if (!pointer) {
        (void)snprintf(ret, SIM_FATE_VALUE_MAX, "%lld", (long long)number);
    }
}

/* ---- Atomic operations, which are events. ---------------------------------------------------- */

static void
add_event(struct sim_executed *executed, const struct sim_actor_table *actor_table, uint64_t index)
{
    const struct sim_event *event = sim_actor_table_event(actor_table, index);
    uint32_t site = event->await != 0 ? event->await : event->site;
    uint32_t part = sim_actor_table_part_of(actor_table, index);
    if (executed->count < SIM_EXECUTED_MAX && site != 0 && part != SIM_PART_NONE) {
        executed->all[executed->count++] = (struct sim_instruction){
                .pc = EVENT_PC | site,
                .address = EVENT_PC | ((uintptr_t)event->object << 3),
                .before = event->argument,
                .after = event->argument,
                .step = event->step,
                .actor_id = sim_actor_table_id(actor_table, part),
                .events = (uint32_t)index,
                .size = 8,
                .reads = event->kind == SIM_EVENT_GET,
                .writes = event->kind == SIM_EVENT_SET,
        };
    }
}

/* Instructions have moved: `to` says where each of them is. */
static void
move_filled(struct sim_executed *executed, const uint32_t *to, uint32_t count)
{
    for (uint32_t i = 0; i < executed->filled_count; i++) {
        struct sim_filled_word *word = &executed->filled[i];
        word->call = to[word->call];
        word->back = word->back < count ? to[word->back] : executed->count;
    }
}

/* What is called for an atomic operation stands at the beginning of its step. */
void
sim_fate_add_atomics(struct sim_executed *executed, const struct sim_actor_table *actor_table)
{
    struct sim_executed *merged = sim_results_new(sizeof(*merged));
    uint32_t *to = sim_heap_new(executed->count + 1u, sizeof(*to));
    uint32_t count = executed->count;
    uint64_t next = actor_table->first;
    for (uint32_t i = 0; merged != NULL && i < executed->count; i++) {
        const struct sim_instruction *instruction = &executed->all[i];
        for (; next < actor_table->end; next++) {
            const struct sim_event *event = sim_actor_table_event(actor_table, next);
            if (event->step > instruction->step) {
                break;
            }
            if (event->kind == SIM_EVENT_GET || event->kind == SIM_EVENT_SET) {
                add_event(merged, actor_table, next);
            }
        }
        to[i] = merged->count;
        if (merged->count < SIM_EXECUTED_MAX) {
            merged->all[merged->count++] = *instruction;
        }
    }
    if (merged != NULL) {
        executed->count = merged->count;
        memcpy(executed->all, merged->all, merged->count * sizeof(merged->all[0]));
        move_filled(executed, to, count);
        sim_results_free(&merged);
    }
    free(to);
}
