/*
 * cleanup.c -- pthread_cleanup_push of programs in C: <pthread.h> makes of it a jump buffer on the
 * stack, and these three calls.
 *
 * A thread that exits jumps to the buffers, the newest first; each returns here when its handler
 * has run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <string.h>

#include "sim/thread/sync/priv.h"

typedef void (*call)(__pthread_unwind_buf_t *buffer);

static void
call_next(const char *name, __pthread_unwind_buf_t *buffer)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    call next;
    memcpy(&next, &symbol, sizeof(next));
    next(buffer);
}

void
__pthread_register_cancel(__pthread_unwind_buf_t *buffer)
{
    if (sim_thread_now == NULL) {
        call_next("__pthread_register_cancel", buffer);
        return;
    }
    buffer->__pad[0] = sim_thread_now->handlers;
    sim_thread_now->handlers = buffer;
}

void
__pthread_unregister_cancel(__pthread_unwind_buf_t *buffer)
{
    if (sim_thread_now == NULL) {
        call_next("__pthread_unregister_cancel", buffer);
        return;
    }
    sim_thread_now->handlers = buffer->__pad[0];
}

void
__pthread_unwind_next(__pthread_unwind_buf_t *buffer)
{
    if (sim_thread_now == NULL) {
        call_next("__pthread_unwind_next", buffer);
    }
    sim_thread_exit(sim_thread_now->result);
}

void
sim__handlers_call(struct sim_thread *thread)
{
    void *handler = thread->handlers;
    if (handler != NULL) {
        const __pthread_unwind_buf_t *buffer = handler;
        thread->handlers = buffer->__pad[0];
        _longjmp(handler, 1); /* It begins as a jmp_buf does, and has no signal mask. */
    }
}
