/*
 * sys_inet_priv.h -- what the files about sockets with addresses share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <netinet/in.h>
#include <sys/un.h>

#include "sim/host/sys_inet.h"
#include "sim/host/sys_priv.h"

#define SIM__PIPE_BYTES 65536u

/* Arrivals that are not bytes. */
#define SIM__INET_SIGN UINT64_C(0x100000000)
enum sim__inet_sign { SIM__ASK = 1, SIM__ENDED, SIM__RESETS, SIM__PACKET, SIM__UNREACHED };

enum sim__inet_state {
    SIM__INET_IDLE,
    SIM__INET_LISTENS,
    SIM__INET_CONNECTING,
    SIM__INET_CONNECTED,
    SIM__INET_FAILED
};

union sim__address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    struct sockaddr_un un;
};

struct sim__packet {
    struct rt_list link;
    union sim__address from;
    socklen_t from_size;
    size_t size;
    char bytes[];
};

struct sim__inet {
    struct sim__description description;
    struct rt_list link; /* In fds->sockets->all. */
    int domain;
    int type;
    enum sim__inet_state state;
    union sim__address own;
    socklen_t own_size; /* 0: it has none. */
    union sim__address peer_address;
    socklen_t peer_size;
    int error;      /* Pending; 0: none. */
    uint32_t tries; /* Requests to connect that were dropped. */
    bool says[SIM_SYS_SAYS_COUNT];
    /* A listener. */
    struct rt_list queue; /* Ends that are not accepted yet. */
    int queued;
    int backlog;
    struct rt_list queue_link;
    /* A stream. */
    struct sim__inet *peer;
    struct sim__pipe in;
    uint32_t receive_size; /* Of `in`, when it is connected. */
    uint32_t send_bytes;   /* At most so much is on the way, and unread at a peer, … */
    uint32_t keep_bytes;   /* … that adds so much to it. */
    uint32_t unanswered;   /* Sent to a peer that has closed, which will answer with a reset. */
    bool unreported;       /* A connect has returned before it was connected. */
    bool ended;            /* The peer writes no more, and that is known here. */
    bool shut;             /* This end writes no more. */
    /* Datagrams. */
    struct rt_list flying;
    struct rt_list there;
    uint32_t there_count;
    union sim__address sender; /* Of the last one that was read. */
    socklen_t sender_size;
};

static inline struct sim__inet *
sim__inet_of(const struct sim__description *description)
{
    return rt_container_of(description, struct sim__inet, description);
}

/* ---- Addresses. ------------------------------------------------------------------------------ */

/* In network order; 0 for Unix sockets. */
uint16_t sim__address_port(const union sim__address *address);

bool sim__address_is_any(const union sim__address *address);
void sim__address_set_local(union sim__address *address);

/* Whether a socket of this machine, which has the loopback alone, can have it; or a group. */
bool sim__address_is_of_machine(const union sim__address *address);

/* Whether no stream can be connected to it: it is that of a group, or of all. */
bool sim__address_is_of_many(const union sim__address *address);

/* Whether what is sent to `to` reaches a socket with the address `own`. */
bool sim__address_reaches(const union sim__address *to, const union sim__address *own);

struct sim__inet *sim__inet_find(
        const struct sim_fds *fds, const union sim__address *to, int type, bool listens);

/* Whether another one has the address, and does not share it. */
bool sim__inet_is_taken(const struct sim__inet *by, const union sim__address *address);

/* Reads an address of the program. 0, -EINVAL or -EAFNOSUPPORT. */
int sim__inet_take_address(const struct sim__inet *inet, const struct sockaddr *from,
        socklen_t size, union sim__address *ret);

/* Gives it an address with the next free port. */
void sim__inet_bind_to_any(struct sim__inet *inet);

int sim__address_give(const union sim__address *address, socklen_t size, struct sockaddr *ret,
        socklen_t *ret_size);

/* ---- Sockets. -------------------------------------------------------------------------------- */

/* NULL: no such socket; *ret_err is why, or 0. */
struct sim__inet *sim__inet_at(const struct sim_fds *fds, int fd, int *ret_err);

struct sim__inet *sim__inet_new(struct sim_fds *fds, int domain, int type, const char *name);

/* What goes to a Unix socket is there at once. */
void sim__inet_fly(struct sim__inet *to, uint64_t what);

/* The request to connect has arrived. */
void sim__inet_answer(struct sim__inet *inet);

int sim__inet_take_error(struct sim__inet *inet);
void sim__inet_moved(struct sim__inet *inet, enum sim_event_kind kind, const struct rt_site *await,
        uint64_t size);

/* As sim_sys_send_to. One to an address that no socket has is lost (UDP), or refused. */
int64_t sim__inet_send_datagram(struct sim__inet *inet, const void *bytes, size_t size,
        const union sim__address *to, const struct rt_site *await);
