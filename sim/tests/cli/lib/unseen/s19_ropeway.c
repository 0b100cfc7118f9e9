/* Cause: ropeway_main() takes the office's orders (119) only when no station is runnable (next_station(), 114-118); the two stations wake each other through the next slot all the time (station_poll -> station_wake), so CLOSE is never taken once the gondola goes. (Own executor; starved queue.) */
#include <sim/rewake.h>

#define STATIONS 2
#define ORDERS 4

enum order { OPEN, CLOSE };

struct station {
    struct ropeway *ropeway;
    bool gondola;
    bool queued;
    bool finished;
};

struct ropeway {
    struct rt_host *host;
    struct rt_pollable bell;
    struct station stations[STATIONS];
    struct station *next; /* Woken by a station: has the cache warm. */
    struct station *queue[STATIONS];
    uint32_t queued;
    enum order orders[ORDERS]; /* From the office. */
    uint32_t ordered, taken;
    bool closed;
    uint32_t rides;
};

static void
station_wake(struct station *station)
{
    struct ropeway *ropeway = station->ropeway;
    if (!station->queued && !station->finished) {
        station->queued = true;
        if (ropeway->next == NULL) {
            ropeway->next = station;
        } else {
            ropeway->queue[ropeway->queued++] = station;
        }
    }
}

static void
station_poll(struct station *station)
{
    struct ropeway *ropeway = station->ropeway;
    struct station *other = &ropeway->stations[station == &ropeway->stations[0]];
    sim_foreign_poll(station);
    if (ropeway->closed) {
        station->finished = true;
    } else if (station->gondola) {
        station->gondola = false;
        other->gondola = true;
        ropeway->rides++;
        sim_foreign_fire(&other->gondola);
        station_wake(other);
    }
    if (!station->finished) {
        sim_foreign_store(station, &station->gondola, "the gondola");
    }
    sim_foreign_polled(station, station->finished);
}

static void
station_again(void *ropeway, void *station)
{
    (void)ropeway;
    station_poll(station);
}

static void
take_orders(struct ropeway *ropeway)
{
    while (ropeway->taken < ropeway->ordered) {
        if (ropeway->orders[ropeway->taken++] == OPEN) {
            ropeway->stations[0].gondola = true;
        } else {
            ropeway->closed = true;
            station_wake(&ropeway->stations[1]);
        }
        SIM_PROGRESS();
        station_wake(&ropeway->stations[0]);
    }
}

static struct station *
next_station(struct ropeway *ropeway)
{
    struct station *station = ropeway->next;
    ropeway->next = NULL;
    if (station == NULL && ropeway->queued > 0) {
        station = ropeway->queue[--ropeway->queued];
    }
    if (station != NULL) {
        station->queued = false;
    }
    return station;
}

static void
ropeway_main(struct sim_world *world, void *argument)
{
    struct ropeway *ropeway = argument;
    struct rt_pollable *list[1] = {&ropeway->bell};
    uint32_t ready[1], count, turns = 0;
    (void)world;
    while (!ropeway->stations[0].finished || !ropeway->stations[1].finished) {
#ifdef FIXED
        if (++turns % 8 == 0) {
            take_orders(ropeway);
        }
#endif
        (void)turns;
        struct station *station = next_station(ropeway);
        if (station != NULL) {
            station_poll(station);
            continue;
        }
        take_orders(ropeway);
        if (ropeway->next == NULL) {
            SIM_ALWAYS(rt_host_poll(ropeway->host, list, 1, ready, &count) == RT_OK);
        }
    }
    rt_pollable_drop(&ropeway->bell);
}

static void
office_main(struct sim_world *world, void *argument)
{
    struct ropeway *ropeway = argument;
    static const enum order day[2] = {OPEN, CLOSE};
    for (uint32_t i = 0; i < 2; i++) {
        if (sim_pick(world, 4) == 1) {
            sim_sleep(world, 100 * RT_US);
        }
        ropeway->orders[ropeway->ordered++] = day[i];
        rt_host_notify(ropeway->host);
    }
}

static void
setup(struct sim_world *world)
{
    struct ropeway *ropeway = sim_new(world, struct ropeway);
    ropeway->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    SIM_ALWAYS(rt_host_subscribe(ropeway->host, RT_SUBSCRIBE_NOTIFY, 0, &ropeway->bell) == RT_OK);
    (void)sim_loop_new(world, "office", office_main, ropeway);
    struct sim_loop *loop = sim_loop_new(world, "ropeway", ropeway_main, ropeway);
    struct sim_foreign *foreign = sim_foreign_new(loop, station_again, ropeway);
    for (uint32_t i = 0; i < STATIONS; i++) {
        ropeway->stations[i].ropeway = ropeway;
        sim_foreign_spawn(foreign, &ropeway->stations[i], i == 0 ? "valley" : "summit");
        station_wake(&ropeway->stations[i]);
    }
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(ropeway, .name = "s19/ropeway/" FORM, .about = "A gondola between two stations.",
        .setup = setup);
