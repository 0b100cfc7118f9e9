/*
 * host_runtime_test.c -- our runtime on the fake host, under every profile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/host/host_fixture.h"
#include "sim/tests/host/host_lab.h"

/* ---- Our runtime on it. ---------------------------------------------------------------------- */

/* A task that takes events of a source, and in between waits for the clock. */
struct taker {
    struct rt_task task;
    struct sim_source *source;
    struct rt_host *seam;
    struct rt_pollable pollable;
    struct rt_pollable clock;
    struct rt_wait wait;
    uint32_t left;
    bool resting;
};

static rt_poll
taker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct taker *taker = rt_container_of(task, struct taker, task);
    while (taker->left > 0) {
        if (taker->resting) {
            if (rt_wait_for(&taker->wait, &taker->clock, cx) == RT_PENDING) {
                return RT_PENDING;
            }
            rt_pollable_drop(&taker->clock);
            taker->resting = false;
        }
        if (rt_wait_for(&taker->wait, &taker->pollable, cx) == RT_PENDING) {
            return RT_PENDING;
        }
        if (sim_source_take(taker->source) == RT_OK && --taker->left > 0) {
            sim_source_event_in(taker->source, 0, MS);
            EXPECT_OK(rt_subscribe_duration(taker->seam, taker->left % 2 * MS, &taker->clock));
            taker->resting = true;
        }
    }
    rt_pollable_drop(&taker->pollable);
    return RT_READY;
}

static void
spawn_takers(struct sim_rt *rt)
{
    for (uint32_t i = 0; i < 3; i++) {
        struct taker *taker = sim_new(sim_world_current, struct taker);
        taker->seam = sim_host_seam(sim_rt_host(rt));
        taker->source = sim_source_new(sim_rt_host(rt), "letters");
        taker->left = 6;
        rt_wait_init(&taker->wait);
        EXPECT_OK(sim_source_subscribe(taker->source, &taker->pollable));
        sim_source_event_in(taker->source, 0, MS);
        rt_task_init(&taker->task, taker_poll, NULL, "taker");
        sim_spawn(rt, &taker->task);
    }
}

static void
takers_setup(struct sim_world *world)
{
    spawn_takers(sim_rt_new(world, NULL));
}

static void
run_takers(struct sim_world *world, void *argument)
{
    (void)world;
    struct sim_rt *rt = argument;
    spawn_takers(rt);
    EXPECT_OK(rt_run_to_completion(sim_rt_runtime(rt)));
}

static void
looped_takers_setup(struct sim_world *world)
{
    static const struct sim_rt_options options = {.by_loop = true};
    (void)sim_loop_new(world, "main", run_takers, sim_rt_new(world, &options));
}

TEST(our_runtime_driven_by_the_world_survives_every_profile)
{
    struct sim_scenario scenario = {
            .name = "test/takers", .about = "Three tasks take events.", .setup = takers_setup};
    host_lab_pass(&scenario, 60);
    scenario.profile = SIM_PROFILE_HOSTILE;
    host_lab_pass(&scenario, 60);
    scenario.profile = SIM_PROFILE_FD;
    host_lab_pass(&scenario, 60);
}

TEST(our_runtime_driven_by_a_loop_survives_every_profile)
{
    struct sim_scenario scenario = {.name = "test/looped-takers",
            .about = "Three tasks take events, driven by rt_block_on.",
            .setup = looped_takers_setup};
    host_lab_pass(&scenario, 60);
    scenario.profile = SIM_PROFILE_HOSTILE;
    host_lab_pass(&scenario, 60);
    scenario.profile = SIM_PROFILE_FD;
    host_lab_pass(&scenario, 60);
}

/* Goal: the runtime is not held responsible for decisions of the host.
 * Method: most runs have an audited quiescence; a late event that its reader could already take
 * there would be a late wake-up. */
TEST(host_that_is_late_makes_no_late_wakeup)
{
    struct sim_scenario scenario = {.name = "test/takers",
            .about = "Three tasks take events.",
            .setup = takers_setup,
            .profile = SIM_PROFILE_HOSTILE};
    struct lab lab;
    struct sim_options options;
    uint32_t audited = 0;
    lab_init(&lab, NULL, 0xa5);
    sim_options_init(&options, &scenario);
    options.audit_one_in = 4;
    for (uint64_t seed = 0; seed < 40; seed++) {
        scenario.setup = seed % 2 == 0 ? takers_setup : looped_takers_setup;
        struct sim_outcome outcome = lab_judge_with(&lab, &scenario, &options, seed, false);
        ck_assert_msg(outcome.verdict == SIM_VERDICT_PASS, "seed %llu: %s",
                (unsigned long long)seed, outcome.message);
        audited += outcome.audited;
    }
    EXPECT(audited > 10);
    lab_fini(&lab);
}

/* Goal: the host's decisions do not depend on addresses.
 * Method: one seed in two arenas, at other addresses and with other fill bytes. */
TEST(host_in_two_arenas_makes_the_same_run)
{
    struct sim_scenario scenario = {.name = "test/takers",
            .about = "Three tasks take events.",
            .setup = takers_setup,
            .profile = SIM_PROFILE_HOSTILE};
    struct lab one;
    struct lab two;
    lab_init(&one, NULL, 0xa5);
    lab_init(&two, NULL, 0x5a);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t digest = lab_run(&one, &scenario, seed, false).digest;
        EXPECT(digest != 0);
        EXPECT_EQ(lab_run(&two, &scenario, seed, false).digest, digest);
    }
    lab_fini(&one);
    lab_fini(&two);
}
