/* Cause: on_line() (49) takes any answer for that of the account asked now, without comparing the account that the answer carries; after on_timer() (59) gave up on an account its late answer is booked for the next one. (Callback loop, timerfd.) */
#include <sim/rewake.h>

#define ACCOUNTS 3
#define UNKNOWN (-1)

struct teller {
    struct sim_fds *fds;
    int epoll;
    int line;
    int far_end;
    int timer;
    uint8_t asked;
    int book[ACCOUNTS];
};

static int
balance_of(uint8_t account)
{
    return 5 + account * 3;
}

static void
ask(struct teller *teller, struct sim_world *world)
{
    if (teller->asked == ACCOUNTS) {
        return;
    }
    struct sim_sys_timer due = {sim_now(world) + 3 * RT_MS, 0};
    SIM_ALWAYS(sim_sys_timerfd_set(teller->fds, teller->timer, &due, NULL) == 0);
    SIM_ALWAYS(sim_sys_write(teller->fds, teller->line, &teller->asked, 1, 0, RT_HERE) == 1);
}

static void
on_line(struct teller *teller, struct sim_world *world)
{
    uint8_t answer[2];
    int64_t n = sim_sys_read(teller->fds, teller->line, &answer[0], 1, 0, RT_HERE);
    if (n != 1) {
        return;
    }
    answer[1] = answer[0] & 0x3f;
    answer[0] >>= 6;
#ifdef FIXED
    if (answer[0] != teller->asked) {
        return;
    }
#endif
    teller->book[teller->asked++] = answer[1];
    ask(teller, world);
}

static void
on_timer(struct teller *teller, struct sim_world *world)
{
    uint64_t expired;
    if (sim_sys_read(teller->fds, teller->timer, &expired, sizeof expired, 0, RT_HERE) ==
            sizeof expired) {
        teller->book[teller->asked++] = UNKNOWN;
        ask(teller, world);
    }
}

static void
teller_main(struct sim_world *world, void *argument)
{
    struct teller *teller = argument;
    ask(teller, world);
    while (teller->asked < ACCOUNTS) {
        struct sim_fd_event events[2];
        int count = sim_sys_epoll_wait(
                teller->fds, teller->epoll, events, 2, SIM_NEVER, RT_HERE);
        for (int i = 0; i < count && teller->asked < ACCOUNTS; i++) {
            if (events[i].data == (uint64_t)teller->line) {
                on_line(teller, world);
            } else {
                on_timer(teller, world);
            }
        }
    }
    for (uint8_t i = 0; i < ACCOUNTS; i++) {
        SIM_ALWAYS(teller->book[i] == UNKNOWN || teller->book[i] == balance_of(i));
    }
    SIM_ALWAYS(sim_sys_shutdown(teller->fds, teller->line, SIM_SYS_SHUT_WRITE) == 0);
}

static void
office_main(struct sim_world *world, void *argument)
{
    struct teller *teller = argument;
    uint8_t account;
    while (sim_sys_read(teller->fds, teller->far_end, &account, 1, 0, RT_HERE) == 1) {
        sim_sleep(world, sim_range(world, 1 * RT_MS, 4 * RT_MS));
        uint8_t answer = (uint8_t)(account << 6 | balance_of(account));
        (void)sim_sys_write(teller->fds, teller->far_end, &answer, 1, 0, RT_HERE);
    }
}

static void
setup(struct sim_world *world)
{
    struct teller *teller = sim_new(world, struct teller);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    int pair[2];
    teller->fds = sim_fds_new(host, 3);
    teller->epoll = sim_sys_epoll(teller->fds, "counter");
    SIM_ALWAYS(sim_sys_socketpair(teller->fds, "line", SIM_SYS_STREAM, pair) == 0);
    teller->line = pair[0];
    teller->far_end = pair[1];
    teller->timer = sim_sys_timerfd(teller->fds, "patience");
    SIM_ALWAYS(sim_sys_set_status(teller->fds, teller->line, SIM_SYS_NONBLOCK) == 0);
    SIM_ALWAYS(sim_sys_set_status(teller->fds, teller->timer, SIM_SYS_NONBLOCK) == 0);
    SIM_ALWAYS(sim_sys_epoll_add(teller->fds, teller->epoll, teller->line, SIM_FD_IN,
                       (uint64_t)teller->line) == 0);
    SIM_ALWAYS(sim_sys_epoll_add(teller->fds, teller->epoll, teller->timer, SIM_FD_IN,
                       (uint64_t)teller->timer) == 0);
    (void)sim_loop_new(world, "teller", teller_main, teller);
    (void)sim_loop_new(world, "office", office_main, teller);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(ledgerline, .name = "s19/ledgerline/" FORM, .about = "A teller asks for balances.",
        .setup = setup);
