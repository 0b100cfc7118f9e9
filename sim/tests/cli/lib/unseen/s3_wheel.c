// Cause: s3_wheel.c:51 wheel_next() looks for the next timer from the cursor to the end of the slots and does not go round, so a timer whose slot lies before the cursor is not seen, and the loop sleeps without a time-out.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define SLOTS 8
#define TICK RT_MS
#define SESSIONS 4

struct session {
    const char *name;
    uint64_t asks_ns;  /* Comes so long after the one before, … */
    uint64_t lives_ns; /* … and lives so long. */
    uint64_t due_tick;
    bool asked;
    bool armed;
    bool over;
};

struct service {
    struct sim_world *world;
    struct sim_fds *fds;
    int bell;
    struct session sessions[SESSIONS];
    uint8_t wheel[SLOTS]; /* How many timers are in each slot. */
    uint64_t cursor;      /* The tick up to which timers were fired. */
    uint32_t over;
    bool fixed;
};

static uint64_t
now_tick(const struct service *service)
{
    return sim_now(service->world) / TICK;
}

static void
wheel_arm(struct service *service, struct session *session)
{
    uint64_t ticks = (session->lives_ns + TICK - 1) / TICK;
    session->due_tick = now_tick(service) + ticks + 1;
    session->armed = true;
    service->wheel[session->due_tick % SLOTS]++;
}

/* How many ticks after the cursor the next timer is due; 0: there is none. */
static uint64_t
wheel_next(const struct service *service)
{
    uint64_t at = service->cursor % SLOTS;
    uint64_t last = service->fixed ? at + SLOTS - 1 : SLOTS - 1;
    for (uint64_t slot = at + 1; slot <= last; slot++) {
        if (service->wheel[slot % SLOTS] > 0) {
            return slot - at;
        }
    }
    return 0;
}

static void
session_expire(struct service *service, struct session *session)
{
    if (session->over) {
        return;
    }
    sim_foreign_poll(session);
    if (session->armed && session->due_tick <= now_tick(service)) {
        session->armed = false;
        session->over = true;
        service->wheel[session->due_tick % SLOTS]--;
        service->over++;
    }
    sim_foreign_polled(session, session->over);
}

static void
session_again(void *service, void *session)
{
    session_expire(service, session);
}

static void
wheel_advance(struct service *service)
{
    while (service->cursor < now_tick(service)) {
        service->cursor++;
        for (uint32_t i = 0; i < SESSIONS; i++) {
            struct session *session = &service->sessions[i];
            if (session->armed && session->due_tick == service->cursor) {
                session_expire(service, session);
            }
        }
    }
}

static void
service_main(struct sim_world *world, void *argument)
{
    struct service *service = argument;
    while (service->over < SESSIONS) {
        wheel_advance(service);
        for (uint32_t i = 0; i < SESSIONS; i++) {
            if (service->sessions[i].asked) {
                service->sessions[i].asked = false;
                wheel_arm(service, &service->sessions[i]);
            }
        }
        uint64_t next = wheel_next(service);
        uint64_t timeout = SIM_NEVER;
        if (next > 0) {
            uint64_t at_ns = (service->cursor + next) * TICK;
            uint64_t now_ns = sim_now(world);
            timeout = at_ns > now_ns ? at_ns - now_ns : 0;
        }
        if (service->over == SESSIONS) {
            break;
        }
        struct sim_fd_event event;
        uint64_t counter;
        if (sim_fd_wait(service->fds, &event, 1, timeout) > 0 &&
                sim_fd_read(service->fds, service->bell, &counter, sizeof counter) < 0) {
            continue;
        }
    }
}

/* A separate thread, which opens the sessions. */
static void
front_main(struct sim_world *world, void *argument)
{
    struct service *service = argument;
    for (uint32_t i = 0; i < SESSIONS; i++) {
        sim_sleep(world, service->sessions[i].asks_ns);
        service->sessions[i].asked = true;
        SIM_ALWAYS(sim_fd_notify(service->fds, service->bell) == RT_OK);
    }
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[SESSIONS] = {"session 1", "session 2", "session 3", "session 4"};
    struct service *service = sim_new(world, struct service);
    struct sim_loop *loop = sim_loop_new(world, "service", service_main, service);
    struct sim_foreign *foreign = sim_foreign_new(loop, session_again, service);
    service->world = world;
    service->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    service->fixed = fixed;
    SIM_ALWAYS(sim_fd_event_open(service->fds, "bell", &service->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(service->fds, service->bell, SIM_FD_IN, 0) == RT_OK);
    for (uint32_t i = 0; i < SESSIONS; i++) {
        service->sessions[i].name = names[i];
        service->sessions[i].asks_ns = sim_range(world, RT_MS / 2, 3 * RT_MS);
        service->sessions[i].lives_ns = sim_range(world, RT_MS, 4 * RT_MS);
        sim_foreign_watch(foreign, &service->sessions[i], names[i], "its end");
    }
    (void)sim_loop_new(world, "front", front_main, service);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_wheel/broken", .about = "Sessions on a small timer wheel.",
        .setup = setup_broken, .slack_ns = 2 * RT_MS);
SIM_SCENARIO(fixed, .name = "set3/s3_wheel/fixed", .about = "Sessions on a small timer wheel.",
        .setup = setup_fixed, .slack_ns = 2 * RT_MS);
