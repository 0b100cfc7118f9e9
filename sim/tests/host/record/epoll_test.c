/*
 * epoll_test.c -- what the host over epoll did, among what the simulated network may do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/host/record/tests.h"

TEST(record_epoll_tcp_half_close)
{
    RECORDED(metal_tcp_half_close);
}

TEST(record_epoll_tcp_closed_peer_is_no_signal)
{
    RECORDED(metal_tcp_closed_peer_is_no_signal);
}

TEST(record_epoll_tcp_writer_waits_for_a_reader_and_hears_of_its_end)
{
    RECORDED(metal_tcp_writer_waits_for_a_reader_and_hears_of_its_end);
}

TEST(record_epoll_tcp_short_read_is_the_last)
{
    RECORDED(metal_tcp_short_read_is_the_last);
}

TEST(record_epoll_tcp_errors_have_names)
{
    RECORDED(metal_tcp_errors_have_names);
}

TEST(record_epoll_each_direction_has_a_list_of_waiters)
{
    RECORDED(metal_each_direction_has_a_list_of_waiters);
}

TEST(record_epoll_shutdown_ends_every_wait)
{
    RECORDED(metal_shutdown_ends_every_wait);
}

TEST(record_epoll_accept_outlives_a_lack_of_descriptors)
{
    RECORDED(metal_accept_outlives_a_lack_of_descriptors);
}

TEST(record_epoll_local_path_and_backlog_have_limits)
{
    RECORDED(metal_local_path_and_backlog_have_limits);
}

TEST(record_epoll_pipe_without_a_reader_is_no_signal)
{
    RECORDED(metal_pipe_without_a_reader_is_no_signal);
}

TEST(record_epoll_datagram_is_whole_or_cut_off)
{
    RECORDED(metal_datagram_is_whole_or_cut_off);
}

TEST(record_epoll_connected_datagrams_have_one_peer)
{
    RECORDED(metal_connected_datagrams_have_one_peer);
}

TEST(record_epoll_parts_are_written_as_one)
{
    RECORDED(metal_parts_are_written_as_one);
}

TEST(record_epoll_local_stream_is_found_by_its_path)
{
    RECORDED(metal_local_stream_is_found_by_its_path);
}

TEST(record_epoll_pipe_has_one_direction)
{
    RECORDED(metal_pipe_has_one_direction);
}
