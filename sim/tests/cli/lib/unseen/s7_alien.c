// Cause: request_answered(): it wakes the thread whose request was answered and no other. A thread whose submit was
// refused, because the shard's mailbox had no room (submit_request), waits for room; room comes when the other
// thread's request is taken, but that wakes only the other thread, so after its last one the refused one sleeps on.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define ALIENS 2u
#define REQUESTS 3u

struct program;

struct alien {
    struct program *program;
    struct rt_message message;
    struct sim_loop *loop;
    uint32_t requests;
    bool blocked;
};

struct program {
    struct sim_shard_group *group;
    struct alien aliens[ALIENS];
    uint32_t left;
    uint32_t counter; /* The shard's. */
    bool wakes_all;
};

/* On the shard. */
static void
request_arrives(struct rt_message *message, struct rt_shard *shard)
{
    rt_container_of(message, struct alien, message)->program->counter++;
    rt_message_answer(message, shard, RT_OK);
}

static void
request_answered(struct rt_message *message, struct rt_shard *shard)
{
    struct alien *alien = rt_container_of(message, struct alien, message);
    struct program *program = alien->program;
    (void)shard;
    for (uint32_t i = 0; i < ALIENS; i++) {
        struct alien *other = &program->aliens[i];
        if (other->blocked && (other == alien || program->wakes_all)) {
            sim_loop_wake(other->loop);
        }
    }
}

static void
submit_request(struct sim_world *world, struct alien *alien)
{
    struct rt_shard *shard = sim_shard_group_shard(alien->program->group, 0);
    rt_err err = rt_alien_submit(&alien->message, shard);
    while (err == RT_E_FULL) {
        alien->blocked = true;
        sim_loop_block(world, 0, "room in the mailbox", RT_HERE);
        alien->blocked = false;
        err = rt_alien_submit(&alien->message, shard);
    }
    SIM_ALWAYS(err == RT_OK);
}

static void
alien_main(struct sim_world *world, void *argument)
{
    struct alien *alien = argument;
    struct program *program = alien->program;
    while (alien->requests < REQUESTS) {
        sim_sleep(world, sim_range(world, RT_US, 100 * RT_US));
        rt_message_init(&alien->message, request_arrives, request_answered);
        submit_request(world, alien);
        while (!rt_message_is_idle(&alien->message)) {
            alien->blocked = true;
            sim_loop_block(world, 0, "the answer", RT_HERE);
            alien->blocked = false;
        }
        alien->requests++;
    }
    if (--program->left == 0) {
        SIM_ALWAYS(program->counter == ALIENS * REQUESTS);
        rt_shards_close(sim_shard_group_shards(program->group));
    }
}

static void
begin(struct sim_world *world, bool wakes_all)
{
    static const char *const names[ALIENS] = {"first thread", "second thread"};
    struct sim_shard_group_options options = {.count = 1, .aliens_max = 1};
    struct program *program = sim_new(world, struct program);
    program->group = sim_shard_group_new(world, &options);
    program->wakes_all = wakes_all;
    program->left = ALIENS;
    for (uint32_t i = 0; i < ALIENS; i++) {
        struct alien *alien = &program->aliens[i];
        alien->program = program;
        alien->loop = sim_loop_new(world, names[i], alien_main, alien);
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

SIM_SCENARIO(alien_broken, .name = "set7/s7_alien/broken",
        .about = "Two threads ask a shard whose mailbox has room for one.", .setup = setup_broken);
SIM_SCENARIO(alien_fixed, .name = "set7/s7_alien/fixed",
        .about = "Two threads ask a shard whose mailbox has room for one.", .setup = setup_fixed);
