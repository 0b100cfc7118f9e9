/*
 * guest_test.c -- guests on fibers in the world: their time, their ends, their stacks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "runtime/fiber/call.h"
#include "sim/core/process/stack.h"
#include "sim/tests/host/host_lab.h"

struct one {
    struct rt_task task;
    struct rt_store store;
    struct rt_call call;
    struct sim_world *world;
};

static rt_poll
one_poll(struct rt_task *task, struct rt_cx *cx)
{
    return rt_call_drive(&rt_container_of(task, struct one, task)->call, cx);
}

static void
one_cleanup(struct rt_task *task)
{
    struct one *one = rt_container_of(task, struct one, task);
    rt_call_delete(&one->call);
    rt_store_fini(&one->store);
}

/* A world with one task that calls `guest`. */
static struct one *
one_new(struct sim_world *world, rt_guest_fn guest)
{
    struct sim_rt_options options = {.task_quota_ns = RT_TASK_QUOTA_NS};
    struct sim_rt *rt = sim_rt_new(world, &options);
    struct one *one = sim_new(world, struct one);
    struct rt_call_config config = {.guest = guest, .name = "guest"};
    one->world = world;
    rt_store_init(&one->store, sim_engine_new(world, NULL), one);
    EXPECT_EQ(rt_call_init(&one->call, &one->store, &config), RT_OK);
    rt_task_init(&one->task, one_poll, one_cleanup, "one");
    sim_spawn(rt, &one->task);
    return one;
}

static void
computing_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    (void)arguments;
    (void)results;
    for (uint32_t i = 0; i < 1000; i++) {
        if (!rt_guest_check(guest, 2000)) {
            return;
        }
    }
}

static void
patient_setup(struct sim_world *world)
{
    struct one *one = one_new(world, computing_guest);
    rt_fuel_yield_interval(&one->store, 10000);
}

static void
impatient_setup(struct sim_world *world)
{
    (void)one_new(world, computing_guest);
}

/*
 * Goal: a unit of fuel is a nanosecond, and a guest that yields keeps the task quota.
 * Method: 2 ms of computing with an interval of 10 us pass, and end at 2 ms at least; the same
 * without an interval are over budget in one poll. Holds F8.
 */
TEST(guest_computing_uses_virtual_time_and_keeps_the_quota)
{
    static const struct sim_scenario patient = {.name = "test/patient", .setup = patient_setup};
    static const struct sim_scenario impatient = {
            .name = "test/impatient", .setup = impatient_setup};
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    struct sim_outcome outcome = lab_run(&lab, &patient, 1, true);
    EXPECT_STR(sim_verdict_name(outcome.verdict), "pass");
    EXPECT(outcome.sim_ns >= 2 * RT_MS && outcome.sim_ns < 2 * RT_MS + 100 * RT_US);
    EXPECT(outcome.steps >= 4);
    outcome = lab_run(&lab, &impatient, 1, true);
    EXPECT_STR(sim_verdict_name(outcome.verdict), "over-budget");
    lab_fini(&lab);
}

/* ---- Ends of a run, on a guest's stack. ------------------------------------------------------ */

static void
host_asserts(struct rt_host_call *host)
{
    SIM_ALWAYS(host == NULL);
}

static void
asserting_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    (void)!rt_guest_host(guest, host_asserts, arguments, results);
}

static void
asserting_setup(struct sim_world *world)
{
    (void)one_new(world, asserting_guest);
}

static void
asserting_loop(struct sim_world *world, void *argument)
{
    struct one *one = argument;
    (void)world;
    (void)rt_call_poll(&one->call);
}

static void
nested_setup(struct sim_world *world)
{
    struct one *one = sim_new(world, struct one);
    struct rt_call_config config = {.guest = asserting_guest, .name = "guest"};
    rt_store_init(&one->store, sim_engine_new(world, NULL), one);
    EXPECT_EQ(rt_call_init(&one->call, &one->store, &config), RT_OK);
    (void)sim_loop_new(world, "loop", asserting_loop, one);
}

/*
 * Goal: a run may end in a guest, also in one that a loop on a fiber has called.
 * Method: a host function whose assertion fails, many runs one after the other in one world.
 */
TEST(guest_in_which_a_run_ends_is_left)
{
    static const struct sim_scenario flat = {.name = "test/flat", .setup = asserting_setup};
    static const struct sim_scenario nested = {.name = "test/nested", .setup = nested_setup};
    host_lab_expect(&flat, 30, SIM_VERDICT_INVARIANT, SIM_ORACLE_USER);
    host_lab_expect(&nested, 30, SIM_VERDICT_INVARIANT, SIM_ORACLE_USER);
}

static void
blocking_host(struct rt_host_call *host)
{
    struct one *one = host->guest->store->data;
    sim_sleep(one->world, 5);
}

static void
blocking_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    (void)!rt_guest_host(guest, blocking_host, arguments, results);
}

static void
blocking_setup(struct sim_world *world)
{
    struct one *one = sim_new(world, struct one);
    struct rt_call_config config = {.guest = blocking_guest, .name = "guest"};
    one->world = world;
    rt_store_init(&one->store, sim_engine_new(world, NULL), one);
    EXPECT_EQ(rt_call_init(&one->call, &one->store, &config), RT_OK);
    (void)sim_loop_new(world, "loop", asserting_loop, one);
}

/*
 * Goal: a host function that blocks its thread breaks the contract.
 * Method: one that sleeps by the world's clock inside a guest.
 */
TEST(guest_whose_host_function_blocks_breaks_the_contract)
{
    static const struct sim_scenario blocking = {.name = "test/block", .setup = blocking_setup};
    host_lab_expect(&blocking, 10, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST);
}

/* ---- The guard page. ------------------------------------------------------------------------- */

/*
 * Goal: a stack is taken again whose size is not one of whole pages, and holds nothing of before.
 * Method: more are taken and freed than there can be; each is written below a hole.
 */
TEST(stack_of_an_odd_size_is_taken_again_and_is_zero)
{
    struct lab lab;
    const size_t size = (40 << 10) + 24;
    lab_init(&lab, NULL, 0xa5);
    char *first = NULL;
    for (int i = 0; i < 1100; i++) {
        struct rt_stack stack;
        EXPECT_EQ(rt_stack_alloc(sim_stacks(&lab.world), size, &stack), RT_OK);
        EXPECT(stack.size >= size);
        first = first == NULL ? stack.base : first;
        EXPECT(stack.base == first);
        char *top = first + stack.size;
        EXPECT_EQ(top[-1] | top[-900], 0);
        top[-1] = 1;
        top[-900] = 1;
        rt_stack_free(sim_stacks(&lab.world), &stack);
    }
    lab_fini(&lab);
}

/*
 * Goal: the handler of a crash recognizes a guard page.
 * Method: addresses around the base of a stack of the run. Holds F14.
 */
TEST(stack_guard_is_known_by_its_address)
{
    struct lab lab;
    struct rt_stack stack;
    lab_init(&lab, NULL, 0xa5);
    EXPECT_EQ(rt_stack_alloc(sim_stacks(&lab.world), RT_STACK_SIZE, &stack), RT_OK);
    EXPECT(sim_stack_guard(stack.base - 1));
    EXPECT(sim_stack_guard(stack.base - 4096));
    EXPECT(!sim_stack_guard(stack.base));
    rt_stack_free(sim_stacks(&lab.world), &stack);
    lab_fini(&lab);
}
