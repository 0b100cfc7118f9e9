/*
 * s11_hub.c -- a lobby for a card game: players join from threads of their own, partners leave
 * together. The main thread keeps the list of those who wait, and tells them when all are there.
 *
 * Cause: hub_tell() (line 93) keeps the next member over a call that may take that one off the list, and ends there
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PLAYERS 4

struct player {
    const char *name;
    struct hub *hub;
    int partner; /* -1: plays alone. */
    unsigned late_us;
    sem_t begins;
    bool listed;
    struct player *next, *joining;
};

struct hub {
    pthread_mutex_t mutex;
    struct player *joining; /* Newest first; the loop's own lists below. */
    struct player *first, **end;
    struct player *at; /* Whom hub_tell comes to next. */
    unsigned present, seated;
    int bell;
    struct player players[PLAYERS];
};

static void
hub_add(struct hub *hub, struct player *player)
{
    player->listed = true;
    player->next = NULL;
    *hub->end = player;
    hub->end = &player->next;
    hub->present++;
}

static void
hub_remove(struct hub *hub, struct player *player)
{
    struct player **at = &hub->first;
    while (*at != player) {
        at = &(*at)->next;
    }
    *at = player->next;
    if (hub->end == &player->next) {
        hub->end = at;
    }
    if (hub->at == player) {
        hub->at = player->next;
    }
    player->next = NULL;
    player->listed = false;
}

static void
player_sit_down(struct hub *hub, struct player *player)
{
    hub_remove(hub, player);
    hub->seated++;
    sem_post(&player->begins);
}

/* Those who have a partner sit down with him. */
static void
player_told(struct hub *hub, struct player *player)
{
    player_sit_down(hub, player);
    if (player->partner >= 0 && hub->players[player->partner].listed) {
        player_sit_down(hub, &hub->players[player->partner]);
    }
}

static void
hub_tell(struct hub *hub)
{
    struct player *player = hub->first;
    while (player != NULL) {
#ifdef FIXED
        hub->at = player->next;
        player_told(hub, player);
        player = hub->at;
#else
        struct player *next = player->next;
        if (player->listed) {
            player_told(hub, player);
        }
        player = next;
#endif
    }
}

/* Oldest first. */
static void
hub_admit(struct hub *hub)
{
    uint64_t count;
    struct player *oldest = NULL;
    if (read(hub->bell, &count, sizeof count) < 0) {
        return;
    }
    pthread_mutex_lock(&hub->mutex);
    while (hub->joining != NULL) {
        struct player *player = hub->joining;
        hub->joining = player->joining;
        player->joining = oldest;
        oldest = player;
    }
    pthread_mutex_unlock(&hub->mutex);
    for (; oldest != NULL; oldest = oldest->joining) {
        hub_add(hub, oldest);
    }
}

static void *
player_main(void *argument)
{
    struct player *player = argument;
    struct hub *hub = player->hub;
    usleep(player->late_us);
    pthread_mutex_lock(&hub->mutex);
    player->joining = hub->joining;
    hub->joining = player;
    pthread_mutex_unlock(&hub->mutex);
    eventfd_write(hub->bell, 1);
    while (sem_wait(&player->begins) != 0) {
    }
    return NULL;
}

int
main(void)
{
    static struct hub hub = {.mutex = PTHREAD_MUTEX_INITIALIZER, .end = &hub.first};
    static const struct player players[PLAYERS] = {{"north", &hub, 2, 300},
            {"east", &hub, -1, 600}, {"south", &hub, 0, 900}, {"west", &hub, -1, 1200}};
    pthread_t threads[PLAYERS];
    hub.bell = eventfd(0, 0);
    for (int i = 0; i < PLAYERS; i++) {
        hub.players[i] = players[i];
        sem_init(&hub.players[i].begins, 0, 0);
        pthread_create(&threads[i], NULL, player_main, &hub.players[i]);
    }
    while (hub.seated < PLAYERS) {
        hub_admit(&hub);
        if (hub.present == PLAYERS) {
            hub_tell(&hub);
            hub.present = 0;
        }
    }
    for (int i = 0; i < PLAYERS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%u players\n", hub.seated);
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
