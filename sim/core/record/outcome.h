/*
 * outcome.h -- how a run ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/core/code/call_stack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The words are public: database, JSON, text. The numbers are in digests: append only. */
#define SIM_VERDICT_LIST(X) \
    X(PASS, "pass", "the run ended as it should") \
    X(LOST_WAKEUP, "lost-wakeup", "a task is blocked forever although it could make progress") \
    X(LATE_WAKEUP, "late-wakeup", "a task was woken later than it could have made progress") \
    X(DEADLOCK, "deadlock", "tasks are blocked forever and none of them could make progress") \
    X(LIVELOCK, "livelock", "steps are taken without progress") \
    X(STARVATION, "starvation", "a task or a source that could run is passed over") \
    X(OVER_BUDGET, "over-budget", "a task used more than its quota in one poll") \
    X(CONTRACT, "contract", "a rule between task, runtime and host was broken") \
    X(LEAK, "leak", "something was not released") \
    X(INVARIANT, "invariant", "the scenario's own check failed") \
    X(CRASH, "crash", "the program died") \
    X(HANG, "hang", "a step never returned") \
    X(DIVERGED, "diverged", "a second run with the same decisions differed") \
    X(STEP_LIMIT, "step-limit", "the run took more steps than its limit") \
    X(TIME_LIMIT, "time-limit", "the run took more virtual time than its limit") \
    X(USE_AFTER_FREE, "use-after-free", "memory was used after it was freed") \
    X(EXIT, "exit", "the program ended with a status other than 0") \
    X(REFUSED, "refused", "the program asked for something that is not simulated")

enum sim_verdict {
#define SIM_VERDICT_ENUM(name, text, meaning) SIM_VERDICT_##name,
    SIM_VERDICT_LIST(SIM_VERDICT_ENUM)
#undef SIM_VERDICT_ENUM
            SIM_VERDICTS
};

/* Whether `verdict` is a failure of the program: neither passed nor refused. */
static inline bool
sim_verdict_fails(uint32_t verdict)
{
    return verdict != SIM_VERDICT_PASS && verdict != SIM_VERDICT_REFUSED;
}

/*
 * Whether `verdict` is the expected one, `stated`. A lost wake is a late one where something else
 * wakes the blocked task after all: lost-wakeup also allows late-wakeup.
 */
static inline bool
sim_verdict_fits(enum sim_verdict stated, enum sim_verdict verdict)
{
    return verdict == stated ||
           (stated == SIM_VERDICT_LOST_WAKEUP && verdict == SIM_VERDICT_LATE_WAKEUP);
}

/* What found it. */
#define SIM_ORACLE_LIST(X) \
    X(NONE, "none", "none: the run passed") \
    X(STALL, "stall", "no actor was enabled, and no blocked task moved when spuriously polled") \
    X(REWAKE, "rewake", "a blocked task moved when it was spuriously polled (first stage)") \
    X(REWAKE_SOURCES, "rewake-sources", \
            "it moved when what it waits for was reported again (second stage)") \
    X(PRIMITIVE_AUDIT, "audit-primitive", "a primitive's own audit (third stage)") \
    X(QUIET_AUDIT, "audit-quiet", "a blocked task could make progress while no actor was enabled") \
    X(TIMER, "timer", "a timer fired early, late, or not at all") \
    X(FAULT, "fault", "the runtime's checks of its caller") \
    X(ASSERTION, "assertion", "an assertion inside the runtime") \
    X(HOST, "host", "the host's contract") \
    X(LIMIT, "limit", "a limit of the run") \
    X(BALANCE, "balance", "counts at the end of the run") \
    X(USER, "user", "the scenario's own check") \
    X(PROCESS, "process", "the operating system") \
    X(REPLICA, "replica", "the same run in another process") \
    X(LIVENESS, "liveness", "no fault was injected any more, and the run did not end") \
    X(REWAKE_LOOP, "rewake-loop", "a loop made progress after a spurious report of its host") \
    X(MEMORY, "memory", "the heap of a program's run") \
    X(PROGRAM, "program", "the program ended itself, or asked for what is not simulated") \
    X(IDLE, "idle", "the run passed: all that is blocked waits for what is outside of it")

enum sim_oracle {
#define SIM_ORACLE_ENUM(name, text, meaning) SIM_ORACLE_##name,
    SIM_ORACLE_LIST(SIM_ORACLE_ENUM)
#undef SIM_ORACLE_ENUM
            SIM_ORACLES
};

#define SIM_MESSAGE_MAX 256

/* What verdict and oracle leave open. Readers of an outcome parse no message. */
enum sim_reason {
    SIM_REASON_NONE,
    SIM_REASON_NAMED,    /* The message names the actor. */
    SIM_REASON_ROUNDS,   /* lost-wakeup: repeated rounds of spurious polls of all blocked tasks. */
    SIM_REASON_NO_WAKER, /* contract: the poll returned PENDING and registered no waker. */
    SIM_REASON_KILLED,   /* crash: the process was killed from outside. */
    SIM_REASONS
};

/* Plain data: copied between processes as it is. */
struct sim_outcome {
    uint64_t seed;
    uint64_t digest; /* 0 when events were off. */
    uint64_t steps;
    uint64_t sim_ns;
    uint64_t events;
    uint64_t decisions;  /* Choices with more than one alternative. */
    uint32_t deviations; /* Of those, answered other than 0. */
    uint32_t tasks;      /* Actors that were tasks. */
    uint8_t verdict;     /* enum sim_verdict */
    uint8_t oracle;      /* enum sim_oracle */
    uint8_t audited;     /* 1: a quiescence, or several, were drawn for audit. */
    uint8_t order;       /* enum sim_order that was in force. */
    uint8_t reason;      /* enum sim_reason */
    uint8_t asked;       /* 1: found in a replay with a spurious poll of a blocked task. */
    uint32_t actor;      /* In-run index of the actor that it is about; UINT32_MAX: none. */
    uint32_t object;     /* What it waits for; 0: none. */
    uint32_t site;       /* The responsible line, or the waiting one; 0: none. */
    uint64_t fail_step;  /* When the verdict was reached. */
    uint64_t fail_ns;
    uint64_t missing_wake_step; /* lost-wakeup, late-wakeup: the step that should have woken; 0: not
                           * searched for, or none. */
    uint64_t audit_step;  /* The first quiescence that was audited, or the failed one; 0: none. */
    uint64_t lost_step;   /* leak: the step after which no memory held a cloned waker any more; 0:
                           * not searched for, or none. */
    uint32_t lost_wakers; /* leak: cloned wakers that no memory holds; 0: something else leaked. */
    char actor_name[48];  /* audit-primitive: the primitive's name. */
    struct sim_stack stack;        /* Where: of a crash, a broken rule, a check without a line. */
    char message[SIM_MESSAGE_MAX]; /* One sentence for people, without a full stop. */
};

/* "lost-wakeup" …; static; "?" for an unknown number. */
const char *sim_verdict_name(uint32_t verdict);
const char *sim_verdict_meaning(uint32_t verdict);
const char *sim_oracle_name(uint32_t oracle);
const char *sim_oracle_meaning(uint32_t oracle);

/* True when both are the same failure: verdict, oracle and site are equal. */
bool sim_outcome_same(const struct sim_outcome *a, const struct sim_outcome *b);

/* Writes the message. One that is too long is cut after a whole character. */
__attribute__((format(printf, 2, 3))) void sim_outcome_say(
        struct sim_outcome *outcome, const char *format, ...);
__attribute__((format(printf, 2, 0))) void sim_outcome_vsay(
        struct sim_outcome *outcome, const char *format, va_list arguments);

/* No actor was enabled at the end, and no missing wake is known: a deadlock, or a loop that only
 * its host could wake. */
static inline bool
sim_outcome_is_stall(const struct sim_outcome *outcome)
{
    return outcome->verdict == SIM_VERDICT_DEADLOCK || outcome->oracle == SIM_ORACLE_REWAKE_LOOP;
}

/* Whether one step did not return: it hung, or it spun on the clock up to the time limit. */
bool sim_outcome_spins(const struct sim_outcome *outcome);

#ifdef __cplusplus
}
#endif
