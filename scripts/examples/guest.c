/*
 * guest.c -- guests on fibers ask a server through a host function, and wait for its answer.
 *
 * The bug: the server answers one question for each wake. Two guests that ask before it is polled
 * wake it once, and the second one waits forever. The fix: answer all that have been asked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <runtime/fiber/call.h>
#include <runtime/fiber/reply.h>
#include <sim/rewake.h>

#define GUESTS 2u

struct question {
    struct rt_reply reply;
    uint64_t number;
    bool asked;
};

struct server {
    struct rt_task task;
    struct rt_slot wanted; /* Its waker, while no question is there. */
    struct question questions[GUESTS];
    bool broken;
};

struct instance {
    struct rt_task task;
    struct rt_store store;
    struct rt_call call;
    struct rt_sleep start;
    struct server *server;
    struct question *question;
    uint64_t argument;
    uint64_t result;
    uint32_t at;
};

/* ---- The guest's side, on its stack. --------------------------------------------------------- */

static void
ask(struct rt_host_call *host)
{
    struct instance *instance = host->guest->store->data;
    struct question *question = instance->question;
    rt_reply_begin(&question->reply, host); /* The guest waits until it is complete. */
    question->number = host->arguments[0];
    question->asked = true;
    rt_slot_wake(&instance->server->wanted);
}

static void
guest_main(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    uint64_t answer[1];
    if (!rt_guest_host(guest, ask, arguments, answer)) {
        return; /* It was ended: clean up and return, results are not used. */
    }
    results[0] = answer[0] + 1;
}

/* ---- The server. ----------------------------------------------------------------------------- */

static rt_poll
server_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct server *server = rt_container_of(task, struct server, task);
    for (uint32_t i = 0; i < GUESTS; i++) {
        struct question *question = &server->questions[i];
        if (question->asked) {
            uint64_t answer = question->number * 10;
            question->asked = false;
            (void)rt_reply_complete(&question->reply, &answer, 1);
            if (server->broken) {
                break;
            }
        }
    }
    rt_slot_replace(&server->wanted, cx, "a question");
    return RT_PENDING;
}

/* ---- A task for each guest drives its call. -------------------------------------------------- */

static rt_poll
instance_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct instance *instance = rt_container_of(task, struct instance, task);
    struct rt_call_config config = {.guest = guest_main,
            .arguments = &instance->argument,
            .results = &instance->result,
            .result_count = 1,
            .name = "a question"};
    RT_BEGIN(instance->at);
    RT_AWAIT_HERE(instance->at, rt_sleep_poll(&instance->start, cx));
    SIM_ALWAYS(rt_call_init(&instance->call, &instance->store, &config) == RT_OK);
    RT_AWAIT_HERE(instance->at, rt_call_drive(&instance->call, cx));
    rt_call_delete(&instance->call); /* Once for each call, also for one that has returned. */
    rt_store_fini(&instance->store);
    SIM_ALWAYS(instance->result == instance->argument * 10 + 1);
    RT_END(instance->at);
}

static void
set_up(struct sim_world *world, bool broken)
{
    static const char *const names[GUESTS] = {"guest 1", "guest 2"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct rt_engine *engine = sim_engine_new(world, NULL);
    struct server *server = sim_new(world, struct server);
    server->broken = broken;
    rt_slot_init(&server->wanted);
    rt_task_init(&server->task, server_poll, NULL, "server");
    sim_spawn_background(rt, &server->task); /* The run does not wait for it. */
    for (uint32_t i = 0; i < GUESTS; i++) {
        struct instance *instance = sim_new(world, struct instance);
        instance->server = server;
        instance->question = &server->questions[i];
        instance->argument = i + 1;
        rt_reply_init(&instance->question->reply, "an answer");
        rt_sleep_init(&instance->start, sim_range(world, 0, RT_MS));
        rt_store_init(&instance->store, engine, instance);
        rt_task_init(&instance->task, instance_poll, NULL, names[i]);
        sim_spawn(rt, &instance->task);
    }
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, true);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, false);
}

SIM_SCENARIO(broken, .name = "guest/broken", .about = "One answer for each wake.",
        .setup = set_up_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "guest/fixed", .about = "All questions are answered.",
        .setup = set_up_fixed);
