/*
 * world.h -- one run: its actors, its clock, and the rule by which it goes on.
 *
 * The step rule stands as numbered prose in sim/README.md; step.c follows it line
 * by line. This header is for kinds of actors, the host and the judge; scenarios
 * need sim/rewake.h only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CORE_WORLD_H
#define SIM_CORE_WORLD_H

#include <setjmp.h>
#include <stddef.h>

#include "runtime/base/list.h"
#include "sim/core/actor.h"
#include "sim/core/decider.h"
#include "sim/core/draws.h"
#include "sim/core/enabled.h"
#include "sim/core/gains.h"
#include "sim/core/memory/arena.h"
#include "sim/core/options.h"
#include "sim/core/outcome.h"
#include "sim/core/recorder.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim__foreigners;
struct sim_object_name;
struct sim_checkpoints;
struct sim_scenario;
struct sim_fiber;
struct rt_context;

/* Quiescences of one run that may be audited. */
#define SIM_AUDITS_MAX 32u

/* Gains of four replays are compared at once; the last journal is for the way to a stop. */
#define SIM_JOURNALS 5u

/* Places with SIM_ALWAYS of one run that are noted; a power of two. */
#define SIM_CHECKED_MAX 64u

/* Where a run stops before its own end, for the judge. */
struct sim_stop {
    uint64_t step; /* When so many steps have been taken; UINT64_MAX: nowhere. */
    bool at_quiet; /* And then at the quiescence, before the clock moves. */
};

/* A primitive's own audit (stage 3): NULL when all is well, else one sentence. */
struct sim_audit {
    struct rt_list link;
    const char *(*audit)(void *argument);
    void *argument;
    const char *name;
};

/* Something that is ready, and that nobody will be told of: it was asked for once, and told once
 * (SIM_FD_ONESHOT). */
struct sim_silence {
    uint32_t object;
    uint32_t events;  /* SIM_FD_…: what holds. */
    uint32_t told_to; /* Index of the actor that was told. */
};

/* What the host offers the judge: everything ready is reported once more (stage 2). To who
 * explains: something that is kept silent (false: nothing is); that all of it is asked for again;
 * and that everything that is asked for is told once, ready or not, as a host may at any time. */
struct sim_renewable {
    struct rt_list link;
    void (*renew)(void *argument);
    bool (*silent)(void *argument, struct sim_silence *ret);
    void (*ask_again)(void *argument);
    void (*pretend)(void *argument);
    void *argument;
};

/* Who looks at the world after each step, whoever's it was: a binding whose tasks are polled by a
 * loop, or are cancelled by somebody who is none of them. */
struct sim_after {
    struct rt_list link;
    void (*after)(void *argument);
    void *argument;
};

/* What is checked and given back when a run is over: leaks, balances. */
struct sim_closer {
    struct rt_list link;
    void (*close)(void *argument);    /* May call sim_fail. */
    uint64_t (*lost)(void *argument); /* Cloned wakers that lie nowhere now; NULL: it has none. */
    void *argument;
};

/* Who may act inside a wake, a drop or a cleanup, under fault `reentrancy`: all are called with
 * nothing held, so that anybody may do anything there (W7, T9). */
struct sim_reentrancy {
    struct rt_list link;
    void (*act)(void *argument);
    void *argument;
};

/* Whose timers count the nanoseconds of the world's clock: true while they are being fired, and the
 * earliest of their deadlines. Other wheels may count what they like. */
struct sim_clocked {
    struct rt_list link;
    bool (*firing)(const void *argument);
    uint64_t (*next_ns)(const void *argument); /* SIM_NEVER: none. */
    const void *argument;
};

/* Who wants to know that a loop has come back from asking its host. */
struct sim_returned {
    struct rt_list link;
    void (*returned)(void *argument);
    void *argument;
};

/* A run that has ended, while questions are put to replays of it, in its own process: should that
 * die of one, here is what is left to say of the run. */
struct sim_ended {
    bool asking;
    struct sim_outcome outcome; /* Before any answer, but with whom the question is put to. */
    struct sim_recorder recorder;
};

/* Where a debugger wants to look at the run (trap.c). */
struct sim_trap {
    uint64_t step; /* As this step is about to be taken; UINT64_MAX: nowhere any more. */
};

struct sim_world {
    /* Kept across runs. */
    struct sim_arena arena;
    struct sim_recorder recorder;
    struct sim_decider decider;
    struct sim_actor **actors; /* By index; [0] is the world itself. */
    struct sim_enabled enabled;
    uint16_t *timed;                     /* Indices of actors with a due time. */
    volatile uint64_t *progress;         /* A counter that moves with each step, for a watcher. */
    uint64_t progress_max;               /* Where no more replays are begun; see below. */
    bool refused;                        /* One was refused since that was set. */
    struct sim_checkpoints *checkpoints; /* NULL: no run is taken up in its middle. Borrowed. */
    struct sim_ended ended;
    struct sim_draws *draws;    /* Where drawn numbers are noted; NULL: nowhere. Borrowed. */
    struct sim_gains *gains;    /* Where gains are noted; NULL: nowhere. Borrowed. */
    struct sim_gains *journals; /* SIM_JOURNALS of them, for the judge. */
    char *snapshots;            /* SIM_SNAPSHOTS places; see sim_snapshot_take. */

    /* Of this run. */
    const struct sim_scenario *scenario;
    struct sim_options options;
    struct sim_stop stop;
    struct sim_actor self;      /* The world as an actor: streams of choices that are nobody's. */
    struct sim_actor *current;  /* On whose behalf things happen now. */
    struct sim_actor *stepping; /* Whose step this is; differs where a loop polls a task. */
    uint32_t actor_count;       /* Indices given, the world's own included. */
    uint32_t timed_count;
    uint32_t foreground; /* Actors that are waited for and have not finished. */
    uint32_t tasks;
    uint64_t now_ns;
    uint64_t step;
    uint64_t next_due_ns;
    uint64_t busy_steps;     /* After so many steps without progress … */
    uint64_t busy_ns;        /* … a step costs this much; 0: step_ns, as ever. */
    uint64_t clock_calls;    /* Of sim_now and sim_work in this step. */
    uint64_t work_ns;        /* Charged by sim_work during this step, … */
    uint64_t allowed_ns;     /* … that much when the task last asked and was told to go on … */
    uint64_t slow_ns;        /* … and the most between two such answers. */
    uint64_t limit_step;     /* Before it no limit on steps can be reached. */
    uint64_t progress_step;  /* The last step at which something got done. */
    uint64_t jumped_from_ns; /* The last move of the clock while all was quiet. */
    uint64_t jumped_to_ns;
    uint64_t quiet_ns;     /* Of now_ns: all such moves together. The rest was spent in steps. */
    uint32_t audits_drawn; /* So many quiescences are to be audited, … */
    uint32_t audits_seen;  /* … of so many that were drawn for it, … */
    uint32_t audit_stride; /* … one of so many. */
    uint64_t quiet;        /* Quiescences so far. */
    uint64_t disturbances; /* Faults, late and spurious events, slow steps so far. */
    uint64_t fault_free_after; /* In force, like the next two: when nothing disturbs any more, … */
    uint64_t converge_steps; /* … and how long the run may go on then; UINT64_MAX: as it likes. */
    uint64_t converge_ns;
    uint64_t fault_free_step; /* Where it became free of faults, … */
    uint64_t fault_free_ns;
    uint64_t time_limit_ns;  /* Of the run, or of what it takes since then. */
    bool fault_free;         /* … if it was. */
    bool stopped;            /* At `stop`. */
    bool over;               /* The run has ended. */
    uint64_t suspensions;    /* How often a task fell asleep after a poll. */
    uint64_t cancels;        /* Tasks that a fault has cancelled. */
    uint64_t calm_until;     /* No actor is perturbed before this step. */
    uint64_t stood_still_ns; /* By fault `clock`: nobody could have been in time. */
    bool nudging;
    bool free_steps;   /* Of a question: steps cost no time. */
    uint64_t consumed; /* CONSUME, PROGRESS and READ so far: what a spurious poll may have moved. */
    void *state;       /* The scenario's, for `done` and `check`. */
    bool closing;      /* After the end: background is cancelled, things are given back. */
    uint32_t order;    /* In force: enum sim_order. */
    uint32_t profile;
    uint64_t faults;
    struct rt_list audits;
    struct rt_list renewables;
    struct rt_list closers;
    struct rt_list afters;
    struct rt_list evils;
    struct rt_list clocked;
    struct rt_list returneds;
    const struct sim_object_name *names; /* That the scenario gave, the latest first. */
    struct sim__foreigners *foreigners;  /* What others' runtimes have said (bind/foreign.h). */
    bool mock_time;                      /* The clock is the test's (mock.h). */
    bool being_reentrancy;    /* One of them is acting: what that causes is left alone. */
    struct sim_fiber *fiber;  /* The loop that runs now; NULL: none. */
    struct sim_fiber *fibers; /* All of this run. */
    struct rt_context *inner; /* On whose stack we are; NULL: the world's own. */
    bool noted;               /* Something stands in `checked` or `asked`. */

    /* Of this run, large, and empty in most: see sim__has_notes. */
    uint64_t audit_steps[SIM_AUDITS_MAX]; /* The quiescences drawn for audit. */
    uint32_t checked[SIM_CHECKED_MAX];    /* Sites of SIM_ALWAYS that were come to; 0: free. */
    uint32_t asked[SIM_CHECKED_MAX];      /* … and of SIM_SOMETIMES, whose condition was false. */
    jmp_buf escape;                       /* Where sim_fail goes on the world's own stack. */
    void (*on_fault)(void); /* Kept across runs: called when a fault fires; NULL: nobody. */
    void (*on_fail)(void);  /* Kept across runs: called where sim_fail is; NULL: nobody. */
    /* Kept across runs: called where a loop is woken, asleep or not; NULL: nobody. */
    void (*on_loop_wake)(struct sim_actor *loop, bool asleep);
    struct sim_trap *trap; /* Kept across runs, of which it is the next one's; NULL: none. */
    struct sim_outcome outcome;
};

/* The world whose run is in progress in this process; NULL between runs. */
extern struct sim_world *sim_world_current;

/* Memory that a world keeps across runs; see recorder.h and tape.h for what it lends on. */
struct sim_world_memory {
    struct sim_record_memory record;
    struct sim_tape tape; /* Empty, with capacity. */
};

/*
 * Makes a world: reserves the arena (near `arena_hint`, with `fill` for fresh memory) and its
 * tables. `memory` is borrowed. RT_E_FULL when the system has no room.
 */
RT_MUST_CHECK rt_err sim_world_init(struct sim_world *world, const struct sim_world_memory *memory,
        void *arena_hint, uint8_t fill);
void sim_world_fini(struct sim_world *world);

/* Whether another replay of a run may begin, which is made to learn more about it: the counter of
 * steps has not reached `progress_max`. False is noted. */
static inline bool
sim_world_may_replay(struct sim_world *world)
{
    bool may = *world->progress < world->progress_max;
    world->refused = world->refused || !may;
    return may;
}

/* Counts work of such a kind that is no step: as much as so many steps. */
static inline void
sim_world_spend(struct sim_world *world, uint64_t steps)
{
    *world->progress = *world->progress + steps;
}

/* How much is written down. */
struct sim_recording {
    bool events;
    bool texts;
};

/*
 * Resets everything and runs `scenario` once. The verdict, before judging: a stall is `deadlock`
 * with oracle `stall` (judge.h asks the blocked tasks). *ret_outcome is filled in any case.
 */
void sim_world_run(struct sim_world *world, const struct sim_scenario *scenario,
        const struct sim_options *options, uint64_t seed, struct sim_strategy *strategy,
        struct sim_recording recording, struct sim_outcome *ret_outcome);

/*
 * As sim_world_run, but stops at `stop` and leaves the world as it stands there. True when the stop
 * was reached. sim_world_drop must follow.
 */
bool sim_world_run_to(struct sim_world *world, const struct sim_scenario *scenario,
        const struct sim_options *options, uint64_t seed, struct sim_strategy *strategy,
        struct sim_recording recording, struct sim_stop stop);

/* After sim_world_run_to: goes on as the run does, to a later stop. True when it was reached. */
bool sim_world_go_on(struct sim_world *world, struct sim_stop stop);

/* How a stopped run continues, with all choices muted, once a question has been put or not put. */
struct sim_settling {
    uint64_t steps;      /* At most so many. */
    uint64_t until_ns;   /* The clock moves up to there; before now: it stands still. */
    bool free_steps;     /* Steps and work cost no time. */
    bool first_gain;     /* Only until something is noted in world->gains. */
    uint32_t foreground; /* Only until fewer actors are waited for; 0: this does not matter. */
};

enum sim_settled {
    SIM_SETTLED,         /* Nothing is enabled, or due in time; or the run is over; or it gained. */
    SIM_SETTLED_LIMIT,   /* A limit was reached: of steps, or one of the run's own. */
    SIM_SETTLED_VERDICT, /* A verdict fell: it is in world->outcome. */
};

/* After sim_world_run_to: continues the run, as `how` says. */
enum sim_settled sim_world_settle(struct sim_world *world, const struct sim_settling *how);

/* After sim_world_run_to: calls fn(argument) with choices muted, as a step of `actor` would be;
 * false when a verdict fell (it is in world->outcome). */
bool sim_world_call(
        struct sim_world *world, struct sim_actor *actor, void (*fn)(void *), void *argument);

/* Gives the stopped run up. */
void sim_world_drop(struct sim_world *world);

/*
 * Keeps the stopped run as it stands, in place `place` (below SIM_SNAPSHOTS), so that it can be put
 * back there any number of times until it is dropped: a question is put, and the run is put back.
 * False where that is not sound or too large (memory/checkpoint.h), and then the place holds
 * nothing; the caller makes the replay again.
 */
bool sim_snapshot_take(struct sim_world *world, uint32_t place);
void sim_snapshot_put_back(struct sim_world *world, uint32_t place);

/*
 * Ends the run with a verdict. Never returns: control goes back to the driver, from whatever stack.
 * `site`: 0 when no line is to blame. The message is printf-like, one sentence.
 */
__attribute__((noreturn, cold, format(printf, 6, 7))) void sim_fail(struct sim_world *world,
        enum sim_verdict verdict, enum sim_oracle oracle, const struct sim_actor *actor,
        uint32_t site, const char *format, ...);

/* The same for what a primitive's audit has found wrong: the outcome has the primitive's name. */
__attribute__((noreturn, cold)) void sim_fail_audit(
        struct sim_world *world, const struct sim_audit *audit, const char *wrong);

/* Writes one event down, with the current actor and step. */
void sim_world_event(struct sim_world *world, uint32_t kind, uint32_t object, uint32_t site,
        uint32_t await, uint64_t argument);

/* Something got done: bytes moved, a task finished, a source changed (livelock counts from

 * here). */
static inline void
sim_world_progress(struct sim_world *world)
{
    world->progress_step = world->step;
}

/* In this run tasks are polled inside the steps of others: after a poll, what happens is the
 * stepping actor's again. */
void sim_world_loop_polls(struct sim_world *world);

/* Registers, for the run; the structs are the caller's, in the arena. */
void sim_world_add_audit(struct sim_world *world, struct sim_audit *audit);
void sim_world_add_renewable(struct sim_world *world, struct sim_renewable *renewable);
void sim_world_add_after(struct sim_world *world, struct sim_after *after);
void sim_world_add_closer(struct sim_world *world, struct sim_closer *closer);
/* Cloned wakers, of all closers, that lie nowhere in the run's memory now. Between two steps. */
uint64_t sim_world_lost(const struct sim_world *world);
void sim_world_add_reentrancy(struct sim_world *world, struct sim_reentrancy *reentrancy);
void sim_world_add_clocked(struct sim_world *world, struct sim_clocked *clocked);
void sim_world_add_returned(struct sim_world *world, struct sim_returned *returned);

/* The work of this step up to here was allowed: the quota counts again (over-budget). */
static inline void
sim__allow(struct sim_world *world)
{
    uint64_t since_ns = world->work_ns - world->allowed_ns;
    world->slow_ns = since_ns > world->slow_ns ? since_ns : world->slow_ns;
    world->allowed_ns = world->work_ns;
}

/* sim_actor_enable, in the path of every wake. */
static inline void
sim__actor_enable(struct sim_actor *actor)
{
    if (actor->enabled || actor->done) {
        return;
    }
    struct sim_world *world = actor->world;
    actor->enabled = true;
    actor->enabled_step = world->step;
    actor->cause = (uint32_t)world->step;
    sim__enabled_push(&world->enabled, actor->index);
}

/* Names a stream across runs. */
static inline uint32_t
sim__stream_id(const struct sim_actor *actor, enum sim_kind kind)
{
    return actor->id * 0x9e3779b1u + (uint32_t)kind;
}

/* Tells who wants to know it that a fault fires. */
static inline void
sim__chosen(const struct sim_world *world, enum sim_kind kind, uint32_t index)
{
    if (kind == SIM_KIND_FAULT && index != 0 && world->on_fault != NULL) {
        world->on_fault();
    }
}

/* sim_actor_choose, in the path of every poll. */
static inline uint32_t
sim__actor_choose(struct sim_actor *actor, enum sim_kind kind, uint32_t n, struct sim_odds odds)
{
    uint32_t index = sim_decide(&actor->world->decider, &actor->streams[kind],
            sim__stream_id(actor, kind), kind, n, odds, NULL, NULL);
    sim__chosen(actor->world, kind, index);
    return index;
}

/*
 * An actor is perturbed at most so often between two steps of progress, whatever the options and
 * the strategy say: more would keep a correct program from its end by itself. Far more than any
 * option but `…_one_in=1` brings about.
 */
#define SIM_DISTURBED_MAX 64u

/* Something has waited for `steps` of the `limit` that are starvation. With half of them gone the
 * simulator adds nothing more; the next check is at most this many steps away. */
#define SIM_CALM_STEPS 128u

static inline void
sim__keep_waiting(struct sim_world *world, uint64_t steps, uint64_t limit)
{
    if (steps > limit / 2) {
        world->calm_until = world->step + SIM_CALM_STEPS;
    }
}

static inline bool
sim__spared(const struct sim_world *world, const struct sim_actor *actor)
{
    bool often = actor->disturbed >= SIM_DISTURBED_MAX &&
                 actor->disturbed_progress == world->progress_step;
    return often || world->fault_free || world->step < world->calm_until;
}

static inline void
sim__count_disturbed(struct sim_world *world, struct sim_actor *actor)
{
    bool again = actor->disturbed_progress != world->progress_step;
    actor->disturbed = again ? 1 : actor->disturbed + 1;
    actor->disturbed_progress = world->progress_step;
    world->disturbances++;
}

/*
 * A choice by which the world disturbs who is in order: a fault, something late, spurious or
 * slow; 0: not now. `one_in` 0: never, and no occasion. Once the run is free of faults, and where
 * the actor is spared, the answer is 0 and the occasion counts, so that those of other runs keep
 * their numbers.
 */
static inline uint32_t
sim__disturb_how(struct sim_actor *actor, enum sim_kind kind, uint32_t n, uint64_t one_in)
{
    struct sim_world *world = actor->world;
    if (one_in == 0) {
        return 0;
    }
    bool spared = sim__spared(world, actor);
    uint32_t index = sim__actor_choose(actor, kind, spared ? 1 : n, sim_odds_once_in(one_in));
    if (index != 0) {
        sim__count_disturbed(world, actor);
    }
    return index;
}

/* `value` was drawn, with the choices of `kind` from the `ordinal`-th on. */
static inline void
sim__drawn(struct sim_actor *actor, enum sim_kind kind, enum sim_draw_form form, uint32_t ordinal,
        uint64_t lo, uint64_t hi, uint64_t value)
{
    if (actor->world->draws != NULL) {
        const struct sim_number drawn = {.ordinal = ordinal,
                .kind = (uint8_t)kind,
                .form = (uint8_t)form,
                .lo = lo,
                .hi = hi,
                .value = value};
        sim__note_drawn(actor, &drawn);
    }
}

/* Actor by index, or NULL. */
static inline struct sim_actor *
sim_world_actor(const struct sim_world *world, uint32_t index)
{
    return index < world->actor_count ? world->actors[index] : NULL;
}

/*
 * Adds up count(argument, memory, size) over all memory that a run can have written to: the arena
 * in use, and the writable memory of a scenario library.
 */
uint64_t sim_world_search(const struct sim_world *world,
        uint64_t (*count)(const void *argument, const char *memory, size_t size),
        const void *argument);

/* A new object number: `kind` (enum rt_object_kind), created by the current actor. */
uint32_t sim_world_object(struct sim_world *world, uint32_t kind);

/* Names `object` in the record and in messages; `name` is borrowed for the run. A second name for
 * one object has no effect. */
void sim_world_name(struct sim_world *world, uint32_t object, const char *name);

/* The name that was given, or NULL. */
const char *sim_world_object_name(const struct sim_world *world, uint32_t object);

#ifdef __cplusplus
}
#endif
#endif
