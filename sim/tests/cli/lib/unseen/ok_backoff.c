// Correct: two threads take two locks in opposite orders; who finds the second one taken gives the first one back and
// retries after a back-off, and a third thread retries its requests with growing time-outs.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t accounts[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int balance[2] = {100, 100};
static int answer[2];

static void transfer(int from, int to, unsigned pause)
{
    for (;;) {
        pthread_mutex_lock(&accounts[from]);
        if (pthread_mutex_trylock(&accounts[to]) == 0)
            break;
        pthread_mutex_unlock(&accounts[from]);
        usleep(pause);
        pause = pause < 8000 ? pause * 2 : pause;
    }
    balance[from]--;
    balance[to]++;
    pthread_mutex_unlock(&accounts[to]);
    pthread_mutex_unlock(&accounts[from]);
}

static void *teller(void *argument)
{
    int from = argument != NULL;
    for (int i = 0; i < 5; i++)
        transfer(from, !from, from ? 300 : 500);
    return NULL;
}

/* Answers at the third time only. */
static void *peer(void *argument)
{
    usleep(9000);
    return write(answer[1], "!", 1) == 1 ? NULL : argument;
}

int main(void)
{
    pthread_t threads[3];
    int tries = 1;
    if (pipe(answer) != 0)
        return 2;
    pthread_create(&threads[0], NULL, teller, NULL);
    pthread_create(&threads[1], NULL, teller, answer);
    pthread_create(&threads[2], NULL, peer, NULL);
    struct pollfd wanted = {.fd = answer[0], .events = POLLIN};
    for (int wait_ms = 2; poll(&wanted, 1, wait_ms) == 0; tries++)
        wait_ms = wait_ms < 50 ? wait_ms * 2 : wait_ms;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%d %d\n", balance[0], balance[1]);
    return balance[0] + balance[1] == 200 && tries > 0 ? 0 : 1;
}
