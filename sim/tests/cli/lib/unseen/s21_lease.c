/* Cause: lease_is_good(), line 60: node->lease_ns - now is unsigned; when the lease has run out (now > lease_ns) the difference wraps to a huge number, so the lease counts as good. The other node has taken the lease meanwhile (acquire()). Harm: assert(store->holder == node->number) in put(), line 70. Fix: compare now + MARGIN_NS < lease_ns. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define LEASE_NS UINT64_C(6000000)
#define MARGIN_NS UINT64_C(1000000)
#define WRITES 4

struct store {
    pthread_mutex_t mutex;
    int holder; /* 0: none so far. */
    uint64_t expires_ns;
    int writes[3];
};

struct node {
    pthread_t thread;
    struct store *store;
    int number;
    uint64_t lease_ns; /* Until when the node has it. */
    int renewals;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Takes the lease, or makes it longer. */
static bool acquire(struct node *node)
{
    struct store *store = node->store;
    bool granted = false;
    pthread_mutex_lock(&store->mutex);
    uint64_t now = now_ns();
    if (store->holder == 0 || store->holder == node->number || now >= store->expires_ns) {
        store->holder = node->number;
        store->expires_ns = now + LEASE_NS;
        node->lease_ns = store->expires_ns;
        node->renewals++;
        granted = true;
    }
    pthread_mutex_unlock(&store->mutex);
    return granted;
}

static bool lease_is_good(const struct node *node)
{
    uint64_t now = now_ns();
#ifdef FIXED
    return now + MARGIN_NS < node->lease_ns;
#else
    return node->lease_ns - now > MARGIN_NS;
#endif
}

static bool put(struct node *node)
{
    struct store *store = node->store;
    bool written = false;
    pthread_mutex_lock(&store->mutex);
    if (lease_is_good(node)) {
        assert(store->holder == node->number);
        store->writes[node->number]++;
        written = true;
    }
    pthread_mutex_unlock(&store->mutex);
    return written;
}

static void *node_main(void *argument)
{
    struct node *node = argument;
    int written = 0;
    while (!acquire(node)) {
        usleep(2000);
    }
    while (written < WRITES) {
        if (put(node)) {
            written++;
            usleep(500);
            continue;
        }
        while (!acquire(node)) {
            usleep(2000);
        }
    }
    return NULL;
}

int main(void)
{
    static struct store store = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    struct node nodes[2];
    for (int i = 0; i < 2; i++) {
        nodes[i] = (struct node){.store = &store, .number = i + 1};
        pthread_create(&nodes[i].thread, NULL, node_main, &nodes[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(nodes[i].thread, NULL);
    }
    assert(store.writes[1] == WRITES && store.writes[2] == WRITES);
    printf("%d and %d renewals\n", nodes[0].renewals, nodes[1].renewals);
    return 0;
}
