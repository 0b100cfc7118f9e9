/*
 * io.c -- sources, the waits for them, and the turn.
 *
 * A woken task may do anything: wait again, deregister this or another source, shut all of it
 * down. So a wake first moves the waits concerned to a separate list, and reads no source after
 * that: a wait cancelled meanwhile unlinks itself from any list, one registered meanwhile is in a
 * list that is not being walked (W7).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/io.h"

#include <stddef.h>

#include "runtime/task/budget.h"

#include "runtime/base/banned.h"

#define IO_MAGIC 0x52494f44u
#define SOURCE_MAGIC 0x52494f53u

static void
check_io(const struct rt_io *io)
{
    rt_check(io, IO_MAGIC);
}

/* A common mistake in C, and it should not read like a bug of the runtime. */
static void
check_source(const struct rt_io_source *source)
{
    rt_assert(source != NULL);
    if (source->object.magic != SOURCE_MAGIC) {
        rt_fault(RT_E_INVALID, NULL, "a source was used that rt_io_source_init never made");
    }
}

static struct rt_io_wait *
wait_of(const struct rt_list *link)
{
    return rt_container_of(link, struct rt_io_wait, link);
}

/* ---- Tokens. --------------------------------------------------------------------------------- */

static uint64_t
token_of(struct rt_key key)
{
    return (uint64_t)key.generation << 32 | key.index;
}

static struct rt_io_source *
source_of(const struct rt_io *io, uint64_t token)
{
    struct rt_key key = {.index = (uint32_t)token, .generation = (uint32_t)(token >> 32)};
    return rt_slab_get(&io->sources, key);
}

/* ---- Wakes. ---------------------------------------------------------------------------------- */

static void
unlink_wait(struct rt_io_wait *wait, const struct rt_site *await)
{
    rt_assert(wait->source != NULL);
    rt_list_unlink(&wait->link);
    rt_list_unlink(&wait->all);
    RT_PROBE(UNWAIT, wait->source->object.id, RT_HERE, await, 0);
    wait->source = NULL;
}

/* Wakes the waits in `due`, first come, first served; skips those whose task has ended. */
static uint32_t
wake_all(struct rt_list *due, const struct rt_site *await)
{
    uint32_t woken = 0;
    while (!rt_list_empty(due)) {
        struct rt_io_wait *wait = wait_of(due->next);
        unlink_wait(wait, await);
        if (!rt_slot_empty(&wait->slot)) {
            woken++;
            (void)rt_slot_wake_at(&wait->slot, await);
        }
    }
    return woken;
}

/* Moves the waits of one direction to the end of `due`, in their order. */
static void
take_waits(struct rt_io_source *source, enum rt_direction direction, struct rt_list *due)
{
    struct rt_list *link = source->waits.next;
    while (link != &source->waits) {
        struct rt_list *next = link->next;
        if (wait_of(link)->direction == direction) {
            rt_list_unlink(link);
            rt_list_push_back(due, link);
        }
        link = next;
    }
}

/* Records `bits` in one direction, and moves its waits to the end of `due`. */
static void
record(struct rt_io_source *source, enum rt_direction direction, uint32_t bits, struct rt_list *due)
{
    if (bits != 0) {
        rt_readiness_event(&source->readiness[direction], bits);
        take_waits(source, direction, due);
    }
}

static void
record_both(struct rt_io_source *source, uint32_t bits, struct rt_list *due)
{
    record(source, RT_DIRECTION_READ, bits, due);
    record(source, RT_DIRECTION_WRITE, bits, due);
}

/* ---- The audit of a source. ------------------------------------------------------------------ */

static bool
any_pending(const struct rt_io_source *source, enum rt_direction direction)
{
    rt_list_each(link, &source->waits)
    {
        const struct rt_io_wait *wait = wait_of(link);
        if (wait->direction == direction && !rt_slot_empty(&wait->slot)) {
            return true;
        }
    }
    return false;
}

const char *
rt_io_source_audit(const struct rt_object *object)
{
    rt_check(object, SOURCE_MAGIC);
    const struct rt_io_source *source = rt_container_of(object, struct rt_io_source, object);
    for (int i = 0; i < RT_DIRECTIONS; i++) {
        if (source->readiness[i].bits != 0 && any_pending(source, (enum rt_direction)i)) {
            return "a task waits for a direction that is known to be ready";
        }
    }
    return NULL;
}

/* ---- Registration. --------------------------------------------------------------------------- */

void
rt_io_source_init(struct rt_io_source *source)
{
    rt_assert(source != NULL);
    *source = (struct rt_io_source){.object = {.magic = SOURCE_MAGIC}, .socket = -1};
    for (int i = 0; i < RT_DIRECTIONS; i++) {
        source->readiness[i].bits = RT_READY_SHUTDOWN;
    }
    rt_list_init(&source->waits);
}

bool
rt_io_has_room(const struct rt_io *io)
{
    check_io(io);
    return io->sources.used + io->sources.retired < io->sources.capacity;
}

static void
begin(struct rt_io *io, struct rt_io_source *source, int socket, uint32_t assumed)
{
    source->io = io;
    source->socket = socket;
    for (int i = 0; i < RT_DIRECTIONS; i++) {
        source->readiness[i] = (struct rt_readiness){.bits = 0};
        uint32_t bits = rt_readiness_of(assumed, (enum rt_direction)i);
        if (bits != 0) {
            rt_readiness_event(&source->readiness[i], bits);
        }
    }
    RT_PROBE_AUDIT(&source->object, rt_io_source_audit);
}

rt_err
rt_io_register(struct rt_io *io, struct rt_io_source *source, int socket, uint32_t assumed)
{
    check_io(io);
    check_source(source);
    rt_assert((assumed & ~(RT_NET_READABLE | RT_NET_WRITABLE)) == 0);
    if (source->io != NULL) {
        return RT_E_BUSY;
    }
    if (io->shut_down) {
        return RT_E_SHUTDOWN;
    }
    rt_err err = rt_slab_insert(&io->sources, source, &source->key);
    if (err != RT_OK) {
        return err;
    }
    err = io->net->ops->watch(io->net, socket, token_of(source->key), &source->object.id);
    if (err != RT_OK) {
        (void)rt_slab_remove(&io->sources, source->key);
        return err;
    }
    begin(io, source, socket, assumed);
    return RT_OK;
}

void
rt_io_deregister_at(struct rt_io_source *source, const struct rt_site *await)
{
    check_source(source);
    struct rt_io *io = source->io;
    if (io == NULL) {
        return;
    }
    check_io(io);
    struct rt_list due;
    rt_list_init(&due);
    void *removed = rt_slab_remove(&io->sources, source->key);
    rt_assert(removed == source);
    io->net->ops->unwatch(io->net, source->socket);
    RT_PROBE_AUDIT(&source->object, NULL);
    source->io = NULL;
    source->socket = -1;
    record_both(source, RT_READY_SHUTDOWN, &due);
    (void)wake_all(&due, await);
}

/* ---- Waiting. -------------------------------------------------------------------------------- */

void
rt_io_wait_init(struct rt_io_wait *wait)
{
    rt_assert(wait != NULL);
    *wait = (struct rt_io_wait){.source = NULL};
    rt_list_init(&wait->link);
    rt_list_init(&wait->all);
    rt_slot_init(&wait->slot);
}

void
rt_io_wait_cancel_at(struct rt_io_wait *wait, const struct rt_site *await)
{
    rt_assert(wait != NULL);
    if (wait->source != NULL) {
        unlink_wait(wait, await);
    }
    /* Last: the drop of a foreign waker may re-enter. */
    (void)rt_slot_clear_at(&wait->slot, await);
}

static void
enter(struct rt_io_source *source, enum rt_direction direction, struct rt_io_wait *wait,
        const struct rt_site *await)
{
    rt_assert(rt_list_empty(&wait->link));
    rt_assert(rt_list_empty(&wait->all));
    rt_list_push_back(&source->waits, &wait->link);
    rt_list_push_back(&source->io->waits, &wait->all);
    wait->source = source;
    wait->direction = direction;
    wait->slot.owner = source->object.id;
    RT_PROBE(WAIT, source->object.id, RT_HERE, await, (uint64_t)direction);
}

rt_poll
rt_io_poll_ready_at(struct rt_io_source *source, enum rt_direction direction,
        struct rt_io_wait *wait, struct rt_cx *cx, const char *reason, struct rt_seen *ret_seen,
        const struct rt_site *await)
{
    check_source(source);
    rt_assert(wait != NULL);
    rt_cx_check(cx);
    const struct rt_readiness *readiness = &source->readiness[direction];
    if (wait->source != source || wait->direction != direction) {
        rt_io_wait_cancel_at(wait, await);
    }
    RT_AWAIT(rt_budget_take_at(cx, await));
    if (!rt_readiness_look(readiness, ret_seen)) {
        if (wait->source == NULL) {
            enter(source, direction, wait, await);
        }
        rt_slot_replace_at(&wait->slot, cx, reason, RT_HERE, await);
        /* A foreign waker runs when it is cloned or dropped, and an event may come of that. */
        if (!rt_readiness_look(readiness, ret_seen)) {
            rt_budget_restore(cx);
            return RT_PENDING;
        }
    }
    rt_io_wait_cancel_at(wait, await);
    return RT_READY;
}

void
rt_io_clear(struct rt_io_source *source, enum rt_direction direction, struct rt_seen seen)
{
    check_source(source);
    (void)rt_readiness_clear(&source->readiness[direction], seen);
}

bool
rt_io_waited_for(const struct rt_io *io)
{
    check_io(io);
    rt_list_each(link, &io->waits)
    {
        const struct rt_io_wait *wait = rt_container_of(link, struct rt_io_wait, all);
        if (!rt_slot_empty(&wait->slot)) {
            return true;
        }
    }
    return false;
}

/* ---- The turn. ------------------------------------------------------------------------------- */

static rt_err
subscribe(struct rt_io *io)
{
    if (io->fetchable.host != NULL) {
        return RT_OK;
    }
    return io->net->ops->subscribe(io->net, &io->fetchable);
}

rt_err
rt_io_pollable(struct rt_io *io, struct rt_pollable **ret_pollable)
{
    check_io(io);
    rt_err err = RT_OK;
    bool waited_for = rt_io_waited_for(io);
    if (waited_for) {
        err = subscribe(io);
    }
    if (err == RT_OK) {
        *ret_pollable = waited_for ? &io->fetchable : NULL;
    }
    return err;
}

static uint32_t
dispatch(struct rt_io *io, const struct rt_net_event *event, const struct rt_site *await)
{
    struct rt_io_source *source = source_of(io, event->token);
    struct rt_list due;
    rt_list_init(&due);
    if (source == NULL) {
        io->stale++;
        return 0;
    }
    check_source(source);
    record(source, RT_DIRECTION_READ, rt_readiness_of(event->events, RT_DIRECTION_READ), &due);
    record(source, RT_DIRECTION_WRITE, rt_readiness_of(event->events, RT_DIRECTION_WRITE), &due);
    return wake_all(&due, await);
}

rt_err
rt_io_turn_at(struct rt_io *io, uint32_t *ret_woken, const struct rt_site *await)
{
    check_io(io);
    rt_assert(ret_woken != NULL);
    if (io->turning) {
        return RT_E_REENTERED;
    }
    *ret_woken = 0;
    if (io->net == NULL) {
        return RT_OK;
    }
    rt_err err = subscribe(io);
    if (err != RT_OK) {
        return err;
    }
    io->turning = true;
    RT_PROBE(TURN, io->fetchable.object.id, RT_HERE, await, 1);
    uint32_t count = rt_net_fetch(io->net, io->events, io->events_max);
    RT_PROBE(TURNED, io->fetchable.object.id, RT_HERE, await, count);
    for (uint32_t i = 0; i < count; i++) {
        *ret_woken += dispatch(io, &io->events[i], await);
    }
    io->turning = false;
    return RT_OK;
}

bool
rt_io_useful(const struct rt_io *io)
{
    return rt_io_waited_for(io) &&
           (io->fetchable.host == NULL || rt_pollable_ready(&io->fetchable));
}

void
rt_io_shutdown_at(struct rt_io *io, const struct rt_site *await)
{
    check_io(io);
    struct rt_list due;
    rt_list_init(&due);
    io->shut_down = true;
    for (uint32_t i = 0; i < io->sources.touched; i++) {
        struct rt_io_source *source = rt_slab_at(&io->sources, i, NULL);
        if (source != NULL) {
            record_both(source, RT_READY_SHUTDOWN, &due);
        }
    }
    (void)wake_all(&due, await);
}

/* ---- Beginning and end. ---------------------------------------------------------------------- */

void
rt_io_init(struct rt_io *io, const struct rt_io_config *config)
{
    rt_assert(io != NULL);
    rt_assert(config->net != NULL || config->capacity == 0);
    rt_assert(config->net == NULL || config->net->magic == RT_NET_MAGIC);
    rt_assert(config->net == NULL || config->events_max > 0);
    *io = (struct rt_io){.magic = IO_MAGIC,
            .net = config->net,
            .events = config->events,
            .events_max = config->events_max};
    rt_slab_init(&io->sources, config->entries, config->capacity);
    rt_list_init(&io->waits);
}

void
rt_io_fini(struct rt_io *io)
{
    check_io(io);
    rt_assert(!io->turning);
    if (io->sources.used != 0) {
        rt_fault(RT_E_IN_USE, "io", "the I/O was ended while sources were registered");
    }
    rt_pollable_drop(&io->fetchable);
    io->magic = 0;
}
