// A model checker for the lock-free parts: runs a few threads as fibers and explores their
// interleavings.
//
// A program under test includes sources of the product; atomics.h makes each of their atomic
// operations a step. Before a step the scheduler may run another thread. All choices of an
// execution are kept in a list; the next execution repeats it up to the last choice that has
// another alternative. So all executions are visited whose number of preemptions (a thread is
// interrupted that could go on) and of weak choices are within bounds. Then come executions by
// random priorities with a few random changes: S. Burckhardt et al., "A Randomized Scheduler with
// Probabilistic Guarantees of Finding Bugs", ASPLOS 2010; the bound is that of M. Musuvathi and S.
// Qadeer, "Iterative Context Bounding", PLDI 2007.
//
// Memory model: each atomic word keeps its past stores. A load takes the newest one or, a weak
// choice, any that its thread is not known to have seen overwritten. A weak compare-and-swap may
// fail for no reason, a weak choice too. A release store carries what its thread knows; an acquire
// load that reads it, or a read-modify-write that continues it, learns that. Plain accesses are
// reported by the compiler (-fsanitize=thread, with the functions below in place of its library):
// two that touch the same bytes, one of them a write, must be ordered by what the threads know.
// Atomic ones count too. Not modelled: stores that take effect in another order than they are made,
// loads that see a later store of their own future, fences, seq_cst.
//
// A failure prints what happened, the last steps, and the choices, with which the program repeats
// it:
//   PROGRAM MODEL CHOICES       PROGRAM MODEL runs that model only
// MODEL_PREEMPTIONS=N in the environment lowers the bound, where machines are slow.
#ifndef TEST_MODEL_SCHEDULER_H
#define TEST_MODEL_SCHEDULER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#define UNSEEN __attribute__((no_sanitize("thread"), noinline, unused))
#define MODEL  static UNSEEN

enum {
  THREADS_MOST = 4,
  LOCATIONS_MOST = 96,
  LOCATION_HASH = 256,
  STORES_MOST = 48,
  CHOICES_MOST = 4096,
  LOG_MOST = 60
};
enum { STACK_BYTES = 128 << 10, STEPS_MOST = 20000, RANGES_MOST = 1024, TLS_BYTES = 64 };
enum { GRANULES_MOST = 1 << 13, CELLS_MOST = 16 };
enum {
  REPEATS_SEEN = 3,
  REPEATS_MOST = 100
};  // of a load whose result cannot change while nobody else runs

typedef enum { ORDER_RELAXED = 0, ORDER_ACQUIRE = 1, ORDER_RELEASE = 2, ORDER_ACQ_REL = 3 } order_t;

typedef struct site {
  const char* what;
  const char* file;
  int line;
} site_t;

// ---- what a test says ----

typedef struct model {
  const char* name;
  void (*setup)(
      void);  // once; what it leaves in the ranges of model_state is where each execution starts
  void (*threads[THREADS_MOST])(void);
  void (*finish)(void);  // after each execution
  int preemptions;       // at most so many; -1: any number
  int weak;              // at most so many weak choices
  int random_runs;
} model_t;

#define MODEL_CHECK(c) ((c) ? (void)0 : model_failed(#c, (site_t){"check", __FILE__, __LINE__}))

// ---- state of an execution ----

typedef struct knowledge {
  uint32_t clock[THREADS_MOST];   // what has happened before
  uint32_t seen[LOCATIONS_MOST];  // the oldest store of each location that may still be read
} knowledge_t;

typedef struct past_store {
  uint64_t value;
  bool carries;
  knowledge_t known;
} past_store_t;

typedef struct location {
  uintptr_t address;
  uint32_t run;    // of which execution this is
  uint32_t first;  // number of stores[0]
  int count;
  unsigned bytes;
  past_store_t stores[STORES_MOST];
} location_t;

typedef enum { RUNS, SLEEPS, ENDED } fiber_state_t;

typedef struct fiber {
  ucontext_t context;
  uint8_t* stack;
  fiber_state_t state;
  const volatile void* sleeps_on;
  knowledge_t known;
  uint8_t repeats[LOCATIONS_MOST];  // loads since another thread ran or this one wrote
  uint32_t repeats_since;
  site_t last;
  int priority;
  uint8_t tls[TLS_BYTES];
} fiber_t;

typedef struct choice {
  uint8_t pick, count;
} choice_t;

typedef struct cell {
  uint8_t at, bytes;
  bool written;
  int writer;
  uint32_t wrote, read[THREADS_MOST], atomic_wrote[THREADS_MOST], atomic_read[THREADS_MOST];
  const void* writer_pc;
} cell_t;

typedef struct granule {
  uintptr_t key;
  uint32_t run;
  int count;
  cell_t cells[CELLS_MOST];
} granule_t;

typedef struct log_line {
  int thread;
  site_t site;
  const char* op;
  uint64_t value;
  const char* note;
} log_line_t;

typedef struct range {
  uint8_t* start;
  size_t bytes;
  uint8_t* copy;
} range_t;

static struct {
  const model_t* model;
  fiber_t fibers[THREADS_MOST];
  ucontext_t back;
  int threads, self;  // self: fiber that runs, or whom the set-up acts for
  bool exploring;     // inside an execution
  uint32_t run;
  uint32_t turn;  // grows whenever another thread goes on
  int most_preemptions, preemptions, weak, steps;
  choice_t choices[CHOICES_MOST];
  int depth, known_depth;
  const char* replay;
  bool is_random;
  uint64_t random;
  int changes[4], lowest;
  location_t locations[LOCATIONS_MOST];
  int location_count;
  uint8_t location_index[LOCATION_HASH];
  granule_t granules[GRANULES_MOST];
  log_line_t log[LOG_MOST];
  unsigned logged;
  range_t states[RANGES_MOST], quiet[RANGES_MOST], tls;
  int state_count, quiet_count;
  uint64_t total_steps, total_runs;
  int most_steps;
} m;

// ---- failure ----

extern const char __executable_start[];

MODEL void print_log(void) {
  const unsigned first = m.logged > LOG_MOST ? m.logged - LOG_MOST : 0;
  for (unsigned i = first; i < m.logged; i++) {
    const log_line_t* line = &m.log[i % LOG_MOST];
    const char* slash = strrchr(line->site.file, '/');
    fprintf(stderr, "  %*sT%d %-9s %-28s %#llx%s  (%s:%d)\n", 4 * line->thread, "", line->thread,
            line->op, line->site.what, (unsigned long long)line->value, line->note,
            slash == NULL ? line->site.file : slash + 1, line->site.line);
  }
}

MODEL _Noreturn void model_stop(void) {
  print_log();
  fprintf(stderr, "choices (repeat with: PROGRAM %s CHOICES):\n", m.model->name);
  for (int i = 0; i < m.depth; i++) { fputc('a' + m.choices[i].pick, stderr); }
  fprintf(stderr, "\nafter %llu executions\n", (unsigned long long)m.total_runs);
  fflush(stderr);
  _Exit(1);
}

MODEL _Noreturn void model_failed(const char* what, site_t site) {
  fprintf(stderr, "%s:%d: model %s: T%d: failed: %s\n", site.file, site.line,
          m.model == NULL ? "?" : m.model->name, m.self, what);
  if (m.model == NULL) { _Exit(1); }
  model_stop();
}

#define MODEL_LIMIT(c) \
  ((c) ? (void)0 : model_failed("limit of the checker: " #c, (site_t){"", __FILE__, __LINE__}))

MODEL void log_step(const char* op, site_t site, uint64_t value, const char* note) {
  m.log[m.logged++ % LOG_MOST] = (log_line_t){m.self, site, op, value, note};
}

// ---- choices ----

MODEL uint64_t random_bits(void) {  // splitmix64
  uint64_t z = (m.random += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// One of `count` alternatives; `wanted` is what a random execution takes.
MODEL int choose(int count, int wanted) {
  if (count <= 1) { return 0; }
  MODEL_LIMIT(m.depth < CHOICES_MOST);
  choice_t* choice = &m.choices[m.depth++];
  if (m.replay != NULL) {
    const int pick = *m.replay == 0 ? 0 : *m.replay++ - 'a';
    *choice = (choice_t){(uint8_t)pick, (uint8_t)count};
    MODEL_LIMIT(pick >= 0 && pick < count);
  } else if (m.is_random) {
    *choice = (choice_t){(uint8_t)wanted, (uint8_t)count};
  } else if (m.depth > m.known_depth) {
    *choice = (choice_t){0, (uint8_t)count};
    m.known_depth = m.depth;
  }
  MODEL_LIMIT(choice->count == count);  // else the test does not do the same each time
  return choice->pick;
}

// A weak choice: 0 is what a strong machine does.
MODEL int choose_weak(int count) {
  if (count <= 1 || m.weak >= m.model->weak) { return 0; }
  const int wanted =
      m.is_random && random_bits() % 8 == 0 ? (int)(random_bits() % (unsigned)count) : 0;
  const int pick = choose(count, wanted);
  if (pick != 0) { m.weak++; }
  return pick;
}

// False: all alternatives have been taken.
MODEL bool next_choices(void) {
  while (m.known_depth > 0) {
    choice_t* last = &m.choices[m.known_depth - 1];
    if (last->pick + 1 < last->count) {
      last->pick++;
      return true;
    }
    m.known_depth--;
  }
  return false;
}

// ---- threads ----

MODEL void tls_swap(int from, int to) {
  if (m.tls.start == NULL) { return; }
  memcpy(m.fibers[from].tls, m.tls.start, m.tls.bytes);
  memcpy(m.tls.start, m.fibers[to].tls, m.tls.bytes);
}

MODEL void go_on_with(int next) {
  const int before = m.self;
  if (next == before) { return; }
  m.turn++;
  tls_swap(before, next);
  m.self = next;
  swapcontext(&m.fibers[before].context, &m.fibers[next].context);
}

MODEL int highest_priority(const int* options, int count) {
  int best = 0;
  for (int i = 1; i < count; i++) {
    if (m.fibers[options[i]].priority > m.fibers[options[best]].priority) { best = i; }
  }
  return best;
}

// The threads that may go on; the running one first. `self_too`: it can go on.
MODEL int thread_options(int* options, bool self_too) {
  int count = 0;
  if (self_too) { options[count++] = m.self; }
  for (int i = 1; i < m.threads; i++) {
    const int other = (m.self + i) % m.threads;
    if (m.fibers[other].state == RUNS) { options[count++] = other; }
  }
  return count;
}

MODEL int choose_thread(const int* options, int count) {
  for (int i = 0; m.is_random && i < 4; i++) {
    if (m.changes[i] == m.steps) { m.fibers[m.self].priority = m.lowest--; }
  }
  return options[choose(count, m.is_random ? highest_priority(options, count) : 0)];
}

// Before each step of the running thread.
MODEL void preemption_point(void) {
  int options[THREADS_MOST];
  const int count = thread_options(options, true);
  if (count == 1) { return; }
  if (!m.is_random && m.most_preemptions >= 0 && m.preemptions >= m.most_preemptions) { return; }
  const int next = choose_thread(options, count);
  if (next != m.self) { m.preemptions++; }
  go_on_with(next);
}

// In turn, so that two that wait for a third let it go too.
MODEL void let_next_go(void) {
  int options[THREADS_MOST];
  m.fibers[m.self].priority = m.lowest--;
  if (thread_options(options, false) > 0) { go_on_with(options[0]); }
}

// The running thread cannot go on.
MODEL void give_way(void) {
  int options[THREADS_MOST];
  const int count = thread_options(options, false);
  if (count > 0) {
    go_on_with(choose_thread(options, count));
  } else if (m.fibers[m.self].state == SLEEPS) {
    model_failed("nobody can go on: a lost wake-up or a deadlock", m.fibers[m.self].last);
  } else if (m.fibers[m.self].state == ENDED) {
    for (int i = 0; i < m.threads; i++) {
      if (m.fibers[i].state != ENDED) { model_failed("a thread sleeps forever", m.fibers[i].last); }
    }
    setcontext(&m.back);
  }
}

MODEL void fiber_main(void) {
  m.model->threads[m.self]();
  m.fibers[m.self].state = ENDED;
  give_way();
  abort();
}

// ---- what is known ----

MODEL void knowledge_join(knowledge_t* to, const knowledge_t* from) {
  for (int i = 0; i < m.threads; i++) {
    if (from->clock[i] > to->clock[i]) { to->clock[i] = from->clock[i]; }
  }
  for (int i = 0; i < m.location_count; i++) {
    if (from->seen[i] > to->seen[i]) { to->seen[i] = from->seen[i]; }
  }
}

MODEL fiber_t* self(void) { return &m.fibers[m.self]; }
MODEL bool happened(int thread, uint32_t clock) { return clock <= self()->known.clock[thread]; }

// ---- locations ----

MODEL bool is_in(const range_t* range, uintptr_t address) {
  return address - (uintptr_t)range->start < range->bytes;
}

MODEL bool is_quiet(const volatile void* p) {
  if (!m.exploring) { return true; }
  for (int i = 0; i < m.quiet_count; i++) {
    if (is_in(&m.quiet[i], (uintptr_t)p)) { return true; }
  }
  return false;
}

// Where a number of so many bytes lies within eight: at the end on a big-endian machine.
MODEL uint8_t* low_bytes(const uint64_t* value, unsigned bytes) {
  const bool big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
  return (uint8_t*)(uintptr_t)value + (big_endian ? sizeof(*value) - bytes : 0);
}

MODEL uint64_t memory_word(const volatile void* p, unsigned bytes) {
  uint64_t value = 0;
  memcpy(low_bytes(&value, bytes), (const void*)(uintptr_t)p, bytes);
  return value;
}

MODEL void word_to_memory(const uint64_t* value, volatile void* p, unsigned bytes) {
  memcpy((void*)(uintptr_t)p, low_bytes(value, bytes), bytes);
}

MODEL location_t* location_new(uintptr_t address, unsigned bytes) {
  MODEL_LIMIT(m.location_count < LOCATIONS_MOST);
  location_t* location = &m.locations[m.location_count++];
  location->address = address;
  location->bytes = bytes;
  location->count = 0;
  location->first = 0;
  return location;
}

MODEL location_t* location_at(const volatile void* p, unsigned bytes) {
  const uintptr_t address = (uintptr_t)p;
  size_t i = (address * 0x9E3779B97F4A7C15u) >> 40;
  while (m.location_index[i % LOCATION_HASH] != 0) {
    location_t* location = &m.locations[m.location_index[i % LOCATION_HASH] - 1];
    if (location->address == address) { return location; }
    i++;
  }
  location_t* location = location_new(address, bytes);
  m.location_index[i % LOCATION_HASH] = (uint8_t)m.location_count;
  return location;
}

// With its newest store as memory has it.
MODEL location_t* location_of(const volatile void* p, unsigned bytes) {
  location_t* location = location_at(p, bytes);
  const uint64_t now = memory_word(p, bytes);
  if (location->count == 0 ||
      location->stores[location->count - 1].value != now) {  // set-up, or a plain write
    location->first += (uint32_t)location->count;
    location->count = 1;
    location->stores[0].value = now;
    location->stores[0].carries = false;
  }
  return location;
}

MODEL int index_of(const location_t* location) { return (int)(location - m.locations); }
MODEL past_store_t* newest(location_t* location) { return &location->stores[location->count - 1]; }

// A store of the running thread; `continued` is the one that a read-modify-write has read, or NULL.
MODEL void append(location_t* location, uint64_t value, order_t order,
                  const past_store_t* continued) {
  if (location->count == STORES_MOST) {
    enum { FORGOTTEN = STORES_MOST / 2 };
    memmove(location->stores, location->stores + FORGOTTEN,
            (STORES_MOST - FORGOTTEN) * sizeof(past_store_t));
    location->count -= FORGOTTEN;
    location->first += FORGOTTEN;
    continued = continued == NULL ? NULL : newest(location);
  }
  past_store_t* store = &location->stores[location->count++];
  store->value = value;
  store->carries = false;
  self()->known.seen[index_of(location)] = location->first + (uint32_t)location->count - 1;
  if ((order & ORDER_RELEASE) != 0) {
    store->known = self()->known;
    store->carries = true;
  }
  if (continued != NULL && continued->carries) {
    if (store->carries) {
      knowledge_join(&store->known, &continued->known);
    } else {
      store->known = continued->known;
      store->carries = true;
    }
  }
  word_to_memory(&value, (void*)location->address, location->bytes);
}

MODEL void learn(location_t* location, const past_store_t* store, order_t order) {
  const uint32_t number = location->first + (uint32_t)(store - location->stores);
  uint32_t* seen = &self()->known.seen[index_of(location)];
  if (number > *seen) { *seen = number; }
  if ((order & ORDER_ACQUIRE) != 0 && store->carries) {
    knowledge_join(&self()->known, &store->known);
  }
}

// How many older stores than the newest the running thread may still read.
MODEL int older_stores(const location_t* location) {
  const uint32_t last = location->first + (uint32_t)location->count - 1;
  const uint32_t seen = self()->known.seen[index_of(location)];
  const uint32_t from = seen > location->first ? seen : location->first;
  return (int)(last - from);
}

// ---- plain accesses ----

MODEL granule_t* granule_of(uintptr_t key) {
  size_t i = (key * 0x9E3779B97F4A7C15u) >> 40;
  for (int tries = 0; tries < GRANULES_MOST; tries++, i++) {
    granule_t* granule = &m.granules[i % GRANULES_MOST];
    if (granule->run == m.run && granule->key == key) { return granule; }
    if (granule->run != m.run) {
      granule->run = m.run;
      granule->key = key;
      granule->count = 0;
      return granule;
    }
  }
  MODEL_LIMIT(false);
  return NULL;
}

MODEL cell_t* cell_of(granule_t* granule, unsigned at, unsigned bytes) {
  for (int i = 0; i < granule->count; i++) {
    cell_t* cell = &granule->cells[i];
    if (cell->at == at && cell->bytes == bytes) { return cell; }
  }
  MODEL_LIMIT(granule->count < CELLS_MOST);
  cell_t* cell = &granule->cells[granule->count++];
  memset(cell, 0, sizeof(*cell));
  cell->at = (uint8_t)at;
  cell->bytes = (uint8_t)bytes;
  return cell;
}

typedef enum { PLAIN_READ = 0, PLAIN_WRITE = 1, ATOMIC_READ = 2, ATOMIC_WRITE = 3 } access_t;

static const char* const access_names[] = {"read", "write", "atomic read", "atomic write"};

MODEL _Noreturn void report_race(access_t mine, int other, access_t theirs, uintptr_t address,
                                 const void* pc, const void* other_pc) {
  const uintptr_t base = (uintptr_t)__executable_start;
  fprintf(stderr,
          "race at %#lx: %s by T%d (code at %#lx, after %s:%d), %s by T%d (code at %#lx, after "
          "%s:%d); see addr2line -fie\n",
          (unsigned long)address, access_names[mine], m.self,
          pc == NULL ? 0 : (unsigned long)((uintptr_t)pc - base), self()->last.file,
          self()->last.line, access_names[theirs], other,
          other_pc == NULL ? 0 : (unsigned long)((uintptr_t)other_pc - base),
          m.fibers[other].last.file, m.fibers[other].last.line);
  model_failed("data race", self()->last);
}

MODEL void check_race(const cell_t* cell, access_t mine, uintptr_t address, const void* pc) {
  const bool writes = (mine & 1) != 0, atomic = mine >= ATOMIC_READ;
  if (cell->written && !happened(cell->writer, cell->wrote)) {
    report_race(mine, cell->writer, PLAIN_WRITE, address, pc, cell->writer_pc);
  }
  for (int i = 0; i < m.threads; i++) {
    if (writes && !happened(i, cell->read[i])) {
      report_race(mine, i, PLAIN_READ, address, pc, NULL);
    }
    if (!atomic && !happened(i, cell->atomic_wrote[i])) {
      report_race(mine, i, ATOMIC_WRITE, address, pc, NULL);
    }
    if (!atomic && writes && !happened(i, cell->atomic_read[i])) {
      report_race(mine, i, ATOMIC_READ, address, pc, NULL);
    }
  }
}

MODEL void access_within(uintptr_t address, unsigned bytes, access_t kind, const void* pc) {
  granule_t* granule = granule_of(address >> 3);
  const unsigned at = address & 7;
  cell_t* cell = cell_of(granule, at, bytes);
  for (int i = 0; i < granule->count; i++) {
    const cell_t* other = &granule->cells[i];
    if (other->at < at + bytes && at < (unsigned)other->at + other->bytes) {
      check_race(other, kind, address, pc);
    }
  }
  const uint32_t now = self()->known.clock[m.self];
  if (kind == PLAIN_READ) {
    cell->read[m.self] = now;
  } else if (kind == ATOMIC_READ) {
    cell->atomic_read[m.self] = now;
  } else if (kind == ATOMIC_WRITE) {
    cell->atomic_wrote[m.self] = now;
  } else {
    cell->written = true;
    cell->writer = m.self;
    cell->wrote = now;
    cell->writer_pc = pc;
  }
}

MODEL void access_bytes(const volatile void* p, size_t bytes, access_t kind, const void* pc) {
  if (!m.exploring) { return; }
  uintptr_t address = (uintptr_t)p;
  if (address - (uintptr_t)self()->stack < STACK_BYTES || address - (uintptr_t)&m < sizeof(m)) {
    return;
  }
  if (is_in(&m.tls, address) || address == (uintptr_t)&errno) { return; }
  while (bytes > 0) {
    const size_t room = 8 - (address & 7);
    const size_t part = bytes < room ? bytes : room;
    access_within(address, (unsigned)part, kind, pc);
    address += part;
    bytes -= part;
  }
}

// ---- steps ----

// Loads that only repeat themselves are no place to preempt; after many of them the others go
// first.
MODEL bool is_repeated(location_t* location) {
  fiber_t* fiber = self();
  if (fiber->repeats_since != m.turn) {
    fiber->repeats_since = m.turn;
    memset(fiber->repeats, 0, sizeof(fiber->repeats));
  }
  uint8_t* repeats = &fiber->repeats[index_of(location)];
  if (++*repeats > REPEATS_MOST) {
    *repeats = REPEATS_SEEN;
    let_next_go();
    return true;
  }
  return *repeats > REPEATS_SEEN;
}

MODEL location_t* step(const volatile void* p, unsigned bytes, bool only_loads, site_t site) {
  if (++m.steps > STEPS_MOST) { model_failed("too many steps: a livelock?", site); }
  location_t* location = location_at(p, bytes);
  if (!only_loads) { self()->repeats_since = m.turn - 1; }
  if (!only_loads || !is_repeated(location)) { preemption_point(); }
  self()->last = site;
  self()->known.clock[m.self]++;
  return location_of(p, bytes);
}

MODEL void model_load(const volatile void* p, void* out, unsigned bytes, order_t order,
                      site_t site) {
  if (is_quiet(p)) {
    memcpy(out, (const void*)(uintptr_t)p, bytes);
    return;
  }
  location_t* location = step(p, bytes, true, site);
  const int back = choose_weak(older_stores(location) + 1);
  const past_store_t* store = newest(location) - back;
  learn(location, store, order);
  access_bytes(p, bytes, ATOMIC_READ, NULL);
  log_step("load", site, store->value, back == 0 ? "" : " (old)");
  word_to_memory(&store->value, out, bytes);
}

MODEL void model_store(volatile void* p, const void* in, unsigned bytes, order_t order,
                       site_t site) {
  const uint64_t value = memory_word(in, bytes);
  if (is_quiet(p)) {
    memcpy((void*)(uintptr_t)p, in, bytes);
    return;
  }
  location_t* location = step(p, bytes, false, site);
  access_bytes(p, bytes, ATOMIC_WRITE, NULL);
  append(location, value, order, NULL);
  log_step("store", site, value, "");
}

MODEL void update(location_t* location, uint64_t value, order_t order) {
  past_store_t* before = newest(location);
  learn(location, before, order);
  access_bytes((void*)location->address, location->bytes, ATOMIC_WRITE, NULL);
  append(location, value, order, before);
}

MODEL void model_exchange(volatile void* p, const void* in, void* before, unsigned bytes,
                          order_t order, site_t site) {
  const uint64_t value = memory_word(in, bytes);
  if (is_quiet(p)) {
    memcpy(before, (const void*)(uintptr_t)p, bytes);
    word_to_memory(&value, p, bytes);
    return;
  }
  location_t* location = step(p, bytes, false, site);
  word_to_memory(&newest(location)->value, before, bytes);
  update(location, value, order);
  log_step("exchange", site, value, "");
}

MODEL void model_add(volatile void* p, int64_t n, void* before, unsigned bytes, site_t site) {
  location_t* location = is_quiet(p) ? NULL : step(p, bytes, false, site);
  const uint64_t old = memory_word(p, bytes);
  const uint64_t mask = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;
  const uint64_t value = (old + (uint64_t)n) & mask;
  word_to_memory(&old, before, bytes);
  if (location == NULL) {
    word_to_memory(&value, p, bytes);
    return;
  }
  update(location, value, ORDER_RELAXED);
  log_step("add", site, value, "");
}

// Which past store a compare-and-swap fails on: 0 the newest, or none if that one has the expected
// value.
MODEL int failing_store(location_t* location, uint64_t expected, bool* fails) {
  int backs[STORES_MOST], count = 0;
  const bool newest_fails = newest(location)->value != expected;
  backs[count++] = 0;                         // what a strong machine does
  if (!newest_fails) { backs[count++] = 0; }  // for no reason
  for (int back = 1; back <= older_stores(location); back++) {
    if ((newest(location) - back)->value != expected) { backs[count++] = back; }
  }
  const int pick = choose_weak(count);
  *fails = newest_fails || pick != 0;
  return backs[pick];
}

MODEL bool model_cas(volatile void* p, void* old, const void* in, unsigned bytes, order_t order,
                     site_t site) {
  const uint64_t value = memory_word(in, bytes), expected = memory_word(old, bytes);
  if (is_quiet(p)) {
    const bool same = memory_word(p, bytes) == expected;
    memcpy(same ? (void*)(uintptr_t)p : old, same ? in : (const void*)(uintptr_t)p, bytes);
    return same;
  }
  location_t* location = step(p, bytes, memory_word(p, bytes) != expected, site);
  bool fails = false;
  const past_store_t* store = newest(location) - failing_store(location, expected, &fails);
  if (fails) {
    learn(location, store, ORDER_RELAXED);
    access_bytes(p, bytes, ATOMIC_READ, NULL);
    log_step("cas fails", site, store->value, store->value == expected ? " (no reason)" : "");
    word_to_memory(&store->value, old, bytes);
    return false;
  }
  update(location, value, order);
  log_step("cas", site, value, "");
  return true;
}

// ---- waiting, as the port does it ----

MODEL void model_wait(const volatile void* word, uint64_t value, unsigned bytes) {
  const site_t site = {"wait", "port", 0};
  if (!m.exploring) { model_failed("the set-up sleeps", site); }
  step(word, bytes, false, site);
  const bool sleeps =
      memory_word(word, bytes) == value && choose_weak(2) == 0;  // or wakes for no reason
  log_step("wait", site, memory_word(word, bytes), sleeps ? " sleeps" : " returns");
  if (!sleeps) { return; }
  self()->state = SLEEPS;
  self()->sleeps_on = word;
  give_way();
}

MODEL void model_wake_one(const volatile void* word, unsigned bytes) {
  const site_t site = {"wake", "port", 0};
  if (!m.exploring) { return; }
  step(word, bytes, false, site);
  int sleepers[THREADS_MOST], count = 0;
  for (int i = 0; i < m.threads; i++) {
    if (m.fibers[i].state == SLEEPS && m.fibers[i].sleeps_on == word) { sleepers[count++] = i; }
  }
  log_step("wake", site, (uint64_t)count, "");
  if (count > 0) { m.fibers[sleepers[choose(count, 0)]].state = RUNS; }
}

// ---- what a set-up says ----

// Each execution starts with these bytes as the set-up left them.
MODEL void model_state(void* start, size_t bytes) {
  MODEL_LIMIT(m.state_count < RANGES_MOST);
  m.states[m.state_count++] = (range_t){start, bytes, malloc(bytes)};
}

// Atomic words that are no part of the protocol (statistics): no steps.
MODEL void model_quiet(const void* start, size_t bytes) {
  MODEL_LIMIT(m.quiet_count < RANGES_MOST);
  m.quiet[m.quiet_count++] = (range_t){(uint8_t*)(uintptr_t)start, bytes, NULL};
}

// Thread-local data of the product; one range.
MODEL void model_tls(void* start, size_t bytes) {
  MODEL_LIMIT(bytes <= TLS_BYTES);
  m.tls = (range_t){start, bytes, NULL};
  for (int i = 0; i < THREADS_MOST; i++) { memcpy(m.fibers[i].tls, start, bytes); }
}

// Set-up and finish act as this thread from here on.
MODEL void model_act_as(int thread) {
  if (m.exploring) { model_failed("a thread acts for another", self()->last); }
  tls_swap(m.self, thread);
  m.self = thread;
}

// ---- exploring ----

MODEL void start_fibers(void) {
  for (int i = 0; i < m.threads; i++) {
    fiber_t* fiber = &m.fibers[i];
    memset(&fiber->known, 0, sizeof(fiber->known));
    fiber->known.clock[i] = 1;
    fiber->state = RUNS;
    fiber->repeats_since = 0;
    fiber->last = (site_t){"start", "start", 0};
    fiber->priority = (int)(random_bits() % 1000) + 10;
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = STACK_BYTES;
    fiber->context.uc_link = NULL;
    makecontext(&fiber->context, fiber_main, 0);
  }
  m.lowest = 9;
  for (int i = 0; i < 4; i++) {
    m.changes[i] = m.most_steps == 0 ? -1 : (int)(random_bits() % (unsigned)m.most_steps);
  }
}

MODEL void enter_first(void) {
  int options[THREADS_MOST];
  for (int i = 0; i < m.threads; i++) { options[i] = i; }
  const int first =
      options[choose(m.threads, m.is_random ? highest_priority(options, m.threads) : 0)];
  tls_swap(m.self, first);
  m.self = first;
  m.exploring = true;
  swapcontext(&m.back, &m.fibers[first].context);
  m.exploring = false;
}

MODEL void execute(void) {
  uint8_t tls[THREADS_MOST][TLS_BYTES];
  for (int i = 0; i < m.state_count; i++) {
    memcpy(m.states[i].start, m.states[i].copy, m.states[i].bytes);
  }
  for (int i = 0; i < THREADS_MOST; i++) { memcpy(tls[i], m.fibers[i].tls, TLS_BYTES); }
  m.run++;
  m.turn += 2;
  m.depth = m.preemptions = m.weak = m.steps = m.location_count = 0;
  m.logged = 0;
  memset(m.location_index, 0, sizeof(m.location_index));
  start_fibers();
  enter_first();
  if (m.steps > m.most_steps) { m.most_steps = m.steps; }
  m.total_steps += (uint64_t)m.steps;
  m.total_runs++;
  if (m.model->finish != NULL) { m.model->finish(); }
  for (int i = 0; i < THREADS_MOST; i++) { memcpy(m.fibers[i].tls, tls[i], TLS_BYTES); }
  if (m.tls.start != NULL) { memcpy(m.tls.start, tls[0], m.tls.bytes); }
  m.self = 0;
}

// -1: any number.
MODEL int preemption_bound(const model_t* model) {
  const char* text = getenv("MODEL_PREEMPTIONS");
  const int lower = text == NULL ? -1 : atoi(text);
  return lower < 0 || (model->preemptions >= 0 && model->preemptions < lower) ? model->preemptions
                                                                              : lower;
}

MODEL void model_begin(const model_t* model) {
  static uint8_t stacks[THREADS_MOST][STACK_BYTES];
  m.model = model;
  m.most_preemptions = preemption_bound(model);
  m.threads = 0;
  while (m.threads < THREADS_MOST && model->threads[m.threads] != NULL) { m.threads++; }
  for (int i = 0; i < THREADS_MOST; i++) { m.fibers[i].stack = stacks[i]; }
  for (int i = 0; i < m.state_count; i++) { free(m.states[i].copy); }
  m.state_count = m.quiet_count = m.known_depth = m.most_steps = 0;
  m.total_steps = m.total_runs = 0;
  m.tls.start = NULL;
  m.self = 0;
  m.is_random = false;
  model->setup();
  model_act_as(0);
  for (int i = 0; i < m.state_count; i++) {
    memcpy(m.states[i].copy, m.states[i].start, m.states[i].bytes);
  }
}

MODEL void bound_text(int bound, const char* what, char* out) {
  if (bound < 0) {
    sprintf(out, "any %ss", what);
  } else {
    sprintf(out, "%d %s%s", bound, what, bound == 1 ? "" : "s");
  }
}

MODEL void model_run(const model_t* model, const char* replay) {
  char preemptions[40], weak[40];
  const clock_t start = clock();
  model_begin(model);
  m.replay = replay;
  do { execute(); } while (replay == NULL && next_choices());
  const uint64_t all = m.total_runs;
  const char* seed = getenv("MODEL_SEED");
  m.random = seed == NULL ? 1 : strtoull(seed, NULL, 0);
  m.is_random = true;
  for (int i = 0; replay == NULL && i < model->random_runs; i++) { execute(); }
  bound_text(m.most_preemptions, "preemption", preemptions);
  bound_text(model->weak, "weak choice", weak);
  printf("%-24s %8llu executions, all with %s and %s; %d random; %llu steps, longest %d; %.2f s\n",
         model->name, (unsigned long long)all, preemptions, weak,
         replay == NULL ? model->random_runs : 0, (unsigned long long)m.total_steps, m.most_steps,
         (double)(clock() - start) / CLOCKS_PER_SEC);
  fflush(stdout);
}

MODEL int model_main(int argc, char** argv, const model_t* models, int count) {
  for (int i = 0; i < count; i++) {
    if (argc < 2 || strcmp(argv[1], models[i].name) == 0) {
      model_run(&models[i], argc > 2 ? argv[2] : NULL);
    }
  }
  return 0;
}

#define MODEL_MAIN(...)                                                               \
  int main(int argc, char** argv) {                                                   \
    static const model_t models[] = {__VA_ARGS__};                                    \
    return model_main(argc, argv, models, (int)(sizeof(models) / sizeof(models[0]))); \
  }

// ---- what the compiler calls for each plain access ----

#define SEEN_ACCESS(name, bytes, kind) \
  UNSEEN void name(void* p);           \
  UNSEEN void name(void* p) { access_bytes(p, bytes, kind, __builtin_return_address(0)); }
#define SEEN_RANGE(name, kind)         \
  UNSEEN void name(void* p, size_t n); \
  UNSEEN void name(void* p, size_t n) { access_bytes(p, n, kind, __builtin_return_address(0)); }
#define SEEN_IGNORED(name, arguments) \
  UNSEEN void name arguments;         \
  UNSEEN void name arguments {}

SEEN_ACCESS(__tsan_read1, 1, PLAIN_READ)
SEEN_ACCESS(__tsan_read2, 2, PLAIN_READ)
SEEN_ACCESS(__tsan_read4, 4, PLAIN_READ)
SEEN_ACCESS(__tsan_read8, 8, PLAIN_READ)
SEEN_ACCESS(__tsan_read16, 16, PLAIN_READ)
SEEN_ACCESS(__tsan_unaligned_read2, 2, PLAIN_READ)
SEEN_ACCESS(__tsan_unaligned_read4, 4, PLAIN_READ)
SEEN_ACCESS(__tsan_unaligned_read8, 8, PLAIN_READ)
SEEN_ACCESS(__tsan_unaligned_read16, 16, PLAIN_READ)
SEEN_ACCESS(__tsan_write1, 1, PLAIN_WRITE)
SEEN_ACCESS(__tsan_write2, 2, PLAIN_WRITE)
SEEN_ACCESS(__tsan_write4, 4, PLAIN_WRITE)
SEEN_ACCESS(__tsan_write8, 8, PLAIN_WRITE)
SEEN_ACCESS(__tsan_write16, 16, PLAIN_WRITE)
SEEN_ACCESS(__tsan_unaligned_write2, 2, PLAIN_WRITE)
SEEN_ACCESS(__tsan_unaligned_write4, 4, PLAIN_WRITE)
SEEN_ACCESS(__tsan_unaligned_write8, 8, PLAIN_WRITE)
SEEN_ACCESS(__tsan_unaligned_write16, 16, PLAIN_WRITE)
SEEN_RANGE(__tsan_read_range, PLAIN_READ)
SEEN_RANGE(__tsan_write_range, PLAIN_WRITE)
SEEN_IGNORED(__tsan_init, (void))
UNSEEN void __tsan_func_entry(void* pc);
UNSEEN void __tsan_func_entry(void* pc) { (void)pc; }
SEEN_IGNORED(__tsan_func_exit, (void))

// Of calls that gcc leaves alone and clang renames.
UNSEEN void* __tsan_memset(void* p, int c, size_t n);
UNSEEN void* __tsan_memset(void* p, int c, size_t n) {
  access_bytes(p, n, PLAIN_WRITE, __builtin_return_address(0));
  return memset(p, c, n);
}
UNSEEN void* __tsan_memcpy(void* to, const void* from, size_t n);
UNSEEN void* __tsan_memcpy(void* to, const void* from, size_t n) {
  access_bytes(from, n, PLAIN_READ, __builtin_return_address(0));
  access_bytes(to, n, PLAIN_WRITE, __builtin_return_address(0));
  return memcpy(to, from, n);
}

#endif
