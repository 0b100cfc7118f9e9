/*
 * fuzz.h -- what a fuzz target is, and how it reads its input.
 *
 * A target is one file with one function, LLVMFuzzerTestOneInput. It is linked with libFuzzer, with
 * AFL++'s driver, or with main.c, which runs it over files. It must accept any bytes: all of them
 * are a legal run of the thing under test, and when that run breaks a promise the target stops the
 * process (fuzz_check, or an assertion of the thing itself).
 *
 * The input is a tape of answers. Each question of the target takes one byte (two above 256
 * answers), and an exhausted tape answers 0 to everything: 0 must be the baseline answer. So a
 * shorter input is a simpler run, and a fuzzer that minimises an input minimises the run.
 *
 *      struct fuzz_tape tape = fuzz_tape(data, size);
 *      while (fuzz_more(&tape)) {
 *          switch (fuzz_below(&tape, OPERATIONS)) { ... }
 *      }
 *
 * A target keeps nothing between two inputs: the second run of an input equals its first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Operations of one input at most: in the end a person reads it. */
#define FUZZ_OPERATIONS_MAX 100u

/* The target: runs `size` bytes at `data` (borrowed; NULL only with size 0). Always answers 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_tape {
    const uint8_t *next;
    const uint8_t *end;
    uint32_t operations; /* Begun so far. */
};

/* Operations that all inputs of this process have begun; printed by main.c, `make fuzz-speed`. */
extern uint64_t fuzz_operations;

static inline struct fuzz_tape
fuzz_tape(const uint8_t *data, size_t size)
{
    return (struct fuzz_tape){data, size == 0 ? data : data + size, 0};
}

/* The next byte; 0 when the tape is exhausted. */
static inline uint8_t
fuzz_byte(struct fuzz_tape *tape)
{
    return tape->next == tape->end ? 0 : *tape->next++;
}

/* An answer below `n` (1 to 65,536): one byte, two above 256. 0 when the tape is exhausted. */
static inline uint32_t
fuzz_below(struct fuzz_tape *tape, uint32_t n)
{
    uint32_t answer = fuzz_byte(tape);
    if (n > 256) {
        answer |= (uint32_t)fuzz_byte(tape) << 8;
    }
    return answer % n;
}

/* Eight bytes, the first the lowest. */
static inline uint64_t
fuzz_word(struct fuzz_tape *tape)
{
    uint64_t word = 0;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        word |= (uint64_t)fuzz_byte(tape) << shift;
    }
    return word;
}

/* Whether there is one more operation: the tape is not exhausted, and the limit not reached. */
static inline bool
fuzz_more(struct fuzz_tape *tape)
{
    if (tape->next == tape->end || tape->operations == FUZZ_OPERATIONS_MAX) {
        return false;
    }
    tape->operations += 1;
    fuzz_operations += 1;
    return true;
}

/* Between the two the fuzzer counts no edges: for a model, whose branches repeat those of the
 * thing under test. It would keep inputs for the model's sake, and a third of the time went into
 * counting. */
#ifdef __clang__
#define FUZZ_PRAGMA(words) _Pragma(#words)
#define FUZZ_UNSEEN_BEGIN \
    FUZZ_PRAGMA(clang attribute push(__attribute__((no_sanitize("coverage"))), apply_to = function))
#define FUZZ_UNSEEN_END FUZZ_PRAGMA(clang attribute pop)
#else
#define FUZZ_UNSEEN_BEGIN
#define FUZZ_UNSEEN_END
#endif

/* Stops the process where the thing under test and its model differ; prints the condition. */
#define fuzz_check(x) ((x) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #x))

static inline _Noreturn void
fuzz_fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: check failed: %s\n", file, line, what);
    abort();
}

#endif
