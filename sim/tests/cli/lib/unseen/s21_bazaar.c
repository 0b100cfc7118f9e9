/* Cause: customer_poll(), lines 130-131: when the time-out expires, the call is dropped while the guest waits in host_pay, with lamps reserved (65, 66); what it holds is given back only where the call ended by itself with a trap, and not where it was dropped. Harm: check(), SIM_ALWAYS(bazaar->reserved == 0), line 157 (158 behind it). Fix: give_back in any case. */
#include <sim/rewake.h>

#define CUSTOMERS 2
#define LAMPS 8

struct bazaar {
    uint32_t on_shelf;
    uint32_t reserved;
    uint32_t sold;
};

struct customer {
    struct rt_task task;
    struct sim_world *world;
    struct bazaar *bazaar;
    struct rt_engine *engine;
    struct customer_bank *bank;
    struct rt_store store;
    struct rt_call call;
    struct rt_timeout timeout;
    uint32_t at;
    uint32_t holds; /* Reserved by the guest, not yet taken. */
    uint64_t wants;
    uint64_t got;
    enum rt_trap trap;
};

/* Serves one customer. */
struct customer_bank {
    struct rt_task task;
    struct sim_world *world;
    struct rt_notify asked;
    struct rt_reply reply;
    uint32_t at;
    struct rt_notified notified;
    struct rt_sleep checks;
};

static struct customer *
customer_of(struct rt_host_call *host)
{
    return host->guest->store->data;
}

static void
nothing(void *env)
{
    (void)env;
}

static void
answered(struct rt_host_call *host)
{
    host->continuation =
            (struct rt_continuation){.callback = rt_answered, .finalizer = nothing, .env = host};
}

static void
host_reserve(struct rt_host_call *host)
{
    struct customer *customer = customer_of(host);
    uint32_t lamps = (uint32_t)host->arguments[0];
    customer->bazaar->on_shelf -= lamps;
    customer->bazaar->reserved += lamps;
    customer->holds += lamps;
    answered(host);
}

static void
host_pay(struct rt_host_call *host)
{
    struct customer *customer = customer_of(host);
    rt_reply_begin(&customer->bank->reply, host);
    rt_notify_one(&customer->bank->asked);
}

static void
host_take(struct rt_host_call *host)
{
    struct customer *customer = customer_of(host);
    customer->bazaar->reserved -= customer->holds;
    customer->bazaar->sold += customer->holds;
    customer->holds = 0;
    answered(host);
}

static void
shop(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    uint64_t paid[1] = {0};
    if (!rt_guest_check(guest, 1) || !rt_guest_host(guest, host_reserve, arguments, results) ||
            !rt_guest_host(guest, host_pay, arguments, paid)) {
        return;
    }
    if (paid[0] == 1 && rt_guest_host(guest, host_take, arguments, results)) {
        results[0] = arguments[0];
    }
}

static void
give_back(struct customer *customer)
{
    customer->bazaar->reserved -= customer->holds;
    customer->bazaar->on_shelf += customer->holds;
    customer->holds = 0;
}

static rt_poll
customer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct customer *customer = rt_container_of(task, struct customer, task);
    RT_BEGIN(customer->at);
    rt_store_init(&customer->store, customer->engine, customer);
    SIM_ALWAYS(rt_call_init(&customer->call, &customer->store,
                       &(struct rt_call_config){.guest = shop,
                               .arguments = &customer->wants,
                               .results = &customer->got,
                               .result_count = 1,
                               .trap = &customer->trap,
                               .name = "shop"}) == RT_OK);
    rt_timeout_init(&customer->timeout, &customer->call.future, 3 * RT_MS);
    RT_AWAIT_HERE(customer->at, rt_timeout_poll(&customer->timeout, cx));
    if (!customer->timeout.expired) {
        rt_call_delete(&customer->call);
    }
#ifdef FIXED
    give_back(customer);
#else
    if (!customer->timeout.expired && customer->trap != RT_TRAP_NONE) {
        give_back(customer);
    }
#endif
    rt_store_fini(&customer->store);
    RT_END(customer->at);
}

static rt_poll
bank_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct customer_bank *bank = rt_container_of(task, struct customer_bank, task);
    const uint64_t yes[1] = {1};
    RT_BEGIN(bank->at);
    rt_notified_init(&bank->notified, &bank->asked);
    RT_AWAIT_HERE(bank->at, rt_notified_poll(&bank->notified, cx));
    rt_sleep_init(&bank->checks, sim_range(bank->world, 2 * RT_MS, 4 * RT_MS));
    RT_AWAIT_HERE(bank->at, rt_sleep_poll(&bank->checks, cx));
    (void)rt_reply_complete(&bank->reply, yes, 1);
    RT_END(bank->at);
}

static void
check(struct sim_world *world, void *state)
{
    const struct bazaar *bazaar = state;
    (void)world;
    SIM_ALWAYS(bazaar->reserved == 0);
    SIM_ALWAYS(bazaar->on_shelf + bazaar->sold == LAMPS);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct rt_engine *engine = sim_engine_new(world, NULL);
    struct bazaar *bazaar = sim_new(world, struct bazaar);
    bazaar->on_shelf = LAMPS;
    sim_set_state(world, bazaar);
    for (uint32_t i = 0; i < CUSTOMERS; i++) {
        struct customer *customer = sim_new(world, struct customer);
        struct customer_bank *bank = sim_new(world, struct customer_bank);
        rt_notify_init(&bank->asked);
        rt_reply_init(&bank->reply, "the bank");
        bank->world = customer->world = world;
        customer->bazaar = bazaar;
        customer->engine = engine;
        customer->bank = bank;
        customer->wants = 2 + i;
        rt_task_init(&customer->task, customer_poll, NULL, i == 0 ? "Amal" : "Basim");
        rt_task_init(&bank->task, bank_poll, NULL, i == 0 ? "bank of Amal" : "bank of Basim");
        sim_spawn(rt, &customer->task);
        sim_spawn_background(rt, &bank->task);
    }
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(bazaar, .name = "s21/bazaar/" FORM, .about = "Guests buy lamps.", .setup = setup,
        .check = check);
