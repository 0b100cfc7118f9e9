/*
 * cause.h -- the root cause of a failure: one kind and one place in the source.
 *
 * A wake goes missing in one of seven ways; where no wake is missing, something else is the cause,
 * and has a place too. Everything here is computed from events (the ledger and the wake outcome
 * that view/ finds in it), from the memory analysis below the level of steps, and from the stack of
 * a process that died. No scenario is known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/code/symbols.h"
#include "sim/engine/worker/crash.h"
#include "sim/explain/counterfactual/attempt.h"
#include "sim/explain/counterfactual/counterfactual.h"
#include "sim/explain/holds.h"
#include "sim/explain/look/analysis.h"
#include "sim/explain/look/branches.h"
#include "sim/explain/look/trace.h"
#include "sim/explain/view/wake_outcome.h"

/* The words are public (`rewake explain --json`) and stand in the heads of the zoo's files. */
#define SIM_CAUSE_LIST(X) \
    X(NEVER_STORED, "never-stored", "no waker was stored or given away to wake it") \
    X(NEVER_FIRED, "never-fired", \
            "its waker was there, and what it waits for arrived without a wake") \
    X(REPLACED, "replaced", "another waker replaced its own") \
    X(ERASED, "erased", "the slot of its waker was emptied without a wake") \
    X(COALESCED, "coalesced", "a wake was sent, and dropped before the poll") \
    X(DROPPED, "dropped", "its waker was given away, and dropped without a wake") \
    X(FIRED_EARLY, "fired-early", "the wake came before the waker was stored") \
    X(NOT_A_WAKE, "not-a-wake", "no wake is missing")

enum sim_cause_kind {
#define SIM_CAUSE_ENUM(name, text, meaning) SIM_CAUSE_##name,
    SIM_CAUSE_LIST(SIM_CAUSE_ENUM)
#undef SIM_CAUSE_ENUM
            SIM_CAUSES
};

#define SIM_CAUSE_CALLS 16u

/* A place, and whose turn it was there. */
struct sim_location {
    struct sim_place place;  /* function "": not known. */
    uint64_t step;           /* 0: before the first, or not known. */
    uint32_t part;           /* SIM_PART_NONE: no actor's. */
    bool traced;             /* It was gone through, and has no place in a stack of calls. */
    struct sim_place caller; /* From where that function was called; line 0: not known. */
};

/* Of a loop that was not woken: what became of who came to wake it. */
struct sim_attempted_wake {
    bool known;
    struct sim_location at;      /* How far the waker came; step 0: none came there. */
    struct sim_location instead; /* The actor woken instead, and where; part NONE: none. */
    struct sim_location
            flag; /* What turned the waker away, as it was written; step 0: not known. */
    struct sim_location clear; /* Where that is taken back in the passing run; step 0: not known. */
};

enum sim_fate_kind {
    SIM_FATE_NONE,
    SIM_FATE_EARLY,     /* It was sent before the wait began. */
    SIM_FATE_TAKEN,     /* It woke another. */
    SIM_FATE_SWALLOWED, /* Its line was come to, and nothing was written there. */
    SIM_FATE_OWED,      /* Its actor is known; `read` is why it did not send it. */
    SIM_FATE_TURNED     /* Its actor, or the waiting one, decided a condition otherwise. */
};

#define SIM_FATE_NAME_MAX 64u
#define SIM_FATE_VALUE_MAX 24u
#define SIM_FATE_RAISERS 4u

/* A read whose value differs between the two runs. */
struct sim_deciding_read {
    struct sim_location at;                 /* Step 0: there is none. */
    char name[SIM_FATE_NAME_MAX];           /* Of the variable; "": it has none. */
    char value[SIM_FATE_VALUE_MAX];         /* What is read here, "" a pointer, … */
    bool compared;                          /* What follows is known. */
    char passing_value[SIM_FATE_VALUE_MAX]; /* … and there. */
    struct sim_location by;                 /* Which wrote it here; step 0: not known. */
    struct sim_location passing_by;         /* … and there, */
    /* … whose write comes here at this step, after the read; 0: it does not come, … */
    uint64_t later;
    bool cut;         /* … as far as is known. */
    uint64_t earlier; /* It came at this one, before the read; 0: it did not. */
    /* It is a copy of what this changes after that; step 0: it is not, or not known. */
    struct sim_location outdated;
    /* Not compared: what changes it next after it is read; step 0: not known. */
    struct sim_location after;
    /* The value is what these have added, each of which waits: the last addition of each. */
    struct sim_location raised[SIM_FATE_RAISERS];
    uint32_t raised_count;
};

/* What was written to a number, or added, and is overwritten before that is read (word.h). */
struct sim_discarded {
    struct sim_location added; /* Step 0: nothing such is known. */
    bool adds;
    struct sim_location over; /* With that left out, the run passes. */
    char name[SIM_FATE_NAME_MAX];
};

/* A value that a waiting actor has found as it was before, though others have changed it since. */
struct sim_returned_value {
    struct sim_location at;   /* It is read; step 0: no such value. */
    struct sim_location seen; /* It was read before, by the same actor. */
    struct sim_location last; /* The last change. */
    uint32_t changes;
    char name[SIM_FATE_NAME_MAX]; /* As in struct sim_deciding_read. */
    char value[SIM_FATE_VALUE_MAX];
};

/* What an actor has read, and others have changed before it wrote what it had made of it. */
struct sim_stale_value {
    struct sim_location at;       /* It is read; step 0: there is none. */
    struct sim_location last;     /* The last change, … */
    uint32_t changes;             /* … of so many. */
    struct sim_location used;     /* It is written, out of date. */
    char name[SIM_FATE_NAME_MAX]; /* As in struct sim_deciding_read. */
    char value[SIM_FATE_VALUE_MAX];
};

/* A write of the passing run that does not come here: who led to it. */
struct sim_led_write {
    struct sim_location by;    /* The call there of another actor; step 0: not known. */
    struct sim_location here;  /* The same call here. */
    struct sim_location ended; /* The call in which it would be written, which had returned by then,
                                * and when; step 0: it had not. */
    char result[SIM_FATE_VALUE_MAX];         /* What that call has returned here, … */
    char passing_result[SIM_FATE_VALUE_MAX]; /* … and there; "": not known. */
};

/* What a call has put there in both runs, by which it has returned something else. */
struct sim_filled_value {
    struct sim_location by; /* Step 0: not known. */
    char result[SIM_FATE_VALUE_MAX];
    char passing_result[SIM_FATE_VALUE_MAX];
};

#define SIM_WAITING_MAX 2u
#define SIM_ROUND_CALLS 4u

/* A call in the round of a loop. */
struct sim_round_call {
    struct sim_location at;
    char result[SIM_FATE_VALUE_MAX]; /* What it has returned the last time; "": that is not used. */
};

/* What a condition that failed, or by which a loop goes on, was decided on (values.h). */
struct sim_failed_value {
    struct sim_location condition;                /* Of a loop; step 0: it is none. */
    struct sim_round_call round[SIM_ROUND_CALLS]; /* The calls of its last round. */
    uint32_t round_count;

    struct sim_deciding_read read; /* Step 0: not known. */
    struct sim_stale_value stale;
    struct sim_led_write led;
    struct sim_filled_value filled;
};

/* What became of the wake that ends a wait in the passing run (fate.h). */
struct sim_fate {
    uint32_t kind; /* enum sim_fate_kind */
    struct sim_wait wait;
    struct sim_location sleeps; /* Where, since which step. */
    struct sim_location wake;   /* The line that wakes it there, its step there. SIM_PART_NONE: it
                                 * does not wait there. */
    struct sim_location call;   /* EARLY, TAKEN, SWALLOWED: the same line here. */
    struct sim_location taker;  /* TAKEN: who was woken, from where; or, `again`, … */
    bool again;                 /* … where it waits there again. */
    /* SWALLOWED: the call before it that has notified already, and the step in which the waiting
     * actor took that; step 0: none is known. */
    struct sim_location merged;
    uint64_t merged_step;
    struct sim_location ended;     /* TAKEN: where that one was cancelled; step 0: it was not. */
    struct sim_location condition; /* TURNED: which one decides. */
    struct sim_deciding_read read; /* TURNED */
    struct sim_returned_value returned; /* TURNED */
    bool tried;                         /* TURNED: decided the other way, the run passes, … */
    uint32_t times;          /* … so many times that it is decided so by one that skips a wake. */
    bool stuck;              /* TURNED: who decided it is blocked too: no wake is missing. */
    bool many;               /* Known of many runs that pass (wakers.h), not of the nearest one. */
    struct sim_location way; /* TAKEN, many: a condition by which the taker goes as none does there,
                              * step 0: none such; */
    uint32_t way_line;       /* … to this line of the same function; 0: not known. */
};

/* The condition by which a step did not do what would let the blocked actor continue (guard.h). */
struct sim_guard {
    struct sim_location condition; /* Step 0: none is known. */
    struct sim_deciding_read read; /* What it was decided on: not compared. */
    struct sim_location set; /* What another had written there before that; step 0: nothing. */
    bool onward; /* It passes where all of them by that actor are decided so from there on. */
    struct sim_location copied; /* Where its actor has copied that in that step, and compares it
                                 * with the copy; step 0: it does not. */
};

/* A call, or another event; event SIM_EVENT_NONE: there is none. */
struct sim_noted_call {
    struct sim_location at[SIM_CAUSE_CALLS / 4]; /* The first has no function: in a library. */
    uint32_t at_count;
    uint64_t event;
};

/* A condition by which what is left is not read (omitted.h); step 0: none is known. */
struct sim_omission {
    struct sim_guard guard;
    bool passes; /* With that decided the other way the run passes; else it is read again. */
};

/* Something of which an actor is not notified. */
struct sim_unnotified {
    bool known;
    struct sim_silence silence;
    uint32_t part; /* The actor that is not notified. */
    /* What was asked for last: epoll_ctl; of a timer its arming; COUNTED: the last write; PUSHED:
     * the first push that was not handed over; SET_ASIDE: the completion without space; */
    struct sim_noted_call asked;
    /* … TIMER: the arming that this undoes; UNASKED: what was asked for before; UNWATCHED: what
     * undoes it; TAKEN: the last read in another place; COUNTED: the write before it. */
    struct sim_noted_call undone;
    /* The last report: the wait that returned it; SET_ASIDE: the last enter. */
    struct sim_noted_call reported;
    /* The last read or write of it; COUNTED: the read; PUSHED: the last enter; SET_ASIDE: the last
     * reap. */
    struct sim_noted_call moved;
    struct sim_omission omission;
    bool after; /* … which came after the report. */
    bool full;  /* It failed with EAGAIN, and what has become ready is space. */
};

enum sim_unanswered_kind {
    SIM_UNANSWERED_NONE,
    SIM_UNANSWERED_REFUSED,
    SIM_UNANSWERED_UNHEARD,
    SIM_UNANSWERED_EMPTY,
    SIM_UNANSWERED_MERGED,
    SIM_UNANSWERED_LEFT,
    SIM_UNANSWERED_UNCANCELLED,
    SIM_UNANSWERED_KINDS
};

/* What was asked for, and did not happen (unanswered.h). */
struct sim_unanswered {
    uint32_t kind; /* enum sim_unanswered_kind */
    uint32_t object;
    uint64_t left; /* LEFT: so much. */
    /* The call: refused; posted; the wake; the notification, or what was put in, that found one
     * there; UNCANCELLED: the push. */
    struct sim_noted_call asked;
    /* UNHEARD: the end of a subscription; EMPTY: what erased the waker; MERGED, LEFT: what was put
     * in before; UNCANCELLED: the push of the cancel. */
    struct sim_noted_call before;
    /* UNHEARD: the next subscription; MERGED, LEFT: the last that takes; UNCANCELLED: how the
     * cancel ended. */
    struct sim_noted_call after;
};

#define SIM_UNUSUAL_MAX 4u
#define SIM_UNUSUAL_CONDITIONS 64u

/* Something that each run does that fails, and few that pass. */
struct sim_unusual_trait {
    uint32_t kind;             /* enum sim_trait_kind */
    uint32_t passes;           /* So many of those that pass do it, too, … */
    uint32_t fails;            /* … and so many of those that fail. */
    uint32_t rank;             /* How simple it is; 0: of a single line. */
    uint32_t first;            /* The instruction. */
    struct sim_location at;    /* With its caller only where that belongs to it. */
    struct sim_location other; /* As in sim_trait. */
    struct sim_location third; /* STALE: where it was read. */
    uint32_t line;             /* BRANCH: where it continues, in the same function; 0: not known. */
    bool within;               /* It is in what was called there, of a library. */
};

/* What is different from runs that pass (unusual.h). */
struct sim_unusual {
    uint32_t passing; /* So many were asked; 0: too few are known. */
    uint32_t failing; /* So many others fail in the same way, and do the same. */
    struct sim_unusual_trait all[SIM_UNUSUAL_MAX];
    uint32_t count;
    bool simple; /* The rarest is of a single line, and in no run that passes. */
    struct {
        uintptr_t pc;
        bool taken;
    } conditions[SIM_UNUSUAL_CONDITIONS]; /* That no run that passes decides so. */
    uint32_t condition_count;
};

struct sim_cause {
    uint32_t kind; /* enum sim_cause_kind */
    /* Where it went wrong, innermost first: the place itself, then who called it. */
    struct sim_location at[SIM_CAUSE_CALLS];
    uint32_t at_count;
    struct sim_location stored; /* Where its waker was stored. */
    /* NEVER_STORED: where a slot that has no waker was woken for it; no function: nowhere. */
    struct sim_location unheard;
    uint32_t loop; /* COALESCED: the loop that should poll it, and is not woken; or PART_NONE. */
    /* NEVER_STORED: the combinator whose waker is not where the blocked task's own is; 0: none. */
    uint32_t past;
    bool by_rest;    /* NEVER_STORED: in a timer that does not run. */
    bool by_silence; /* NEVER_STORED: with a host that was told to be silent after its report. */
    bool by_look;    /* NEVER_STORED: it had seen what it waits for, and fell asleep. */
    bool by_timer;   /* What did not fire is a timer that was due. */
    bool by_word;    /* Known from the word of memory that decides. */
    bool by_passing; /* `at` is where the passing run wakes the blocked task. */
    uint32_t by_counterfactual; /* enum sim_counterfactual_kind: what the task would go on with. */
    bool unpolled; /* ERASED, COALESCED: a task was woken, and `loop` does not poll it: what was to
                    * say so is lost, or it blocks without looking; `before` is the wake. */
    bool taken;    /* … COALESCED: `at` is where it took the notification. */
    bool wiped;    /* ERASED: by the blocked task itself, as it fell asleep. */
    /* by_counterfactual LOST, or wiped: whose write it was that is written over `at`. */
    struct sim_location before;
    /* by_counterfactual ELSEWHERE: so many of `at`, in front, are functions that who would do it
     * goes through instead; behind them stands where it is done in the passing run. COALESCED: what
     * who would wake it goes through, and is turned away; behind them what turns it away. */
    uint32_t lost_count;
    bool lost_only;            /* … and in this run alone. */
    struct sim_location given; /* … and where it was given what it should pass on, where known. */
    /* NOT_A_WAKE: a wake of a blocked task that found it awake already, before its last turn; part
     * NONE: there is none. */
    struct sim_location merged;
    uint32_t merged_part; /* The actor it woke. */
    uint64_t merged_turn; /* The step of that turn. */
    struct sim_attempted_wake attempted;
    /* by_counterfactual LOST: what the caller of at[0] called right before it; no function: nothing
     * known. */
    struct sim_location prior;
    /* COALESCED: the line of the runtime that polled who woke itself; no function: not known. */
    struct sim_location poller;
    struct sim_location blocked_at; /* by_counterfactual DROPPED: where. */
    bool by_call;                   /* NEVER_STORED: `at` is a call that the passing run makes. */
    /* NOT_A_WAKE: what is held that others wait for, each by an actor that the one before waits
     * for. `circle`: the last one waits for the first. */
    const struct sim_hold *holds[SIM_HOLDS_CHAIN];
    const struct sim_wait *hold_waits[SIM_HOLDS_CHAIN]; /* For each of them. */
    struct sim_location hold_taken[SIM_HOLDS_CHAIN];    /* Where each was. */
    uint32_t hold_count;
    uint32_t hold_waiter; /* The actor that waits for the first. */
    bool circle;
    uint32_t front_count; /* So many of `at`, in front, are what is unusual. */
    bool by_trace;        /* `at` are the functions that were gone through, the last in front. */
    struct sim_unnotified unnotified; /* Its places are those of `at`. */
    struct sim_unanswered unanswered; /* … NONE: nothing such. */
    struct sim_fate fate;             /* Of a program's thread; `at` begins with its places. */
    struct sim_guard guard;           /* Why the step of at[0] did no more. */
    /* NOT_A_WAKE: on which values those that are blocked have decided to wait. */
    struct sim_deciding_read waiting[SIM_WAITING_MAX];
    uint32_t waiting_count;
    struct sim_failed_value failed; /* NOT_A_WAKE: of an assertion, or a loop. */
    struct sim_discarded discarded; /* ERASED: what the program itself has thrown away. */
    bool by_unusual;                /* `front_count` of `at` are what is unusual. */
};

/* What is known of a failure. */
struct sim_evidence {
    const struct sim_ledger *ledger;
    const struct sim_wake_outcome *wake_outcome;
    const struct sim_outcome *outcome;
    const struct sim_analysis *analysis; /* NULL: none was made. */
    const struct sim_analysis *loop;     /* Of the loop that polls the blocked task; NULL: none. */
    const struct sim_crash *crash;       /* NULL, or no signal: it did not die. */
    struct sim_places *places;           /* NULL: only events have places. */
    const struct sim_holds *holds;
    const struct sim_trace *held; /* What was executed with what is held; NULL: not walked. */
    /* The nearest run that passes, NULL where there is none. */
    const struct sim_ledger *passing;
    const struct sim_counterfactual *counterfactual; /* NULL: none was asked. */
    const struct sim_attempt *attempt;               /* NULL: not looked for. */
    const struct sim_trace *over; /* The step that writes over it; NULL: not walked. */
    /* The way, in this run and in the passing one, of who was given what the blocked task waits
     * for, or would do it (counterfactual replay ELSEWHERE), or of the loop that sleeps. NULL: not
     * walked. */
    const struct sim_trace *here;
    const struct sim_trace *there;
};

void sim_cause_find(const struct sim_evidence *evidence, struct sim_cause *ret_cause);

/* Where, in the step that owed the wake, a source became ready and its host was to be silent about
 * it; SIM_EVENT_NONE. */
uint64_t sim_cause_silence(
        const struct sim_actor_table *actor_table, const struct sim_wake_outcome *wake_outcome);

/*
 * Where an actor does in the passing run what the blocked task waits for: who was given it in this
 * run instead, by the same function, and in which step. Returns its part; SIM_PART_NONE: none is
 * known to have been.
 */
uint32_t sim_cause_taker(const struct sim_evidence *evidence, uint64_t *ret_step);

/* What a blocked actor waits for, that another holds and will not give back: the last one of
 * the chain. NULL: nothing such. */
const struct sim_hold *sim_cause_held(const struct sim_evidence *evidence);

/* What did not happen: its calls are the cause's places. */
void sim_cause_add_unanswered(struct sim_cause *cause, const struct sim_unanswered *unanswered);

/* What was waited for came and went: another value was written there, and overwritten, before the
 * blocked actor read it. */
void sim_cause_add_reset(struct sim_cause *cause, const struct sim_guard *guard);

/* The same, where it was copied by the blocked actor as if it had been used. */
void sim_cause_add_marked(struct sim_cause *cause, const struct sim_guard *guard);

/* What became of a wake says more than anything else: its places go in front. */
void sim_cause_add_fate(struct sim_cause *cause, const struct sim_fate *fate);

/* The places of a call whose stack was taken; without one they are as they were. */
void sim_cause_add_stack(const struct sim_evidence *evidence, const struct sim_stack *stack,
        struct sim_noted_call *call);

/* The actor that is not notified of what it waits for, and why: these are the cause's places. */
void sim_cause_add_unnotified(struct sim_cause *cause, const struct sim_unnotified *unnotified);

/* What was put somewhere and thrown away: both lines are the cause's places. */
void sim_cause_add_discarded(struct sim_cause *cause, const struct sim_discarded *discarded);

/* What is unusual says more than anything else that is known: its places go in front. */
void sim_cause_add_unusual(struct sim_cause *cause, const struct sim_unusual *unusual);

/* Whether what is to blame is the line of an event, whose callers are not known. */
bool sim_cause_is_event(const struct sim_cause *cause);

/* Adds who called the function that is to blame; `call` is its line, with the stack there. */
void sim_cause_add_callers(const struct sim_evidence *evidence, const struct sim_walk_stop *call,
        struct sim_cause *cause);

/* The step in which a loop heard last of what it does not ask for again (counterfactual replay
 * NOT_REARMED); 0: none. */
uint64_t sim_cause_reported(const struct sim_evidence *evidence);

/* Where what was written over something is to blame: the function that wrote first, and the one
 * that wrote over it and had no part in the first. False: no such two. */
bool sim_cause_order(const struct sim_evidence *evidence, const struct sim_cause *cause,
        struct sim_location *ret_first, struct sim_location *ret_second);

/* "never-stored" …; static; "?" for a number that is none. */
const char *sim_cause_name(uint32_t kind);
