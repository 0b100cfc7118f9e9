/* Lantern makers: a loop that is rung only when it sleeps, and by one of its makers alone. */
#include <sim/rewake.h>

#define MAKERS 2
#define LANTERNS 3
#define SHELF 8u

struct shop {
    struct sim_world *world;
    struct sim_fds *fds;
    int bell;
    bool asleep;
    uint32_t shelf[SHELF];
    uint32_t made;
    uint32_t sold;
    uint32_t next[MAKERS];
};

struct maker {
    struct shop *shop;
    uint32_t number;
};

static void shop_sell(struct shop *shop)
{
    while (shop->sold < shop->made) {
        uint32_t lantern = shop->shelf[shop->sold++ % SHELF];
        SIM_ALWAYS(lantern % 100 == shop->next[lantern / 100]);
        shop->next[lantern / 100]++;
        SIM_PROGRESS();
        sim_loop_pause(shop->world); /* Wraps it up: makers go on. */
    }
}

static void shop_main(struct sim_world *world, void *argument)
{
    struct shop *shop = argument;
    (void)world;
    while (shop->sold < MAKERS * LANTERNS) {
        shop_sell(shop);
        shop->asleep = true;
        sim_loop_pause(shop->world);
        if (shop->sold < shop->made || shop->sold == MAKERS * LANTERNS) {
            /* One has come, whose maker may be about to ring: then the next sleep is a short one. */
            shop->asleep = false;
            continue;
        }
        struct sim_fd_event event;
        uint64_t rings;
        if (sim_fd_wait(shop->fds, &event, 1, SIM_NEVER) == 1)
            (void)sim_fd_read(shop->fds, shop->bell, &rings, sizeof rings);
        shop->asleep = false;
    }
}

static void maker_main(struct sim_world *world, void *argument)
{
    struct maker *maker = argument;
    struct shop *shop = maker->shop;
    for (uint32_t i = 0; i < LANTERNS; i++) {
        sim_sleep(world, sim_range(world, 500 * RT_US, 2 * RT_MS));
        shop->shelf[shop->made++ % SHELF] = maker->number * 100 + i;
        sim_loop_pause(world);
        bool rings = shop->asleep;
        shop->asleep = false;
        if (rings) /* Others see that somebody rings, even if he has not yet. */
            SIM_ALWAYS(sim_fd_notify(shop->fds, shop->bell) == RT_OK);
    }
}

static void setup(struct sim_world *world)
{
    static const char *const names[MAKERS] = {"tinsmith", "glazier"};
    struct shop *shop = sim_new(world, struct shop);
    shop->world = world;
    shop->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_event_open(shop->fds, "bell", &shop->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(shop->fds, shop->bell, SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "shop", shop_main, shop);
    for (uint32_t i = 0; i < MAKERS; i++) {
        struct maker *maker = sim_new(world, struct maker);
        maker->shop = shop;
        maker->number = i;
        (void)sim_loop_new(world, names[i], maker_main, maker);
    }
}

SIM_SCENARIO(lantern_scenario, .name = "lantern/fixed", .about = "Rung only when it sleeps.",
        .setup = setup);
