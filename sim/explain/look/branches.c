/*
 * branches.c -- breakpoints on conditional jumps, and a handler that does what the jump would.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/branches.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/base/sort.h"
#include "sim/core/world.h"

#define STEPS_MAX UINT64_C(400000)
#define DEATHS_MAX 40u
#define TRAP_FLAG 0x100

/* Jumps before what should have been done that are looked at. */
#define LEADING_MAX 24u

/* In shared memory. */
struct shared {
    struct sim_code *code;             /* In shared memory of its own. */
    struct sim_branches wanted;        /* To be switched, in the order of their trials. */
    uint32_t passes[SIM_BRANCHES_MAX]; /* So many executions were switched; 0: it fails, … */
    bool ended[SIM_BRANCHES_MAX];      /* … or it ends its actor, which may not end there. */
    bool reads[SIM_BRANCHES_MAX];      /* wanted.object, after the switch. */
    struct sim_tries tries;
    bool done;
};

/* ---- In the parent: which to try. ------------------------------------------------------------ */

/* How often the actor has executed the `index`-th instruction, that time included. */
static uint32_t
times_of(const struct sim_executed *executed, uint32_t index)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < index; i++) {
        count += !executed->all[i].piece && executed->all[i].pc == executed->all[index].pc &&
                 executed->all[i].actor_id == executed->all[index].actor_id;
    }
    return count;
}

struct sim_branch
sim_branch_at(const struct sim_executed *executed, uint32_t index)
{
    const struct sim_instruction *jump = &executed->all[index];
    return (struct sim_branch){.pc = jump->pc,
            .step = jump->step,
            .actor_id = jump->actor_id,
            .nth = times_of(executed, index),
            .length = jump->jump ? 0 : jump->length,
            .taken = jump->taken};
}

uint32_t
sim_branch_index(const struct sim_executed *executed, const struct sim_branch *branch)
{
    uint32_t left = branch->nth;
    for (uint32_t i = 0; i < executed->count; i++) {
        const struct sim_instruction *one = &executed->all[i];
        left -= !one->piece && one->pc == branch->pc && one->actor_id == branch->actor_id;
        if (left == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* The `nth` time (0: the last one) that its actor executes the jump, and it goes the other way.
 * UINT32_MAX: it does not. */
static uint32_t
other_way(const struct sim_executed *here, const struct sim_instruction *jump, uint32_t nth)
{
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0, times = 0; i < here->count && (nth == 0 || times < nth); i++) {
        const struct sim_instruction *one = &here->all[i];
        if (one->pc == jump->pc && one->actor_id == jump->actor_id) {
            times++;
            found = one->taken != jump->taken && (nth == 0 || times == nth) ? i : found;
        }
    }
    return found;
}

void
sim_branches_add_leading(const struct sim_executed *here, const struct sim_executed *there,
        uint32_t target, struct sim_branches *branches)
{
    rt_assert(target < there->count);
    uint32_t jumps[LEADING_MAX];
    uint32_t count = 0;
    for (uint32_t i = target; i-- > 0 && count < LEADING_MAX;) {
        const struct sim_instruction *jump = &there->all[i];
        uint32_t k = 0;
        while (k < count && there->all[jumps[k]].pc != jump->pc) {
            k++;
        }
        if (k == count && jump->jump && jump->actor_id == there->all[target].actor_id) {
            jumps[count++] = i;
        }
    }
    /* The same time of it first; an actor may have come to it more or less often. */
    for (uint32_t last = 0; last < 2; last++) {
        for (uint32_t k = 0; k < count && branches->count < SIM_BRANCHES_MAX; k++) {
            uint32_t nth = last == 0 ? times_of(there, jumps[k]) : 0;
            uint32_t other = other_way(here, &there->all[jumps[k]], nth);
            if (other != UINT32_MAX) {
                branches->all[branches->count++] = sim_branch_at(here, other);
            }
        }
    }
}

void
sim_branches_add_of(const struct sim_executed *executed, uint32_t actor_id, uint64_t from,
        uint64_t to, struct sim_branches *branches)
{
    uint32_t first = branches->count;
    for (uint32_t i = executed->count; i-- > 0 && branches->count < SIM_BRANCHES_MAX;) {
        const struct sim_instruction *jump = &executed->all[i];
        uint32_t k = first;
        while (k < branches->count && branches->all[k].pc != jump->pc) {
            k++;
        }
        if (k == branches->count && jump->jump && jump->actor_id == actor_id &&
                jump->step >= from && jump->step <= to) {
            branches->all[branches->count++] = sim_branch_at(executed, i);
        }
    }
}

/* One execution of a jump. */
struct turn {
    uintptr_t pc;
    uint32_t actor_id;
    uint32_t index; /* Of the instruction. */
    bool ends;      /* Its like in the other run is in the last step of the actor. */
};

/* By jump and actor. */
static int
by_jump(const void *a, const void *b)
{
    const struct turn *one = a;
    const struct turn *other = b;
    return one->pc != other->pc
                   ? (one->pc < other->pc ? -1 : 1)
                   : (one->actor_id > other->actor_id) - (one->actor_id < other->actor_id);
}

/* The last first. */
static int
by_time(const void *a, const void *b)
{
    const struct turn *one = a;
    const struct turn *other = b;
    return (one->index < other->index) - (one->index > other->index);
}

/* All of a run, by jump and actor, and in their order; from malloc. */
static struct turn *
list_turns(const struct sim_executed *executed, uint32_t *ret_count)
{
    struct turn *turns = sim_heap_new(executed->count, sizeof(*turns));
    uint32_t count = 0;
    for (uint32_t i = 0; i < executed->count; i++) {
        const struct sim_instruction *one = &executed->all[i];
        if (one->jump) {
            turns[count++] = (struct turn){one->pc, one->actor_id, i, false};
        }
    }
    sim_sort(turns, count, sizeof(*turns), by_jump);
    *ret_count = count;
    return turns;
}

/* The actor of the `index`-th instruction executes nothing in a later step. */
static bool
is_in_last_step(const struct sim_executed *executed, uint32_t index)
{
    uint32_t last = executed->count;
    do {
        last--;
    } while (executed->all[last].actor_id != executed->all[index].actor_id);
    return executed->whole && executed->all[last].step == executed->all[index].step;
}

/* Leaves of `turns` those by others than `victim` that go the other way the same time there. */
static uint32_t
keep_differing(const struct sim_executed *here, const struct sim_executed *there, uint32_t victim,
        struct turn *turns, uint32_t count)
{
    uint32_t there_count = 0;
    struct turn *others = list_turns(there, &there_count);
    uint32_t kept = 0;
    uint32_t k = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct turn turn = turns[i];
        while (k < there_count && by_jump(&others[k], &turn) < 0) {
            k++;
        }
        bool both = k < there_count && by_jump(&others[k], &turn) == 0;
        if (both && turn.actor_id != victim &&
                here->all[turn.index].taken != there->all[others[k].index].taken) {
            turns[kept] = turn;
            turns[kept++].ends = is_in_last_step(there, others[k].index);
        }
        k += both;
    }
    free(others);
    return kept;
}

void
sim_branches_add_differing(const struct sim_executed *here, const struct sim_executed *there,
        uint32_t victim, struct sim_branches *branches)
{
    rt_assert(here != NULL && there != NULL);
    uint32_t count = 0;
    struct turn *turns = list_turns(here, &count);
    count = keep_differing(here, there, victim, turns, count);
    sim_sort(turns, count, sizeof(*turns), by_time);
    for (uint32_t i = 0; i < count && branches->count < SIM_BRANCHES_MAX; i++) {
        branches->all[branches->count] = sim_branch_at(here, turns[i].index);
        branches->all[branches->count++].ends = turns[i].ends;
    }
    free(turns);
}

#if defined(__x86_64__)

/* ---- Breakpoints: of the process. ------------------------------------------------------------ */

static struct {
    const struct sim_branch *switched; /* NULL: no breakpoint is set. */
    const struct sim_branches *each;   /* With the others of its jump; NULL: alone. */
    uint32_t counts[SIM_BRANCHES_MAX]; /* How often each of these was executed. */
    uint32_t times;                    /* It was switched. */
    bool again;                        /* The write is being made: the breakpoint is set again. */
    uint8_t byte;                      /* What the breakpoint hides. */
    struct sigaction before;
} set;

static void
put_byte(uintptr_t pc, uint8_t byte)
{
    *(volatile uint8_t *)pc = byte;
}

/* This execution is the one that is meant, or one of them. */
static bool
is_switched(const struct sim_world *world)
{
    rt_assert(set.switched != NULL);
    const struct sim_branch *all = set.each != NULL ? set.each->all : set.switched;
    uint32_t count = set.each != NULL ? set.each->count : 1;
    bool is = false;
    for (uint32_t i = 0; i < count; i++) {
        bool counts = set.each == NULL || !all[i].onward;
        if (counts && all[i].pc == set.switched->pc && all[i].actor_id == world->stepping->id) {
            set.counts[i]++;
            is = is || set.counts[i] == all[i].nth || (all[i].onward && set.counts[i] > all[i].nth);
        }
    }
    return is;
}

/* It is left out, or made, one instruction alone. */
static void
on_write(greg_t *registers, uintptr_t pc, bool switched)
{
    set.again = !switched;
    registers[REG_RIP] = (greg_t)(switched ? pc + set.switched->length : pc);
    if (!switched) {
        put_byte(pc, set.byte);
        registers[REG_EFL] |= TRAP_FLAG;
    }
}

static void
on_breakpoint(int number, siginfo_t *info, void *argument)
{
    greg_t *registers = ((ucontext_t *)argument)->uc_mcontext.gregs;
    uintptr_t pc = (uintptr_t)registers[REG_RIP] - 1;
    const struct sim_world *world = sim_world_current;
    (void)number;
    (void)info;
    if (set.switched != NULL && set.again) {
        set.again = false;
        put_byte(set.switched->pc, 0xcc);
        registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
        return;
    }
    if (set.switched == NULL || pc != set.switched->pc) {
        return; /* One of the program's own. */
    }
    bool switched = world != NULL && world->stepping != NULL && is_switched(world);
    if (switched && set.times++ == 0 && world->gains != NULL) {
        sim_gains_clear(world->gains);
    }
    if (set.switched->length > 0) {
        on_write(registers, pc, switched);
        return;
    }
    bool taken = sim_jump_taken(pc, set.byte, (uint64_t)registers[REG_EFL]);
    registers[REG_RIP] = (greg_t)sim_jump_target(pc, set.byte, taken != switched);
}

static bool
set_breakpoint(const struct shared *shared, const struct sim_branch *branch, bool each)
{
    struct sigaction action = {.sa_sigaction = on_breakpoint, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    (void)sigemptyset(&action.sa_mask);
    set.switched = branch;
    memset(set.counts, 0, sizeof(set.counts));
    set.each = each ? &shared->wanted : NULL;
    set.times = 0;
    set.again = false;
    if (branch == NULL) {
        return true;
    }
    if (!sim_code_make_writable(shared->code) || sigaction(SIGTRAP, &action, &set.before) != 0) {
        set.switched = NULL;
        return false;
    }
    set.byte = *(const uint8_t *)branch->pc;
    put_byte(branch->pc, 0xcc);
    return true;
}

static void
clear_breakpoint(void)
{
    if (set.switched != NULL) {
        put_byte(set.switched->pc, set.byte);
        (void)sigaction(SIGTRAP, &set.before, NULL);
        set.switched = NULL;
    }
}

/* ---- In the worker. -------------------------------------------------------------------------- */

/* Whether the actor of `branch` ends in that step. */
static bool
ends_actor(const struct sim_recorder *recorder, const struct sim_branch *branch)
{
    uint64_t end = sim_recorder_run_end(recorder);
    uint32_t actor = 0;
    for (uint64_t i = sim_recorder_first(recorder); i < end; i++) {
        const struct sim_event *event = sim_recorder_event(recorder, i);
        bool own = event->kind == SIM_EVENT_ACTOR && (uint32_t)event->argument == branch->actor_id;
        actor = own ? event->actor : actor;
        if (event->step == branch->step && event->actor == actor &&
                (event->kind == RT_PROBE_COMPLETE || event->kind == SIM_EVENT_DONE)) {
            return true;
        }
    }
    return false;
}

/* Whether the actor of `branch`, a loop, blocks after that and continues. */
static bool
resumes(const struct sim_recorder *recorder, const struct sim_branch *branch)
{
    uint64_t end = sim_recorder_run_end(recorder);
    uint32_t actor = 0;
    bool blocks = false;
    for (uint64_t i = sim_recorder_first(recorder); i < end; i++) {
        const struct sim_event *event = sim_recorder_event(recorder, i);
        bool own = event->kind == SIM_EVENT_ACTOR && (uint32_t)event->argument == branch->actor_id;
        bool its = event->actor == actor && actor != 0 && event->step >= branch->step;
        actor = own ? event->actor : actor;
        if (its && blocks && event->kind == SIM_EVENT_UNBLOCK) {
            return true;
        }
        blocks = blocks || (its && event->kind == SIM_EVENT_BLOCK);
    }
    return false;
}

/* Whether the run that was made last has read what is asked for. */
static bool
has_read(const struct sim_experiment *experiment, const struct shared *shared)
{
    const struct sim_gains *gains = &experiment->world->journals[0];
    return set.times > 0 && sim_gains_count(gains, SIM_GAIN_CONSUMED, shared->wanted.object) > 0;
}

/* Whether the run ends well with that execution switched (`each`: and all others of its jump that
 * are wanted); NULL: with none. *ret_times is how many were. */
static bool
passes(struct sim_experiment *experiment, struct shared *shared, const struct sim_branch *branch,
        bool each, uint32_t *ret_times)
{
    const struct sim_case *what = experiment->what;
    struct sim_outcome outcome = {.verdict = SIM_VERDICT_DEADLOCK};
    bool is_set = set_breakpoint(shared, branch, each);
    struct sim_gains *gains = &experiment->world->journals[0];
    sim_gains_clear(gains);
    experiment->world->gains = shared->wanted.object != 0 ? gains : NULL;
    if (is_set) {
        sim_world_run(experiment->world, what->scenario, &what->options, what->seed, what->strategy,
                (struct sim_recording){true, false}, &outcome);
    }
    *ret_times = set.times;
    bool switched = set.times > 0 || branch == NULL;
    experiment->world->gains = NULL;
    clear_breakpoint();
    return is_set && switched && outcome.verdict == SIM_VERDICT_PASS &&
           (branch == NULL || shared->wanted.object == 0 || has_read(experiment, shared));
}

/* Of the wanted executions of one jump, of which there are several, the first one. */
static bool
is_first_of_several(const struct sim_branches *wanted, uint32_t index)
{
    uint32_t like = 0;
    for (uint32_t i = 0; i < wanted->count; i++) {
        bool is = wanted->all[i].pc == wanted->all[index].pc && !wanted->all[i].onward;
        if ((is && i < index) || wanted->all[index].onward) {
            return false;
        }
        like += is;
    }
    return like > 1;
}

/* Each of the wanted, one after the other, then those of one jump together, until the run passes;
 * after a control: the run as it is must fail. */
static void
try_all(struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome,
        void *argument)
{
    struct shared *shared = argument;
    struct sim_experiment experiment;
    sim_experiment_begin(&experiment, world, what, outcome);
    experiment.tries = &shared->tries;
    experiment.tries_max = 2 * shared->wanted.count;
    experiment.steps_max = STEPS_MAX;
    uint32_t times = 0;
    bool fails = !passes(&experiment, shared, NULL, false, &times);
    for (uint32_t i = 0; i < shared->wanted.count; i++) {
        const struct sim_branch *branch = &shared->wanted.all[i];
        shared->ended[i] =
                shared->wanted.may_end || branch->ends || ends_actor(&world->recorder, branch);
    }
    for (uint32_t each = 0; each < 2; each++) {
        for (uint32_t i = 0; i < shared->wanted.count && fails; i++) {
            bool asks = each == 0 || is_first_of_several(&shared->wanted, i);
            if (asks && sim_experiment_next(&experiment, outcome->steps)) {
                const struct sim_branch *branch = &shared->wanted.all[i];
                fails = !passes(&experiment, shared, branch, each == 1, &times) ||
                        (ends_actor(&world->recorder, branch) && !shared->ended[i]) ||
                        (shared->wanted.resumes && !resumes(&world->recorder, branch));
                shared->passes[i] = fails ? 0 : times;
                shared->reads[i] = shared->reads[i] || (fails && has_read(&experiment, shared));
            }
        }
    }
    sim_experiment_end(&experiment);
    shared->done = true;
}

/* ---- In the parent. -------------------------------------------------------------------------- */

static void
choose(const struct shared *shared, struct sim_places *places, struct sim_switched *ret)
{
    ret->tried = shared->tries.begun;
    for (uint32_t reads = 0; reads < 2; reads++) {
        for (uint32_t i = 0; i < shared->wanted.count && !ret->found && !ret->reads; i++) {
            bool is = (reads == 0 ? shared->passes[i] > 0 : shared->reads[i]) &&
                      sim_places_at(places, shared->wanted.all[i].pc, false, &ret->place, 1) > 0 &&
                      sim_place_is_readers(&ret->place);
            if (is) {
                ret->found = reads == 0;
                ret->reads = reads == 1;
                ret->branch = shared->wanted.all[i];
                ret->times = shared->passes[i];
            }
        }
    }
}

void
sim_branches_find(const struct sim_runs *runs, struct sim_places *places, struct sim_code *code,
        const struct sim_branches *branches, struct sim_switched *ret)
{
    rt_assert(runs->failing != NULL);
    *ret = (struct sim_switched){.found = false};
    if (places == NULL || code == NULL || branches->count == 0) {
        return;
    }
    struct shared *shared = sim_results_new(sizeof(*shared));
    shared->code = code;
    shared->wanted = *branches;
    for (uint32_t deaths = 0; deaths < DEATHS_MAX && !shared->done && sim_budget_left(runs->budget);
            deaths++) {
        sim_runs_analyze(runs, NULL, runs->failing, try_all, shared);
    }
    choose(shared, places, ret);
    sim_results_free(&shared);
}

#else

void
sim_branches_find(const struct sim_runs *runs, struct sim_places *places, struct sim_code *code,
        const struct sim_branches *branches, struct sim_switched *ret)
{
    (void)runs, (void)places, (void)code, (void)branches;
    *ret = (struct sim_switched){.found = false};
}

#endif
