/*
 * worker.c -- the parent's side: starting, watching, burying, and starting again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explore/worker/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/cover/edges.h"
#include "sim/explore/clock.h"
#include "sim/explore/worker/last_words.h"

/* How often the step counters are looked at. */
#define LOOK_MS 100
#define WORKERS_MAX 256u
/* The same while somebody's end of the line is closed, and nothing will be heard of its end. */
#define DEAF_LOOK_MS 5
/* Processes lost between two runs, and no run done meanwhile, before a worker gives up. */
#define DEATHS_MAX 20u

/* Far from each other and from where a system puts its own; a hint that is not taken is no harm. */
const struct sim_worker_kind sim_worker_usual = {
        .arena = (void *)(uintptr_t)0x200000000000, .fill = 0xcd, .stack_bytes = 0};
const struct sim_worker_kind sim_worker_twin = {.arena = (void *)(uintptr_t)0x300000123000,
        .fill = 0x5a,
        .stack_bytes = 77777,
        .sets_up_anew = true};

bool
sim_worker_init(struct sim_worker *worker, const struct sim_worker_kind *kind,
        const struct sim_shared_sizes *sizes, uint32_t hang_ms)
{
    *worker = (struct sim_worker){
            .kind = *kind, .sizes = *sizes, .hang_ms = hang_ms, .fd = -1, .dictation = -1};
    worker->shared = sim_shared_new(sizes);
    worker->edges = sim_edges_log_new(SIM_JOB_RUNS_MAX);
    return worker->shared != NULL;
}

/* Whether the process is gone; it may be so although somebody holds its end of the line. */
static bool
is_gone(struct sim_worker *worker)
{
    if (!worker->reaped && waitpid(worker->pid, &worker->status, WNOHANG) == worker->pid) {
        worker->reaped = true;
    }
    return worker->reaped;
}

/* Ends the process: an idle one by closing its line, a busy one by force. Answers its status. */
static int
end_process(struct sim_worker *worker)
{
    if (worker->pid == 0) {
        return 0;
    }
    if (worker->busy && !worker->reaped) {
        sim_last_words_ask(worker->pid);
        (void)kill(worker->pid, SIGKILL);
    }
    /* Later workers hold copies of this end: only a shutdown is seen by the process. */
    (void)shutdown(worker->fd, SHUT_RDWR);
    (void)close(worker->fd);
    while (!worker->reaped && waitpid(worker->pid, &worker->status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(worker->status) && WCOREDUMP(worker->status)) {
        worker->dumped = worker->pid;
    }
    worker->pid = 0;
    worker->fd = -1;
    worker->deaf = false;
    worker->reaped = false;
    return worker->status;
}

static void
end_dictation(struct sim_worker *worker)
{
    if (worker->dictation > 0) {
        (void)close(worker->dictation);
    }
    worker->dictation = -1;
}

void
sim_worker_fini(struct sim_worker *worker)
{
    (void)end_process(worker);
    end_dictation(worker);
    sim_shared_free(&worker->shared, &worker->sizes);
    sim_edges_log_free(&worker->edges, SIM_JOB_RUNS_MAX);
}

static bool
fail(struct sim_worker *worker, const char *what, int error)
{
    (void)snprintf(worker->error, sizeof(worker->error), "%s%s%s", what, error != 0 ? ": " : "",
            error != 0 ? strerror(error) : "");
    worker->failed = true;
    worker->busy = false;
    return false;
}

/* A run that writes anywhere must not reach the mapping of another worker: the child has its own
 * alone. */
static pid_t
fork_with_mapping(struct sim_worker *worker)
{
    size_t size = sim_shared_lay_out(NULL, &worker->sizes).size;
    if (madvise(worker->shared, size, MADV_DOFORK) != 0) {
        return -1;
    }
    if (worker->book != NULL) {
        sim_lore_book_lend(worker->book, true);
    }
    pid_t pid = fork();
    if (pid != 0) {
        int error = errno;
        if (worker->book != NULL) {
            sim_lore_book_lend(worker->book, false);
        }
        (void)madvise(worker->shared, size, MADV_DONTFORK);
        errno = error;
    }
    return pid;
}

static bool
start_process(struct sim_worker *worker)
{
    int fds[2];
    worker->shared->ready = false;
    worker->shared->stage = SIM_STAGE_IDLE;
    worker->shared->crash = (struct sim_crash){.signal = 0};
    worker->shared->hang.count = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
        return fail(worker, "no socket for a worker", errno);
    }
    /* What is still buffered must not be written by the child as well. */
    (void)fflush(NULL);
    pid_t parent = getpid();
    pid_t pid = fork_with_mapping(worker);
    if (pid < 0) {
        int error = errno;
        (void)close(fds[0]);
        (void)close(fds[1]);
        return fail(worker, "no process for a worker", error);
    }
    if (pid == 0) {
        (void)close(fds[0]);
        sim__worker_serve(worker, fds[1], parent);
    }
    (void)close(fds[1]);
    worker->pid = pid;
    worker->fd = fds[0];
    return true;
}

/* Where the process reads it. A run may have written over what was there. */
static void
put_tape(struct sim_worker *worker)
{
    const struct sim_tape *tape = worker->job.tape;
    struct sim_tape *incoming = &worker->shared->incoming;
    incoming->count = tape != NULL ? tape->count : 0;
    if (incoming->count > 0) {
        memcpy(incoming->entries, tape->entries, incoming->count * sizeof(*tape->entries));
    }
}

/* Has a process begin, or go on with, the job in the mapping. */
static bool
go_on(struct sim_worker *worker)
{
    if (worker->pid == 0 && !start_process(worker)) {
        return false;
    }
    put_tape(worker);
    worker->busy = true;
    worker->seen_progress = worker->shared->progress;
    worker->seen_ms = sim_clock_ms();
    /* A worker that has died meanwhile is found by the wait. */
    (void)send(worker->fd, "", 1, MSG_NOSIGNAL);
    return true;
}

/* Whether there is room for the tape of the job. */
static bool
tape_fits(struct sim_worker *worker)
{
    const struct sim_tape *tape = worker->shared->job.tape;
    return tape == NULL || tape->count <= worker->shared->incoming.capacity ||
           fail(worker, "the tape has more deviations than a worker has room for", 0);
}

bool
sim_worker_here(struct sim_worker *worker, struct sim_trap *trap)
{
    rt_assert(!worker->busy && worker->pid == 0);
    rt_assert(worker->shared->job.count == 1);
    memcpy(&worker->job, &worker->shared->job, sizeof(worker->job));
    if (!tape_fits(worker)) {
        return false;
    }
    sim_shared_begin(worker->shared);
    put_tape(worker);
    return sim__worker_serve_here(worker, trap) || fail(worker, "no memory for a run", 0);
}

bool
sim_worker_give(struct sim_worker *worker)
{
    rt_assert(!worker->busy);
    rt_assert(worker->shared->job.count >= 1);
    rt_assert(worker->shared->job.count <= SIM_JOB_RUNS_MAX);
    if (worker->careful > 0) {
        worker->careful--;
        worker->shared->job.count = 1;
    }
    memcpy(&worker->job, &worker->shared->job, sizeof(worker->job));
    worker->deaths = 0;
    worker->deaths_done = 0;
    if (!tape_fits(worker)) {
        return false;
    }
    sim_shared_begin(worker->shared);
    return go_on(worker);
}

/* ---- A process that died. -------------------------------------------------------------------- */

/* Whose step it was, and the last line that anybody named in it: from the last events. */
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
            outcome->site = event->await != 0 ? event->await : event->site;
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

static uint32_t
patience_ms(const struct sim_worker *worker)
{
    bool hurries = worker->hurry != NULL && *worker->hurry != 0;
    return hurries && worker->hang_ms > SIM_HURRY_MS ? SIM_HURRY_MS : worker->hang_ms;
}

/* The world in the mapping stands where the run stood. */
static void
cut_off(struct sim_shared *shared, struct sim_outcome *ret)
{
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

/* What a run came to whose process is gone: in the middle of it, or of a question to a sleeper when
 * it had ended. */
static struct sim_outcome
last_words(struct sim_worker *worker, enum sim_verdict verdict, int status)
{
    struct sim_shared *shared = worker->shared;
    const struct sim_ended *ended = &shared->world.ended;
    struct sim_outcome outcome;
    char what[SIM_MESSAGE_MAX - sizeof(SIM_OUTCOME_ASKED)];
    if (ended->asking) {
        outcome = ended->outcome;
        shared->recorder = ended->recorder;
    } else {
        cut_off(shared, &outcome);
    }
    outcome.verdict = (uint8_t)verdict;
    outcome.oracle = SIM_ORACLE_PROCESS;
    if (verdict == SIM_VERDICT_HANG) {
        /* Where it was when we lost patience is no property of the run: it has no digest. */
        char place[160];
        outcome.digest = 0;
        sim_hang_find(&shared->hang, &shared->crash);
        sim_crash_place(shared->crash.pc, place, sizeof(place));
        (void)snprintf(what, sizeof(what), "a step has not returned after %u ms of real time%s",
                patience_ms(worker), place);
    } else {
        sim_crash_tell(&shared->crash, status, what, sizeof(what));
    }
    (void)snprintf(outcome.message, sizeof(outcome.message), "%s%s",
            ended->asking ? SIM_OUTCOME_ASKED : "", what);
    return outcome;
}

/* Goes on with what is left of the job, in another process. False: nothing is left. */
static bool
go_on_with_rest(struct sim_worker *worker)
{
    worker->busy = false;
    return sim_shared_goes_on(worker->shared) && go_on(worker);
}

/* The process ended while no run was in progress: it was none of the runs'. */
static bool
replace(struct sim_worker *worker, int status)
{
    uint32_t done = sim_shared_results(worker->shared)->done;
    worker->deaths = done == worker->deaths_done ? worker->deaths + 1 : 1;
    worker->deaths_done = done;
    if (worker->deaths <= DEATHS_MAX) {
        return go_on_with_rest(worker);
    }
    char what[112];
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    (void)snprintf(what, sizeof(what), "%u workers in a row ended between two runs, %s",
            worker->deaths,
            killed ? "killed from outside (SIGKILL): is memory short?"
                   : "and nobody told them to: this is a bug of rewake");
    return fail(worker, what, 0);
}

static bool
begin_dictation(struct sim_worker *worker)
{
    end_dictation(worker);
    worker->dictation = memfd_create("rewake-tape", MFD_CLOEXEC);
    return worker->dictation > 0;
}

/* Puts the tape that was dictated where the run's own would be; how many deviations it has. */
static uint32_t
take_dictation(struct sim_worker *worker)
{
    const struct sim_tape *tape = &worker->shared->memory.tape;
    size_t size = tape->capacity * sizeof(*tape->entries);
    ssize_t got = pread(worker->dictation, tape->entries, size, 0);
    end_dictation(worker);
    return got > 0 ? (uint32_t)((size_t)got / sizeof(*tape->entries)) : 0;
}

/*
 * The mapping can not be believed, and the process is gone. A job of one run: it was this one.
 * Otherwise nobody knows which, and the job begins again with one run. True: another process
 * goes on.
 */
static bool
distrust(struct sim_worker *worker)
{
    struct sim_shared *shared = worker->shared;
    struct sim_job *job = &worker->job;
    bool known = job->count == 1 && !job->another_first;
    if (job->how == SIM_HOW_SEARCH && sim_strategy_at(job->search.kind)->sequential) {
        return fail(worker,
                "a run wrote over rewake's own memory, and an enumeration can not go "
                "on without it: find the run with --strategy random",
                0);
    }
    /* Who searches for runs has no other way to make one again but its tape, and that is lost: it
     * is made once more, and the tape kept elsewhere. */
    bool dictated = job->dictates;
    job->dictates = known && job->how == SIM_HOW_SEARCH && !dictated && begin_dictation(worker);
    if (job->count > 1) {
        worker->careful = job->count - 1;
    }
    job->another_first = false;
    job->count = 1;
    sim_shared_renew(shared, &worker->sizes, job);
    if (known && !job->dictates) {
        struct sim_outcome outcome = {
                .seed = job->first,
                .verdict = SIM_VERDICT_CRASH,
                .oracle = SIM_ORACLE_PROCESS,
                .order = SIM_ORDER_ANY,
                .actor = UINT32_MAX,
                .message = "it wrote over memory of rewake's own",
                .deviations = dictated ? take_dictation(worker) : 0,
        };
        sim_shared_add(shared, &outcome, job->search.kind);
    }
    return go_on_with_rest(worker);
}

/* True when the run that was in progress is not among the results: it ended with its process. */
static bool
was_running(const struct sim_shared *shared)
{
    return shared->stage == SIM_STAGE_RUN &&
           shared->seed == shared->job.first + sim_shared_results(shared)->done;
}

/* The process is gone while it had a job, or is to go. True: another one goes on with the rest. */
static bool
bury(struct sim_worker *worker, enum sim_verdict verdict)
{
    struct sim_shared *shared = worker->shared;
    if (verdict == SIM_VERDICT_HANG) {
        sim_hang_ask(&shared->hang, worker->pid);
    }
    int status = end_process(worker);
    if (!sim_shared_is_whole(shared, &worker->sizes, &worker->job)) {
        return distrust(worker);
    }
    uint32_t stage = shared->stage;
    bool running = was_running(shared);
    shared->stage = SIM_STAGE_IDLE;
    if (!shared->ready && WIFEXITED(status) && WEXITSTATUS(status) == SIM_WORKER_NO_MEMORY) {
        return fail(worker, "a worker has no memory to begin with", 0);
    }
    if (stage == SIM_STAGE_PAST) {
        worker->job.another_first = false;
        shared->job.another_first = false;
    } else if (running) {
        struct sim_outcome outcome = last_words(worker, verdict, status);
        sim_shared_add(shared, &outcome, shared->arm);
    } else if (stage == SIM_STAGE_IDLE || stage == SIM_STAGE_RUN) {
        return replace(worker, status);
    }
    return go_on_with_rest(worker);
}

void
sim_worker_abandon(struct sim_worker *worker)
{
    if (!worker->busy) {
        return;
    }
    (void)end_process(worker);
    worker->busy = false;
    if (!sim_shared_is_whole(worker->shared, &worker->sizes, &worker->job)) {
        sim_shared_renew(worker->shared, &worker->sizes, &worker->job);
    }
    worker->shared->stage = SIM_STAGE_IDLE;
}

/* ---- Waiting. -------------------------------------------------------------------------------- */

/* Buries who is gone, and who stands still. True: its job is over. */
static bool
look_at(struct sim_worker *worker, uint64_t now_ms)
{
    if (is_gone(worker)) {
        return !bury(worker, SIM_VERDICT_CRASH);
    }
    uint64_t progress = worker->shared->progress;
    bool idle = worker->shared->stage == SIM_STAGE_IDLE && !worker->deaf;
    if (progress != worker->seen_progress || idle) {
        worker->seen_progress = progress;
        worker->seen_ms = now_ms;
        return false;
    }
    return now_ms - worker->seen_ms >= patience_ms(worker) && !bury(worker, SIM_VERDICT_HANG);
}

/* Something came over the line. True: the job is over. */
static bool
listen_to(struct sim_worker *worker)
{
    char byte;
    ssize_t got = recv(worker->fd, &byte, 1, 0);
    if (got < 0 && errno == EINTR) {
        return false;
    }
    if (got != 1) {
        /* It is about to die, or has closed what it knows nothing of and runs on. */
        worker->deaf = !is_gone(worker);
        return !worker->deaf && !bury(worker, SIM_VERDICT_CRASH);
    }
    if (!sim_shared_is_whole(worker->shared, &worker->sizes, &worker->job)) {
        (void)end_process(worker);
        return !distrust(worker);
    }
    /* A byte from a run that writes to every descriptor says nothing. */
    worker->busy = sim_shared_goes_on(worker->shared);
    return !worker->busy;
}

/* One round: who has said something, who stands still. The index of one that is done, or -1; sets
 * *ret_interrupted when a signal came. */
static int
look_round(struct sim_worker *workers, uint32_t count, int wait_ms, bool *ret_interrupted)
{
    struct pollfd fds[WORKERS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        bool heard = workers[i].busy && !workers[i].deaf;
        fds[i] = (struct pollfd){.fd = heard ? workers[i].fd : -1, .events = POLLIN};
        if (workers[i].busy && workers[i].deaf && wait_ms > DEAF_LOOK_MS) {
            wait_ms = DEAF_LOOK_MS;
        }
    }
    *ret_interrupted = poll(fds, count, wait_ms) < 0;
    uint64_t now_ms = sim_clock_ms();
    for (uint32_t i = 0; i < count; i++) {
        bool said = workers[i].busy && !*ret_interrupted && fds[i].revents != 0;
        if (said ? listen_to(&workers[i]) : workers[i].busy && look_at(&workers[i], now_ms)) {
            return (int)i;
        }
    }
    return -1;
}

static bool
anybody_busy(const struct sim_worker *workers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (workers[i].busy) {
            return true;
        }
    }
    return false;
}

int
sim_workers_wait(struct sim_worker *workers, uint32_t count, int timeout_ms)
{
    rt_assert(count <= WORKERS_MAX);
    uint64_t start_ms = sim_clock_ms();
    bool interrupted = false;
    while (anybody_busy(workers, count) && !interrupted) {
        int left = timeout_ms < 0 ? LOOK_MS : timeout_ms - (int)(sim_clock_ms() - start_ms);
        if (left < 0) {
            break;
        }
        int done = look_round(workers, count, left < LOOK_MS ? left : LOOK_MS, &interrupted);
        if (done >= 0) {
            return done;
        }
    }
    return -1;
}
