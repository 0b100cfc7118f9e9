/*
 * worker.c -- the parent's side of a worker: starting its process, giving it jobs, waiting.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/worker/worker.h"

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
#include "sim/base/clock.h"
#include "sim/engine/worker/exit_flush.h"
#include "sim/engine/worker/worker_priv.h"
#include "sim/search/cover/edges.h"

/* How often the step counters are read. */
#define CHECK_MS 100
#define WORKERS_MAX 256u
/* The same while a process has closed its end of the line, so that its death is no event there. */
#define LINE_CLOSED_CHECK_MS 5

/* Far from each other and from where a system puts its own; a hint that is not taken is no harm. */
const struct sim_worker_kind sim_worker_usual = {
        .arena = (void *)(uintptr_t)0x200000000000, .fill = SIM_ARENA_FILL, .stack_bytes = 0};
const struct sim_worker_kind sim_worker_replica = {.arena = (void *)(uintptr_t)0x300000123000,
        .fill = 0x5a,
        .stack_bytes = 77777,
        .sets_up_always = true};

void
sim_worker_init(struct sim_worker *worker, const struct sim_worker_kind *kind,
        const struct sim_shared_sizes *sizes, uint32_t hang_ms)
{
    rt_assert(kind != NULL);
    *worker = (struct sim_worker){.kind = *kind, .hang_ms = hang_ms, .fd = -1, .tape_fd = -1};
    worker->shared = sim_shared_new(sizes, &worker->parts);
    worker->edges = sim_edges_log_new(SIM_JOB_RUNS_MAX);
}

/* Whether the process is gone; another process may still hold its end of the line. */
static bool
is_gone(struct sim_worker *worker)
{
    rt_assert(worker->pid > 0);
    if (!worker->reaped && waitpid(worker->pid, &worker->status, WNOHANG) == worker->pid) {
        worker->reaped = true;
    }
    return worker->reaped;
}

int
sim__worker_end(struct sim_worker *worker)
{
    rt_assert(worker->pid == 0 || worker->fd >= 0);
    if (worker->pid == 0) {
        return 0;
    }
    if (worker->busy && !worker->reaped) {
        sim_exit_flush_ask(worker->pid);
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
    worker->line_closed = false;
    worker->reaped = false;
    return worker->status;
}

void
sim_worker_fini(struct sim_worker *worker)
{
    (void)sim__worker_end(worker);
    if (worker->tape_fd > 0) {
        (void)close(worker->tape_fd);
    }
    sim_shared_free(&worker->shared, &worker->parts);
    sim_edges_log_free(&worker->edges, SIM_JOB_RUNS_MAX);
}

bool
sim__worker_fail(struct sim_worker *worker, const char *what, int error)
{
    rt_assert(what != NULL);
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
    rt_assert(worker->pid == 0);
    size_t size = worker->parts.size;
    if (madvise(worker->shared, size, MADV_DOFORK) != 0) {
        return -1;
    }
    if (worker->epochs != NULL) {
        sim_epochs_inherit(worker->epochs, true);
    }
    pid_t pid = fork();
    if (pid != 0) {
        int error = errno;
        if (worker->epochs != NULL) {
            sim_epochs_inherit(worker->epochs, false);
        }
        (void)madvise(worker->shared, size, MADV_DONTFORK);
        errno = error;
    }
    return pid;
}

static bool
start_process(struct sim_worker *worker)
{
    rt_assert(worker->pid == 0);
    rt_assert(worker->fd == -1);
    int fds[2];
    worker->shared->ready = false;
    worker->shared->stage = SIM_STAGE_IDLE;
    worker->shared->crash = (struct sim_crash){.signal = 0};
    worker->shared->hang.count = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
        return sim__worker_fail(worker, "no socket for a worker", errno);
    }
    /* What is still buffered must not be written by the child as well. */
    (void)fflush(NULL);
    pid_t parent = getpid();
    pid_t pid = fork_with_mapping(worker);
    if (pid < 0) {
        int error = errno;
        (void)close(fds[0]);
        (void)close(fds[1]);
        return sim__worker_fail(worker, "no process for a worker", error);
    }
    if (pid == 0) {
        (void)close(fds[0]);
        sim__worker_serve(worker, fds[1], parent);
    }
    (void)close(fds[1]);
    worker->pid = pid;
    worker->fd = fds[0];
    rt_assert(worker->pid > 0);
    return true;
}

/* Copies the job's tape to where the process reads it: a run may have written over that. */
static void
put_tape(struct sim_worker *worker)
{
    const struct sim_tape *tape = worker->job.spec.tape;
    struct sim_tape *incoming = &worker->parts.incoming;
    incoming->count = tape != NULL ? tape->count : 0;
    rt_assert(incoming->count <= incoming->capacity);
    if (incoming->count > 0) {
        memcpy(incoming->entries, tape->entries, incoming->count * sizeof(*tape->entries));
    }
    worker->shared->parts.incoming.count = incoming->count;
}

/* Notes which runs the process has made before those that it is about to make. */
static void
note_past(struct sim_worker *worker, bool used)
{
    const struct sim_job *job = &worker->job;
    worker->used = used;
    worker->begun_at = worker->shared->done;
    rt_assert(worker->begun_at < worker->job.count);
    if (!used || worker->since_of != job->spec.scenario) {
        worker->since_of = job->spec.scenario;
        worker->since = job->spec.seed + worker->begun_at;
    }
}

/* Starts the job in the mapping, or continues it. */
static bool
proceed(struct sim_worker *worker)
{
    rt_assert(!worker->busy);
    bool used = worker->pid != 0;
    if (!used && !start_process(worker)) {
        return false;
    }
    note_past(worker, used);
    put_tape(worker);
    worker->busy = true;
    worker->seen_progress = worker->shared->progress;
    worker->seen_ms = sim_clock_ms();
    rt_assert(worker->pid > 0);
    /* A worker that has died meanwhile is found by the wait. */
    (void)send(worker->fd, "", 1, MSG_NOSIGNAL);
    return true;
}

bool
sim__worker_continue(struct sim_worker *worker)
{
    worker->busy = false;
    return sim_shared_continues(worker->shared) && proceed(worker);
}

/* Whether the mapping has space for the tape of the job. */
static bool
tape_fits(struct sim_worker *worker)
{
    const struct sim_tape *tape = worker->shared->job.spec.tape;
    return tape == NULL || tape->count <= worker->parts.incoming.capacity ||
           sim__worker_fail(worker, "the tape has more deviations than a worker has space for", 0);
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
    return sim__worker_serve_here(worker, trap) ||
           sim__worker_fail(worker, "there is no descriptor for a run", 0);
}

/* If the run given now is one of those that are repeated alone: limits the job to it, in a process
 * that has made none. */
static void
take_alone(struct sim_worker *worker)
{
    rt_assert(!worker->busy);
    struct sim_job *job = &worker->shared->job;
    const struct sim_job *last = &worker->job;
    if (job->spec.scenario != last->spec.scenario || job->spec.seed != last->spec.seed + 1) {
        worker->alone = 0;
        worker->refuted.any = false;
    }
    if (worker->alone == 0) {
        return;
    }
    worker->alone--;
    job->count = 1;
    /* A run that is going to be called `diverged` has a row. */
    bool refuted = worker->refuted.any && worker->refuted.seen.seed == job->spec.seed;
    job->keep_all = job->keep_all || refuted;
    (void)sim__worker_end(worker);
}

bool
sim_worker_give(struct sim_worker *worker)
{
    rt_assert(!worker->busy);
    rt_assert(worker->shared->job.count >= 1);
    rt_assert(worker->shared->job.count <= SIM_JOB_RUNS_MAX);
    take_alone(worker);
    worker->shared->job.serial = ++worker->serial;
    memcpy(&worker->job, &worker->shared->job, sizeof(worker->job));
    worker->asked = worker->job.count;
    worker->keeps_all = worker->job.keep_all;
    worker->suspect.any = false;
    worker->deaths = 0;
    worker->deaths_done = 0;
    if (!tape_fits(worker)) {
        return false;
    }
    sim_shared_begin(worker->shared);
    return proceed(worker);
}

void
sim_worker_abandon(struct sim_worker *worker)
{
    rt_assert(worker->shared != NULL);
    if (!worker->busy) {
        return;
    }
    (void)sim__worker_end(worker);
    worker->busy = false;
    if (!sim_shared_is_valid(worker->shared, &worker->parts, &worker->job)) {
        sim_shared_renew(worker->shared, &worker->parts, &worker->job);
    }
    worker->shared->stage = SIM_STAGE_IDLE;
}

uint32_t
sim__worker_patience_ms(const struct sim_worker *worker)
{
    bool hurries = worker->hurry != NULL && *worker->hurry != 0;
    return hurries && worker->hang_ms > SIM_HURRY_MS ? SIM_HURRY_MS : worker->hang_ms;
}

/* ---- Waiting. -------------------------------------------------------------------------------- */

/* Reaps a process that is gone or stands still. True: its job is over. */
static bool
check(struct sim_worker *worker, uint64_t now_ms)
{
    rt_assert(worker->busy);
    rt_assert(worker->pid > 0);
    if (is_gone(worker)) {
        return !sim__worker_reap(worker, SIM_VERDICT_CRASH);
    }
    uint64_t progress = worker->shared->progress;
    bool idle = worker->shared->stage == SIM_STAGE_IDLE && !worker->line_closed;
    if (progress != worker->seen_progress || idle) {
        worker->seen_progress = progress;
        worker->seen_ms = now_ms;
        return false;
    }
    return now_ms - worker->seen_ms >= sim__worker_patience_ms(worker) &&
           !sim__worker_reap(worker, SIM_VERDICT_HANG);
}

/* The line is readable. True: the job is over. */
static bool
read_line(struct sim_worker *worker)
{
    rt_assert(worker->busy);
    rt_assert(worker->fd >= 0);
    char byte;
    ssize_t got = recv(worker->fd, &byte, 1, 0);
    if (got < 0 && errno == EINTR) {
        return false;
    }
    if (got != 1) {
        /* It is about to die, or has closed a descriptor that is not its own and runs on. */
        worker->line_closed = !is_gone(worker);
        return !worker->line_closed && !sim__worker_reap(worker, SIM_VERDICT_CRASH);
    }
    if (!sim_shared_is_valid(worker->shared, &worker->parts, &worker->job)) {
        (void)sim__worker_end(worker);
        return !sim__worker_repeat_alone(worker);
    }
    /* The byte may be from a run that writes to every descriptor. */
    worker->busy = sim_shared_continues(worker->shared);
    return !worker->busy;
}

/* Waits once, and checks all busy workers. The index of one that is done, or -1; sets
 * *ret_interrupted after a signal. */
static int
wait_round(struct sim_worker *workers, uint32_t count, int wait_ms, bool *ret_interrupted)
{
    rt_assert(count <= WORKERS_MAX);
    rt_assert(wait_ms >= 0);
    struct pollfd fds[WORKERS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        bool heard = workers[i].busy && !workers[i].line_closed;
        fds[i] = (struct pollfd){.fd = heard ? workers[i].fd : -1, .events = POLLIN};
        if (workers[i].busy && workers[i].line_closed && wait_ms > LINE_CLOSED_CHECK_MS) {
            wait_ms = LINE_CLOSED_CHECK_MS;
        }
    }
    *ret_interrupted = poll(fds, count, wait_ms) < 0;
    uint64_t now_ms = sim_clock_ms();
    for (uint32_t i = 0; i < count; i++) {
        bool said = workers[i].busy && !*ret_interrupted && fds[i].revents != 0;
        bool over = said ? read_line(&workers[i]) : workers[i].busy && check(&workers[i], now_ms);
        if (over && sim__worker_conclude(&workers[i])) {
            return (int)i;
        }
    }
    return -1;
}

static bool
any_busy(const struct sim_worker *workers, uint32_t count)
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
    while (any_busy(workers, count) && !interrupted) {
        int left = timeout_ms < 0 ? CHECK_MS : timeout_ms - (int)(sim_clock_ms() - start_ms);
        if (left < 0) {
            break;
        }
        int done = wait_round(workers, count, left < CHECK_MS ? left : CHECK_MS, &interrupted);
        if (done >= 0) {
            return done;
        }
    }
    return -1;
}
