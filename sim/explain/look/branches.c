/*
 * branches.c -- breakpoints on conditional jumps, and a handler that does what the jump would.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/branches.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/core/scenario.h"
#include "sim/core/world.h"
#include "sim/explain/look/changes.h"

#define JUMPS_MAX 2048u
#define NOTED_MAX 16384u
#define TRIES_MAX 240u
#define STEPS_MAX UINT64_C(400000)
#define DEATHS_MAX 40u
#define LISTED_STEPS UINT64_C(1000)
#define FUNCTIONS_MAX 1024u
#define LAST_SIZE 1024u /* Of the last function of a library, whose end is not known. */
#define STOPS_MAX 4096u

/* Steps before and after the condition in which a word is written that it may be decided on, and
 * how many of such are tried. */
#define NEAR_STEPS 40u
#define WORDS_MAX 60u

/* A jump, and the byte that a breakpoint replaces. */
struct jump {
    uintptr_t pc;
    uint8_t byte;
    uint32_t nth; /* Executions in `step` so far. */
    uint64_t step;
};

/* A function of the reader's. */
struct function {
    uintptr_t from;
    uintptr_t to;
};

/* Where the listing begins to go one instruction at a time: entries, and returns from outside. */
struct stop {
    uintptr_t pc;
    uint8_t byte;
};

/* The executions of a run, in order. */
struct noted {
    uint32_t count; /* Those that do not fit are left out. */
    struct sim_branch all[NOTED_MAX];
};

/* In shared memory. */
struct shared {
    struct function functions[FUNCTIONS_MAX]; /* By address. */
    uint32_t function_count;
    struct stop stops[STOPS_MAX];
    uint32_t stop_count;
    struct jump jumps[JUMPS_MAX]; /* By pc. */
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

/* 0x70 to 0x7f, and 0x0f 0x80 to 0x0f 0x8f: the low bits are the condition. */
static bool
is_jump(const uint8_t *code)
{
    rt_assert(code != NULL);
    return (code[0] & 0xf0) == 0x70 || (code[0] == 0x0f && (code[1] & 0xf0) == 0x80);
}

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

/* The code may be written from now on, in this process alone. False: the system refuses. */
static bool
make_writable(const struct shared *shared)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t done = 0;
    rt_assert(page > 0);
    for (uint32_t i = 0; i < shared->function_count; i++) {
        const struct function *function = &shared->functions[i];
        uintptr_t from = function->from & ~(page - 1);
        from = from < done ? done : from;
        uintptr_t to = (function->to + page - 1) & ~(page - 1);
        if (from < to &&
                mprotect((void *)from, to - from, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
            return false;
        }
        done = to > done ? to : done;
    }
    return true;
}

static void
put_byte(uintptr_t pc, uint8_t byte)
{
    *(volatile uint8_t *)pc = byte;
}

/* ---- Which jumps there are: one instruction at a time, in the reader's functions alone. ------ */

#define TRAP_FLAG 0x100

static struct {
    struct shared *shared;
    const struct stop *again; /* Its breakpoint is put back after one instruction. */
    struct sigaction before;
} listing;

static const struct function *
function_at(const struct shared *shared, uintptr_t pc)
{
    uint32_t low = 0;
    uint32_t high = shared->function_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (shared->functions[middle].to <= pc) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool within = low < shared->function_count && shared->functions[low].from <= pc;
    return within ? &shared->functions[low] : NULL;
}

static const struct stop *
stop_at(const struct shared *shared, uintptr_t pc)
{
    for (uint32_t i = 0; i < shared->stop_count; i++) {
        if (shared->stops[i].pc == pc) {
            return &shared->stops[i];
        }
    }
    return NULL;
}

static void
add_stop(struct shared *shared, uintptr_t pc)
{
    if (shared->stop_count < STOPS_MAX && stop_at(shared, pc) == NULL) {
        shared->stops[shared->stop_count++] = (struct stop){pc, *(const uint8_t *)pc};
        put_byte(pc, 0xcc);
    }
}

static void
add_jump(struct shared *shared, uintptr_t pc)
{
    uint32_t at = shared->jump_count;
    while (at > 0 && shared->jumps[at - 1].pc >= pc) {
        at--;
    }
    if ((at < shared->jump_count && shared->jumps[at].pc == pc) ||
            shared->jump_count == JUMPS_MAX) {
        return;
    }
    memmove(&shared->jumps[at + 1], &shared->jumps[at],
            (shared->jump_count - at) * sizeof(shared->jumps[0]));
    shared->jumps[at] = (struct jump){.pc = pc, .byte = *(const uint8_t *)pc};
    shared->jump_count++;
}

/* Before an instruction. True: continue one by one. */
static bool
look_at(struct shared *shared, uintptr_t pc, const uintptr_t *stack)
{
    if (function_at(shared, pc) != NULL) {
        if (is_jump((const uint8_t *)pc)) {
            add_jump(shared, pc);
        }
        return true;
    }
    if (function_at(shared, stack[0]) != NULL) {
        add_stop(shared, stack[0]); /* It was called from there, and will return. */
    }
    return false;
}

static void
on_listing(int number, siginfo_t *info, void *argument)
{
    greg_t *registers = ((ucontext_t *)argument)->uc_mcontext.gregs;
    uintptr_t pc = (uintptr_t)registers[REG_RIP];
    const struct stop *stop = listing.again;
    (void)number;
    (void)info;
    listing.again = NULL;
    if (stop != NULL) {
        put_byte(stop->pc, 0xcc);
        stop = NULL;
    } else if ((registers[REG_EFL] & TRAP_FLAG) == 0 || *(const uint8_t *)(pc - 1) == 0xcc) {
        stop = stop_at(listing.shared, pc - 1);
    }
    if (stop != NULL) {
        pc = stop->pc;
        registers[REG_RIP] = (greg_t)pc;
        put_byte(pc, stop->byte);
        listing.again = stop;
    }
    bool on = look_at(listing.shared, pc, (const uintptr_t *)registers[REG_RSP]);
    registers[REG_EFL] =
            on ? registers[REG_EFL] | TRAP_FLAG : registers[REG_EFL] & ~(greg_t)TRAP_FLAG;
}

/* sim_analyze_fn. */
static void
list_jumps(struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome,
        void *argument)
{
    struct shared *shared = argument;
    struct sim_experiment experiment;
    struct sigaction action = {.sa_sigaction = on_listing, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    (void)sigemptyset(&action.sa_mask);
    if (!make_writable(shared) || sigaction(SIGTRAP, &action, &listing.before) != 0) {
        return;
    }
    listing.shared = shared;
    listing.again = NULL;
    shared->stop_count = 0;
    sim_experiment_begin(&experiment, world, what, outcome);
    for (uint32_t i = 0; i < shared->function_count; i++) {
        add_stop(shared, shared->functions[i].from);
    }
    uint64_t to = outcome->steps < LISTED_STEPS ? outcome->steps : LISTED_STEPS;
    (void)sim_experiment_at(&experiment, to);
    for (uint32_t i = 0; i < shared->stop_count; i++) {
        put_byte(shared->stops[i].pc, shared->stops[i].byte);
    }
    (void)sigaction(SIGTRAP, &listing.before, NULL);
    sim_world_drop(world);
    sim_experiment_end(&experiment);
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

/* At all jumps, or at the one that is `only`. */
static bool
set_breakpoints(struct shared *shared, uintptr_t only)
{
    struct sigaction action = {.sa_sigaction = on_breakpoint, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    (void)sigemptyset(&action.sa_mask);
    set.jumps = shared->jumps;
    set.count = shared->jump_count;
    if (!make_writable(shared) || sigaction(SIGTRAP, &action, &set.before) != 0) {
        set.count = 0;
        return false;
    }
    for (uint32_t i = 0; i < set.count; i++) {
        shared->jumps[i].step = 0;
        if (only == 0 || shared->jumps[i].pc == only) {
            put_byte(shared->jumps[i].pc, 0xcc);
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
            put_byte(set.jumps[i].pc, set.jumps[i].byte);
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
            fails = !shared->passes[i]; /* The first one will do. */
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

/* The file or library that has been loaded there; NULL: none. */
static const void *
module_of(uintptr_t pc)
{
    Dl_info info;
    return dladdr((const void *)pc, &info) != 0 ? info.dli_fbase : NULL;
}

/* What belongs to the program of this scenario: its library; of what is part of the simulator's own
 * program the scenario's file alone. */
struct program {
    const void *module;
    struct sim_place setup;
    bool one_file;
};

static bool
is_of(const struct program *program, uintptr_t pc, const struct sim_place *place)
{
    rt_assert(program->module != NULL);
    return sim_place_is_readers(place) && !sim_place_is_runtime(place) &&
           module_of(pc) == program->module &&
           (!program->one_file || strcmp(place->file, program->setup.file) == 0);
}

/* Its functions, each up to where the next one begins. */
static void
list_functions(
        struct sim_places *places, const struct sim_scenario *scenario, struct shared *shared)
{
    uintptr_t setup = (uintptr_t)scenario->setup;
    struct program program = {.module = module_of(setup)};
    struct sim_place place;
    uintptr_t pc = 0;
    bool within = false;
    if (program.module == NULL || !sim_places_entry(places, setup, &program.setup)) {
        return;
    }
    program.one_file = program.module == module_of((uintptr_t)sim_branches_find);
    while (sim_places_next(places, pc, &pc, &place)) {
        if (within) {
            struct function *function = &shared->functions[shared->function_count++];
            bool last = module_of(pc) != program.module;
            function->to = last ? function->from + LAST_SIZE : pc;
        }
        within = shared->function_count < FUNCTIONS_MAX && is_of(&program, pc, &place);
        if (within) {
            shared->functions[shared->function_count].from = pc;
        }
    }
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

static void
want_differences(struct shared *shared)
{
    for (uint32_t i = 0; i < shared->here.count && shared->wanted_count < TRIES_MAX; i++) {
        if (is_first_difference(shared, i)) {
            shared->wanted[shared->wanted_count++] = shared->here.all[i];
        }
    }
}

static void
choose(const struct shared *shared, struct sim_places *places, struct sim_switched *ret)
{
    ret->tried = shared->tries.begun;
    for (uint32_t i = 0; i < shared->wanted_count && !ret->found; i++) {
        ret->found = shared->passes[i] &&
                     sim_places_at(places, shared->wanted[i].pc, false, &ret->place, 1) > 0 &&
                     sim_place_is_readers(&ret->place);
        if (ret->found) {
            ret->branch = shared->wanted[i];
        }
    }
}

void
sim_branches_find(const struct sim_runs *runs, struct sim_places *places, struct sim_switched *ret)
{
    rt_assert(runs->failing != NULL);
    *ret = (struct sim_switched){.found = false};
    if (places == NULL || runs->passing == NULL) {
        return;
    }
    struct shared *shared = sim_results_new(sizeof(*shared));
    list_functions(places, runs->scenario, shared);
    sim_runs_analyze(runs, NULL, runs->failing, list_jumps, shared);
    sim_runs_analyze(runs, NULL, runs->passing, list_jumps, shared);
    sim_runs_analyze(runs, NULL, runs->passing, note_there, shared);
    sim_runs_analyze(runs, NULL, runs->failing, note_here, shared);
    want_differences(shared);
    for (uint32_t deaths = 0; deaths < DEATHS_MAX && !shared->done && sim_budget_left(runs->budget);
            deaths++) {
        sim_runs_analyze(runs, NULL, runs->failing, try_all, shared);
    }
    choose(shared, places, ret);
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
