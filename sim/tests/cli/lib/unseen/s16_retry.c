/* Cause: advance(), line 64: a slot's timers are fired when their rounds are 0, whatever their time; start() counts slots from the new `tick`, so a timer that a callback starts into a slot that this pass has still to visit fires in the same pass, a turn of the wheel too early; repair: only timers that are due by their time are fired. */
/*
 * s16_retry.c -- uploads that fail are tried again later: a timer wheel of eight slots.
 *
 * The uploader's loop checks parts of files (which takes a while) and turns the wheel.
 */
#include <sim/rewake.h>

#define SLOTS 8u
#define TICK RT_MS
#define UPLOADS 3u
#define TRIES 4u
#define BACKOFF 6u /* Ticks. */

struct timer {
    struct timer *next;
    uint64_t due; /* A tick. */
    unsigned rounds;
    void (*fire)(struct timer *timer);
};

struct wheel {
    struct timer *slots[SLOTS];
    uint64_t tick; /* Reached so far. */
    unsigned armed;
    bool fixed;
};

struct upload {
    struct timer retry;
    struct uploader *uploader;
    unsigned tries;
    uint64_t not_before_ns; /* The server has asked for this. */
};

struct uploader {
    struct sim_world *world;
    struct wheel wheel;
    struct upload uploads[UPLOADS];
    unsigned finished;
};

static void
start(struct wheel *wheel, struct timer *timer, unsigned ticks)
{
    timer->due = wheel->tick + ticks;
    timer->rounds = (ticks - 1) / SLOTS;
    struct timer **slot = &wheel->slots[timer->due % SLOTS];
    timer->next = *slot;
    *slot = timer;
    wheel->armed++;
}

/* Fires what has come due, now that the clock says `now`. */
static void
advance(struct wheel *wheel, uint64_t now)
{
    uint64_t visited = wheel->tick;
    wheel->tick = now;
    while (visited < now) {
        struct timer **at = &wheel->slots[++visited % SLOTS];
        while (*at != NULL) {
            struct timer *timer = *at;
            bool due = wheel->fixed ? timer->due <= now : timer->rounds == 0;
            if (!due) {
                timer->rounds -= timer->rounds > 0;
                at = &timer->next;
                continue;
            }
            *at = timer->next;
            wheel->armed--;
            timer->fire(timer);
        }
    }
}

/* The server is busy: the answer says when to come again. */
static void
try_upload(struct timer *timer)
{
    struct upload *upload = rt_container_of(timer, struct upload, retry);
    struct uploader *uploader = upload->uploader;
    uint64_t now_ns = sim_now(uploader->world);
    SIM_ALWAYS(now_ns >= upload->not_before_ns);
    if (++upload->tries == TRIES) {
        uploader->finished++;
        return;
    }
    upload->not_before_ns = now_ns + (BACKOFF - 1) * TICK;
    start(&uploader->wheel, &upload->retry, BACKOFF);
}

/* A part of a file is read and summed up. */
static void
check_part(struct uploader *uploader)
{
    sim_work(uploader->world, sim_range(uploader->world, 0, 5 * TICK));
}

static void
uploader_main(struct sim_world *world, void *argument)
{
    struct uploader *uploader = argument;
    struct wheel *wheel = &uploader->wheel;
    for (unsigned i = 0; i < UPLOADS; i++) {
        start(wheel, &uploader->uploads[i].retry, 1 + i);
    }
    for (unsigned parts = 0; uploader->finished < UPLOADS; parts++) {
        sim_sleep(world, TICK - sim_now(world) % TICK);
        if (parts % 4 == 3) {
            check_part(uploader);
        }
        advance(wheel, sim_now(world) / TICK);
    }
    SIM_ALWAYS(wheel->armed == 0);
}

static void
set_up(struct sim_world *world, bool fixed)
{
    struct uploader *uploader = sim_new(world, struct uploader);
    uploader->world = world;
    uploader->wheel.fixed = fixed;
    for (unsigned i = 0; i < UPLOADS; i++) {
        uploader->uploads[i].uploader = uploader;
        uploader->uploads[i].retry.fire = try_upload;
    }
    sim_loop_new(world, "uploader", uploader_main, uploader);
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

SIM_SCENARIO(broken, .name = "s16/retry/broken", .about = "Uploads are tried again later.",
        .setup = set_up_broken, .expect = SIM_VERDICT_INVARIANT);
SIM_SCENARIO(fixed, .name = "s16/retry/fixed", .about = "Uploads are tried again later.",
        .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */
