/* Cause: cook_next(), line 96: a cook who finds an order at the second look leaves with it and stays in the list of idle cooks; the bell for the next order then rings for this one, who is busy and waits for just that order, while the other cook sleeps; repair: leave the list of idle cooks before the order is taken. */
/*
 * A kitchen: two cooks (threads) take orders from a board. A cook without an order enters a list
 * of idle cooks, and waits for the bell at his place. A steak cannot be served without its sauce,
 * which is an order of its own.
 */
#include <sim/rewake.h>

#define COOKS 2
#define ORDERS 4

enum order { NO_ORDER, STEAK, SAUCE, CLOSE };

struct cook {
    struct kitchen *kitchen;
    struct sim_fds *fds; /* His place. */
    int bell;
};

struct kitchen {
    struct cook cooks[COOKS];
    struct cook *idle[COOKS * ORDERS]; /* The one who came first is called first. */
    uint32_t idle_count;
    enum order board[COOKS * ORDERS];
    uint32_t board_count;
    struct cook *steak; /* Who waits for the sauce. */
    bool sauce_ready;
    bool fixed;
};

static enum order
board_take(struct kitchen *kitchen)
{
    if (kitchen->board_count == 0) {
        return NO_ORDER;
    }
    enum order order = kitchen->board[0];
    kitchen->board_count--;
    SIM_PROGRESS();
    for (uint32_t i = 0; i < kitchen->board_count; i++) {
        kitchen->board[i] = kitchen->board[i + 1];
    }
    return order;
}

static void
idle_remove(struct kitchen *kitchen, const struct cook *cook)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < kitchen->idle_count; i++) {
        if (kitchen->idle[i] != cook) {
            kitchen->idle[kept++] = kitchen->idle[i];
        }
    }
    kitchen->idle_count = kept;
}

static void
kitchen_order(struct kitchen *kitchen, enum order order)
{
    kitchen->board[kitchen->board_count++] = order;
    if (kitchen->idle_count > 0) {
        struct cook *cook = kitchen->idle[0];
        idle_remove(kitchen, cook);
        SIM_ALWAYS(sim_fd_notify(cook->fds, cook->bell) == RT_OK);
    }
}

/* Waits until something happens at this cook's place. */
static void
cook_wait(struct cook *cook)
{
    struct sim_fd_event event;
    uint64_t rung;
    (void)sim_fd_wait(cook->fds, &event, 1, SIM_NEVER);
    (void)sim_fd_read(cook->fds, cook->bell, &rung, sizeof(rung));
}

static enum order
cook_next(struct sim_world *world, struct cook *cook)
{
    struct kitchen *kitchen = cook->kitchen;
    for (;;) {
        enum order order = board_take(kitchen);
        if (order != NO_ORDER) {
            return order;
        }
        sim_loop_pause(world);
        kitchen->idle[kitchen->idle_count++] = cook;
        sim_loop_pause(world);
        order = board_take(kitchen); /* Meanwhile? */
        if (order != NO_ORDER) {
            if (kitchen->fixed) {
                idle_remove(kitchen, cook);
            }
            return order;
        }
        cook_wait(cook);
        idle_remove(kitchen, cook);
    }
}

static void
cook_main(struct sim_world *world, void *argument)
{
    struct cook *cook = argument;
    struct kitchen *kitchen = cook->kitchen;
    for (;;) {
        switch (cook_next(world, cook)) {
        case STEAK:
            kitchen->steak = cook;
            while (!kitchen->sauce_ready) {
                cook_wait(cook);
            }
            break;
        case SAUCE:
            sim_sleep(world, RT_MS / 2);
            kitchen->sauce_ready = true;
            if (kitchen->steak != NULL) {
                SIM_ALWAYS(sim_fd_notify(kitchen->steak->fds, kitchen->steak->bell) == RT_OK);
            }
            break;
        default:
            return;
        }
    }
}

static void
waiter_main(struct sim_world *world, void *argument)
{
    struct kitchen *kitchen = argument;
    sim_sleep(world, sim_range(world, 0, RT_MS));
    kitchen_order(kitchen, STEAK);
    sim_sleep(world, sim_range(world, 100, RT_MS));
    kitchen_order(kitchen, SAUCE);
    sim_sleep(world, 5 * RT_MS);
    for (uint32_t i = 0; i < COOKS; i++) {
        kitchen_order(kitchen, CLOSE);
    }
}

static void
set_up(struct sim_world *world, bool fixed)
{
    static const char *const names[COOKS] = {"Anna", "Bruno"};
    struct kitchen *kitchen = sim_new(world, struct kitchen);
    kitchen->fixed = fixed;
    for (uint32_t i = 0; i < COOKS; i++) {
        struct cook *cook = &kitchen->cooks[i];
        cook->kitchen = kitchen;
        cook->fds = sim_fds_new(sim_host_new(world, names[i], SIM_PROFILE_FD), 3);
        SIM_ALWAYS(sim_fd_event_open(cook->fds, "a bell", &cook->bell) == RT_OK);
        SIM_ALWAYS(sim_fd_add(cook->fds, cook->bell, SIM_FD_IN, 0) == RT_OK);
        (void)sim_loop_new(world, names[i], cook_main, cook);
    }
    (void)sim_loop_new(world, "waiter", waiter_main, kitchen);
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s17/kitchen/broken", .about = "The first form.", .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s17/kitchen/fixed", .about = "The repaired form.", .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */
