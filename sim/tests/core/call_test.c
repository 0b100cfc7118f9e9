/*
 * call_test.c -- calls as events, and their words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/record/call.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "runtime/io/completion.h"
#include "runtime/tests/test.h"

static void
expect_words(const struct sim_call *call, const char *words)
{
    const struct sim_event event = {.kind = SIM_EVENT_CALL,
            .cause = sim_call_pack(call),
            .flags = (uint8_t)call->number,
            .argument = call->value};
    const struct sim_call read = sim_call_of(&event);
    struct sim_page page;
    sim_page_init(&page, false);
    sim_call_put(&page, &read);
    ck_assert_str_eq(sim_page_text(&page), words);
    sim_page_fini(&page);
}

TEST(call_is_found_by_name)
{
    EXPECT_EQ(sim_call_find("read"), SIM_CALL_read);
    EXPECT_EQ(sim_call_find("__read_chk"), SIM_CALL_read);
    EXPECT_EQ(sim_call_find("recv"), SIM_CALL_recv);
    EXPECT_EQ(sim_call_find("getpid"), SIM_CALL_none);
    EXPECT_EQ(sim_call_find("__read"), SIM_CALL_none);
}

TEST(call_is_described_with_its_arguments)
{
    expect_words(&(struct sim_call){.number = SIM_CALL_read, .fd = 5, .value = 16384},
            "read(5) = 16384");
    expect_words(&(struct sim_call){.number = SIM_CALL_epoll_ctl_mod,
                         .fd = 6,
                         .second = 3,
                         .value = EPOLLIN | EPOLLOUT | EPOLLET},
            "epoll_ctl(3, MOD, 6, IN|OUT|ET)");
    expect_words(&(struct sim_call){.number = SIM_CALL_epoll_ctl_add, .fd = 1023, .second = 1022},
            "epoll_ctl(1022, ADD, 1023, 0)");
    expect_words(&(struct sim_call){.number = SIM_CALL_timerfd_settime, .fd = 4, .value = 2500000},
            "timerfd_settime(4, 2.5ms)");
    expect_words(
            &(struct sim_call){.number = SIM_CALL_timerfd_settime, .fd = 4, .value = UINT64_MAX},
            "timerfd_settime(4, disarm)");
    expect_words(
            &(struct sim_call){
                    .number = SIM_CALL_epoll_wait, .fd = 3, .second = 2, .value = UINT64_MAX},
            "epoll_wait(3, -1) = 2");
}

TEST(call_of_a_scenario_is_described_with_its_arguments)
{
    expect_words(&(struct sim_call){.number = SIM_CALL_sim_fd_modify, .fd = 6, .value = 1 | 32},
            "sim_fd_modify(6, IN|ONESHOT)");
    expect_words(&(struct sim_call){.number = SIM_CALL_push,
                         .second = RT_OPCODE_CANCEL,
                         .value = 7,
                         .error = (uint32_t)-RT_E_FULL},
            "push(CANCEL, 7) = RT_E_FULL");
    expect_words(&(struct sim_call){.number = SIM_CALL_enter, .value = 2}, "enter() = 2");
}

TEST(call_that_failed_is_described_with_its_error)
{
    expect_words(
            &(struct sim_call){
                    .number = SIM_CALL_write, .fd = 6, .value = UINT64_MAX, .error = EAGAIN},
            "write(6) = EAGAIN");
    expect_words(&(struct sim_call){.number = SIM_CALL_close, .fd = 9, .error = EBADF},
            "close(9) = EBADF");
}

TEST(call_of_another_event_is_none)
{
    const struct sim_event other = {.kind = SIM_EVENT_READ, .flags = SIM_CALL_read};
    const struct sim_event newer = {.kind = SIM_EVENT_CALL, .flags = 255};
    EXPECT_EQ(sim_call_of(&other).number, SIM_CALL_none);
    EXPECT_EQ(sim_call_of(&newer).number, SIM_CALL_none);
}
