/*
 * uring_test.c -- the tests of the host over epoll, on the host over io_uring.
 *
 * The same files, compiled with the other host's names; where the kernel refuses io_uring each of
 * them passes, and says so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifdef RT_URING

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "runtime/tests/host/on_uring.h"
#include "runtime/tests/test.h"

#undef TEST
#define TEST(name) static void __attribute__((unused)) again_##name(void)

#include "runtime/tests/host/cores_test.c"
#include "runtime/tests/host/echo_fire_test.c"
#include "runtime/tests/host/epoll_test.c"
#include "runtime/tests/host/local_metal_test.c"
#include "runtime/tests/host/tcp_metal_test.c"
#include "runtime/tests/host/udp_metal_test.c"
#include "runtime/tests/host/worker.c"

#undef TEST
#define TEST(name) \
    void name(int test__unused); \
    void name(int test__unused __attribute__((unused)))

/* Whether the kernel has it for us. */
static bool
refused(void)
{
    struct rt_uring host;
    if (rt_uring_init(&host, NULL) == RT_OK) {
        rt_uring_fini(&host);
        return false;
    }
    (void)printf("# io_uring is refused here: %s\n", host.base.failure.operation);
    return true;
}

/* From now on the kernel refuses io_uring to this process, as containers often do. */
static void
forbid(void)
{
    struct sock_filter steps[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof(steps) / sizeof(steps[0]), steps};
    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

static void
expect_refusal(void)
{
    struct rt_uring host;
    struct rt_failure failure = {NULL, 0};
    struct rt_linux *made = NULL;
    char text[100];
    uint32_t open_before = metal_open_descriptors();
    forbid();
    EXPECT_EQ(rt_uring_init(&host, NULL), RT_E_SYSTEM);
    EXPECT_STR(rt_failure_text(&host.base.failure, NULL, text, sizeof(text)),
            "io_uring_setup: EPERM (Operation not permitted)");
    EXPECT_EQ(rt_uring_kind.make(false, &failure, &made), RT_E_SYSTEM);
    EXPECT_STR(rt_failure_text(&failure, NULL, text, sizeof(text)),
            "io_uring_setup: EPERM (Operation not permitted)");
    EXPECT_EQ(metal_open_descriptors(), open_before);
}

/* Not again: event_of_a_closed_socket_is_dropped. This host drops it before anything is fetched. */
#define AGAIN(name) \
    if (!refused()) { \
        again_##name(); \
    }

/* A process of its own, which ends by _exit(0) if all is as expected. */
static void
expect_refusal_in_a_child(void)
{
    int status = -1;
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        expect_refusal();
        _exit(0);
    }
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}
#else
#include "runtime/tests/test.h"
#define AGAIN(name)
#define expect_refusal_in_a_child() ((void)0)
#endif

/* Goal: where the kernel refuses io_uring, the error names the call and errno, and nothing is left
 * open. */
TEST(uring_that_is_refused_says_so)
{
    expect_refusal_in_a_child();
}

TEST(uring_deadline_is_never_early){AGAIN(epoll_deadline_is_never_early)}

TEST(uring_past_is_ready_and_never_is_not){AGAIN(epoll_past_is_ready_and_never_is_not)}

TEST(uring_interrupted_sleep_goes_on){AGAIN(epoll_interrupted_sleep_goes_on)}

TEST(uring_many_notifications_are_one){AGAIN(epoll_many_notifications_are_one)}

TEST(uring_notification_fetched_by_the_network_is_kept){
        AGAIN(epoll_notification_fetched_by_the_network_is_kept)}

TEST(uring_no_notification_is_lost){AGAIN(epoll_no_notification_is_lost)}

TEST(uring_descriptor_is_a_level){AGAIN(epoll_descriptor_is_a_level)}

TEST(uring_descriptor_that_is_not_listed_does_not_spin){
        AGAIN(epoll_descriptor_that_is_not_listed_does_not_spin)}

TEST(uring_descriptor_may_be_waited_for_twice){AGAIN(epoll_descriptor_may_be_waited_for_twice)}

TEST(uring_number_used_again_is_another_descriptor){
        AGAIN(epoll_number_used_again_is_another_descriptor)}

TEST(uring_refuses_what_cannot_be_waited_for){AGAIN(epoll_refuses_what_cannot_be_waited_for)}

TEST(uring_empty_list_is_refused){AGAIN(epoll_empty_list_is_refused)}

TEST(uring_tcp_half_close){AGAIN(metal_tcp_half_close)}

TEST(uring_tcp_closed_peer_is_no_signal){AGAIN(metal_tcp_closed_peer_is_no_signal)}

TEST(uring_tcp_writer_waits_for_a_reader_and_hears_of_its_end){
        AGAIN(metal_tcp_writer_waits_for_a_reader_and_hears_of_its_end)}

TEST(uring_tcp_errors_have_names){AGAIN(metal_tcp_errors_have_names)}

TEST(uring_each_direction_has_a_list_of_waiters){AGAIN(metal_each_direction_has_a_list_of_waiters)}

TEST(uring_shutdown_ends_every_wait){AGAIN(metal_shutdown_ends_every_wait)}

TEST(uring_accept_outlives_a_lack_of_descriptors){
        AGAIN(metal_accept_outlives_a_lack_of_descriptors)}

TEST(uring_addresses_are_read_as_they_are_written){
        AGAIN(metal_addresses_are_read_as_they_are_written)}

TEST(uring_parts_are_written_as_one){AGAIN(metal_parts_are_written_as_one)}

TEST(uring_local_stream_is_found_by_its_path){AGAIN(metal_local_stream_is_found_by_its_path)}

TEST(uring_local_path_and_backlog_have_limits){AGAIN(metal_local_path_and_backlog_have_limits)}

TEST(uring_pipe_has_one_direction){AGAIN(metal_pipe_has_one_direction)}

TEST(uring_pipe_without_a_reader_is_no_signal){AGAIN(metal_pipe_without_a_reader_is_no_signal)}

TEST(uring_pipes_are_filled_and_left_at_random){AGAIN(metal_pipes_are_filled_and_left_at_random)}

TEST(uring_datagrams_in_a_flood_are_whole_or_lost){
        AGAIN(metal_datagrams_in_a_flood_are_whole_or_lost)}

TEST(uring_echo_serves_a_client_that_sends_a_byte_a_second){
        AGAIN(echo_serves_a_client_that_sends_a_byte_a_second)}

TEST(uring_datagram_is_whole_or_cut_off){AGAIN(metal_datagram_is_whole_or_cut_off)}

TEST(uring_connected_datagrams_have_one_peer){AGAIN(metal_connected_datagrams_have_one_peer)}

TEST(uring_echo_serves_ten_thousand_connections_dropped_at_random){
        AGAIN(echo_serves_ten_thousand_connections_dropped_at_random)}

TEST(uring_echo_reaches_the_limit_of_descriptors_and_leaves_it){
        AGAIN(echo_reaches_the_limit_of_descriptors_and_leaves_it)}

TEST(uring_echo_serves_others_beside_slow_clients){AGAIN(echo_serves_others_beside_slow_clients)}

TEST(uring_echo_outlives_clients_that_are_killed){AGAIN(echo_outlives_clients_that_are_killed)}

TEST(uring_echo_serves_in_a_storm_of_signals){AGAIN(echo_serves_in_a_storm_of_signals)}

TEST(uring_cores_serve_every_call_once){AGAIN(cores_serve_every_call_once)}

TEST(uring_cores_end_together_when_one_cannot_begin){
        AGAIN(cores_end_together_when_one_cannot_begin)}

TEST(uring_cores_that_were_never_started_leave_nothing){
        AGAIN(cores_that_were_never_started_leave_nothing)}

TEST(uring_signals_of_a_storm_are_heard){AGAIN(signals_of_a_storm_are_heard)}

TEST(uring_processes_are_waited_for){AGAIN(processes_are_waited_for)}

TEST(uring_steps_of_the_wall_clock_move_no_deadline)
{
    AGAIN(epoll_steps_of_the_wall_clock_move_no_deadline)
}
