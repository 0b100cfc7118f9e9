/* A kitchen: cooks ring an eventfd only for the first plate; the waiter's loop closes what it has read. */
#include <sim/rewake.h>

#define COOKS 2u
#define PLATES 4u /* Of each cook. */

struct kitchen {
    struct sim_fds *fds;
    int bell;
    bool rung; /* There is a ring that the waiter has not answered. */
    uint32_t plates;
    uint32_t carried;
    int stove[2]; /* A pair, which is closed while the loop has an event of it. */
    bool stove_open;
};

static void
waiter_main(struct sim_world *world, void *argument)
{
    struct kitchen *kitchen = argument;
    (void)world;
    while (kitchen->carried < COOKS * PLATES || kitchen->stove_open) {
        struct sim_fd_event events[2];
        uint32_t count = sim_fd_wait(kitchen->fds, events, 2, SIM_NEVER);
        for (uint32_t i = 0; i < count; i++) {
            if (events[i].data == 1) {
                uint64_t rings;
                /* Drained, then the flag, then the plates: each later one rings again. */
                (void)sim_fd_read(kitchen->fds, kitchen->bell, &rings, sizeof rings);
                kitchen->rung = false;
                while (kitchen->plates > 0) {
                    kitchen->plates--;
                    kitchen->carried++;
                    SIM_PROGRESS();
                    sim_loop_pause(world);
                }
            } else if (kitchen->stove_open) {
                char bytes[16];
                int64_t got = sim_fd_read(kitchen->fds, kitchen->stove[0], bytes, sizeof bytes);
                if (got == 0) {
                    kitchen->stove_open = false;
                    SIM_ALWAYS(sim_fd_close(kitchen->fds, kitchen->stove[0]) == RT_OK);
                }
            }
        }
    }
}

static void
cook_main(struct sim_world *world, void *argument)
{
    struct kitchen *kitchen = argument;
    for (uint32_t i = 0; i < PLATES; i++) {
        sim_sleep(world, sim_range(world, 1 * RT_US, 2 * RT_MS));
        kitchen->plates++;
        if (!kitchen->rung) {
            kitchen->rung = true;
            SIM_ALWAYS(sim_fd_notify(kitchen->fds, kitchen->bell) == RT_OK);
        }
    }
}

static void
stoker_main(struct sim_world *world, void *argument)
{
    struct kitchen *kitchen = argument;
    for (uint32_t i = 0; i < 3; i++) {
        sim_sleep(world, sim_range(world, 1 * RT_US, 2 * RT_MS));
        (void)sim_fd_write(kitchen->fds, kitchen->stove[1], "hot", 3);
    }
    SIM_ALWAYS(sim_fd_close(kitchen->fds, kitchen->stove[1]) == RT_OK);
}

static void
setup(struct sim_world *world)
{
    struct kitchen *kitchen = sim_new(world, struct kitchen);
    kitchen->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    kitchen->stove_open = true;
    SIM_ALWAYS(sim_fd_event_open(kitchen->fds, "bell", &kitchen->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_pair(kitchen->fds, "stove", 1 * RT_US, 200 * RT_US, kitchen->stove) == RT_OK);
    SIM_ALWAYS(sim_fd_add(kitchen->fds, kitchen->bell, SIM_FD_IN, 1) == RT_OK);
    SIM_ALWAYS(sim_fd_add(kitchen->fds, kitchen->stove[0], SIM_FD_IN, 2) == RT_OK);
    (void)sim_loop_new(world, "waiter", waiter_main, kitchen);
    (void)sim_loop_new(world, "cook one", cook_main, kitchen);
    (void)sim_loop_new(world, "cook two", cook_main, kitchen);
    (void)sim_loop_new(world, "stoker", stoker_main, kitchen);
}

SIM_SCENARIO(kitchen, .name = "kitchen/ok", .about = "Cooks ring for the first plate.",
        .setup = setup);
