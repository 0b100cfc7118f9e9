/*
 * reap.c -- how a run ended whose process is gone, and which runs are run again.
 *
 * The rule is in worker.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/engine/worker/worker_priv.h"

/* Processes lost between two runs, and no run done meanwhile, before a worker fails. */
#define DEATHS_MAX 20u

/* ---- The run that was in progress. ----------------------------------------------------------- */

/* From the last events: the actor that took the last step, and the last site in it. */
static void
set_place(const struct sim_shared *shared, struct sim_outcome *outcome)
{
    const struct sim_recorder *recorder = &shared->world.recorder;
    for (uint64_t i = recorder->count; i > sim_recorder_first(recorder); i--) {
        const struct sim_event *event = sim_recorder_event(recorder, i - 1);
        if (event->step != (uint32_t)outcome->steps) {
            return;
        }
        if (outcome->site == 0) {
            outcome->site = sim_event_line(event);
        }
        if (event->kind == SIM_EVENT_STEP) {
            outcome->actor = event->actor;
            return;
        }
    }
}

static void
set_actor_name(const struct sim_shared *shared, struct sim_outcome *outcome)
{
    const char *name = outcome->actor == UINT32_MAX ? NULL
                                                    : sim_recorder_text(&shared->world.recorder,
                                                              SIM_TEXT_ACTOR, outcome->actor);
    if (name != NULL) {
        (void)snprintf(outcome->actor_name, sizeof(outcome->actor_name), "%s", name);
    }
}

/* The world in the mapping is as the run left it. */
static void
cut_off(struct sim_shared *shared, struct sim_outcome *ret)
{
    rt_assert(ret != NULL);
    struct sim_world *world = &shared->world;
    *ret = (struct sim_outcome){
            .seed = shared->seed,
            .steps = world->step,
            .sim_ns = world->now_ns,
            .events = world->recorder.count,
            .decisions = world->decider.asked,
            .deviations = world->decider.tape.count,
            .tasks = world->tasks,
            .order = (uint8_t)world->order,
            .actor = UINT32_MAX,
            .fail_step = world->step,
            .fail_ns = world->now_ns,
    };
    set_place(shared, ret);
    set_actor_name(shared, ret);
    shared->recorder = world->recorder;
    ret->digest = sim_recorder_end(&shared->recorder, world->decider.hash);
}

/* The outcome of a run whose process is gone: in the middle of it, or of a spurious poll of a
 * blocked actor after its end. */
static struct sim_outcome
cut_short(struct sim_worker *worker, enum sim_verdict verdict, int status)
{
    rt_assert(worker->pid == 0);
    rt_assert(verdict == SIM_VERDICT_CRASH || verdict == SIM_VERDICT_HANG);
    struct sim_shared *shared = worker->shared;
    const struct sim_ended *ended = &shared->world.ended;
    struct sim_outcome outcome;
    char what[SIM_MESSAGE_MAX];
    if (ended->asking) {
        outcome = ended->outcome;
        shared->recorder = ended->recorder;
    } else {
        cut_off(shared, &outcome);
    }
    outcome.verdict = (uint8_t)verdict;
    outcome.oracle = SIM_ORACLE_PROCESS;
    outcome.asked = ended->asking;
    outcome.reason = SIM_REASON_NONE;
    if (verdict == SIM_VERDICT_HANG) {
        /* Where it was when the time was up is no property of the run: it has no digest. */
        char where[160];
        outcome.digest = 0;
        sim_hang_find(&shared->hang, &shared->crash);
        sim_crash_stack(&shared->crash, &outcome.stack);
        sim_crash_where(&shared->crash, where, sizeof(where));
        (void)snprintf(what, sizeof(what), "a step has not returned after %u ms of real time%s",
                sim__worker_patience_ms(worker), where);
    } else {
        sim_crash_stack(&shared->crash, &outcome.stack);
        sim_crash_tell(&shared->crash, status, what, sizeof(what));
        outcome.reason = shared->crash.signal == 0 ? SIM_REASON_KILLED : SIM_REASON_NONE;
    }
    sim_outcome_say(&outcome, "%s", what);
    return outcome;
}

/* ---- Run again, alone. ----------------------------------------------------------------------- */

static uint32_t
done_of(const struct sim_worker *worker)
{
    return worker->shared->done;
}

/* The process has made no run before the job's next one. */
static bool
is_fresh(const struct sim_worker *worker)
{
    rt_assert(worker->begun_at <= done_of(worker));
    return !worker->used && done_of(worker) == worker->begun_at;
}

static bool
is_sequential(const struct sim_worker *worker)
{
    return worker->job.spec.how == SIM_HOW_SEARCH &&
           sim_strategy_at(worker->job.spec.search.kind)->sequential;
}

/* No process works on the job: sets how many of its runs are next, and whether each has a row. */
static void
limit(struct sim_worker *worker, uint32_t count, bool keep_all)
{
    rt_assert(count <= worker->asked);
    worker->job.count = count;
    worker->job.keep_all = keep_all;
    memcpy(&worker->shared->job, &worker->job, sizeof(worker->job));
}

/* `outcome` is of a run that ended as `suspect` says after others, and passed alone. */
static void
call_diverged(struct sim_outcome *outcome, const struct sim_suspect *suspect)
{
    rt_assert(suspect->seen.verdict != SIM_VERDICT_PASS);
    char after[80] = "after runs of another scenario";
    const struct sim_outcome *seen = &suspect->seen;
    if (suspect->since < seen->seed) {
        (void)snprintf(after, sizeof(after), "after runs of seeds from %llu to %llu",
                (unsigned long long)suspect->since, (unsigned long long)(seen->seed - 1));
    }
    outcome->verdict = SIM_VERDICT_DIVERGED;
    outcome->oracle = SIM_ORACLE_REPLICA;
    outcome->site = seen->site;
    outcome->reason = seen->reason;
    if (seen->reason == SIM_REASON_KILLED) {
        sim_outcome_say(outcome, "%.140s; alone in a fresh process it passed", seen->message);
        return;
    }
    sim_outcome_say(outcome,
            "in a process that it shared, %s, it ended as %s: %.100s; alone it passed", after,
            sim_verdict_name(seen->verdict), seen->message);
}

/* Begins the job again, a process for each run; this one is the first. */
static bool
begin_alone(struct sim_worker *worker)
{
    rt_assert(worker->asked >= 1);
    worker->busy = true; /* A process that is still there is ended by force. */
    (void)sim__worker_end(worker);
    worker->alone = worker->asked - 1;
    rt_assert(worker->pid == 0);
    worker->asked = 1;
    worker->suspect.any = false;
    worker->job.count = 1;
    worker->job.keep_all = worker->keeps_all;
    sim_shared_renew(worker->shared, &worker->parts, &worker->job);
    rt_assert(done_of(worker) == 0);
    return sim__worker_continue(worker);
}

/* The last run of the results, if it passed, is called `diverged`. */
static void
diverge(struct sim_worker *worker, const struct sim_suspect *suspect)
{
    struct sim_outcome outcome = *sim_shared_last_kept(worker->shared);
    rt_assert(outcome.seed == suspect->seen.seed);
    if (worker->reports_diverged && outcome.verdict == SIM_VERDICT_PASS) {
        call_diverged(&outcome, suspect);
        sim_shared_replace_last(worker->shared, &outcome);
    }
}

/* The suspect run was run again, and has not ended its process in the middle. True: the job is
 * over. */
static bool
refute(struct sim_worker *worker)
{
    rt_assert(worker->suspect.any);
    const struct sim_suspect suspect = worker->suspect;
    bool again = sim_shared_last_kept(worker->shared)->oracle == SIM_ORACLE_PROCESS;
    bool others = done_of(worker) > 1;
    worker->suspect.any = false;
    /* A kill from outside does no damage. */
    if (!again && others && suspect.seen.reason != SIM_REASON_KILLED) {
        worker->refuted = suspect;
        return !begin_alone(worker);
    }
    diverge(worker, &suspect);
    limit(worker, worker->asked, worker->keeps_all);
    return !sim__worker_continue(worker);
}

bool
sim__worker_conclude(struct sim_worker *worker)
{
    rt_assert(!worker->busy);
    uint32_t done = done_of(worker);
    uint64_t last = worker->job.spec.seed + done - 1;
    if (worker->failed) {
        return true;
    }
    if (worker->suspect.any && done > 0 && last == worker->suspect.seen.seed) {
        return refute(worker);
    }
    worker->suspect.any = false; /* It was stopped before it made the run again. */
    if (worker->refuted.any && done > 0 && last == worker->refuted.seen.seed) {
        worker->refuted.any = false;
        diverge(worker, &worker->refuted);
    }
    return true;
}

/* ---- A mapping that is not valid. ------------------------------------------------------------ */

static bool
empty_tape_file(struct sim_worker *worker)
{
    if (worker->tape_fd <= 0) {
        worker->tape_fd = memfd_create("rewake-tape", MFD_CLOEXEC);
    }
    return worker->tape_fd > 0 && ftruncate(worker->tape_fd, 0) == 0 &&
           lseek(worker->tape_fd, 0, SEEK_SET) == 0;
}

/* Copies the tape from its file to where the run's own would be; answers its deviations. */
static uint32_t
read_tape(struct sim_worker *worker)
{
    rt_assert(worker->tape_fd > 0);
    const struct sim_tape *tape = &worker->parts.memory.tape;
    ssize_t got = pread(worker->tape_fd, tape->entries, tape->capacity * sizeof(*tape->entries), 0);
    return got > 0 ? (uint32_t)((size_t)got / sizeof(*tape->entries)) : 0;
}

/* The one run of the job, alone in its process, has written there. */
static bool
overwrote(struct sim_worker *worker)
{
    rt_assert(worker->pid == 0);
    rt_assert(worker->job.count == 1);
    struct sim_job *job = &worker->job;
    /* A search repeats a run by its tape, which is lost: the run is made once more, and writes its
     * tape to a file. */
    bool kept_tape = job->keeps_tape;
    job->keeps_tape = job->spec.how == SIM_HOW_SEARCH && !kept_tape && empty_tape_file(worker);
    sim_shared_renew(worker->shared, &worker->parts, job);
    rt_assert(done_of(worker) == 0);
    if (!job->keeps_tape) {
        const struct sim_outcome outcome = {
                .seed = job->spec.seed,
                .verdict = SIM_VERDICT_CRASH,
                .oracle = SIM_ORACLE_PROCESS,
                .order = SIM_ORDER_ANY,
                .actor = UINT32_MAX,
                .message = "it wrote over memory of rewake's own",
                .deviations = kept_tape ? read_tape(worker) : 0,
        };
        sim_shared_add(worker->shared, &outcome, job->spec.search.kind);
    }
    return sim__worker_continue(worker);
}

bool
sim__worker_repeat_alone(struct sim_worker *worker)
{
    rt_assert(worker->pid == 0);
    if (is_sequential(worker)) {
        return sim__worker_fail(worker,
                "a run wrote over rewake's own memory, and an enumeration cannot "
                "continue without it: find the run with --strategy random",
                0);
    }
    bool alone = !worker->used && worker->begun_at == 0 && worker->job.count == 1;
    if (alone && !worker->job.spec.with_past) {
        return overwrote(worker);
    }
    worker->job.spec.with_past = false;
    return begin_alone(worker);
}

/* ---- A process that is gone. ----------------------------------------------------------------- */

/* The process ended while no run was in progress, so that none is responsible. */
static bool
replace(struct sim_worker *worker, int status)
{
    uint32_t done = worker->shared->done;
    worker->deaths = done == worker->deaths_done ? worker->deaths + 1 : 1;
    worker->deaths_done = done;
    rt_assert(worker->deaths >= 1);
    if (worker->deaths <= DEATHS_MAX) {
        return sim__worker_continue(worker);
    }
    char what[112];
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    (void)snprintf(what, sizeof(what), "%u workers in a row ended between two runs, %s",
            worker->deaths,
            killed ? "killed from outside (SIGKILL): is memory short?"
                   : "and no run was in progress: this is a bug of rewake");
    return sim__worker_fail(worker, what, 0);
}

/* True when the run that was in progress is not among the results: it ended with its process. */
static bool
was_running(const struct sim_worker *worker)
{
    rt_assert(worker->pid == 0);
    const struct sim_shared *shared = worker->shared;
    return shared->stage == SIM_STAGE_RUN &&
           shared->seed == shared->job.spec.seed + done_of(worker);
}

/*
 * Repeats the last run of an enumeration, which has moved past it, by its tape. `seen` is how it
 * ended. False: see worker->error.
 */
static bool
again_by_tape(
        struct sim_worker *worker, const struct sim_outcome *seen, struct sim_outcome *ret_outcome)
{
    rt_assert(seen->oracle == SIM_ORACLE_PROCESS);
    struct sim_tape tape = worker->parts.memory.tape;
    struct sim_worker single;
    tape.count = seen->deviations < tape.capacity ? seen->deviations : tape.capacity;
    sim_worker_init(&single, &worker->kind, &sim_shared_for_sweeps, worker->hang_ms);
    single.hurry = worker->hurry;
    memcpy(&single.shared->job, &worker->job, sizeof(worker->job));
    single.shared->job.spec.seed = seen->seed;
    single.shared->job.count = 1;
    single.shared->job.spec.how = SIM_HOW_STRICT;
    single.shared->job.spec.tape = &tape;
    single.shared->job.keep_all = true;
    single.shared->job.teaches = false;
    single.shared->job.covers = false;
    if (sim_worker_give(&single)) {
        while (single.busy) {
            (void)sim_workers_wait(&single, 1, -1);
        }
    }
    bool made = !single.failed || sim__worker_fail(worker, single.error, 0);
    if (made) {
        *ret_outcome = *sim_shared_last_kept(single.shared);
    }
    sim_worker_fini(&single);
    return made;
}

/* `seen` is of an enumeration's run, in a process that had made others. */
static bool
settle_by_tape(struct sim_worker *worker, const struct sim_outcome *seen)
{
    rt_assert(is_sequential(worker));
    rt_assert(!is_fresh(worker));
    const struct sim_suspect suspect = {.any = true, .seen = *seen, .since = worker->since};
    struct sim_outcome outcome;
    if (!again_by_tape(worker, seen, &outcome)) {
        return false;
    }
    if (outcome.verdict == SIM_VERDICT_PASS) {
        call_diverged(&outcome, &suspect);
    }
    outcome.deviations = seen->deviations;
    sim_shared_add(worker->shared, &outcome, worker->shared->arm);
    return sim__worker_continue(worker);
}

/* The run in progress ended with its process, as `seen`. */
static bool
settle(struct sim_worker *worker, const struct sim_outcome *seen)
{
    rt_assert(seen->oracle == SIM_ORACLE_PROCESS);
    rt_assert(seen->verdict != SIM_VERDICT_PASS);
    struct sim_suspect *suspect = &worker->suspect;
    bool again = suspect->any && suspect->seen.seed == seen->seed;
    /* A kill from outside counts only if it happens twice. */
    if (is_fresh(worker) && (again || seen->reason != SIM_REASON_KILLED)) {
        suspect->any = false;
        limit(worker, worker->asked, worker->keeps_all);
        sim_shared_add(worker->shared, seen, worker->shared->arm);
        return sim__worker_continue(worker);
    }
    if (is_sequential(worker)) {
        return settle_by_tape(worker, seen);
    }
    *suspect = (struct sim_suspect){.any = true, .seen = *seen, .since = worker->since};
    limit(worker, done_of(worker) + 1, true);
    return sim__worker_continue(worker);
}

bool
sim__worker_reap(struct sim_worker *worker, enum sim_verdict verdict)
{
    rt_assert(worker->pid > 0);
    rt_assert(worker->busy);
    struct sim_shared *shared = worker->shared;
    if (verdict == SIM_VERDICT_HANG) {
        sim_hang_ask(&shared->hang, worker->pid);
    }
    int status = sim__worker_end(worker);
    rt_assert(worker->pid == 0);
    if (!sim_shared_is_valid(shared, &worker->parts, &worker->job)) {
        return sim__worker_repeat_alone(worker);
    }
    uint32_t stage = shared->stage;
    bool running = was_running(worker);
    shared->stage = SIM_STAGE_IDLE;
    if (!shared->ready && WIFEXITED(status) && WEXITSTATUS(status) == SIM_EXIT_NO_MEMORY) {
        return sim__worker_fail(worker, "a worker has no memory to begin with", 0);
    }
    if (stage == SIM_STAGE_PAST) {
        worker->job.spec.with_past = false;
        shared->job.spec.with_past = false;
    } else if (running) {
        const struct sim_outcome outcome = cut_short(worker, verdict, status);
        return settle(worker, &outcome);
    } else if (stage == SIM_STAGE_IDLE || stage == SIM_STAGE_RUN) {
        return replace(worker, status);
    }
    return sim__worker_continue(worker);
}
