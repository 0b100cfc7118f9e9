/*
 * cleanup.c -- the stack of a thread that exits is unwound: objects of C++ end, and handlers of
 * pthread_cleanup_push are called.
 *
 * In C++ such a handler is an object. In C <pthread.h> makes of it a jump buffer on the stack and
 * three calls. The unwinder (libgcc's, as for exceptions) asks at each frame; where it has passed
 * the newest buffer, that is jumped to, which calls __pthread_unwind_next when its handler has run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <string.h>
#include <unwind.h>

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

/* It begins as a jmp_buf does, and has no signal mask. */
static void
jump_to_newest(struct sim_thread *thread)
{
    void *handler = thread->handlers;
    const __pthread_unwind_buf_t *buffer = handler;
    thread->handlers = buffer->__pad[0];
    _longjmp(handler, 1);
}

static _Unwind_Reason_Code
at_frame(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
        struct _Unwind_Exception *exception, struct _Unwind_Context *context, void *argument)
{
    struct sim_thread *thread = argument;
    (void)version;
    (void)class;
    (void)exception;
    bool ends = (actions & _UA_END_OF_STACK) != 0;
    if (thread->handlers != NULL &&
            (ends || _Unwind_GetCFA(context) > (uintptr_t)thread->handlers)) {
        jump_to_newest(thread);
    }
    if (ends) {
        sim__thread_end(thread);
    }
    return _URC_NO_REASON;
}

static void
caught(_Unwind_Reason_Code reason, struct _Unwind_Exception *exception)
{
    (void)reason;
    (void)exception;
    sim__misuse(NULL,
            "'%s' caught the end of a thread (pthread_exit or pthread_cancel) with catch "
            "(...) and did not rethrow it",
            sim_thread_now->name);
}

void
sim__unwind(struct sim_thread *thread)
{
    struct _Unwind_Exception *exception =
            sim_zalloc(thread->actor.world, sizeof(struct _Unwind_Exception));
    exception->exception_cleanup = caught;
    (void)_Unwind_ForcedUnwind(exception, at_frame, thread);
    /* The stack has a frame that the unwinder cannot read. */
    if (thread->handlers != NULL) {
        jump_to_newest(thread);
    }
}
