/*
 * sys_priv.h -- what the files about system calls share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/host/fd_priv.h"
#include "sim/host/sys.h"

/* What a wake-up without a key is for: whatever a registration asked for. */
#define SIM__ANYTHING (SIM_FD_IN | SIM_FD_OUT | SIM_FD_PRI | SIM_FD_RDHUP | SIM_FD_ERR | SIM_FD_HUP)

/* A kind of descriptor as system calls see it. Results are those of sys.h; none of these blocks:
 * -EAGAIN. NULL: -EINVAL, or for the last two -ENOTSOCK. */
struct sim__sys_ops {
    /* `flags`: 0; SIM_SYS_PEEK and RECEIVE, if `error` is not NULL. */
    int64_t (*read)(struct sim__description *description, void *buffer, size_t size, uint32_t flags,
            const struct rt_site *await);
    int64_t (*write)(struct sim__description *description, const void *buffer, size_t size,
            const struct rt_site *await);
    /* Whether a write of `size` bytes would not be -EAGAIN. NULL: as its events say. */
    bool (*writable)(const struct sim__description *description, size_t size);
    /* Bytes that a read would find. NULL: -ENOTTY. */
    int64_t (*readable)(const struct sim__description *description);
    int (*shutdown)(struct sim__description *description, uint32_t how);
    /* The pending error, once: a positive errno. */
    int (*error)(struct sim__description *description);
    /* As sim_sys_set_buffer; of a socket. */
    void (*set_buffer)(struct sim__description *description, uint32_t way, uint32_t bytes);
    /* Whether something from outside of the run can make it readable: a listener is. NULL: no. */
    bool (*outside)(const struct sim__description *description);
    /* Of a timer: whether it will not expire; and it is armed as it was before the last change, or,
     * where it was not, expires. */
    bool (*disarmed)(const struct sim__description *description);
    void (*rearm)(struct sim__description *description);
};

static inline bool
sim__description_outside(const struct sim__description *description)
{
    const struct sim__sys_ops *sys = description->ops->sys;
    return sys != NULL && sys->outside != NULL && sys->outside(description);
}

/* A negative errno for a result of the older calls, and back; 0 and more stay. */
int64_t sim__sys_errno(int64_t result);
int64_t sim__sys_rt(int64_t result);

/* As sim_fd_read and sim_fd_write, on a kind that has `sys`. */
int64_t sim__sys_read_as_fd(struct sim__description *description, void *buffer, size_t size,
        const struct rt_site *await);
int64_t sim__sys_write_as_fd(struct sim__description *description, const void *buffer, size_t size,
        const struct rt_site *await);

/* Whether that actor waits in a call of sys.h, and a report of `description` would end it. */
bool sim__sys_waits_for(
        const struct sim__blocked *blocked, const struct sim__description *description);

/* Which report for nothing that actor gets of it in a wait for several, from 1 on; 0: none. */
uint32_t sim__sys_report_of(
        const struct sim__blocked *blocked, const struct sim__description *description);

/* Makes the common part of a description in `fds`. */
void sim__sys_init(struct sim__description *description, struct sim_fds *fds,
        const struct sim__description_ops *ops, const char *name);

/* 0, or -EMFILE where `count` numbers are not free. */
int sim__sys_available(struct sim_fds *fds, uint32_t count);

/* What it is ready for has changed, with an edge for `events`; `amount` is for the trace: not 0
 * where it became readable. */
void sim__sys_changed(struct sim__description *description, uint32_t events, uint64_t amount);

/* A call has moved `moved` bytes where it could `full`: to its caller there were no more, and those
 * that are left make an edge for `events`, as if they had come only now. */
void sim__sys_short(
        struct sim__description *description, uint32_t events, uint64_t moved, uint64_t full);

/* A caller that cannot block ends the run with verdict contract. */
void sim__sys_check_block(const struct sim_fds *fds, const char *reason);

/* When a wait for `wait_ns` that begins now ends. */
static inline uint64_t
sim__sys_due(const struct sim__description *description, uint64_t wait_ns)
{
    return sim__later(description->fds->host->world->now_ns, wait_ns);
}

/* Blocks the caller until condition(argument). 0, -EINTR, or -EAGAIN: it is `due_ns`. */
int sim__sys_block(struct sim_fds *fds, bool (*condition)(const void *argument),
        const void *argument, uint64_t due_ns, const struct sim__description *subject,
        const char *reason, const struct rt_site *await);
