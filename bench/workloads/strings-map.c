// bench: objects, a map from strings to growing lists, which grows and shrinks
/* What programs do with containers: a hash table of entries, each with a string of its own and a
   vector of numbers that doubles by realloc. Words are drawn at random; each occurrence appends to
   the vector, and concatenates a few strings on the way. From time to time a range of words is
   deleted, strings, vectors and all; the table grows and shrinks by reallocation. */
#include "workload.h"

enum { WORDS = 120 * 1000, ROUNDS = 5 };

typedef struct entry_t {
  struct entry_t* next;
  char* text;
  uint32_t hash, count, capacity;
  uint32_t* values;
} entry_t;

static entry_t** table;
static size_t buckets, entries;
static long operations;

static uint32_t hash_of(const char* text) {
  uint32_t hash = 2166136261u;
  for (; *text != '\0'; text++) { hash = (hash ^ (unsigned char)*text) * 16777619u; }
  return hash;
}

static char* concatenate(const char* a, const char* b) {
  const size_t n = strlen(a), m = strlen(b);
  char* text = take(n + m + 1);
  memcpy(text, a, n);
  memcpy(text + n, b, m + 1);
  operations++;
  return text;
}

static void drop_text(char* text) { give(text, strlen(text) + 1); }

/* The word of a number: the same every time, from 2 to some 60 letters. */
static char* spell(size_t word) {
  static const char* const syllables[] = {"ba", "ko",  "stri", "men", "to",    "vel", "ingst",
                                          "qu", "era", "lo",   "dis", "chuff", "y",   "pre"};
  rng_t rng = rng_seeded(word + 1);
  char* text = concatenate("", syllables[rng_below(&rng, 14)]);
  for (size_t i = rng_below(&rng, 9) * rng_below(&rng, 3); i > 0; i--) {
    char* longer = concatenate(text, syllables[rng_below(&rng, 14)]);
    drop_text(text);
    text = longer;
  }
  char number[24];
  snprintf(number, sizeof(number), "%zu", word);
  char* unique = concatenate(text, number);
  drop_text(text);
  return unique;
}

static void resize(size_t new_buckets) {
  entry_t** next_table = take_zeroed(new_buckets * sizeof(entry_t*));
  for (size_t i = 0; i < buckets; i++) {
    for (entry_t* e = table[i]; e != NULL;) {
      entry_t* next = e->next;
      e->next = next_table[e->hash % new_buckets];
      next_table[e->hash % new_buckets] = e;
      e = next;
    }
  }
  if (table != NULL) { give(table, buckets * sizeof(entry_t*)); }
  table = next_table;
  buckets = new_buckets;
}

/* Where the entry is, or would be. */
static entry_t** find(const char* text, uint32_t hash) {
  entry_t** place = &table[hash % buckets];
  while (*place != NULL && ((*place)->hash != hash || strcmp((*place)->text, text) != 0)) {
    place = &(*place)->next;
  }
  return place;
}

static void append(entry_t* e, uint32_t value) {
  if (e->count == e->capacity) {
    const uint32_t more = e->capacity == 0 ? 2 : 2 * e->capacity;
    e->values = take_resized(e->values, e->capacity * sizeof(uint32_t), more * sizeof(uint32_t));
    e->capacity = more;
    operations++;
  }
  e->values[e->count++] = value;
}

static void occur(size_t word) {
  char* text = spell(word);
  const uint32_t hash = hash_of(text);
  entry_t** place = find(text, hash);
  if (*place == NULL) {
    *place = take_zeroed(sizeof(entry_t));
    (*place)->text = text;
    (*place)->hash = hash;
    entries++;
    operations++;
    append(*place, (uint32_t)word);
    if (entries > buckets) { resize(2 * buckets); }
    return;
  }
  append(*place, (uint32_t)word);
  drop_text(text);
}

static void delete_word(size_t word) {
  char* text = spell(word);
  entry_t** place = find(text, hash_of(text));
  drop_text(text);
  entry_t* e = *place;
  if (e == NULL) { return; }
  for (uint32_t i = 0; i < e->count; i++) { CHECK(e->values[i] == (uint32_t)word); }
  *place = e->next;
  drop_text(e->text);
  give(e->values, e->capacity * sizeof(uint32_t));
  give(e, sizeof(entry_t));
  if (--entries < buckets / 4 && buckets > 1024) { resize(buckets / 2); }
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  const long rounds = scaled(ROUNDS);
  rng_t rng = rng_seeded(1);
  resize(1024);
  for (long round = 0; round < rounds; round++) {
    for (size_t i = 0; i < 4 * WORDS; i++) { /* some words far more often than others */
      const size_t limit = rng_log_between(&rng, 8, WORDS);
      occur(rng_below(&rng, limit < WORDS ? limit : WORDS));
    }
    const size_t first = WORDS / ROUNDS * (size_t)(round % ROUNDS) / 2;
    for (size_t word = first; word < first + WORDS / 2; word++) { delete_word(word); }
  }
  for (size_t word = 0; word < WORDS; word++) { delete_word(word); }
  CHECK(entries == 0);
  give(table, buckets * sizeof(entry_t*));
  return report(operations);
}
