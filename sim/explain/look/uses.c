/*
 * uses.c -- where what was read goes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/uses.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"

#define REGISTERS 64u
#define CHECKERS 4u
#define ACTORS 256u
#define PLACES_LEAST 1024u
#define DECODED_SIZE 4096u
#define REGISTERS_MOVED UINT64_C(0xc4) /* What memcpy is given. */

/* The reads that a value was made of, the latest ones. IMPLIED is set of those by which only the
 * condition was decided that it was come to by; FAR of those that came by memory which another
 * function had written, or another actor. */
#define IMPLIED (UINT32_C(1) << 31)
#define FAR (UINT32_C(1) << 30)
#define READ(origin) ((origin) & ~(IMPLIED | FAR))
#define FILLERS 4u
#define NUMBER_MAX (UINT64_C(1) << 20) /* What is more may be a pointer. */
struct origins {
    uint32_t reads[SIM_OUTDATED_MAX];
};

/* An instruction that has written a place, by its last write and the one before that. */
struct filler {
    uint32_t last;
    uint32_t before;
};

struct place {
    uintptr_t address; /* 0: free. */
    uint32_t writer;
    struct filler fillers[FILLERS]; /* The last ones. */
    uint32_t reader;                /* Who read it last, … */
    uint32_t taken; /* … and wrote it afterwards in the same function: what was there is its. */
    uint32_t checked[CHECKERS]; /* The last read of some actors that decided a condition. */
    struct origins origins;
};

struct actor {
    uint32_t owner; /* Its id and one; 0: none yet. */
    struct origins registers[REGISTERS];
    struct origins pieces;    /* What those before the next instruction were made of, all … */
    struct origins last;      /* … and the last one. */
    struct origins condition; /* Of its last one, … */
    struct origins before;    /* … of the one before that in the same call: a loop has two … */
    uintptr_t stack;          /* … and where that was. */
    uint64_t step;
};

struct decoded {
    uintptr_t pc; /* 0: free. */
    struct sim_registers registers;
};

struct sim_uses {
    const struct sim_code *code;
    const struct sim_executed *executed;
    struct place *places; /* A hash table, never full: two for each instruction at most. */
    uint32_t places_size; /* A power of two. */
    uint32_t *sources;    /* Of a read: what wrote that. */
    struct actor actors[ACTORS];
    struct decoded decoded[DECODED_SIZE];
};

struct sim_uses *
sim_uses_new(const struct sim_code *code, const struct sim_executed *executed)
{
    struct sim_uses *uses = sim_heap_new(1, sizeof(*uses));
    uses->code = code;
    uses->executed = executed;
    uses->places_size = PLACES_LEAST;
    while (uses->places_size / 2 <= executed->count) {
        uses->places_size *= 2;
    }
    uses->places = sim_heap_new(uses->places_size, sizeof(*uses->places));
    uses->sources = sim_heap_new(executed->count + 1u, sizeof(*uses->sources));
    return uses;
}

void
sim_uses_free(struct sim_uses **uses)
{
    free((*uses)->places);
    free((*uses)->sources);
    free(*uses);
    *uses = NULL;
}

static const struct sim_instruction *
at(const struct sim_uses *uses, uint32_t index)
{
    rt_assert(index > 0 && index <= uses->executed->count);
    return &uses->executed->all[index - 1];
}

static uint32_t
hash(uintptr_t address)
{
    return (uint32_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 40);
}

static struct place *
place_at(struct sim_uses *uses, uintptr_t address)
{
    uint32_t slot = hash(address) % uses->places_size;
    while (uses->places[slot].address != address && uses->places[slot].address != 0) {
        slot = (slot + 1) % uses->places_size;
    }
    uses->places[slot].address = address;
    return &uses->places[slot];
}

/* What an actor has written with that instruction last; it is no memory. */
static struct place *
place_of(struct sim_uses *uses, uintptr_t pc, uint32_t actor_id)
{
    uintptr_t address = (pc * 31 + actor_id) * UINT64_C(0x9e3779b97f4a7c15);
    return place_at(uses, address | UINT64_C(1) << 63); /* No address of memory. */
}

static struct actor *
actor_of(struct sim_uses *uses, uint32_t actor_id)
{
    struct actor *actor = &uses->actors[actor_id % ACTORS];
    if (actor->owner != actor_id + 1) {
        memset(actor, 0, sizeof(*actor));
        actor->owner = actor_id + 1;
    }
    return actor;
}

static struct sim_registers
registers_of(struct sim_uses *uses, uintptr_t pc)
{
    struct decoded *decoded = &uses->decoded[hash(pc) % DECODED_SIZE];
    if (decoded->pc != pc) {
        decoded->pc = pc;
        decoded->registers = (struct sim_registers){0};
        (void)(sim_code_function(uses->code, pc) != 0 && sim_registers_of(pc, &decoded->registers));
    }
    return decoded->registers;
}

/* ---- Origins. -------------------------------------------------------------------------------- */

static void
join(struct origins *into, uint32_t read)
{
    uint32_t *oldest = &into->reads[0];
    for (uint32_t i = 0; i < SIM_OUTDATED_MAX; i++) {
        uint32_t one = into->reads[i];
        if (READ(one) == READ(read)) {
            into->reads[i] = one & read;
            return;
        }
        oldest = READ(one) < READ(*oldest) ? &into->reads[i] : oldest;
    }
    *oldest = READ(read) > READ(*oldest) ? read : *oldest;
}

static void
join_all(struct origins *into, const struct origins *from, uint32_t how)
{
    for (uint32_t i = 0; i < SIM_OUTDATED_MAX; i++) {
        if (from->reads[i] != 0) {
            join(into, from->reads[i] | how);
        }
    }
}

static struct origins
of_registers(const struct actor *actor, uint64_t bits)
{
    struct origins all = {{0}};
    for (uint64_t left = bits & ~SIM_REGISTER_STACK; left != 0; left &= left - 1) {
        join_all(&all, &actor->registers[__builtin_ctzll(left)], 0);
    }
    return all;
}

/* ---- What is outdated. ----------------------------------------------------------------------- */

static uint64_t
masked(uint64_t value, uint8_t size)
{
    return size < 8 ? value & ((UINT64_C(1) << (8 * size)) - 1) : value;
}

/* The change of what was read there; 0: none. What its actor does itself in that step counts where
 * a call does it that the function makes which has read it, and uses it. */
static uint32_t
change_of(struct sim_uses *uses, uint32_t origin, uint32_t use)
{
    uint32_t read = READ(origin);
    const struct sim_instruction *one = at(uses, read);
    const struct sim_instruction *user = at(uses, use);
    const struct place *place = place_at(uses, one->address);
    bool taken = place->taken > read && at(uses, place->taken)->actor_id == one->actor_id &&
                 at(uses, place->taken)->step == one->step &&
                 sim_code_function(uses->code, at(uses, place->taken)->pc) ==
                         sim_code_function(uses->code, one->pc);
    if (place->writer <= read || place->writer >= use || taken) {
        return 0;
    }
    const struct sim_instruction *write = at(uses, place->writer);
    bool apart = write->actor_id != one->actor_id || write->step != one->step ||
                 (origin == read && write->stack < one->stack && user->stack == one->stack);
    bool differs = masked(write->after, write->size) != masked(one->before, write->size);
    return apart && differs ? place->writer : 0;
}

/* ---- What stands for something else by now. -------------------------------------------------- */

static uintptr_t
function_of(const struct sim_uses *uses, uint32_t index)
{
    return sim_code_function(uses->code, at(uses, index)->pc);
}

/* A function other than that of `to` has written the place between these two. */
static bool
is_cleared(const struct sim_uses *uses, const struct place *place, uint32_t from, uint32_t to)
{
    bool cleared = false;
    for (uint32_t i = 0; i < FILLERS && place->fillers[i].last != 0; i++) {
        uint32_t last = place->fillers[i].last;
        cleared = cleared ||
                  (last > from && last < to && function_of(uses, last) != function_of(uses, to));
    }
    return cleared;
}

/* The function of that instruction writes the place itself: it fills it, or clears it. */
static bool
is_keeper(const struct sim_uses *uses, const struct place *place, uint32_t index)
{
    bool keeps = false;
    for (uint32_t i = 0; i < FILLERS && place->fillers[i].last != 0; i++) {
        keeps = keeps || function_of(uses, place->fillers[i].last) == function_of(uses, index);
    }
    return keeps;
}

/* An instruction had written this place when `reference` was written, and has done so again since:
 * 0: none has. What is only changed does not count: the first time was in the step of `reference`,
 * which another actor uses, or another function has written there in between, as where a place is
 * given back and taken. */
static uint32_t
filled_again(struct sim_uses *uses, uint32_t reference, uint32_t index)
{
    const struct sim_instruction *kept = at(uses, reference);
    const struct place *place = place_at(uses, at(uses, index)->address);
    for (uint32_t i = is_keeper(uses, place, index) ? FILLERS : 0;
            i < FILLERS && place->fillers[i].last != 0; i++) {
        const struct filler *filler = &place->fillers[i];
        const struct sim_instruction *before =
                filler->before != 0 ? at(uses, filler->before) : NULL;
        bool again = before != NULL && filler->last > reference &&
                     at(uses, filler->last)->step > kept->step;
        bool at_once = again && before->actor_id == kept->actor_id && before->step == kept->step &&
                       at(uses, index)->actor_id != kept->actor_id;
        if (at_once || (again && filler->before < reference &&
                               is_cleared(uses, place, reference, filler->last))) {
            return filler->last;
        }
    }
    return 0;
}

/* What was read there its user has written itself for others, and has written the like since. */
static uint32_t
asked_again(struct sim_uses *uses, uint32_t read, uint32_t use)
{
    uint32_t source = uses->sources[read];
    uint32_t actor_id = at(uses, use)->actor_id;
    if (source == 0 || at(uses, source)->actor_id != actor_id ||
            at(uses, read)->actor_id == actor_id) {
        return 0;
    }
    uint32_t last = place_of(uses, at(uses, source)->pc, actor_id)->writer;
    return last != 0 && at(uses, last)->step > at(uses, source)->step ? last : 0;
}

enum use { ADDRESS, CONDITION, VALUE };

static bool
find_again(struct sim_uses *uses, uint32_t origin, enum use how, uint32_t use,
        struct sim_outdated *ret)
{
    uint32_t source = uses->sources[READ(origin)];
    *ret = (struct sim_outdated){SIM_USE_ASKED_AGAIN, source, asked_again(uses, READ(origin), use)};
    if (ret->write == 0 && how == ADDRESS && source != 0 && at(uses, use)->address != 0) {
        *ret = (struct sim_outdated){SIM_USE_REUSED, source, filled_again(uses, source, use)};
    }
    return ret->write != 0;
}

/* Whether a use of that kind says something. A number that came from afar may be an index, or be
 * put back where it was read. */
static bool
counts(const struct sim_uses *uses, uint32_t origin, enum use how, uint32_t use)
{
    bool back = how == VALUE && at(uses, READ(origin))->address == at(uses, use)->address;
    bool implied = (origin & IMPLIED) != 0;
    bool far = (origin & FAR) != 0;
    return how == ADDRESS || (!far && !(implied && how == VALUE)) || (back && !implied);
}

static uint32_t
add_outdated(struct sim_uses *uses, const struct origins *origins, enum use how, uint32_t use,
        struct sim_outdated ret[SIM_OUTDATED_MAX], uint32_t count)
{
    for (uint32_t i = 0; i < SIM_OUTDATED_MAX && count < SIM_OUTDATED_MAX; i++) {
        uint32_t origin = origins->reads[i];
        if (origin != 0 && (origin & IMPLIED) == 0 &&
                find_again(uses, origin, how, use, &ret[count])) {
            count++;
            continue;
        }
        bool asked = origin != 0 && counts(uses, origin, how, use);
        uint32_t write = asked ? change_of(uses, origin, use) : 0;
        if (write != 0) {
            ret[count++] = (struct sim_outdated){.read = READ(origin), .write = write};
        }
    }
    return count;
}

/* ---- Checked, and written later. ------------------------------------------------------------- */

static uint32_t *
checked_by(struct sim_uses *uses, struct place *place, uint32_t actor_id)
{
    for (uint32_t i = 0; i < CHECKERS; i++) {
        uint32_t read = place->checked[i];
        if (read == 0 || at(uses, read)->actor_id == actor_id) {
            return &place->checked[i];
        }
    }
    return NULL;
}

/* A condition is decided by these. */
static void
note_checked(struct sim_uses *uses, const struct origins *made_of, uint32_t actor_id)
{
    for (uint32_t i = 0; i < SIM_OUTDATED_MAX; i++) {
        uint32_t read = made_of->reads[i];
        if (read != 0 && READ(read) == read && at(uses, read)->actor_id == actor_id) {
            struct place *place = place_at(uses, at(uses, read)->address);
            uint32_t *checked = checked_by(uses, place, actor_id);
            if (checked != NULL && *checked < read) {
                *checked = read;
            }
        }
    }
}

/* What is written now was checked before another has changed it, and not since. */
static uint32_t
add_unchecked(struct sim_uses *uses, uint32_t index, struct sim_outdated ret[SIM_OUTDATED_MAX],
        uint32_t count)
{
    const struct sim_instruction *one = at(uses, index);
    struct place *place = place_at(uses, one->address);
    const uint32_t *checked = checked_by(uses, place, one->actor_id);
    uint32_t write = checked != NULL && *checked != 0 ? change_of(uses, *checked, index) : 0;
    if (write != 0 && count < SIM_OUTDATED_MAX && at(uses, write)->actor_id != one->actor_id) {
        ret[count++] = (struct sim_outdated){.read = *checked, .write = write};
    }
    return count;
}

/* ---- One instruction. ------------------------------------------------------------------------ */

static void
note_filler(const struct sim_uses *uses, struct place *place, uint32_t index)
{
    struct filler *filler = &place->fillers[0];
    for (uint32_t i = 0; i < FILLERS; i++) {
        struct filler *one = &place->fillers[i];
        if (one->last == 0 || at(uses, one->last)->pc == at(uses, index)->pc) {
            filler = one;
            break;
        }
        filler = one->last < filler->last ? one : filler;
    }
    bool same = filler->last != 0 && at(uses, filler->last)->pc == at(uses, index)->pc;
    *filler = (struct filler){.last = index, .before = same ? filler->last : 0};
}

/* What it was before is no part of what a count is made of. */
static void
note_write(struct sim_uses *uses, uint32_t index, const struct origins *made_of)
{
    const struct sim_instruction *one = at(uses, index);
    struct place *place = place_at(uses, one->address);
    place->writer = index;
    note_filler(uses, place, index);
    place_of(uses, one->pc, one->actor_id)->writer = index;
    const struct sim_instruction *reader = place->reader != 0 ? at(uses, place->reader) : NULL;
    if (reader != NULL && reader->actor_id == one->actor_id && reader->step == one->step &&
            sim_code_function(uses->code, reader->pc) == sim_code_function(uses->code, one->pc)) {
        place->taken = index;
    }
    memset(&place->origins, 0, sizeof(place->origins));
    for (uint32_t i = 0; i < SIM_OUTDATED_MAX; i++) {
        uint32_t origin = made_of->reads[i];
        bool counted = origin != 0 && at(uses, READ(origin))->address == one->address;
        if (origin != 0 && !counted) {
            join(&place->origins, origin);
        }
    }
}

/* What it reads, and what that was made of: where the same function has put it there, a variable of
 * it, or of its task, or its actor in this step, as a call returns it; what others have put there
 * only of numbers, as pointers are copied from one node of a list to the next. */
static void
add_read(struct sim_uses *uses, uint32_t index, bool own, struct origins *made_of)
{
    const struct sim_instruction *one = at(uses, index);
    struct place *place = place_at(uses, one->address);
    place->reader = index;
    uses->sources[index] = place->writer;
    if (!own) {
        join(made_of, index);
    }
    const struct sim_instruction *by = place->writer != 0 ? at(uses, place->writer) : NULL;
    bool near = by != NULL && by->actor_id == one->actor_id &&
                (by->step == one->step || sim_code_function(uses->code, by->pc) ==
                                                  sim_code_function(uses->code, one->pc));
    if (near || (by != NULL && masked(one->before, one->size) < NUMBER_MAX)) {
        join_all(made_of, &place->origins, near ? 0 : FAR);
    }
}

/* Of a block, before its instruction. */
static uint32_t
add_piece(struct sim_uses *uses, uint32_t index, bool own, struct actor *actor,
        struct sim_outdated ret[SIM_OUTDATED_MAX])
{
    const struct sim_instruction *one = at(uses, index);
    struct sim_registers registers = registers_of(uses, one->pc);
    bool called = registers.address == 0;
    struct origins address = of_registers(actor, called ? REGISTERS_MOVED : registers.address);
    uint32_t count = add_outdated(uses, &address, ADDRESS, index, ret, 0);
    if (one->reads) {
        memset(&actor->last, 0, sizeof(actor->last));
        add_read(uses, index, own, &actor->last);
        if (!one->moved) {
            join_all(&actor->pieces, &actor->last, 0);
        }
    }
    if (one->writes) {
        struct origins made_of =
                one->copied ? actor->last : of_registers(actor, called ? 0 : registers.reads);
        count = own ? count : add_outdated(uses, &made_of, VALUE, index, ret, count);
        note_write(uses, index, &made_of);
    }
    return count;
}

/* What an instruction that is no read makes without what it was given depends on the condition by
 * which it was come to: a count, what was looked for. */
static void
add_condition(const struct actor *actor, const struct sim_instruction *one,
        const struct sim_registers *registers, struct origins *made_of)
{
    bool counts = (registers->reads & registers->writes & ~SIM_REGISTER_STACK) != 0 ||
                  (one->reads && one->writes);
    bool constant = registers->reads == 0 && !one->reads;
    if ((counts || constant) && actor->stack == one->stack && actor->step == one->step) {
        join_all(made_of, &actor->condition, IMPLIED);
        join_all(made_of, &actor->before, IMPLIED);
    }
}

uint32_t
sim_uses_add(
        struct sim_uses *uses, uint32_t index, bool own, struct sim_outdated ret[SIM_OUTDATED_MAX])
{
    const struct sim_instruction *one = at(uses, index);
    struct actor *actor = actor_of(uses, one->actor_id);
    if (one->piece) {
        return add_piece(uses, index, own, actor, ret);
    }
    struct sim_registers registers =
            one->stack != 0 ? registers_of(uses, one->pc) : (struct sim_registers){0};
    struct origins made_of = of_registers(actor, registers.reads);
    struct origins address = of_registers(actor, registers.address);
    uint32_t count = 0;
    if (one->address != 0) {
        count = add_outdated(uses, &address, ADDRESS, index, ret, count);
    }
    if (one->jump || (one->writes && !own && !one->call)) {
        count = add_outdated(uses, &made_of, one->jump ? CONDITION : VALUE, index, ret, count);
    }
    if (one->writes && !own && !one->call) {
        count = add_unchecked(uses, index, ret, count);
    }
    if (one->jump) {
        note_checked(uses, &made_of, one->actor_id);
    }
    if (one->reads && !one->call) {
        add_read(uses, index, own, &made_of);
        join_all(&made_of, &actor->pieces, 0);
    }
    memset(&actor->pieces, 0, sizeof(actor->pieces));
    if (one->call) {
        memset(&made_of, 0, sizeof(made_of));
        registers.writes = one->leaves ? ~SIM_REGISTERS_KEPT : 0;
    } else if (one->jump) {
        bool same = actor->stack == one->stack && actor->step == one->step;
        actor->before = same ? actor->condition : (struct origins){{0}};
        actor->condition = made_of;
        actor->stack = one->stack;
        actor->step = one->step;
    } else {
        add_condition(actor, one, &registers, &made_of);
    }
    if (one->address != 0 && one->writes) {
        note_write(uses, index, &made_of);
    }
    for (uint64_t left = registers.writes & ~SIM_REGISTER_STACK; left != 0; left &= left - 1) {
        actor->registers[__builtin_ctzll(left)] = made_of;
    }
    return count;
}
