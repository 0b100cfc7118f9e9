/* ok16_baton.c -- three runners pass a baton; they wait in two slots whose meaning changes.
 *
 * Correct: at any time one runner runs, the next one has a slot of its own and the third has the
 * other one. A waker is replaced only by one of the same runner; after each leg both are woken, and
 * each looks again whose turn it is and which slot is its own now.
 */
#include <sim/rewake.h>

#define RUNNERS 3u
#define LEGS 6u

struct race {
    struct sim_world *world;
    struct rt_slot slots[2];
    unsigned leg;
    unsigned turn;
};

struct runner {
    struct rt_task task;
    struct race *race;
    struct rt_sleep run;
    unsigned number;
    uint32_t at;
};

/* The runner who is next waits in the first place, the one after that in the second. */
static struct rt_slot *
place(struct race *race, unsigned number)
{
    return &race->slots[(race->leg + 1) % RUNNERS == number ? 0 : 1];
}

static rt_poll
wait_for_turn(struct runner *runner, struct rt_cx *cx)
{
    struct race *race = runner->race;
    if (race->leg == LEGS || race->leg % RUNNERS == runner->number) {
        return RT_READY;
    }
    rt_slot_replace(place(race, runner->number), cx, "the baton");
    return RT_PENDING;
}

/* A leg is over: both places change their meaning, so both are woken. */
static void
pass_baton(struct race *race)
{
    struct rt_slot *next = &race->slots[0];
    struct rt_slot *other = &race->slots[1];
    race->leg++;
    rt_slot_wake(next);
    rt_slot_wake(other);
}

static rt_poll
runner_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct runner *runner = rt_container_of(task, struct runner, task);
    struct race *race = runner->race;
    RT_BEGIN(runner->at);
    while (race->leg < LEGS) {
        RT_AWAIT_HERE(runner->at, wait_for_turn(runner, cx));
        if (race->leg < LEGS) {
            race->turn = race->leg;
            rt_sleep_init(&runner->run, sim_range(race->world, 1 * RT_US, 1 * RT_MS));
            RT_AWAIT_HERE(runner->at, rt_sleep_poll(&runner->run, cx));
            SIM_ALWAYS(race->turn == race->leg && race->leg % RUNNERS == runner->number);
            pass_baton(race);
        }
    }
    RT_END(runner->at);
}

static void
set_up(struct sim_world *world)
{
    static const char *const names[RUNNERS] = {"Ada", "Barbara", "Grace"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct race *race = sim_new(world, struct race);
    race->world = world;
    rt_slot_init(&race->slots[0]);
    rt_slot_init(&race->slots[1]);
    for (unsigned i = 0; i < RUNNERS; i++) {
        struct runner *runner = sim_new(world, struct runner);
        runner->race = race;
        runner->number = i;
        rt_task_init(&runner->task, runner_poll, NULL, names[i]);
        sim_spawn(rt, &runner->task);
    }
}

SIM_SCENARIO(baton, .name = "ok16/baton", .about = "Runners wait in places that change hands.",
        .setup = set_up);

/* SPDX-License-Identifier: Apache-2.0 */
