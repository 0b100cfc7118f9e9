/*
 * peer.c -- reading what clients are to do, and doing it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/program/peer.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/loop.h"
#include "sim/core/world.h"
#include "sim/host/sys_inet.h"

#define QUIET_NS UINT64_C(1000000000) /* After which `send` expects no more. */
#define SLOW_SPACE 512u               /* Of what a slow reader has not read. */
#define SLOW_READ 64u
#define READ_MAX 4096u
#define SHOWN 40u /* Bytes of an answer in a message. */

/* ---- One client. ----------------------------------------------------------------------------- */

struct client {
    const struct sim_peer *peer;
    struct sim_world *world;
    struct sim_fds *fds;
    int fd;
    size_t received;
    size_t kept; /* Of these, the first are in `bytes`. */
    char *bytes; /* As many as the answer has, and one more. */
};

struct sim_peer_kind {
    const char *name;
    void (*play)(struct client *client);
    bool slow;
    bool to_the_end; /* The answer is all that comes. */
};

/* Waits, by a decision. */
static void
wait_for_a_while(struct client *client)
{
    static const uint64_t whiles_ns[] = {
            0, 1000, 30000, 1000000, 30000000, UINT64_C(1000000000), UINT64_C(30000000000)};
    uint64_t ns = whiles_ns[sim_pick(client->world, sizeof(whiles_ns) / sizeof(*whiles_ns))];
    if (ns > 0) {
        sim_sleep(client->world, ns);
    }
}

static void
send_text(struct client *client)
{
    const struct sim_peer *peer = client->peer;
    if (peer->send_size > 0) {
        (void)sim_sys_write(client->fds, client->fd, peer->send, peer->send_size, 0, RT_HERE);
    }
}

static void
keep(struct client *client, const char *bytes, size_t size)
{
    size_t space = client->peer->answer_size + 1 - client->kept;
    size_t part = size < space ? size : space;
    memcpy(client->bytes + client->kept, bytes, part);
    client->kept += part;
    client->received += size;
}

/* Whether something is there to be read, or will be. */
static bool
await_bytes(struct client *client)
{
    struct sim_sys_poll poll = {.fd = client->fd, .events = SIM_FD_IN};
    bool patient = client->peer->kind->to_the_end || client->peer->answer != NULL;
    uint64_t time_ns = patient ? SIM_NEVER : QUIET_NS;
    return sim_sys_poll(client->fds, &poll, 1, time_ns, RT_HERE) != 0;
}

/* False: no more will come, or is expected. */
static bool
read_some(struct client *client)
{
    char bytes[READ_MAX];
    const struct sim_peer *peer = client->peer;
    bool enough = !peer->kind->to_the_end && peer->answer != NULL &&
                  client->received >= peer->answer_size;
    if (enough || !await_bytes(client)) {
        return false;
    }
    int64_t size = sim_sys_read(client->fds, client->fd, bytes,
            peer->kind->slow ? SLOW_READ : READ_MAX, SIM_SYS_DONTWAIT, RT_HERE);
    if (size > 0) {
        keep(client, bytes, (size_t)size);
    }
    return size > 0 || size == -EAGAIN || size == -EINTR;
}

/* The first of `bytes` as they can be printed. */
static const char *
shown(char ret[SHOWN + 1], const char *bytes, size_t size)
{
    size_t count = size < SHOWN ? size : SHOWN;
    for (size_t i = 0; i < count; i++) {
        ret[i] = bytes[i] >= ' ' && bytes[i] <= '~' && bytes[i] != '"' ? bytes[i] : '.';
    }
    ret[count] = '\0';
    return ret;
}

static void
read_answer(struct client *client)
{
    char expected[SHOWN + 1];
    char got[SHOWN + 1];
    const struct sim_peer *peer = client->peer;
    while (read_some(client)) {
        if (peer->kind->slow) {
            wait_for_a_while(client);
        }
    }
    bool same = client->received == peer->answer_size &&
                memcmp(client->bytes, peer->answer, client->kept) == 0;
    if (peer->answer != NULL && !same) {
        sim_fail(client->world, SIM_VERDICT_INVARIANT, SIM_ORACLE_USER, client->world->current, 0,
                "peer '%s' expects the answer \"%s\" (%zu bytes), and reads \"%s\" (%zu bytes)",
                peer->kind->name, shown(expected, peer->answer, peer->answer_size),
                peer->answer_size, shown(got, client->bytes, client->kept), client->received);
    }
}

static void
play_connect(struct client *client)
{
    wait_for_a_while(client);
}

static void
play_send(struct client *client)
{
    send_text(client);
    read_answer(client);
}

static void
play_halfclose(struct client *client)
{
    send_text(client);
    wait_for_a_while(client);
    sim_log(client->world, "ends its direction");
    (void)sim_sys_shutdown(client->fds, client->fd, SIM_SYS_SHUT_WRITE);
    read_answer(client);
}

static void
play_reset(struct client *client)
{
    send_text(client);
    wait_for_a_while(client);
    sim_log(client->world, "resets the connection");
    (void)sim_sys_set(client->fds, client->fd, SIM_SYS_CLOSE_RESETS, true);
}

static const struct sim_peer_kind kinds[] = {
        {"connect", play_connect, false, false},
        {"send", play_send, false, false},
        {"halfclose", play_halfclose, false, true},
        {"reset", play_reset, false, false},
        {"slow", play_send, true, false},
};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

/* 0: it is connected. */
static int
connect_it(struct client *client)
{
    const struct sim_peer *peer = client->peer;
    const struct sockaddr *address = (const struct sockaddr *)&peer->address;
    socklen_t size = (socklen_t)peer->address_size;
    (void)sim_sys_set(client->fds, client->fd, SIM_SYS_AWAITS_LISTENER, true);
    wait_for_a_while(client);
    int err = sim_sys_connect(client->fds, client->fd, address, size, RT_HERE);
    sim_log(client->world, err == 0 ? "is connected" : "is not connected");
    return err;
}

static void
play(struct sim_world *world, void *argument)
{
    struct client *client = argument;
    const struct sim_peer *peer = client->peer;
    client->fds = sim_fds_new(sim_host_new(world, "a client", SIM_PROFILE_FD), 3);
    client->fd = sim_sys_socket(client->fds, peer->address.sun_family, SOCK_STREAM);
    rt_assert(client->fd >= 0);
    if (peer->kind->slow) {
        (void)sim_sys_set_receive_size(client->fds, client->fd, SLOW_SPACE);
    }
    if (connect_it(client) == 0) {
        peer->kind->play(client);
    }
    (void)sim_sys_close(client->fds, client->fd);
}

void
sim_peer_start(struct sim_world *world, const struct sim_peer *peer, uint32_t first)
{
    if (peer->scenario != NULL) {
        peer->scenario->setup(world);
        return;
    }
    rt_assert(peer->kind != NULL);
    for (uint32_t i = 0; i < peer->clients; i++) {
        char name[32];
        struct client *client = sim_new(world, struct client);
        *client = (struct client){
                .peer = peer, .world = world, .bytes = sim_alloc(world, peer->answer_size + 1)};
        int size = snprintf(name, sizeof(name), "%s %u", peer->kind->name, first + i);
        char *kept = sim_alloc(world, (size_t)size + 1);
        (void)sim_loop_new(world, memcpy(kept, name, (size_t)size + 1), play, client);
    }
}

/* ---- Reading. -------------------------------------------------------------------------------- */

/* The byte that the escape at *from means, which is moved behind it; -1: there is no such one. */
static int
take_escape(const char **from)
{
    static const char letters[] = "nrt0\\:";
    static const char bytes[] = "\n\r\t\0\\:";
    const char *letter = **from != '\0' ? strchr(letters, **from) : NULL;
    if (letter != NULL) {
        (*from)++;
        return bytes[letter - letters];
    }
    char digits[3] = "";
    char *end = NULL;
    if (**from == 'x') {
        (void)snprintf(digits, sizeof(digits), "%s", *from + 1);
    }
    long byte = strtol(digits, &end, 16);
    *from += end == digits + 2 ? 3 : 0;
    return end == digits + 2 ? (int)byte : -1;
}

/* Reads up to a colon or the end, and moves *from there. NULL, or what is wrong. */
static const char *
take_text(const char **from, char **ret, size_t *ret_size)
{
    *ret = sim_heap_new(strlen(*from) + 1, 1);
    *ret_size = 0;
    while (**from != '\0' && **from != ':') {
        int byte = (unsigned char)*(*from)++;
        byte = byte == '\\' ? take_escape(from) : byte;
        if (byte < 0) {
            return "has an escape that is none of \\n, \\r, \\t, \\0, \\\\, \\:, \\xHH";
        }
        (*ret)[(*ret_size)++] = (char)byte;
    }
    return NULL;
}

/* "7000", or "/run/socket". */
static bool
read_address(const char *text, size_t length, struct sim_peer *peer)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    char *end = NULL;
    if (*text == '/' && length < sizeof(peer->address.sun_path)) {
        peer->address.sun_family = AF_UNIX;
        memcpy(peer->address.sun_path, text, length);
        peer->address_size = sizeof(peer->address);
        return true;
    }
    unsigned long port = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    in.sin_port = htons((uint16_t)port);
    memcpy(&peer->address, &in, sizeof(in));
    peer->address_size = sizeof(in);
    return port > 0 && port < 65536 && end == text + length;
}

/* "3x" before a kind; 1 where it is not there, 0 where it is no number of clients. */
static uint32_t
take_count(const char **from)
{
    char *end = NULL;
    if (**from < '0' || **from > '9') {
        return 1;
    }
    unsigned long count = strtoul(*from, &end, 10);
    bool counts = *end == 'x' && count <= SIM_PEER_CLIENTS_MAX;
    *from = end + 1;
    return counts ? (uint32_t)count : 0;
}

static const struct sim_peer_kind *
find_kind(const char *text, size_t length)
{
    for (size_t i = 0; i < KINDS; i++) {
        if (strlen(kinds[i].name) == length && strncmp(kinds[i].name, text, length) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

static const char *
take_texts(const char *from, struct sim_peer *peer)
{
    const char *wrong = NULL;
    if (*from == ':') {
        from++;
        wrong = take_text(&from, &peer->send, &peer->send_size);
    }
    if (wrong == NULL && *from == ':') {
        from++;
        wrong = take_text(&from, &peer->answer, &peer->answer_size);
    }
    return wrong == NULL && *from != '\0' ? "has more than KIND:PORT:TEXT:ANSWER" : wrong;
}

const char *
sim_peer_parse(const char *text, struct sim_peer *ret_peer)
{
    const char *from = text;
    *ret_peer = (struct sim_peer){.text = text, .clients = take_count(&from)};
    if (ret_peer->clients == 0) {
        return "begins with a number that is not of clients, such as 3x (up to 256x)";
    }
    size_t length = strcspn(from, ":");
    ret_peer->kind = find_kind(from, length);
    if (ret_peer->kind == NULL) {
        return "is none of connect, send, halfclose, reset, slow, and no library (with a slash or "
               ".so)";
    }
    from += length + (from[length] == ':');
    length = strcspn(from, ":");
    if (!read_address(from, length, ret_peer)) {
        return "has no port (1 to 65535), and no path of a socket, after its kind: KIND:PORT";
    }
    return take_texts(from + length, ret_peer);
}

void
sim_peer_done(struct sim_peer *peer)
{
    free(peer->send);
    free(peer->answer);
    *peer = (struct sim_peer){.text = NULL};
}
