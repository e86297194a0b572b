// Faults and stacks: what reports about memory errors need from a platform. As in port.h, no call
// prints, reads an option or changes errno.
#ifndef MI_PORT_FAULT_H
#define MI_PORT_FAULT_H

#include "../base/attributes.h"

// Loads what port_stack needs. May allocate and take the loader's locks; later calls do nothing.
PRIVATE void port_stack_prepare(void);
// The calling thread's frames, innermost first, as return addresses; how many there are. 0 before
// port_stack_prepare. Allocates nothing. May take the loader's locks.
PRIVATE size_t port_stack(void** frames, size_t most);

// Where code lies: for tools a module and the offset in it, for people a name. The texts stay.
typedef struct port_place {
  const char* module;  // NULL: unknown, and so is all else
  uintptr_t offset;
  const char* symbol;  // NULL: none is known
  size_t into_symbol;
  bool is_ours;  // of the module that this library is in, unless that is the program
} port_place_t;
PRIVATE void port_locate(const void* code, port_place_t* out);

typedef struct port_fault {
  const void* address;
  bool is_known_write, is_known_read;
  void* context;
} port_fault_t;

// Frames of the code that faulted: the first is the instruction, the others are return addresses.
PRIVATE size_t port_fault_stack(const port_fault_t* fault, void** frames, size_t most);

// Calls `see` in the faulting thread at each access to memory that faults, then lets the handler
// that the program had, or the default action, have its turn as if there was no `see`. Once.
typedef void port_see_fault(const port_fault_t* fault);
PRIVATE int port_watch_faults(port_see_fault* see);

#endif
