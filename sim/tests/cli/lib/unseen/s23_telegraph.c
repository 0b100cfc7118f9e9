/* Cause: the "queued" flag is cleared after the poll instead of before. clerk_run() clears queued at 61-63, after sim_foreign_polled (60). Order: a clerk has emptied its inbox, stored its waker (57-58), and the poll has ended (60), where the wire thread runs: it adds a telegram to the inbox and calls clerk_wake(): the waker is fired (31-34), but queued is still true, so nothing is put into the run queue and the bell is not rung (35); then the executor clears queued (62) and sleeps. Harm: lost wake-up: the clerk is not polled again for this telegram (it stays unless a later telegram for this clerk wakes it: forever if it was its last one; the office waits in sim_fd_wait, 103). Fix: clear it before the poll (46-48). */
#include <sim/rewake.h>

#define CLERKS 2
#define TELEGRAMS 3

struct office;

struct clerk {
    struct office *office;
    const char *name;
    bool queued; /* In the run queue. */
    bool waits;  /* Its waker is stored. */
    bool finished;
    uint32_t inbox;
    uint32_t sent;
};

struct office {
    struct sim_fds *fds;
    int bell;
    struct clerk clerks[CLERKS];
    struct clerk *run[CLERKS];
    uint32_t run_count;
};

static void
clerk_wake(struct clerk *clerk)
{
    struct office *office = clerk->office;
    if (clerk->waits) {
        sim_foreign_fire(&clerk->waits);
        clerk->waits = false;
    }
    if (!clerk->queued) {
        clerk->queued = true;
        office->run[office->run_count++] = clerk;
        SIM_ALWAYS(sim_fd_notify(office->fds, office->bell) == RT_OK);
    }
}

/* One poll: takes what is in the inbox, and keys it in. */
static void
clerk_run(struct clerk *clerk)
{
#ifdef FIXED
    clerk->queued = false;
#endif
    sim_foreign_poll(clerk);
    while (clerk->inbox > 0) {
        clerk->inbox--;
        clerk->sent++;
        SIM_PROGRESS();
    }
    clerk->finished = clerk->sent == TELEGRAMS;
    if (!clerk->finished) {
        clerk->waits = true;
        sim_foreign_store(clerk, &clerk->waits, "a telegram");
    }
    sim_foreign_polled(clerk, clerk->finished);
#ifndef FIXED
    clerk->queued = false;
#endif
}

static void
office_again(void *runtime, void *task)
{
    (void)runtime;
    struct clerk *clerk = task;
    if (!clerk->finished) {
        clerk_run(clerk);
    }
}

static void
office_main(struct sim_world *world, void *argument)
{
    struct office *office = argument;
    (void)world;
    for (;;) {
        bool over = true;
        while (office->run_count > 0) {
            struct clerk *clerk = office->run[0];
            office->run_count--;
            for (uint32_t i = 0; i < office->run_count; i++) {
                office->run[i] = office->run[i + 1];
            }
            if (clerk->finished) {
                clerk->queued = false;
            } else {
                clerk_run(clerk);
            }
        }
        for (uint32_t i = 0; i < CLERKS; i++) {
            over = over && office->clerks[i].finished;
        }
        if (over) {
            return;
        }
        struct sim_fd_event event;
        uint64_t count;
        if (sim_fd_wait(office->fds, &event, 1, SIM_NEVER) == 1) {
            (void)sim_fd_read(office->fds, office->bell, &count, sizeof count);
        }
    }
}

static void
wire_main(struct sim_world *world, void *argument)
{
    struct office *office = argument;
    for (uint32_t i = 0; i < TELEGRAMS * CLERKS; i++) {
        struct clerk *clerk = &office->clerks[i % CLERKS];
        sim_sleep(world, sim_range(world, 100, 2000));
        clerk->inbox++;
        clerk_wake(clerk);
    }
}

static void
setup(struct sim_world *world)
{
    static const char *const names[CLERKS] = {"ada", "bruno"};
    struct office *office = sim_new(world, struct office);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    office->fds = sim_fds_new(host, 3);
    SIM_ALWAYS(sim_fd_event_open(office->fds, "bell", &office->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(office->fds, office->bell, SIM_FD_IN, 0) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "office", office_main, office);
    struct sim_foreign *foreign = sim_foreign_new(loop, office_again, office);
    for (uint32_t i = 0; i < CLERKS; i++) {
        struct clerk *clerk = &office->clerks[i];
        clerk->office = office;
        clerk->name = names[i];
        clerk->queued = true;
        office->run[office->run_count++] = clerk;
        sim_foreign_spawn(foreign, clerk, names[i]);
    }
    (void)sim_loop_new(world, "wire", wire_main, office);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(telegraph, .name = "s23/telegraph/" FORM, .about = "Clerks on an executor.",
        .setup = setup);
