/*
 * s11_counter.c -- clerks on threads of their own hand letters to a shard that weighs them; the shard
 * takes few at a time, and what it refuses a clerk keeps for later.
 *
 * Cause: clerk_wait() (line 89) waits for an answer also where none of the clerk's letters is under way, so those that were refused are never sent again
 */
#include <sim/rewake.h>

#define CLERKS 2
#define LETTERS 2

struct clerk;

struct letter {
    struct rt_message message;
    struct clerk *clerk;
    uint32_t weight;
    bool kept;
};

struct office {
    struct sim_shard_group *group;
    uint32_t clerks;
    uint32_t weighed;
    bool looks_again;
};

struct clerk {
    struct office *office;
    struct rt_host *host;
    struct rt_pollable bell;
    struct letter letters[LETTERS];
    uint64_t pace_ns;
    uint32_t under_way, answered, kept;
};

/* On the shard. */
static void
letter_arrive(struct rt_message *message, struct rt_shard *shard)
{
    struct letter *letter = rt_container_of(message, struct letter, message);
    letter->clerk->office->weighed += letter->weight;
    rt_message_answer(message, shard, RT_OK);
}

static void
letter_answered(struct rt_message *message, struct rt_shard *shard)
{
    struct letter *letter = rt_container_of(message, struct letter, message);
    (void)shard;
    letter->clerk->answered++;
    letter->clerk->under_way--;
    rt_host_notify(letter->clerk->host);
}

/* On the clerk's thread, as all below. */
static void
clerk_send(struct clerk *clerk, struct letter *letter)
{
    struct rt_shard *shard = sim_shard_group_shard(clerk->office->group, 1);
    clerk->under_way++;
    letter->kept = rt_alien_submit(&letter->message, shard) == RT_E_FULL;
    if (letter->kept) {
        clerk->under_way--;
        clerk->kept++;
    }
}

static void
clerk_send_kept(struct clerk *clerk)
{
    for (uint32_t i = 0; i < LETTERS; i++) {
        if (clerk->letters[i].kept) {
            clerk->kept--;
            clerk_send(clerk, &clerk->letters[i]);
        }
    }
}

static void
clerk_wait(struct sim_world *world, struct clerk *clerk)
{
    struct rt_pollable *list[] = {&clerk->bell};
    uint32_t index, count;
    if (clerk->office->looks_again && clerk->kept > 0 && clerk->under_way == 0) {
        sim_sleep(world, 100 * RT_US);
        return;
    }
    SIM_ALWAYS(rt_host_poll(clerk->host, list, 1, &index, &count) == RT_OK);
}

static void
clerk_main(struct sim_world *world, void *argument)
{
    struct clerk *clerk = argument;
    struct office *office = clerk->office;
    for (uint32_t i = 0; i < LETTERS; i++) {
        sim_sleep(world, sim_range(world, clerk->pace_ns, 200 * RT_US));
        clerk_send(clerk, &clerk->letters[i]);
    }
    while (clerk->answered < LETTERS) {
        clerk_wait(world, clerk);
        clerk_send_kept(clerk);
    }
    rt_pollable_drop(&clerk->bell);
    if (--office->clerks == 0) {
        rt_shards_close(sim_shard_group_shards(office->group));
    }
}

static void
setup_with(struct sim_world *world, bool looks_again)
{
    static const char *const names[CLERKS] = {"window 1", "window 2"};
    struct sim_shard_group_options options = {.count = 2, .aliens_max = 1};
    struct office *office = sim_new(world, struct office);
    office->group = sim_shard_group_new(world, &options);
    office->clerks = CLERKS;
    office->looks_again = looks_again;
    for (uint32_t i = 0; i < CLERKS; i++) {
        struct clerk *clerk = sim_new(world, struct clerk);
        clerk->office = office;
        clerk->pace_ns = (50 + 30 * i) * RT_US;
        clerk->host = sim_host_seam(sim_host_new(world, names[i], SIM_PROFILE_DEFAULT));
        SIM_ALWAYS(rt_host_subscribe(clerk->host, RT_SUBSCRIBE_NOTIFY, 0, &clerk->bell) == RT_OK);
        for (uint32_t j = 0; j < LETTERS; j++) {
            clerk->letters[j].clerk = clerk;
            clerk->letters[j].weight = 10 * i + j;
            rt_message_init(&clerk->letters[j].message, letter_arrive, letter_answered);
        }
        (void)sim_loop_new(world, names[i], clerk_main, clerk);
    }
}

static void
setup_broken(struct sim_world *world)
{
    setup_with(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    setup_with(world, true);
}

SIM_SCENARIO(counter_broken, .name = "s11_counter/broken",
        .about = "Threads that hand letters to a shard.", .setup = setup_broken);
SIM_SCENARIO(counter_fixed, .name = "s11_counter/fixed",
        .about = "Threads that hand letters to a shard.", .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0
