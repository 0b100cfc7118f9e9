/* Cause: line_read(), line 66 and 75: each read is taken for a whole cable. Order: the cable arrives in parts, or the read moves fewer bytes than there are; the first part is printed with what the buffer had before, the rest as another cable. Harm: SIM_ALWAYS 35 or 36. Fix: collect until the cable is complete (56-64). */
#include <string.h>

#include <sim/rewake.h>

#define LINES 2
#define CABLES 3

struct cable {
    uint32_t number;
    uint32_t words;
};

struct line {
    struct desk *desk;
    const char *name;
    int fd;
    int far;
    struct cable cable; /* The one that arrives now … */
    size_t have;        /* … and how much of it is there. */
    uint32_t printed;
    bool ended;
};

struct desk {
    struct sim_world *world;
    struct sim_fds *fds;
    struct line lines[LINES];
    uint32_t words;
};

static void
cable_print(struct line *line, const struct cable *cable)
{
    SIM_ALWAYS(cable->number == line->printed + 1);
    SIM_ALWAYS(cable->words == 100 * cable->number);
    line->printed++;
    line->desk->words += cable->words;
    SIM_PROGRESS();
}

static void
line_end(struct line *line)
{
    struct sim_fds *fds = line->desk->fds;
    SIM_ALWAYS(sim_fd_remove(fds, line->fd) == RT_OK);
    SIM_ALWAYS(sim_fd_close(fds, line->fd) == RT_OK);
    line->ended = true;
}

static void
line_read(struct line *line)
{
    struct sim_fds *fds = line->desk->fds;
#ifdef FIXED
    char *to = (char *)&line->cable + line->have;
    int64_t size = sim_fd_read(fds, line->fd, to, sizeof line->cable - line->have);
    if (size > 0) {
        line->have += (size_t)size;
        if (line->have < sizeof line->cable) {
            return;
        }
        line->have = 0;
    }
#else
    int64_t size = sim_fd_read(fds, line->fd, &line->cable, sizeof line->cable);
#endif
    if (size == RT_E_AGAIN) {
        return;
    }
    if (size <= 0) {
        line_end(line);
        return;
    }
    cable_print(line, &line->cable);
}

static void
desk_main(struct sim_world *world, void *argument)
{
    struct desk *desk = argument;
    (void)world;
    while (!desk->lines[0].ended || !desk->lines[1].ended) {
        struct sim_fd_event events[LINES];
        uint32_t count = sim_fd_wait(desk->fds, events, LINES, SIM_NEVER);
        for (uint32_t i = 0; i < count; i++) {
            struct line *line = &desk->lines[events[i].data];
            if (!line->ended) {
                line_read(line);
            }
        }
    }
    for (uint32_t i = 0; i < LINES; i++) {
        SIM_ALWAYS(desk->lines[i].printed == CABLES);
    }
    SIM_ALWAYS(desk->words == LINES * (100 + 200 + 300));
}

/* A descriptor takes as much as it has space for. */
static void
send_all(struct sim_world *world, struct sim_fds *fds, int fd, const void *bytes, size_t size)
{
    const char *from = bytes;
    while (size > 0) {
        int64_t sent = sim_fd_write(fds, fd, from, size);
        if (sent == RT_E_AGAIN) {
            sim_sleep(world, RT_MS);
            continue;
        }
        SIM_ALWAYS(sent > 0);
        from += sent;
        size -= (size_t)sent;
    }
}

static void
correspondent_main(struct sim_world *world, void *argument)
{
    struct line *line = argument;
    for (uint32_t i = 1; i <= CABLES; i++) {
        struct cable cable = {.number = i, .words = 100 * i};
        sim_sleep(world, sim_range(world, 1 * RT_MS, 3 * RT_MS));
        send_all(world, line->desk->fds, line->far, &cable, sizeof cable);
    }
    SIM_ALWAYS(sim_fd_close(line->desk->fds, line->far) == RT_OK);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[LINES] = {"Rome", "Oslo"};
    struct desk *desk = sim_new(world, struct desk);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    desk->world = world;
    desk->fds = sim_fds_new(host, 3);
    (void)sim_loop_new(world, "desk", desk_main, desk);
    for (uint32_t i = 0; i < LINES; i++) {
        struct line *line = &desk->lines[i];
        int ends[2];
        SIM_ALWAYS(sim_fd_pair(desk->fds, names[i], RT_MS / 2, 2 * RT_MS, ends) == RT_OK);
        *line = (struct line){.desk = desk, .name = names[i], .fd = ends[0], .far = ends[1]};
        SIM_ALWAYS(sim_fd_add(desk->fds, line->fd, SIM_FD_IN, i) == RT_OK);
        (void)sim_loop_new(world, names[i], correspondent_main, line);
    }
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(newsroom, .name = "s20/newsroom/" FORM, .about = "Cables of a fixed size over two lines.",
        .setup = setup);
