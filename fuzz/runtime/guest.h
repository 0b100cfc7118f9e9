/*
 * guest.h -- the program that a guest of fiber.c follows, and its interpreter, which is the model.
 *
 * The interpreter has no stack, no fiber and no call: it counts steps, fuel and epochs, and
 * computes where the guest stops and why. The target passes it the answers of host functions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FUZZ_RUNTIME_GUEST_H
#define FUZZ_RUNTIME_GUEST_H

#include "fuzz/fuzz.h"
#include "runtime/fiber/guest.h"

FUZZ_UNSEEN_BEGIN

#define STEPS 12u

enum op {
    PAY,     /* A check of this many units. */
    FRAME,   /* The rest of the program in a separate frame … */
    LEAVE,   /* … until here. */
    NOW,     /* A host function that answers at once. */
    PATIENT, /* … that is pending this many times. */
    REPLY,   /* … whose operation the tape completes. */
    FAIL,    /* … that fails. */
    POLL,    /* Polls another call. */
    DELETE,  /* Deletes it. */
    TRAP,
    DEEP, /* Calls itself until its stack is used up. */
    OPS
};

struct step {
    enum op op;
    uint32_t argument;
};

/* Where the interpreter has stopped. */
enum stop { AT_STEP, IN_FUEL, IN_EPOCH, IN_HOST };

struct interpreter {
    struct step steps[STEPS];
    uint32_t count;
    const uint64_t *epoch; /* Of the engine. */
    uint32_t at;
    enum stop stop;
    bool done;
    enum rt_trap trap;
    uint64_t sum;
    uint64_t fuel;
    uint64_t chunk;
    uint64_t interval;
    uint64_t deadline;
    uint64_t delta;
    uint32_t asked;
    bool in_flight; /* An operation has its reply. */
    bool replies;   /* It waits for its reply, not for PATIENT. */
    bool awaits;    /* Its driver waits for the reply. */
    bool yields;
    bool yielded;
    uint32_t waker;
};

/* ---- The interpreter. ---------------------------------------------------------------------- */

static inline void
cut_chunk(struct interpreter *in)
{
    uint64_t interval = in->interval;
    in->chunk = interval == 0 || interval > in->fuel ? in->fuel : interval;
}

static inline void
end_model(struct interpreter *in, enum rt_trap trap)
{
    in->done = true;
    in->trap = trap;
}

/* The second half of a check. True: continue. */
static inline bool
model_epoch(struct interpreter *in)
{
    if (*in->epoch < in->deadline) {
        return true;
    }
    if (in->delta == 0) {
        end_model(in, RT_TRAP_EPOCH);
    }
    in->stop = IN_EPOCH;
    return false;
}

static inline bool
model_check(struct interpreter *in, uint64_t units)
{
    if (units < in->chunk) {
        in->chunk -= units;
        in->fuel -= units;
        return model_epoch(in);
    }
    in->fuel -= units < in->fuel ? units : in->fuel;
    cut_chunk(in);
    if (in->fuel == 0) {
        end_model(in, RT_TRAP_OUT_OF_FUEL);
        return false;
    }
    if (in->interval != 0) {
        in->stop = IN_FUEL;
        return false;
    }
    return model_epoch(in);
}

static inline bool
model_answer(struct interpreter *in, uint64_t value)
{
    in->sum += value;
    return true;
}

static inline bool
model_host(struct interpreter *in, const struct step *step)
{
    bool replies = step->op == REPLY && !in->in_flight;
    in->asked = 1;
    in->replies = replies;
    if (replies ? step->argument % 2 == 0 : step->op == PATIENT && step->argument > 0) {
        in->stop = IN_HOST;
        in->awaits = replies;
        in->in_flight |= replies;
        return false;
    }
    return model_answer(in, step->argument);
}

/* Each level checks before it goes deeper, also after a suspension. */
static inline bool
model_deep(struct interpreter *in)
{
    if (model_check(in, 0)) {
        end_model(in, RT_TRAP_STACK_OVERFLOW);
    }
    return false;
}

/* One step. True: continue with the next. */
static inline bool
model_step(struct interpreter *in, const struct step *step)
{
    switch (step->op) {
    case PAY:
        return model_check(in, step->argument);
    case NOW:
    case PATIENT:
    case REPLY:
        return model_host(in, step);
    case FAIL:
        end_model(in, RT_TRAP_HOST);
        return false;
    case TRAP:
        end_model(in, RT_TRAP_UNREACHABLE);
        return false;
    case DEEP:
        return model_deep(in);
    case FRAME:
    case LEAVE:
    case POLL:
    case DELETE:
    case OPS:
        return true;
    }
    return true;
}

/* Whether the step in which it stopped is done. */
static inline bool
model_resume(struct interpreter *in)
{
    const struct step *step = &in->steps[in->at];
    enum stop stop = in->stop;
    if (stop == IN_HOST) {
        if (in->replies ? in->in_flight : in->asked++ < step->argument) {
            return false;
        }
        in->stop = AT_STEP;
        if (!in->replies) {
            return model_answer(in, step->argument);
        }
        if (in->trap != RT_TRAP_NONE) {
            in->done = true;
            return false;
        }
        return true;
    }
    in->stop = AT_STEP;
    if (stop == IN_FUEL && !model_epoch(in)) {
        return false;
    }
    if (stop == IN_EPOCH) {
        uint64_t delta = in->delta;
        in->deadline = delta == RT_EPOCH_NEVER ? delta : *in->epoch + delta;
    }
    return step->op != DEEP || model_deep(in);
}

/* As rt_call_poll. */
static inline bool
model_poll(struct interpreter *in)
{
    if (in->stop != AT_STEP) {
        if (!model_resume(in)) {
            return in->done;
        }
        in->at += 1;
    }
    while (in->at < in->count && model_step(in, &in->steps[in->at])) {
        in->at += 1;
    }
    in->done |= in->at == in->count;
    return in->done;
}

/* As rt_call_drive, with waker `waker`. */
static inline bool
model_drive(struct interpreter *in, uint32_t waker)
{
    for (;;) {
        if (in->awaits && in->in_flight) {
            in->waker = waker;
            return false;
        }
        in->awaits = false;
        if (in->yields && !in->yielded) {
            in->yielded = true;
            return false;
        }
        in->yielded = false;
        if (model_poll(in)) {
            return true;
        }
        in->yields = !in->awaits;
    }
}

FUZZ_UNSEEN_END

#endif
