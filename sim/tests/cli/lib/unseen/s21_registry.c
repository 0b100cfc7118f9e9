/* Cause: give_answers(), line 68: a visitor runs out of patience and leaves, the loop closes the number (90-92), the next visitor gets the same number; then the archivist's answer for the first is written to the second, as only "somebody is at this number" is tested. Harm: SIM_ALWAYS(answer == value * 2), line 153. Fix: compare the serial of the job with that of the visitor. */
#include <sim/rewake.h>

#define VISITS 3
#define NUMBERS 16

struct visitor {
    uint32_t serial; /* 0: nobody is at this number. */
    uint32_t questions;
};

struct job {
    int fd;
    uint32_t serial;
    uint32_t value;
};

struct queue {
    struct job jobs[2 * VISITS];
    uint32_t head;
    uint32_t tail;
};

struct registry {
    struct sim_fds *fds;
    int epoll;
    int bell;    /* An eventfd: somebody came in, or an answer is there. */
    int archive; /* An eventfd: there is a job. */
    int coming[VISITS];
    uint32_t came, let_in;
    uint32_t serials;
    uint32_t left;
    struct visitor visitors[NUMBERS];
    struct queue asked;
    struct queue found;
};

static void
ring(struct registry *registry, int bell)
{
    uint64_t one = 1;
    SIM_ALWAYS(sim_sys_write(registry->fds, bell, &one, sizeof one, 0, RT_HERE) == sizeof one);
}

static void
let_in(struct registry *registry)
{
    while (registry->let_in < registry->came) {
        int fd = registry->coming[registry->let_in++];
        SIM_ALWAYS(fd < NUMBERS);
        registry->visitors[fd] = (struct visitor){.serial = ++registry->serials};
        SIM_ALWAYS(sim_sys_epoll_add(registry->fds, registry->epoll, fd, SIM_FD_IN,
                           (uint64_t)fd) == 0);
    }
}

static void
give_answers(struct registry *registry)
{
    while (registry->found.head < registry->found.tail) {
        struct job *job = &registry->found.jobs[registry->found.head++];
        const struct visitor *visitor = &registry->visitors[job->fd];
#ifdef FIXED
        if (visitor->serial != job->serial) {
            continue;
        }
#else
        if (visitor->serial == 0) {
            continue;
        }
#endif
        uint32_t answer = job->value * 2;
        (void)sim_sys_write(registry->fds, job->fd, &answer, sizeof answer, SIM_SYS_DONTWAIT,
                RT_HERE);
    }
}

static void
on_visitor(struct registry *registry, int fd)
{
    struct visitor *visitor = &registry->visitors[fd];
    uint32_t value;
    int64_t n = sim_sys_read(registry->fds, fd, &value, sizeof value, SIM_SYS_DONTWAIT, RT_HERE);
    if (n == sizeof value) {
        visitor->questions++;
        registry->asked.jobs[registry->asked.tail++] =
                (struct job){.fd = fd, .serial = visitor->serial, .value = value};
        ring(registry, registry->archive);
    } else if (n == 0) {
        visitor->serial = 0;
        (void)sim_sys_epoll_remove(registry->fds, registry->epoll, fd);
        (void)sim_sys_close(registry->fds, fd);
        registry->left++;
    }
}

static void
registry_main(struct sim_world *world, void *argument)
{
    struct registry *registry = argument;
    (void)world;
    while (registry->left < VISITS) {
        struct sim_fd_event events[4];
        int count = sim_sys_epoll_wait(
                registry->fds, registry->epoll, events, 4, SIM_NEVER, RT_HERE);
        for (int i = 0; i < count; i++) {
            if ((int)events[i].data == registry->bell) {
                uint64_t times;
                (void)sim_sys_read(registry->fds, registry->bell, &times, sizeof times,
                        SIM_SYS_DONTWAIT, RT_HERE);
                let_in(registry);
                give_answers(registry);
            } else {
                on_visitor(registry, (int)events[i].data);
            }
        }
    }
}

static void
archivist_main(struct sim_world *world, void *argument)
{
    struct registry *registry = argument;
    while (registry->asked.head < VISITS) {
        uint64_t times;
        (void)sim_sys_read(registry->fds, registry->archive, &times, sizeof times, 0, RT_HERE);
        while (registry->asked.head < registry->asked.tail) {
            struct job job = registry->asked.jobs[registry->asked.head++];
            sim_sleep(world, sim_range(world, RT_MS, 3 * RT_MS));
            registry->found.jobs[registry->found.tail++] = job;
            ring(registry, registry->bell);
        }
    }
}

static void
street_main(struct sim_world *world, void *argument)
{
    struct registry *registry = argument;
    for (uint32_t i = 0; i < VISITS; i++) {
        uint32_t value = 7 + i, answer = 0;
        int ends[2];
        SIM_ALWAYS(sim_sys_socketpair(registry->fds, "visitor", SIM_SYS_STREAM, ends) == 0);
        registry->coming[registry->came++] = ends[0];
        ring(registry, registry->bell);
        SIM_ALWAYS(sim_sys_write(registry->fds, ends[1], &value, sizeof value, 0, RT_HERE) ==
                sizeof value);
        struct sim_sys_poll poll = {.fd = ends[1], .events = SIM_FD_IN};
        uint64_t patience = sim_range(world, 2 * RT_MS, 6 * RT_MS);
        if (sim_sys_poll(registry->fds, &poll, 1, patience, RT_HERE) == 1 &&
                sim_sys_read(registry->fds, ends[1], &answer, sizeof answer, SIM_SYS_DONTWAIT,
                        RT_HERE) == sizeof answer) {
            SIM_ALWAYS(answer == value * 2);
        }
        (void)sim_sys_close(registry->fds, ends[1]);
        sim_sleep(world, RT_MS / 2);
    }
}

static void
setup(struct sim_world *world)
{
    struct registry *registry = sim_new(world, struct registry);
    registry->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    registry->epoll = sim_sys_epoll(registry->fds, "desk");
    registry->bell = sim_sys_eventfd(registry->fds, "bell", 0, false);
    registry->archive = sim_sys_eventfd(registry->fds, "archive", 0, false);
    SIM_ALWAYS(sim_sys_epoll_add(registry->fds, registry->epoll, registry->bell, SIM_FD_IN,
                       (uint64_t)registry->bell) == 0);
    (void)sim_loop_new(world, "registry", registry_main, registry);
    (void)sim_loop_new(world, "archivist", archivist_main, registry);
    (void)sim_loop_new(world, "street", street_main, registry);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(registry, .name = "s21/registry/" FORM, .about = "Visitors ask a registry.", .setup = setup);
