// glibc's names for looking at its heap and tuning it, answered for ours: see elf.c.
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "../memory/arena.h"
#include "../port/port.h"
#include "../service/format.h"
#include "../service/options.h"
#include "../api/basic.h"
#include "../api/live.h"

#if defined(MI_MALLOC_OVERRIDE) && defined(__GLIBC__)
#include <malloc.h>

// ---- malloc_trim ----

static intptr_t bytes_given_back(void) {
  return load_relaxed(&memory_stats.purged.total) + load_relaxed(&memory_stats.reset.total) -
         load_relaxed(&memory_stats.reserved.current);
}

// 1 if memory went back to the OS.
OVERRIDE int malloc_trim(size_t pad) {
  if (pad != 0 && memory_resident_free_bytes() <= pad) { return 0; }
  const intptr_t before = bytes_given_back();
  mi_collect(true);
  return bytes_given_back() > before;
}

// ---- figures ----

typedef struct figures {
  live_t live;
  size_t unused;  // resident, but in no page
  size_t system;  // resident for blocks without a mapping of their own
} figures_t;

static void figures_take(figures_t* out) {
  live_count(&out->live);
  out->unused = memory_resident_free_bytes();
  out->system = out->live.bytes + out->live.free_bytes + out->unused;
}

// What glibc calls a chunk is a block here, and its top is what we hold to no purpose.
static struct mallinfo2 mallinfo_take(void) {
  figures_t f;
  figures_take(&f);
  return (struct mallinfo2){
      .arena = f.system,
      .ordblks = f.live.free_blocks + (f.unused != 0),
      .hblks = f.live.direct_blocks,
      .hblkhd = f.live.direct_bytes,
      .uordblks = f.live.bytes,
      .fordblks = f.live.free_bytes + f.unused,
      .keepcost = f.unused,
  };
}

OVERRIDE struct mallinfo2 mallinfo2(void) { return mallinfo_take(); }

static int int_of(size_t n) { return n > INT_MAX ? INT_MAX : (int)n; }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
OVERRIDE struct mallinfo mallinfo(void) {
  const struct mallinfo2 m = mallinfo_take();
  return (struct mallinfo){
      .arena = int_of(m.arena),
      .ordblks = int_of(m.ordblks),
      .hblks = int_of(m.hblks),
      .hblkhd = int_of(m.hblkhd),
      .uordblks = int_of(m.uordblks),
      .fordblks = int_of(m.fordblks),
      .keepcost = int_of(m.keepcost),
  };
}
#pragma GCC diagnostic pop

// ---- as text ----

static void out_to_stderr(const char* text, void* arg) {
  (void)arg;
  port_write_stderr(text, strlen(text));
}

// The lines of glibc, and some more of what it calls an arena.
OVERRIDE void malloc_stats(void) {
  const out_t out = {out_to_stderr, NULL};
  figures_t f;
  figures_take(&f);
  const direct_t most = memory_direct_most();
  out_printf(&out, "Arena 0:\n");
  out_printf(&out, "system bytes     = %10zu\n", f.system);
  out_printf(&out, "in use bytes     = %10zu\n", f.live.bytes);
  out_printf(&out, "in use blocks    = %10zu\n", f.live.blocks);
  out_printf(&out, "free in pages    = %10zu\n", f.live.free_bytes);
  out_printf(&out, "free outside     = %10zu\n", f.unused);
  out_printf(&out, "Total (incl. mmap):\n");
  out_printf(&out, "system bytes     = %10zu\n", f.system + f.live.direct_bytes);
  out_printf(&out, "in use bytes     = %10zu\n", f.live.bytes + f.live.direct_bytes);
  out_printf(&out, "max mmap regions = %10zu\n", most.count);
  out_printf(&out, "max mmap bytes   = %10zu\n", most.bytes);
}

static void out_to_file(const char* text, void* arg) { (void)fputs(text, (FILE*)arg); }

// What lies in no page is one piece here, as in mallinfo.
static void info_sizes(const out_t* out, const figures_t* f) {
  const live_t* live = &f->live;
  out_printf(out, "<sizes>\n");
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) {
    const size_t count = live->free_in_bin[bin], most = bin_bytes(bin);
    const size_t least = bin == 1 ? 1 : bin_bytes(bin - 1) + 1;
    if (count == 0) { continue; }
    out_printf(out, "  <size from=\"%zu\" to=\"%zu\" total=\"%zu\" count=\"%zu\"/>\n", least, most,
               count * most, count);
  }
  if (f->unused != 0) {
    out_printf(out, "  <size from=\"%zu\" to=\"%zu\" total=\"%zu\" count=\"1\"/>\n", f->unused,
               f->unused, f->unused);
  }
  out_printf(out, "</sizes>\n");
}

static void info_totals(const out_t* out, const figures_t* f) {
  const size_t peak = (size_t)load_relaxed(&memory_stats.committed.peak);
  out_printf(out, "<total type=\"fast\" count=\"0\" size=\"0\"/>\n");
  out_printf(out, "<total type=\"rest\" count=\"%zu\" size=\"%zu\"/>\n",
             f->live.free_blocks + (f->unused != 0), f->live.free_bytes + f->unused);
  out_printf(out, "<total type=\"mmap\" count=\"%zu\" size=\"%zu\"/>\n", f->live.direct_blocks,
             f->live.direct_bytes);
  out_printf(out, "<system type=\"current\" size=\"%zu\"/>\n", f->system);
  out_printf(out, "<system type=\"max\" size=\"%zu\"/>\n", size_max(peak, f->system));
  out_printf(out, "<aspace type=\"total\" size=\"%zu\"/>\n",
             (size_t)load_relaxed(&memory_stats.reserved.current));
}

// All threads' pages together are one heap. The figures are taken first: writing allocates.
OVERRIDE int malloc_info(int options, FILE* stream) {
  if (options != 0) { return EINVAL; }
  const out_t out = {out_to_file, stream};
  figures_t f;
  figures_take(&f);
  out_printf(&out, "<malloc version=\"1\">\n<heap nr=\"0\">\n");
  info_sizes(&out, &f);
  info_totals(&out, &f);
  out_printf(&out, "</heap>\n");
  info_totals(&out, &f);
  out_printf(&out, "</malloc>\n");
  return 0;
}

// ---- mallopt ----

// 1 for what glibc knows, since programs take 0 for a failure. Most of it means nothing here:
// thresholds adapt, there are no arenas for each thread, and no fast bins to be limited.
OVERRIDE int mallopt(int parameter, int value) {
  switch (parameter) {
    case M_TRIM_THRESHOLD:
      if (value < 0) { mi_option_set_default(mi_option_purge_delay, -1); }  // never trim
      return value >= 0 || option_get(mi_option_purge_delay) < 0;
    case M_PERTURB: return perturb_set(value);
    case M_MXFAST: return value >= 0 && (size_t)value <= 20 * sizeof(void*);
    case M_TOP_PAD:
    case M_MMAP_THRESHOLD:
    case M_MMAP_MAX:
    case M_CHECK_ACTION:
    case M_ARENA_TEST:
    case M_ARENA_MAX: return 1;
    default: return 0;
  }
}

#endif
