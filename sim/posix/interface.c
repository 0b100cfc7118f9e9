/*
 * interface.c -- network interfaces: the loopback alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "sim/posix/call.h"

#define LOOPBACK "lo"
#define INDEX 1u

struct answer {
    struct ifaddrs info;
    struct sockaddr_in address;
    struct sockaddr_in mask;
    char name[sizeof(LOOPBACK)];
};

static struct sockaddr_in
address_of(in_addr_t address)
{
    struct sockaddr_in all = {.sin_family = AF_INET, .sin_addr = {htonl(address)}};
    return all;
}

int
sim__posix_getifaddrs(struct ifaddrs **ret)
{
    struct answer *answer = calloc(1, sizeof(*answer));
    if (answer == NULL) {
        return sim__posix_error(ENOMEM);
    }
    memcpy(answer->name, LOOPBACK, sizeof(LOOPBACK));
    answer->address = address_of(INADDR_LOOPBACK);
    answer->mask = address_of(IN_CLASSA_NET);
    answer->info = (struct ifaddrs){.ifa_name = answer->name,
            .ifa_flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING,
            .ifa_addr = (struct sockaddr *)&answer->address,
            .ifa_netmask = (struct sockaddr *)&answer->mask};
    *ret = &answer->info;
    return 0;
}

void
sim__posix_freeifaddrs(struct ifaddrs *list)
{
    free(list != NULL ? rt_container_of(list, struct answer, info) : NULL);
}

unsigned
sim__posix_if_nametoindex(const char *name)
{
    bool known = strcmp(name, LOOPBACK) == 0;
    errno = known ? errno : ENODEV;
    return known ? INDEX : 0;
}

char *
sim__posix_if_indextoname(unsigned index, char *to)
{
    if (index != INDEX) {
        errno = ENXIO;
        return NULL;
    }
    return memcpy(to, LOOPBACK, sizeof(LOOPBACK));
}
