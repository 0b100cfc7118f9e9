/*
 * translate.h -- executing code with a look at each instruction before it is done.
 *
 * Each instruction is copied to a place of its own, behind a call of the user; jumps, calls and
 * returns are done by hand, so that control stays in the copies (dynamic binary translation, as
 * Valgrind and DynamoRIO do it). Addresses of return on the stack are those of the real code, so
 * the stack can be walked as without this. What is not known well is executed where it stands, with
 * the processor's trap flag. An instruction costs 0.2 us; under the trap flag alone it cost 12 in a
 * virtual machine, which leaves it at each trap.
 *
 * The copies are shared by the processes that are forked after sim_translate_prepare, one of which
 * may use them at a time. On other processors than x86-64, and without capstone, nothing is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/look/decode.h"

enum sim_look {
    SIM_LOOK_NEXT,  /* It is executed, and the next one looked at. */
    SIM_LOOK_STACK, /* The same, after `look_at_stack` was called. */
    SIM_LOOK_LEAVE  /* From it on the real code runs, at full speed. */
};

struct sim_translate_user {
    /* The instruction at `pc`, with the registers as a ucontext_t's gregs has them. It may use all
     * that a signal handler may. */
    enum sim_look (*look)(
            uintptr_t pc, const struct sim_decoded *decoded, const long long *registers);
    /* Called where backtrace() finds `pc` and those that called it; NULL: never asked for. */
    void (*look_at_stack)(uintptr_t pc);
};

/* Maps the space for the copies; forgets those of before. Without it each process has copies of
 * its own. */
void sim_translate_prepare(void);

/* From the return of sim_translate_here on, or where a stop is come to, `user` (borrowed) looks at
 * what is executed. False: it cannot. One at a time in a process; until sim_translate_end, which
 * takes the stops away. */
bool sim_translate_begin(const struct sim_translate_user *user);
void sim_translate_here(void);
void sim_translate_end(void);

/* Puts a breakpoint at `pc`, whose page can be written to, once. What does not fit is left out. */
void sim_translate_stop(uintptr_t pc);
