/* Cause: marionette() reads the scene's length once (56) and keeps it in the loop (59) across the host calls in which it is suspended (61); director_poll() cuts the scene meanwhile (119) and the guest asks for a cue that does not exist any more, which traps. (Guest.) */
#include <sim/rewake.h>

#define CUES 4

struct scene {
    uint32_t cues[CUES];
    uint32_t length;
};

struct theatre {
    struct scene scene;
    struct rt_store store;
    struct rt_call call;
    struct rt_reply reply;
    struct rt_slot prompter_waits;
    bool asked;
    uint64_t asked_index;
    uint64_t results[1];
    enum rt_trap trap;
    struct rt_task stage, prompter, director;
    struct rt_sleep pause, rehearsal;
    uint64_t cut_ns;
    uint32_t prompter_at, director_at;
    bool over;
};

static struct theatre *
theatre_of(struct rt_host_call *host)
{
    return host->guest->store->data;
}

static void
host_length(struct rt_host_call *host)
{
    host->results[0] = theatre_of(host)->scene.length;
    host->continuation = (struct rt_continuation){.callback = rt_answered};
}

static void
host_cue(struct rt_host_call *host)
{
    struct theatre *theatre = theatre_of(host);
    theatre->asked = true;
    theatre->asked_index = host->arguments[0];
    rt_reply_begin(&theatre->reply, host);
    rt_slot_wake(&theatre->prompter_waits);
}

static void
marionette(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    uint64_t length = 0;
    (void)arguments;
    if (!rt_guest_host(guest, host_length, NULL, &length)) {
        return;
    }
    for (uint64_t i = 0; i < length; i++) {
        uint64_t cue = 0;
        if (!rt_guest_check(guest, 1) || !rt_guest_host(guest, host_cue, &i, &cue)) {
            return;
        }
        results[0] += cue;
#ifdef FIXED
        if (!rt_guest_host(guest, host_length, NULL, &length)) {
            return;
        }
#endif
    }
}

static rt_poll
stage_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct theatre *theatre = rt_container_of(task, struct theatre, stage);
    RT_AWAIT(rt_call_drive(&theatre->call, cx));
    rt_call_delete(&theatre->call);
    SIM_ALWAYS(theatre->trap == RT_TRAP_NONE);
    theatre->over = true;
    rt_slot_wake(&theatre->prompter_waits);
    return RT_READY;
}

static rt_poll
prompter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct theatre *theatre = rt_container_of(task, struct theatre, prompter);
    RT_BEGIN(theatre->prompter_at);
    for (;;) {
        while (!theatre->asked && !theatre->over) {
            rt_slot_replace(&theatre->prompter_waits, cx, "a marionette without a cue");
            RT_YIELD_HERE(theatre->prompter_at);
        }
        if (theatre->over) {
            break;
        }
        rt_sleep_init(&theatre->pause, 1 * RT_MS);
        RT_AWAIT_HERE(theatre->prompter_at, rt_sleep_poll(&theatre->pause, cx));
        theatre->asked = false;
        if (theatre->asked_index < theatre->scene.length) {
            uint64_t cue = theatre->scene.cues[theatre->asked_index];
            (void)rt_reply_complete(&theatre->reply, &cue, 1);
        } else {
            (void)rt_reply_fail(&theatre->reply, RT_TRAP_HOST);
        }
    }
    RT_END(theatre->prompter_at);
}

static rt_poll
director_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct theatre *theatre = rt_container_of(task, struct theatre, director);
    RT_BEGIN(theatre->director_at);
    rt_sleep_init(&theatre->rehearsal, theatre->cut_ns);
    RT_AWAIT_HERE(theatre->director_at, rt_sleep_poll(&theatre->rehearsal, cx));
    if (!theatre->asked || theatre->asked_index + 1 < theatre->scene.length) {
        theatre->scene.length--;
    }
    RT_END(theatre->director_at);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct theatre *theatre = sim_new(world, struct theatre);
    for (uint32_t i = 0; i < CUES; i++) {
        theatre->scene.cues[i] = 10 + i;
    }
    theatre->scene.length = CUES;
    theatre->cut_ns = sim_pick(world, 3) == 2 ? sim_range(world, 0, 3 * RT_MS) : 6 * RT_MS;
    rt_store_init(&theatre->store, sim_engine_new(world, NULL), theatre);
    rt_reply_init(&theatre->reply, "the next cue");
    rt_slot_init(&theatre->prompter_waits);
    SIM_ALWAYS(rt_call_init(&theatre->call, &theatre->store, &(struct rt_call_config){
                       .guest = marionette, .results = theatre->results, .result_count = 1,
                       .trap = &theatre->trap, .name = "marionette"}) == RT_OK);
    rt_task_init(&theatre->stage, stage_poll, NULL, "stage");
    rt_task_init(&theatre->prompter, prompter_poll, NULL, "prompter");
    rt_task_init(&theatre->director, director_poll, NULL, "director");
    sim_spawn(rt, &theatre->stage);
    sim_spawn(rt, &theatre->prompter);
    sim_spawn(rt, &theatre->director);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(puppeteer, .name = "s19/puppeteer/" FORM, .about = "A marionette plays cue after cue.",
        .setup = setup);
