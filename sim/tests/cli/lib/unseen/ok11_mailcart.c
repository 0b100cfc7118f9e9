/*
 * ok11_mailcart.c -- an executor that delivers wakes once a round: a fired waker goes into a cart,
 * which is emptied when all woken tasks have been polled. Wakers that are out of date stay in it.
 *
 * Cause: none, it is correct: the executor never sleeps with something in the cart, and a wake for a task that has ended or moved on is harmless
 */
#include <sim/rewake.h>

#define DESKS 3
#define LETTERS 3u

struct desk {
    const char *name;
    struct house *house;
    struct desk *to;
    uint32_t tray[LETTERS * DESKS], head, tail;
    uint32_t seen, sent;
    bool waits[2];    /* Two places for its waker, used in turn. */
    uint32_t turn;
    bool woken, finished;
};

struct house {
    struct rt_host *host;
    struct rt_pollable bell, post;
    struct sim_source *outside;
    struct desk desks[DESKS];
    struct desk *cart[4 * LETTERS * DESKS];
    uint32_t in_cart;
    uint32_t open;
};

static void
desk_wait(struct desk *desk, const char *what)
{
    desk->turn++;
    desk->waits[desk->turn % 2] = true;
    sim_foreign_store(desk, &desk->waits[desk->turn % 2], what);
}

static void
desk_fire(struct desk *desk)
{
    for (uint32_t i = 0; i < 2; i++) {
        if (desk->waits[i]) {
            desk->waits[i] = false;
            sim_foreign_fire(&desk->waits[i]);
            desk->house->cart[desk->house->in_cart++] = desk;
        }
    }
}

static void
desk_put(struct desk *desk, uint32_t letter)
{
    desk->tray[desk->tail++] = letter;
    desk_fire(desk);
}

/* Each letter goes around once: the first desk gets them from outside, the last one keeps them. */
static void
desk_poll(struct desk *desk)
{
    struct house *house = desk->house;
    desk->woken = false;
    sim_foreign_poll(desk);
    if (desk == house->desks) {
        while (desk->tail < LETTERS && sim_source_take(house->outside) == RT_OK) {
            desk->tray[desk->tail] = desk->tail;
            desk->tail++;
        }
    }
    while (desk->head != desk->tail) {
        uint32_t letter = desk->tray[desk->head++];
        desk->seen++;
        SIM_PROGRESS();
        if (desk->to != NULL) {
            desk_put(desk->to, letter);
            desk->sent++;
        }
    }
    desk->finished = desk->seen == LETTERS;
    if (desk->finished) {
        for (uint32_t i = 0; i < 2; i++) {
            if (desk->waits[i]) {
                desk->waits[i] = false;
                sim_foreign_erase(&desk->waits[i]);
            }
        }
        house->open--;
    } else {
        desk_wait(desk, "a letter");
    }
    sim_foreign_polled(desk, desk->finished);
}

static void
house_deliver(struct house *house)
{
    for (uint32_t i = 0; i < house->in_cart; i++) {
        house->cart[i]->woken = !house->cart[i]->finished;
    }
    house->in_cart = 0;
}

static bool
house_round(struct house *house)
{
    bool any = false;
    for (uint32_t i = DESKS; i-- > 0;) {
        if (house->desks[i].woken) {
            desk_poll(&house->desks[i]);
            any = true;
        }
    }
    house_deliver(house);
    return any;
}

static void
house_main(struct sim_world *world, void *argument)
{
    struct house *house = argument;
    struct rt_pollable *list[] = {&house->bell, &house->post};
    (void)world;
    for (;;) {
        uint32_t ready[2], count;
        while (house_round(house)) {
        }
        if (house->open == 0) {
            break;
        }
        SIM_ALWAYS(rt_host_poll(house->host, list, house->desks[0].finished ? 1 : 2, ready, &count) == RT_OK);
        desk_fire(&house->desks[0]);
        house_deliver(house);
    }
    rt_pollable_drop(&house->bell);
    rt_pollable_drop(&house->post);
}

/* The oracle's question. */
static void
house_again(void *house, void *desk)
{
    (void)house;
    desk_poll(desk);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[DESKS] = {"door", "office", "archive"};
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct house *house = sim_new(world, struct house);
    struct sim_loop *loop = sim_loop_new(world, "house", house_main, house);
    struct sim_foreign *foreign = sim_foreign_new(loop, house_again, house);
    house->host = sim_host_seam(host);
    house->outside = sim_source_new(host, "post");
    house->open = DESKS;
    SIM_ALWAYS(rt_host_subscribe(house->host, RT_SUBSCRIBE_NOTIFY, 0, &house->bell) == RT_OK);
    SIM_ALWAYS(sim_source_subscribe(house->outside, &house->post) == RT_OK);
    for (uint32_t i = 0; i < LETTERS; i++) {
        sim_source_event_in(house->outside, (i + 1) * RT_MS, (i + 3) * RT_MS);
    }
    for (uint32_t i = 0; i < DESKS; i++) {
        struct desk *desk = &house->desks[i];
        *desk = (struct desk){.name = names[i], .house = house, .woken = true};
        desk->to = i + 1 < DESKS ? &house->desks[i + 1] : NULL;
        sim_foreign_spawn(foreign, desk, names[i]);
    }
}

SIM_SCENARIO(mailcart, .name = "ok11_mailcart", .about = "Wakes that are delivered once a round.",
        .setup = setup);
// SPDX-License-Identifier: Apache-2.0
