// Cause: caller_poll(), the early return for a guest that was trapped: it does not release the permit for a guest's
// place that it had acquired. After a call has run out of fuel there is no permit left, and the callers that come
// later wait for one forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define CALLERS 3u
#define FUEL 3000u
#define STEP 100u

struct embedder {
    struct rt_engine *engine;
    struct rt_semaphore places;
    uint32_t failed;
    bool releases_always;
};

struct caller {
    struct rt_task task;
    struct embedder *embedder;
    uint32_t at;
    struct rt_acquire acquire;
    struct rt_store store;
    struct rt_call call;
    uint64_t steps; /* What the guest is asked for. */
    uint64_t result;
    enum rt_trap trap;
};

/* The guest: each step costs the same. */
static void
count_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    for (uint64_t i = 0; i < arguments[0]; i++) {
        if (!rt_guest_check(guest, STEP)) {
            return;
        }
        results[0]++;
    }
}

static void
begin_call(struct caller *caller)
{
    struct rt_call_config config = {.guest = count_guest,
            .arguments = &caller->steps,
            .results = &caller->result,
            .result_count = 1,
            .trap = &caller->trap,
            .name = "count"};
    rt_store_init(&caller->store, caller->embedder->engine, caller);
    rt_fuel_set(&caller->store, FUEL);
    rt_fuel_yield_interval(&caller->store, 5 * STEP);
    SIM_ALWAYS(rt_call_init(&caller->call, &caller->store, &config) == RT_OK);
}

static rt_poll
caller_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct caller *caller = rt_container_of(task, struct caller, task);
    struct embedder *embedder = caller->embedder;
    RT_BEGIN(caller->at);
    rt_acquire_init(&caller->acquire, &embedder->places, 1);
    RT_AWAIT_HERE(caller->at, rt_acquire_poll(&caller->acquire, cx));
    SIM_ALWAYS(caller->acquire.err == RT_OK);
    begin_call(caller);
    RT_AWAIT_HERE(caller->at, rt_call_drive(&caller->call, cx));
    rt_call_delete(&caller->call);
    rt_store_fini(&caller->store);
    if (caller->trap != RT_TRAP_NONE) {
        embedder->failed++;
        if (embedder->releases_always) {
            SIM_ALWAYS(rt_semaphore_release(&embedder->places, 1) == RT_OK);
        }
        return RT_READY;
    }
    SIM_ALWAYS(caller->result == caller->steps);
    SIM_ALWAYS(rt_semaphore_release(&embedder->places, 1) == RT_OK);
    RT_END(caller->at);
}

static void
begin(struct sim_world *world, bool releases_always)
{
    static const char *const names[CALLERS] = {"caller 1", "caller 2", "caller 3"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct embedder *embedder = sim_new(world, struct embedder);
    embedder->engine = sim_engine_new(world, NULL);
    embedder->releases_always = releases_always;
    rt_semaphore_init(&embedder->places, 1);
    for (uint32_t i = 0; i < CALLERS; i++) {
        struct caller *caller = sim_new(world, struct caller);
        caller->embedder = embedder;
        caller->steps = sim_range(world, 5, 40);
        rt_task_init(&caller->task, caller_poll, NULL, names[i]);
        sim_spawn(rt, &caller->task);
    }
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(fuel_broken, .name = "set7/s7_fuel/broken",
        .about = "Guests with limited fuel share a limited number of places.",
        .setup = setup_broken);
SIM_SCENARIO(fuel_fixed, .name = "set7/s7_fuel/fixed",
        .about = "Guests with limited fuel share a limited number of places.",
        .setup = setup_fixed);
