/* Cause: ask(), lines 76-85: after a time-out (70, 71) the answer of that question is still on its way; the next ask reads it (76) and takes it for its own (84), as the number of the answer is not compared. Harm: assert(square == value * value), line 102. Fix: pass over answers with another number. */
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define QUESTIONS 4
#define PATIENCE_MS 8

struct question {
    unsigned number;
    int value;
};

struct answer {
    unsigned number;
    int square;
};

struct client {
    int fd;
    unsigned next;
    int answered;
    int unanswered;
};

static bool read_all(int fd, void *buffer, size_t size)
{
    char *at = buffer;
    while (size > 0) {
        ssize_t n = read(fd, at, size);
        if (n <= 0) {
            return false;
        }
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static void *translator(void *argument)
{
    int fd = *(int *)argument;
    struct question question;
    while (read_all(fd, &question, sizeof question)) {
        struct answer answer = {question.number, question.value * question.value};
        usleep(1500);
        if (write(fd, &answer, sizeof answer) != sizeof answer) {
            break;
        }
    }
    close(fd);
    return NULL;
}

/* False: there was no answer in time. */
static bool ask(struct client *client, int value, int *square)
{
    struct question question = {client->next++, value};
    struct answer answer;
    ssize_t n = write(client->fd, &question, sizeof question);
    assert(n == sizeof question);
    for (;;) {
        struct pollfd poller = {.fd = client->fd, .events = POLLIN};
        int ready = poll(&poller, 1, PATIENCE_MS);
        if (ready == 0) {
            return false;
        }
        if (ready < 0) {
            continue;
        }
        if (!read_all(client->fd, &answer, sizeof answer)) {
            return false;
        }
#ifdef FIXED
        if (answer.number != question.number) {
            continue;
        }
#endif
        *square = answer.square;
        return true;
    }
}

int main(void)
{
    int pair[2];
    pthread_t thread;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        return 1;
    }
    pthread_create(&thread, NULL, translator, &pair[1]);
    struct client client = {.fd = pair[0], .next = 1};
    for (int i = 0; i < QUESTIONS; i++) {
        int value = 3 + i;
        int square = 0;
        if (ask(&client, value, &square)) {
            assert(square == value * value);
            client.answered++;
        } else {
            client.unanswered++;
        }
    }
    shutdown(client.fd, SHUT_WR);
    pthread_join(thread, NULL);
    close(client.fd);
    printf("%d answered, %d not\n", client.answered, client.unanswered);
    return 0;
}
