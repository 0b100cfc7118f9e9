/* Cause: Stale state kept over a wait (lost update). The host function next_folio() reads desk->folio into scribe->last when the request comes (38); the apprentice sleeps 1 to 2 ms; answer() gives out last + 1 and writes that to the desk (49, 51). Order: both scribes' requests overlap: bede's request reads folio after odo's request and before odo's answer (or the reverse), so both are given the same number. Harm: SIM_ALWAYS line 92 in write_pages() (this folio was seen before). Fix: line 47, read at the time of the answer. */
#include <sim/rewake.h>

#define SCRIBES 2
#define PAGES 2

struct desk {
    struct sim_world *world;
    uint64_t folio; /* The last one that was given out. */
    uint32_t seen;  /* One bit for each folio that a scribe has got. */
};

struct scribe {
    struct rt_task task;
    struct desk *desk;
    uint64_t late_ns; /* It comes so late in the morning. */
    struct rt_sleep coming;
    uint32_t scribe_at;
    struct rt_store store;
    struct rt_call call;
    enum rt_trap trap;
    /* One request at the desk: served by the apprentice. */
    struct rt_task apprentice;
    struct rt_slot slot;
    struct rt_reply reply;
    struct rt_sleep ruling;
    uint64_t last; /* Folio when the request came. */
    bool asked;
    bool done;
    uint32_t at;
};

/* The host function: the answer comes when the sheet is ruled. */
static void next_folio(struct rt_host_call *host)
{
    struct scribe *scribe = host->guest->store->data;
    rt_reply_begin(&scribe->reply, host);
    scribe->last = scribe->desk->folio;
    scribe->asked = true;
    rt_slot_wake(&scribe->slot);
}

static void answer(struct scribe *scribe)
{
    struct desk *desk = scribe->desk;
#ifdef FIXED
    uint64_t folio = desk->folio + 1;
#else
    uint64_t folio = scribe->last + 1;
#endif
    desk->folio = folio;
    (void)rt_reply_complete(&scribe->reply, &folio, 1);
}

static rt_poll apprentice_wait(struct scribe *scribe, struct rt_cx *cx)
{
    if (scribe->asked || scribe->done)
        return RT_READY;
    rt_slot_replace(&scribe->slot, cx, "a request of the scribe");
    return RT_PENDING;
}

static rt_poll apprentice_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct scribe *scribe = rt_container_of(task, struct scribe, apprentice);
    RT_BEGIN(scribe->at);
    for (;;) {
        RT_AWAIT_HERE(scribe->at, apprentice_wait(scribe, cx));
        if (!scribe->asked)
            break;
        scribe->asked = false;
        rt_sleep_init(&scribe->ruling, sim_range(scribe->desk->world, 1 * RT_MS, 2 * RT_MS));
        RT_AWAIT_HERE(scribe->at, rt_sleep_poll(&scribe->ruling, cx));
        answer(scribe);
    }
    RT_END(scribe->at);
}

static void write_pages(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    struct scribe *scribe = guest->store->data;
    (void)arguments;
    for (uint32_t page = 0; page < PAGES; page++) {
        uint64_t folio[1] = {0};
        /* Cuts quills, at a pace of its own. */
        uint64_t quills = sim_range(scribe->desk->world, 1, 5);
        for (uint64_t quill = 0; quill < quills; quill++)
            if (!rt_guest_check(guest, 100 * RT_US))
                return;
        if (!rt_guest_host(guest, next_folio, NULL, folio))
            return;
        SIM_ALWAYS((scribe->desk->seen & 1u << folio[0]) == 0);
        scribe->desk->seen |= 1u << folio[0];
        results[0]++;
    }
}

static rt_poll scribe_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct scribe *scribe = rt_container_of(task, struct scribe, task);
    RT_BEGIN(scribe->scribe_at);
    rt_sleep_init(&scribe->coming, scribe->late_ns);
    RT_AWAIT_HERE(scribe->scribe_at, rt_sleep_poll(&scribe->coming, cx));
    RT_AWAIT_HERE(scribe->scribe_at, rt_call_drive(&scribe->call, cx));
    SIM_ALWAYS(scribe->trap == RT_TRAP_NONE);
    rt_call_delete(&scribe->call);
    rt_store_fini(&scribe->store);
    scribe->done = true;
    rt_slot_wake(&scribe->slot);
    RT_END(scribe->scribe_at);
}

static void setup(struct sim_world *world)
{
    static const char *const names[SCRIBES] = {"odo", "bede"};
    static const char *const helpers[SCRIBES] = {"odo's apprentice", "bede's apprentice"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct rt_engine *engine = sim_engine_new(world, NULL);
    struct desk *desk = sim_new(world, struct desk);
    desk->world = world;
    for (uint32_t i = 0; i < SCRIBES; i++) {
        struct scribe *scribe = sim_new(world, struct scribe);
        uint64_t *pages = sim_new(world, uint64_t);
        scribe->desk = desk;
        scribe->late_ns = i == 0 ? 0 : 8 * RT_MS - sim_range(world, 0, 8 * RT_MS);
        rt_slot_init(&scribe->slot);
        rt_reply_init(&scribe->reply, "the next folio");
        rt_store_init(&scribe->store, engine, scribe);
        rt_fuel_yield_interval(&scribe->store, RT_MS);
        struct rt_call_config config = {.guest = write_pages, .results = pages, .result_count = 1,
                .trap = &scribe->trap, .name = names[i]};
        SIM_ALWAYS(rt_call_init(&scribe->call, &scribe->store, &config) == RT_OK);
        rt_task_init(&scribe->task, scribe_poll, NULL, names[i]);
        rt_task_init(&scribe->apprentice, apprentice_poll, NULL, helpers[i]);
        sim_spawn(rt, &scribe->task);
        sim_spawn(rt, &scribe->apprentice);
    }
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(scriptorium_scenario, .name = "s22/scriptorium/" FORM, .about = "Folios by number.",
        .setup = setup);
