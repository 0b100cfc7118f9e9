/* Correct: a journal that commits in groups: the first committer waits a little for others on purpose, writes for all,
 * and wakes them; no one else is told that there is something to write. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS 4
#define EACH 2
#define DELAY_US 1500

struct journal {
    pthread_mutex_t lock;
    pthread_cond_t committed;
    unsigned long appended;  /* The last record that is in memory. */
    unsigned long durable;   /* … and on the disk. */
    bool leading;            /* Someone collects a group, or writes it. */
    unsigned groups;
};

static struct journal journal = {.lock = PTHREAD_MUTEX_INITIALIZER, .committed = PTHREAD_COND_INITIALIZER};

static void disk_write(unsigned long from, unsigned long to)
{
    (void)from;
    (void)to;
    usleep(800);
}

static unsigned long journal_append(struct journal *j)
{
    pthread_mutex_lock(&j->lock);
    unsigned long record = ++j->appended;
    pthread_mutex_unlock(&j->lock);
    return record;
}

/* With the lock held; gives it back meanwhile. */
static void journal_lead(struct journal *j)
{
    j->leading = true;
    pthread_mutex_unlock(&j->lock);
    /* Others append meanwhile, and wait. */
    usleep(DELAY_US);
    pthread_mutex_lock(&j->lock);
    unsigned long from = j->durable + 1, to = j->appended;
    pthread_mutex_unlock(&j->lock);
    disk_write(from, to);
    pthread_mutex_lock(&j->lock);
    j->durable = to;
    j->groups++;
    j->leading = false;
    /* All: some are durable now, and one of the rest leads the next group. */
    pthread_cond_broadcast(&j->committed);
}

static void journal_commit(struct journal *j, unsigned long record)
{
    pthread_mutex_lock(&j->lock);
    while (j->durable < record) {
        if (!j->leading)
            journal_lead(j);
        else
            pthread_cond_wait(&j->committed, &j->lock);
    }
    pthread_mutex_unlock(&j->lock);
}

static void *client(void *argument)
{
    long number = (long)argument;
    for (int i = 0; i < EACH; i++) {
        usleep(300 * (unsigned)number);
        unsigned long record = journal_append(&journal);
        journal_commit(&journal, record);
        pthread_mutex_lock(&journal.lock);
        assert(journal.durable >= record && journal.durable <= journal.appended);
        pthread_mutex_unlock(&journal.lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[CLIENTS];
    for (long i = 0; i < CLIENTS; i++)
        pthread_create(&threads[i], NULL, client, (void *)i);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    assert(journal.durable == CLIENTS * EACH);
    assert(journal.groups >= 1 && journal.groups <= CLIENTS * EACH);
    printf("%lu records\n", journal.durable);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
