// A mapping at a multiple of `align`, by the os_mmap and os_munmap of the port that includes this.
#ifndef MI_PORT_UNIX_ALIGNED_H
#define MI_PORT_UNIX_ALIGNED_H

// At *out, if there is room.
static int map_aligned(size_t bytes, size_t align, int protection, void** out) {
  int error = os_mmap(*out, bytes, protection, MAP_PLAIN, out);
  if (error != 0 || is_aligned(*out, align)) { return error; }
  (void)os_munmap(*out, bytes);
  if (bytes + align < bytes) { return ENOMEM; }
  uint8_t* wide = NULL;
  error = os_mmap(NULL, bytes + align, protection, MAP_PLAIN, (void**)&wide);
  if (error != 0) { return error; }
  uint8_t* start = (uint8_t*)align_up((uintptr_t)wide, align);
  const size_t before = (size_t)(start - wide);
  if (before > 0) { (void)os_munmap(wide, before); }
  if (align > before) { (void)os_munmap(start + bytes, align - before); }
  *out = start;
  return 0;
}

#endif
