/*
 * fd_priv.h -- what the two files about descriptors share.
 *
 *      number ──▶ description ◀── registration (description, number)
 *        5  ─┐      a pair's end       interest, data
 *        7  ─┴──▶   an eventfd
 *                   a listener
 *
 * A description lives while a number stands for it. A registration is found by both,
 * number and description, but dies with the description only: closing one of two
 * numbers leaves the registration where nobody can name it any more, and it goes on
 * reporting (D12). So it is in epoll.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_HOST_FD_PRIV_H
#define SIM_HOST_FD_PRIV_H

#include "sim/host/fd.h"
#include "sim/host/priv.h"

#define SIM__FDS_MAGIC 0x53464453u

/* Bytes that one direction of a pair holds, those on their way included. */
#define SIM__PIPE_ROOM 4096u

enum sim__description_kind { SIM__PAIR, SIM__EVENT, SIM__LISTENER };

struct sim__description {
    enum sim__description_kind kind;
    uint32_t numbers; /* That stand for it. */
    struct sim_fds *fds;
    struct sim_source *source; /* Its readability. */
    uint64_t min_ns;
    uint64_t max_ns;
    /* PAIR: what can be, or soon can be, read here. */
    struct sim__description *peer; /* NULL: closed. */
    char *bytes;                   /* A ring of SIM__PIPE_ROOM. */
    uint32_t head;
    uint32_t there;
    uint32_t flying;  /* Behind those that are there. */
    bool ended;       /* That the peer has closed is known here. */
    bool broken;      /* It closed without having read everything. */
    bool silent;      /* Nobody plays this end: it has no number, and stays open. */
    uint64_t counter; /* EVENT. */
    /* LISTENER. */
    uint32_t waiting;
    uint32_t to_come;
};

struct sim__registration {
    struct rt_list link;
    struct sim__description *description; /* NULL: spare. */
    int number;
    uint32_t interest;
    uint64_t data;
    uint32_t left_out;
    bool armed; /* EDGE: something has changed since the last report. */
    bool spent; /* ONESHOT: reported, and not changed since. */
};

struct sim_fds {
    uint32_t magic;
    int first;
    struct sim_host *host;
    struct rt_list link; /* In host->tables. */
    struct sim__description **numbers;
    uint32_t capacity;
    struct rt_list registrations; /* Longest unreported first. */
    struct rt_list spare;
    uint32_t object;
};

/* What `fd` stands for, or NULL when it is not open. */
struct sim__description *sim__fd_get(const struct sim_fds *fds, int fd);

/* SIM_FD_… that hold for it now. */
uint32_t sim__description_events(const struct sim__description *description);

/* Something has changed: edges are armed. */
void sim__description_edge(struct sim__description *description, uint32_t events);

/* The last number is closed: every registration of it goes. */
void sim__description_forget(struct sim__description *description);

/* Rung 2: whatever is ready is told again, edges too. */
void sim__fds_renew(struct sim_host *host);

#endif
