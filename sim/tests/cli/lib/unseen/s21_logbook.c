/* Cause: forget(), line 78: after the ink is dry (97) the scribe removes *all* lines, and not the batch lines that it had copied (94, 95); lines that were entered during the sleep are gone. Harm: SIM_ALWAYS(log->copied == WATCHMEN * EACH), line 100. Fix: remove the first count lines only. */
#include <sim/rewake.h>

#define LINES_MAX 12
#define WATCHMEN 2
#define EACH 4

struct logbook {
    struct rt_notify entered;
    uint32_t lines[LINES_MAX]; /* Entered, not copied yet. */
    uint32_t count;
    uint32_t writing; /* Watchmen that still enter lines. */
    uint32_t book[WATCHMEN * EACH];
    uint32_t copied;
};

struct watchman {
    struct rt_task task;
    struct logbook *log;
    struct sim_world *world;
    uint32_t number;
    uint32_t at;
    uint32_t line;
    struct rt_sleep round;
};

struct scribe {
    struct rt_task task;
    struct logbook *log;
    struct sim_world *world;
    uint32_t at;
    uint32_t batch;
    struct rt_notified notified;
    struct rt_sleep ink;
};

static void
enter(struct logbook *log, uint32_t line)
{
    log->lines[log->count++] = line;
    rt_notify_one(&log->entered);
}

static rt_poll
watchman_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct watchman *man = rt_container_of(task, struct watchman, task);
    RT_BEGIN(man->at);
    for (man->line = 0; man->line < EACH; man->line++) {
        rt_sleep_init(&man->round, sim_range(man->world, RT_MS, 3 * RT_MS));
        RT_AWAIT_HERE(man->at, rt_sleep_poll(&man->round, cx));
        enter(man->log, man->number * 100 + man->line);
    }
    man->log->writing--;
    rt_notify_one(&man->log->entered);
    RT_END(man->at);
}

static void
copy(struct logbook *log, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        log->book[log->copied++] = log->lines[i];
    }
}

/* The first `count` lines are in the book. */
static void
forget(struct logbook *log, uint32_t count)
{
#ifdef FIXED
    for (uint32_t i = count; i < log->count; i++) {
        log->lines[i - count] = log->lines[i];
    }
    log->count -= count;
#else
    (void)count;
    log->count = 0;
#endif
}

static rt_poll
scribe_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct scribe *scribe = rt_container_of(task, struct scribe, task);
    struct logbook *log = scribe->log;
    RT_BEGIN(scribe->at);
    while (log->count > 0 || log->writing > 0) {
        if (log->count == 0) {
            rt_notified_init(&scribe->notified, &log->entered);
            RT_AWAIT_HERE(scribe->at, rt_notified_poll(&scribe->notified, cx));
            continue;
        }
        scribe->batch = log->count;
        copy(log, scribe->batch);
        rt_sleep_init(&scribe->ink, sim_range(scribe->world, RT_MS / 4, RT_MS));
        RT_AWAIT_HERE(scribe->at, rt_sleep_poll(&scribe->ink, cx));
        forget(log, scribe->batch);
    }
    SIM_ALWAYS(log->copied == WATCHMEN * EACH);
    RT_END(scribe->at);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct logbook *log = sim_new(world, struct logbook);
    struct scribe *scribe = sim_new(world, struct scribe);
    rt_notify_init(&log->entered);
    log->writing = WATCHMEN;
    scribe->log = log;
    scribe->world = world;
    rt_task_init(&scribe->task, scribe_poll, NULL, "scribe");
    sim_spawn(rt, &scribe->task);
    for (uint32_t i = 0; i < WATCHMEN; i++) {
        struct watchman *man = sim_new(world, struct watchman);
        man->log = log;
        man->world = world;
        man->number = i;
        rt_task_init(&man->task, watchman_poll, NULL, i == 0 ? "north" : "south");
        sim_spawn(rt, &man->task);
    }
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(logbook, .name = "s21/logbook/" FORM, .about = "Two watchmen and a scribe.", .setup = setup);
