/*
 * names.c -- names of hosts and services: a fixed list, and addresses as numbers.
 *
 * Every name of this machine is 127.0.0.1; other hosts are not known. *Rejected*: asking the
 * resolver of the machine, whose answer is not in the seed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/posix/call.h"
#include "sim/posix/number.h"

static const char *const hosts[] = {"localhost", "rewake", "localhost.localdomain"};

static const struct {
    const char *name;
    uint16_t port;
} services[] = {{"echo", 7}, {"ftp", 21}, {"ssh", 22}, {"telnet", 23}, {"smtp", 25}, {"domain", 53},
        {"http", 80}, {"pop3", 110}, {"ntp", 123}, {"https", 443}, {"http-alt", 8080}};

/* ---- From names to addresses. ---------------------------------------------------------------- */

/* False: not known. NULL: port 0. */
static bool
find_port(const char *service, bool numeric, uint16_t *ret_port)
{
    char *end = NULL;
    unsigned long port = service != NULL ? strtoul(service, &end, 10) : 0;
    *ret_port = (uint16_t)port;
    if (service == NULL || (end != service && *end == '\0')) {
        return port <= UINT16_MAX;
    }
    for (size_t i = 0; i < sizeof(services) / sizeof(services[0]) && !numeric; i++) {
        if (strcmp(services[i].name, service) == 0) {
            *ret_port = services[i].port;
            return true;
        }
    }
    return false;
}

static bool
is_own(const char *node)
{
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        if (strcasecmp(hosts[i], node) == 0) {
            return true;
        }
    }
    return false;
}

union address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

/* The address of `node`, which may be a number alone, in family `family`; 0, or EAI_…. */
static int
find_address(const char *node, int family, bool passive, bool numeric, union address *ret)
{
    *ret = (union address){.any = {.sa_family = (sa_family_t)family}};
    void *to = family == AF_INET ? (void *)&ret->in.sin_addr : (void *)&ret->in6.sin6_addr;
    struct in6_addr other;
    if (node != NULL && inet_pton(family, node, to) == 1) {
        return 0;
    }
    if (node != NULL && inet_pton(family == AF_INET ? AF_INET6 : AF_INET, node, &other) == 1) {
        return EAI_ADDRFAMILY;
    }
    if (node != NULL && !numeric && sim_sys_is_full(sim__posix_fds())) {
        errno = EMFILE; /* It reads a file of hosts. */
        return EAI_SYSTEM;
    }
    if (node != NULL && (numeric || !is_own(node))) {
        return EAI_NONAME;
    }
    bool loopback = node != NULL || !passive;
    if (family == AF_INET) {
        ret->in.sin_addr.s_addr = htonl(loopback ? INADDR_LOOPBACK : INADDR_ANY);
    } else {
        ret->in6.sin6_addr = loopback ? in6addr_loopback : in6addr_any;
    }
    return 0;
}

struct answer {
    struct addrinfo info;
    union address address;
    char name[];
};

/* `name`: the canonical one of the host, where it is asked for. */
static struct addrinfo *
answer_new(const union address *address, int type, int protocol, const char *name)
{
    size_t size = name != NULL ? strlen(name) + 1 : 0;
    struct answer *answer = calloc(1, sizeof(*answer) + size);
    if (answer == NULL) {
        return NULL;
    }
    bool v4 = address->any.sa_family == AF_INET;
    answer->address = *address;
    answer->info = (struct addrinfo){.ai_family = address->any.sa_family,
            .ai_socktype = type,
            .ai_protocol = protocol,
            .ai_addrlen = v4 ? sizeof(address->in) : sizeof(address->in6),
            .ai_addr = &answer->address.any,
            .ai_canonname = name != NULL ? memcpy(answer->name, name, size) : NULL};
    return &answer->info;
}

/* One answer for each type of socket and protocol that is asked for, 0: any. Returns where the next
 * one goes; NULL: there is no memory. */
static struct addrinfo **
answer_all(const union address *address, const struct addrinfo *ask, const char *name,
        struct addrinfo **end)
{
    static const struct {
        int type;
        int protocol;
    } types[] = {{SOCK_STREAM, IPPROTO_TCP}, {SOCK_DGRAM, IPPROTO_UDP}};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if ((ask->ai_socktype != 0 && ask->ai_socktype != types[i].type) ||
                (ask->ai_protocol != 0 && ask->ai_protocol != types[i].protocol)) {
            continue;
        }
        *end = answer_new(address, types[i].type, types[i].protocol, name);
        if (*end == NULL) {
            return NULL;
        }
        end = &(*end)->ai_next;
        name = NULL;
    }
    return end;
}

/* The families of the answers, the first one first; 0: none. */
static void
families_of(const char *node, const struct addrinfo *ask, int ret[2])
{
    bool passive = (ask->ai_flags & AI_PASSIVE) != 0;
    bool both = ask->ai_family == AF_UNSPEC && node == NULL;
    bool six = ask->ai_family == AF_INET6 || (both && !passive) ||
               (ask->ai_family == AF_UNSPEC && node != NULL && strchr(node, ':') != NULL);
    ret[0] = six ? AF_INET6 : AF_INET;
    ret[1] = !both ? 0 : six ? AF_INET : AF_INET6;
}

static int
answer_in(const int *families, const char *node, uint16_t port, const struct addrinfo *ask,
        struct addrinfo **ret)
{
    const char *name = (ask->ai_flags & AI_CANONNAME) != 0 ? node : NULL;
    struct addrinfo **end = ret;
    for (size_t i = 0; i < 2 && families[i] != 0; i++) {
        union address address;
        int error = find_address(node, families[i], (ask->ai_flags & AI_PASSIVE) != 0,
                (ask->ai_flags & AI_NUMERICHOST) != 0, &address);
        if (error != 0) {
            return error;
        }
        address.in.sin_port = htons(port); /* At the same place in both. */
        end = answer_all(&address, ask, name, end);
        if (end == NULL) {
            return EAI_MEMORY;
        }
    }
    return *ret != NULL ? 0 : ask->ai_socktype != 0 ? EAI_SOCKTYPE : EAI_SERVICE;
}

int
sim__posix_getaddrinfo(
        const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
    static const struct addrinfo none = {.ai_family = AF_UNSPEC};
    const struct addrinfo *ask = hints != NULL ? hints : &none;
    bool numeric = (ask->ai_flags & AI_NUMERICSERV) != 0;
    struct addrinfo *found = NULL;
    int families[2];
    uint16_t port = 0;
    if (node == NULL && service == NULL) {
        return EAI_NONAME;
    }
    if (node == NULL && (ask->ai_flags & AI_CANONNAME) != 0) {
        return EAI_BADFLAGS;
    }
    if (ask->ai_family != AF_UNSPEC && ask->ai_family != AF_INET && ask->ai_family != AF_INET6) {
        return EAI_FAMILY;
    }
    if (!find_port(service, numeric, &port)) {
        return numeric ? EAI_NONAME : EAI_SERVICE;
    }
    families_of(node, ask, families);
    int error = answer_in(families, node, port, ask, &found);
    if (error != 0) {
        sim__posix_freeaddrinfo(found);
    } else {
        *ret = found;
    }
    return error;
}

void
sim__posix_freeaddrinfo(struct addrinfo *info)
{
    while (info != NULL) {
        struct addrinfo *next = info->ai_next;
        free(rt_container_of(info, struct answer, info));
        info = next;
    }
}

/* ---- From addresses to names. ---------------------------------------------------------------- */

int
sim__posix_getnameinfo(const struct sockaddr *address, socklen_t size, char *host,
        socklen_t host_size, char *service, socklen_t service_size, int flags)
{
    union address known = {.any = {0}};
    (void)flags; /* Always numbers: NI_NAMEREQD alone asks for a name. */
    memcpy(&known, address, size < sizeof(known) ? size : sizeof(known));
    bool v4 = known.any.sa_family == AF_INET;
    if (!v4 && known.any.sa_family != AF_INET6) {
        return EAI_FAMILY;
    }
    const void *from = v4 ? (const void *)&known.in.sin_addr : (const void *)&known.in6.sin6_addr;
    if ((flags & NI_NAMEREQD) != 0) {
        return EAI_NONAME;
    }
    if (host != NULL && inet_ntop(known.any.sa_family, from, host, host_size) == NULL) {
        return EAI_OVERFLOW;
    }
    int need = service != NULL
                       ? snprintf(service, service_size, "%u", (unsigned)ntohs(known.in.sin_port))
                       : 0;
    return need < 0 || (service != NULL && (socklen_t)need >= service_size) ? EAI_OVERFLOW : 0;
}

struct host {
    struct hostent host;
    char *list[2];
    char *aliases[1];
    union address address;
};

/* A copy of the run's. */
static char *
copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(sim_alloc(sim_world_current, size), text, size);
}

/* The host `name`, of which `address` is known. */
static struct hostent *
host_at(const char *name, const union address *address)
{
    struct host *answer = sim_zalloc(sim_world_current, sizeof(*answer));
    bool v4 = address->any.sa_family == AF_INET;
    answer->address = *address;
    answer->list[0] =
            v4 ? (char *)&answer->address.in.sin_addr : (char *)&answer->address.in6.sin6_addr;
    answer->host = (struct hostent){.h_name = copy_text(name),
            .h_aliases = answer->aliases,
            .h_addrtype = address->any.sa_family,
            .h_length = v4 ? sizeof(struct in_addr) : sizeof(struct in6_addr),
            .h_addr_list = answer->list};
    return &answer->host;
}

struct hostent *
sim__posix_gethostbyname(const char *name)
{
    union address address;
    if (find_address(name, AF_INET, false, false, &address) != 0) {
        h_errno = HOST_NOT_FOUND;
        return NULL;
    }
    return host_at(name, &address);
}

int
sim__posix_gethostbyname_r(const char *name, struct hostent *to, char *buffer, size_t size,
        struct hostent **ret, int *ret_error)
{
    const struct hostent *found = sim__posix_gethostbyname(name);
    (void)buffer; /* What it leads to is the run's. */
    (void)size;
    *ret_error = found == NULL ? HOST_NOT_FOUND : 0;
    *ret = found == NULL ? NULL : to;
    if (found != NULL) {
        *to = *found;
    }
    return 0;
}

/* Of this machine's addresses alone. */
struct hostent *
sim__posix_gethostbyaddr(const void *from, socklen_t size, int family)
{
    union address address = {.any = {.sa_family = (sa_family_t)family}};
    bool v4 = family == AF_INET && size == sizeof(struct in_addr);
    bool v6 = family == AF_INET6 && size == sizeof(struct in6_addr);
    if (v4) {
        memcpy(&address.in.sin_addr, from, size);
    } else if (v6) {
        memcpy(&address.in6.sin6_addr, from, size);
    }
    bool own = (v4 && ntohl(address.in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET) ||
               (v6 && memcmp(from, &in6addr_loopback, size) == 0);
    h_errno = own ? 0 : HOST_NOT_FOUND;
    return own ? host_at(hosts[0], &address) : NULL;
}

/* ---- Services. ------------------------------------------------------------------------------- */

static struct servent *
service_at(const char *name, uint16_t port, const char *protocol)
{
    static char *none[1];
    struct servent *service = sim_new(sim_world_current, struct servent);
    *service = (struct servent){.s_name = copy_text(name),
            .s_aliases = none,
            .s_port = htons(port),
            .s_proto = copy_text(protocol != NULL ? protocol : "tcp")};
    return service;
}

struct servent *
sim__posix_getservbyname(const char *name, const char *protocol)
{
    for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
        if (strcmp(services[i].name, name) == 0) {
            return service_at(name, services[i].port, protocol);
        }
    }
    return NULL;
}

struct servent *
sim__posix_getservbyport(int port, const char *protocol)
{
    for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
        if (services[i].port == ntohs((uint16_t)port)) {
            return service_at(services[i].name, services[i].port, protocol);
        }
    }
    return NULL;
}
