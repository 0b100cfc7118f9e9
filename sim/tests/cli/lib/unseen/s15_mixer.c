/* Cause: run(), line 62: `queued` is cleared after the poll, so a wake that comes while the task is being polled
 * sees it set, puts nothing into the queue, and is then forgotten; repair: clear it before the poll. */
#include <sim/rewake.h>

/* An executor with a run queue: a mixer needs samples of a card, and settings that a thread loads. */

#define TASKS 2
#define SAMPLES 3

struct task {
    struct executor *executor;
    bool (*poll)(struct task *task);
    struct rt_pollable *device; /* NULL: it waits for none. */
    bool queued;
    bool finished;
};

struct executor {
    bool fixed;
    struct rt_host *host;
    struct rt_pollable bell;
    struct task *tasks[TASKS];
    uint32_t count;
    struct task *queue[TASKS];
    uint32_t length;
    bool asleep;
};

struct program {
    struct executor executor;
    struct task mixer;
    struct sim_source *card;
    struct rt_pollable readable;
    struct task *settings_waiter;
    bool settings;
    uint32_t samples;
};

static void
wake(struct task *task)
{
    struct executor *executor = task->executor;
    if (task->queued) {
        return;
    }
    task->queued = true;
    executor->queue[executor->length++] = task;
    if (executor->asleep) {
        rt_host_notify(executor->host);
    }
}

static void
run(struct task *task)
{
    if (task->executor->fixed) {
        task->queued = false;
    }
    sim_foreign_poll(task);
    task->finished = task->poll(task);
    sim_foreign_polled(task, task->finished);
    task->queued = task->queued && task->executor->fixed;
}

static void
again(void *executor, void *task)
{
    (void)executor;
    run(task);
}

static void
sleep_until_ready(struct executor *executor)
{
    struct rt_pollable *list[1 + TASKS] = {&executor->bell};
    struct task *whose[1 + TASKS] = {NULL};
    uint32_t ready[1 + TASKS];
    uint32_t count = 1;
    for (uint32_t i = 0; i < executor->count; i++) {
        if (executor->tasks[i]->device != NULL) {
            whose[count] = executor->tasks[i];
            list[count++] = executor->tasks[i]->device;
        }
    }
    executor->asleep = true;
    SIM_ALWAYS(rt_host_poll(executor->host, list, count, ready, &count) == RT_OK);
    executor->asleep = false;
    for (uint32_t i = 0; i < count; i++) {
        if (whose[ready[i]] != NULL) {
            sim_foreign_fire(list[ready[i]]);
            wake(whose[ready[i]]);
        }
    }
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    struct executor *executor = &program->executor;
    (void)world;
    while (!program->mixer.finished) {
        if (executor->length > 0) {
            struct task *next = executor->queue[0];
            executor->length--;
            executor->queue[0] = executor->queue[executor->length];
            run(next);
        } else {
            sleep_until_ready(executor);
        }
    }
    rt_pollable_drop(&executor->bell);
}

static bool
mixer_poll(struct task *task)
{
    struct program *program = rt_container_of(task, struct program, mixer);
    bool settings = program->settings;
    if (!settings) {
        program->settings_waiter = task;
        sim_foreign_store(task, &program->settings_waiter, "the settings");
    }
    while (program->samples < SAMPLES && sim_source_take(program->card) == RT_OK) {
        program->samples++;
    }
    task->device = NULL;
    if (program->samples < SAMPLES) {
        task->device = &program->readable;
        sim_foreign_store(task, &program->readable, "a sample");
        return false;
    }
    if (!settings) {
        return false;
    }
    rt_pollable_drop(&program->readable);
    return true;
}

static void
loader_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    sim_sleep(world, sim_range(world, 1 * RT_MS, 6 * RT_MS));
    program->settings = true;
    sim_foreign_fire(&program->settings_waiter);
    if (program->settings_waiter != NULL) {
        wake(program->settings_waiter);
    }
}

static void
begin(struct sim_world *world, bool fixed)
{
    struct program *program = sim_new(world, struct program);
    struct executor *executor = &program->executor;
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    executor->fixed = fixed;
    executor->host = sim_host_seam(host);
    SIM_ALWAYS(rt_host_subscribe(executor->host, RT_SUBSCRIBE_NOTIFY, 0, &executor->bell) == RT_OK);
    program->card = sim_source_new(host, "card");
    SIM_ALWAYS(sim_source_subscribe(program->card, &program->readable) == RT_OK);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        sim_source_event_in(program->card, (i + 1) * RT_MS, (i + 3) * RT_MS);
    }
    struct sim_loop *loop = sim_loop_new(world, "audio", executor_main, program);
    struct sim_foreign *foreign = sim_foreign_new(loop, again, executor);
    program->mixer = (struct task){.executor = executor, .poll = mixer_poll};
    executor->tasks[executor->count++] = &program->mixer;
    sim_foreign_spawn(foreign, &program->mixer, "mixer");
    wake(&program->mixer);
    (void)sim_loop_new(world, "loader", loader_main, program);
}

static void
broken(struct sim_world *world)
{
    begin(world, false);
}

static void
fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(s15_mixer_b, .name = "s15/mixer/broken", .about = "A wake during the poll is lost.",
        .setup = broken);
SIM_SCENARIO(s15_mixer_f, .name = "s15/mixer/fixed", .about = "The flag is cleared first.",
        .setup = fixed);
/* SPDX-License-Identifier: Apache-2.0 */
