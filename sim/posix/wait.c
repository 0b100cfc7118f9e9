/*
 * wait.c -- blocking a thread, in the host or for time and signals.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/posix/wait.h"

#include "runtime/base/assert.h"
#include "runtime/base/list.h"
#include "sim/posix/number.h"
#include "sim/posix/signal.h"

/* Looks in a row that cost nothing; after them the n-th costs n * n of these, at most so much. */
#define LOOKS_FREE 16u
#define LOOK_NS 100u
#define LOOK_MOST_NS 10000000u

static struct sim_thread *
thread_of(struct sim_actor *actor)
{
    return rt_container_of(actor, struct sim_thread, actor);
}

/* What a thread of this module waits at: one place for each thread. */
static struct sim_sync *
place(enum sim_sync_kind kind)
{
    const struct sim__posix_thread *self = sim__posix_thread();
    return sim_sync_at(sim_world_current, &self->mask, kind);
}

/* Whether the wait ends, because a handler has run, or because the thread is canceled, which ends
 * when its call returns. */
static bool
is_interrupted(void)
{
    struct sim_thread *self = sim_thread_now;
    if (sim_thread_is_canceled(self) && sim__posix_is_cancellation_point(self->call)) {
        self->cut = true;
    }
    return self->cut || sim__posix_deliver() > 0;
}

bool
sim__posix_restarts(int fd, enum sim_sys_shut way, int64_t result)
{
    return result == -EINTR && sim_thread_now->restarts && !sim_thread_now->cut &&
           sim_sys_socket_wait(sim__posix_fds(), fd, way) == SIM_NEVER;
}

enum sim__posix_woken
sim__posix_wait(const struct sim__posix_wait *wait)
{
    const struct rt_site *site =
            wait->site != NULL ? wait->site : sim_thread_site(sim__posix_now.caller);
    struct sim_sync *sync = place(SIM_SYNC_SLEEP);
    (void)sim_sync_object(sim_world_current, sync);
    const struct sim_thread_wait asked = {.sync = sync,
            .site = site,
            .reason = wait->reason,
            .due_ns = wait->due_ns,
            .outside = wait->outside};
    sim__posix_state()->clock_reads = 0;
    if (is_interrupted()) {
        return SIM__POSIX_INTERRUPTED;
    }
    enum sim_woken woken = sim_thread_block(&asked);
    if (is_interrupted()) {
        return SIM__POSIX_INTERRUPTED;
    }
    return woken == SIM_WOKEN_TIMEOUT ? SIM__POSIX_TIMED_OUT : SIM__POSIX_WOKEN;
}

void
sim__posix_wake(struct sim_thread *thread)
{
    rt_assert(thread != NULL);
    bool ours = thread->blocked && (thread->wait.sync->kind == SIM_SYNC_SLEEP ||
                                           thread->wait.sync->kind == SIM_SYNC_HOST);
    if (ours) {
        sim_thread_wake(thread, NULL);
    }
}

/* ---- In the host. ---------------------------------------------------------------------------- */

static int
block_in_host(struct sim_world *world, uint64_t due_ns, uint32_t object, const char *reason,
        const struct rt_site *await, uint32_t reports, bool outside)
{
    struct sim_sync *sync = place(SIM_SYNC_HOST);
    (void)world;
    sync->object = object;
    const struct sim_thread_wait asked = {.sync = sync,
            .site = await,
            .reason = reason,
            .due_ns = due_ns,
            .reports = reports,
            .outside = outside};
    bool spurious = sim_thread_block(&asked) == SIM_WOKEN_SPURIOUS;
    uint32_t report = spurious ? sim_thread_report() : 0;
    return spurious && report == 0 ? SIM_BLOCK_INTERRUPTED : (int)report;
}

static void
wake_in_host(struct sim_actor *actor)
{
    sim__posix_wake(thread_of(actor));
}

const struct sim_blocking sim__posix_blocking = {
        .block = block_in_host, .wake = wake_in_host, .interrupted = is_interrupted};

/* ---- Not blocking. --------------------------------------------------------------------------- */

bool
sim__posix_busy(void)
{
    struct sim__posix *state = sim__posix_state();
    uint64_t looks = ++state->clock_reads;
    if (looks <= LOOKS_FREE) {
        return false;
    }
    uint64_t cost_ns = (looks - LOOKS_FREE) * (looks - LOOKS_FREE) * LOOK_NS;
    sim_work(state->world, cost_ns < LOOK_MOST_NS ? cost_ns : LOOK_MOST_NS);
    sim_thread_yield();
    return true;
}
