/*
 * shard.c -- the loop of a shard: receiving, sending, sleep, and shutdown.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/shard/shard.h"

#include "runtime/shard/internal.h"

#include "runtime/base/banned.h"

static void
check_shard(const struct rt_shard *shard)
{
    rt_assert(shard != NULL);
    rt_check(&shard->object, RT__SHARD_MAGIC);
}

void
rt__shard_check_here(const struct rt_shard *shard, const char *what)
{
    check_shard(shard);
    const struct rt_executor *executor = &shard->runtime->executor;
    if (executor->here != NULL && !executor->here(executor->here_argument)) {
        rt_fault(RT_E_FOREIGN, NULL, what);
    }
}

void
rt__shard_tell(struct rt_shard *shard)
{
    /* Read-modify-write also where it is false already: see Sleeping in shard.h. Release: what we
     * have put there. Acquire: nothing of ours is moved before it. */
    if (atomic_exchange_explicit(&shard->asleep, false, memory_order_acq_rel)) {
        rt_host_notify(shard->runtime->host);
    }
}

/* Other threads may do anything here. */
static void
between(const struct rt_shard *shard)
{
    if (shard->between != NULL) {
        shard->between(shard->argument);
    }
}

/* ---- 1. Take in. ----------------------------------------------------------------------------- */

static bool
serve_aliens(struct rt_shard *shard, struct rt_inbox_link *link)
{
    bool any = link != NULL;
    while (link != NULL) {
        struct rt_message *message = rt_container_of(link, struct rt_message, inbox_link);
        link = link->next; /* Once served, the message is the alien's. */
        (void)atomic_fetch_add_explicit(&shard->aliens_free, 1, memory_order_relaxed);
        shard->in_hand++;
        between(shard);
        rt__message_taken(message, shard);
    }
    return any;
}

/* The lane has capacity again: a sender that waits for it must be notified. */
static void
feed_starved(struct rt_shard *shard, uint32_t from, struct rt_pipe *pipe)
{
    /* As in rt__shard_tell: the sender's is a read-modify-write of the same word, and either it
     * finds the capacity that we have made, or we find that it waits. */
    if (atomic_exchange_explicit(&pipe->starved, false, memory_order_acq_rel)) {
        rt__shard_tell(shard->shards->members[from]);
    }
}

static bool
take_batch(struct rt_shard *shard, uint32_t from)
{
    struct rt_pipe *pipe = rt__pipe(shard->shards, from, shard->number);
    uint32_t taken = 0;
    while (taken < RT_SHARD_BATCH) {
        struct rt_message *message = rt_lane_take(&pipe->lane);
        if (message == NULL) {
            break;
        }
        taken++;
        between(shard);
        rt__message_taken(message, shard);
    }
    if (taken > 0) {
        feed_starved(shard, from, pipe);
    }
    return taken > 0;
}

/* Which lane is taken from first is free (X2): number 0 unless the executor chooses. */
static uint32_t
first_lane(const struct rt_shard *shard)
{
    const struct rt_executor *executor = &shard->runtime->executor;
    uint32_t n = shard->shards->count;
    if (n == 1 || executor->choose == NULL) {
        return 0;
    }
    uint32_t first = executor->choose(executor->choose_argument, n);
    rt_assert(first < n);
    return first;
}

static bool
take_in(struct rt_shard *shard)
{
    bool any = rt__remote_take_in(shard);
    any = serve_aliens(shard, rt_inbox_take_all(&shard->aliens)) || any;
    uint32_t count = shard->shards->count;
    uint32_t first = first_lane(shard);
    for (uint32_t i = 0; i < count; i++) {
        any = take_batch(shard, (first + i) % count) || any;
    }
    return any;
}

/* ---- 3. Send. -------------------------------------------------------------------------------- */

/* At most a batch from the queue into the lane, not published yet. */
static uint32_t
fill_lane(struct rt_pipe *pipe)
{
    uint32_t moved = 0;
    while (moved < RT_SHARD_BATCH && !rt_list_empty(&pipe->waiting) &&
            rt_lane_has_room(&pipe->lane)) {
        struct rt_list *link = rt_list_pop_front(&pipe->waiting);
        bool put = rt_lane_put(&pipe->lane, rt_container_of(link, struct rt_message, link));
        rt_assert(put);
        moved++;
    }
    return moved;
}

/* The lane is full, and the queue is not empty: the receiver is to notify when it has taken. */
static void
ask_for_capacity(struct rt_pipe *pipe)
{
    if (!rt_list_empty(&pipe->waiting) && !rt_lane_has_room(&pipe->lane)) {
        (void)atomic_exchange_explicit(&pipe->starved, true, memory_order_acq_rel);
    }
}

static void
send_batch(struct rt_shard *shard, uint32_t to)
{
    struct rt_pipe *pipe = rt__pipe(shard->shards, shard->number, to);
    if (fill_lane(pipe) > 0) {
        pipe->unnotified = true;
        rt_lane_publish(&pipe->lane);
        between(shard);
        rt__shard_tell(shard->shards->members[to]);
        pipe->unnotified = false;
    }
    ask_for_capacity(pipe);
}

static void
send_all(struct rt_shard *shard)
{
    for (uint32_t to = 0; to < shard->shards->count; to++) {
        send_batch(shard, to);
    }
}

/* ---- 4. The end. ----------------------------------------------------------------------------- */

static bool
house_closes(const struct rt_shard *shard)
{
    /* Acquire: what was done before the closing. */
    return atomic_load_explicit(&shard->shards->closing, memory_order_acquire);
}

static bool
all_drained(const struct rt_shard *shard)
{
    /* Acquire: what the others did before they were drained. */
    return atomic_load_explicit(&shard->shards->undrained, memory_order_acquire) == 0;
}

static void
notify_all(struct rt_shards *shards)
{
    for (uint32_t i = 0; i < shards->count; i++) {
        if (shards->members[i] != NULL) {
            rt__shard_tell(shards->members[i]);
        }
    }
}

static void
hear_of_closing(struct rt_shard *shard)
{
    if (!shard->closed && house_closes(shard)) {
        shard->closed = true;
        (void)serve_aliens(shard, rt_inbox_close(&shard->aliens));
    }
}

/* Step 2 of the shutdown. */
static void
drain(struct rt_shard *shard)
{
    hear_of_closing(shard);
    if (!shard->closed || shard->drained || shard->under_way != 0 || shard->in_hand != 0) {
        return;
    }
    shard->drained = true;
    /* Release: we are done. Acquire: the last one has seen all others done. */
    if (atomic_fetch_sub_explicit(&shard->shards->undrained, 1, memory_order_acq_rel) == 1) {
        notify_all(shard->shards);
    }
}

/* ---- 5. Sleep, and the turn. ----------------------------------------------------------------- */

/* Whether a turn has anything to do. */
static bool
has_work(const struct rt_shard *shard)
{
    const struct rt_shards *shards = shard->shards;
    if (!rt_inbox_is_empty(&shard->wakes) || !rt_inbox_is_empty(&shard->aliens)) {
        return true;
    }
    for (uint32_t i = 0; i < shards->count; i++) {
        struct rt_pipe *to = rt__pipe(shards, shard->number, i);
        if (rt_lane_count(&rt__pipe(shards, i, shard->number)->lane) != 0 ||
                (!rt_list_empty(&to->waiting) && rt_lane_has_room(&to->lane))) {
            return true;
        }
    }
    return (!shard->closed && house_closes(shard)) || (shard->drained && all_drained(shard));
}

static rt_err
go_to_sleep(struct rt_shard *shard)
{
    between(shard);
    /* Acquire: our second check comes after it. Release: senders see what we have taken. */
    (void)atomic_exchange_explicit(&shard->asleep, true, memory_order_acq_rel);
    between(shard);
    enum rt_turn_mode mode = has_work(shard) ? RT_TURN_POLL : RT_TURN_BLOCK;
    rt_err err = rt_runtime_turn(shard->runtime, mode, NULL);
    /* Relaxed: no thread waits for this word to be false; the next take-in has its own acquires. */
    atomic_store_explicit(&shard->asleep, false, memory_order_relaxed);
    return err;
}

static rt_err
turn(struct rt_shard *shard, enum rt_turn_mode mode, bool *ret_over)
{
    bool any = take_in(shard);
    rt_runtime_poll_woken(shard->runtime);
    send_all(shard);
    drain(shard);
    if (shard->drained && all_drained(shard)) {
        rt_terminate(&shard->runtime->executor);
        *ret_over = true;
        return RT_OK;
    }
    *ret_over = false;
    bool must_look = any || shard->runtime->executor.woken != 0 || mode == RT_TURN_POLL;
    return must_look ? rt_runtime_turn(shard->runtime, RT_TURN_POLL, NULL) : go_to_sleep(shard);
}

rt_err
rt_shard_turn(struct rt_shard *shard, enum rt_turn_mode mode, bool *ret_over)
{
    check_shard(shard);
    rt_assert(ret_over != NULL);
    rt__shard_check_here(shard, "a shard was turned on a thread that is not its own");
    if (shard->in_loop || shard->runtime->executor.running) {
        return RT_E_REENTERED;
    }
    shard->in_loop = true;
    rt_err err = turn(shard, mode, ret_over);
    shard->in_loop = false;
    return err;
}

rt_err
rt_shard_run(struct rt_shard *shard)
{
    rt_err err = RT_OK;
    bool over = false;
    while (err == RT_OK && !over) {
        err = rt_shard_turn(shard, RT_TURN_BLOCK, &over);
    }
    return err;
}

void
rt_shards_close(struct rt_shards *shards)
{
    rt_check(shards, RT__SHARDS_MAGIC);
    /* Release: what was done before the closing. */
    if (!atomic_exchange_explicit(&shards->closing, true, memory_order_acq_rel)) {
        notify_all(shards);
    }
}

/* ---- Beginning and end. ---------------------------------------------------------------------- */

static void
pipe_init(struct rt_pipe *pipe, struct rt_message **places, uint32_t capacity)
{
    rt_lane_init(&pipe->lane, places, capacity);
    rt_list_init(&pipe->waiting);
    pipe->unnotified = false;
    atomic_init(&pipe->starved, false);
}

void
rt_shards_init(struct rt_shards *shards, const struct rt_shards_config *config)
{
    rt_assert(shards != NULL);
    rt_assert(config->count > 0);
    rt_assert(config->members != NULL);
    rt_assert(config->pipes != NULL);
    shards->magic = RT__SHARDS_MAGIC;
    shards->count = config->count;
    shards->members = config->members;
    shards->pipes = config->pipes;
    atomic_init(&shards->closing, false);
    atomic_init(&shards->undrained, config->count);
    for (uint32_t i = 0; i < config->count; i++) {
        shards->members[i] = NULL;
    }
    for (uint32_t i = 0; i < config->count * config->count; i++) {
        struct rt_message **places = config->places + (size_t)i * config->lane_capacity;
        pipe_init(&shards->pipes[i], places, config->lane_capacity);
    }
}

/* The shard notifies its host itself: its loop polls what it wakes anyway. */
static void
take_over(struct rt_shard *shard, const struct rt_shard_config *config)
{
    struct rt_executor *executor = &shard->runtime->executor;
    rt_assert(executor->posted == 0);
    executor->notify = NULL;
    executor->here = config->here;
    executor->here_argument = config->argument;
}

rt_err
rt_shard_init(struct rt_shard *shard, struct rt_shards *shards, uint32_t number,
        const struct rt_shard_config *config)
{
    rt_assert(shard != NULL);
    rt_check(shards, RT__SHARDS_MAGIC);
    rt_assert(number < shards->count);
    rt_assert(shards->members[number] == NULL);
    rt_assert(config->cells != NULL);
    rt_err err = rt_runtime_hold(config->runtime);
    if (err != RT_OK) {
        return err;
    }
    shard->object = (struct rt_object){RT__SHARD_MAGIC, RT_PROBE_OBJECT(CHANNEL)};
    shard->number = number;
    shard->shards = shards;
    shard->runtime = config->runtime;
    shard->in_loop = shard->closed = shard->drained = false;
    shard->under_way = shard->in_hand = 0;
    shard->between = config->between;
    shard->argument = config->argument;
    shard->cells = config->cells;
    atomic_init(&shard->asleep, false);
    rt_inbox_init(&shard->aliens);
    uint32_t aliens_max = config->aliens_max != 0 ? config->aliens_max : RT_SHARD_ALIENS_MAX;
    atomic_init(&shard->aliens_free, aliens_max);
    rt__remote_init(shard);
    take_over(shard, config);
    shards->members[number] = shard;
    RT_PROBE_AUDIT(&shard->object, rt_shard_audit);
    return RT_OK;
}

void
rt_shard_fini(struct rt_shard *shard)
{
    check_shard(shard);
    if (shard->under_way != 0 || shard->in_hand != 0 || !rt_inbox_is_empty(&shard->aliens)) {
        rt_fault(RT_E_IN_USE, NULL, "a shard was ended while messages are under way");
    }
    RT_PROBE_AUDIT(&shard->object, NULL);
    shard->shards->members[shard->number] = NULL;
    shard->runtime->executor.here = NULL;
    rt_runtime_release(shard->runtime);
    shard->object.magic = 0;
}

/* ---- Audit. ---------------------------------------------------------------------------------- */

/* Sent to a shard that sleeps, without a notification sent or about to be. */
static bool
sleeps_on_messages(const struct rt_shard *shard)
{
    bool asleep = atomic_load_explicit(&shard->asleep, memory_order_acquire);
    for (uint32_t from = 0; asleep && from < shard->shards->count; from++) {
        const struct rt_pipe *pipe = rt__pipe(shard->shards, from, shard->number);
        if (!pipe->unnotified && rt_lane_count(&pipe->lane) != 0) {
            return true;
        }
    }
    return false;
}

/* A queue that waits for capacity, while there is capacity and no notification is under way. */
static bool
sleeps_on_a_line(const struct rt_shard *shard)
{
    bool asleep = atomic_load_explicit(&shard->asleep, memory_order_acquire);
    for (uint32_t to = 0; asleep && to < shard->shards->count; to++) {
        const struct rt_pipe *pipe = rt__pipe(shard->shards, shard->number, to);
        bool starved = atomic_load_explicit(&pipe->starved, memory_order_acquire);
        if (!starved && !rt_list_empty(&pipe->waiting) && rt_lane_count(&pipe->lane) == 0) {
            return true;
        }
    }
    return false;
}

const char *
rt_shard_audit(const struct rt_object *object)
{
    const struct rt_shard *shard = rt_container_of(object, const struct rt_shard, object);
    check_shard(shard);
    if (sleeps_on_messages(shard)) {
        return "messages are in a lane while the shard that they are for sleeps and was not "
               "notified";
    }
    if (sleeps_on_a_line(shard)) {
        return "messages wait for an empty lane while their shard sleeps";
    }
    if (shard->drained && shard->under_way != 0) {
        return "a shard is drained while its own messages are under way";
    }
    return NULL;
}
