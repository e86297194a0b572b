// Stacks and names where nothing is known of them: none.
#ifndef MI_PORT_PLAIN_STACK_H
#define MI_PORT_PLAIN_STACK_H

PRIVATE void port_stack_prepare(void) {}

PRIVATE size_t port_stack(void** frames, size_t most) {
  (void)frames, (void)most;
  return 0;
}

PRIVATE size_t port_fault_stack(const port_fault_t* fault, void** frames, size_t most) {
  (void)fault, (void)frames, (void)most;
  return 0;
}

PRIVATE void port_locate(const void* code, port_place_t* out) {
  (void)code;
  *out = (port_place_t){0};
}

#endif
