// bench: objects, an interpreter's heap: strings, records and tables, freed by mark and sweep
/* As interpreters with a collector over malloc have it: all objects are in one list in the order
   of their allocation; when the heap has doubled, what the roots reach is marked, and a sweep
   along the list frees the rest. So frees come in bursts of hundreds of thousands, about by
   address, and the allocations after them fill the holes. Objects are strings of 25 to 120 bytes,
   records of 56, and tables whose arrays double by realloc. */
#include "workload.h"

enum { STRING, RECORD, TABLE, FIELDS = 4, ROOTS = 200 };

typedef struct object_t {
  struct object_t* next; /* older */
  uint8_t kind, marked;
  uint16_t length; /* of a string */
  uint32_t count, capacity;
} object_t;

typedef struct {
  object_t header;
  object_t* field[FIELDS];
} record_t;

typedef struct {
  object_t header;
  object_t** items;
} table_t;

static object_t* newest;
static table_t* roots[ROOTS];
static size_t heap_bytes, threshold;
static long operations;

static size_t bytes_of(const object_t* o) {
  if (o->kind == STRING) { return sizeof(object_t) + o->length + 1; }
  return o->kind == RECORD ? sizeof(record_t) : sizeof(table_t);
}

static void* new_object(uint8_t kind, uint16_t length) {
  const object_t header = {newest, kind, 0, length, 0, 0};
  const size_t bytes = bytes_of(&header);
  object_t* o = take(bytes);
  *o = header;
  newest = o;
  heap_bytes += bytes;
  operations++;
  return o;
}

static object_t* new_string(rng_t* rng) {
  const uint16_t length = (uint16_t)(rng_log_between(rng, 6, 96) - 5);
  object_t* o = new_object(STRING, length);
  memset(o + 1, length & 0x7F, length);
  ((char*)(o + 1))[length] = '\0';
  return o;
}

static object_t* new_record(rng_t* rng, object_t* link) {
  record_t* r = new_object(RECORD, 0);
  for (size_t i = 0; i < FIELDS; i++) { r->field[i] = NULL; }
  r->field[0] = new_string(rng);
  r->field[1] = link;
  return &r->header;
}

static table_t* new_table(void) {
  table_t* t = new_object(TABLE, 0);
  t->items = NULL;
  return t;
}

static void append(table_t* t, object_t* item) {
  object_t* h = &t->header;
  if (h->count == h->capacity) {
    const uint32_t more = h->capacity == 0 ? 4 : 2 * h->capacity;
    t->items = take_resized(t->items, h->capacity * sizeof(void*), more * sizeof(void*));
    heap_bytes += (more - h->capacity) * sizeof(void*);
    h->capacity = more;
    operations++;
  }
  t->items[h->count++] = item;
}

/* ---- Mark and sweep ---------------------------------------------------------------------------*/

static void mark(object_t* o) {
  while (o != NULL && !o->marked) {
    o->marked = 1;
    if (o->kind == TABLE) {
      for (uint32_t i = 0; i < o->count; i++) { mark(((table_t*)o)->items[i]); }
    }
    if (o->kind != RECORD) { return; }
    mark(((record_t*)o)->field[0]);
    o = ((record_t*)o)->field[1]; /* chains are long: no recursion along them */
  }
}

static void free_object(object_t* o) {
  heap_bytes -= bytes_of(o);
  if (o->kind == STRING) {
    const char* text = (const char*)(o + 1);
    CHECK(strlen(text) == o->length && text[0] == (o->length & 0x7F));
  } else if (o->kind == TABLE && o->capacity > 0) {
    heap_bytes -= o->capacity * sizeof(void*);
    give(((table_t*)o)->items, o->capacity * sizeof(void*));
  }
  give(o, bytes_of(o));
}

static void sweep(void) {
  for (object_t** place = &newest; *place != NULL;) {
    object_t* o = *place;
    if (o->marked) {
      o->marked = 0;
      place = &o->next;
    } else {
      *place = o->next;
      free_object(o);
    }
  }
}

static void collect_if_due(void) {
  if (heap_bytes < threshold) { return; }
  for (size_t i = 0; i < ROOTS; i++) { mark(&roots[i]->header); }
  sweep();
  threshold = 2 * heap_bytes > MIB ? 2 * heap_bytes : MIB;
}

/* ---- The program ------------------------------------------------------------------------------*/

int main(int argc, char** argv) {
  workload_start(argc, argv);
  rng_t rng = rng_seeded(1);
  threshold = MIB;
  for (size_t i = 0; i < ROOTS; i++) { roots[i] = new_table(); }
  for (long i = scaled(3500 * 1000); i > 0; i--) {
    collect_if_due();
    table_t** root = &roots[rng_below(&rng, ROOTS)];
    const size_t what = rng_below(&rng, 100);
    if (what < 60) { /* garbage at once */
      new_string(&rng);
    } else {
      table_t* t = *root;
      append(t, what < 90 || t->header.count == 0
                    ? new_record(&rng, NULL)
                    : new_record(&rng, t->items[rng_below(&rng, t->header.count)]));
      if (t->header.count > 300 + rng_below(&rng, 3000)) { *root = new_table(); }
    }
  }
  memset(roots, 0, sizeof(roots));
  sweep();
  CHECK(heap_bytes == 0 && newest == NULL);
  return report(operations);
}
