/*
 * call.c -- the words of calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/record/call.h"

#include <string.h>
#include <sys/epoll.h>

#include "runtime/base/assert.h"
#include "runtime/io/completion.h"

static const struct {
    const char *name;
    const char *words;
} calls[SIM_CALLS] = {
#define CALL(name, words) {#name, words},
        SIM_CALL_LIST(CALL)
#undef CALL
};

_Static_assert((int)SIM_CALLS <= 256, "the number of a call is one byte");

struct sim_call
sim_call_of(const struct sim_event *event)
{
    bool is_call = event->kind == SIM_EVENT_CALL && event->flags < SIM_CALLS;
    return (struct sim_call){.value = event->argument,
            .fd = event->cause & SIM_CALL_NO_FD,
            .second = event->cause >> 12 & SIM_CALL_NO_FD,
            .number = is_call ? event->flags : SIM_CALL_none,
            .error = event->cause >> 24};
}

enum sim_call_number
sim_call_find(const char *name)
{
    size_t length = strlen(name);
    bool checks =
            length > 6 && strncmp(name, "__", 2) == 0 && strcmp(name + length - 4, "_chk") == 0;
    name += checks ? 2 : 0;
    length -= checks ? 6 : 0;
    for (uint32_t i = 1; i < SIM_CALLS; i++) {
        if (strlen(calls[i].name) == length && strncmp(calls[i].name, name, length) == 0) {
            return (enum sim_call_number)i;
        }
    }
    return SIM_CALL_none;
}

struct bit {
    uint32_t bit;
    const char *name;
};

static void
put_bits(struct sim_page *page, const struct bit *bits, size_t count, uint64_t value)
{
    const char *between = "";
    for (size_t i = 0; i < count; i++) {
        if ((value & bits[i].bit) != 0) {
            sim_page_printf(page, "%s%s", between, bits[i].name);
            between = "|";
        }
    }
    sim_page_put(page, between[0] == '\0' ? "0" : "");
}

static void
put_events(struct sim_page *page, uint64_t events)
{
    static const struct bit names[] = {{EPOLLIN, "IN"}, {EPOLLOUT, "OUT"}, {EPOLLPRI, "PRI"},
            {EPOLLRDHUP, "RDHUP"}, {EPOLLERR, "ERR"}, {EPOLLHUP, "HUP"}, {EPOLLET, "ET"},
            {EPOLLONESHOT, "ONESHOT"}, {EPOLLEXCLUSIVE, "EXCLUSIVE"}};
    put_bits(page, names, sizeof(names) / sizeof(names[0]), events);
}

static void
put_fd_events(struct sim_page *page, uint64_t events)
{
    static const struct bit names[] = {{1, "IN"}, {2, "OUT"}, {4, "ERR"}, {8, "HUP"}, {16, "EDGE"},
            {32, "ONESHOT"}, {64, "RDHUP"}, {128, "PRI"}, {256, "EXCLUSIVE"}};
    put_bits(page, names, sizeof(names) / sizeof(names[0]), events);
}

static const char *
opcode_name(uint32_t opcode)
{
    static const char *const names[] = {[RT_OPCODE_READ] = "READ",
            [RT_OPCODE_WRITE] = "WRITE",
            [RT_OPCODE_ACCEPT] = "ACCEPT",
            [RT_OPCODE_POLL] = "POLL",
            [RT_OPCODE_CANCEL] = "CANCEL"};
    return opcode < sizeof(names) / sizeof(names[0]) ? names[opcode] : "?";
}

static void
put_time(struct sim_page *page, uint64_t ns, const char *never)
{
    if (ns == UINT64_MAX) {
        sim_page_put(page, never);
    } else {
        sim_page_time(page, ns);
    }
}

static void
put_signal(struct sim_page *page, int number)
{
    const char *name = sigabbrev_np(number);
    if (name != NULL) {
        sim_page_printf(page, "SIG%s", name);
    } else {
        sim_page_printf(page, "%d", number);
    }
}

static void
put_field(struct sim_page *page, const struct sim_call *call, char field)
{
    switch (field) {
    case 'd':
        sim_page_printf(page, "%u", call->fd);
        return;
    case 'D':
        sim_page_printf(page, "%u", call->second);
        return;
    case 'v':
        sim_page_printf(page, "%llu", (unsigned long long)call->value);
        return;
    case 'o':
        sim_page_put(page, opcode_name(call->second));
        return;
    case 'e':
        put_events(page, call->value);
        return;
    case 'f':
        put_fd_events(page, call->value);
        return;
    case 't':
        put_time(page, call->value, "-1");
        return;
    case 'a':
        put_time(page, call->value, "disarm");
        return;
    case 'm':
        sim_page_put(page, call->second != 0 ? ", which is pending already" : "");
        return;
    case 's':
        put_signal(page, (int)call->value);
        return;
    default:
        rt_unreached("a field that no call has");
    }
}

void
sim_call_put(struct sim_page *page, const struct sim_call *call)
{
    rt_assert(call->number < SIM_CALLS);
    const char *name = calls[call->number].name;
    const char *words = calls[call->number].words;
    bool control = call->number >= SIM_CALL_epoll_ctl_add && call->number <= SIM_CALL_epoll_ctl_del;
    sim_page_put(page, control ? "epoll_ctl" : name);
    for (const char *c = words; *c != '\0'; c++) {
        if (*c == ' ' && c[1] == '=' && call->error != 0) {
            break;
        }
        if (*c == '%') {
            c++;
            put_field(page, call, *c);
        } else {
            sim_page_add(page, c, 1);
        }
    }
    if (call->error != 0) {
        bool scenario = call->number >= SIM_CALL_OF_SCENARIO && call->number < SIM_CALL_OF_SIGNAL;
        const char *error =
                scenario ? rt_err_name(-(rt_err)call->error) : strerrorname_np((int)call->error);
        sim_page_printf(page, " = %s", error != NULL ? error : "an error");
    }
}
