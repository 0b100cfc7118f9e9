/*
 * sys_pipe.c -- pipes: 16 pages in a ring, or as many as the program wants, as Linux fills them.
 *
 *      tail ──▶ │ page │ page │ page │ … ◀── head      full: head - tail == count
 *
 * A write first fills up the last page, if the odd part of it (its size modulo 4096) fits there,
 * and takes a new page for each 4096 bytes of the rest. So a pipe can be full with less than
 * 64 KiB in it, and a write of at most 4096 bytes (PIPE_BUF) is not divided.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "sim/host/sys_priv.h"

#define PAGES 16u
#define PAGES_MOST 256u /* /proc/sys/fs/pipe-max-size */
#define PAGE_SIZE 4096u

struct page {
    char *bytes; /* NULL: never used. */
    uint32_t offset;
    uint32_t size;
};

struct pipe {
    struct page *pages;
    uint32_t count; /* A power of two. */
    uint32_t head;  /* Counts pages; the next one to fill. */
    uint32_t tail;
};

/* Either end. */
struct pipe_end {
    struct sim__description description;
    struct pipe *pipe;
    struct pipe_end *other; /* NULL: closed. */
};

static struct pipe_end *
pipe_end_of(const struct sim__description *description)
{
    return rt_container_of(description, struct pipe_end, description);
}

static bool
is_empty(const struct pipe *pipe)
{
    return pipe->head == pipe->tail;
}

static bool
is_full(const struct pipe *pipe)
{
    return pipe->head - pipe->tail >= pipe->count;
}

static struct page *
page_at(struct pipe *pipe, uint32_t position)
{
    return &pipe->pages[position & (pipe->count - 1)];
}

/* ---- Reading. -------------------------------------------------------------------------------- */

static uint32_t
reader_events(const struct sim__description *description)
{
    const struct pipe_end *end = pipe_end_of(description);
    return (is_empty(end->pipe) ? 0 : SIM_FD_IN) | (end->other == NULL ? SIM_FD_HUP : 0);
}

static int64_t
bytes_there(const struct sim__description *description)
{
    struct pipe *pipe = pipe_end_of(description)->pipe;
    int64_t size = 0;
    for (uint32_t i = pipe->tail; i != pipe->head; i++) {
        size += page_at(pipe, i)->size;
    }
    return size;
}

/* Moves `size` bytes, which are there. Returns whether a page became free in a full pipe. */
static bool
take(struct pipe *pipe, char *to, size_t size)
{
    bool freed = false;
    while (size > 0) {
        struct page *page = page_at(pipe, pipe->tail);
        size_t part = page->size < size ? page->size : size;
        sim__receive(to, page->bytes + page->offset, part);
        page->offset += (uint32_t)part;
        page->size -= (uint32_t)part;
        to += part;
        size -= part;
        if (page->size == 0) {
            freed = freed || is_full(pipe);
            pipe->tail++;
        }
    }
    return freed;
}

static int64_t
reader_read(struct sim__description *description, void *buffer, size_t size, uint32_t flags,
        const struct rt_site *await)
{
    struct pipe_end *end = pipe_end_of(description);
    struct sim_source *source = description->source;
    uint64_t there = (uint64_t)bytes_there(description);
    rt_assert(flags == 0);
    if (size == 0 || there == 0) {
        return size == 0 || end->other == NULL ? 0 : -EAGAIN;
    }
    uint64_t moved = there < size ? there : size; /* Never fewer: libuv relies on it. */
    bool freed = take(end->pipe, buffer, moved);
    sim__source_moved(source, SIM_EVENT_READ, await, moved);
    sim__source_level(source, reader_events(description) != 0);
    if (freed && end->other != NULL) {
        sim__sys_changed(&end->other->description, SIM_FD_OUT, 0);
    }
    return (int64_t)moved;
}

/* ---- Writing. -------------------------------------------------------------------------------- */

static uint32_t
writer_events(const struct sim__description *description)
{
    const struct pipe_end *end = pipe_end_of(description);
    return (is_full(end->pipe) ? 0 : SIM_FD_OUT) | (end->other == NULL ? SIM_FD_ERR : 0);
}

/* How many bytes fit into the last page before a new one is taken, for a write of `size`. */
static uint32_t
space_in_last(struct pipe *pipe, size_t size)
{
    uint32_t odd = size % PAGE_SIZE;
    if (odd == 0 || is_empty(pipe)) {
        return 0;
    }
    const struct page *last = page_at(pipe, pipe->head - 1);
    return last->offset + last->size + odd <= PAGE_SIZE ? odd : 0;
}

/* How many of `size` bytes fit. */
static size_t
space_for(struct pipe *pipe, size_t size)
{
    size_t space = space_in_last(pipe, size);
    space += (size_t)(pipe->count - (pipe->head - pipe->tail)) * PAGE_SIZE;
    return space < size ? space : size;
}

static void
put(struct sim_world *world, struct pipe *pipe, const char *from, size_t size, uint32_t in_last)
{
    if (in_last > 0) {
        struct page *last = page_at(pipe, pipe->head - 1);
        sim__send(last->bytes + last->offset + last->size, from, in_last);
        last->size += in_last;
    }
    for (size_t done = in_last; done < size;) {
        rt_assert(!is_full(pipe));
        struct page *page = page_at(pipe, pipe->head++);
        size_t part = size - done < PAGE_SIZE ? size - done : PAGE_SIZE;
        page->bytes = page->bytes != NULL ? page->bytes : sim_alloc(world, PAGE_SIZE);
        page->offset = 0;
        page->size = (uint32_t)part;
        sim__send(page->bytes, from + done, part);
        done += part;
    }
}

static int64_t
writer_write(struct sim__description *description, const void *buffer, size_t size,
        const struct rt_site *await)
{
    struct pipe_end *end = pipe_end_of(description);
    struct sim_source *source = description->source;
    size_t space = space_for(end->pipe, size);
    if (size == 0 || end->other == NULL) {
        return size == 0 ? 0 : -EPIPE;
    }
    if (space == 0) { /* An edge in any case, as in Linux since 5.14. */
        sim__sys_changed(&end->other->description, SIM_FD_IN, 0);
        return -EAGAIN;
    }
    size_t moved = size;
    if (size > PAGE_SIZE) { /* PIPE_BUF */
        moved = (size_t)sim_actor_length(&source->actor, space);
        sim__sys_short(description, SIM_FD_OUT, moved, space);
    }
    uint32_t in_last = space_in_last(end->pipe, size);
    put(source->host->world, end->pipe, buffer, moved, in_last < moved ? in_last : (uint32_t)moved);
    sim__source_moved(source, SIM_EVENT_WRITE, await, moved);
    sim__sys_changed(&end->other->description, SIM_FD_IN, moved);
    return (int64_t)moved;
}

static bool
writer_writable(const struct sim__description *description, size_t size)
{
    const struct pipe_end *end = pipe_end_of(description);
    return end->other == NULL || space_for(end->pipe, size) > 0;
}

/* ---- Both ends. ------------------------------------------------------------------------------ */

static void
end_closed(struct sim__description *description)
{
    struct pipe_end *other = pipe_end_of(description)->other;
    if (other != NULL) {
        other->other = NULL;
        sim__sys_changed(&other->description, SIM__ANYTHING, 1);
    }
}

/* An end is open for one direction only. */
static int64_t
refuse_write(struct sim__description *description, const void *buffer, size_t size,
        const struct rt_site *await)
{
    (void)description;
    (void)buffer;
    (void)size;
    (void)await;
    return -EBADF;
}

static int64_t
refuse_read(struct sim__description *description, void *buffer, size_t size, uint32_t flags,
        const struct rt_site *await)
{
    (void)flags;
    return refuse_write(description, buffer, size, await);
}

static uint32_t
reader_left(const struct sim__description *description)
{
    return (uint32_t)bytes_there(description);
}

static const struct sim__sys_ops reader_sys = {
        .read = reader_read, .write = refuse_write, .readable = bytes_there};
static const struct sim__sys_ops writer_sys = {.read = refuse_read,
        .write = writer_write,
        .writable = writer_writable,
        .readable = bytes_there};
static const struct sim__description_ops reader_ops = {
        .sys = &reader_sys, .events = reader_events, .left = reader_left, .closed = end_closed};
static const struct sim__description_ops writer_ops = {
        .sys = &writer_sys, .events = writer_events, .closed = end_closed};

static struct pipe_end *
end_new(struct sim_fds *fds, struct pipe *pipe, const struct sim__description_ops *ops,
        const char *name, const char *suffix)
{
    struct sim_world *world = fds->host->world;
    struct pipe_end *end = sim_new(world, struct pipe_end);
    sim__sys_init(&end->description, fds, ops, sim__name_join(world, name, suffix));
    end->pipe = pipe;
    return end;
}

int
sim_sys_pipe(struct sim_fds *fds, const char *name, int ret_fd[2])
{
    sim__fds_call(fds, "pipe");
    int err = sim__sys_available(fds, 2);
    if (err != 0) {
        return err;
    }
    struct pipe *pipe = sim_new(fds->host->world, struct pipe);
    pipe->count = PAGES;
    pipe->pages = sim_zalloc(fds->host->world, PAGES * sizeof(struct page));
    struct pipe_end *reader = end_new(fds, pipe, &reader_ops, name, ", reading end");
    struct pipe_end *writer = end_new(fds, pipe, &writer_ops, name, ", writing end");
    reader->other = writer;
    writer->other = reader;
    ret_fd[0] = sim__fd_open(&reader->description);
    ret_fd[1] = sim__fd_open(&writer->description);
    return 0;
}

/* ---- How much fits. -------------------------------------------------------------------------- */

static struct pipe_end *
end_at(const struct sim_fds *fds, int fd)
{
    struct sim__description *description = sim__fd_get(fds, fd);
    bool is_end = description != NULL &&
                  (description->ops == &reader_ops || description->ops == &writer_ops);
    return is_end ? pipe_end_of(description) : NULL;
}

int
sim_sys_pipe_size(const struct sim_fds *fds, int fd)
{
    const struct pipe_end *end = end_at(fds, fd);
    return end != NULL ? (int)(end->pipe->count * PAGE_SIZE) : -EBADF;
}

int
sim_sys_set_pipe_size(struct sim_fds *fds, int fd, uint32_t size)
{
    struct pipe_end *end = end_at(fds, fd);
    uint32_t count = 1;
    if (end == NULL) {
        return -EBADF;
    }
    while (count < PAGES_MOST && count * PAGE_SIZE < size) {
        count *= 2;
    }
    struct pipe *pipe = end->pipe;
    if (count * PAGE_SIZE < size || pipe->head - pipe->tail > count) {
        return count * PAGE_SIZE < size ? -EPERM : -EBUSY;
    }
    struct pipe changed = {.count = count, .head = pipe->head, .tail = pipe->tail};
    changed.pages = sim_zalloc(fds->host->world, count * sizeof(struct page));
    for (uint32_t i = pipe->tail; i != pipe->head; i++) {
        *page_at(&changed, i) = *page_at(pipe, i);
    }
    bool freed = is_full(pipe) && !is_full(&changed);
    *pipe = changed;
    struct pipe_end *writer = end->description.ops == &writer_ops ? end : end->other;
    if (freed && writer != NULL) {
        sim__sys_changed(&writer->description, SIM_FD_OUT, 0);
    }
    return (int)(count * PAGE_SIZE);
}
