/* Cause: Mixed-up identities: a ticket is used again while its late answer is still to come. desk_main() gives the ticket back after each order (87), also when desk_wait() has timed out (84, 4 ms), so each order has ticket 0. Order: the pit takes longer than 4 ms (49: up to 6 ms); the desk gives up, asks for the next block under the same ticket; the late block of the former order arrives and fits (62). Harm: SIM_ALWAYS line 85 (block.length == length). Fix: line 87 away: each order has a ticket of its own, and late ones are passed over. */
#include <sim/rewake.h>

#define ORDERS 3
#define QUEUE 8u

struct ask {
    uint32_t ticket;
    uint32_t length; /* Of the block, in feet. */
};

struct block {
    uint32_t ticket;
    uint32_t length;
};

struct quarry {
    struct sim_world *world;
    struct sim_fds *desk_fds;
    struct sim_fds *pit_fds;
    int desk_bell;
    int pit_bell;
    struct ask asks[QUEUE];
    uint32_t asked, cut;
    struct block blocks[QUEUE];
    uint32_t laid, taken;
    bool closed;
};

/* Empties the counter of `bell`. */
static void silence(struct sim_fds *fds, int bell)
{
    uint64_t count;
    (void)sim_fd_read(fds, bell, &count, sizeof count);
}

static void pit_main(struct sim_world *world, void *argument)
{
    struct quarry *quarry = argument;
    for (;;) {
        while (quarry->cut == quarry->asked) {
            struct sim_fd_event event;
            if (quarry->closed)
                return;
            (void)sim_fd_wait(quarry->pit_fds, &event, 1, SIM_NEVER);
            silence(quarry->pit_fds, quarry->pit_bell);
        }
        struct ask ask = quarry->asks[quarry->cut++ % QUEUE];
        sim_sleep(world, sim_range(world, 1 * RT_MS, 6 * RT_MS));
        quarry->blocks[quarry->laid++ % QUEUE] = (struct block){ask.ticket, ask.length};
        SIM_ALWAYS(sim_fd_notify(quarry->desk_fds, quarry->desk_bell) == RT_OK);
    }
}

/* Waits for the block of `ticket` until `until`. False: it has not come. */
static bool desk_wait(struct quarry *quarry, uint32_t ticket, uint64_t until, struct block *ret)
{
    for (;;) {
        while (quarry->taken < quarry->laid) {
            *ret = quarry->blocks[quarry->taken++ % QUEUE];
            SIM_PROGRESS();
            if (ret->ticket == ticket)
                return true;
        }
        struct sim_fd_event event;
        uint64_t now = sim_now(quarry->world);
        if (now >= until)
            return false;
        if (sim_fd_wait(quarry->desk_fds, &event, 1, until - now) > 0)
            silence(quarry->desk_fds, quarry->desk_bell);
    }
}

static void desk_main(struct sim_world *world, void *argument)
{
    struct quarry *quarry = argument;
    uint32_t tickets = 0;
    for (uint32_t order = 0; order < ORDERS; order++) {
        uint32_t ticket = tickets++;
        uint32_t length = 10 + order;
        struct block block;
        quarry->asks[quarry->asked++ % QUEUE] = (struct ask){ticket, length};
        SIM_ALWAYS(sim_fd_notify(quarry->pit_fds, quarry->pit_bell) == RT_OK);
        if (desk_wait(quarry, ticket, sim_now(world) + 4 * RT_MS, &block))
            SIM_ALWAYS(block.length == length);
#ifndef FIXED
        tickets--; /* It is free again. */
#endif
    }
    quarry->closed = true;
    SIM_ALWAYS(sim_fd_notify(quarry->pit_fds, quarry->pit_bell) == RT_OK);
}

static void setup(struct sim_world *world)
{
    struct quarry *quarry = sim_new(world, struct quarry);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    quarry->world = world;
    quarry->desk_fds = sim_fds_new(host, 3);
    quarry->pit_fds = sim_fds_new(host, 3);
    SIM_ALWAYS(sim_fd_event_open(quarry->desk_fds, "desk bell", &quarry->desk_bell) == RT_OK);
    SIM_ALWAYS(sim_fd_event_open(quarry->pit_fds, "pit bell", &quarry->pit_bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(quarry->desk_fds, quarry->desk_bell, SIM_FD_IN, 0) == RT_OK);
    SIM_ALWAYS(sim_fd_add(quarry->pit_fds, quarry->pit_bell, SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "desk", desk_main, quarry);
    (void)sim_loop_new(world, "pit", pit_main, quarry);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(quarry_scenario, .name = "s22/quarry/" FORM, .about = "Blocks of stone, by ticket.",
        .setup = setup);
