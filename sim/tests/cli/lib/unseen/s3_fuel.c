// Cause: s3_fuel.c:95 the guest has given way because its share of fuel is used up, not because it waits: the side channel is empty, and the driver returns pending with only the waker for an order to stop stored, so nobody resumes the guest.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define RECORDS 3
#define COST 10
#define SHARE 2000

struct program {
    struct rt_task driver;
    struct rt_task disk;
    struct rt_store store;
    struct rt_engine *engine;
    struct rt_call call;
    struct rt_reply reply;
    struct rt_future *awaited;
    struct rt_slot order; /* To stop. */
    struct rt_slot asked;
    struct rt_sleep seek;
    uint64_t records[RECORDS];
    uint64_t seeks_ns[RECORDS];
    uint32_t read;
    uint64_t result;
    enum rt_trap trap;
    uint32_t at;
    bool begun;
    bool wanted;
    bool stop;
    bool fixed;
};

/* Of the guest: the next record, which takes as much work as it is long. */
static void
host_read(struct rt_host_call *host)
{
    struct program *program = host->guest->store->data;
    rt_reply_begin(&program->reply, host);
    program->wanted = true;
    rt_slot_wake(&program->asked);
}

static void
guest_sum(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    for (uint64_t i = 0; i < arguments[0]; i++) {
        uint64_t length = 0;
        if (!rt_guest_host(guest, host_read, NULL, &length)) {
            return;
        }
        for (uint64_t j = 0; j < length; j++) {
            if (!rt_guest_check(guest, COST)) {
                return;
            }
            results[0] += j;
        }
    }
}

static void
driver_begin(struct program *program)
{
    static const uint64_t arguments[1] = {RECORDS};
    struct rt_call_config config = {.guest = guest_sum, .arguments = arguments,
            .results = &program->result, .result_count = 1, .trap = &program->trap, .name = "sum"};
    rt_store_init(&program->store, program->engine, program);
    rt_fuel_yield_interval(&program->store, SHARE);
    SIM_ALWAYS(rt_call_init(&program->call, &program->store, &config) == RT_OK);
    program->begun = true;
}

static rt_poll
driver_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, driver);
    if (!program->begun) {
        driver_begin(program);
    }
    while (!program->stop) {
        if (program->awaited != NULL) {
            if (rt_future_poll(program->awaited, cx) != RT_READY) {
                break;
            }
            program->awaited = NULL;
        }
        if (rt_call_poll(&program->call)) {
            program->stop = true;
            break;
        }
        program->awaited = rt_store_take_pending(&program->store);
        if (program->awaited == NULL) {
            if (program->fixed) {
                rt_cx_reenqueue(cx);
            }
            break;
        }
    }
    if (program->stop) {
        rt_call_delete(&program->call);
        rt_store_fini(&program->store);
        return RT_READY;
    }
    rt_slot_replace(&program->order, cx, "the guest, or an order to stop");
    return RT_PENDING;
}

static rt_poll
disk_asked(struct program *program, struct rt_cx *cx)
{
    if (program->wanted) {
        program->wanted = false;
        return RT_READY;
    }
    rt_slot_replace(&program->asked, cx, "a request");
    return RT_PENDING;
}

static rt_poll
disk_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, disk);
    RT_BEGIN(program->at);
    while (program->read < RECORDS) {
        RT_AWAIT_HERE(program->at, disk_asked(program, cx));
        rt_sleep_init(&program->seek, program->seeks_ns[program->read]);
        RT_AWAIT_HERE(program->at, rt_sleep_poll(&program->seek, cx));
        SIM_ALWAYS(rt_reply_complete(&program->reply, &program->records[program->read++], 1));
    }
    RT_END(program->at);
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const uint64_t lengths[4] = {20, 60, 150, 260};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct program *program = sim_new(world, struct program);
    program->engine = sim_engine_new(world, NULL);
    program->fixed = fixed;
    rt_slot_init(&program->order);
    rt_slot_init(&program->asked);
    rt_reply_init(&program->reply, "a record");
    for (uint32_t i = 0; i < RECORDS; i++) {
        program->records[i] = lengths[sim_pick(world, 4)];
        program->seeks_ns[i] = sim_range(world, RT_MS / 2, 2 * RT_MS);
    }
    rt_task_init(&program->driver, driver_poll, NULL, "driver");
    rt_task_init(&program->disk, disk_poll, NULL, "disk");
    sim_spawn(rt, &program->driver);
    sim_spawn_background(rt, &program->disk);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_fuel/broken", .about = "A guest that reads and computes.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_fuel/fixed", .about = "A guest that reads and computes.",
        .setup = setup_fixed);
