// Sampled guards: what is said when a block is misused. Nothing here allocates, so that it works in
// a signal handler; names of code need the loader's lock. See guard.h.
#include <errno.h>

#include "../service/message.h"
#include "guard.h"

// ---- stacks ----

static void print_line_of_trace(const char* line, void* arg) {
  (void)arg;
  message_printf("%s", line);
}

static void print_trace(const trace_t* trace) {
  if (trace->count == 0) { message_printf("    (no stack)"); }
  trace_print(trace, print_line_of_trace, NULL);
}

static void print_traces(const guard_t* guard) {
  message_printf("  allocated by thread %u:", guard->taken.thread);
  print_trace(&guard->taken);
  if (guard->given.thread == 0) { return; }
  message_printf("  freed by thread %u:", guard->given.thread);
  print_trace(&guard->given);
}

// ---- where an address lies ----

typedef struct relation {
  size_t bytes;
  const char* words;
} relation_t;

static relation_t relation_of(const guard_t* guard, const uint8_t* p) {
  const uint8_t* end = guard->block + guard->bytes;
  if (p < guard->block) { return (relation_t){(size_t)(guard->block - p), "before the start of"}; }
  if (p >= end) { return (relation_t){(size_t)(p - end) + 1, "beyond the end of"}; }
  return (relation_t){(size_t)(p - guard->block), "into"};
}

static const char* plural(size_t count) { return count == 1 ? "" : "s"; }

static void print_head(const guard_t* guard, const char* what, const void* p) {
  const relation_t relation = relation_of(guard, (const uint8_t*)p);
  message_printf("error: %s: %p is %zu byte%s %s a block of %zu byte%s, %p", what, p,
                 relation.bytes, plural(relation.bytes), relation.words, guard->bytes,
                 plural(guard->bytes), (void*)guard->block);
}

// ---- noticed by the allocator ----

static const char misuse_names[][56] = {
    [GUARD_DOUBLE_FREE] = "double free",
    [GUARD_INSIDE] = "free of an address that is not the start of a block",
    [GUARD_OVERFLOW] = "overflow, noticed when the block is freed",
    [GUARD_UNDERFLOW] = "underflow, noticed when the block is freed",
};
static const int misuse_errors[] = {
    [GUARD_DOUBLE_FREE] = EAGAIN,
    [GUARD_INSIDE] = EINVAL,
    [GUARD_OVERFLOW] = EFAULT,
    [GUARD_UNDERFLOW] = EFAULT,
};

PRIVATE COLD void guard_report(const guard_t* guard, guard_misuse_t misuse, const void* p) {
  trace_t here;
  trace_take(&here);
  print_head(guard, misuse_names[misuse], p);
  message_printf("  in thread %u:", here.thread);
  print_trace(&here);
  print_traces(guard);
  message_act(misuse_errors[misuse]);
}

// ---- faults ----

// The record of the block that has the address in its span. The page may be another's by now: all
// is checked.
static const guard_t* guard_at(const uint8_t* address) {
  enum { ADDRESS_BITS = 47 };
  if ((uint64_t)(uintptr_t)address >> ADDRESS_BITS != 0) { return NULL; }
  const page_t* page = page_of(address);
  if (page == page_none() || !page_is_guarded(page) || page->guard->page != page) { return NULL; }
  const bool within = (size_t)(address - page_memory(page)) < page_bytes(page);
  return within ? page->guard : NULL;
}

static const char* fault_name(const guard_t* guard, const port_fault_t* fault) {
  const uint8_t* p = (const uint8_t*)fault->address;
  const int read = fault->is_known_read ? 1 : 0;
  const int how = fault->is_known_write ? 2 : read;
  static const char freed[][24] = {"use after free", "use after free, a read",
                                   "use after free, a write"};
  static const char overflow[][20] = {"overflow", "overflow, a read", "overflow, a write"};
  static const char underflow[][20] = {"underflow", "underflow, a read", "underflow, a write"};
  if (guard->freed) { return freed[how]; }
  return p < guard->block ? underflow[how] : overflow[how];
}

// Another thread's report, which the end of the process would cut short.
static void wait_while(_Atomic(bool)* busy) {
  enum { SPINS_MOST = 10000000 };
  for (int i = 0; i < SPINS_MOST && load_relaxed(busy); i++) { port_relax(); }
}

PRIVATE void guard_see_fault(const port_fault_t* fault) {
  static _Atomic(bool) busy;
  const uint8_t* p = (const uint8_t*)fault->address;
  const guard_t* guard = guard_at(p);
  if (guard == NULL || (!guard->freed && p >= guard->inner && p < guard->inner_end)) { return; }
  if (exchange_relaxed(&busy, true)) {
    wait_while(&busy);
    return;
  }
  trace_t here = {.thread = port_thread_number(), .exact = true};
  here.count = (uint16_t)port_fault_stack(fault, here.frames, TRACE_FRAMES);
  print_head(guard, fault_name(guard, fault), p);
  message_printf("  in thread %u:", here.thread);
  print_trace(&here);
  print_traces(guard);
  store_relaxed(&busy, false);
}
