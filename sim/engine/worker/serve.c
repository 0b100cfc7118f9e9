/*
 * serve.c -- the worker's side: its process, and the runs of a job.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <alloca.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/decide/ordered.h"
#include "sim/core/memory/checkpoint.h"
#include "sim/core/process/output.h"
#include "sim/core/process/process.h"
#include "sim/core/scenario.h"
#include "sim/engine/worker/descriptors.h"
#include "sim/engine/worker/exit_flush.h"
#include "sim/engine/worker/worker.h"
#include "sim/judge/judge.h"
#include "sim/posix/guard.h"
#include "sim/program/program.h"
#include "sim/search/cover/edges.h"
#include "sim/search/cover/observe.h"
#include "sim/search/cover/waste.h"
#include "sim/search/learn/observe.h"
#include "sim/search/strategy.h"

/* The line to the parent, as it was in the beginning. */
static struct {
    int fd;
    dev_t device;
    ino_t inode;
    bool lost; /* A run has closed it. */
    bool used; /* A run has been made while it was there. */
} line;

/* The file for the tape (worker.h); -1: none. */
static int tape_fd = -1;

/* What edges the runs of a job reach (sim/search/cover/edges.h); NULL: this build counts none. */
static uint64_t *edge_log;

static void
keep_deviation(const struct sim_deviation *deviation)
{
    rt_assert(tape_fd >= 0);
    /* What is not written is missing at the end of the tape, and the replay reports that. */
    ssize_t written = write(tape_fd, deviation, sizeof(*deviation));
    (void)written;
}

static _Noreturn void
leave(int status)
{
    sim_exit_flush();
    _exit(status);
}

union strategy {
    struct sim_strategy base;
    struct sim_random random;
    struct sim_baseline baseline;
    struct sim_replay replay;
    struct sim_ordered ordered;
    struct sim_foremost foremost;
    struct sim_answers answers;
};

/* The strategy of a search, in shared->parts.strategy_memory; it stays for the job. */
static struct sim_strategy *searching;

static void
begin_search(struct sim_shared *shared)
{
    rt_assert(shared->job.spec.how == SIM_HOW_SEARCH);
    rt_assert(shared->job.spec.seed >= shared->job.index);
    const struct sim_strategy_kind *kind = sim_strategy_at(shared->job.spec.search.kind);
    const struct sim_job *job = &shared->job;
    const struct sim_strategy_setting setting = {
            .search = &job->spec.search,
            .learned = job->learned,
            .first = job->spec.seed - job->index,
            .declared = job->spec.scenario->declared,
    };
    if (kind->sequential && !job->search_begins) {
        /* It continues where it was, perhaps in another process. */
        searching = (struct sim_strategy *)(void *)shared->parts.strategy_memory;
        return;
    }
    sim_shared_clear(shared->parts.strategy_memory, sim_strategy_size(job->spec.search.kind));
    searching = sim_strategy_make(shared->parts.strategy_memory, &setting);
    rt_assert(searching != NULL);
}

/* False: nothing is left of an enumeration, and the job is over. */
static bool
has_more(struct sim_shared *shared)
{
    rt_assert(searching != NULL);
    const struct sim_strategy_kind *kind = sim_strategy_at(shared->job.spec.search.kind);
    shared->exhausted = kind->more != NULL && !kind->more(searching);
    return !shared->exhausted;
}

static uint32_t
arm_of(const struct sim_shared *shared)
{
    rt_assert(shared->job.spec.how == SIM_HOW_SEARCH);
    const struct sim_strategy_kind *kind = sim_strategy_at(shared->job.spec.search.kind);
    return kind->maker != NULL ? kind->maker(searching) : shared->job.spec.search.kind;
}

static struct sim_strategy *
strategy_init(union strategy *strategy, const struct sim_shared *shared)
{
    rt_assert(shared->job.spec.how <= SIM_HOW_FOREMOST);
    switch ((enum sim_how)shared->job.spec.how) {
    case SIM_HOW_RANDOM:
        sim_random_init(&strategy->random);
        break;
    case SIM_HOW_BASELINE:
        sim_baseline_init(&strategy->baseline);
        break;
    case SIM_HOW_STRICT:
        sim_replay_init(&strategy->replay, &shared->parts.incoming, false, NULL);
        break;
    case SIM_HOW_LENIENT:
        sim_replay_init(&strategy->replay, &shared->parts.incoming, true, shared->parts.sorted);
        break;
    case SIM_HOW_SEARCH:
        return searching;
    case SIM_HOW_BRANCH:
        sim_replay_init_branch(&strategy->replay, &shared->parts.incoming, shared->parts.sorted);
        break;
    case SIM_HOW_ORDERED:
        sim_ordered_init(&strategy->ordered, &shared->parts.incoming, shared->parts.sorted);
        break;
    case SIM_HOW_ANSWERS:
        sim_answers_init(&strategy->answers, &shared->parts.incoming);
        break;
    case SIM_HOW_FOREMOST:
        sim_foremost_init(&strategy->foremost);
        break;
    }
    return &strategy->base;
}

/* What did not fit the tape. */
static void
note_tape(struct sim_shared *shared, const union strategy *strategy)
{
    const char *mismatch = NULL;
    if (shared->job.spec.how == SIM_HOW_STRICT) {
        mismatch = sim_replay_mismatch(&strategy->replay);
    } else if (shared->job.spec.how == SIM_HOW_LENIENT) {
        shared->ignored = strategy->replay.ignored;
    }
    shared->mismatch[0] = '\0';
    if (mismatch != NULL) {
        (void)snprintf(shared->mismatch, sizeof(shared->mismatch), "%s", mismatch);
    }
}

/* Whether the run also fails with the tasks in the order in which they were woken. */
static void
try_fifo(struct sim_shared *shared, const struct sim_case *what, const struct sim_outcome *outcome)
{
    rt_assert(sim_shared_last(shared)->kept_count == 1);
    const struct sim_kept *kept = &shared->kept[0];
    struct sim_tape tape = {shared->parts.copy, 0, shared->parts.memory.tape.capacity};
    if (sim_tape_decode(&tape, shared->parts.tapes + kept->tape_offset, kept->tape_length) !=
            RT_OK) {
        return;
    }
    shared->stage = SIM_STAGE_FIFO;
    bool fails = sim_judge_in_fifo(&shared->world, what, &tape, outcome);
    shared->fifo = fails ? SIM_FIFO_YES : SIM_FIFO_NO;
}

/* After a failing run: the step that should have sent the missing wake, and whether it takes
 * another run order. Each stage is named first: a process that dies in it loses only that. */
static void
explain(struct sim_shared *shared, const struct sim_case *what)
{
    rt_assert(shared->job.spec.explain);
    rt_assert(shared->kept[0].outcome.verdict != SIM_VERDICT_PASS);
    struct sim_outcome *outcome = &shared->kept[0].outcome;
    struct sim_outcome copy = *outcome;
    if (outcome->verdict == SIM_VERDICT_LOST_WAKEUP ||
            outcome->verdict == SIM_VERDICT_LATE_WAKEUP) {
        shared->stage = SIM_STAGE_MISSING_WAKE;
        outcome->missing_wake_step = sim_judge_missing_wake(&shared->world, what, &copy);
    }
    if (outcome->verdict == SIM_VERDICT_USE_AFTER_FREE) {
        shared->stage = SIM_STAGE_MISSING_WAKE;
        sim_judge_freed(&shared->world, what, &copy);
        sim_shared_explained(shared, &copy);
    }
    if (outcome->lost_wakers > 0) {
        shared->stage = SIM_STAGE_MISSING_WAKE;
        outcome->lost_step = sim_judge_lost(&shared->world, what, &copy);
    }
    if (outcome->order == SIM_ORDER_ANY) {
        try_fifo(shared, what, &copy);
    }
    shared->stage = SIM_STAGE_IDLE;
}

static void
analyze(struct sim_shared *shared, const struct sim_case *what)
{
    rt_assert(shared->job.spec.analyze != NULL);
    rt_assert(sim_shared_last(shared)->kept_count == 1);
    const struct sim_outcome outcome = shared->kept[0].outcome;
    const struct sim_job *job = &shared->job;
    uint64_t most = job->analysis_steps;
    shared->world.progress_max = most != 0 ? shared->progress + most : UINT64_MAX;
    shared->world.refused = false;
    shared->stage = SIM_STAGE_ANALYSIS;
    shared->job.spec.analyze(&shared->world, what, &outcome, shared->job.spec.analysis);
    shared->world.progress_max = UINT64_MAX;
    shared->stage = SIM_STAGE_IDLE;
}

static bool
line_is_open(void)
{
    struct stat status;
    return fstat(line.fd, &status) == 0 && status.st_dev == line.device &&
           status.st_ino == line.inode;
}

/* The run has failed if it closed the line to the parent. */
static void
check_process(struct sim_outcome *outcome)
{
    rt_assert(line.fd >= 0);
    /* A child that the run has forked has no mapping, and dies of its first access to it. */
    line.lost = sim_process_descriptors_touched() && !line_is_open();
    if (line.lost && line.used) {
        /* An earlier run may have done it: this one is repeated alone. */
        leave(0);
    }
    line.used = true;
    if (line.lost) {
        outcome->verdict = SIM_VERDICT_CRASH;
        outcome->oracle = SIM_ORACLE_PROCESS;
        outcome->site = 0;
        outcome->fail_step = outcome->steps;
        outcome->fail_ns = outcome->sim_ns;
        sim_outcome_say(outcome,
                "it closed a descriptor that is rewake's own: close only what the run opened");
    }
}

/* The worker's own: the parent does not read it. */
static struct sim_cover covering;

/* Notes a fact; the first run to cover something is kept, so that others may vary it. */
static void
note(struct sim_shared *shared, enum sim_fact_kind kind, uint64_t a, uint32_t b, uint64_t index)
{
    const struct sim_learned *learned = shared->job.learned;
    if (sim_facts_note(&shared->facts, kind, a, b, index, 1) &&
            (learned == NULL || sim_facts_find(&learned->facts, kind, a, b) == NULL)) {
        shared->covers_more = true;
    }
}

/* What the run has covered, as facts of the job. There are as many partial orders as runs: a sample
 * is noted, chosen by the hash. */
static void
note_cover(struct sim_shared *shared, uint64_t index)
{
    rt_assert(shared->job.covers);
    static struct sim_element elements[SIM_COVER_ELEMENTS_MAX];
    struct sim_cover_run run;
    uint32_t count = sim_cover_run(
            &covering, &shared->world.recorder, elements, SIM_COVER_ELEMENTS_MAX, &run);
    rt_assert(count <= SIM_COVER_ELEMENTS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t sites = (uint64_t)elements[i].first << 32 | elements[i].second;
        note(shared, SIM_FACT_COVER, sites, elements[i].kind, index);
    }
    for (uint32_t i = 0; i < SIM_CHECKED_MAX; i++) {
        uint64_t site = shared->world.checked[i];
        if (site != 0) {
            note(shared, SIM_FACT_COVER, site << 32, SIM_ELEMENT_ALWAYS, index);
        }
        if (shared->world.asked[i] != 0) {
            (void)sim_facts_note(
                    &shared->facts, SIM_FACT_ASKED, shared->world.asked[i], 0, index, 1);
        }
    }
    shared->order = run.partial ? 0 : run.order_hash;
    if (shared->job.spec.how == SIM_HOW_SEARCH && shared->order != 0 && shared->order % 16 == 0) {
        note(shared, SIM_FACT_ORDER, shared->order, 0, index);
    }
}

/* What it did for nothing. */
static void
note_waste(struct sim_shared *shared, uint64_t index)
{
    static struct sim_waste waste;
    const struct sim_timeouts *timeouts = &shared->world.timeouts;
    sim_waste_count(&waste, &shared->world.recorder);
    for (uint32_t i = 0; i < timeouts->count; i++) {
        sim_waste_add(&waste, SIM_WASTE_OWN_TIMEOUT, timeouts->all[i].site,
                (uint32_t)timeouts->all[i].since_step);
    }
    for (uint32_t i = 0; i < waste.count; i++) {
        const struct sim_wasted *place = &waste.places[i];
        (void)sim_facts_note(
                &shared->facts, SIM_FACT_WASTE, place->site, place->kind, index, place->times);
    }
}

/* What the run that has just ended teaches, whatever its verdict. */
static void
observe(struct sim_shared *shared)
{
    rt_assert(shared->seed >= shared->job.spec.seed);
    uint64_t index = shared->job.index + (shared->seed - shared->job.spec.seed);
    if (shared->job.teaches) {
        const struct sim_strategy_kind *kind = sim_strategy_at(shared->job.spec.search.kind);
        sim_observe(&shared->facts, &shared->world, index);
        if (shared->job.spec.how == SIM_HOW_SEARCH && kind->note != NULL) {
            kind->note(searching, &shared->facts, index);
        }
    }
    if (shared->job.covers) {
        note_cover(shared, index);
        note_waste(shared, index);
    }
}

/* The strategy that answers the run; the judge's replays use `strategy` itself. */
static struct sim_strategy *
logged(const struct sim_job *job, struct sim_strategy *strategy)
{
    rt_assert(strategy != NULL);
    struct sim_decision_log *decision_log = job->spec.decision_log;
    if (decision_log == NULL) {
        return strategy;
    }
    sim_decision_log_init(decision_log, strategy, decision_log->tape);
    return &decision_log->strategy;
}

static void
note_draws(struct sim_shared *shared, struct sim_draws *draws)
{
    if (draws != NULL) {
        draws->count = 0;
        draws->found = false;
    }
    shared->world.draws = draws;
}

static uint64_t *
sets_of(const struct sim_shared *shared)
{
    uint32_t nth = shared->done;
    return edge_log != NULL ? sim_edges_log_at(edge_log, sim_edges_words(), nth) : NULL;
}

static void
run_one(struct sim_shared *shared, uint64_t seed)
{
    rt_assert(shared->stage == SIM_STAGE_IDLE);
    rt_assert(seed >= shared->job.spec.seed);
    const struct sim_job *job = &shared->job;
    union strategy strategy;
    struct sim_outcome outcome;
    struct sim_case what = {.scenario = job->spec.scenario,
            .seed = seed,
            .strategy = strategy_init(&strategy, shared),
            .hasty = job->spec.hasty};
    sim_run_spec_options(&job->spec, seed, &what.options);
    shared->seed = seed;
    shared->arm = job->spec.search.kind; /* Until it is known: the process may die before. */
    shared->order = 0;
    shared->covers_more = false;
    shared->progress++;
    shared->stage = SIM_STAGE_RUN;
    shared->world.on_fault = edge_log != NULL ? sim_edges_fault : NULL;
    sim_edges_begin(sets_of(shared));
    shared->world.decider.on_deviation = job->keeps_tape && tape_fd >= 0 ? keep_deviation : NULL;
    note_draws(shared, job->spec.draws);
    sim_world_run(&shared->world, job->spec.scenario, &what.options, seed,
            logged(job, what.strategy), (struct sim_recording){true, job->spec.texts}, &outcome);
    shared->world.draws = NULL;
    shared->world.trap = NULL;
    shared->world.on_fault = NULL;
    shared->covers_more = sim_edges_end() && job->covers;
    sim_exit_flush_run();
    shared->arm = job->spec.how == SIM_HOW_SEARCH ? arm_of(shared) : 0;
    observe(shared);
    sim_judge_ended(&shared->world, &what, &outcome);
    check_process(&outcome);
    note_tape(shared, &strategy);
    if (shared->done >= job->count ||
            (shared->done > 0 && !sim_shared_sum_holds(shared, shared->done - 1))) {
        /* The run has written here as well; the parent finds that. */
        leave(0);
    }
    shared->recorder = shared->world.recorder;
    sim_shared_add(shared, &outcome, shared->arm);
    shared->stage = SIM_STAGE_IDLE;
    if (job->spec.explain && outcome.oracle != SIM_ORACLE_PROCESS &&
            outcome.verdict != SIM_VERDICT_PASS) {
        explain(shared, &what);
    }
    if (job->spec.analyze != NULL && outcome.oracle != SIM_ORACLE_PROCESS) {
        analyze(shared, &what);
    }
}

/* A run of which nothing is kept: it only makes the process one that has made a run. */
static void
run_another(struct sim_shared *shared)
{
    rt_assert(shared->stage == SIM_STAGE_IDLE);
    struct sim_random random;
    struct sim_outcome ignored;
    sim_random_init(&random);
    uint64_t seed = shared->job.spec.seed ^ 1;
    shared->seed = seed;
    shared->stage = SIM_STAGE_PAST;
    sim_world_run(&shared->world, shared->job.spec.scenario, &shared->job.spec.options, seed,
            &random.strategy, (struct sim_recording){false, false}, &ignored);
    shared->stage = SIM_STAGE_IDLE;
}

static void
run_job(struct sim_shared *shared)
{
    rt_assert(shared->ready);
    rt_assert(shared->job.count <= SIM_JOB_RUNS_MAX);
    if (shared->job.spec.with_past && shared->done == 0) {
        run_another(shared);
    }
    sim_edges_forget();
    if (shared->job.spec.how == SIM_HOW_SEARCH) {
        begin_search(shared);
    }
    while (sim_shared_continues(shared) && !line.lost &&
            (shared->job.spec.how != SIM_HOW_SEARCH || has_more(shared))) {
        run_one(shared, shared->job.spec.seed + shared->done);
    }
}

/* ---- The process. ---------------------------------------------------------------------------- */

/* A run reads nothing from stdin, and what it writes to stdout goes to the recorder only. */
static void
redirect(bool loud)
{
    int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        (void)dup2(null, STDIN_FILENO);
        (void)dup2(null, STDOUT_FILENO);
        if (!loud) {
            (void)dup2(null, STDERR_FILENO);
        }
    }
}

/* timeout(1) sends it to the whole group; the parent handles it. A run that sends it to itself
 * dies of it. */
static void
on_term(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_pid == getpid()) {
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
}

static void
quiet_signals(void)
{
    sigset_t none;
    struct sigaction term = {.sa_sigaction = on_term, .sa_flags = SA_SIGINFO | SA_RESTART};
    (void)sigemptyset(&term.sa_mask);
    (void)sigemptyset(&none);
    /* ^C in a terminal reaches the whole group; only the parent decides what it means. */
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    (void)signal(SIGUSR1, SIG_IGN);
    (void)sigaction(SIGTERM, &term, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool
remember_line(int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        return false;
    }
    line.fd = fd;
    line.device = status.st_dev;
    line.inode = status.st_ino;
    return true;
}

/* A program may hash addresses: they are the same in each process. */
static void *
arena_of(const struct sim_worker *worker)
{
    return sim_program_loaded() != NULL ? sim_worker_usual.arena : worker->kind.arena;
}

/* Where that is not possible the parent has said so. */
static void
guard(void)
{
    if (sim_program_loaded() != NULL) {
        (void)sim_guard_begin();
    }
}

static bool
prepare(struct sim_worker *worker, int fd)
{
    rt_assert(fd >= 0);
    rt_assert(worker->shared != NULL);
    struct sim_shared *shared = worker->shared;
    const struct rlimit no_core = {0, 0};
    if (!worker->core) {
        (void)setrlimit(RLIMIT_CORE, &no_core);
    }
    quiet_signals();
    redirect(worker->loud);
    sim_descriptors_drop(fd, worker->tape_fd);
    tape_fd = worker->tape_fd;
    edge_log = worker->edges;
    sim_descriptors_drop_maps();
    if (worker->epochs != NULL) {
        sim_epochs_seal(worker->epochs);
    }
    /* A child that a run makes must not become a second worker on the same mapping. */
    if (madvise(shared, worker->parts.size, MADV_DONTFORK) != 0 || !remember_line(fd) ||
            !sim_crash_catch(&shared->crash) || !sim_hang_catch(&shared->hang)) {
        return false;
    }
    sim_output_init();
    guard();
    sim_world_init(&shared->world, &shared->parts.memory, arena_of(worker), worker->kind.fill);
    shared->world.progress = &shared->progress;
    /* Where edges are counted there are none: a run from a checkpoint does not reach the code
     * before it. */
    static struct sim_checkpoints checkpoints;
    if (edge_log == NULL) {
        sim_checkpoints_init(&checkpoints, SIM_CHECKPOINTS_SIZE);
        checkpoints.sets_up_always = worker->kind.sets_up_always;
        shared->world.checkpoints = &checkpoints;
    }
    shared->stage = SIM_STAGE_IDLE;
    shared->ready = true;
    return true;
}

static void
take_jobs(struct sim_shared *shared, int fd)
{
    rt_assert(fd >= 0);
    char byte = 0;
    while (read(fd, &byte, 1) == 1) {
        run_job(shared);
        if (write(fd, &byte, 1) != 1) {
            return;
        }
    }
}

void
sim__worker_serve(struct sim_worker *worker, int fd, pid_t parent)
{
    rt_assert(worker->pid == 0);
    rt_assert(parent > 0);
    sim_exit_flush_begin();
    /* The worker dies with its parent. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(0);
    }
    volatile char *lower = alloca(worker->kind.stack_bytes + 1);
    lower[0] = 0;
    if (!prepare(worker, fd)) {
        leave(SIM_EXIT_NO_MEMORY);
    }
    take_jobs(worker->shared, fd);
    leave(0);
}

/* ---- Without a process. ---------------------------------------------------------------------- */

bool
sim__worker_serve_here(struct sim_worker *worker, struct sim_trap *trap)
{
    rt_assert(worker->pid == 0);
    struct sim_shared *shared = worker->shared;
    FILE *before = stdout;
    /* Any descriptor will do: there is no parent. */
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    bool fits = fd >= 0 && remember_line(fd);
    if (fits) {
        sim_output_init();
        guard();
        sim_world_init(&shared->world, &shared->parts.memory, arena_of(worker), worker->kind.fill);
        shared->world.progress = &shared->progress;
        shared->world.trap = trap;
        shared->ready = true;
        run_job(shared);
        sim_world_fini(&shared->world);
    }
    stdout = before;
    if (fd >= 0) {
        (void)close(fd);
    }
    return fits;
}
