/*
 * world.h -- one run: its actors, its clock, and its step rule.
 *
 * sim/README.md has the step rule as numbered prose; step.c follows it line by
 * line. This header is for kinds of actors, the host and the judge; scenarios
 * include sim/rewake.h only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <setjmp.h>
#include <stddef.h>

#include "runtime/base/list.h"
#include "sim/core/actor.h"
#include "sim/core/code/call_stack.h"
#include "sim/core/decide/decider.h"
#include "sim/core/decide/draws.h"
#include "sim/core/decide/options.h"
#include "sim/core/enabled.h"
#include "sim/core/memory/arena.h"
#include "sim/core/record/call.h"
#include "sim/core/record/gains.h"
#include "sim/core/record/outcome.h"
#include "sim/core/record/recorder.h"

struct sim__foreigners;
struct sim_threads;
struct sim_object_name;
struct sim_checkpoints;
struct sim_scenario;
struct sim_fiber;
struct rt_context;

/* Quiescences of one run that may be audited. */
#define SIM_AUDITS_MAX 32u

/* Gains of four replays are compared at once; the last journal is for the steps up to a stop. */
#define SIM_JOURNALS 5u

/* Sites of SIM_ALWAYS of one run that are noted; a power of two. */
#define SIM_CHECKED_MAX 64u

/* Where a run stops before its end, for the judge. */
struct sim_stop {
    uint64_t step; /* After this many steps; UINT64_MAX: nowhere. */
    bool at_quiet; /* And then at the quiescence, before the clock moves. */
};

/* Why nothing is reported of what an actor may wait for. */
enum sim_silent {
    SIM_SILENT_SPENT,     /* Its one report was delivered (SIM_FD_ONESHOT). */
    SIM_SILENT_EDGE,      /* What is there was reported, and left (SIM_FD_EDGE). */
    SIM_SILENT_TIMER,     /* A timer that is not armed. */
    SIM_SILENT_COUNTED,   /* A counter, signals: one read took what several writes were for. */
    SIM_SILENT_PUSHED,    /* Of a ring: operations that were pushed, and not handed over. */
    SIM_SILENT_SET_ASIDE, /* Of a ring: completions for which its queue had no space. */
    SIM_SILENT_UNASKED,   /* It is ready and registered, and not for this. */
    SIM_SILENT_UNWATCHED, /* It has something to read, and no actor waits for it. */
    SIM_SILENT_TAKEN,     /* It is waited for, and what was there is read. */
    SIM_SILENTS
};

struct sim_silence {
    uint32_t kind; /* enum sim_silent */
    uint32_t object;
    uint32_t waiter; /* Index of the actor that is blocked on it; 0: any. */
    uint32_t events; /* SIM_FD_…: what holds. */
    uint32_t left;   /* How much: bytes, connections, writes, operations; 0: not known. */
    uint32_t nth;    /* TAKEN: which report for nothing it would be (struct sim_question). */
    uint64_t step;   /* COUNTED: of that read. */
};

/* The stack of one call that is an event (record/call.h), for an explanation. */
struct sim_call_watch {
    uint64_t step; /* In which it is made; */
    uint32_t nth;  /* … it is the nth there, from 1 on. */
    uint32_t seen;
    void (*take)(struct sim_stack *ret);
    struct sim_stack stack; /* Not taken: it was not reached. */
};

/* What a runtime, a host, a network or a primitive does for the world. Each function gets the
 * binding's argument, and may be NULL. */
struct sim_binding_ops {
    /* Stage 3, and the end of a run: NULL when all is well, else one sentence. */
    const char *(*audit)(void *argument);

    /* The run is over: checks leaks and balances. May call sim_fail. */
    void (*close)(void *argument);
    uint64_t (*lost)(void *argument); /* Cloned wakers that no memory holds. */

    /* After each step of any actor, which may have polled or cancelled tasks. */
    void (*after_step)(void *argument);

    /* Inside a wake, a drop or a cleanup, under fault `reentrancy`: there no lock may be held, so
     * any call into the runtime is legal (W7, T9). */
    void (*reenter)(void *argument);

    /* A loop has returned from asking its host. */
    void (*turned)(void *argument);

    /* Of a timer wheel on the world's clock, in nanoseconds. */
    bool (*firing)(const void *argument);      /* Whether its timers are being fired. */
    uint64_t (*next_ns)(const void *argument); /* The earliest deadline; SIM_NEVER: none. */

    /* Of a host, for the judge and for explanations. */
    void (*renew)(void *argument); /* Stage 2: reports everything ready once more. */
    /* Writes the `nth` thing that is silent, from 0 on, and returns how many there are. */
    uint32_t (*silences)(void *argument, uint32_t nth, struct sim_silence *ret);
    /* What was not done is done, so that it is reported; nothing where it is not the host's. */
    void (*ask_again)(void *argument, const struct sim_silence *silence);
    void (*pretend)(void *argument); /* Reports everything asked for once, ready or not. */
};

/* In the arena, by the one who makes it. */
struct sim_binding {
    const struct sim_binding_ops *ops;
    void *argument;
    const char *name; /* In findings of `audit`. */
    struct sim_binding *next;
    struct sim_binding *next_stepped; /* The next with `after_step`. */
};

/* The bindings of `world` that have `hook`, in the order in which they were added. */
#define sim_bindings_each(binding, world, hook) \
    for (struct sim_binding *binding = (world)->bindings; binding != NULL; \
            binding = binding->next) \
        if (binding->ops->hook == NULL) { \
        } else

/* A run that has ended, while the judge makes replays of it in the same process: where the process
 * crashes in a replay, its parent reads this. */
struct sim_ended {
    bool asking;
    struct sim_outcome outcome; /* Before judging, but with the actor that the replay is about. */
    struct sim_recorder recorder;
};

/* Where the run stops in a debugger (trap.c). */
struct sim_trap {
    uint64_t step; /* Before this step; UINT64_MAX: nowhere any more. */
};

/* Waits that their own time-outs ended, although the waiter could have made the same progress
 * before: the program chose it (judge.h). Only the first of a run. */
#define SIM_TIMEOUTS_MAX 32u
struct sim_timeouts {
    uint32_t count;
    struct sim_timeout {
        uint32_t site; /* Of the wait; 0: not known. */
        uint32_t actor;
        uint64_t since_step;
    } all[SIM_TIMEOUTS_MAX];
};

struct sim_world {
    /* Kept across runs. */
    struct sim_arena arena;
    struct sim_recorder recorder;
    struct sim_decider decider;
    struct sim_actor **actors; /* By index; [0] is the world itself. */
    struct sim_enabled enabled;
    uint16_t *timed;                     /* Indices of actors with a due time. */
    volatile uint64_t *progress;         /* A counter that moves with each step, for the parent. */
    uint64_t progress_max;               /* At this `progress` no more replays begin; see below. */
    bool refused;                        /* A replay was refused since that was set. */
    struct sim_checkpoints *checkpoints; /* NULL: every run starts from its beginning. Borrowed. */
    struct sim_ended ended;
    struct sim_draws *draws;      /* Where drawn numbers are noted; NULL: nowhere. Borrowed. */
    struct sim_gains *gains;      /* Where gains are noted; NULL: nowhere. Borrowed. */
    struct sim_gains *journals;   /* SIM_JOURNALS of them, for the judge. */
    char *snapshots;              /* SIM_SNAPSHOTS places; see sim_snapshot_take. */
    struct sim_timeouts timeouts; /* Of the run that was judged last. */

    /* Of this run; from `self` on all zero when it begins, but for a few. */
    const struct sim_scenario *scenario;
    struct sim_options options;
    struct sim_stop stop;
    struct sim_actor self;      /* The world as an actor: for choices that belong to no other. */
    struct sim_actor *current;  /* On whose behalf things happen now. */
    struct sim_actor *stepping; /* Whose step this is; differs where a loop polls a task. */
    uint32_t actor_count;       /* Indices given, with the world's. */
    uint32_t timed_count;
    uint32_t foreground; /* Actors that are waited for and have not finished. */
    uint32_t tasks;
    uint64_t now_ns;
    uint64_t step;
    uint64_t next_due_ns;
    uint64_t busy_steps;    /* After this many steps without progress … */
    uint64_t busy_ns;       /* … a step costs this much; 0: step_ns, as before. */
    uint64_t clock_calls;   /* Of sim_now and sim_work in this step. */
    uint64_t work_ns;       /* Charged by sim_work during this step, … */
    uint64_t allowed_ns;    /* … this much when the task last asked and was allowed more … */
    uint64_t slow_ns;       /* … and the most between two such answers. */
    uint64_t lost_until_ns; /* When what slow steps have cost is paid for: see SIM_LOST_NS. */
    uint64_t limit_step;    /* Before it no limit on steps can be reached. */
    uint64_t progress_step; /* The last step with progress. */
    uint64_t heals_ns;      /* When the last partition ends: until then progress is held back … */
    uint64_t held_step;     /* … and the livelock limit counts from here … */
    uint32_t held;          /* … so often already. */
    uint64_t news_step;     /* The last in which a thread did what another one may see, … */
    uint64_t news_ns;       /* … and its time. 0: not noted, there are no threads. */
    uint64_t jumped_from_ns; /* The last move of the clock with no actor enabled. */
    uint64_t jumped_to_ns;
    uint64_t quiet_ns;         /* Of now_ns: the sum of such moves. The rest was spent in steps. */
    uint32_t audits_drawn;     /* This many quiescences are audited, … */
    uint32_t audits_seen;      /* … of this many that were drawn for it, … */
    uint32_t audit_stride;     /* … one in this many. */
    uint64_t quiet;            /* Quiescences so far. */
    uint64_t injections;       /* Faults, late and spurious events, slow steps so far. */
    uint64_t fault_free_after; /* In force, as the next two: when the fault-free phase begins, … */
    uint64_t converge_steps;   /* … and how long it may take; UINT64_MAX: no limit. */
    uint64_t converge_ns;
    uint64_t fault_free_step; /* Where the phase began, … */
    uint64_t fault_free_ns;
    uint64_t time_limit_ns; /* Of the run, or of its fault-free phase. */
    bool fault_free;        /* … if it did. */
    bool stopped;           /* At `stop`. */
    bool direct;            /* sim__world_next may take a step's decisions on another stack. */
    uint32_t picked; /* The actor at this place of the queue, from 1 on, was chosen so; 0: none. */
    bool over;       /* The run has ended. */
    uint64_t suspensions;    /* Polls that left a task blocked. */
    uint64_t cancels;        /* Tasks that a fault has cancelled. */
    uint64_t calm_until;     /* No actor is perturbed before this step. */
    uint64_t stood_still_ns; /* By fault `clock`: no task could have been in time. */
    bool spurious_polling;   /* The judge's spurious poll is in progress. */
    bool takes_locks;        /* A question: a lock is taken also from who holds it. */
    bool free_steps;         /* In a replay of the judge: steps cost no time. */
    uint64_t consumed; /* CONSUME, PROGRESS and READ so far: what a spurious poll may have moved. */
    void *state;       /* The scenario's, for `done` and `check`. */
    bool closing;      /* After the end: background is cancelled, memory is freed. */
    bool finished;     /* The outcome is complete: an assertion that fails now is the strategy's. */
    uint32_t order;    /* In force: enum sim_order. */
    uint32_t profile;
    uint64_t faults;
    struct sim_binding *bindings; /* In the order in which they were added. */
    struct sim_binding **bindings_end;
    struct sim_binding *stepped; /* Those with `after_step`: the one hook on the path of a step. */
    struct sim_binding **stepped_end;
    const struct sim_object_name *names; /* That the scenario gave, the latest first. */
    struct sim__foreigners *foreigners;  /* Of bind/foreign.h. */
    struct sim_threads *threads;         /* Of thread/thread.h; NULL: none. */
    struct sim__sockets *sockets;        /* Of host/sys_inet.h; NULL: no table was made yet. */
    bool keeps_memory;        /* Blocks of malloc that are left at the end are no leak. */
    bool program;             /* Of a program that knows nothing of the simulator (sim/program). */
    bool loses_little;        /* Slow steps are short: SIM_LOST_NS. */
    bool long_run;            /* Its steps cost more now. */
    bool late_timeouts;       /* What only an actor's own time-out brings is late all the same. */
    bool mock_time;           /* The clock is the test's (mock.h). */
    bool in_reentrancy;       /* A reentrancy fault is acting: its own calls trigger no other. */
    struct sim_fiber *fiber;  /* The loop that runs now; NULL: none. */
    struct sim_fiber *fibers; /* All of this run. */
    struct rt_context *inner; /* Whose stack is in use; NULL: the world's. */
    bool noted;               /* `checked` or `asked` is not empty. */

    /* Of this run, large, and empty in most: see sim__has_notes. */
    uint64_t audit_steps[SIM_AUDITS_MAX]; /* The quiescences drawn for audit. */
    uint32_t checked[SIM_CHECKED_MAX];    /* Sites of SIM_ALWAYS that were reached; 0: free. */
    uint32_t asked[SIM_CHECKED_MAX];      /* … and of SIM_SOMETIMES, whose condition was false. */
    jmp_buf escape;                       /* Where sim_fail jumps, on the world's stack. */
    /* The hooks are kept across runs; NULL: none. */
    void (*on_fault)(void);                                    /* A fault fires. */
    void (*on_fail)(void);                                     /* sim_fail was called. */
    void (*on_loop_wake)(struct sim_actor *loop, bool asleep); /* A loop is woken, asleep or not. */
    void (*on_leave)(void); /* sim_fail was called: what runs now is left for good. */
    /* The run has ended: stacks of its actors are recorded, which are dropped next. */
    void (*on_stacks)(struct sim_world *world);
    struct sim_trap *trap;       /* Of the next run; NULL: none. */
    struct sim_freeing *freeing; /* Likewise: a call of free() that is asked for (reuse.h). */
    struct sim_outcome outcome;
};

/* The world whose run is in progress in this process; NULL between runs. */
extern struct sim_world *sim_world_current;

/* Memory that a world keeps across runs, for recorder.h and tape.h. */
struct sim_world_memory {
    struct sim_record_memory record;
    struct sim_tape tape; /* Empty, with capacity. */
};

/* Makes a world: reserves the arena (near `arena_hint`, with `fill` for fresh memory) and its
 * tables. `memory` is borrowed. */
void sim_world_init(struct sim_world *world, const struct sim_world_memory *memory,
        void *arena_hint, uint8_t fill);
void sim_world_fini(struct sim_world *world);

/* Whether the judge may begin another replay: `progress` is below `progress_max`. If not, `refused`
 * is set. */
static inline bool
sim_world_may_replay(struct sim_world *world)
{
    bool may = *world->progress < world->progress_max;
    world->refused = world->refused || !may;
    return may;
}

/* Counts other work of the judge as this many steps. */
static inline void
sim_world_spend(struct sim_world *world, uint64_t steps)
{
    *world->progress = *world->progress + steps;
}

/* What is recorded. */
struct sim_recording {
    bool events;
    bool texts;
};

/*
 * Resets everything and runs `scenario` once. The verdict, before judging: a stall is `deadlock`
 * with oracle `stall` (judge.h polls the blocked tasks). *ret_outcome is filled in any case.
 */
void sim_world_run(struct sim_world *world, const struct sim_scenario *scenario,
        const struct sim_options *options, uint64_t seed, struct sim_strategy *strategy,
        struct sim_recording recording, struct sim_outcome *ret_outcome);

/*
 * As sim_world_run, but stops at `stop` and leaves the world in that state. True when the stop was
 * reached. sim_world_drop must follow.
 */
bool sim_world_run_to(struct sim_world *world, const struct sim_scenario *scenario,
        const struct sim_options *options, uint64_t seed, struct sim_strategy *strategy,
        struct sim_recording recording, struct sim_stop stop);

/* After sim_world_run_to: continues the run to a later stop. True when it was reached. */
bool sim_world_continue(struct sim_world *world, struct sim_stop stop);

/* How a stopped run continues with all choices muted, after a spurious poll or without one. */
struct sim_settling {
    uint64_t steps;      /* At most this many. */
    uint64_t until_ns;   /* The clock moves up to there; before now: it stands still. */
    bool free_steps;     /* Steps and work cost no time. */
    bool first_gain;     /* Only until something is noted in world->gains. */
    uint32_t foreground; /* Only until fewer actors are waited for; 0: this does not matter. */
};

enum sim_settled {
    SIM_SETTLED,         /* Nothing is enabled, or due in time; or the run is over; or it gained. */
    SIM_SETTLED_LIMIT,   /* A limit was reached: of steps, or one of the run. */
    SIM_SETTLED_VERDICT, /* The run ended with a verdict: it is in world->outcome. */
};

/* After sim_world_run_to: continues the run as described by `how`. */
enum sim_settled sim_world_settle(struct sim_world *world, const struct sim_settling *how);

/* An actor that waits for the outside, where each that the run waits for is blocked and may still
 * be woken. NULL: there is none. */
const struct sim_actor *sim_world_idle(const struct sim_world *world);

/* After sim_world_run_to: calls fn(argument) as a step of `actor`, with choices muted; false when
 * the run ended with a verdict (it is in world->outcome). */
bool sim_world_call(
        struct sim_world *world, struct sim_actor *actor, void (*fn)(void *), void *argument);

/* Discards the stopped run. */
void sim_world_drop(struct sim_world *world);

/*
 * Copies the stopped run to snapshot `place` (below SIM_SNAPSHOTS), which can be restored any
 * number of times until the run is dropped. False where that is not sound or too large
 * (memory/checkpoint.h): there is no snapshot, and the caller makes the replay again.
 */
bool sim_snapshot_take(struct sim_world *world, uint32_t place);
void sim_snapshot_restore(struct sim_world *world, uint32_t place);

/*
 * Ends the run with a verdict. Never returns: control goes back to the driver, from any stack.
 * `site`: the responsible line, or 0. The message is printf-like, one sentence.
 */
__attribute__((noreturn, cold, format(printf, 6, 7))) void sim_fail(struct sim_world *world,
        enum sim_verdict verdict, enum sim_oracle oracle, const struct sim_actor *actor,
        uint32_t site, const char *format, ...);

/* Records one event, with the current actor and step. */
void sim_world_event(struct sim_world *world, uint32_t kind, uint32_t object, uint32_t site,
        uint32_t await, uint64_t argument);

/* Records a call of the program on `object`, as the current actor's. */
void sim_world_called(
        struct sim_world *world, const struct sim_call *call, uint32_t object, uint32_t site);

/* Progress: bytes moved, a task finished, a source changed. Livelock counts from here. */
static inline void
sim_world_progress(struct sim_world *world)
{
    world->progress_step = world->step;
}

/* The thread whose step this is has done something that another may see: woken it, written, made or
 * ended a thread. What only timers do, and waiting again, is none. */
static inline void
sim_world_news(struct sim_world *world)
{
    world->news_step = world->step;
    world->news_ns = world->now_ns;
}

/* In this run tasks are polled inside steps of other actors: after a poll, what happens belongs to
 * the stepping actor again. */
void sim_world_loop_polls(struct sim_world *world);

/* Adds a binding to the run; `name` is borrowed. */
void sim_world_bind(struct sim_world *world, struct sim_binding *binding,
        const struct sim_binding_ops *ops, void *argument, const char *name);

/* All audits: the first finding ends the run, with the name of its primitive. */
void sim_world_audit(struct sim_world *world);

/* In the replays that follow in this process the stacks of `count` calls are taken; borrowed.
 * NULL: of none. */
void sim_world_watch_calls(struct sim_call_watch *watches, uint32_t count);

/* The `nth` thing, from 0 on, that is silent in any of the bindings. False: there are fewer. */
bool sim_world_silence(struct sim_world *world, uint32_t nth, struct sim_silence *ret);

/* Cloned wakers that no memory of the run holds. Between two steps. */
uint64_t sim_world_lost(const struct sim_world *world);

/* The work of this step up to here was allowed: the quota counts from here (over-budget). */
static inline void
sim__allow(struct sim_world *world)
{
    uint64_t since_ns = world->work_ns - world->allowed_ns;
    world->slow_ns = since_ns > world->slow_ns ? since_ns : world->slow_ns;
    world->allowed_ns = world->work_ns;
}

/* sim_actor_enable, on the path of every wake. */
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

/* sim__actor_enable, at the head of the queue: for the actor whose step this is, which has never
 * stopped being enabled, and is alternative 0 of the next choice. */
static inline void
sim__actor_enable_front(struct sim_actor *actor)
{
    struct sim_world *world = actor->world;
    rt_assert(!actor->enabled && !actor->done);
    actor->enabled = true;
    actor->enabled_step = world->step;
    sim__enabled_push_front(&world->enabled, actor->index);
}

/*
 * The step of world->stepping ends, on whichever stack it runs: rules 5, 6, 1 and 3. Returns the
 * actor that takes the next step, if it is one of `ops`: its step has begun, and the caller runs it
 * without a return to the world's stack. NULL: the caller returns from `step`, and the world
 * continues there.
 */
struct sim_actor *sim__world_next(struct sim_world *world, const struct sim_actor_ops *ops);

/* A step of `actor` has ended, or one of a loop in which it was polled. */
static inline void
sim__actor_stepped(struct sim_actor *actor)
{
    actor->polls++;
    actor->stopped_step = actor->world->step;
    actor->stopped_ns = actor->world->now_ns;
}

/* Names a stream across runs. */
static inline uint32_t
sim__stream_id(const struct sim_actor *actor, enum sim_kind kind)
{
    return actor->id * 0x9e3779b1u + (uint32_t)kind;
}

/* Calls `on_fault` when a fault fires. */
static inline void
sim__chosen(const struct sim_world *world, enum sim_kind kind, uint32_t index)
{
    if (kind == SIM_KIND_FAULT && index != 0 && world->on_fault != NULL) {
        world->on_fault();
    }
}

/* sim_actor_choose, on the path of every poll. */
static inline uint32_t
sim__actor_choose(struct sim_actor *actor, enum sim_kind kind, uint32_t n, struct sim_odds odds)
{
    uint32_t index = sim_decide(&actor->world->decider, &actor->streams[kind],
            sim__stream_id(actor, kind), kind, n, odds, NULL, NULL);
    sim__chosen(actor->world, kind, index);
    return index;
}

/*
 * An actor is perturbed at most this often between two steps of progress, with any options and
 * strategy: more could keep a correct program from ending. Only `…_one_in=1` reaches it.
 */
#define SIM_INJECTED_MAX 64u

/* Something has waited for `steps` of the `limit` that is starvation. After half of it the
 * simulator adds no perturbation; the next check is at most this many steps away. */
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
    bool often = actor->perturbed >= SIM_INJECTED_MAX &&
                 actor->perturbed_progress == world->progress_step;
    return often || world->fault_free || world->step < world->calm_until;
}

static inline void
sim__count_perturbed(struct sim_world *world, struct sim_actor *actor)
{
    bool again = actor->perturbed_progress != world->progress_step;
    actor->perturbed = again ? 1 : actor->perturbed + 1;
    actor->perturbed_progress = world->progress_step;
    world->injections++;
}

/*
 * A choice whether to perturb `actor`: a fault, something late, spurious or slow; 0: not now.
 * `one_in` 0: never, and no occasion. In the fault-free phase, and where the actor is spared, the
 * answer is 0 and the occasion counts, so that all later ones keep their ordinals.
 */
static inline uint32_t
sim__perturb(struct sim_actor *actor, enum sim_kind kind, uint32_t n, uint64_t one_in)
{
    struct sim_world *world = actor->world;
    if (one_in == 0) {
        return 0;
    }
    bool spared = sim__spared(world, actor);
    uint32_t index = sim__actor_choose(actor, kind, spared ? 1 : n, sim_odds_once_in(one_in));
    if (index != 0) {
        sim__count_perturbed(world, actor);
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
