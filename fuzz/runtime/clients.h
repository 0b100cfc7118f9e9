/*
 * clients.h -- six clients that poll, with wakers that record their wakes.
 *
 * Each client has three wakers: two of the runtime, whose target may be closed at any time and
 * opened again as another (as by a task that ends, or a dropped combinator), and a foreign one that
 * counts its references. A woken waker writes its number into `woken`; the model writes the waker
 * that it would wake into `expected`, and both must be equal after each operation: no wake is lost,
 * none is spurious or double, and the order is kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FUZZ_RUNTIME_CLIENTS_H
#define FUZZ_RUNTIME_CLIENTS_H

#include "fuzz/fuzz.h"
#include "runtime/task/executor.h"

FUZZ_UNSEEN_BEGIN

#define CLIENTS 6u
#define LOCAL 2u            /* A client's wakers of the runtime. */
#define WAKERS (LOCAL + 1u) /* The last one is foreign. */
#define NONE UINT8_MAX      /* No waker, or a closed one. */

/* The wakers that were woken, in order. */
struct clients_log {
    uint8_t numbers[CLIENTS * WAKERS];
    uint32_t count;
};

struct client_waker {
    struct rt_target target;
    struct clients *clients;
    uint8_t number;
};

struct clients {
    struct rt_executor executor;
    struct rt_slab_entry entries[CLIENTS * LOCAL];
    struct rt_sched_link links[CLIENTS * LOCAL];
    struct rt_task task; /* The task of all polls; never posted. */
    struct rt_cx cx;
    struct client_waker wakers[CLIENTS * WAKERS];
    struct clients_log woken;
    struct clients_log expected;
    /* Called at each wake; NULL: not called. */
    void (*on_wake)(struct clients *clients, uint32_t number);
    uint32_t foreign_held; /* Live references to foreign wakers. */
};

static inline void
clients_write(struct clients_log *log, uint32_t number)
{
    fuzz_check(log->count < CLIENTS * WAKERS);
    log->numbers[log->count++] = (uint8_t)number;
}

static inline void
clients_record(struct client_waker *waker)
{
    struct clients *clients = waker->clients;
    clients_write(&clients->woken, waker->number);
    if (clients->on_wake != 0) {
        clients->on_wake(clients, waker->number);
    }
}

static inline void
clients_target_woken(struct rt_target *target, const struct rt_site *await)
{
    (void)await;
    clients_record(rt_container_of(target, struct client_waker, target));
}

static inline struct rt_waker
clients_foreign_clone(const struct rt_waker *waker, const struct rt_site *await)
{
    (void)await;
    ((struct client_waker *)waker->data)->clients->foreign_held += 1;
    return *waker;
}

static inline void
clients_foreign_drop(struct rt_waker waker, const struct rt_site *await)
{
    (void)await;
    struct clients *clients = ((struct client_waker *)waker.data)->clients;
    fuzz_check(clients->foreign_held > 0);
    clients->foreign_held -= 1;
}

static inline void
clients_foreign_wake_by_ref(const struct rt_waker *waker, const struct rt_site *await)
{
    (void)await;
    clients_record((struct client_waker *)waker->data);
}

static inline void
clients_foreign_wake(struct rt_waker waker, const struct rt_site *await)
{
    clients_foreign_drop(waker, await);
    clients_foreign_wake_by_ref(&waker, await);
}

static const struct rt_waker_vt clients_foreign = {clients_foreign_clone, clients_foreign_wake,
        clients_foreign_wake_by_ref, clients_foreign_drop};

static inline rt_poll
clients_task_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    return RT_READY;
}

static inline void
clients_init(struct clients *clients)
{
    struct rt_executor_config config = {
            .entries = clients->entries, .capacity = CLIENTS * LOCAL, .links = clients->links};
    rt_executor_init(&clients->executor, &config);
    rt_task_init(&clients->task, clients_task_poll, 0, "clients");
    for (uint32_t i = 0; i < CLIENTS * WAKERS; i++) {
        clients->wakers[i].target = (struct rt_target){.key = {0, 0}};
        clients->wakers[i].clients = clients;
        clients->wakers[i].number = (uint8_t)i;
    }
    clients->woken.count = 0;
    clients->expected.count = 0;
    clients->on_wake = 0;
    clients->foreign_held = 0;
}

/* The context of a poll with waker `number`, which belongs to client number / WAKERS. */
static inline struct rt_cx *
clients_cx(struct clients *clients, uint32_t number)
{
    struct client_waker *client = &clients->wakers[number];
    struct rt_waker waker = {&clients_foreign, (uintptr_t)client};
    if (number % WAKERS < LOCAL) {
        if (client->target.key.generation == 0) {
            fuzz_check(
                    rt_target_open(&client->target, &clients->executor, clients_target_woken) == 0);
        }
        waker = rt_target_waker(&client->target);
    }
    rt_cx_init(&clients->cx, &clients->executor, &clients->task, waker);
    return &clients->cx;
}

/* Closes waker `number`, which wakes no client from now on. False for a foreign one. */
static inline bool
clients_end(struct clients *clients, uint32_t number)
{
    if (number % WAKERS >= LOCAL) {
        return false;
    }
    rt_target_close(&clients->wakers[number].target);
    return true;
}

/* After each operation: the wakes are those of the model, in its order. */
static inline void
clients_compare(struct clients *clients)
{
    fuzz_check(clients->woken.count == clients->expected.count);
    for (uint32_t i = 0; i < clients->woken.count; i++) {
        fuzz_check(clients->woken.numbers[i] == clients->expected.numbers[i]);
    }
    clients->woken.count = 0;
    clients->expected.count = 0;
}

/* After the input, when no client waits: no waker is stored. */
static inline void
clients_fini(struct clients *clients)
{
    clients_compare(clients);
    fuzz_check(rt_list_empty(&clients->task.slots));
    fuzz_check(clients->foreign_held == 0);
    fuzz_check(clients->executor.counters.clones == clients->executor.counters.returned);
    rt_executor_audit(&clients->executor);
    for (uint32_t i = 0; i < CLIENTS * WAKERS; i++) {
        (void)clients_end(clients, i);
    }
    rt_task_fini(&clients->task);
    rt_executor_fini(&clients->executor);
}

FUZZ_UNSEEN_END

#endif
