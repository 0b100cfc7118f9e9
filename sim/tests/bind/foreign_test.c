/*
 * foreign_test.c -- another runtime: its wakes are recorded, its blocked tasks are polled by the
 * oracle, and correct programs pass.
 *
 * The runtime here is a minimal one: a flag for each task, rounds over all of them, and the host's
 * poll when no task is flagged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "sim/core/record/site.h"
#include "sim/tests/lab.h"

#define MANY 3u
#define SEEDS 600u

struct mini;

struct member {
    struct mini *mini;
    bool (*poll)(struct member *member); /* True: finished. */
    const char *name;
    uint64_t deadline_ns; /* 0: none. */
    bool woken;
    bool done;
};

/* The state of a test. */
struct mini {
    struct sim_world *world;
    struct sim_host *host;
    struct rt_pollable bell;
    struct rt_pollable clock[MANY];
    struct sim_source *source;
    struct rt_pollable readable;
    struct member members[MANY];
    uint32_t count;
    struct member *waiter; /* In the one slot. */
    bool full;             /* What is waited for there. */
    bool careless;         /* The bug of the test. */
};

static void
wake(struct member *member)
{
    member->woken = true;
    rt_host_notify(sim_host_seam(member->mini->host));
}

static void
run(struct member *member)
{
    member->woken = false;
    sim_foreign_poll(member);
    member->done = member->poll(member);
    sim_foreign_polled(member, member->done);
}

static void
again(void *runtime, void *task)
{
    (void)runtime;
    run(task);
}

static bool
round_of(struct mini *mini)
{
    bool any = false;
    for (uint32_t i = 0; i < mini->count; i++) {
        struct member *member = &mini->members[i];
        if (member->woken && !member->done) {
            run(member);
            any = true;
        }
    }
    return any;
}

static bool
is_done(const struct mini *mini)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < mini->count; i++) {
        done += mini->members[i].done;
    }
    return done == mini->count;
}

/* Blocks in the host, for the bell, the source if there is one, and all deadlines. */
static void
sleep_in_host(struct mini *mini)
{
    struct rt_host *seam = sim_host_seam(mini->host);
    struct rt_pollable *list[2 + MANY] = {&mini->bell};
    uint32_t ready[2 + MANY];
    uint32_t count = 1;
    if (mini->source != NULL) {
        list[count++] = &mini->readable;
    }
    for (uint32_t i = 0; i < mini->count; i++) {
        if (!mini->members[i].done && mini->members[i].deadline_ns != 0) {
            EXPECT_EQ(rt_subscribe_instant(seam, mini->members[i].deadline_ns, &mini->clock[i]),
                    RT_OK);
            list[count++] = &mini->clock[i];
        }
    }
    EXPECT_EQ(rt_host_poll(seam, list, count, ready, &count), RT_OK);
    for (uint32_t i = 0; i < mini->count; i++) {
        rt_pollable_drop(&mini->clock[i]);
        /* After any report, tasks with a deadline and readers check for themselves. */
        if (mini->members[i].deadline_ns != 0 || mini->source != NULL) {
            sim_foreign_fire(&mini->members[i]);
            mini->members[i].woken = true;
        }
    }
}

static void
mini_main(struct sim_world *world, void *argument)
{
    struct mini *mini = argument;
    (void)world;
    while (!is_done(mini)) {
        if (!round_of(mini)) {
            sleep_in_host(mini);
        }
    }
    rt_pollable_drop(&mini->bell);
    rt_pollable_drop(&mini->readable);
}

static struct mini *
mini_new(struct sim_world *world)
{
    struct mini *mini = sim_new(world, struct mini);
    mini->world = world;
    mini->host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    EXPECT_EQ(rt_host_subscribe(sim_host_seam(mini->host), RT_SUBSCRIBE_NOTIFY, 0, &mini->bell),
            RT_OK);
    sim_set_state(world, mini);
    return mini;
}

static struct member *
add(struct mini *mini, struct sim_foreign *foreign, const char *name,
        bool (*poll)(struct member *member))
{
    struct member *member = &mini->members[mini->count++];
    *member = (struct member){.mini = mini, .poll = poll, .name = name, .woken = true};
    sim_foreign_spawn(foreign, member, name);
    return member;
}

static struct sim_foreign *
start(struct mini *mini, bool askable)
{
    struct sim_loop *loop = sim_loop_new(mini->world, "mini", mini_main, mini);
    return sim_foreign_new(loop, askable ? again : NULL, mini);
}

static struct sim_outcome
judge(struct lab *lab, void (*setup)(struct sim_world *world), uint64_t seed)
{
    const struct sim_scenario scenario = {.name = "test/foreign", .setup = setup};
    lab_init(lab, NULL, 0xa5);
    return lab_judge(lab, &scenario, seed, true);
}

/* ---- What is reported. ----------------------------------------------------------------------- */

static bool
reader_poll(struct member *member)
{
    struct mini *mini = member->mini;
    if (mini->full) {
        return true;
    }
    mini->waiter = member;
    sim_foreign_store(member, &mini->waiter, "something in the box");
    return false;
}

static bool
writer_poll(struct member *member)
{
    struct mini *mini = member->mini;
    mini->full = true;
    if (!mini->careless && mini->waiter != NULL) {
        sim_foreign_fire(&mini->waiter);
        wake(mini->waiter);
    }
    return true;
}

static void
box(struct sim_world *world, bool careless, bool askable, uint32_t readers)
{
    struct mini *mini = mini_new(world);
    struct sim_foreign *foreign = start(mini, askable);
    mini->careless = careless;
    (void)add(mini, foreign, "reader", reader_poll);
    if (readers == 2) {
        (void)add(mini, foreign, "second reader", reader_poll);
    }
    (void)add(mini, foreign, "writer", writer_poll);
}

static void
box_setup(struct sim_world *world)
{
    box(world, false, true, 1);
}

static void
forgotten_setup(struct sim_world *world)
{
    box(world, true, true, 1);
}

static void
unasked_setup(struct sim_world *world)
{
    box(world, true, false, 1);
}

static void
crowded_setup(struct sim_world *world)
{
    box(world, false, true, 2);
}

/* Whether `text` has the parts in this order. */
static bool
has_in_order(const char *text, const char *const *parts)
{
    for (; *parts != NULL && text != NULL; parts++) {
        text = strstr(text, *parts);
    }
    return text != NULL;
}

/*
 * Goal: the two calls and the polls make the events of a runtime of ours.
 * Method: a reader waits, a writer wakes it, it ends; the events in their order.
 */
TEST(foreign_store_and_fire_are_the_events_of_a_waker)
{
    static const char *const parts[] = {" poll ", " store ", " polled ", " poll ", " fire ",
            " wake ", " polled ", " complete ", " poll ", " polled ", " complete ", NULL};
    struct lab lab;
    EXPECT_EQ(judge(&lab, box_setup, 1).verdict, SIM_VERDICT_PASS);
    char *events = lab_events(&lab);
    EXPECT(has_in_order(events, parts));
    free(events);
    lab_fini(&lab);
}

/*
 * Goal: a foreign task that is blocked although it could make progress is found, and named.
 * Method: the writer fills the box and wakes no task.
 */
TEST(foreign_task_without_its_wake_is_a_lost_wakeup)
{
    struct lab lab;
    struct sim_outcome outcome = judge(&lab, forgotten_setup, 1);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_LOST_WAKEUP);
    EXPECT_EQ(outcome.oracle, SIM_ORACLE_REWAKE);
    EXPECT_STR(outcome.actor_name, "reader");
    EXPECT(strstr(outcome.message, "something in the box") != NULL);
    EXPECT(outcome.missing_wake_step != 0);
    lab_fini(&lab);
}

/*
 * Goal: without the callback no task can be polled, and the verdict is not lost-wakeup.
 * Method: the same, and no callback: a deadlock that names all tasks and what they wait for.
 */
TEST(foreign_task_without_spurious_poll_is_a_deadlock)
{
    struct lab lab;
    struct sim_outcome outcome = judge(&lab, unasked_setup, 1);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_DEADLOCK);
    EXPECT(strstr(outcome.message, "'reader' waits for: something in the box") != NULL);
    /* The loop, which is older, is blocked because its tasks are: it is not named. */
    EXPECT_STR(outcome.actor_name, "reader");
    lab_fini(&lab);
}

/*
 * Goal: a slot holds one waker, so a second one replaces the first.
 * Method: two readers; the writer wakes the one that is in the slot, and the other is lost.
 */
TEST(foreign_waker_is_replaced_by_the_next_store)
{
    static const char *const parts[] = {" store ", " replace ", " store ", " fire ", NULL};
    struct lab lab;
    struct sim_outcome outcome = judge(&lab, crowded_setup, 1);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_LOST_WAKEUP);
    EXPECT_STR(outcome.actor_name, "reader");
    char *events = lab_events(&lab);
    EXPECT(has_in_order(events, parts));
    free(events);
    lab_fini(&lab);
}

/* ---- A wake that is dropped. ----------------------------------------------------------------- */

/* Waits in two slots, first in the one that matters. */
static bool
chooser_poll(struct member *member)
{
    struct mini *mini = member->mini;
    if (mini->full) {
        return true;
    }
    sim_foreign_store(member, &mini->full, "something in the box");
    sim_foreign_store(member, &mini->waiter, "the end of the world");
    return false;
}

/* The wake is reported, and the runtime's flag is not set. */
static bool
swallower_poll(struct member *member)
{
    member->mini->full = true;
    sim_foreign_fire(&member->mini->full);
    return true;
}

static void
dropped_setup(struct sim_world *world)
{
    struct mini *mini = mini_new(world);
    struct sim_foreign *foreign = start(mini, true);
    (void)add(mini, foreign, "chooser", chooser_poll);
    (void)add(mini, foreign, "swallower", swallower_poll);
}

/* Yields once: wakes itself inside of its poll, which the runtime drops. */
static bool
yielder_poll(struct member *member)
{
    struct mini *mini = member->mini;
    bool yielded = mini->full;
    mini->full = true;
    if (!yielded) {
        sim_foreign_store(member, &mini->waiter, "its next turn");
        sim_foreign_fire(&mini->waiter);
    }
    return yielded;
}

static void
yielder_setup(struct sim_world *world)
{
    struct mini *mini = mini_new(world);
    (void)add(mini, start(mini, true), "yielder", yielder_poll);
}

static bool
is_in(const struct sim_outcome *outcome, const char *function)
{
    const struct rt_site *site = sim_site_find(outcome->site);
    return site != NULL && strcmp(site->function, function) == 0;
}

/*
 * Goal: a task that was woken and is not polled is named with the reason of the wake and with the
 * line that waited, although no slot holds its waker any more.
 * Method: a wake that is reported but sets no flag, of a task that also waits for another thing;
 * and a task that wakes itself inside of its poll.
 */
TEST(foreign_wake_that_is_dropped_is_named_by_its_reason)
{
    struct lab lab;
    struct sim_outcome outcome = judge(&lab, dropped_setup, 1);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_LOST_WAKEUP);
    EXPECT(strstr(outcome.message, "waiting for: something in the box;") != NULL);
    EXPECT(is_in(&outcome, "chooser_poll"));
    EXPECT(outcome.object != 0);
    lab_fini(&lab);
    outcome = judge(&lab, yielder_setup, 1);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_LOST_WAKEUP);
    EXPECT(strstr(outcome.message, "waiting for: its next turn;") != NULL);
    EXPECT(is_in(&outcome, "yielder_poll"));
    lab_fini(&lab);
}

/* ---- No false alarms. ------------------------------------------------------------------------ */

/* Sleeps three times; polled too early, it continues to sleep. */
static bool
waiter_poll(struct member *member)
{
    uint64_t now_ns = rt_host_now(sim_host_seam(member->mini->host));
    if (member->deadline_ns >= 3 * RT_MS && now_ns >= member->deadline_ns) {
        return true;
    }
    if (member->deadline_ns == 0 || now_ns >= member->deadline_ns) {
        member->deadline_ns = now_ns + RT_MS;
    }
    sim_foreign_store(member, member, "its time");
    return false;
}

static bool
taker_poll(struct member *member)
{
    struct mini *mini = member->mini;
    while (sim_source_take(mini->source) == RT_OK) {
        member->deadline_ns = UINT64_MAX; /* It has had one of two. */
        if (mini->full) {
            return true;
        }
        mini->full = true;
    }
    sim_foreign_store(member, member, "an event");
    return false;
}

static void
healthy_setup(struct sim_world *world)
{
    struct mini *mini = mini_new(world);
    struct sim_foreign *foreign = start(mini, true);
    mini->source = sim_source_new(mini->host, "source");
    EXPECT_EQ(sim_source_subscribe(mini->source, &mini->readable), RT_OK);
    sim_source_event_in(mini->source, RT_MS, 4 * RT_MS);
    sim_source_event_in(mini->source, RT_MS, 4 * RT_MS);
    (void)add(mini, foreign, "first waiter", waiter_poll);
    (void)add(mini, foreign, "second waiter", waiter_poll);
    (void)add(mini, foreign, "taker", taker_poll);
}

/* How many of SEEDS runs do not pass, with every perturbation as often as possible. */
static uint32_t
alarms(void (*setup)(struct sim_world *world), enum sim_profile profile, uint64_t often)
{
    const struct sim_scenario scenario = {.name = "test/foreign",
            .setup = setup,
            .profile = profile,
            .survives = SIM_FAULT_CLOCK | SIM_FAULT_EINTR};
    struct lab lab;
    struct sim_options options;
    uint32_t alarms = 0;
    lab_init(&lab, NULL, 0xa5);
    sim_options_init(&options, &scenario);
    options.spurious_one_in = often;
    options.late_one_in = often;
    options.slow_one_in = often;
    options.fault_one_in = often;
    options.audit_one_in = 1;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        alarms +=
                lab_judge_with(&lab, &scenario, &options, seed, false).verdict != SIM_VERDICT_PASS;
    }
    lab_fini(&lab);
    return alarms;
}

/*
 * Goal: no false alarm for a correct runtime under spurious reports, late events, and deadlines
 * that are reported while the clock still reads less.
 * Method: blocked tasks and a reader under all of it, each quiescence audited, so that each is
 * polled everywhere.
 */
TEST(foreign_runtime_that_is_correct_passes)
{
    EXPECT_EQ(alarms(healthy_setup, SIM_PROFILE_HOSTILE, 2), 0);
    EXPECT_EQ(alarms(healthy_setup, SIM_PROFILE_HOSTILE, 16), 0);
    EXPECT_EQ(alarms(healthy_setup, SIM_PROFILE_WASI, 4), 0);
    EXPECT_EQ(alarms(healthy_setup, SIM_PROFILE_FD, 4), 0);
}

/* ---- Waits that are erased, and watchers. ---------------------------------------------------- */

/* Waits in two slots, and erases one; the other is never fired. */
static bool
doubtful_poll(struct member *member)
{
    struct mini *mini = member->mini;
    sim_foreign_store(member, &mini->full, "the first thing");
    sim_foreign_store(member, &mini->waiter, "the second thing");
    sim_foreign_erase(&mini->full);
    sim_foreign_erase(&mini->full);
    return false;
}

static void
doubtful_setup(struct sim_world *world)
{
    struct mini *mini = mini_new(world);
    (void)add(mini, start(mini, true), "doubtful", doubtful_poll);
}

/*
 * Goal: an erased wait is not reported, and erasing an empty slot does nothing.
 * Method: of two waits one is erased, twice; the deadlock names the other.
 */
TEST(foreign_wait_that_is_erased_is_not_reported)
{
    static const char *const parts[] = {" store ", " store ", " erase ", " polled ", NULL};
    struct lab lab;
    struct sim_outcome outcome = judge(&lab, doubtful_setup, 1);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_DEADLOCK);
    EXPECT(strstr(outcome.message, "waits for: the second thing") != NULL);
    char *events = lab_events(&lab);
    EXPECT(has_in_order(events, parts));
    EXPECT(strstr(strstr(events, " erase ") + 1, " erase ") == NULL);
    free(events);
    lab_fini(&lab);
}

/* Called once, before there is anything to do. */
static bool
deaf_poll(struct member *member)
{
    return member->mini->full;
}

static bool
filling_poll(struct member *member)
{
    member->mini->full = true;
    return true;
}

static void
not_rearmed_setup(struct sim_world *world)
{
    struct mini *mini = mini_new(world);
    struct sim_foreign *foreign = start(mini, true);
    struct member *deaf = &mini->members[mini->count++];
    *deaf = (struct member){.mini = mini, .poll = deaf_poll, .woken = true};
    sim_foreign_watch(foreign, deaf, "deaf", "something to do");
    (void)add(mini, foreign, "filler", filling_poll);
}

/*
 * Goal: a watcher waits for its event without any waker, and is found when it is not called.
 * Method: its event is after its only call. Each call removes its wait, and the end of the call
 * adds it again.
 */
TEST(foreign_watcher_that_is_not_called_is_a_lost_wakeup)
{
    static const char *const parts[] = {" store ", " fire ", " poll ", " store ", " polled ", NULL};
    struct lab lab;
    struct sim_outcome outcome = judge(&lab, not_rearmed_setup, 1);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_LOST_WAKEUP);
    EXPECT_STR(outcome.actor_name, "deaf");
    EXPECT(strstr(outcome.message, "waiting for: something to do") != NULL);
    char *events = lab_events(&lab);
    EXPECT(has_in_order(events, parts));
    free(events);
    lab_fini(&lab);
}

/* Background; no other task waits for it. */
static void
server_setup(struct sim_world *world)
{
    struct mini *mini = mini_new(world);
    struct sim_foreign *foreign = start(mini, true);
    struct member *server = &mini->members[MANY - 1]; /* Not among those that the loop waits for. */
    *server = (struct member){.mini = mini, .poll = deaf_poll};
    sim_foreign_spawn_background(foreign, server, "server");
    (void)add(mini, foreign, "filler", filling_poll);
}

/*
 * Goal: the run does not wait for a task in the background.
 * Method: a server that never ends beside a task that does.
 */
TEST(foreign_task_in_the_background_keeps_no_run_going)
{
    struct lab lab;
    EXPECT_EQ(judge(&lab, server_setup, 1).verdict, SIM_VERDICT_PASS);
    lab_fini(&lab);
}

/* ---- Not detected. -------------------------------------------------------------------------- */

static bool
beating_poll(struct member *member)
{
    struct mini *mini = member->mini;
    uint64_t now_ns = rt_host_now(sim_host_seam(mini->host));
    if (now_ns >= 2 * RT_MS) {
        return true;
    }
    if (mini->full) { /* It wakes others, as a sweep over all tasks would. */
        mini->members[0].woken = true;
    }
    member->deadline_ns = now_ns + RT_MS;
    sim_foreign_store(member, member, "its time");
    return false;
}

static void
fault_free_setup(struct sim_world *world)
{
    struct mini *mini = mini_new(world);
    struct sim_foreign *foreign = start(mini, true);
    mini->careless = true;
    (void)add(mini, foreign, "reader", reader_poll);
    (void)add(mini, foreign, "writer", writer_poll);
    (void)add(mini, foreign, "heart", beating_poll);
}

/*
 * Goal: a lost wake is not detected if another wake follows before the next quiescence, as
 * sim/judge/README.md says.
 * Method: the reader without its wake, and a heart that beats right after the writer.
 */
TEST(foreign_loss_before_another_wake_is_not_detected)
{
    struct lab lab;
    EXPECT_EQ(judge(&lab, fault_free_setup, 1).verdict, SIM_VERDICT_PASS);
    lab_fini(&lab);
}

/* ---- Ends. ----------------------------------------------------------------------------------- */

static void
leaving_main(struct sim_world *world, void *argument)
{
    struct mini *mini = argument;
    (void)world;
    run(&mini->members[0]);
    sim_foreign_end(&mini->members[1]);
    rt_pollable_drop(&mini->bell);
}

static void
leaving_setup(struct sim_world *world)
{
    struct mini *mini = mini_new(world);
    struct sim_foreign *foreign =
            sim_foreign_new(sim_loop_new(world, "mini", leaving_main, mini), again, mini);
    (void)add(mini, foreign, "left behind", reader_poll);
    (void)add(mini, foreign, "cancelled", reader_poll);
}

/*
 * Goal: a runtime that has ended has no blocked tasks.
 * Method: its loop returns while one task waits, and another was cancelled.
 */
TEST(foreign_tasks_end_with_their_loop)
{
    static const char *const parts[] = {" store ", " cancel ", " done ", " erase ", NULL};
    struct lab lab;
    EXPECT_EQ(judge(&lab, leaving_setup, 1).verdict, SIM_VERDICT_PASS);
    char *events = lab_events(&lab);
    EXPECT(has_in_order(events, parts));
    free(events);
    lab_fini(&lab);
}

static void
again_main(struct sim_world *world, void *argument)
{
    struct mini *mini = argument;
    (void)world;
    run(&mini->members[1]);
    run(&mini->members[1]);
}

static void
polled_again_setup(struct sim_world *world)
{
    struct mini *mini = mini_new(world);
    struct sim_foreign *foreign =
            sim_foreign_new(sim_loop_new(world, "mini", again_main, mini), again, mini);
    (void)add(mini, foreign, "reader", reader_poll);
    (void)add(mini, foreign, "writer", writer_poll);
}

static void
twice_setup(struct sim_world *world)
{
    struct mini *mini = mini_new(world);
    struct sim_foreign *foreign = start(mini, true);
    struct member *member = add(mini, foreign, "first", reader_poll);
    sim_foreign_spawn(foreign, member, "second");
}

static void
stranger_setup(struct sim_world *world)
{
    sim_foreign_store(world, world, "anything");
}

/*
 * Goal: inconsistent calls end the run with a message, not in a crash.
 * Method: a poll after the end; a second spawn; a waker of an unknown task.
 */
TEST(foreign_reports_that_contradict_themselves_are_refused)
{
    static const struct {
        void (*setup)(struct sim_world *world);
        const char *words;
    } wrong[] = {
            {polled_again_setup, "task 'writer' is polled after it has finished"},
            {twice_setup, "task 'second' is spawned where task 'first' has not ended"},
            {stranger_setup, "a task that was not spawned"},
    };
    for (uint32_t i = 0; i < 3; i++) {
        struct lab lab;
        struct sim_outcome outcome = judge(&lab, wrong[i].setup, 1);
        EXPECT_EQ(outcome.verdict, SIM_VERDICT_CONTRACT);
        EXPECT(strstr(outcome.message, wrong[i].words) != NULL);
        lab_fini(&lab);
    }
}

/*
 * Goal: these functions may also be called without the simulator.
 * Method: no run is in progress.
 */
TEST(foreign_reports_between_runs_do_nothing)
{
    int task = 0;
    sim_foreign_poll(&task);
    sim_foreign_store(&task, &task, "anything");
    sim_foreign_fire(&task);
    sim_foreign_erase(&task);
    sim_foreign_polled(&task, true);
    sim_foreign_end(&task);
    EXPECT_EQ(task, 0);
}
