/* Cause: carry_drop(), line 63-75: a carry is dropped by the timeout in its second stage, after the pail was received (51, 56), and the pail is lost. Order: the pail comes late enough that waiting and walking together take longer than the patience; rt_timeout drops the carry while it walks; litres is counted nowhere. Harm: SIM_ALWAYS 131. Fix: the pail that was received is poured in the drop as well (73).
 */
#include <sim/rewake.h>

#define PAILS 4

struct carry {
    struct rt_future future;
    struct hill *hill;
    struct rt_recv recv;
    struct rt_sleep walk;
    uint32_t litres;
    uint32_t stage; /* 0: waits for a pail; 1: carries it. */
    bool end;
};

struct hill {
    struct rt_channel channel;
    uint32_t ring[2];
    uint32_t cistern;
    uint32_t sent;
    uint32_t valve_checks;
    uint64_t patience_ns;
    bool filler_done;
};

struct digger {
    struct rt_task task;
    struct hill *hill;
    uint32_t at;
    uint32_t pail;
    uint32_t litres;
    struct rt_sleep rest;
    struct rt_send send;
};

struct filler {
    struct rt_task task;
    struct hill *hill;
    struct sim_world *world;
    uint32_t at;
    struct carry carry;
    struct rt_timeout timeout;
};

static rt_poll
carry_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct carry *carry = rt_container_of(future, struct carry, future);
    if (carry->stage == 0) {
        RT_AWAIT(rt_recv_poll(&carry->recv, cx));
        if (carry->recv.err == RT_E_CLOSED) {
            carry->end = true;
            return RT_READY;
        }
        carry->stage = 1;
    }
    RT_AWAIT(rt_sleep_poll(&carry->walk, cx));
    carry->hill->cistern += carry->litres;
    return RT_READY;
}

static void
carry_drop(struct rt_future *future)
{
    struct carry *carry = rt_container_of(future, struct carry, future);
    if (carry->stage == 0) {
        rt_recv_drop(&carry->recv);
        return;
    }
    rt_sleep_cancel(&carry->walk);
#ifdef FIXED
    carry->hill->cistern += carry->litres;
#endif
}

static void
carry_init(struct carry *carry, struct hill *hill, uint64_t walk_ns)
{
    rt_future_init(&carry->future, carry_poll, carry_drop, "carry");
    carry->hill = hill;
    carry->stage = 0;
    carry->end = false;
    rt_recv_init(&carry->recv, &hill->channel, &carry->litres);
    rt_sleep_init(&carry->walk, walk_ns);
}

static rt_poll
filler_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct filler *filler = rt_container_of(task, struct filler, task);
    struct hill *hill = filler->hill;
    RT_BEGIN(filler->at);
    do {
        carry_init(&filler->carry, hill, sim_range(filler->world, 1 * RT_MS, 3 * RT_MS));
        rt_timeout_init(&filler->timeout, &filler->carry.future, hill->patience_ns);
        RT_AWAIT_HERE(filler->at, rt_timeout_poll(&filler->timeout, cx));
        if (filler->timeout.expired) {
            hill->valve_checks++;
        }
    } while (filler->timeout.expired || !filler->carry.end);
    hill->filler_done = true;
    rt_channel_drop_receiver(&hill->channel);
    RT_END(filler->at);
}

static rt_poll
digger_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct digger *digger = rt_container_of(task, struct digger, task);
    struct hill *hill = digger->hill;
    RT_BEGIN(digger->at);
    for (digger->pail = 0; digger->pail < PAILS; digger->pail++) {
        rt_sleep_init(&digger->rest, 2 * RT_MS);
        RT_AWAIT_HERE(digger->at, rt_sleep_poll(&digger->rest, cx));
        digger->litres = 8 + digger->pail;
        rt_send_init(&digger->send, &hill->channel, &digger->litres);
        RT_AWAIT_HERE(digger->at, rt_send_poll(&digger->send, cx));
        hill->sent += digger->litres;
    }
    rt_channel_drop_sender(&hill->channel);
    RT_END(digger->at);
}

static void
check(struct sim_world *world, void *state)
{
    struct hill *hill = state;
    (void)world;
    SIM_ALWAYS(hill->filler_done);
    SIM_ALWAYS(hill->cistern == hill->sent);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct hill *hill = sim_new(world, struct hill);
    struct digger *digger = sim_new(world, struct digger);
    struct filler *filler = sim_new(world, struct filler);
    struct rt_channel_config config = {.ring = hill->ring, .item_size = sizeof(uint32_t), .capacity = 2};
    rt_channel_init(&hill->channel, &config);
    rt_channel_add_sender(&hill->channel);
    rt_channel_add_receiver(&hill->channel);
    rt_channel_drop_handle(&hill->channel);
    hill->patience_ns = sim_range(world, 4 * RT_MS, 6 * RT_MS);
    digger->hill = hill;
    filler->hill = hill;
    filler->world = world;
    rt_task_init(&digger->task, digger_poll, NULL, "digger");
    rt_task_init(&filler->task, filler_poll, NULL, "filler");
    sim_spawn(rt, &digger->task);
    sim_spawn(rt, &filler->task);
    sim_set_state(world, hill);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(cistern, .name = "s20/cistern/" FORM, .about = "Pails are carried to a cistern, with a time limit.",
        .setup = setup, .check = check);
