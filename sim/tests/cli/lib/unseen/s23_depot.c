/* Cause: a stale event of a fetched batch is applied to a new descriptor of the same number. depot_main() fetches up to four events (78) and finds the watch by the number alone (80, 86). Order: both trams' "x" are readable in one batch; the callback for the first one closes the other's descriptor (63-65, tram_leaves) and a new tram arrives (66), whose descriptor has the same, lowest free number; the second event of the batch is then delivered to the new tram (86-87), which has sent nothing yet. Harm: SIM_ALWAYS(got == 1) at 57 fails (RT_E_AGAIN). Fix: compare the generation that the registration carries (81-85). */
#include <sim/rewake.h>

#define TRAMS 2
#define FDS 16

struct depot;

struct watch {
    int fd; /* 0: free. */
    uint32_t line;
    uint32_t generation;
    uint32_t messages;
};

struct depot {
    struct sim_world *world;
    struct sim_fds *fds;
    struct watch watches[FDS];
    int far[4];
    uint32_t next_line;
    uint32_t replaced;
    bool over;
    int first[TRAMS];
};

static int
tram_arrives(struct depot *depot)
{
    int pair[2];
    SIM_ALWAYS(sim_fd_pair(depot->fds, "tram", 1 * RT_US, 400 * RT_US, pair) == RT_OK);
    struct watch *watch = &depot->watches[pair[0]];
    watch->fd = pair[0];
    watch->line = depot->next_line;
    watch->messages = 0;
    watch->generation++;
    depot->far[depot->next_line++] = pair[1];
    SIM_ALWAYS(sim_fd_add(depot->fds, pair[0], SIM_FD_IN,
                       (uint64_t)watch->generation << 32 | (uint32_t)pair[0]) == RT_OK);
    return pair[0];
}

static void
tram_leaves(struct depot *depot, int fd)
{
    depot->watches[fd].fd = 0;
    SIM_ALWAYS(sim_fd_close(depot->fds, fd) == RT_OK);
}

/* Callback: there is a message of the tram at `fd`. */
static void
on_message(struct depot *depot, int fd)
{
    struct watch *watch = &depot->watches[fd];
    char message = 0;
    int64_t got = sim_fd_read(depot->fds, fd, &message, 1);
    SIM_ALWAYS(got == 1); /* It was reported. */
    watch->messages++;
    if (message == 'n') {
        depot->over = true;
    } else if (depot->replaced == 0) {
        /* Its coupled tram is defective: it goes home, and another one comes in its place. */
        int other = depot->first[watch->line == 0 ? 1 : 0];
        depot->replaced = 1;
        tram_leaves(depot, other);
        (void)tram_arrives(depot);
        SIM_ALWAYS(sim_fd_write(depot->fds, depot->far[2], "n", 1) == 1);
    }
}

static void
depot_main(struct sim_world *world, void *argument)
{
    struct depot *depot = argument;
    (void)world;
    while (!depot->over) {
        struct sim_fd_event events[4];
        uint32_t count = sim_fd_wait(depot->fds, events, 4, SIM_NEVER);
        for (uint32_t i = 0; i < count; i++) {
            int fd = (int)(uint32_t)events[i].data;
#ifdef FIXED
            if (depot->watches[fd].generation != events[i].data >> 32) {
                continue;
            }
#endif
            if (depot->watches[fd].fd != 0) {
                on_message(depot, fd);
            }
        }
    }
}

static void
drivers_main(struct sim_world *world, void *argument)
{
    struct depot *depot = argument;
    int far[TRAMS] = {depot->far[0], depot->far[1]};
    uint32_t order = sim_pick(world, 2);
    SIM_ALWAYS(sim_fd_write(depot->fds, far[order], "x", 1) == 1);
    sim_sleep(world, sim_range(world, 100 * RT_US, 1 * RT_MS));
    /* The other one says the same, unless it is home by now. */
    (void)sim_fd_write(depot->fds, far[1 - order], "x", 1);
}

static void
setup(struct sim_world *world)
{
    struct depot *depot = sim_new(world, struct depot);
    depot->world = world;
    depot->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    for (uint32_t i = 0; i < TRAMS; i++) {
        depot->first[i] = tram_arrives(depot);
    }
    (void)sim_loop_new(world, "depot", depot_main, depot);
    (void)sim_loop_new(world, "drivers", drivers_main, depot);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(depot, .name = "s23/depot/" FORM, .about = "Trams report to a loop.", .setup = setup);
