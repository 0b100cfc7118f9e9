/* Cause: a one-shot registration is armed again before the work is done. worker_main() calls bag_arm() (64) before bag_sort() (65). Order: worker one has got the event, arms (64), and is in the middle of bag_sort() (between 35 and 43, at a read) or before it, while there is still or again something to read: the event is reported to worker two (54), which enters bag_sort() too. Harm: SIM_ALWAYS(workers == 0) at 34 in the second worker. Fix: sort, then arm (60-62). */
#include <string.h>

#include <sim/rewake.h>

#define LETTERS 6

struct bag {
    int fd;
    char read[LETTERS + 1];
    uint32_t count;
    uint32_t workers; /* At this bag now. */
};

struct hall {
    struct sim_fds *fds;
    struct bag bag;
    int far;
    int over;
};

static void
bag_arm(struct hall *hall)
{
    SIM_ALWAYS(sim_fd_modify(hall->fds, hall->bag.fd, SIM_FD_IN | SIM_FD_ONESHOT, 1) == RT_OK);
}

/* Sorts what is in the bag now; true: all letters have come. */
static bool
bag_sort(struct hall *hall)
{
    struct bag *bag = &hall->bag;
    char letter;
    SIM_ALWAYS(bag->workers == 0); /* A bag has one worker at a time. */
    bag->workers++;
    while (bag->count < LETTERS) {
        int64_t got = sim_fd_read(hall->fds, bag->fd, &letter, 1);
        if (got != 1) {
            break;
        }
        bag->read[bag->count++] = letter;
    }
    bag->workers--;
    return bag->count == LETTERS;
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct hall *hall = argument;
    (void)world;
    for (;;) {
        struct sim_fd_event event;
        if (sim_fd_wait(hall->fds, &event, 1, SIM_NEVER) != 1) {
            continue;
        }
        if (event.data == 0) {
            return; /* `over` stays readable: the other one sees it, too. */
        }
#ifdef FIXED
        bool all = bag_sort(hall);
        bag_arm(hall);
#else
        bag_arm(hall); /* Early, so that no letter is missed meanwhile. */
        bool all = bag_sort(hall);
#endif
        if (all) {
            SIM_ALWAYS(sim_fd_notify(hall->fds, hall->over) == RT_OK);
            return;
        }
    }
}

static void
post_main(struct sim_world *world, void *argument)
{
    struct hall *hall = argument;
    for (uint32_t i = 0; i < LETTERS; i++) {
        char letter = (char)('a' + i);
        SIM_ALWAYS(sim_fd_write(hall->fds, hall->far, &letter, 1) == 1);
        if (i % 2 == 1) {
            sim_sleep(world, sim_range(world, 1 * RT_US, 1 * RT_MS));
        }
    }
}

static void
setup(struct sim_world *world)
{
    struct hall *hall = sim_new(world, struct hall);
    int pair[2];
    hall->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_pair(hall->fds, "bag", 1 * RT_US, 300 * RT_US, pair) == RT_OK);
    hall->bag.fd = pair[0];
    hall->far = pair[1];
    SIM_ALWAYS(sim_fd_event_open(hall->fds, "over", &hall->over) == RT_OK);
    SIM_ALWAYS(sim_fd_add(hall->fds, hall->over, SIM_FD_IN, 0) == RT_OK);
    SIM_ALWAYS(sim_fd_add(hall->fds, pair[0], SIM_FD_IN | SIM_FD_ONESHOT, 1) == RT_OK);
    (void)sim_loop_new(world, "worker one", worker_main, hall);
    (void)sim_loop_new(world, "worker two", worker_main, hall);
    (void)sim_loop_new(world, "post", post_main, hall);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(sorter, .name = "s23/sorter/" FORM, .about = "Two workers sort one bag.",
        .setup = setup);
