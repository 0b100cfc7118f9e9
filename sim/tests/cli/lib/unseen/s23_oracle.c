/* Cause: one "current request" for several outstanding ones. The host function ask() stores its question in temple->asked (65), oracle_answers() (42-47) answers what is there instead of its own argument. Order: the second pilgrim's ask() overwrites asked (65) before the first one's answer comes; the first callback answers the second's question and clears asked (47); the second callback finds NULL and returns (44-46). Harm: hang (deadlock): the first pilgrim's guest waits for its reply forever (line 93, rt_call_drive); nobody will complete it. Fix: the callback uses its own question (39-40). */
#include <sim/rewake.h>

#define PILGRIMS 2

struct temple {
    struct sim_rt *rt;
#ifndef FIXED
    struct question *asked; /* By the host function. */
#endif
    uint64_t answers;
};

struct question {
    struct rt_reply reply;
    uint64_t number;
    struct rt_callback later;
    uint64_t delay_ns;
    struct temple *temple;
};

struct pilgrim {
    struct rt_task task;
    struct temple *temple;
    struct rt_store store;
    struct rt_call call;
    struct question question;
    uint64_t arguments[1];
    uint64_t results[1];
    enum rt_trap trap;
    struct rt_sleep way;
    bool arrived;
};

/* The oracle speaks. */
static void
oracle_answers(void *argument, rt_err status)
{
#ifdef FIXED
    struct question *question = argument;
#else
    struct temple *temple = ((struct question *)argument)->temple;
    struct question *question = temple->asked;
    if (question == NULL) {
        return; /* Answered. */
    }
    temple->asked = NULL;
#endif
    uint64_t answer = question->number * 7;
    if (status == RT_OK) {
        question->temple->answers++;
        rt_reply_complete(&question->reply, &answer, 1);
    }
}

/* Host function: ask(number) -> answer. */
static void
ask(struct rt_host_call *host)
{
    struct pilgrim *pilgrim = host->guest->store->data;
    struct question *question = &pilgrim->question;
    question->number = host->arguments[0];
    rt_reply_begin(&question->reply, host);
#ifndef FIXED
    pilgrim->temple->asked = question;
#endif
    rt_callback_init(&question->later, oracle_answers, question, "oracle");
    SIM_ALWAYS(rt_callback_post_after(sim_rt_executor(pilgrim->temple->rt), &question->later,
                       question->delay_ns) == RT_OK);
}

static void
walk_and_ask(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    for (uint32_t miles = 0; miles < 5; miles++) {
        if (!rt_guest_check(guest, 300)) {
            return;
        }
    }
    if (!rt_guest_host(guest, ask, arguments, results)) {
        return;
    }
}

static rt_poll
pilgrim_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct pilgrim *pilgrim = rt_container_of(task, struct pilgrim, task);
    if (!pilgrim->arrived) {
        RT_AWAIT(rt_sleep_poll(&pilgrim->way, cx));
        pilgrim->arrived = true;
    }
    RT_AWAIT(rt_call_drive(&pilgrim->call, cx));
    SIM_ALWAYS(pilgrim->trap == RT_TRAP_NONE);
    SIM_ALWAYS(pilgrim->results[0] == pilgrim->arguments[0] * 7);
    rt_call_delete(&pilgrim->call);
    rt_store_fini(&pilgrim->store);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    static const char *const names[PILGRIMS] = {"ione", "theo"};
    struct temple *temple = sim_new(world, struct temple);
    struct rt_engine *engine = sim_engine_new(world, NULL);
    temple->rt = sim_rt_new(world, NULL);
    for (uint32_t i = 0; i < PILGRIMS; i++) {
        struct pilgrim *pilgrim = sim_new(world, struct pilgrim);
        pilgrim->temple = temple;
        pilgrim->question.temple = temple;
        pilgrim->question.delay_ns = sim_range(world, 100 * RT_US, 500 * RT_US);
        pilgrim->arguments[0] = 3 + i;
        rt_sleep_init(&pilgrim->way, i == 0 ? 0 : 1 * RT_MS - sim_range(world, 0, 900 * RT_US));
        rt_reply_init(&pilgrim->question.reply, "an answer");
        rt_store_init(&pilgrim->store, engine, pilgrim);
        SIM_ALWAYS(rt_call_init(&pilgrim->call, &pilgrim->store,
                           &(struct rt_call_config){.guest = walk_and_ask,
                                   .arguments = pilgrim->arguments,
                                   .results = pilgrim->results,
                                   .result_count = 1,
                                   .trap = &pilgrim->trap,
                                   .name = names[i]}) == RT_OK);
        rt_task_init(&pilgrim->task, pilgrim_poll, NULL, names[i]);
        sim_spawn(temple->rt, &pilgrim->task);
    }
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(oracle, .name = "s23/oracle/" FORM, .about = "Two pilgrims ask the oracle.",
        .setup = setup);
