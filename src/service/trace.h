// Stacks: taken, written as text, and kept, each once, so that a number stands for one.
#ifndef MI_SERVICE_TRACE_H
#define MI_SERVICE_TRACE_H

#include "../port/fault.h"
#include "../port/port.h"
#include "format.h"

enum { TRACE_FRAMES = 22 };

typedef struct trace {
  unsigned thread;  // 0: nobody yet
  uint16_t count;
  bool exact;                  // the first frame is an instruction; all others are return addresses
  void* frames[TRACE_FRAMES];  // innermost first
} trace_t;

// The calling thread's. Empty before port_stack_prepare.
PRIVATE void trace_take(trace_t* trace);
// Shows each frame as text: its number, its address and where that is. Ours, innermost, are left
// out. Of a return address it is the call that counts, which lies before it, often in another line.
typedef void trace_show_fun(const char* line, void* arg);
PRIVATE void trace_print(const trace_t* trace, trace_show_fun* show, void* arg);

// From now on stacks are kept. May allocate.
PRIVATE void traces_start(void);
// Keeps the calling thread's stack: a number for it and for all that are equal; 0: it is not kept.
// Any thread; takes a lock that is the innermost of all.
PRIVATE uint16_t traces_keep(void);
// NULL if the number is 0.
PRIVATE const trace_t* traces_get(uint16_t number);
PRIVATE void traces_lock_for_fork(void);
PRIVATE void traces_unlock_after_fork(bool child);
PRIVATE void traces_rescue(void);
UNUSED PRIVATE void traces_unload(void);  // the library goes

#endif
