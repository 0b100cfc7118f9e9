/*
 * dumb_host.c -- the host of flags, and readers of its sources.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/io/dumb_host.h"

#include <string.h>

static struct dumb_host *
host_of(struct rt_host *seam)
{
    return rt_container_of(seam, struct dumb_host, seam);
}

static bool
entry_ready(const struct dumb_host *host, const struct dumb_entry *entry)
{
    switch (entry->kind) {
    case DUMB_SOURCE:
        return host->ready[entry->source];
    case DUMB_INSTANT:
        return entry->instant_ns != UINT64_MAX && entry->instant_ns <= host->now_ns;
    case DUMB_NOTIFY:
        return host->notified;
    case DUMB_FREE:
        break;
    }
    ck_abort_msg("a pollable was used that is not subscribed");
    return false;
}

static uint64_t
host_now(struct rt_host *seam)
{
    return host_of(seam)->now_ns;
}

static rt_err
subscribe(struct dumb_host *host, struct dumb_entry entry, struct rt_pollable *pollable)
{
    if (host->alive == host->capacity) {
        return RT_E_FULL;
    }
    uint32_t handle = 0;
    while (host->entries[handle].kind != DUMB_FREE) {
        handle++;
    }
    host->entries[handle] = entry;
    host->alive++;
    host->subscribes++;
    *pollable = (struct rt_pollable){
            .object = {RT_POLLABLE_MAGIC, 100 + entry.source},
            .host = &host->seam,
            .handle = handle,
    };
    return RT_OK;
}

static rt_err
host_subscribe(struct rt_host *seam, enum rt_subscribe what, uint64_t argument,
        struct rt_pollable *pollable)
{
    struct dumb_entry entry = {DUMB_INSTANT, 0, argument};
    if (what == RT_SUBSCRIBE_NOTIFY) {
        entry.kind = DUMB_NOTIFY;
    }
    return subscribe(host_of(seam), entry, pollable);
}

static bool
host_ready(struct rt_host *seam, const struct rt_pollable *pollable)
{
    struct dumb_host *host = host_of(seam);
    host->readies++;
    return entry_ready(host, &host->entries[pollable->handle]);
}

static void
host_drop(struct rt_host *seam, struct rt_pollable *pollable)
{
    struct dumb_host *host = host_of(seam);
    ck_assert(host->entries[pollable->handle].kind != DUMB_FREE);
    host->entries[pollable->handle].kind = DUMB_FREE;
    host->alive--;
}

static void
host_notify(struct rt_host *seam)
{
    struct dumb_host *host = host_of(seam);
    host->notifies++;
    host->notified = true;
}

static struct dumb_entry *
listed(struct dumb_host *host, uint32_t index)
{
    return &host->entries[host->list[index]->handle];
}

/* The ready entries of the last list, in its order. */
static uint32_t
find_ready(struct dumb_host *host, uint32_t *indices)
{
    uint32_t ready = 0;
    for (uint32_t i = 0; i < host->list_count; i++) {
        if (entry_ready(host, listed(host, i))) {
            indices[ready++] = i;
        }
    }
    return ready;
}

/* What a blocked host does without a script: the clock moves to the earliest deadline listed. */
static void
pass_time(struct dumb_host *host)
{
    uint64_t next_ns = UINT64_MAX;
    for (uint32_t i = 0; i < host->list_count; i++) {
        const struct dumb_entry *entry = listed(host, i);
        if (entry->kind == DUMB_INSTANT && entry->instant_ns < next_ns) {
            next_ns = entry->instant_ns;
        }
    }
    ck_assert_msg(next_ns != UINT64_MAX, "the host would be blocked forever");
    host->now_ns = next_ns;
}

static void
swap(uint32_t *a, uint32_t *b)
{
    uint32_t old = *a;
    *a = *b;
    *b = old;
}

static uint32_t
rearrange(const struct dumb_host *host, uint32_t *indices, uint32_t ready)
{
    for (uint32_t i = 0; host->backwards && i < ready / 2; i++) {
        swap(&indices[i], &indices[ready - 1 - i]);
    }
    for (uint32_t i = ready - 1; host->last_first && i > 0; i--) {
        swap(&indices[i], &indices[i - 1]);
    }
    return host->at_most != 0 && host->at_most < ready ? host->at_most : ready;
}

/* A notify is taken by its report. */
static void
take_notify(struct dumb_host *host, const uint32_t *indices, uint32_t ready)
{
    for (uint32_t i = 0; i < ready; i++) {
        if (listed(host, indices[i])->kind == DUMB_NOTIFY) {
            host->notified = false;
        }
    }
}

static rt_err
host_poll(struct rt_host *seam, struct rt_pollable *const *in, uint32_t count,
        uint32_t *ret_indices, uint32_t *ret_ready)
{
    struct dumb_host *host = host_of(seam);
    ck_assert(count <= DUMB_POLLABLES);
    host->polls++;
    if (count == 0) {
        host->empty_polls++;
        return RT_E_EMPTY_POLL;
    }
    host->list_count = count;
    memcpy(host->list, in, count * sizeof(in[0]));
    uint32_t ready = find_ready(host, ret_indices);
    if (ready == 0) {
        host->blocks++;
    }
    for (uint32_t i = 0; ready == 0; ready = find_ready(host, ret_indices), i++) {
        ck_assert_msg(i < 1000, "the host would be blocked forever");
        if (host->blocked != NULL) {
            host->blocked(host);
        } else {
            pass_time(host);
        }
    }
    ready = rearrange(host, ret_indices, ready);
    take_notify(host, ret_indices, ready);
    *ret_ready = ready;
    return host->lie != NULL ? host->lie(host, ret_indices, ret_ready) : RT_OK;
}

void
dumb_host_init(struct dumb_host *host)
{
    memset(host, 0, sizeof(*host));
    host->ops = (struct rt_host_ops){
            .now = host_now,
            .subscribe = host_subscribe,
            .ready = host_ready,
            .poll = host_poll,
            .drop = host_drop,
            .notify = host_notify,
    };
    host->seam = (struct rt_host){.magic = RT_HOST_MAGIC, .ops = &host->ops};
    host->capacity = DUMB_POLLABLES;
}

void
dumb_subscribe(struct dumb_host *host, uint32_t source, struct rt_pollable *pollable)
{
    ck_assert(source < DUMB_SOURCES);
    EXPECT_EQ(subscribe(host, (struct dumb_entry){DUMB_SOURCE, source, 0}, pollable), RT_OK);
}

uint32_t
dumb_listed(const struct dumb_host *host, uint32_t source)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < host->list_count; i++) {
        const struct dumb_entry *entry = &host->entries[host->list[i]->handle];
        times += entry->kind == DUMB_SOURCE && entry->source == source ? 1 : 0;
    }
    return times;
}

uint32_t
dumb_listed_kind(const struct dumb_host *host, enum dumb_kind kind)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < host->list_count; i++) {
        times += host->entries[host->list[i]->handle].kind == kind ? 1 : 0;
    }
    return times;
}

struct rt_runtime_config
dumb_config(struct dumb_runtime *dumb)
{
    return (struct rt_runtime_config){
            .host = &dumb->host.seam,
            .executor = {.entries = dumb->tasks, .capacity = DUMB_TASKS, .links = dumb->links},
            .timers = {.slots = dumb->slots},
            .reactor =
                    {
                            .poller =
                                    {
                                            .entries = dumb->pollables,
                                            .list = dumb->list,
                                            .list_keys = dumb->list_keys,
                                            .ready = dumb->ready,
                                            .capacity = DUMB_WAITS,
                                    },
                            .keys = dumb->keys,
                    },
    };
}

void
dumb_init(struct dumb_runtime *dumb)
{
    memset(dumb, 0xa5, sizeof(*dumb));
    dumb->log[0] = '\0';
    dumb_host_init(&dumb->host);
    struct rt_runtime_config config = dumb_config(dumb);
    rt_runtime_init(&dumb->runtime, &config);
}

void
dumb_fini(struct dumb_runtime *dumb)
{
    rt_runtime_fini(&dumb->runtime);
    EXPECT_EQ(dumb->host.alive, 0);
}

void
dumb_log(struct dumb_runtime *dumb, const char *word)
{
    size_t used = strlen(dumb->log);
    size_t length = strlen(word);
    ck_assert(used + length + 2 <= sizeof(dumb->log));
    if (used != 0) {
        dumb->log[used++] = ' ';
    }
    memcpy(dumb->log + used, word, length + 1);
}

void
dumb_run(struct dumb_runtime *dumb)
{
    struct rt_run_result result;
    EXPECT_EQ(rt_run_until_stalled(&dumb->runtime.executor, 1000, &result), RT_OK);
    EXPECT(result.stall != RT_STALL_LIMIT);
    rt_executor_audit(&dumb->runtime.executor);
    rt_reactor_audit(&dumb->runtime.reactor);
}

static rt_poll
reader_wait(struct reader *reader, struct rt_cx *cx)
{
    if (reader->spy == NULL) {
        return rt_wait_for(&reader->wait, reader->shared, cx);
    }
    struct rt_cx child = rt_cx_for_child(cx, spy_waker(reader->spy));
    return rt_wait_for(&reader->wait, reader->shared, &child);
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    dumb_log(reader->dumb, task->name);
    while (reader->times > 0) {
        RT_AWAIT(reader_wait(reader, cx));
        reader->times--;
        if (!reader->keeps) {
            reader->dumb->host.ready[reader->source] = false;
        }
        if (reader->then != NULL) {
            reader->then(reader, cx);
        }
    }
    return RT_READY;
}

static void
reader_cleanup(struct rt_task *task)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    rt_wait_cancel(&reader->wait);
    rt_pollable_drop(&reader->pollable);
}

void
reader_init(struct reader *reader, struct dumb_runtime *dumb, const char *name, uint32_t source,
        uint32_t times)
{
    memset(reader, 0, sizeof(*reader));
    rt_task_init(&reader->task, reader_poll, reader_cleanup, name);
    rt_wait_init(&reader->wait);
    dumb_subscribe(&dumb->host, source, &reader->pollable);
    reader->dumb = dumb;
    reader->shared = &reader->pollable;
    reader->source = source;
    reader->times = times;
}

void
reader_start(struct reader *reader, struct dumb_runtime *dumb, const char *name, uint32_t source,
        uint32_t times)
{
    reader_init(reader, dumb, name, source, times);
    EXPECT_EQ(rt_post(&dumb->runtime.executor, &reader->task), RT_OK);
}
