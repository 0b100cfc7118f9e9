/*
 * wasmtime-10088.c -- a call that is cancelled before its end leaves its instance marked as
 * entered.
 *
 * bytecodealliance/wasmtime#10088 (component calls and post_return).
 *
 * The bug. A call marks its instance as entered; the mark is cleared when the caller, after the
 * result, has called post_return. A call that is cancelled in between skips that step, and the next
 * call of the instance traps: "cannot enter component instance".
 *
 * The fix. Cancelling a call clears the mark as well: `call_drop` below.
 *
 * Here. An instance is called by a request, which takes a while and has a limit, and after that by
 * a health check.
 *
 * Cause: not-a-wake in call_poll or call_drop
 * Must end in: crash, the trap. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "sim/rewake.h"

/* ---- The instance. --------------------------------------------------------------------------- */

struct instance {
    bool broken;
    bool entered;
};

struct call {
    struct instance *instance;
    struct rt_sleep work;
    bool begun;
};

static void
call_init(struct call *call, struct instance *instance, uint64_t work_ns)
{
    *call = (struct call){.instance = instance};
    rt_sleep_init(&call->work, work_ns);
}

static rt_poll
call_poll(struct call *call, struct rt_cx *cx)
{
    if (!call->begun) {
        if (call->instance->entered) {
            abort(); /* "wasm trap: cannot enter component instance" */
        }
        call->instance->entered = true;
        call->begun = true;
    }
    RT_AWAIT(rt_sleep_poll(&call->work, cx));
    call->instance->entered = false; /* post_return */
    call->begun = false;
    return RT_READY;
}

static void
call_drop(struct call *call)
{
    rt_sleep_cancel(&call->work);
    if (call->begun && !call->instance->broken) {
        call->instance->entered = false;
    }
    call->begun = false;
}

/* ---- Two callers, one after the other. ------------------------------------------------------- */

struct service {
    struct instance instance;
    struct call request_call;
    struct rt_sleep limit;
    struct rt_task request;
    struct call check_call;
    struct rt_task check;
};

static rt_poll
request_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct service *service = rt_container_of(task, struct service, request);
    if (call_poll(&service->request_call, cx) == RT_READY) {
        rt_sleep_cancel(&service->limit);
        return RT_READY;
    }
    RT_AWAIT(rt_sleep_poll(&service->limit, cx));
    call_drop(&service->request_call);
    return RT_READY;
}

static rt_poll
check_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct service *service = rt_container_of(task, struct service, check);
    RT_AWAIT(rt_task_join(&service->request, cx));
    return call_poll(&service->check_call, cx);
}

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct service *service = sim_new(world, struct service);
    service->instance.broken = broken;
    call_init(&service->request_call, &service->instance, sim_range(world, RT_MS, 4 * RT_MS));
    call_init(&service->check_call, &service->instance, RT_MS);
    rt_sleep_init(&service->limit, 3 * RT_MS);
    rt_task_init(&service->request, request_poll, NULL, "request");
    rt_task_init(&service->check, check_poll, NULL, "health check");
    sim_spawn(rt, &service->request);
    sim_spawn(rt, &service->check);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(zoo_wasmtime_10088_broken, .name = "zoo/wasmtime-10088/broken", .bug = "C15",
        .reference = "bytecodealliance/wasmtime#10088",
        .about = "A call that is cancelled leaves its instance entered.", .setup = setup_broken,
        .expect = SIM_VERDICT_CRASH);
SIM_SCENARIO(zoo_wasmtime_10088_fixed, .name = "zoo/wasmtime-10088/fixed",
        .about = "A cancelled call leaves its instance as it found it.", .setup = setup_fixed);
