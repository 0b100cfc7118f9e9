// Cause: t_bank.c:26 transfer() locks its accounts in the order of its arguments: three transfers in a ring deadlock
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    int id;
    long balance;
};

static struct account accounts[3];

static void lock_both(struct account *from, struct account *to)
{
#ifdef FIXED
    if (from->id > to->id) {
        struct account *t = from;
        from = to;
        to = t;
    }
#endif
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
}

static int transfer(struct account *from, struct account *to, long amount)
{
    int done = 0;
    lock_both(from, to);
    if (from->balance >= amount) {
        from->balance -= amount;
        to->balance += amount;
        done = 1;
    }
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
    return done;
}

static void *teller(void *arg)
{
    long i = (long)arg;
    for (int k = 0; k < 2; k++)
        transfer(&accounts[i], &accounts[(i + 1) % 3], 5);
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++) {
        pthread_mutex_init(&accounts[i].lock, NULL);
        accounts[i].id = i;
        accounts[i].balance = 100;
    }
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, teller, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    long sum = 0;
    for (int i = 0; i < 3; i++)
        sum += accounts[i].balance;
    printf("total %ld\n", sum);
    return sum == 300 ? 0 : 1;
}
