// Cause: s3_mailbox.c:72 the actor takes `scheduled` back when it wakes up and not when it goes to sleep: a letter that comes while it works sets it again, is handled in the same round, and from then on senders believe that the sleeping actor is scheduled and wake nobody.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define LETTERS 5
#define SENDERS 2
#define ROOM 16

struct mailbox {
    struct rt_slot slot;
    uint32_t letters[ROOM];
    uint32_t head;
    uint32_t tail;
    bool scheduled; /* The actor was woken, or is at work: no need to wake it. */
};

struct actor {
    struct rt_task task;
    struct mailbox *mailbox;
    struct rt_sleep sleep;
    uint64_t takes_ns;
    uint32_t handled;
    uint32_t sum;
    uint32_t at;
    bool fixed;
};

struct sender {
    struct rt_task task;
    struct mailbox *mailbox;
    struct rt_sleep sleep;
    uint64_t pause_ns[LETTERS];
    uint32_t sent;
    uint32_t at;
};

static void
mailbox_send(struct mailbox *mailbox, uint32_t letter)
{
    mailbox->letters[mailbox->tail++ % ROOM] = letter;
    if (mailbox->scheduled) {
        return;
    }
    mailbox->scheduled = true;
    rt_slot_wake(&mailbox->slot);
}

static rt_poll
mailbox_wait(struct actor *actor, struct rt_cx *cx)
{
    struct mailbox *mailbox = actor->mailbox;
    if (mailbox->head != mailbox->tail) {
        return RT_READY;
    }
    if (actor->fixed) {
        mailbox->scheduled = false;
    }
    rt_slot_replace(&mailbox->slot, cx, "a letter");
    return RT_PENDING;
}

static rt_poll
actor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct actor *actor = rt_container_of(task, struct actor, task);
    struct mailbox *mailbox = actor->mailbox;
    RT_BEGIN(actor->at);
    while (actor->handled < SENDERS * LETTERS) {
        RT_AWAIT_HERE(actor->at, mailbox_wait(actor, cx));
        if (!actor->fixed) {
            mailbox->scheduled = false;
        }
        while (mailbox->head != mailbox->tail) {
            actor->sum += mailbox->letters[mailbox->head++ % ROOM];
            actor->handled++;
            SIM_PROGRESS();
            rt_sleep_init(&actor->sleep, actor->takes_ns);
            RT_AWAIT_HERE(actor->at, rt_sleep_poll(&actor->sleep, cx));
        }
    }
    RT_END(actor->at);
}

static rt_poll
sender_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct sender *sender = rt_container_of(task, struct sender, task);
    RT_BEGIN(sender->at);
    while (sender->sent < LETTERS) {
        rt_sleep_init(&sender->sleep, sender->pause_ns[sender->sent]);
        RT_AWAIT_HERE(sender->at, rt_sleep_poll(&sender->sleep, cx));
        sender->sent++;
        mailbox_send(sender->mailbox, sender->sent);
    }
    RT_END(sender->at);
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[SENDERS] = {"sender A", "sender B"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct mailbox *mailbox = sim_new(world, struct mailbox);
    struct actor *actor = sim_new(world, struct actor);
    struct sender *senders = sim_zalloc(world, SENDERS * sizeof *senders);
    rt_slot_init(&mailbox->slot);
    actor->mailbox = mailbox;
    actor->fixed = fixed;
    actor->takes_ns = sim_range(world, RT_MS / 10, RT_MS / 2);
    rt_task_init(&actor->task, actor_poll, NULL, "actor");
    sim_spawn(rt, &actor->task);
    for (uint32_t i = 0; i < SENDERS; i++) {
        senders[i].mailbox = mailbox;
        for (uint32_t j = 0; j < LETTERS; j++) {
            senders[i].pause_ns[j] = (1 + i) * RT_MS / 2 + sim_range(world, 0, 2 * RT_MS);
        }
        rt_task_init(&senders[i].task, sender_poll, NULL, names[i]);
        sim_spawn(rt, &senders[i].task);
    }
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_mailbox/broken", .about = "An actor and its letters.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_mailbox/fixed", .about = "An actor and its letters.",
        .setup = setup_fixed);
