/* Cause: on_pigeon() re-arms the one-shot registration (44) before it has read the text (46): the other keeper gets an event for the same pigeon and both read from it and share opened/read, so one takes the seal of the next letter for a text. (Callback loops on descriptors.) */
#include <sim/rewake.h>

#define PIGEONS 2
#define LETTERS 3

struct pigeon {
    int fd;
    bool opened; /* The seal was read, the text was not. */
    uint8_t read;
};

struct dovecote {
    struct sim_fds *fds;
    int epoll;
    int home;
    int hand[PIGEONS];
    struct pigeon pigeons[PIGEONS];
    uint32_t letters;
};

#define HOME UINT64_C(99)
#define INTEREST (SIM_FD_IN | SIM_FD_ONESHOT)

static void
expect_again(struct dovecote *cote, uint64_t number)
{
    int fd = cote->pigeons[number].fd;
    SIM_ALWAYS(sim_sys_epoll_modify(cote->fds, cote->epoll, fd, INTEREST, number) == 0);
}

static void
on_pigeon(struct dovecote *cote, uint64_t number)
{
    struct pigeon *pigeon = &cote->pigeons[number];
    uint8_t seal, text;
    if (!pigeon->opened) {
        if (sim_sys_read(cote->fds, pigeon->fd, &seal, 1, 0, RT_HERE) == 1) {
            SIM_ALWAYS(seal == 0xaa);
            pigeon->opened = true;
        }
    }
#ifndef FIXED
    expect_again(cote, number);
#endif
    if (pigeon->opened && sim_sys_read(cote->fds, pigeon->fd, &text, 1, 0, RT_HERE) == 1) {
        SIM_ALWAYS(text == pigeon->read);
        pigeon->read++;
        pigeon->opened = false;
        cote->letters++;
    }
#ifdef FIXED
    expect_again(cote, number);
#endif
    if (cote->letters == PIGEONS * LETTERS) {
        uint64_t one = 1;
        (void)sim_sys_write(cote->fds, cote->home, &one, sizeof one, 0, RT_HERE);
    }
}

static void
keeper_main(struct sim_world *world, void *argument)
{
    struct dovecote *cote = argument;
    (void)world;
    for (;;) {
        struct sim_fd_event event;
        int count = sim_sys_epoll_wait(cote->fds, cote->epoll, &event, 1, SIM_NEVER, RT_HERE);
        if (count < 1) {
            continue;
        }
        if (event.data == HOME) {
            if (cote->letters == PIGEONS * LETTERS) {
                break;
            }
        } else {
            on_pigeon(cote, event.data);
        }
    }
}

static void
village_main(struct sim_world *world, void *argument)
{
    struct dovecote *cote = argument;
    for (uint8_t i = 0; i < LETTERS; i++) {
        for (uint32_t pigeon = 0; pigeon < PIGEONS; pigeon++) {
            uint8_t letter[2] = {0xaa, i};
            sim_sleep(world, sim_range(world, 1 * RT_MS, 2 * RT_MS));
            SIM_ALWAYS(sim_sys_write(cote->fds, cote->hand[pigeon], letter, 2, 0, RT_HERE) == 2);
        }
    }
}

static void
setup(struct sim_world *world)
{
    struct dovecote *cote = sim_new(world, struct dovecote);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    cote->fds = sim_fds_new(host, 3);
    cote->epoll = sim_sys_epoll(cote->fds, "loft");
    cote->home = sim_sys_eventfd(cote->fds, "evening", 0, false);
    SIM_ALWAYS(sim_sys_epoll_add(cote->fds, cote->epoll, cote->home, SIM_FD_IN, HOME) == 0);
    for (uint64_t i = 0; i < PIGEONS; i++) {
        int pair[2];
        SIM_ALWAYS(sim_sys_socketpair(cote->fds, "pigeon", SIM_SYS_STREAM, pair) == 0);
        cote->pigeons[i].fd = pair[0];
        cote->hand[i] = pair[1];
        SIM_ALWAYS(sim_sys_set_status(cote->fds, pair[0], SIM_SYS_NONBLOCK) == 0);
        SIM_ALWAYS(sim_sys_epoll_add(cote->fds, cote->epoll, pair[0], INTEREST, i) == 0);
    }
    (void)sim_loop_new(world, "keeper 1", keeper_main, cote);
    (void)sim_loop_new(world, "keeper 2", keeper_main, cote);
    (void)sim_loop_new(world, "village", village_main, cote);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(dovecote, .name = "s19/dovecote/" FORM, .about = "Two keepers read letters of two pigeons.",
        .setup = setup);
