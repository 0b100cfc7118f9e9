/*
 * uring_test.c -- what the host over io_uring did, among what the simulated network may do. Where
 * the build has no such host, or the kernel refuses it, each passes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifdef RT_URING

#include "runtime/tests/host/on_uring.h"
#include "sim/tests/host/record/tests.h"

static bool
refused(void)
{
    struct rt_uring host;
    if (rt_uring_init(&host, NULL) == RT_OK) {
        rt_uring_fini(&host);
        return false;
    }
    return true;
}

#define IF_THERE(name) \
    if (!refused()) { \
        RECORDED(name); \
    }
#else
#include "runtime/tests/test.h"
#define IF_THERE(name)
#endif

TEST(record_uring_pipe_has_one_direction){IF_THERE(metal_pipe_has_one_direction)}

TEST(record_uring_tcp_half_close){IF_THERE(metal_tcp_half_close)}

TEST(record_uring_tcp_closed_peer_is_no_signal){IF_THERE(metal_tcp_closed_peer_is_no_signal)}

TEST(record_uring_tcp_writer_waits_for_a_reader_and_hears_of_its_end){
        IF_THERE(metal_tcp_writer_waits_for_a_reader_and_hears_of_its_end)}

TEST(record_uring_tcp_short_read_is_the_last){IF_THERE(metal_tcp_short_read_is_the_last)}

TEST(record_uring_tcp_errors_have_names){IF_THERE(metal_tcp_errors_have_names)}

TEST(record_uring_each_direction_has_a_list_of_waiters){
        IF_THERE(metal_each_direction_has_a_list_of_waiters)}

TEST(record_uring_shutdown_ends_every_wait){IF_THERE(metal_shutdown_ends_every_wait)}

TEST(record_uring_accept_outlives_a_lack_of_descriptors){
        IF_THERE(metal_accept_outlives_a_lack_of_descriptors)}

TEST(record_uring_local_path_and_backlog_have_limits){
        IF_THERE(metal_local_path_and_backlog_have_limits)}

TEST(record_uring_pipe_without_a_reader_is_no_signal){
        IF_THERE(metal_pipe_without_a_reader_is_no_signal)}

TEST(record_uring_datagram_is_whole_or_cut_off){IF_THERE(metal_datagram_is_whole_or_cut_off)}

TEST(record_uring_connected_datagrams_have_one_peer)
{
    IF_THERE(metal_connected_datagrams_have_one_peer)
}
