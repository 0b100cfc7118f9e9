// Cause: s3_lines.cc:60 async_read_line() waits for the socket without looking whether its buffer already holds a line: when one read has brought two requests the second stays in the buffer, and no event comes for it.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <cstring>
#include <new>

#include <sim/rewake.h>

namespace
{

constexpr unsigned REQUESTS = 4;
constexpr std::size_t SPACE = 64;

struct io_context;

struct connection {
    io_context &io;
    int fd = -1;
    char buffer[SPACE] = {};
    std::size_t size = 0;
    std::size_t line_size = 0; /* Of the line that was read last, its end included. */
    void (*on_line)(connection &) = nullptr;
    unsigned served = 0;
};

struct io_context {
    bool fixed;
    sim_fds *fds = nullptr;
    connection *posted = nullptr; /* Its handler is to be called before the next wait. */
    int client = -1;

    void run(connection &connection);
};

bool
find_line(connection &c)
{
    const void *end = std::memchr(c.buffer, '\n', c.size);
    if (end == nullptr) {
        return false;
    }
    c.line_size = static_cast<std::size_t>(static_cast<const char *>(end) - c.buffer) + 1;
    return true;
}

void
complete(connection &c)
{
    void (*handler)(connection &) = c.on_line;
    c.on_line = nullptr;
    handler(c);
}

/* Calls `handler` from the context when there is a line. One at a time. */
void
async_read_line(connection &c, void (*handler)(connection &))
{
    c.on_line = handler;
    if (c.io.fixed && find_line(c)) {
        c.io.posted = &c;
    }
}

void
on_request(connection &c)
{
    c.size -= c.line_size;
    std::memmove(c.buffer, c.buffer + c.line_size, c.size);
    c.served++;
    if (c.served < REQUESTS) {
        async_read_line(c, on_request);
    }
}

void
on_readable(connection &c)
{
    if (c.on_line == nullptr) {
        return;
    }
    sim_foreign_poll(&c);
    std::int64_t got = sim_fd_read(c.io.fds, c.fd, c.buffer + c.size, SPACE - c.size);
    if (got > 0) {
        c.size += static_cast<std::size_t>(got);
    }
    if (find_line(c)) {
        complete(c);
    }
    sim_foreign_polled(&c, c.served == REQUESTS);
}

void
io_context::run(connection &c)
{
    while (c.served < REQUESTS) {
        if (posted != nullptr) {
            posted = nullptr;
            sim_foreign_poll(&c);
            complete(c);
            sim_foreign_polled(&c, c.served == REQUESTS);
            continue;
        }
        sim_fd_event event;
        if (sim_fd_wait(fds, &event, 1, SIM_NEVER) > 0) {
            on_readable(c);
        }
    }
}

void
again(void *, void *watcher)
{
    connection &c = *static_cast<connection *>(watcher);
    if (c.io.posted == nullptr) {
        on_readable(c);
    }
}

void
loop_main(sim_world *, void *argument)
{
    connection &c = *static_cast<connection *>(argument);
    async_read_line(c, on_request);
    c.io.run(c);
}

/* A separate thread: types requests, now and then two at once. */
void
client_main(sim_world *world, void *argument)
{
    io_context &io = *static_cast<io_context *>(argument);
    static const char *const requests[REQUESTS] = {"get a\n", "get bc\n", "put d\n", "quit\n"};
    for (unsigned i = 0; i < REQUESTS; i++) {
        sim_sleep(world, sim_range(world, 2 * RT_MS, 3 * RT_MS) * (sim_pick(world, 3) != 2));
        std::size_t size = std::strlen(requests[i]);
        for (std::size_t sent = 0; sent < size;) {
            std::int64_t n = sim_fd_write(io.fds, io.client, requests[i] + sent, size - sent);
            SIM_ALWAYS(n > 0);
            sent += static_cast<std::size_t>(n);
        }
    }
}

void
setup(sim_world *world, bool fixed)
{
    io_context &io = *new (sim_alloc(world, sizeof(io_context))) io_context{.fixed = fixed};
    connection &c = *new (sim_alloc(world, sizeof(connection))) connection{.io = io};
    sim_loop *loop = sim_loop_new(world, "context", loop_main, &c);
    sim_foreign *foreign = sim_foreign_new(loop, again, &io);
    int pair[2];
    io.fds = sim_fds_new(sim_host_new(world, nullptr, SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_pair(io.fds, "socket", 10 * RT_US, RT_MS, pair) == RT_OK);
    SIM_ALWAYS(sim_fd_add(io.fds, pair[0], SIM_FD_IN, 0) == RT_OK);
    c.fd = pair[0];
    io.client = pair[1];
    sim_foreign_watch(foreign, &c, "connection", "a request");
    (void)sim_loop_new(world, "client", client_main, &io);
}

void setup_broken(sim_world *world) { setup(world, false); }
void setup_fixed(sim_world *world) { setup(world, true); }

} /* namespace */

SIM_SCENARIO(broken, .name = "set3/s3_lines/broken", .about = "Requests, one line each.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_lines/fixed", .about = "Requests, one line each.",
        .setup = setup_fixed);
