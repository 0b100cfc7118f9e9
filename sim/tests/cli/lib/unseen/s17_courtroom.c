/* Cause: court_deliver(), line 87: `rung` is cleared after the letters were taken and handled; a messenger who comes meanwhile finds it set and does not ring, and the court goes to sleep with the letter in its box; repair: clear it before the box is emptied. */
/*
 * A court with its own executor. Messengers (threads) put letters into a box and ring, unless it
 * was rung already; each file is a task that waits for its letters.
 */
#include <sim/rewake.h>

#define FILES 2
#define LETTERS 2

struct letter {
    struct letter *next;
    struct file *file;
};

struct file {
    uint32_t letters;
    bool closed;
    char slot; /* Its address stands for the wait. */
};

struct court {
    struct rt_host *host;
    struct rt_pollable bell;
    struct letter *box; /* The newest first. */
    struct file files[FILES];
    bool rung;
    bool fixed;
};

struct messenger {
    struct court *court;
    struct letter letters[LETTERS];
    struct file *file;
    uint64_t on_foot_ns; /* The shortest way. */
};

static void
file_run(struct file *file)
{
    if (file->closed) {
        return;
    }
    sim_foreign_poll(file);
    file->closed = file->letters == LETTERS;
    if (!file->closed) {
        sim_foreign_store(file, &file->slot, "a letter");
    }
    sim_foreign_polled(file, file->closed);
}

static void
court_again(void *court, void *file)
{
    (void)court;
    file_run(file);
}

/* Called from any thread. */
static void
court_send(struct court *court, struct letter *letter)
{
    letter->next = court->box;
    court->box = letter;
    if (!court->rung) {
        court->rung = true;
        rt_host_notify(court->host);
    }
}

static void
court_deliver(struct court *court)
{
    if (court->fixed) {
        court->rung = false;
    }
    struct letter *letter = court->box;
    court->box = NULL;
    while (letter != NULL) {
        struct letter *next = letter->next;
        letter->file->letters++;
        sim_foreign_fire(&letter->file->slot);
        file_run(letter->file);
        letter = next;
    }
    if (!court->fixed) {
        court->rung = false;
    }
}

static bool
court_over(const struct court *court)
{
    bool over = true;
    for (uint32_t i = 0; i < FILES; i++) {
        over = over && court->files[i].closed;
    }
    return over;
}

static void
court_main(struct sim_world *world, void *argument)
{
    struct court *court = argument;
    struct rt_pollable *list[] = {&court->bell};
    uint32_t ready[1], count;
    (void)world;
    for (uint32_t i = 0; i < FILES; i++) {
        file_run(&court->files[i]);
    }
    for (;;) {
        court_deliver(court);
        if (court_over(court)) {
            break;
        }
        SIM_ALWAYS(rt_host_poll(court->host, list, 1, ready, &count) == RT_OK);
    }
    rt_pollable_drop(&court->bell);
}

static void
messenger_main(struct sim_world *world, void *argument)
{
    struct messenger *messenger = argument;
    for (uint32_t i = 0; i < LETTERS; i++) {
        sim_sleep(world, sim_range(world, messenger->on_foot_ns, 2 * RT_MS));
        messenger->letters[i].file = messenger->file;
        court_send(messenger->court, &messenger->letters[i]);
    }
}

static void
set_up(struct sim_world *world, bool fixed)
{
    static const char *const names[FILES] = {"file A", "file B"};
    static const char *const messengers[FILES] = {"messenger A", "messenger B"};
    struct court *court = sim_new(world, struct court);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    court->host = sim_host_seam(host);
    court->fixed = fixed;
    SIM_ALWAYS(rt_host_subscribe(court->host, RT_SUBSCRIBE_NOTIFY, 0, &court->bell) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "court", court_main, court);
    struct sim_foreign *foreign = sim_foreign_new(loop, court_again, court);
    for (uint32_t i = 0; i < FILES; i++) {
        struct messenger *messenger = sim_new(world, struct messenger);
        messenger->court = court;
        messenger->file = &court->files[i];
        messenger->on_foot_ns = RT_MS + i * RT_MS / 3;
        sim_foreign_spawn(foreign, &court->files[i], names[i]);
        (void)sim_loop_new(world, messengers[i], messenger_main, messenger);
    }
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

SIM_SCENARIO(broken, .name = "s17/courtroom/broken", .about = "The first form.", .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s17/courtroom/fixed", .about = "The repaired form.", .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */
