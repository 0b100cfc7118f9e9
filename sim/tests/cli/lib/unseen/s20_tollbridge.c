/* Cause: task_run(), line 57-60: queued is cleared after the poll. Order: the car's poll finds the barrier closed and stores its waker; before line 60 the cashier opens the barrier and wakes (134): task_wake sees queued still set and returns (42-43); then it is cleared. Nobody polls the car. Harm: lost wake-up. Fix: clear it before the poll (54).
 */
#include <sim/rewake.h>

#define CARS 2
#define BOOTHS 2

struct task {
    struct executor *executor;
    bool (*poll)(struct task *task); /* True: it has finished. */
    bool queued;
    bool finished;
};

struct executor {
    struct rt_host *host;
    struct rt_pollable bell;
    struct task *tasks[CARS];
    uint32_t count;
    struct task *queue[CARS];
    uint32_t first;
    uint32_t length;
};

struct barrier {
    struct task *waiter;
    bool open;
};

struct car {
    struct task task;
    struct sim_world *world;
    struct barrier barriers[BOOTHS];
    uint32_t passed;
};

/* Called from any thread. */
static void
task_wake(struct task *task)
{
    struct executor *executor = task->executor;
    if (task->queued || task->finished) {
        return;
    }
    task->queued = true;
    executor->queue[(executor->first + executor->length++) % CARS] = task;
    rt_host_notify(executor->host);
}

static void
task_run(struct task *task)
{
#ifdef FIXED
    task->queued = false;
#endif
    sim_foreign_poll(task);
    task->finished = task->poll(task);
    sim_foreign_polled(task, task->finished);
#ifndef FIXED
    task->queued = false;
#endif
}

static bool
executor_is_done(const struct executor *executor)
{
    for (uint32_t i = 0; i < executor->count; i++) {
        if (!executor->tasks[i]->finished) {
            return false;
        }
    }
    return true;
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct executor *executor = argument;
    struct rt_pollable *list[1] = {&executor->bell};
    (void)world;
    while (!executor_is_done(executor)) {
        if (executor->length == 0) {
            uint32_t ready[1], count;
            SIM_ALWAYS(rt_host_poll(executor->host, list, 1, ready, &count) == RT_OK);
            continue;
        }
        struct task *task = executor->queue[executor->first];
        executor->first = (executor->first + 1) % CARS;
        executor->length--;
        task_run(task);
    }
    rt_pollable_drop(&executor->bell);
}

static void
executor_again(void *executor, void *task)
{
    struct task *one = task;
    (void)executor;
    sim_foreign_poll(one);
    one->finished = one->poll(one);
    sim_foreign_polled(one, one->finished);
}

static bool
car_poll(struct task *task)
{
    struct car *car = rt_container_of(task, struct car, task);
    while (car->passed < BOOTHS) {
        struct barrier *barrier = &car->barriers[car->passed];
        if (!barrier->open) {
            barrier->waiter = task;
            sim_foreign_store(task, barrier, "an open barrier");
            return false;
        }
        car->passed++;
        SIM_PROGRESS();
    }
    return true;
}

static void
cashier_main(struct sim_world *world, void *argument)
{
    struct car *car = argument;
    for (uint32_t i = 0; i < BOOTHS; i++) {
        struct barrier *barrier = &car->barriers[i];
        sim_sleep(world, sim_range(world, RT_MS / 2, 2 * RT_MS));
        barrier->open = true;
        struct task *waiter = barrier->waiter;
        barrier->waiter = NULL;
        if (waiter != NULL) {
            sim_foreign_fire(barrier);
            task_wake(waiter);
        }
    }
}

static void
setup(struct sim_world *world)
{
    static const char *const cars[CARS] = {"lorry", "coach"};
    static const char *const cashiers[CARS] = {"cashier 1", "cashier 2"};
    struct executor *executor = sim_new(world, struct executor);
    executor->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    SIM_ALWAYS(rt_host_subscribe(executor->host, RT_SUBSCRIBE_NOTIFY, 0, &executor->bell) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, executor);
    struct sim_foreign *foreign = sim_foreign_new(loop, executor_again, executor);
    for (uint32_t i = 0; i < CARS; i++) {
        struct car *car = sim_new(world, struct car);
        car->world = world;
        car->task = (struct task){.executor = executor, .poll = car_poll};
        executor->tasks[executor->count++] = &car->task;
        sim_foreign_spawn(foreign, &car->task, cars[i]);
        task_wake(&car->task);
        (void)sim_loop_new(world, cashiers[i], cashier_main, car);
    }
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(tollbridge, .name = "s20/tollbridge/" FORM, .about = "Cars on an executor wait for barriers.",
        .setup = setup);
