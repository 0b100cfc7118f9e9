/*
 * branches.c -- breakpoints on conditional jumps, and a handler that does what the jump would.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/branches.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/core/world.h"
#include "sim/explain/look/changes.h"
#include "sim/explain/look/trace.h"

#define JUMPS_MAX 2048u
#define NOTED_MAX 16384u
#define TRIES_MAX 240u
#define STEPS_MAX UINT64_C(400000)
#define DEATHS_MAX 40u
#define WALK_MOST UINT64_C(250000)

/* Steps before and after the condition in which a word is written that it may be decided on, and
 * how many of such are tried. */
#define NEAR_STEPS 40u
#define WORDS_MAX 60u

/* Of one jump and direction so many executions are switched: the last ones. */
#define EACH_MAX 4u

/* A jump, and the byte that a breakpoint replaces. */
struct jump {
    uintptr_t pc;
    uint8_t byte;
    uint32_t nth; /* Executions in `step` so far. */
    uint64_t step;
};

/* The executions of a run, in order. */
struct noted {
    uint32_t count; /* Those that do not fit are left out. */
    struct sim_branch all[NOTED_MAX];
};

/* In shared memory. */
struct shared {
    struct jump jumps[JUMPS_MAX];
    uint32_t jump_count;
    struct noted here;
    struct noted there;
    struct sim_branch wanted[TRIES_MAX]; /* To be switched, in the order of their trials. */
    uint32_t wanted_count;
    bool passes[TRIES_MAX];
    struct sim_tries tries;
    bool done;
    struct sim_branch found;
    struct sim_changes changes;
    struct sim_tries words;
    bool listed;
    bool located;
    struct sim_switched word; /* Its change, early and writer alone. */
};

#if defined(__x86_64__)

/* ---- A jump. --------------------------------------------------------------------------------- */

/* Whether condition `code` (4 bits) holds with these flags. */
static bool
holds(uint8_t code, uint64_t flags)
{
    bool carry = (flags & 0x1) != 0;
    bool parity = (flags & 0x4) != 0;
    bool zero = (flags & 0x40) != 0;
    bool sign = (flags & 0x80) != 0;
    bool overflow = (flags & 0x800) != 0;
    const bool table[8] = {overflow, carry, zero, carry || zero, sign, parity, sign != overflow,
            zero || sign != overflow};
    rt_assert(code < 16);
    return table[code >> 1] != ((code & 1) != 0);
}

/* Where the jump at `pc`, whose first byte is `first`, continues. */
static uintptr_t
continues_at(uintptr_t pc, uint8_t first, bool taken)
{
    const uint8_t *code = (const uint8_t *)pc;
    int32_t far = 0;
    if (first != 0x0f) {
        return pc + 2 + (taken ? (uintptr_t)(intptr_t)(int8_t)code[1] : 0);
    }
    memcpy(&far, code + 2, sizeof(far));
    return pc + 6 + (taken ? (uintptr_t)(intptr_t)far : 0);
}

/* ---- Breakpoints: of the process. ------------------------------------------------------------ */

static struct {
    struct jump *jumps; /* By pc. */
    uint32_t count;
    struct noted *noted;               /* NULL: nothing is noted. */
    const struct sim_branch *switched; /* NULL: nothing is switched. */
    bool was_switched;
    struct sigaction before;
} set;

static struct jump *
jump_at(uintptr_t pc)
{
    uint32_t low = 0;
    uint32_t high = set.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (set.jumps[middle].pc < pc) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < set.count && set.jumps[low].pc == pc ? &set.jumps[low] : NULL;
}

static bool
is_switched(const struct sim_branch *branch)
{
    const struct sim_branch *switched = set.switched;
    return switched != NULL && !set.was_switched && branch->pc == switched->pc &&
           branch->step == switched->step && branch->nth == switched->nth &&
           branch->actor_id == switched->actor_id;
}

static void
on_breakpoint(int number, siginfo_t *info, void *argument)
{
    greg_t *registers = ((ucontext_t *)argument)->uc_mcontext.gregs;
    uintptr_t pc = (uintptr_t)registers[REG_RIP] - 1;
    struct jump *jump = jump_at(pc);
    const struct sim_world *world = sim_world_current;
    (void)number;
    (void)info;
    if (jump == NULL) {
        return; /* One of the program's own. */
    }
    uint8_t condition = jump->byte == 0x0f ? ((const uint8_t *)pc)[1] & 0xf : jump->byte & 0xf;
    bool taken = holds(condition, (uint64_t)registers[REG_EFL]);
    if (world != NULL && world->stepping != NULL && world->step > 0) {
        jump->nth = jump->step == world->step ? jump->nth + 1 : 1;
        jump->step = world->step;
        struct sim_branch branch = {pc, world->step, world->stepping->id, jump->nth, taken};
        if (set.noted != NULL && set.noted->count < NOTED_MAX) {
            set.noted->all[set.noted->count++] = branch;
        }
        if (is_switched(&branch)) {
            set.was_switched = true;
            taken = !taken;
        }
    }
    registers[REG_RIP] = (greg_t)continues_at(pc, jump->byte, taken);
}

/* Writes a byte of the code. False: the system refuses. */
static bool
put_byte(uintptr_t pc, uint8_t byte)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    rt_assert(page > 0);
    void *from = (void *)(pc & ~(page - 1));
    if (mprotect(from, page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
        return false;
    }
    *(volatile uint8_t *)pc = byte;
    return mprotect(from, page, PROT_READ | PROT_EXEC) == 0;
}

/* At all jumps, or at the one that is `only`. */
static bool
set_breakpoints(struct shared *shared, uintptr_t only)
{
    struct sigaction action = {.sa_sigaction = on_breakpoint, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    (void)sigemptyset(&action.sa_mask);
    set.jumps = shared->jumps;
    set.count = shared->jump_count;
    if (sigaction(SIGTRAP, &action, &set.before) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < set.count; i++) {
        shared->jumps[i].step = 0;
        if ((only == 0 || shared->jumps[i].pc == only) && !put_byte(shared->jumps[i].pc, 0xcc)) {
            set.count = i;
            return false;
        }
    }
    return true;
}

static void
clear_breakpoints(void)
{
    rt_assert(set.count <= JUMPS_MAX);
    for (uint32_t i = 0; i < set.count; i++) {
        if (*(const uint8_t *)set.jumps[i].pc != set.jumps[i].byte) {
            (void)put_byte(set.jumps[i].pc, set.jumps[i].byte);
        }
    }
    (void)sigaction(SIGTRAP, &set.before, NULL);
    set.noted = NULL;
    set.switched = NULL;
}

/* ---- In the worker. -------------------------------------------------------------------------- */

static void
run_noted(struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome,
        struct shared *shared, struct noted *noted)
{
    struct sim_experiment experiment;
    sim_experiment_begin(&experiment, world, what, outcome);
    noted->count = 0;
    if (set_breakpoints(shared, 0)) {
        set.noted = noted;
        (void)sim_experiment_at(&experiment, UINT64_MAX);
        sim_world_drop(world);
    }
    clear_breakpoints();
    sim_experiment_end(&experiment);
}

static void
note_here(struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome,
        void *argument)
{
    struct shared *shared = argument;
    rt_assert(shared->jump_count <= JUMPS_MAX);
    run_noted(world, what, outcome, shared, &shared->here);
}

static void
note_there(struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome,
        void *argument)
{
    struct shared *shared = argument;
    rt_assert(shared->jump_count <= JUMPS_MAX);
    run_noted(world, what, outcome, shared, &shared->there);
}

/* Whether the run ends well with that execution switched; NULL: with none. */
static bool
passes(struct sim_experiment *experiment, struct shared *shared, const struct sim_branch *branch)
{
    const struct sim_case *what = experiment->what;
    struct sim_outcome outcome = {.verdict = SIM_VERDICT_DEADLOCK};
    bool is_set = set_breakpoints(shared, branch != NULL ? branch->pc : UINTPTR_MAX);
    set.switched = branch;
    set.was_switched = false;
    if (is_set) {
        sim_world_run(experiment->world, what->scenario, &what->options, what->seed, what->strategy,
                (struct sim_recording){false, false}, &outcome);
    }
    bool switched = set.was_switched || branch == NULL;
    clear_breakpoints();
    return is_set && switched && outcome.verdict == SIM_VERDICT_PASS;
}

/* Each of the wanted, one after the other, after a control: the run as it is must fail. */
static void
try_all(struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome,
        void *argument)
{
    struct shared *shared = argument;
    struct sim_experiment experiment;
    sim_experiment_begin(&experiment, world, what, outcome);
    experiment.tries = &shared->tries;
    experiment.tries_max = shared->wanted_count;
    experiment.steps_max = STEPS_MAX;
    bool fails = !passes(&experiment, shared, NULL);
    for (uint32_t i = 0; i < shared->wanted_count && fails; i++) {
        if (sim_experiment_next(&experiment, outcome->steps)) {
            shared->passes[i] = passes(&experiment, shared, &shared->wanted[i]);
        }
    }
    sim_experiment_end(&experiment);
    shared->done = true;
}

/* Whether the run ends well where the word has the other value as the step of the condition
 * begins. */
static bool
passes_with(const struct sim_experiment *experiment, const struct sim_branch *branch,
        const struct sim_change *change)
{
    struct sim_world *world = experiment->world;
    bool ends = false;
    if (sim_experiment_at(experiment, branch->step - 1) && sim_word_is_in(world, change->offset)) {
        sim_word_undo(world, change);
        ends = !sim_world_continue(world, (struct sim_stop){UINT64_MAX, false}) && world->over &&
               world->outcome.verdict == SIM_VERDICT_PASS;
    }
    sim_world_drop(world);
    return ends;
}

/* The nearest change of another actor with which it would be decided the other way. */
static void
try_words(struct sim_experiment *experiment, struct shared *shared, bool early)
{
    const struct sim_branch *branch = &shared->found;
    const struct sim_changes *changes = &shared->changes;
    for (uint32_t k = 0; k < changes->count && shared->word.change.step == 0; k++) {
        const struct sim_change *change = &changes->all[early ? k : changes->count - 1 - k];
        bool near = early ? change->step > branch->step && change->step <= branch->step + NEAR_STEPS
                          : change->step < branch->step && change->step + NEAR_STEPS > branch->step;
        if (!near || change->actor_id == branch->actor_id ||
                !sim_experiment_next(experiment, branch->step)) {
            continue;
        }
        struct sim_change other = early ? sim_change_reversed(change) : *change;
        if (passes_with(experiment, branch, &other)) {
            shared->word.change = *change;
            shared->word.early = early;
        }
    }
}

static void
find_word(struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome,
        void *argument)
{
    struct shared *shared = argument;
    struct sim_experiment experiment;
    if (!shared->listed) {
        sim_changes_run(world, what, outcome, &shared->changes);
        shared->listed = true;
    }
    sim_experiment_begin(&experiment, world, what, outcome);
    experiment.tries = &shared->words;
    experiment.tries_max = WORDS_MAX;
    experiment.steps_max = STEPS_MAX;
    try_words(&experiment, shared, true);
    try_words(&experiment, shared, false);
    if (shared->word.change.step != 0) {
        sim_experiment_find_writer(&experiment, &shared->word.change, shared->word.change.step,
                false, &shared->word.writer);
    }
    sim_experiment_end(&experiment);
    shared->located = true;
}

/* ---- In the parent: which to try. ------------------------------------------------------------ */

static bool
is_readers(struct sim_places *places, uintptr_t pc, struct sim_place *ret)
{
    struct sim_place found[1];
    return sim_places_line(places, pc, &found[0]) && sim_place_is_readers(&found[0]) &&
           sim_places_at(places, pc, false, ret, 1) > 0 && sim_place_is_readers(ret) &&
           !sim_place_is_runtime(ret);
}

static void
add_jump(struct shared *shared, uintptr_t pc)
{
    uint32_t at = shared->jump_count;
    rt_assert(at < JUMPS_MAX);
    while (at > 0 && shared->jumps[at - 1].pc > pc) {
        shared->jumps[at] = shared->jumps[at - 1];
        at--;
    }
    shared->jumps[at] = (struct jump){.pc = pc, .byte = *(const uint8_t *)pc};
    shared->jump_count++;
}

/* The conditional jumps of the reader's that either run executes. */
static void
list_jumps(const struct sim_runs *runs, struct sim_places *places, const struct sim_tape *tape,
        struct shared *shared)
{
    struct sim_trace *trace = sim_trace_new(0, 1, UINT32_MAX);
    trace->path.jumps_only = true;
    trace->path.most = WALK_MOST;
    sim_runs_analyze(runs, NULL, tape, sim_trace_run, trace);
    for (uint32_t i = 0; i < SIM_PATH_SLOTS && shared->jump_count < JUMPS_MAX; i++) {
        struct sim_place place;
        uintptr_t pc = trace->path.slots[i].pc;
        bool known = pc == 0;
        for (uint32_t k = 0; k < shared->jump_count && !known; k++) {
            known = shared->jumps[k].pc == pc;
        }
        if (!known && is_readers(places, pc, &place)) {
            add_jump(shared, pc);
        }
    }
    sim_trace_free(&trace);
}

/* Both directions are seen. */
static bool
varies(const struct shared *shared, uintptr_t pc)
{
    const struct noted *const both[] = {&shared->here, &shared->there};
    bool seen[2] = {false, false};
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < both[k]->count && !(seen[0] && seen[1]); i++) {
            const struct sim_branch *branch = &both[k]->all[i];
            seen[branch->taken] = seen[branch->taken] || branch->pc == pc;
        }
    }
    return seen[0] && seen[1];
}

/* The execution of the passing run like `index` here: the same actor's, as many before it. Whether
 * it goes the other way, and all before went the same. */
static bool
is_first_difference(const struct shared *shared, uint32_t index)
{
    const struct noted *here = &shared->here;
    const struct noted *there = &shared->there;
    uint32_t actor = here->all[index].actor_id;
    uint32_t k = 0;
    for (uint32_t i = 0; i <= index; i++) {
        if (here->all[i].actor_id != actor) {
            continue;
        }
        while (k < there->count && there->all[k].actor_id != actor) {
            k++;
        }
        bool differs = k >= there->count || there->all[k].pc != here->all[i].pc ||
                       there->all[k].taken != here->all[i].taken;
        if (differs) {
            return i == index && k < there->count && there->all[k].pc == here->all[i].pc;
        }
        k++;
    }
    return false;
}

/* Executions of the same jump, the same way, after `index`. */
static uint32_t
later(const struct noted *here, uint32_t index)
{
    uint32_t count = 0;
    for (uint32_t i = index + 1; i < here->count && count < EACH_MAX; i++) {
        count += here->all[i].pc == here->all[index].pc &&
                 here->all[i].taken == here->all[index].taken;
    }
    return count;
}

static void
want(struct shared *shared, bool differing)
{
    for (uint32_t i = 0; i < shared->here.count && shared->wanted_count < TRIES_MAX; i++) {
        bool first = is_first_difference(shared, i);
        bool is_wanted = differing ? first
                                   : !first && later(&shared->here, i) < EACH_MAX &&
                                             varies(shared, shared->here.all[i].pc);
        if (is_wanted) {
            shared->wanted[shared->wanted_count++] = shared->here.all[i];
        }
    }
}

/* The first that passes: those in which the two runs differ come first. */
static void
choose(const struct shared *shared, uint32_t differing, struct sim_places *places,
        struct sim_switched *ret)
{
    ret->tried = shared->tries.begun;
    for (uint32_t i = 0; i < shared->wanted_count && !ret->found; i++) {
        ret->found = shared->passes[i] && is_readers(places, shared->wanted[i].pc, &ret->place);
        if (ret->found) {
            ret->branch = shared->wanted[i];
            ret->differs = i < differing;
        }
    }
}

void
sim_branches_find(const struct sim_runs *runs, struct sim_places *places, struct sim_switched *ret)
{
    rt_assert(runs->failing != NULL);
    *ret = (struct sim_switched){.found = false};
    if (places == NULL) {
        return;
    }
    struct shared *shared = sim_results_new(sizeof(*shared));
    list_jumps(runs, places, runs->failing, shared);
    if (runs->passing != NULL) {
        list_jumps(runs, places, runs->passing, shared);
        sim_runs_analyze(runs, NULL, runs->passing, note_there, shared);
    }
    sim_runs_analyze(runs, NULL, runs->failing, note_here, shared);
    want(shared, true);
    uint32_t differing = shared->wanted_count;
    want(shared, false);
    for (uint32_t deaths = 0; deaths < DEATHS_MAX && !shared->done && sim_budget_left(runs->budget);
            deaths++) {
        sim_runs_analyze(runs, NULL, runs->failing, try_all, shared);
    }
    choose(shared, differing, places, ret);
    shared->found = ret->branch;
    for (uint32_t deaths = 0;
            deaths < DEATHS_MAX && ret->found && !shared->located && sim_budget_left(runs->budget);
            deaths++) {
        sim_runs_analyze(runs, NULL, runs->failing, find_word, shared);
    }
    ret->change = shared->word.change;
    ret->early = shared->word.early;
    ret->writer = shared->word.writer;
    sim_results_free(&shared);
}

#else

void
sim_branches_find(const struct sim_runs *runs, struct sim_places *places, struct sim_switched *ret)
{
    (void)runs;
    (void)places;
    *ret = (struct sim_switched){.found = false};
}

#endif
