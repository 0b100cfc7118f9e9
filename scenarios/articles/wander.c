/*
 * wander.c -- the example of the game article (S5): an agent that wanders, and is interrupted.
 *
 *      async fn wander_activity(ctx) -> Result<(), _> {
 *          loop {
 *              // walk to a nearby position
 *              let pos = choose_wander_destination();
 *              ctx.goto(pos).await?;
 *              // loiter for a few ticks
 *              ctx.wait(n).await;
 *          }
 *      }
 *
 * `goto` is a sub-activity. It sends a request to the path-finder, which answers at any time,
 * possibly that there is no path; then it subscribes to the events of the agent's body, starts the
 * walk, and parks until the body has arrived or is blocked by a wall. Loitering is a tick timer. So
 * an agent waits in three ways: with a waker (for the path), for an event, for a timer.
 *
 * An agent that is hurt changes its activity: the brain drops the current one, wherever it is, and
 * starts to flee. The old activity is not notified, and nothing of it may stay: no request at the
 * path-finder, no walking body, no timer, no subscription. Path-finder, bodies and timers are
 * audited. Fault `cancel` drops the activity at any other point as well; the brain then notices
 * that its reference is dead.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define AGENTS 2
#define LEGS 3
#define LOITER 3
#define HURTS_MAX 2
#define EVENTS 4

enum body_event { ARRIVED = 1, BLOCKED = 2 };

struct agent;

/* ---- The path-finder: one request at a time for each agent. ---------------------------------- */

struct path {
    struct agent *agent;
    struct sim_source *answer; /* NULL: no request is pending. */
    struct rt_pollable pollable;
    struct rt_wait wait;
    struct rt_key asker;
    struct rt_defer give_back;
};

/* ---- goto: ask for a path, walk it. ---------------------------------------------------------- */

struct go_to {
    struct rt_subactivity sub;
    struct agent *agent;
    uint32_t at;
    uint32_t distance;
    struct rt_event body_event;
    struct rt_subscription body_sub;
    struct rt_defer stand_still;
};

/* An agent, and its current activity. */
struct agent {
    struct game *game;
    const char *name;
    uint32_t entity;
    struct rt_activity activity; /* wander, or flee. */
    struct rt_event events[EVENTS];
    uint32_t at;
    uint32_t leg;
    struct go_to go_to;
    struct rt_tick_wait loiter;
    struct path path;
    uint32_t steps_left; /* Of the body; 0: it has stopped. */
    struct rt_key walks_for;
    uint32_t hurts;
    bool fleeing;
    bool home; /* It has nothing left to do. */
};

struct game {
    struct sim_world *world;
    struct sim_ticker *ticker;
    struct agent agents[AGENTS];
};

static void
give_path_back(struct rt_defer *defer)
{
    struct path *path = rt_container_of(defer, struct path, give_back);
    rt_wait_cancel(&path->wait);
    rt_pollable_drop(&path->pollable);
    SIM_ALWAYS(sim_source_drop(path->answer) == RT_OK);
    path->answer = NULL;
}

static void
request_path(struct path *path, struct rt_scope *scope)
{
    struct sim_host *host = sim_rt_host(sim_ticker_rt(path->agent->game->ticker));
    path->answer = sim_source_new(host, "path");
    SIM_ALWAYS(sim_source_subscribe(path->answer, &path->pollable) == RT_OK);
    sim_source_event_in(path->answer, 1 * RT_MS, 35 * RT_MS);
    path->asker = path->agent->activity.id;
    rt_wait_init(&path->wait);
    rt_defer_init(&path->give_back, give_path_back);
    rt_scope_defer(scope, &path->give_back);
}

static rt_poll
path_poll(struct path *path, struct rt_cx *cx)
{
    rt_err err;
    RT_AWAIT_INTO(
            err, sim_source_take(path->answer), rt_wait_for(&path->wait, &path->pollable, cx));
    return RT_READY;
}

static const char *
path_finder_audit(void *argument)
{
    const struct game *game = argument;
    const struct rt_ticker *ticker = sim_ticker_ticker(game->ticker);
    for (uint32_t i = 0; i < AGENTS; i++) {
        const struct path *path = &game->agents[i].path;
        if (path->answer != NULL && rt_upgrade(ticker, path->asker) == NULL) {
            return "a path request is still out for a dead agent";
        }
    }
    return NULL;
}

static void
stand_still(struct rt_defer *defer)
{
    rt_container_of(defer, struct go_to, stand_still)->agent->steps_left = 0;
}

static void
begin_to_walk(struct go_to *go_to)
{
    struct agent *agent = go_to->agent;
    rt_subscription_init(&go_to->body_sub);
    rt_subscribe(&go_to->body_sub, &agent->activity, &go_to->sub.scope, agent->entity,
            1u << ARRIVED | 1u << BLOCKED);
    rt_defer_init(&go_to->stand_still, stand_still);
    rt_scope_defer(&go_to->sub.scope, &go_to->stand_still);
    agent->steps_left = go_to->distance;
    agent->walks_for = agent->activity.id;
}

static rt_poll
go_to_poll(struct rt_subactivity *sub, struct rt_cx *cx)
{
    struct go_to *go_to = rt_container_of(sub, struct go_to, sub);
    struct path *path = &go_to->agent->path;
    RT_BEGIN(go_to->at);
    request_path(path, &sub->scope);
    RT_AWAIT_HERE(go_to->at, path_poll(path, cx));
    if (sim_pick(go_to->agent->game->world, 8) == 7) {
        return rt_sub_fail(sub, RT_E_INVALID); /* There is no path. */
    }
    begin_to_walk(go_to);
    RT_AWAIT_HERE(go_to->at, rt_next_event(cx, &go_to->body_event));
    if (go_to->body_event.kind == BLOCKED) {
        return rt_sub_fail(sub, RT_E_BUSY);
    }
    RT_END(go_to->at);
}

static void
go_to_init(struct go_to *go_to, struct agent *agent, uint32_t distance)
{
    rt_sub_init(&go_to->sub, go_to_poll, "goto");
    go_to->agent = agent;
    go_to->at = 0;
    go_to->distance = distance;
}

/* ---- wander and flee. ------------------------------------------------------------------------ */

static uint32_t
choose_distance(const struct agent *agent)
{
    return (uint32_t)sim_range(agent->game->world, 1, 4);
}

static rt_poll
wander_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct agent *agent = rt_container_of(activity, struct agent, activity);
    RT_BEGIN(agent->at);
    for (agent->leg = 0; agent->leg < LEGS; agent->leg++) {
        go_to_init(&agent->go_to, agent, choose_distance(agent));
        RT_AWAIT_HERE(agent->at, rt_sub_poll(&agent->go_to.sub, &activity->scope, cx));
        if (agent->go_to.sub.error == RT_OK) {
            rt_tick_wait_init(&agent->loiter, LOITER);
            RT_AWAIT_HERE(agent->at, rt_tick_wait_poll(&agent->loiter, &activity->scope, cx));
        }
    }
    agent->home = true;
    RT_END(agent->at);
}

/* Runs away, whether or not there is a path. */
static rt_poll
flee_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct agent *agent = rt_container_of(activity, struct agent, activity);
    RT_BEGIN(agent->at);
    go_to_init(&agent->go_to, agent, 5);
    RT_AWAIT_HERE(agent->at, rt_sub_poll(&agent->go_to.sub, &activity->scope, cx));
    agent->fleeing = false;
    RT_END(agent->at);
}

static void
begin_activity(struct agent *agent)
{
    rt_activity_init(&agent->activity, agent->fleeing ? flee_poll : wander_poll, NULL, agent->name);
    rt_activity_lend_events(&agent->activity, agent->events, EVENTS, RT_SINK_DROP_NEW);
    agent->at = 0;
    sim_ticker_spawn(agent->game->ticker, &agent->activity);
}

static const char *
timers_audit(void *argument)
{
    const struct game *game = argument;
    const struct rt_ticker *ticker = sim_ticker_ticker(game->ticker);
    for (uint32_t i = 0; i < AGENTS; i++) {
        const struct rt_tick_timer *timer = &game->agents[i].loiter.timer;
        bool runs = game->agents[i].loiter.begun && rt_tick_timer_started(timer);
        if (runs && rt_upgrade(ticker, timer->id) == NULL) {
            return "a timer runs for a dead agent";
        }
    }
    return NULL;
}

/* ---- The game's systems. --------------------------------------------------------------------- */

/* One step, unless a wall blocks it. */
static void
move_body(struct agent *agent)
{
    if (agent->steps_left == 0) {
        return;
    }
    bool wall = sim_pick(agent->game->world, 16) == 15;
    agent->steps_left = wall ? 0 : agent->steps_left - 1;
    if (agent->steps_left == 0) {
        struct rt_event event = {wall ? BLOCKED : ARRIVED, agent->entity, 0};
        SIM_ALWAYS(rt_event_post(sim_ticker_ticker(agent->game->ticker), &event) == RT_OK);
    }
}

/* If the fault dropped the activity, the agent starts again. */
static void
think(struct agent *agent)
{
    bool hurt = agent->hurts < HURTS_MAX && sim_pick(agent->game->world, 12) == 11;
    if (hurt) {
        agent->hurts++;
        agent->fleeing = true;
        rt_activity_drop(&agent->activity);
    }
    if (!rt_activity_alive(&agent->activity) && !agent->home) {
        begin_activity(agent);
    }
}

static const char *
bodies_audit(void *argument)
{
    const struct game *game = argument;
    const struct rt_ticker *ticker = sim_ticker_ticker(game->ticker);
    for (uint32_t i = 0; i < AGENTS; i++) {
        const struct agent *agent = &game->agents[i];
        if (agent->steps_left > 0 && rt_upgrade(ticker, agent->walks_for) == NULL) {
            return "a body walks on for a dead agent";
        }
    }
    return NULL;
}

static bool
update(struct sim_world *world, void *argument)
{
    struct game *game = argument;
    bool over = true;
    (void)world;
    for (uint32_t i = 0; i < AGENTS; i++) {
        move_body(&game->agents[i]);
    }
    for (uint32_t i = 0; i < AGENTS; i++) {
        think(&game->agents[i]);
        over = over && game->agents[i].home;
    }
    return !over;
}

static void
setup(struct sim_world *world)
{
    static const char *const names[AGENTS] = {"dwarf", "human"};
    struct game *game = sim_new(world, struct game);
    struct sim_ticker_options options = {.update = update, .argument = game};
    game->world = world;
    game->ticker = sim_ticker_new(world, &options);
    for (uint32_t i = 0; i < AGENTS; i++) {
        struct agent *agent = &game->agents[i];
        agent->game = game;
        agent->name = names[i];
        agent->entity = i + 1;
        agent->path.agent = agent;
        begin_activity(agent);
    }
    sim_audit_add(world, "path-finder", path_finder_audit, game);
    sim_audit_add(world, "bodies", bodies_audit, game);
    sim_audit_add(world, "timers", timers_audit, game);
    sim_set_state(world, game);
}

/* The game is over: no activity may still use the ticker. */
static void
check(struct sim_world *world, void *state)
{
    const struct game *game = state;
    (void)world;
    for (uint32_t i = 0; i < AGENTS; i++) {
        SIM_ALWAYS(game->agents[i].home);
        SIM_ALWAYS(game->agents[i].path.answer == NULL);
    }
    SIM_ALWAYS(rt_ticker_idle(sim_ticker_ticker(game->ticker)));
}

/* It assumes that the host has capacity for a pollable. */
SIM_SCENARIO(seed5_wander, .name = "articles/s5/wander",
        .about = "Agents wander, loiter, are hurt and flee; nothing of what they did is left.",
        .setup = setup, .check = check, .survives = SIM_FAULT_ALL & ~SIM_FAULT_CAPACITY);
