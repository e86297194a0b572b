// Guards by protection, which cost two mappings each: up to a number, which the port that includes
// this tells with guard_mappings_most.
#ifndef MI_PORT_UNIX_GUARD_H
#define MI_PORT_UNIX_GUARD_H

static _Atomic(size_t) guard_mappings;    // about; for the limit
static _Atomic(bool) has_guard_mappings;  // or there were some

// What comes back later must be zero: no guard where memory can't be given back.
static int guard_by_mapping(void* start, size_t bytes) {
  if (add_relaxed(&guard_mappings, 1) >= guard_mappings_most()) {
    sub_relaxed(&guard_mappings, 1);
    return ENOMEM;
  }
  store_relaxed(&has_guard_mappings, true);
  int error = port_decommit(start, bytes);
  if (error == 0) { error = os_mprotect(start, bytes, PROT_NONE); }
  if (error != 0) { sub_relaxed(&guard_mappings, 1); }
  return error;
}

// `counts`: one guard less.
static int unguard_mapping(void* start, size_t bytes, bool counts) {
  const int error = os_mprotect(start, bytes, PROT_READ | PROT_WRITE);
  if (error == 0 && counts && load_relaxed(&guard_mappings) > 0) {
    sub_relaxed(&guard_mappings, 1);
  }
  return error;
}

#endif
