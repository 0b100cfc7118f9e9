// Cause: session::on_written(): it clears the whole queue of answers. The write that has completed had gathered only
// those that were queued when it began; an answer that send() queued while the write was under way is cleared with
// them and never sent, so its client waits forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <cstring>
#include <new>
#include <utility>

#include <sim/rewake.h>

namespace
{

constexpr unsigned requests = 4;
constexpr unsigned answer_size = 8;

/* A little io_context: one descriptor, and a queue of handlers that are called in a later turn. */
struct io_context {
    sim_fds *fds;
    void (*posted[8])(void *);
    unsigned posted_count = 0;
};

void
post(io_context &io, void (*handler)(void *))
{
    io.posted[io.posted_count++] = handler;
}

class session
{
  public:
    io_context io{};
    int fd = -1;
    bool erases_gathered = false;
    unsigned answered = 0;

    void on_readable();
    void on_writable();

  private:
    void send(char request);
    void begin_write();
    void continue_write();
    static void written(void *self)
    {
        static_cast<session *>(self)->on_written();
    }
    void on_written();
    void watch(bool for_writing);

    char queue[requests * answer_size];
    unsigned queued = 0; /* Answers. */
    unsigned gathered = 0;
    size_t sent = 0;
    bool writing = false;
};

void
session::watch(bool for_writing)
{
    uint32_t events = SIM_FD_IN | (for_writing ? SIM_FD_OUT : 0);
    SIM_ALWAYS(sim_fd_modify(io.fds, fd, events, 0) == RT_OK);
}

void
session::send(char request)
{
    std::memset(queue + queued * answer_size, request, answer_size);
    queued++;
    if (!writing) {
        begin_write();
    }
}

void
session::begin_write()
{
    writing = true;
    gathered = queued;
    sent = 0;
    continue_write();
}

/* Writes once; goes on when the descriptor is writable again. */
void
session::continue_write()
{
    int64_t size = sim_fd_write(io.fds, fd, queue + sent, gathered * answer_size - sent);
    sent += size > 0 ? static_cast<size_t>(size) : 0;
    bool all = sent == gathered * answer_size;
    watch(!all);
    if (all) {
        post(io, written);
    }
}

void
session::on_written()
{
    answered += gathered;
    writing = false;
    if (erases_gathered) {
        unsigned left = queued - gathered;
        std::memmove(queue, queue + gathered * answer_size, left * answer_size);
        queued = left;
    } else {
        queued = 0;
    }
    if (queued > 0) {
        begin_write();
    }
}

void
session::on_readable()
{
    char request = 0;
    if (sim_fd_read(io.fds, fd, &request, 1) == 1) {
        send(request);
    }
}

void
session::on_writable()
{
    if (writing && sent < gathered * answer_size) {
        continue_write();
    }
}

void
run(sim_world *, void *argument)
{
    session &of = *static_cast<session *>(argument);
    while (of.answered < requests) {
        sim_fd_event event{};
        uint64_t wait_ns = of.io.posted_count > 0 ? 0 : SIM_NEVER;
        if (sim_fd_wait(of.io.fds, &event, 1, wait_ns) > 0) {
            if ((event.events & SIM_FD_IN) != 0) {
                of.on_readable();
            }
            if ((event.events & SIM_FD_OUT) != 0) {
                of.on_writable();
            }
        }
        unsigned count = std::exchange(of.io.posted_count, 0);
        for (unsigned i = 0; i < count; i++) {
            of.io.posted[i](&of);
        }
    }
}

void
begin(sim_world *world, bool erases_gathered)
{
    session &of = *new (sim_zalloc(world, sizeof(session))) session();
    int ends[2];
    of.erases_gathered = erases_gathered;
    of.io.fds = sim_fds_new(sim_host_new(world, nullptr, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_pair(of.io.fds, "client", RT_US, RT_MS, ends) == RT_OK);
    of.fd = ends[0];
    SIM_ALWAYS(sim_fd_add(of.io.fds, of.fd, SIM_FD_IN, 0) == RT_OK);
    for (unsigned i = 0; i < requests; i++) {
        SIM_ALWAYS(sim_fd_write(of.io.fds, ends[1], "abcd" + i, 1) == 1);
    }
    sim_loop_new(world, "server", run, &of);
}

void
setup_broken(sim_world *world)
{
    begin(world, false);
}

void
setup_fixed(sim_world *world)
{
    begin(world, true);
}

} // namespace

SIM_SCENARIO(writev_broken, .name = "set7/s7_writev/broken",
        .about = "A session gathers its answers into one write at a time.", .setup = setup_broken,
        .profile = SIM_PROFILE_FD);
SIM_SCENARIO(writev_fixed, .name = "set7/s7_writev/fixed",
        .about = "A session gathers its answers into one write at a time.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);
