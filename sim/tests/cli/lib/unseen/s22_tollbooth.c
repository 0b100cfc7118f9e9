/* Cause: Mixed-up identities: one buffer for the incomplete tickets of both lanes. In main the broken form has carry[1][64], carried[1] (89-90), so line 98 gives both lanes buffer 0. lane_readable() keeps a partial ticket there (79-80). Order: gate() of lane A has written the head (39) but not the plate (40), or the booth otherwise reads in between; the booth reads the head of A, keeps 2 bytes; then it reads from lane B and appends B's bytes to A's head (66). Harm: ticket() for B with A's head: assertion line 56, or the plate: line 58, or a wrong number of tickets: line 116. Fix: lines 86-87, a buffer and a length for each lane. */
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LANES 2
#define TICKETS 3

struct ticket_head {
    uint8_t lane;
    uint8_t size; /* Of the plate that follows. */
};

struct lane {
    int near; /* The booth's end. */
    int far;
    uint8_t number;
    uint8_t *carry; /* Bytes of a ticket that is not complete. */
    size_t *carried;
    int tickets;
};

static struct lane lanes[LANES];

static void write_all(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t n = write(fd, at, size);
        assert(n > 0);
        at += n;
        size -= (size_t)n;
    }
}

static void *gate(void *argument)
{
    struct lane *lane = argument;
    for (int i = 0; i < TICKETS; i++) {
        char plate[8];
        struct ticket_head head = {lane->number, (uint8_t)(3 + i)};
        memset(plate, 'a' + lane->number, sizeof plate);
        write_all(lane->far, &head, sizeof head);
        write_all(lane->far, plate, head.size);
    }
    shutdown(lane->far, SHUT_WR);
    return NULL;
}

static void ticket(struct lane *lane, const struct ticket_head *head, const uint8_t *plate)
{
    assert(head->lane == lane->number);
    for (int i = 0; i < head->size; i++)
        assert(plate[i] == 'a' + lane->number);
    lane->tickets++;
}

/* False: the lane has ended. */
static int lane_readable(struct lane *lane)
{
    uint8_t *carry = lane->carry;
    ssize_t n = read(lane->near, carry + *lane->carried, 64 - *lane->carried);
    if (n <= 0)
        return 0;
    size_t have = *lane->carried + (size_t)n, used = 0;
    while (have - used >= sizeof(struct ticket_head)) {
        struct ticket_head head;
        memcpy(&head, carry + used, sizeof head);
        if (have - used < sizeof head + head.size)
            break;
        ticket(lane, &head, carry + used + sizeof head);
        used += sizeof head + head.size;
    }
    memmove(carry, carry + used, have - used);
    *lane->carried = have - used;
    return 1;
}

int main(void)
{
#ifdef FIXED
    static uint8_t carry[LANES][64];
    static size_t carried[LANES];
#else
    static uint8_t carry[1][64];
    static size_t carried[1];
#endif
    pthread_t gates[LANES];
    struct pollfd polls[LANES];
    int open = LANES;
    for (int i = 0; i < LANES; i++) {
        int pair[2];
        assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
        size_t buffer = (size_t)i % (sizeof carried / sizeof carried[0]);
        lanes[i] = (struct lane){pair[0], pair[1], (uint8_t)i, carry[buffer], &carried[buffer], 0};
        polls[i] = (struct pollfd){pair[0], POLLIN, 0};
        pthread_create(&gates[i], NULL, gate, &lanes[i]);
    }
    while (open > 0) {
        if (poll(polls, LANES, -1) <= 0)
            continue;
        for (int i = 0; i < LANES; i++) {
            if (polls[i].revents != 0 && !lane_readable(&lanes[i])) {
                polls[i].fd = -1;
                polls[i].revents = 0;
                open--;
            }
        }
    }
    for (int i = 0; i < LANES; i++) {
        pthread_join(gates[i], NULL);
        assert(lanes[i].tickets == TICKETS);
    }
    return 0;
}
