/* Cause: auction_bid(), line 60-61: the offer is computed from highest (60) before auctioneer_wait (61; waits at 42 with the mutex given back). Order: a bidder B computes its offer while A is listened to, waits; A records a higher offer (34, called at 68); B is woken and records an offer that is not above highest. Harm: assert 32. Fix: wait first, then compute (57-58). */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BIDDERS 3
#define HISTORY_MAX 32

struct auction {
    pthread_mutex_t mutex;
    pthread_cond_t free;
    bool listening; /* The auctioneer is occupied with a bidder. */
    int highest;
    const char *leader;
    int history[HISTORY_MAX];
    unsigned offers;
    bool closed;
};

struct bidder {
    struct auction *auction;
    const char *name;
    int step;
    int limit;
};

static void auction_record(struct auction *auction, const char *name, int offer)
{
    assert(offer > auction->highest);
    assert(auction->offers < HISTORY_MAX);
    auction->highest = offer;
    auction->leader = name;
    auction->history[auction->offers++] = offer;
}

static void auctioneer_wait(struct auction *auction)
{
    while (auction->listening)
        pthread_cond_wait(&auction->free, &auction->mutex);
    auction->listening = true;
}

static void auctioneer_leave(struct auction *auction)
{
    auction->listening = false;
    pthread_cond_signal(&auction->free);
}

/* False: the bidder's limit is reached, or the lot is sold. */
static bool auction_bid(struct auction *auction, const struct bidder *bidder)
{
    pthread_mutex_lock(&auction->mutex);
#ifdef FIXED
    auctioneer_wait(auction);
    int offer = auction->highest + bidder->step;
#else
    int offer = auction->highest + bidder->step;
    auctioneer_wait(auction);
#endif
    bool accepted = offer <= bidder->limit && !auction->closed;
    if (accepted) {
        pthread_mutex_unlock(&auction->mutex);
        usleep(150); /* "Do I hear …?" */
        pthread_mutex_lock(&auction->mutex);
        auction_record(auction, bidder->name, offer);
    }
    auctioneer_leave(auction);
    pthread_mutex_unlock(&auction->mutex);
    return accepted;
}

static void *bidder_main(void *argument)
{
    struct bidder *bidder = argument;
    while (auction_bid(bidder->auction, bidder))
        usleep(1000 * (unsigned)bidder->step);
    return NULL;
}

static void *clock_main(void *argument)
{
    struct auction *auction = argument;
    usleep(60000);
    pthread_mutex_lock(&auction->mutex);
    auction->closed = true;
    pthread_mutex_unlock(&auction->mutex);
    return NULL;
}

int main(void)
{
    struct auction auction = {.mutex = PTHREAD_MUTEX_INITIALIZER,
            .free = PTHREAD_COND_INITIALIZER,
            .highest = 10,
            .leader = "nobody"};
    struct bidder bidders[BIDDERS] = {
            {&auction, "Ada", 5, 40}, {&auction, "Bela", 3, 35}, {&auction, "Cleo", 4, 38}};
    pthread_t threads[BIDDERS], clock;
    if (pthread_create(&clock, NULL, clock_main, &auction) != 0)
        abort();
    for (int i = 0; i < BIDDERS; i++) {
        if (pthread_create(&threads[i], NULL, bidder_main, &bidders[i]) != 0)
            abort();
        usleep(200);
    }
    for (int i = 0; i < BIDDERS; i++)
        pthread_join(threads[i], NULL);
    pthread_join(clock, NULL);
    assert(auction.offers == 0 || auction.history[auction.offers - 1] == auction.highest);
    printf("sold to %s for %d\n", auction.leader, auction.highest);
    return 0;
}
