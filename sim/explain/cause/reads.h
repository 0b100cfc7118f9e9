/*
 * reads.h -- what an instruction of the reader's reads, which one wrote it, and in which line.
 *
 * Indices are those of `executed->all`; UINT32_MAX stands for none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/cause/fate.h"

/* The part of `actor_table` that has the name of `part` of `other`; SIM_PART_NONE. */
uint32_t sim__part_like(const struct sim_actor_table *actor_table,
        const struct sim_actor_table *other, uint32_t part);

/* The reader's line of `pc`, through what was inlined from elsewhere. False: it is in none. */
bool sim__reader_at(const struct sim_fate_evidence *evidence, uintptr_t pc, struct sim_place *ret);

/* fate.c: where a thread waits, since which step: the reader's line, of its stack where that is not
 * the wait's own. */
void sim__find_sleeps(const struct sim_fate_evidence *evidence, const struct sim_wait *wait,
        struct sim_location *ret);

/* fate.c: another was woken in its place; it waits there again, or continues from its wait. */
void sim__fate_note_taken(const struct sim_fate_evidence *evidence, const struct sim_wait *taken,
        struct sim_fate *fate);

/* … whether a wake right after the wait began would not have left it waiting. */
bool sim__fate_would_help(const struct sim_fate_evidence *evidence, const struct sim_wait *wait);

/* unusual.c: the line of the same function to which the actor of a jump goes, from the line `from`,
 * and which does more than to end a block; 0: it leaves the function, or that is not known. */
uint32_t sim__goes_to(
        const struct sim_fate_evidence *evidence, uint32_t jump, const struct sim_place *from);

bool sim__is_same_line(const struct sim_place *a, const struct sim_place *b);

/* The instruction of the same actor before that one. */
uint32_t sim__before_of(const struct sim_executed *executed, uint32_t index);

/* The reader's line of that instruction; of one that is in none that of the last one before it. */
struct sim_location sim__located(const struct sim_fate_evidence *evidence,
        const struct sim_ledger *ledger, const struct sim_executed *executed, uint32_t index);

/* The stable id of the actor that takes the step: of a loop, where that runs tasks of its own; 0:
 * nothing of the reader's is executed in it. */
uint32_t sim__stepper(const struct sim_executed *executed, uint64_t step);

/* Whether both are about the same memory, in part at least. */
bool sim__overlap(const struct sim_instruction *a, const struct sim_instruction *b);

/* Whether it is about a variable of a function. */
bool sim__is_on_stack(const struct sim_instruction *one);

/* The last write before the `before`-th to what that one reads; none where a library has changed it
 * since. */
uint32_t sim__writer_of(const struct sim_executed *executed, uint32_t before);

/* What the `here`-th instruction reads, and the `there`-th of the other run, which is like it. */
void sim__describe_read(const struct sim_fate_evidence *evidence, uint32_t here, uint32_t there,
        struct sim_deciding_read *ret);

/* Where `by`, a write, has copied what it writes: what changes the original after that. */
void sim__find_outdated(
        const struct sim_fate_evidence *evidence, uint32_t by, struct sim_deciding_read *ret);

/* "": it has none. */
void sim__name_object(
        const struct sim_actor_table *actor_table, uint32_t object, char ret[SIM_FATE_NAME_MAX]);

/* Memory by the name of its variable; what stands for an object of an event by that of the object.
 */
void sim__name_memory(
        const struct sim_fate_evidence *evidence, uintptr_t address, char ret[SIM_FATE_NAME_MAX]);

/* What these bytes are, taken as a signed number; `size` is 1 to 8. */
int64_t sim__number_of(uint64_t value, uint8_t size);

/* As the program would write it: small negative numbers as such; "": a pointer has no number. */
void sim__value_as_text(uint64_t value, uint8_t size, char ret[SIM_FATE_VALUE_MAX]);
