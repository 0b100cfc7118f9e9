/*
 * fd_priv.h -- what the files about descriptors share.
 *
 *      number ──▶ description ◀── registration (description, number)
 *        5  ─┐      a pair's end       interest, data
 *        7  ─┴──▶   an eventfd
 *                   a listener
 *
 * A description exists while a number refers to it. A registration is found by number
 * and description, but ends with the description only: after closing one of two
 * numbers the registration cannot be found any more, and continues to report, as in
 * epoll.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/host/fd.h"
#include "sim/host/priv.h"

#define SIM__FDS_MAGIC 0x53464453u

struct sim__description;
struct sim__sys_ops;

struct sim__description_ops {
    /* Something sent with sim__source_arrive_in has arrived; `argument` is the description. */
    void (*arrived)(void *argument, uint64_t amount);
    /* SIM_FD_… that hold for it now. */
    uint32_t (*events)(const struct sim__description *description);
    /* The calls of sys.h; NULL: `read` and `write` below serve them too. */
    const struct sim__sys_ops *sys;
    /* As sim_fd_read and sim_fd_write, for a `size` that is not 0; NULL: RT_E_INVALID. */
    int64_t (*read)(struct sim__description *description, void *buffer, size_t size,
            const struct rt_site *await);
    int64_t (*write)(struct sim__description *description, const void *buffer, size_t size,
            const struct rt_site *await);
    /* No number refers to it any more. NULL: nothing to do. */
    void (*closed)(struct sim__description *description);
    /* How much is there: bytes, connections. NULL: not known. */
    uint32_t (*left)(const struct sim__description *description);
    /* Of a counter, or of signals: so many again; each read takes one from now on. */
    void (*repeat)(struct sim__description *description, uint32_t times);
};

/* Embedded first in a kind's own struct. */
struct sim__description {
    const struct sim__description_ops *ops;
    uint32_t numbers; /* That refer to it, and calls that are blocked on it. */
    uint32_t status;  /* SIM_SYS_NONBLOCK. */
    uint32_t owed;    /* Of a node's: SIM_FD_IN, SIM_FD_OUT that it was asked for in vain. */
    struct sim_fds *fds;
    struct sim_source *source; /* Its readability. */
    const void *options;       /* As a program has set them (sim/posix/socket.c); NULL: none. */
    /* How long a call that reads, or that writes, waits; SIM_NEVER: without end. */
    uint64_t read_wait_ns;
    uint64_t write_wait_ns;
    uint32_t writes; /* Of a counter: since the last read; of signals: that became one. */
    bool refused; /* Its last write, or connect, did less than it was asked: for lack of space. */
    /* … The first and the last read that took more than one. */
    struct sim__merged {
        uint32_t writes; /* 0: there is none. */
        uint64_t step;
    } first_merged, last_merged;
};

/*
 * Bytes that have arrived, and bytes in flight, in one ring.
 *
 *      ┌────────── size ──────────┐
 *      │ there │ flying │  space  │     head at the left of `there`; wraps at the end
 */
struct sim__pipe {
    char *bytes;
    uint32_t size;
    uint32_t head;
    uint32_t there;
    uint32_t flying; /* After those that are there. */
};

/* The index of the byte `distance` after the head. */
static inline uint32_t
sim__pipe_place(const struct sim__pipe *pipe, uint32_t distance)
{
    uint32_t size = pipe->size;
    return (pipe->head + distance) % size;
}

static inline uint32_t
sim__pipe_space(const struct sim__pipe *pipe)
{
    return pipe->size - pipe->there - pipe->flying;
}

/* Sends `size` bytes after all others. */
static inline void
sim__pipe_put(struct sim__pipe *pipe, const char *from, uint32_t size)
{
    rt_assert(size <= sim__pipe_space(pipe));
    uint32_t at = sim__pipe_place(pipe, pipe->there + pipe->flying);
    uint32_t part = size < pipe->size - at ? size : pipe->size - at;
    sim__send(pipe->bytes + at, from, part);
    sim__send(pipe->bytes, from + part, size - part);
    pipe->flying += size;
}

/* The first `size` bytes in flight arrive. */
static inline void
sim__pipe_land(struct sim__pipe *pipe, uint64_t size)
{
    rt_assert(size <= pipe->flying);
    pipe->flying -= (uint32_t)size;
    pipe->there += (uint32_t)size;
}

static inline void
sim__pipe_take(struct sim__pipe *pipe, char *to, uint32_t size)
{
    rt_assert(size <= pipe->there);
    uint32_t part = size < pipe->size - pipe->head ? size : pipe->size - pipe->head;
    sim__receive(to, pipe->bytes + pipe->head, part);
    sim__receive(to + part, pipe->bytes, size - part);
    pipe->head = sim__pipe_place(pipe, size);
    pipe->there -= size;
}

/* One end of a connection: of a pair, or a socket. Embedded first in its own struct. */
struct sim__end {
    struct sim__description description;
    struct sim__end *peer; /* NULL: none yet, or closed. */
    uint32_t space_left;   /* With no peer: what could be written then, less what was since. */
    uint32_t least;        /* Space that a write needs; 0: a byte. */
    struct sim__pipe in;   /* Bytes to read here, some still in flight. */
    bool ended;            /* It is known here that the peer writes no more. */
};

/* What one epoll instance is interested in. */
struct sim__epoll {
    struct rt_list link; /* In fds->interests. */
    struct sim_fds *fds;
    struct rt_list registrations; /* Longest unreported first; so many: */
    uint32_t length;
    struct sim__description *description; /* NULL: of sim_fd_add and its relatives. */
    uint32_t object;
};

struct sim__registration {
    struct rt_list link;
    struct sim__epoll *epoll;
    struct sim__description *description; /* NULL: spare. */
    int number;
    uint32_t interest;
    uint64_t data;
    uint32_t left_out;
    bool armed;       /* EDGE: something has changed since the last report … */
    uint32_t changed; /* … of it, what was not reported yet; where the network asks for that. */
    uint32_t parted;  /* Reports in a row that had only some of it. */
    bool spent;       /* ONESHOT: reported, and not changed since. */
    bool pretended;   /* Is reported next, ready or not. */
};

/* The sockets of a run that have addresses (sys_inet.c), of all its tables. */
struct sim__sockets {
    struct rt_list all;
    uint32_t ports_given;
    char *spare; /* Of closed connections: PIPE_BYTES each, that begin with where the next is. */
};

struct sim_fds {
    uint32_t magic;
    int first;
    struct sim_host *host;
    struct rt_list link; /* In host->tables. */
    struct sim__description **numbers;
    uint8_t *number_flags; /* SIM_SYS_CLOEXEC. */
    size_t capacity;
    size_t flags_capacity;
    struct rt_list interests; /* All instances, `own` first. */
    struct sim__epoll own;    /* Of sim_fd_add and its relatives: it has no number. */
    struct rt_list spare;     /* Registrations. */
    struct sim__sockets *sockets;
    uint32_t limit; /* Numbers that may be open at a time. */
    const char *name;
};

static inline struct sim__registration *
sim__registration_of(struct rt_list *node)
{
    return rt_container_of(node, struct sim__registration, link);
}

static inline struct sim__epoll *
sim__epoll_of(struct rt_list *node)
{
    return rt_container_of(node, struct sim__epoll, link);
}

/* The registrations of all instances on a table of descriptors, … */
#define sim__registrations_of(node, fds) \
    rt_list_each(instance, &(fds)->interests) \
            rt_list_each(node, &sim__epoll_of(instance)->registrations)

/* … and in all tables of a host. */
#define sim__registrations_each(node, host) \
    rt_list_each(table, &(host)->tables) \
            sim__registrations_of(node, rt_container_of(table, struct sim_fds, link))

/* sys_counter.c: timers that nothing can keep from expiring any longer expire. Comes before each
 * look at what is ready. */
void sim__timers_expire(struct sim_host *host);

/* As sim__host_call, for the calls on `fds`. */
static inline void
sim__fds_call(struct sim_fds *fds, const char *name)
{
    rt_check(fds, SIM__FDS_MAGIC);
    sim__host_call(fds->host, name);
    sim__timers_expire(fds->host);
}

/* Names the table in reports, instead of "descriptors". */
void sim__fds_name(struct sim_fds *fds, const char *name);

/* Whether `count` more numbers are free: RT_OK or RT_E_FULL (fault `capacity`). */
RT_MUST_CHECK rt_err sim__fd_available(struct sim_fds *fds, uint32_t count);

/* Whether no number is free. */
bool sim__fd_full(const struct sim_fds *fds);

/* Gives `description` the lowest free number. There must be one (sim__fd_available). */
int sim__fd_open(struct sim__description *description);

/* Makes number first + `place`, which is free, refer to it. */
int sim__fd_open_at(struct sim__description *description, uint32_t place);

/* Frees the number, which is open. */
void sim__fd_free(struct sim_fds *fds, int fd);

/* A blocked call keeps its description, whatever happens to its number. */
void sim__description_hold(struct sim__description *description);
void sim__description_release(struct sim__description *description);

/* Makes the common part of a description in `fds`, and its source. */
void sim__description_init(struct sim__description *description, struct sim_fds *fds,
        const struct sim__description_ops *ops, const char *name);

/* It is readable: an edge, or, if it was readable before, perhaps none, by a decision (epoll(7)
 * promises an edge only from none to some). */
void sim__description_readable(struct sim__description *description, bool was_readable);

/* ---- fd_kinds.c: ends of a connection. ------------------------------------------------------- */

/* How much can be written, as known here: until the close of the peer has arrived, its space does
 * not grow. */
uint32_t sim__end_space(const struct sim__end *end);
/* Whether that is enough for a write. */
bool sim__end_writable(const struct sim__end *end);

/* Unlinks the two ends; the peer keeps the space that it knows of. */
void sim__end_unlink(struct sim__end *end);

/* `amount` bytes in flight have arrived. */
void sim__end_land(struct sim__end *end, uint64_t amount);

/* As sim_fd_read. */
int64_t sim__end_read(struct sim__end *end, void *buffer, size_t size, const struct rt_site *await);

/* As sim_fd_write, but the caller sends the bytes: they are in flight to the peer, or, with no
 * peer, lost. */
int64_t sim__end_write(
        struct sim__end *end, const void *buffer, size_t size, const struct rt_site *await);

/* ---- fd.c, fd_wait.c ------------------------------------------------------------------------- */

/* The description of `fd`, or NULL when it is not open. */
struct sim__description *sim__fd_get(const struct sim_fds *fds, int fd);

/* SIM_FD_… that hold for it now. */
uint32_t sim__description_events(const struct sim__description *description);

/* Of a counter: a read takes all that is there. */
void sim__description_taken(struct sim__description *description);

/* Something has changed: edges are armed. */
void sim__description_edge(struct sim__description *description, uint32_t events);

/* The last number is closed: all its registrations end. */
void sim__description_forget(struct sim__description *description);

/* An instance without registrations; its fini ends them all. */
void sim__epoll_init(struct sim__epoll *epoll, struct sim_fds *fds, uint32_t object);
void sim__epoll_fini(struct sim__epoll *epoll);

/* As sim_fd_add and its relatives. RT_E_BUSY from modify: it is EXCLUSIVE. */
RT_MUST_CHECK rt_err sim__epoll_add(
        struct sim__epoll *epoll, int fd, uint32_t events, uint64_t data);
RT_MUST_CHECK rt_err sim__epoll_modify(
        struct sim__epoll *epoll, int fd, uint32_t events, uint64_t data);
RT_MUST_CHECK rt_err sim__epoll_remove(struct sim__epoll *epoll, int fd);

/* Whether a wait would fetch something now. */
bool sim__epoll_ready(const struct sim__epoll *epoll);

/* The reason why no report that `source` is ready will follow; NULL: one will, or there is no
 * registration. */
const char *sim__fds_silence(const struct sim_source *source);

/* Whether something from outside of the run can make it ready. */
bool sim__epoll_outside(const struct sim__epoll *epoll);

/* What is ready now, at most `max`, in an order that is decided; with `all` nothing is left out
 * that there is space for. */
uint32_t sim__epoll_fetch(
        struct sim__epoll *epoll, struct sim_fd_event *ret_events, uint32_t max, bool all);

/* As sim_fd_wait that does not block, without spurious reports: the caller adds those. */
uint32_t sim__fds_fetch(struct sim_fds *fds, struct sim_fd_event *ret_events, uint32_t max);

/* Blocks the caller once, until something is ready or `due_ns`. As struct sim_blocking's block. */
int sim__epoll_block(struct sim__epoll *epoll, uint64_t due_ns, const struct rt_site *await);

/* Leaves of an event that was just fetched some of what has changed, or nothing, by a decision
 * (SUBSET). The rest is reported later if it is owed; else it is not: at most twice in a row.
 * Whether something is left. */
bool sim__fds_part(struct sim_fds *fds, struct sim_fd_event *event);

/* Reports the nth registration (from 0 on) of those that may be, for nothing. Returns how many are
 * reported: 1, or 0 where there is no such one. */
uint32_t sim__epoll_report_nth(
        struct sim__epoll *epoll, uint32_t nth, struct sim_fd_event *ret_events);

/* One of the registrations, by a decision (SPURIOUS): its source and its data. NULL: none. */
struct sim_source *sim__fds_pick(struct sim_fds *fds, uint64_t *ret_data);

/* Stage 2: everything ready is reported again, edges too. */
void sim__fds_renew(struct sim_host *host);

/* The events of its interest that hold, whether or not they are to be reported now. */
uint32_t sim__registration_holds(const struct sim__registration *registration);

/* Whether one of its registrations is for `description`, or for an instance that watches it. */
bool sim__epoll_watches(const struct sim__epoll *epoll, const struct sim__description *description);

/* Whether that actor waits for descriptors, and `description` is one of them. */
bool sim__epoll_waits_for(
        const struct sim__blocked *blocked, const struct sim__description *description);

/* Which report for nothing its actor gets of it (sim__epoll_report_nth), from 1 on; 0: none. */
uint32_t sim__epoll_report_of(
        const struct sim__blocked *blocked, const struct sim__description *description);

/* For struct sim_binding_ops. */
void sim__fds_pretend(void *host);

/* ---- silence.c ------------------------------------------------------------------------------- */

/* For struct sim_binding_ops. */
uint32_t sim__fds_silences(void *host, uint32_t nth, struct sim_silence *ret);
void sim__fds_ask_again(void *host, const struct sim_silence *silence);
