/*
 * futex.c -- futexes, for the program's own calls of syscall().
 *
 * What is in the word is read from the program's memory. Futexes with priority inheritance and
 * futex_waitv answer ENOSYS, as a kernel without them does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>
#include <linux/futex.h>

#include "sim/thread/sync/priv.h"

/* Waits of a run that another thread ended, after which they are no progress any more. */
#define WAKES_MOST 250000u

static struct sim_sync *
sync_of(const uint32_t *word)
{
    return sim_sync_at(sim__thread_world(), word, SIM_SYNC_FUTEX);
}

/* A wake touches no memory. */
static struct sim_sync *
woken_at(const uint32_t *word)
{
    return sim_sync_of_address(sim__thread_world(), word, SIM_SYNC_FUTEX);
}

static long
fail(int error)
{
    errno = error;
    return -1;
}

/* FUTEX_WAIT has a length of time, FUTEX_WAIT_BITSET a time of a clock. */
static int
due_of(const struct sim_futex *call, int operation, uint64_t *ret_due_ns)
{
    *ret_due_ns = SIM_NEVER;
    if (call->time == NULL) {
        return 0;
    }
    if (operation != FUTEX_WAIT) {
        bool date = (call->operation & FUTEX_CLOCK_REALTIME) != 0;
        return sim__deadline(date ? CLOCK_REALTIME : CLOCK_MONOTONIC, call->time, ret_due_ns);
    }
    int error = sim__length(call->time, 0, ret_due_ns);
    if (error == 0 && *ret_due_ns != SIM_NEVER) {
        *ret_due_ns += sim_now(sim__thread_world());
    }
    return error;
}

/* What a thread waited for has come, as where it is granted a lock; two that do nothing but wake
 * each other have an end. */
static void
note_woken(void)
{
    struct sim_world *world = sim__thread_world();
    if (sim__threads(world)->wakes++ < WAKES_MOST) {
        sim_world_progress(world);
    }
}

static long
block(const struct sim_futex *call, uint32_t bits, uint64_t due_ns)
{
    const struct sim_thread_wait wait = {
            .sync = sync_of(call->word), .site = call->site, .due_ns = due_ns, .spurious = true};
    sim_thread_now->bits = bits;
    enum sim_woken woken = sim_thread_block(&wait);
    if (woken == SIM_WOKEN) {
        note_woken();
    }
    if (woken == SIM_WOKEN_SIGNAL) {
        return fail(sim_thread_now->restarts ? EAGAIN : EINTR);
    }
    return woken == SIM_WOKEN_TIMEOUT ? fail(ETIMEDOUT) : 0;
}

static long
futex_wait(const struct sim_futex *call, int operation)
{
    uint32_t bits = operation == FUTEX_WAIT ? FUTEX_BITSET_MATCH_ANY : call->value3;
    struct sim_thread *thread = sim_thread_now;
    uint64_t due_ns = SIM_NEVER;
    int error = bits == 0 ? EINVAL : due_of(call, operation, &due_ns);
    if (error != 0) {
        return fail(error);
    }
    if (__atomic_load_n(call->word, __ATOMIC_SEQ_CST) != call->value) {
        return fail(EAGAIN);
    }
    struct sim_world *world = thread->actor.world;
    if (sim__perturb(&thread->actor, SIM_KIND_SPURIOUS, 2, world->options.spurious_one_in) != 0) {
        sim_world_event(world, SIM_EVENT_SPURIOUS, thread->object, 0,
                call->site != NULL ? call->site->id : 0, 0);
        sim_thread_yield();
        return 0;
    }
    return block(call, bits, due_ns);
}

/* The first of `sync` that waits for one of `bits`; NULL: none does. */
static struct sim_thread *
waiter_of(const struct sim_sync *sync, uint32_t bits)
{
    struct sim_thread *at = sync->first;
    while (at != NULL && (at->bits & bits) == 0) {
        at = at->behind;
    }
    return at;
}

/* The kernel wakes in the order in which they began to wait. */
static long
wake(struct sim_sync *sync, uint32_t most, uint32_t bits, const struct rt_site *site)
{
    long woken = 0;
    if (waiter_of(sync, bits) == NULL) {
        sim__sync_event(sync, RT_PROBE_FIRE_EMPTY, site, 0);
        return 0;
    }
    for (struct sim_thread *at = waiter_of(sync, bits); at != NULL && woken < (long)most;
            at = waiter_of(sync, bits)) {
        sim_thread_wake(at, site);
        woken++;
    }
    return woken;
}

static long
requeue(const struct sim_futex *call, bool compare)
{
    if (compare && __atomic_load_n(call->word, __ATOMIC_SEQ_CST) != call->value3) {
        return fail(EAGAIN);
    }
    struct sim_sync *from = sync_of(call->word);
    struct sim_sync *to = sync_of(call->word2);
    long woken = wake(from, call->value, FUTEX_BITSET_MATCH_ANY, call->site);
    long moved = 0;
    for (; from->first != NULL && moved < (long)call->value2; moved++) {
        sim_thread_move(from->first, to, call->site);
    }
    return compare ? woken + moved : woken;
}

/* FUTEX_WAKE_OP: changes the second word, and wakes there too if it was as described. */
static uint32_t
changed(uint32_t operation, uint32_t before, uint32_t argument)
{
    switch (operation) {
    case FUTEX_OP_SET:
        return argument;
    case FUTEX_OP_ADD:
        return before + argument;
    case FUTEX_OP_OR:
        return before | argument;
    case FUTEX_OP_ANDN:
        return before & ~argument;
    default:
        return before ^ argument;
    }
}

static bool
matches(uint32_t comparison, int before, int argument)
{
    switch (comparison) {
    case FUTEX_OP_CMP_EQ:
        return before == argument;
    case FUTEX_OP_CMP_NE:
        return before != argument;
    case FUTEX_OP_CMP_LT:
        return before < argument;
    case FUTEX_OP_CMP_LE:
        return before <= argument;
    case FUTEX_OP_CMP_GT:
        return before > argument;
    default:
        return before >= argument;
    }
}

/* A field of 12 bits, with its sign. */
static int
field(uint32_t bits)
{
    return (int)((bits & 0xfff) ^ 0x800) - 0x800;
}

static long
wake_op(const struct sim_futex *call)
{
    uint32_t code = call->value3;
    uint32_t operation = code >> 28;
    int argument = field(code >> 12);
    uint32_t operand = (operation & FUTEX_OP_OPARG_SHIFT) != 0
                               ? UINT32_C(1) << ((uint32_t)argument & 31)
                               : (uint32_t)argument;
    uint32_t before = *call->word2;
    *call->word2 = changed(operation & 7, before, operand);
    long woken = wake(woken_at(call->word), call->value, FUTEX_BITSET_MATCH_ANY, call->site);
    if (matches(code >> 24 & 15, (int)before, field(code))) {
        woken += wake(sync_of(call->word2), call->value2, FUTEX_BITSET_MATCH_ANY, call->site);
    }
    return woken;
}

static long
play(const struct sim_futex *call, int operation)
{
    switch (operation) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        return futex_wait(call, operation);
    case FUTEX_WAKE:
        return wake(woken_at(call->word), call->value, FUTEX_BITSET_MATCH_ANY, call->site);
    case FUTEX_WAKE_BITSET:
        return call->value3 == 0
                       ? fail(EINVAL)
                       : wake(woken_at(call->word), call->value, call->value3, call->site);
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
        return requeue(call, operation == FUTEX_CMP_REQUEUE);
    case FUTEX_WAKE_OP:
        return wake_op(call);
    default:
        return fail(ENOSYS);
    }
}

long
sim_thread_futex(const struct sim_futex *call)
{
    rt_assert(sim_thread_now != NULL);
    sim_thread_point();
    long result = play(call, call->operation & FUTEX_CMD_MASK);
    sim_thread_point_if_woke();
    return result;
}
