// The host ends a program that faults, and tells nobody of its stack. See fault.h.
#include "fault.h"

#include <errno.h>

#include "plain_stack.h"

PRIVATE int port_watch_faults(port_see_fault* see) {
  (void)see;
  return ENOSYS;
}
