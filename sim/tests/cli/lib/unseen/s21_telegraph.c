/* Cause: outbox_append(), lines 43-44: when the buffer is compacted the rest moves to the front, but sent keeps its value; only when a telegram is appended after a partial write and the buffer is too full otherwise. The bytes at the front are then skipped, later bytes sent from the wrong place. Harm: SIM_ALWAYS(memcmp(office->heard, office->expected, ...) == 0), line 110 (or 109). Fix: sent = 0. */
#include <sim/rewake.h>
#include <string.h>

#define TELEGRAMS 5
#define BUFFER 48

enum { TAG_COUNTER, TAG_LINE, TAG_STATION };

static const char *const telegrams[TELEGRAMS] = {
        "arrived safely;", "send more ink;", "mother is well;", "price too high;", "stop;"};

/* Bytes from `sent` to `used` are still to be written. */
struct outbox {
    char bytes[BUFFER];
    uint32_t sent;
    uint32_t used;
};

struct office {
    struct sim_fds *fds;
    int counter; /* An eventfd. */
    int line;
    int station; /* The other end of the line. */
    uint32_t handed_in;
    uint32_t taken;
    struct outbox out;
    bool wants_out;
    char expected[128];
    uint32_t expected_size;
    char heard[128];
    uint32_t heard_size;
};

static bool
outbox_append(struct outbox *out, const char *text, uint32_t size)
{
    if (out->used + size > BUFFER) {
        uint32_t rest = out->used - out->sent;
        if (rest + size > BUFFER) {
            return false;
        }
        memmove(out->bytes, out->bytes + out->sent, rest);
        out->used = rest;
#ifdef FIXED
        out->sent = 0;
#endif
    }
    memcpy(out->bytes + out->used, text, size);
    out->used += size;
    return true;
}

static void
want_out(struct office *office, bool wanted)
{
    if (office->wants_out != wanted) {
        office->wants_out = wanted;
        SIM_ALWAYS(sim_fd_modify(office->fds, office->line, wanted ? SIM_FD_OUT : 0, TAG_LINE) ==
                RT_OK);
    }
}

static void
take_telegrams(struct office *office)
{
    while (office->taken < office->handed_in) {
        const char *text = telegrams[office->taken];
        if (!outbox_append(&office->out, text, (uint32_t)strlen(text))) {
            break;
        }
        office->taken++;
        SIM_PROGRESS();
    }
    want_out(office, office->out.used > 0);
}

static void
on_counter(struct office *office)
{
    uint64_t count;
    (void)sim_fd_read(office->fds, office->counter, &count, sizeof count);
    take_telegrams(office);
}

static void
on_line(struct office *office)
{
    struct outbox *out = &office->out;
    int64_t n = sim_fd_write(
            office->fds, office->line, out->bytes + out->sent, out->used - out->sent);
    if (n <= 0) {
        return;
    }
    out->sent += (uint32_t)n;
    if (out->sent == out->used) {
        out->sent = out->used = 0;
    }
    take_telegrams(office);
}

static void
on_station(struct office *office)
{
    int64_t n = sim_fd_read(office->fds, office->station, office->heard + office->heard_size,
            sizeof office->heard - office->heard_size);
    if (n > 0) {
        office->heard_size += (uint32_t)n;
        SIM_ALWAYS(office->heard_size <= office->expected_size);
        SIM_ALWAYS(memcmp(office->heard, office->expected, office->heard_size) == 0);
    }
}

static void
office_main(struct sim_world *world, void *argument)
{
    struct office *office = argument;
    (void)world;
    while (office->heard_size < office->expected_size) {
        struct sim_fd_event events[3];
        uint32_t count = sim_fd_wait(office->fds, events, 3, SIM_NEVER);
        for (uint32_t i = 0; i < count; i++) {
            if (events[i].data == TAG_COUNTER) {
                on_counter(office);
            } else if (events[i].data == TAG_LINE) {
                on_line(office);
            } else {
                on_station(office);
            }
        }
    }
}

static void
counter_main(struct sim_world *world, void *argument)
{
    struct office *office = argument;
    for (uint32_t i = 0; i < TELEGRAMS; i++) {
        sim_sleep(world, sim_range(world, RT_US, 200 * RT_US));
        office->handed_in++;
        SIM_ALWAYS(sim_fd_notify(office->fds, office->counter) == RT_OK);
    }
}

static void
setup(struct sim_world *world)
{
    struct office *office = sim_new(world, struct office);
    int ends[2];
    for (uint32_t i = 0; i < TELEGRAMS; i++) {
        memcpy(office->expected + strlen(office->expected), telegrams[i], strlen(telegrams[i]));
    }
    office->expected_size = (uint32_t)strlen(office->expected);
    office->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_event_open(office->fds, "counter", &office->counter) == RT_OK);
    SIM_ALWAYS(sim_fd_pair(office->fds, "line", RT_US, 100 * RT_US, ends) == RT_OK);
    office->line = ends[0];
    office->station = ends[1];
    SIM_ALWAYS(sim_fd_add(office->fds, office->counter, SIM_FD_IN, TAG_COUNTER) == RT_OK);
    SIM_ALWAYS(sim_fd_add(office->fds, office->line, 0, TAG_LINE) == RT_OK);
    SIM_ALWAYS(sim_fd_add(office->fds, office->station, SIM_FD_IN, TAG_STATION) == RT_OK);
    (void)sim_loop_new(world, "office", office_main, office);
    (void)sim_loop_new(world, "counter", counter_main, office);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(telegraph, .name = "s21/telegraph/" FORM, .about = "An office sends telegrams.", .setup = setup);
