// Memory without advice, huge pages by themselves and the exchange of page tables: what a system
// without them answers.
#ifndef MI_PORT_PLAIN_MEMORY_H
#define MI_PORT_PLAIN_MEMORY_H

PRIVATE size_t port_huge_bytes(void) { return 0; }
PRIVATE size_t port_page_faults(void) { return 0; }

PRIVATE int port_advise_huge(void* start, size_t bytes, bool wanted) {
  (void)start, (void)bytes, (void)wanted;
  return ENOSYS;
}

PRIVATE int port_populate(void* start, size_t bytes) {
  (void)start, (void)bytes;
  return ENOSYS;
}

PRIVATE int port_move(void* from, size_t from_bytes, void* to, size_t to_bytes) {
  (void)from, (void)from_bytes, (void)to, (void)to_bytes;
  return ENOSYS;
}

PRIVATE int port_put_away(void* start, size_t bytes, void* place) {
  (void)start, (void)bytes, (void)place;
  return ENOSYS;
}

PRIVATE int port_bring_back(void* start, size_t bytes, void* place) {
  (void)start, (void)bytes, (void)place;
  return ENOSYS;
}

#endif
