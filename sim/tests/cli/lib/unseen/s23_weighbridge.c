/* Cause: a TCP stream read as if it were messages. receive() (61-62) calls recv once and ignores how many bytes it got. Order: a recv returns a part of a record's 8 bytes, or of a plate (the segment came in pieces, or a short read); the rest is taken for what follows. Harm: assertion at 87 (length nonsense), 90 (plate wrong) or 94 (sum or number wrong; also when a premature 0 ends the loop). Fix: read until all size bytes are there (50-59). */
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct record {
    uint32_t length; /* of the plate, network order */
    uint32_t kilograms;
};

static const char *plates[] = {"KA-17", "B-9921", "HH-305-L"};
static struct sockaddr_in address;

static void send_all(int fd, const void *data, size_t size)
{
    const char *bytes = data;
    while (size > 0) {
        ssize_t sent = send(fd, bytes, size, 0);
        assert(sent > 0);
        bytes += sent;
        size -= (size_t)sent;
    }
}

static void *bridge(void *argument)
{
    (void)argument;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    for (unsigned i = 0; i < 3; i++) {
        struct record record = {htonl((uint32_t)strlen(plates[i])), htonl(7500 + 100 * i)};
        char frame[64];
        memcpy(frame, &record, sizeof record);
        memcpy(frame + sizeof record, plates[i], strlen(plates[i]));
        send_all(fd, frame, sizeof record + strlen(plates[i]));
        usleep(400);
    }
    close(fd);
    return NULL;
}

/* 1: it is there; 0: the end. */
static int receive(int fd, void *buffer, size_t size)
{
#ifdef FIXED
    size_t have = 0;
    while (have < size) {
        ssize_t got = recv(fd, (char *)buffer + have, size - have, 0);
        assert(got >= 0);
        if (got == 0)
            return 0;
        have += (size_t)got;
    }
    return 1;
#else
    ssize_t got = recv(fd, buffer, size, 0);
    return got > 0;
#endif
}

int main(void)
{
    pthread_t thread;
    socklen_t size = sizeof address;
    uint32_t total = 0;
    unsigned records = 0;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    assert(listen(listener, 4) == 0);
    assert(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    pthread_create(&thread, NULL, bridge, NULL);
    int fd = accept(listener, NULL, NULL);
    assert(fd >= 0);
    for (;;) {
        struct record record = {0, 0};
        char plate[32] = "";
        if (!receive(fd, &record, sizeof record))
            break;
        uint32_t length = ntohl(record.length);
        assert(length > 0 && length < sizeof plate);
        if (!receive(fd, plate, length))
            break;
        assert(strcmp(plate, plates[records]) == 0);
        total += ntohl(record.kilograms);
        records++;
    }
    assert(records == 3 && total == 3 * 7500 + 300);
    pthread_join(thread, NULL);
    close(fd);
    close(listener);
    return 0;
}
