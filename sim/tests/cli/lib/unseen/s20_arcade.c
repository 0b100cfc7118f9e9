/* Cause: visitor_shoot(), line 76 and 83-84: the pointer to a duck is kept while the visitor aims (100-101). Order: the duck that was chosen (95) leaves (duck_poll: its swim is over, serial 0), and perhaps gallery_update lets another one enter in the same memory; then the visitor shoots at what is there. Harm: SIM_ALWAYS 83. Fix: ask the weak reference whether it is still the same (78).
 */
#include <sim/rewake.h>

#define DUCKS 2
#define SHOTS 3
#define TICKS_MAX 200

struct duck {
    struct rt_activity activity;
    struct gallery *gallery;
    uint32_t serial; /* 0: it has left. */
    uint32_t at;
    uint32_t hits;
    struct rt_tick_wait swim;
};

struct visitor {
    struct rt_activity activity;
    struct gallery *gallery;
    uint32_t at;
    struct duck *duck;
    struct rt_key target;
    uint32_t serial; /* Of the duck that is aimed at. */
    struct rt_tick_wait aim;
    uint32_t shots;
};

struct gallery {
    struct sim_world *world;
    struct sim_ticker *game;
    struct duck ducks[DUCKS];
    struct visitor visitor;
    uint32_t serials;
    uint32_t ticks;
    uint32_t points;
    uint32_t left; /* Ducks that left while they were aimed at. */
};

static rt_poll
duck_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct duck *duck = rt_container_of(activity, struct duck, activity);
    RT_BEGIN(duck->at);
    rt_tick_wait_init(&duck->swim, sim_range(duck->gallery->world, 5, 9));
    RT_AWAIT_HERE(duck->at, rt_tick_wait_poll(&duck->swim, &activity->scope, cx));
    duck->serial = 0;
    RT_END(duck->at);
}

static void
duck_enter(struct gallery *gallery, struct duck *duck)
{
    *duck = (struct duck){.gallery = gallery, .serial = ++gallery->serials};
    rt_activity_init(&duck->activity, duck_poll, NULL, "duck");
    sim_ticker_spawn(gallery->game, &duck->activity);
}

static struct duck *
gallery_choose(struct gallery *gallery)
{
    uint32_t first = sim_pick(gallery->world, DUCKS);
    for (uint32_t i = 0; i < DUCKS; i++) {
        struct duck *duck = &gallery->ducks[(first + i) % DUCKS];
        if (rt_activity_alive(&duck->activity)) {
            return duck;
        }
    }
    return NULL;
}

static void
visitor_shoot(struct visitor *visitor)
{
    struct gallery *gallery = visitor->gallery;
    struct duck *duck = visitor->duck;
#ifdef FIXED
    if (rt_upgrade(sim_ticker_ticker(gallery->game), visitor->target) == NULL) {
        gallery->left++;
        return;
    }
#endif
    SIM_ALWAYS(duck->serial == visitor->serial);
    duck->hits++;
    gallery->points++;
}

static rt_poll
visitor_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct visitor *visitor = rt_container_of(activity, struct visitor, activity);
    struct gallery *gallery = visitor->gallery;
    RT_BEGIN(visitor->at);
    while (visitor->shots < SHOTS) {
        visitor->duck = gallery_choose(gallery);
        if (visitor->duck != NULL) {
            visitor->target = rt_activity_id(&visitor->duck->activity);
            visitor->serial = visitor->duck->serial;
        }
        rt_tick_wait_init(&visitor->aim, sim_range(gallery->world, 1, 4));
        RT_AWAIT_HERE(visitor->at, rt_tick_wait_poll(&visitor->aim, &activity->scope, cx));
        if (visitor->duck != NULL) {
            visitor_shoot(visitor);
            visitor->shots++;
        }
    }
    RT_END(visitor->at);
}

static bool
gallery_update(struct sim_world *world, void *argument)
{
    struct gallery *gallery = argument;
    (void)world;
    for (uint32_t i = 0; i < DUCKS; i++) {
        if (!rt_activity_alive(&gallery->ducks[i].activity)) {
            duck_enter(gallery, &gallery->ducks[i]);
        }
    }
    return gallery->visitor.shots < SHOTS && gallery->ticks++ < TICKS_MAX;
}

static void
check(struct sim_world *world, void *state)
{
    struct gallery *gallery = state;
    (void)world;
    SIM_ALWAYS(gallery->visitor.shots == SHOTS);
    SIM_ALWAYS(gallery->points + gallery->left == SHOTS);
}

static void
setup(struct sim_world *world)
{
    struct gallery *gallery = sim_new(world, struct gallery);
    struct sim_ticker_options options = {.update = gallery_update, .argument = gallery};
    gallery->world = world;
    gallery->game = sim_ticker_new(world, &options);
    for (uint32_t i = 0; i < DUCKS; i++) {
        duck_enter(gallery, &gallery->ducks[i]);
    }
    gallery->visitor.gallery = gallery;
    rt_activity_init(&gallery->visitor.activity, visitor_poll, NULL, "visitor");
    sim_ticker_spawn(gallery->game, &gallery->visitor.activity);
    sim_set_state(world, gallery);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(arcade, .name = "s20/arcade/" FORM, .about = "A visitor aims at ducks that come and go.",
        .setup = setup, .check = check);
