/* Cause: on_letter(), line 40: interest is one-shot, and the early return for junk mail leaves the box disarmed, so
 * its next letter is never reported; repair: arm it again on every way out. */
#include <sim/rewake.h>

/* A loop of callbacks over mailboxes; each is disarmed when it is reported, as with EPOLLONESHOT. */

#define BOXES 2
#define LETTERS 3

struct post;

struct box {
    struct post *post;
    struct sim_source *source;
    struct rt_pollable pollable;
    bool armed;
    uint32_t read;
};

struct post {
    struct sim_world *world;
    bool fixed;
    uint32_t answered;
    struct rt_host *host;
    struct rt_pollable bell;
    struct box boxes[BOXES];
};

static void
on_letter(struct box *box)
{
    struct post *post = box->post;
    if (sim_source_take(box->source) == RT_E_AGAIN) {
        box->armed = true;
        return;
    }
    box->read++;
    SIM_PROGRESS();
    if (sim_pick(post->world, 8) == 7) {
        box->armed = post->fixed && box->read < LETTERS;
        return; /* Junk. */
    }
    post->answered++;
    box->armed = box->read < LETTERS;
}

static uint32_t
unread(const struct post *post)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < BOXES; i++) {
        count += LETTERS - post->boxes[i].read;
    }
    return count;
}

static void
turn(struct post *post)
{
    struct rt_pollable *list[1 + BOXES] = {&post->bell};
    struct box *whose[1 + BOXES] = {NULL};
    uint32_t ready[1 + BOXES];
    uint32_t count = 1;
    for (uint32_t i = 0; i < BOXES; i++) {
        if (post->boxes[i].armed) {
            whose[count] = &post->boxes[i];
            list[count++] = &post->boxes[i].pollable;
        }
    }
    SIM_ALWAYS(rt_host_poll(post->host, list, count, ready, &count) == RT_OK);
    for (uint32_t i = 0; i < count; i++) {
        struct box *box = whose[ready[i]];
        if (box != NULL) {
            box->armed = false;
            on_letter(box);
        }
    }
}

static void
post_main(struct sim_world *world, void *argument)
{
    struct post *post = argument;
    (void)world;
    while (unread(post) > 0) {
        turn(post);
    }
    for (uint32_t i = 0; i < BOXES; i++) {
        rt_pollable_drop(&post->boxes[i].pollable);
    }
    rt_pollable_drop(&post->bell);
}

static void
begin(struct sim_world *world, bool fixed)
{
    static const char *const names[BOXES] = {"private", "business"};
    struct post *post = sim_new(world, struct post);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    post->world = world;
    post->fixed = fixed;
    post->host = sim_host_seam(host);
    SIM_ALWAYS(rt_host_subscribe(post->host, RT_SUBSCRIBE_NOTIFY, 0, &post->bell) == RT_OK);
    for (uint32_t i = 0; i < BOXES; i++) {
        struct box *box = &post->boxes[i];
        box->post = post;
        box->armed = true;
        box->source = sim_source_new(host, names[i]);
        SIM_ALWAYS(sim_source_subscribe(box->source, &box->pollable) == RT_OK);
        for (uint32_t k = 1; k <= LETTERS; k++) {
            sim_source_event_in(box->source, k * RT_MS, (k + 2) * RT_MS);
        }
    }
    (void)sim_loop_new(world, "post", post_main, post);
}

static void
broken(struct sim_world *world)
{
    begin(world, false);
}

static void
fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(s15_mailbox_b, .name = "s15/mailbox/broken", .about = "A box stays disarmed.",
        .setup = broken);
SIM_SCENARIO(s15_mailbox_f, .name = "s15/mailbox/fixed", .about = "A box is armed again.",
        .setup = fixed);
/* SPDX-License-Identifier: Apache-2.0 */
