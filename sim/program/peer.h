/*
 * peer.h -- clients of a program that is a server.
 *
 *      KIND:PORT[:TEXT[:ANSWER]]          NxKIND:…: N such clients
 *
 *      connect     connects, and closes
 *      send        sends TEXT, reads ANSWER, and closes
 *      halfclose   sends TEXT, ends its direction, and reads to the end, which is all of ANSWER
 *      reset       sends TEXT, and resets the connection
 *      slow        as send, but reads a few bytes at a time, with little space for more
 *
 * PORT is one of TCP, on any address, or begins with a slash: the path of a Unix socket. TEXT and
 * ANSWER have \n, \r, \t, \0, \\, \: and \xHH as escapes. Without ANSWER, `send` and `slow` read
 * until nothing has come for a second, and `halfclose` takes any bytes.
 *
 * A client waits until something listens at PORT, and for an ANSWER, for any time: if it still
 * waits when nothing is left to do, the run has stalled. When it connects, closes, ends, resets and
 * reads is a decision each. An ANSWER that is another one ends the run with verdict invariant.
 *
 * A scenario may be a client too (sim_peer.scenario): its setup makes it, on a node of a simulated
 * network (host/net.h), from which 127.0.0.1 is the program.
 *
 * A client is a process of its own on the machine of the program: an actor that the run does not
 * wait for once the program has ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/un.h>

#include "sim/core/scenario.h"

#define SIM_PEERS_MAX 64u         /* Texts. */
#define SIM_PEER_CLIENTS_MAX 256u /* Of one text. */

struct sim_peer_kind;

struct sim_peer {
    const char *text;                    /* As it was given; borrowed. */
    const struct sim_scenario *scenario; /* The client; NULL: a kind, and what follows. */
    const struct sim_peer_kind *kind;
    uint32_t clients;
    struct sockaddr_un address; /* Also of another family. */
    size_t address_size;
    char *send; /* From malloc; NULL: nothing. */
    size_t send_size;
    char *answer; /* From malloc; NULL: any. */
    size_t answer_size;
};

/* Reads `text`. NULL, or what is wrong with it: static. sim_peer_done must follow in any case. */
const char *sim_peer_parse(const char *text, struct sim_peer *ret_peer);
void sim_peer_done(struct sim_peer *peer);

/* In setup: makes the clients of `peer` (borrowed). `first` numbers them. */
void sim_peer_start(struct sim_world *world, const struct sim_peer *peer, uint32_t first);
