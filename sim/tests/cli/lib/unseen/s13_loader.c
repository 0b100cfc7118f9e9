/* Guests that ask their host for records; requests for a record that is being loaded share one load.
 * Cause: host_get() line 72: a request that joins a load replaces those that wait for it already, which are
 * never answered; repair: link it in front of them. */
#include <sim/rewake.h>

#define GUESTS 3
#define RECORDS 2

enum record_state { ABSENT, LOADING, PRESENT };

struct ask {
    struct rt_reply reply;
    struct ask *next;
};

struct record {
    enum record_state state;
    uint64_t value;
    struct ask *asks;
};

struct program {
    struct record records[RECORDS];
    struct rt_slot storage_slot;
    unsigned requests; /* One bit for each record that is to be loaded. */
    unsigned loads;
    bool fixed;
};

struct storage {
    struct rt_task task;
    struct program *program;
    uint32_t at;
    unsigned record;
    struct rt_sleep seek;
    uint64_t seek_ns;
};

struct driver {
    struct rt_task task;
    struct program *program;
    uint32_t at;
    uint64_t start_ns;
    struct rt_sleep start;
    struct rt_store store;
    struct rt_call call;
    struct ask ask;
    uint64_t arguments[1];
    uint64_t results[1];
};

static void
host_get(struct rt_host_call *host)
{
    struct driver *driver = host->guest->store->data;
    struct program *program = driver->program;
    struct record *record = &program->records[host->arguments[0]];
    struct ask *ask = &driver->ask;

    rt_reply_begin(&ask->reply, host);
    switch (record->state) {
    case PRESENT:
        rt_reply_complete(&ask->reply, &record->value, 1);
        return;
    case ABSENT:
        record->state = LOADING;
        program->requests |= 1u << host->arguments[0];
        rt_slot_wake(&program->storage_slot);
        ask->next = NULL;
        break;
    case LOADING:
        ask->next = program->fixed ? record->asks : NULL;
        break;
    }
    record->asks = ask;
}

static void
guest_sum(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    for (uint64_t i = 0; i < RECORDS; i++) {
        uint64_t key[1] = {(arguments[0] + i) % RECORDS};
        uint64_t value[1] = {0};
        if (!rt_guest_check(guest, 1) || !rt_guest_host(guest, host_get, key, value)) {
            return;
        }
        results[0] += value[0];
    }
}

static rt_poll
next_request(struct storage *storage, struct rt_cx *cx)
{
    struct program *program = storage->program;
    for (unsigned i = 0; i < RECORDS; i++) {
        if (program->requests & 1u << i) {
            program->requests &= ~(1u << i);
            storage->record = i;
            return RT_READY;
        }
    }
    rt_slot_replace(&program->storage_slot, cx, "a request");
    return RT_PENDING;
}

static rt_poll
storage_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct storage *storage = rt_container_of(task, struct storage, task);
    struct program *program = storage->program;
    RT_BEGIN(storage->at);
    while (program->loads < RECORDS) {
        RT_AWAIT_HERE(storage->at, next_request(storage, cx));
        rt_sleep_init(&storage->seek, storage->seek_ns);
        RT_AWAIT_HERE(storage->at, rt_sleep_poll(&storage->seek, cx));
        struct record *record = &program->records[storage->record];
        record->state = PRESENT;
        record->value = 10 + storage->record;
        program->loads++;
        while (record->asks != NULL) {
            struct ask *ask = record->asks;
            record->asks = ask->next;
            rt_reply_complete(&ask->reply, &record->value, 1);
        }
    }
    RT_END(storage->at);
}

static void
driver_call(struct driver *driver)
{
    struct rt_call_config config = {
            .guest = guest_sum,
            .arguments = driver->arguments,
            .results = driver->results,
            .result_count = 1,
            .name = "sum",
    };
    SIM_ALWAYS(rt_call_init(&driver->call, &driver->store, &config) == RT_OK);
}

static rt_poll
driver_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct driver *driver = rt_container_of(task, struct driver, task);
    RT_BEGIN(driver->at);
    rt_sleep_init(&driver->start, driver->start_ns);
    RT_AWAIT_HERE(driver->at, rt_sleep_poll(&driver->start, cx));
    driver_call(driver);
    RT_AWAIT_HERE(driver->at, rt_call_drive(&driver->call, cx));
    rt_call_delete(&driver->call);
    SIM_ALWAYS(driver->results[0] == 21);
    RT_END(driver->at);
}

static void
set_up(struct sim_world *world, bool fixed)
{
    static const char *const names[GUESTS] = {"guest 1", "guest 2", "guest 3"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct rt_engine *engine = sim_engine_new(world, NULL);
    struct program *program = sim_new(world, struct program);
    program->fixed = fixed;
    rt_slot_init(&program->storage_slot);
    struct storage *storage = sim_new(world, struct storage);
    storage->program = program;
    storage->seek_ns = sim_range(world, 1 * RT_MS, 3 * RT_MS);
    rt_task_init(&storage->task, storage_poll, NULL, "storage");
    sim_spawn(rt, &storage->task);
    for (unsigned i = 0; i < GUESTS; i++) {
        struct driver *driver = sim_new(world, struct driver);
        driver->program = program;
        driver->arguments[0] = i % RECORDS;
        driver->start_ns = i * 4 * RT_MS - sim_range(world, 0, i * 4 * RT_MS);
        rt_store_init(&driver->store, engine, driver);
        rt_reply_init(&driver->ask.reply, "the record");
        rt_task_init(&driver->task, driver_poll, NULL, names[i]);
        sim_spawn(rt, &driver->task);
    }
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s13_loader/broken", .about = "Guests share a load, broken.",
        .setup = set_up_broken, .expect = SIM_VERDICT_DEADLOCK,
        .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "s13_loader/fixed", .about = "Guests share a load.",
        .setup = set_up_fixed);
/* SPDX-License-Identifier: Apache-2.0 */
