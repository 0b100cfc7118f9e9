/*
 * net.c -- the calls of the network's seam whose answers are checked before use.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/net.h"

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

#define net_broke(what) rt_panic(__FILE__, __LINE__, "the network " what)

struct rt_net_address
rt_net_address_v4(uint8_t a, uint8_t b, uint8_t c, uint8_t d, uint16_t port)
{
    return (struct rt_net_address){
            .ip = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d}, .port = port};
}

rt_err
rt_net_read(struct rt_net *net, int socket, void *buffer, size_t size, size_t *ret_size,
        const struct rt_site *await)
{
    rt_check(net, RT_NET_MAGIC);
    rt_assert(buffer != NULL);
    rt_assert(size > 0);
    size_t moved = 0;
    rt_err err = net->ops->read(net, socket, buffer, size, &moved, await);
    if (err == RT_OK && moved > size) {
        net_broke("read more bytes than the buffer holds");
    }
    *ret_size = err == RT_OK ? moved : 0;
    return err;
}

size_t
rt_net_size(const struct rt_net_part *parts, uint32_t count)
{
    size_t size = 0;
    rt_assert(count <= RT_NET_PARTS);
    for (uint32_t i = 0; i < count; i++) {
        rt_assert(parts[i].bytes != NULL || parts[i].size == 0);
        size += parts[i].size;
    }
    return size;
}

rt_err
rt_net_writev(struct rt_net *net, int socket, const struct rt_net_part *parts, uint32_t count,
        size_t *ret_size, const struct rt_site *await)
{
    rt_check(net, RT_NET_MAGIC);
    size_t size = rt_net_size(parts, count);
    rt_assert(size > 0);
    size_t moved = 0;
    rt_err err = net->ops->write(net, socket, parts, count, &moved, await);
    if (err == RT_OK && (moved == 0 || moved > size)) {
        net_broke("wrote nothing, or more than it was given, and said that all was well");
    }
    *ret_size = err == RT_OK ? moved : 0;
    return err;
}

rt_err
rt_net_write(struct rt_net *net, int socket, const void *buffer, size_t size, size_t *ret_size,
        const struct rt_site *await)
{
    struct rt_net_part part = {buffer, size};
    return rt_net_writev(net, socket, &part, 1, ret_size, await);
}

uint32_t
rt_net_fetch(struct rt_net *net, struct rt_net_event *ret_events, uint32_t max)
{
    rt_check(net, RT_NET_MAGIC);
    rt_assert(max > 0);
    uint32_t count = net->ops->fetch(net, ret_events, max);
    if (count > max) {
        net_broke("fetched more events than the array holds");
    }
    for (uint32_t i = 0; i < count; i++) {
        if (ret_events[i].events == 0 || (ret_events[i].events & ~RT_NET_EVENTS) != 0) {
            net_broke("reported an event that says nothing, or nothing known");
        }
    }
    return count;
}
