/*
 * program.h -- a small random program: two to four actors, and what they share.
 *
 * A program is data, made from one number: for each actor a list of operations. Two readers give it
 * a meaning, and share nothing but this header: play.c runs it in the simulator, model.c is the
 * reference model. print.c writes it as a scenario in C.
 *
 * Correct by construction. Operations are added in pairs, first the one that makes something
 * available (set and wake, send, the end of a task), then the one that waits for it, which belongs
 * to another actor. So one order of all operations exists in which none has to wait. What one actor
 * waits for is taken by no other (or is given back, as a permit), so all orders reach the end. A
 * *mutation* then removes, misplaces or delays one wake, or removes another operation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRUTH_ACTORS 4u
#define TRUTH_OPS 16u
#define TRUTH_FLAGS 8u
#define TRUTH_SLOTS 12u
#define TRUTH_CHANNELS 2u
#define TRUTH_FDS 2u
#define TRUTH_NONE 255u

/* name, what it does; a, b, c are its operands. */
#define TRUTH_OP_LIST(X) \
    X(SET, "set", "flag a: one more") \
    X(WAKE, "wake", "slot a: the waker in it, if any") \
    X(WAIT, "wait", "for flag a; the waker goes to slot b, and to c") \
    X(TAKE, "take", "waits for flag a, slot b, and takes one of it") \
    X(WAIT_LATE, "wait-late", "as wait, but checks in one poll and stores in the next") \
    X(WAIT_LOCKED, "wait-locked", "as wait, and each poll takes a lock and gives it back") \
    X(WAIT_LINES, "wait-lines", "as wait, and a further poll stores on another line") \
    X(WAIT_TURN, "wait-turn", "for flag a; a poll stores in slot b, the next one in slot c") \
    X(HEDGE, "hedge", "for flag a, slot b; each poll sets flag c or c + 1, and wakes its slot") \
    X(WAIT_ANY, "wait-any", "for flag a or b, in the slots a and b") \
    X(WAIT_TIME, "wait-time", "for flag a, slot b, at most c ms") \
    X(SLEEP, "sleep", "a ms") \
    X(YIELD, "yield", "wakes itself and gives way") \
    X(SEND, "send", "an item into channel a") \
    X(RECV, "recv", "an item out of channel a") \
    X(ACQUIRE, "acquire", "the permit") \
    X(RELEASE, "release", "the permit") \
    X(JOIN, "join", "waits for the end of actor a") \
    X(CANCEL, "cancel", "ends actor a") \
    X(NOTIFY, "notify", "adds one to the counter of descriptor a") \
    X(DRAIN, "drain", "reads the counter of descriptor a, which becomes 0") \
    X(CHECK, "check", "takes all of flag a") \
    X(LISTEN, "listen", "the loop: until flag a was taken b times, waits at most c ms (0: forever)")

enum truth_op_kind {
#define TRUTH_OP_ENUM(name, word, about) TRUTH_##name,
    TRUTH_OP_LIST(TRUTH_OP_ENUM)
#undef TRUTH_OP_ENUM
            TRUTH_OP_KINDS
};

struct truth_op {
    uint8_t kind;
    uint8_t a;
    uint8_t b;
    uint8_t c;
};

struct truth_actor {
    struct truth_op ops[TRUTH_OPS];
    uint8_t count;
    struct truth_op cleanup[2]; /* SET and WAKE: what happens when it is cancelled. */
    uint8_t cleanups;
};

enum truth_family {
    TRUTH_TASKS, /* Tasks of the runtime. */
    TRUTH_LOOPS  /* Actor 0 is a loop of callbacks over descriptors, the others are workers. */
};

/* What was done to the correct program. */
#define TRUTH_MUTATION_LIST(X) \
    X(NOTHING, "correct") \
    X(DROP, "one wake is removed") \
    X(EARLY, "the wake is before the set, and another may run between") \
    X(SWAP, "the wake is before the set, in the same poll: harmless") \
    X(WRONG_SLOT, "another slot is woken") \
    X(STORE_ELSEWHERE, "the waker is stored in another slot") \
    X(DELAY, "a sleep is between the set and its wake") \
    X(HEARTBEAT, "the wake is removed, and sent by a later heartbeat") \
    X(STORE_LATE, "it is stored in the poll after the check") \
    X(NO_SOURCE, "what is waited for never happens") \
    X(NO_CANCEL, "a task is not cancelled") \
    X(NO_RELEASE, "a permit is not given back") \
    X(DRAIN_LAST, "the counter is drained after the check") \
    X(DRAIN_ONLY, "the counter is drained, and nothing is checked") \
    X(SHRUNK, "what is left of a larger one")

enum truth_mutation {
#define TRUTH_MUTATION_ENUM(name, about) TRUTH_MUTATION_##name,
    TRUTH_MUTATION_LIST(TRUTH_MUTATION_ENUM)
#undef TRUTH_MUTATION_ENUM
            TRUTH_MUTATIONS
};

struct truth_program {
    uint64_t number;
    uint8_t family;
    uint8_t mutation;
    uint8_t actors;
    bool reports; /* A wait that is over says SIM_PROGRESS. */
    bool watched; /* Of a loop: its callbacks are declared (sim_foreign_watch). */
    uint8_t capacity[TRUTH_CHANNELS];
    struct truth_actor actor[TRUTH_ACTORS];
};

/* Draws: a number below n, from a stream that begins at `state`. */
uint32_t truth_draw(uint64_t *state, uint32_t n);

/* The program with this number. */
void truth_program_make(struct truth_program *program, uint64_t number);

/* One line for each actor: "t0: set 1; wake 1". At most `size` bytes with the end. */
void truth_program_text(const struct truth_program *program, char *text, size_t size);

const char *truth_mutation_about(uint32_t mutation);
