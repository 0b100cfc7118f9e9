/* Cause: Wrong order of two operations: the hang-up is handled before the bytes are read. on_event() (51-56): on SIM_FD_HUP it closes the barge at once, though the same event has SIM_FD_IN, with bytes that were not read. Order: the last bytes arrive and the barge closes its end (95) before the office's loop fetches the event (the office is slow, or the last bytes are late): one event IN|HUP. Harm: SIM_ALWAYS line 31 in barge_close() (received == 120). Fix: lines 57-64: read first, then close at the end of the bytes. */
#include <sim/rewake.h>

#define BARGES 2
#define LISTS 3
#define LIST_SIZE 40u

struct barge {
    struct office *office;
    const char *name;
    int near;
    int far;
    uint32_t received;
    bool open;
};

struct office {
    struct sim_world *world;
    struct sim_fds *fds;
    struct barge barges[BARGES];
    uint32_t open;
};

static void barge_close(struct barge *barge)
{
    struct office *office = barge->office;
    SIM_ALWAYS(sim_fd_remove(office->fds, barge->near) == RT_OK);
    SIM_ALWAYS(sim_fd_close(office->fds, barge->near) == RT_OK);
    barge->open = false;
    office->open--;
    SIM_ALWAYS(barge->received == LISTS * LIST_SIZE);
}

/* Reads what there is. False: the barge has hung up. */
static bool barge_read(struct barge *barge)
{
    char part[16];
    for (;;) {
        int64_t n = sim_fd_read(barge->office->fds, barge->near, part, sizeof part);
        if (n == RT_E_AGAIN)
            return true;
        if (n <= 0)
            return false;
        barge->received += (uint32_t)n;
        SIM_PROGRESS();
    }
}

static void on_event(struct barge *barge, uint32_t events)
{
#ifndef FIXED
    if (events & (SIM_FD_HUP | SIM_FD_ERR)) {
        barge_close(barge);
        return;
    }
#endif
    if ((events & SIM_FD_IN) && !barge_read(barge)) {
        barge_close(barge);
        return;
    }
#ifdef FIXED
    if ((events & (SIM_FD_HUP | SIM_FD_ERR)) && !barge_read(barge))
        barge_close(barge);
#endif
}

static void office_main(struct sim_world *world, void *argument)
{
    struct office *office = argument;
    (void)world;
    while (office->open > 0) {
        struct sim_fd_event events[BARGES];
        uint32_t count = sim_fd_wait(office->fds, events, BARGES, SIM_NEVER);
        for (uint32_t i = 0; i < count; i++) {
            struct barge *barge = &office->barges[events[i].data];
            if (barge->open)
                on_event(barge, events[i].events);
        }
    }
}

static void barge_main(struct sim_world *world, void *argument)
{
    struct barge *barge = argument;
    struct office *office = barge->office;
    char list[LIST_SIZE] = "oak, coal, salt";
    for (uint32_t i = 0; i < LISTS; i++) {
        for (uint32_t sent = 0; sent < LIST_SIZE;) {
            int64_t n = sim_fd_write(office->fds, barge->far, list + sent, LIST_SIZE - sent);
            SIM_ALWAYS(n > 0);
            sent += (uint32_t)n;
        }
        sim_sleep(world, sim_range(world, 2 * RT_MS, 4 * RT_MS));
    }
    SIM_ALWAYS(sim_fd_close(office->fds, barge->far) == RT_OK);
}

static void setup(struct sim_world *world)
{
    static const char *const names[BARGES] = {"marie", "otter"};
    struct office *office = sim_new(world, struct office);
    office->world = world;
    office->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    office->open = BARGES;
    for (uint32_t i = 0; i < BARGES; i++) {
        struct barge *barge = &office->barges[i];
        int pair[2];
        SIM_ALWAYS(sim_fd_pair(office->fds, names[i], 10 * RT_US, 1 * RT_MS, pair) == RT_OK);
        *barge = (struct barge){office, names[i], pair[0], pair[1], 0, true};
        SIM_ALWAYS(sim_fd_add(office->fds, barge->near, SIM_FD_IN, i) == RT_OK);
        (void)sim_loop_new(world, names[i], barge_main, barge);
    }
    (void)sim_loop_new(world, "office", office_main, office);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(canal_scenario, .name = "s22/canal/" FORM, .about = "Cargo lists, then the end.",
        .setup = setup);
