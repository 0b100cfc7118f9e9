/*
 * reset_duel.c -- two ends of a connection that reset each other forever, unless a packet is lost.
 *
 * The mechanism is that of simultaneous open, of resets that are answered by resets, and of every
 * handshake that either side may begin.
 *
 * The bug. An end that considers the connection broken takes a new epoch, sends RESET, and waits
 * for AGREED. If it receives RESET while it waits, it takes a newer epoch and sends RESET again. If
 * both begin at the same time, each is contradicted by the other, and by the answer to that, and so
 * on.
 *
 * The fix. Of two that contradict each other a fixed one gives in: hear_reset below.
 *
 * Here. Eight parcels are sent, each is acknowledged. One packet in eight is lost until the run is
 * fault-free, and that is the point: a lost packet ends the duel sooner or later, so with a network
 * that keeps losing packets every run ends. Only a fault-free phase shows the livelock.
 *
 * Must end in: livelock, by `liveness`. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define PARCELS 8u
#define INBOX 64u
#define LOST_ONE_IN 8u
#define LATENCY_NS_MIN (10 * RT_US)
#define LATENCY_NS_MAX (500 * RT_US)
#define PATIENCE_NS (3 * RT_MS)

enum what { PARCEL, RECEIPT, RESET, AGREED };

struct packet {
    enum what what;
    uint32_t epoch;
    uint32_t number; /* Of the parcel. */
    uint64_t due_ns;
};

struct end {
    struct rt_task task;
    struct sim_world *world;
    struct end *other;
    struct rt_slot mail;
    struct rt_sleep alarm;
    struct packet inbox[INBOX];
    uint32_t head;
    uint32_t count;
    uint32_t epoch;
    uint32_t number;      /* The parcel to be sent, or expected, next. */
    uint64_t deadline_ns; /* When its time limit expires. */
    bool sends;
    bool resetting; /* It has sent RESET, and waits for AGREED. */
    bool broken;
};

/* ---- The link. ------------------------------------------------------------------------------- */

/* Packets of one end arrive in order, or are lost. */
static void
send(struct end *from, enum what what, uint32_t number)
{
    struct end *to = from->other;
    if (sim_inject(from->world, LOST_ONE_IN) || to->count == INBOX) {
        return;
    }
    uint64_t due_ns = sim_now(from->world) + sim_range(from->world, LATENCY_NS_MIN, LATENCY_NS_MAX);
    uint32_t tail = (to->head + to->count) % INBOX;
    uint64_t before_ns = to->count > 0 ? to->inbox[(tail + INBOX - 1) % INBOX].due_ns : 0;
    to->inbox[tail] =
            (struct packet){what, from->epoch, number, due_ns > before_ns ? due_ns : before_ns};
    to->count++;
    rt_slot_wake(&to->mail);
}

/* ---- An end. --------------------------------------------------------------------------------- */

static void
be_patient(struct end *end)
{
    end->deadline_ns = sim_now(end->world) + PATIENCE_NS;
}

static void
send_parcel(struct end *end)
{
    if (end->sends && end->number < PARCELS) {
        send(end, PARCEL, end->number);
    }
}

static void
insist(struct end *end, uint32_t epoch)
{
    end->epoch = epoch;
    end->resetting = true;
    end->number = 0;
    be_patient(end);
    send(end, RESET, 0);
}

static void
agree(struct end *end, uint32_t epoch)
{
    end->epoch = epoch;
    end->resetting = false;
    end->number = 0;
    be_patient(end);
    send(end, AGREED, 0);
    send_parcel(end);
}

static void
hear_reset(struct end *end, uint32_t epoch)
{
    if (end->resetting && end->broken) {
        insist(end, (epoch > end->epoch ? epoch : end->epoch) + 1);
    } else if (!end->resetting || !end->sends) {
        agree(end, epoch); /* The receiver gives in. */
    }
}

static void
begin_anew(struct end *end)
{
    be_patient(end);
    end->resetting = false;
    end->number = 0;
    send_parcel(end);
}

static void
hear(struct end *end, const struct packet *packet)
{
    bool ours = packet->epoch == end->epoch;
    switch (packet->what) {
    case PARCEL:
        if (!ours && end->resetting) {
            return; /* Sent before the peer received the reset. */
        }
        if (!ours) {
            insist(end, end->epoch + 1);
            return;
        }
        end->resetting = false;
        end->number = packet->number + 1;
        be_patient(end);
        send(end, RECEIPT, packet->number);
        return;
    case RECEIPT:
        if (ours && !end->resetting && packet->number == end->number) {
            end->number++;
            be_patient(end);
            send_parcel(end);
        }
        return;
    case RESET:
        hear_reset(end, packet->epoch);
        return;
    case AGREED:
        if (ours && end->resetting) {
            begin_anew(end);
        }
        return;
    }
}

/* The sender insists; the receiver, which may have missed the answer, waits. */
static void
lose_patience(struct end *end)
{
    if (end->resetting && !end->sends) {
        end->resetting = false;
        end->deadline_ns = RT_NEVER;
    } else {
        insist(end, end->epoch + 1);
    }
}

/* Does what is due; returns when something else will be. */
static uint64_t
work_off(struct end *end)
{
    uint64_t now_ns = sim_now(end->world);
    while (end->count > 0 && end->inbox[end->head].due_ns <= now_ns) {
        struct packet packet = end->inbox[end->head];
        end->head = (end->head + 1) % INBOX;
        end->count--;
        SIM_PROGRESS();
        hear(end, &packet);
    }
    if (end->deadline_ns <= now_ns) {
        lose_patience(end);
    }
    uint64_t next_ns = end->count > 0 ? end->inbox[end->head].due_ns : RT_NEVER;
    return next_ns < end->deadline_ns ? next_ns : end->deadline_ns;
}

static rt_poll
end_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct end *end = rt_container_of(task, struct end, task);
    rt_poll alarm = RT_READY;
    while (alarm == RT_READY) {
        uint64_t next_ns = work_off(end);
        if (end->sends && end->number == PARCELS) {
            rt_sleep_cancel(&end->alarm);
            return RT_READY;
        }
        rt_sleep_cancel(&end->alarm);
        rt_sleep_until(&end->alarm, next_ns);
        alarm = rt_sleep_poll(&end->alarm, cx);
    }
    rt_slot_replace(&end->mail, cx,
            end->resetting ? "to hear that the reset is agreed to" : "the next packet");
    return alarm;
}

static struct end *
end_new(struct sim_world *world, const char *name, bool sends, bool broken)
{
    struct end *end = sim_new(world, struct end);
    end->world = world;
    end->sends = sends;
    end->broken = broken;
    end->deadline_ns = sends ? PATIENCE_NS : RT_NEVER;
    rt_slot_init(&end->mail);
    rt_sleep_init(&end->alarm, 0);
    rt_task_init(&end->task, end_poll, NULL, name);
    return end;
}

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct end *sender = end_new(world, "sender", true, broken);
    struct end *receiver = end_new(world, "receiver", false, broken);
    sender->other = receiver;
    receiver->other = sender;
    sim_spawn(rt, &sender->task);
    sim_spawn_background(rt, &receiver->task);
    send_parcel(sender);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(liveness_reset_duel_broken, .name = "liveness/reset-duel/broken",
        .about = "Two ends of a connection contradict each other's resets, forever.",
        .setup = setup_broken, .expect = SIM_VERDICT_LIVELOCK, .fault_free_after = 200,
        .converge_steps = 5000);
SIM_SCENARIO(liveness_reset_duel_fixed, .name = "liveness/reset-duel/fixed",
        .about = "Of two that contradict each other the receiver gives in.", .setup = setup_fixed,
        .fault_free_after = 200, .converge_steps = 5000);
