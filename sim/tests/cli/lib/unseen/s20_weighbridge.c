/* Cause: convoy_begin(), line 78-83: missing is raised one by one, and weight_of may call back at once (47). Order: the second convoy begins when the archive's answer for plate 1 is there already (asked by the first one): its first callback lowers missing from 1 to 0 (67) and announces the convoy before its second truck was asked for. Harm: SIM_ALWAYS 57. Fix: missing is set to the whole number first (76). */
#include <sim/rewake.h>

#define CONVOYS 2
#define TRUCKS 2
#define PLATES 4

typedef void (*weight_fn)(void *argument, uint32_t weight);

struct query {
    uint32_t plate, weight;
    weight_fn done;
    void *argument;
};

struct convoy {
    uint32_t plates[TRUCKS];
    uint32_t missing; /* Weights that are not known yet. */
    uint32_t weighed, total;
    bool announced;
};

struct bridge {
    struct sim_fds *fds; /* Of the loop. */
    int bell;            /* A convoy has come, or an answer. */
    struct sim_fds *archive_fds;
    int archive_bell;
    struct query queries[8];
    uint32_t asked, answered, called;
    uint32_t known[PLATES]; /* 0: not known. */
    struct convoy convoys[CONVOYS];
    uint32_t arrived, begun;
};

static void
query_put(struct bridge *bridge, struct query query)
{
    bridge->queries[bridge->asked++] = query;
    SIM_ALWAYS(sim_fd_notify(bridge->archive_fds, bridge->archive_bell) == RT_OK);
}

/* Calls `done` with the weight, at once where it is known. */
static void
weight_of(struct bridge *bridge, uint32_t plate, weight_fn done, void *argument)
{
    if (bridge->known[plate] != 0) {
        done(argument, bridge->known[plate]);
    } else {
        query_put(bridge, (struct query){plate, 0, done, argument});
    }
}

static void
convoy_announce(struct convoy *convoy)
{
    SIM_ALWAYS(!convoy->announced);
    SIM_ALWAYS(convoy->weighed == TRUCKS);
    convoy->announced = true;
}

static void
convoy_weight(void *argument, uint32_t weight)
{
    struct convoy *convoy = argument;
    convoy->weighed++;
    convoy->total += weight;
    if (--convoy->missing == 0) {
        convoy_announce(convoy);
    }
}

static void
convoy_begin(struct bridge *bridge, struct convoy *convoy)
{
#ifdef FIXED
    convoy->missing = TRUCKS;
#endif
    for (uint32_t i = 0; i < TRUCKS; i++) {
#ifndef FIXED
        convoy->missing++;
#endif
        weight_of(bridge, convoy->plates[i], convoy_weight, convoy);
    }
}

static void
bell_wait(struct sim_fds *fds, int bell)
{
    struct sim_fd_event event;
    uint64_t rings;
    (void)sim_fd_wait(fds, &event, 1, SIM_NEVER);
    (void)sim_fd_read(fds, bell, &rings, sizeof rings);
}

static void
bridge_main(struct sim_world *world, void *argument)
{
    struct bridge *bridge = argument;
    while (!bridge->convoys[0].announced || !bridge->convoys[1].announced) {
        bell_wait(bridge->fds, bridge->bell);
        while (bridge->called < bridge->answered) {
            struct query *query = &bridge->queries[bridge->called++];
            bridge->known[query->plate] = query->weight;
            query->done(query->argument, query->weight);
        }
        while (bridge->begun < bridge->arrived) {
            convoy_begin(bridge, &bridge->convoys[bridge->begun++]);
        }
    }
    sim_log(world, "%u queries", bridge->asked);
    query_put(bridge, (struct query){.plate = PLATES});
}

static void
archive_main(struct sim_world *world, void *argument)
{
    struct bridge *bridge = argument;
    for (;;) {
        bell_wait(bridge->archive_fds, bridge->archive_bell);
        while (bridge->answered < bridge->asked) {
            struct query *query = &bridge->queries[bridge->answered];
            if (query->plate == PLATES) {
                return;
            }
            sim_sleep(world, 2 * RT_MS);
            query->weight = 1000 * (query->plate + 1);
            bridge->answered++;
            SIM_ALWAYS(sim_fd_notify(bridge->fds, bridge->bell) == RT_OK);
        }
    }
}

static void
road_main(struct sim_world *world, void *argument)
{
    struct bridge *bridge = argument;
    while (bridge->arrived < CONVOYS) {
        sim_sleep(world, sim_range(world, RT_MS / 2, 3 * RT_MS));
        bridge->arrived++;
        SIM_ALWAYS(sim_fd_notify(bridge->fds, bridge->bell) == RT_OK);
    }
}

static int
bell_open(struct sim_fds *fds, const char *name)
{
    int bell;
    SIM_ALWAYS(sim_fd_event_open(fds, name, &bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(fds, bell, SIM_FD_IN, 0) == RT_OK);
    return bell;
}

static void
setup(struct sim_world *world)
{
    struct bridge *bridge = sim_new(world, struct bridge);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    bridge->fds = sim_fds_new(host, 3);
    bridge->archive_fds = sim_fds_new(host, 3);
    bridge->bell = bell_open(bridge->fds, "bell");
    bridge->archive_bell = bell_open(bridge->archive_fds, "archive");
    bridge->convoys[0] = (struct convoy){.plates = {0, 1}};
    bridge->convoys[1] = (struct convoy){.plates = {1, 2}};
    (void)sim_loop_new(world, "bridge", bridge_main, bridge);
    (void)sim_loop_new(world, "archive", archive_main, bridge);
    (void)sim_loop_new(world, "road", road_main, bridge);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(weighbridge, .name = "s20/weighbridge/" FORM, .about = "Convoys wait for the weights of their trucks.",
        .setup = setup);
