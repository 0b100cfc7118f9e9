/*
 * batch_writer.c -- a background task that takes whatever there is, and is woken for full batches.
 *
 * A worker hands over a sample each 2 ms. A writer in the background is woken when four samples
 * are there, and writes all that it finds. A spurious poll makes it write earlier, but no task
 * waits for what it writes: the program chose to wait for a full batch.
 *
 * fixed: the worker ends after six samples. broken: it then waits for an answer that never
 * arrives. A spurious poll of the writer still writes the last two samples, and frees no task:
 * deadlock in every run.
 *
 * Guards: what a background task gains counts only where it frees a task that is waited for.
 * Must end in: pass, for each order and audit rate. broken: deadlock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BATCH 4
#define SAMPLES 6

struct program {
    struct rt_task worker;
    struct rt_task writer;
    struct rt_slot batch;
    struct rt_slot answer;
    struct rt_sleep pause;
    uint32_t sent;
    uint32_t waiting; /* Samples that are not written yet. */
    bool broken;
};

static rt_poll
worker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, worker);
    while (program->sent < SAMPLES) {
        RT_AWAIT(rt_sleep_poll(&program->pause, cx));
        rt_sleep_init(&program->pause, 2 * RT_MS);
        program->sent++;
        if (++program->waiting == BATCH) {
            rt_slot_wake(&program->batch);
        }
    }
    if (program->broken) {
        rt_slot_replace(&program->answer, cx, "an answer");
        return RT_PENDING;
    }
    return RT_READY;
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, writer);
    if (program->waiting > 0) {
        program->waiting = 0;
        SIM_PROGRESS();
    }
    rt_slot_replace(&program->batch, cx, "a full batch");
    return RT_PENDING;
}

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct program *program = sim_new(world, struct program);
    program->broken = broken;
    rt_slot_init(&program->batch);
    rt_slot_init(&program->answer);
    rt_sleep_init(&program->pause, 2 * RT_MS);
    rt_task_init(&program->worker, worker_poll, NULL, "worker");
    rt_task_init(&program->writer, writer_poll, NULL, "writer");
    sim_spawn(rt, &program->worker);
    sim_spawn_background(rt, &program->writer);
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

SIM_SCENARIO(oracle_batch_writer_broken, .name = "oracle/batch-writer/broken",
        .about = "A background task could write a part of a batch; no answer arrives.",
        .setup = setup_broken, .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(oracle_batch_writer_fixed, .name = "oracle/batch-writer/fixed",
        .about = "A background task is woken for full batches, and writes what there is.",
        .setup = setup_fixed);
