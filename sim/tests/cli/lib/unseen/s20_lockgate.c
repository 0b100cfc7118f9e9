/* Cause: on_timer(), line 58-67: the result of the timer's read is ignored. Order: one epoll_wait (78) returns the sign of a boat and the timer, the boat first; on_boats sets the timer again (51, 28), which takes back the expiration; then the timer's event of the same batch closes the gate (67), before its new deadline. Harm: SIM_ALWAYS 34. Fix: no expiration was read, so the event is old: return (61-63). */
#include <errno.h>

#include <sim/rewake.h>

#define OPEN_NS (10 * RT_MS)
#define SIGNS 4

enum { BOATS, TIMER };

struct lock {
    struct sim_world *world;
    struct sim_fds *fds;
    int epoll;
    int boats; /* The lock's end. */
    int river; /* The boats' end. */
    int timer;
    uint64_t due_ns;
    uint32_t signs;
    bool closed;
};

static void
gate_hold(struct lock *lock)
{
    struct sim_sys_timer timer = {.due_ns = sim_now(lock->world) + OPEN_NS};
    lock->due_ns = timer.due_ns;
    SIM_ALWAYS(sim_sys_timerfd_set(lock->fds, lock->timer, &timer, NULL) == 0);
}

static void
gate_close(struct lock *lock)
{
    SIM_ALWAYS(sim_now(lock->world) >= lock->due_ns);
    lock->closed = true;
    sim_log(lock->world, "the gate closes after %u signs", lock->signs);
}

static void
on_boats(struct lock *lock)
{
    char signs[8];
    int64_t count = sim_sys_read(lock->fds, lock->boats, signs, sizeof signs, SIM_SYS_DONTWAIT, RT_HERE);
    if (count <= 0) {
        if (count == 0) {
            (void)sim_sys_epoll_remove(lock->fds, lock->epoll, lock->boats);
        }
        return;
    }
    lock->signs += (uint32_t)count;
    gate_hold(lock);
}

static void
on_timer(struct lock *lock)
{
    uint64_t expirations = 0;
    int64_t size = sim_sys_read(
            lock->fds, lock->timer, &expirations, sizeof expirations, SIM_SYS_DONTWAIT, RT_HERE);
#ifdef FIXED
    if (size != (int64_t)sizeof expirations) {
        return;
    }
#else
    (void)size;
#endif
    gate_close(lock);
}

static void
keeper_main(struct sim_world *world, void *argument)
{
    struct lock *lock = argument;
    (void)world;
    gate_hold(lock);
    while (!lock->closed) {
        struct sim_fd_event events[4];
        int count = sim_sys_epoll_wait(lock->fds, lock->epoll, events, 4, SIM_NEVER, RT_HERE);
        for (int i = 0; i < count && !lock->closed; i++) {
            if (events[i].data == BOATS) {
                on_boats(lock);
            } else {
                on_timer(lock);
            }
        }
    }
    SIM_ALWAYS(sim_sys_close(lock->fds, lock->boats) == 0);
    SIM_ALWAYS(sim_sys_close(lock->fds, lock->timer) == 0);
}

static void
boats_main(struct sim_world *world, void *argument)
{
    struct lock *lock = argument;
    for (uint32_t i = 0; i < SIGNS; i++) {
        sim_sleep(world, sim_range(world, 4 * RT_MS, 12 * RT_MS));
        int64_t size = sim_sys_write(lock->fds, lock->river, "b", 1, SIM_SYS_DONTWAIT, RT_HERE);
        if (size < 0) {
            break;
        }
    }
    SIM_ALWAYS(sim_sys_close(lock->fds, lock->river) == 0);
}

static void
setup(struct sim_world *world)
{
    struct lock *lock = sim_new(world, struct lock);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    lock->world = world;
    lock->fds = sim_fds_new(host, 3);
    lock->epoll = sim_sys_epoll(lock->fds, "lock");
    lock->timer = sim_sys_timerfd(lock->fds, "gate");
    int ends[2];
    SIM_ALWAYS(sim_sys_socketpair(lock->fds, "canal", SIM_SYS_STREAM, ends) == 0);
    lock->boats = ends[0];
    lock->river = ends[1];
    SIM_ALWAYS(sim_sys_epoll_add(lock->fds, lock->epoll, lock->boats, SIM_FD_IN, BOATS) == 0);
    SIM_ALWAYS(sim_sys_epoll_add(lock->fds, lock->epoll, lock->timer, SIM_FD_IN, TIMER) == 0);
    (void)sim_loop_new(world, "keeper", keeper_main, lock);
    (void)sim_loop_new(world, "boats", boats_main, lock);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(lockgate, .name = "s20/lockgate/" FORM, .about = "A gate that stays open while boats come.",
        .setup = setup);
