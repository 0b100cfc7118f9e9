/* Cause: prompter_answer(), line 88: the line that was asked for is read from the one field of the theatre (written at 50). Order: Punch asks and is suspended; while the prompter leafs, Judy asks, which overwrites theatre->asked; the prompter answers Punch with Judy's line. Harm: SIM_ALWAYS 130. Fix: each puppet's own field (86).
 */
#include <sim/rewake.h>

#define PUPPETS 2
#define LINES 2

struct puppet {
    struct rt_task task;
    struct theatre *theatre;
    struct rt_store store;
    struct rt_call call;
    struct rt_reply reply;
    uint64_t arguments[1]; /* The first line. */
    uint64_t results[1];   /* The sum of what was said. */
    enum rt_trap trap;
    uint64_t asked;
    bool waits;
    struct rt_sleep entrance;
    uint64_t entrance_ns;
    uint32_t at;
};

struct theatre {
    struct rt_task prompter;
    struct sim_world *world;
    struct rt_engine *engine;
    struct rt_notify whispered;
    struct rt_notified listening;
    struct rt_sleep leafing;
    uint64_t asked; /* The line that a puppet has forgotten. */
    struct puppet *puppets[PUPPETS];
    struct puppet *helped;
    uint32_t answers;
    uint32_t at;
};

static uint64_t
text_of(uint64_t line)
{
    return 1000 + 3 * line;
}

/* A host function: asks the prompter for a line. */
static void
ask_prompter(struct rt_host_call *host)
{
    struct puppet *puppet = host->guest->store->data;
    struct theatre *theatre = puppet->theatre;
    theatre->asked = host->arguments[0];
    puppet->asked = host->arguments[0];
    rt_reply_begin(&puppet->reply, host);
    puppet->waits = true;
    rt_notify_one(&theatre->whispered);
}

/* The code of a guest. */
static void
play(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    for (uint64_t i = 0; i < LINES; i++) {
        uint64_t line = arguments[0] + i;
        uint64_t text = 0;
        if (!rt_guest_check(guest, 100) || !rt_guest_host(guest, ask_prompter, &line, &text)) {
            return;
        }
        results[0] += text;
    }
}

static struct puppet *
theatre_next(struct theatre *theatre)
{
    for (uint32_t i = 0; i < PUPPETS; i++) {
        if (theatre->puppets[i]->waits) {
            return theatre->puppets[i];
        }
    }
    return NULL;
}

static void
prompter_answer(struct theatre *theatre, struct puppet *puppet)
{
#ifdef FIXED
    uint64_t text = text_of(puppet->asked);
#else
    uint64_t text = text_of(theatre->asked);
#endif
    puppet->waits = false;
    theatre->answers++;
    SIM_ALWAYS(rt_reply_complete(&puppet->reply, &text, 1));
}

static rt_poll
prompter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct theatre *theatre = rt_container_of(task, struct theatre, prompter);
    RT_BEGIN(theatre->at);
    while (theatre->answers < PUPPETS * LINES) {
        theatre->helped = theatre_next(theatre);
        if (theatre->helped == NULL) {
            rt_notified_init(&theatre->listening, &theatre->whispered);
            RT_AWAIT_HERE(theatre->at, rt_notified_poll(&theatre->listening, cx));
            continue;
        }
        rt_sleep_init(&theatre->leafing, sim_range(theatre->world, RT_MS / 2, 2 * RT_MS));
        RT_AWAIT_HERE(theatre->at, rt_sleep_poll(&theatre->leafing, cx));
        prompter_answer(theatre, theatre->helped);
    }
    RT_END(theatre->at);
}

static rt_poll
puppet_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct puppet *puppet = rt_container_of(task, struct puppet, task);
    RT_BEGIN(puppet->at);
    rt_sleep_init(&puppet->entrance, puppet->entrance_ns);
    RT_AWAIT_HERE(puppet->at, rt_sleep_poll(&puppet->entrance, cx));
    SIM_ALWAYS(rt_call_init(&puppet->call, &puppet->store,
                       &(struct rt_call_config){.guest = play,
                               .arguments = puppet->arguments,
                               .results = puppet->results,
                               .result_count = 1,
                               .trap = &puppet->trap,
                               .name = task->name}) == RT_OK);
    RT_AWAIT_HERE(puppet->at, rt_call_drive(&puppet->call, cx));
    SIM_ALWAYS(puppet->trap == RT_TRAP_NONE);
    SIM_ALWAYS(puppet->results[0] == text_of(puppet->arguments[0]) + text_of(puppet->arguments[0] + 1));
    rt_call_delete(&puppet->call);
    rt_store_fini(&puppet->store);
    RT_END(puppet->at);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[PUPPETS] = {"Punch", "Judy"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct theatre *theatre = sim_new(world, struct theatre);
    theatre->world = world;
    theatre->engine = sim_engine_new(world, NULL);
    rt_notify_init(&theatre->whispered);
    for (uint32_t i = 0; i < PUPPETS; i++) {
        struct puppet *puppet = sim_new(world, struct puppet);
        puppet->theatre = theatre;
        puppet->arguments[0] = 10 * (i + 1);
        puppet->entrance_ns = sim_range(world, (1 + 3 * i) * RT_MS, (4 + 3 * i) * RT_MS);
        rt_store_init(&puppet->store, theatre->engine, puppet);
        rt_reply_init(&puppet->reply, "the forgotten line");
        rt_task_init(&puppet->task, puppet_poll, NULL, names[i]);
        theatre->puppets[i] = puppet;
        sim_spawn(rt, &puppet->task);
    }
    rt_task_init(&theatre->prompter, prompter_poll, NULL, "prompter");
    sim_spawn(rt, &theatre->prompter);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(puppet, .name = "s20/puppet/" FORM, .about = "Guests that ask a prompter for their lines.",
        .setup = setup);
