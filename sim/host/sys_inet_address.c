/*
 * sys_inet_address.c -- which sockets an address is of.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "sim/host/sys_inet_priv.h"

#define PORT_FIRST 40000u

uint16_t
sim__address_port(const union sim__address *address)
{
    return address->any.sa_family == AF_INET    ? address->in.sin_port
           : address->any.sa_family == AF_INET6 ? address->in6.sin6_port
                                                : 0;
}

bool
sim__address_is_any(const union sim__address *address)
{
    return address->any.sa_family == AF_INET ? address->in.sin_addr.s_addr == htonl(INADDR_ANY)
                                             : IN6_IS_ADDR_UNSPECIFIED(&address->in6.sin6_addr);
}

void
sim__address_set_local(union sim__address *address)
{
    if (address->any.sa_family == AF_INET) {
        address->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    } else {
        address->in6.sin6_addr = in6addr_loopback;
    }
}

bool
sim__address_is_of_machine(const union sim__address *address)
{
    const struct in6_addr *six = &address->in6.sin6_addr;
    bool four = address->any.sa_family == AF_INET || IN6_IS_ADDR_V4MAPPED(six);
    if (address->any.sa_family == AF_UNIX || sim__address_is_any(address)) {
        return true;
    }
    if (four) {
        in_addr_t of = ntohl(address->any.sa_family == AF_INET ? address->in.sin_addr.s_addr
                                                               : six->s6_addr32[3]);
        return of >> 24 == IN_LOOPBACKNET || IN_MULTICAST(of) || of == INADDR_BROADCAST;
    }
    return IN6_IS_ADDR_LOOPBACK(six) || IN6_IS_ADDR_MULTICAST(six);
}

bool
sim__address_is_of_many(const union sim__address *address)
{
    if (address->any.sa_family == AF_INET6) {
        return IN6_IS_ADDR_MULTICAST(&address->in6.sin6_addr);
    }
    in_addr_t of = ntohl(address->in.sin_addr.s_addr);
    return address->any.sa_family == AF_INET && (IN_MULTICAST(of) || of == INADDR_BROADCAST);
}

bool
sim__address_reaches(const union sim__address *to, const union sim__address *own)
{
    bool unix_own = own->any.sa_family == AF_UNIX;
    if (unix_own || to->any.sa_family == AF_UNIX) {
        return unix_own && to->any.sa_family == AF_UNIX &&
               memcmp(to->un.sun_path, own->un.sun_path, sizeof(own->un.sun_path)) == 0;
    }
    if (sim__address_port(to) != sim__address_port(own)) {
        return false;
    }
    if (sim__address_is_any(own) || sim__address_is_any(to)) {
        return true; /* Of either family: an IPv6 socket takes both. */
    }
    return to->any.sa_family == own->any.sa_family &&
           (own->any.sa_family == AF_INET
                           ? to->in.sin_addr.s_addr == own->in.sin_addr.s_addr
                           : memcmp(&to->in6.sin6_addr, &own->in6.sin6_addr, 16) == 0);
}

/* An IPv6 socket takes both families, unless it says otherwise. */
static bool
is_foreign(const struct sim__inet *inet, const union sim__address *to)
{
    return inet->says[SIM_SYS_ONLY_SIX] && to->any.sa_family == AF_INET;
}

struct sim__inet *
sim__inet_find(const struct sim_fds *fds, const union sim__address *to, int type, bool listens)
{
    rt_list_each(node, &fds->sockets->all)
    {
        struct sim__inet *inet = rt_container_of(node, struct sim__inet, link);
        bool fits = inet->type == type && (!listens || inet->state == SIM__INET_LISTENS);
        if (fits && inet->own_size > 0 && sim__address_reaches(to, &inet->own) &&
                !is_foreign(inet, to)) {
            return inet;
        }
    }
    return NULL;
}

bool
sim__inet_is_taken(const struct sim__inet *by, const union sim__address *address)
{
    rt_list_each(node, &by->description.fds->sockets->all)
    {
        const struct sim__inet *inet = rt_container_of(node, struct sim__inet, link);
        if (inet->type == by->type && inet->own_size > 0 && inet->state != SIM__INET_CONNECTED &&
                !(inet->says[SIM_SYS_SHARES_ADDRESS] && by->says[SIM_SYS_SHARES_ADDRESS]) &&
                sim__address_reaches(address, &inet->own) && !is_foreign(inet, address) &&
                !is_foreign(by, &inet->own)) {
            return true;
        }
    }
    return false;
}

int
sim__inet_take_address(const struct sim__inet *inet, const struct sockaddr *from, socklen_t size,
        union sim__address *ret)
{
    if (from == NULL || size < sizeof(sa_family_t)) {
        return -EINVAL;
    }
    *ret = (union sim__address){.any = {0}};
    memcpy(ret, from, size < sizeof(*ret) ? size : sizeof(*ret));
    socklen_t least = inet->domain == AF_INET ? sizeof(ret->in)
                      : inet->domain == AF_INET6
                              ? (socklen_t)offsetof(struct sockaddr_in6, sin6_scope_id)
                              : (socklen_t)sizeof(sa_family_t) + 1;
    if (ret->any.sa_family != inet->domain) {
        return -EAFNOSUPPORT;
    }
    return size < least ? -EINVAL : 0;
}

void
sim__inet_bind_to_any(struct sim__inet *inet)
{
    struct sim_fds *fds = inet->description.fds;
    if (inet->own_size > 0 || inet->domain == AF_UNIX) {
        return;
    }
    bool v4 = inet->domain == AF_INET;
    inet->own = (union sim__address){.any = {.sa_family = (sa_family_t)inet->domain}};
    do {
        inet->own.in.sin_port = htons((uint16_t)(PORT_FIRST + fds->sockets->ports_given++ % 20000));
    } while (sim__inet_find(fds, &inet->own, inet->type, false) != NULL);
    inet->own_size = v4 ? sizeof(inet->own.in) : sizeof(inet->own.in6);
}

int
sim__address_give(const union sim__address *address, socklen_t size, struct sockaddr *ret,
        socklen_t *ret_size)
{
    if (ret != NULL && ret_size != NULL) {
        memcpy(ret, address, size < *ret_size ? size : *ret_size);
        *ret_size = size;
    }
    return 0;
}
