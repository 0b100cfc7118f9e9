/*
 * compile_thread.c -- the one thread that is left (S2): it compiles.
 *
 * "The alien thread pool was replaced with a single compilation thread." Three tasks each want a
 * module: it is compiled by the one thread of a blocking pool, in the order of requests, and then
 * called on the reactor. Tasks are cancelled anywhere: a module in the queue is then not compiled,
 * and the result of a compilation in progress is dropped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/fiber/call.h"
#include "sim/rewake.h"

#define MODULES 3

struct module {
    struct rt_task task;
    struct rt_work compile;
    uint64_t source;
    uint64_t code; /* Made by the thread: what the guest multiplies by. */
    struct state *state;
    struct rt_store store;
    struct rt_call call;
    bool called;
    uint64_t argument;
    uint64_t result;
};

struct state {
    struct rt_blocking_pool *pool;
    struct rt_engine *engine;
    struct module modules[MODULES];
};

/* On the compile thread: touches nothing but its module. */
static void
compile_run(struct rt_work *work)
{
    struct module *module = rt_container_of(work, struct module, compile);
    module->code = module->source + 1;
}

static void
module_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    const struct module *module = guest->store->data;
    for (uint64_t i = 0; i < module->code; i++) {
        if (!rt_guest_check(guest, 1000)) {
            return;
        }
        results[0] += arguments[0];
    }
}

static void
begin_call(struct module *module)
{
    struct rt_call_config config = {
            .guest = module_guest,
            .arguments = &module->argument,
            .results = &module->result,
            .result_count = 1,
            .name = "module",
    };
    rt_store_init(&module->store, module->state->engine, module);
    SIM_ALWAYS(rt_call_init(&module->call, &module->store, &config) == RT_OK);
    module->called = true;
}

static rt_poll
module_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct module *module = rt_container_of(task, struct module, task);
    if (!module->called) {
        if (module->compile.state == RT_WORK_IDLE) {
            SIM_ALWAYS(rt_blocking_submit(module->state->pool, &module->compile) == RT_OK);
        }
        RT_AWAIT(rt_work_poll(&module->compile, cx));
        begin_call(module);
    }
    RT_AWAIT(rt_call_drive(&module->call, cx));
    SIM_ALWAYS(module->result == (module->source + 1) * module->argument);
    return RT_READY;
}

static void
module_cleanup(struct rt_task *task)
{
    struct module *module = rt_container_of(task, struct module, task);
    rt_work_forget(&module->compile);
    if (module->called) {
        rt_call_delete(&module->call);
        rt_store_fini(&module->store);
    }
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct state *state = sim_new(world, struct state);
    state->pool = sim_blocking_pool_new(world, "compile thread", 1 * RT_MS, 20 * RT_MS);
    state->engine = sim_engine_new(world, NULL);
    for (uint32_t i = 0; i < MODULES; i++) {
        struct module *module = &state->modules[i];
        module->state = state;
        module->source = 10 * i;
        module->argument = 7;
        rt_work_init(&module->compile, compile_run, "the compiled module");
        rt_task_init(&module->task, module_poll, module_cleanup, "module");
        sim_spawn(rt, &module->task);
    }
}

SIM_SCENARIO(seed2_compile_thread, .name = "articles/s2/compile-thread",
        .about = "One thread compiles what three tasks then call on the reactor.", .setup = setup,
        .survives = SIM_FAULT_ALL);
