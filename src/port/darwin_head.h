// The headers of Mach, less a name of theirs that is ours too.
#ifndef MI_PORT_DARWIN_HEAD_H
#define MI_PORT_DARWIN_HEAD_H

#define thread_t mach_thread_t
#include <mach/mach_init.h>
#include <mach/task.h>
#include <malloc/malloc.h>
#include <os/lock.h>
#undef thread_t

#endif
