// SPDX-License-Identifier: Apache-2.0
/* Cause: spool_take(), line 57: a writer is woken only when the spool was full, so of two writers
 * that wait the second one stays asleep. repair: wake the next writer after each take. */
#include <sim/rewake.h>

#define CAPACITY 2
#define WRITERS 2
#define LINES 3 /* Of each writer. */

struct spool {
    struct rt_slot writers[WRITERS];
    struct rt_slot printer;
    uint32_t lines[CAPACITY];
    uint32_t used;
    bool eager;
};

struct writer {
    struct rt_task task;
    struct spool *spool;
    uint32_t number;
    uint32_t written;
};

struct printer {
    struct rt_task task;
    struct spool *spool;
    uint32_t printed;
};

static bool
spool_put(struct spool *spool, uint32_t line)
{
    if (spool->used == CAPACITY) {
        return false;
    }
    spool->lines[spool->used++] = line;
    rt_slot_wake(&spool->printer);
    return true;
}

static void
spool_wake_writer(struct spool *spool)
{
    for (uint32_t i = 0; i < WRITERS; i++) {
        if (rt_slot_wake(&spool->writers[i])) {
            return;
        }
    }
}

static uint32_t
spool_take(struct spool *spool)
{
    uint32_t line = spool->lines[0];
    spool->lines[0] = spool->lines[1];
    spool->used--;
    if (spool->eager || spool->used == CAPACITY - 1) {
        spool_wake_writer(spool);
    }
    return line;
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct writer *writer = rt_container_of(task, struct writer, task);
    while (writer->written < LINES) {
        if (!spool_put(writer->spool, writer->number)) {
            rt_slot_replace(&writer->spool->writers[writer->number], cx, "room in the spool");
            return RT_PENDING;
        }
        writer->written++;
    }
    return RT_READY;
}

static rt_poll
printer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct printer *printer = rt_container_of(task, struct printer, task);
    while (printer->spool->used > 0) {
        SIM_ALWAYS(spool_take(printer->spool) < WRITERS);
        SIM_PROGRESS();
        if (++printer->printed == WRITERS * LINES) {
            return RT_READY;
        }
    }
    rt_slot_replace(&printer->spool->printer, cx, "a line to print");
    return RT_PENDING;
}

static void
begin(struct sim_world *world, bool eager)
{
    static const char *const names[WRITERS] = {"editor", "mailer"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct spool *spool = sim_new(world, struct spool);
    struct printer *printer = sim_new(world, struct printer);
    spool->eager = eager;
    rt_slot_init(&spool->printer);
    for (uint32_t i = 0; i < WRITERS; i++) {
        struct writer *writer = sim_new(world, struct writer);
        writer->spool = spool;
        writer->number = i;
        rt_slot_init(&spool->writers[i]);
        rt_task_init(&writer->task, writer_poll, NULL, names[i]);
        sim_spawn(rt, &writer->task);
    }
    printer->spool = spool;
    rt_task_init(&printer->task, printer_poll, NULL, "printer");
    sim_spawn(rt, &printer->task);
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

SIM_SCENARIO(spool_broken, .name = "spool/broken", .about = "Two writers share a small spool.",
        .setup = setup_broken);
SIM_SCENARIO(
        spool_fixed, .name = "spool/fixed", .about = "The same, repaired.", .setup = setup_fixed);
