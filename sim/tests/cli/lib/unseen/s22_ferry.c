/* Cause: Shutdown in the wrong order, a reused descriptor number. main sets leaving (66), closes deck.manifest (72) and opens the customs' socket pair (75), which gets the same number, before it joins the deckhand (78). The deckhand copied leaving and fd under the mutex (25-26), and writes with the old number after the unlock (32). Order: deckhand reads leaving == false and fd; main: leave, close, socketpair; deckhand writes "Mn" into customs[0]. Harm: assertion line 82, the customs' text has a line of the manifest (before or after "C:..."). (If it writes between close and socketpair it gets EBADF, and nothing happens.) Fix: lines 69-70, join before close. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CARS 6

struct deck {
    pthread_mutex_t mutex;
    int manifest; /* Where loaded cars are written to. */
    bool leaving;
    int written;
};

static struct deck deck = {.mutex = PTHREAD_MUTEX_INITIALIZER, .manifest = -1};

static void *deckhand(void *argument)
{
    for (int car = 0; car < CARS; car++) {
        pthread_mutex_lock(&deck.mutex);
        bool leaving = deck.leaving;
        int fd = deck.manifest;
        pthread_mutex_unlock(&deck.mutex);
        if (leaving)
            break;
        char line[8];
        int size = snprintf(line, sizeof line, "M%d\n", car);
        if (write(fd, line, (size_t)size) == size)
            deck.written++;
    }
    return argument;
}

static void leave(void)
{
    pthread_mutex_lock(&deck.mutex);
    deck.leaving = true;
    pthread_mutex_unlock(&deck.mutex);
}

/* What has come in on `fd` until its other end was closed. */
static size_t drain(int fd, char *text, size_t size)
{
    size_t have = 0;
    ssize_t n;
    while ((n = read(fd, text + have, size - 1 - have)) > 0)
        have += (size_t)n;
    text[have] = '\0';
    return have;
}

int main(void)
{
    int office[2], customs[2];
    char text[256];
    pthread_t hand;
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, office) == 0);
    deck.manifest = office[0];
    pthread_create(&hand, NULL, deckhand, NULL);

    while (read(office[1], text, 3) < 3) /* The first car is aboard: time to go. */
        ;
    leave();
#ifdef FIXED
    pthread_join(hand, NULL);
    close(deck.manifest);
#else
    close(deck.manifest);
#endif

    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, customs) == 0);
    assert(write(customs[0], "C:nothing to declare\n", 21) == 21);
#ifndef FIXED
    pthread_join(hand, NULL);
#endif
    close(customs[0]);
    drain(customs[1], text, sizeof text);
    assert(strcmp(text, "C:nothing to declare\n") == 0);
    drain(office[1], text, sizeof text);
    close(customs[1]);
    close(office[1]);
    return 0;
}
