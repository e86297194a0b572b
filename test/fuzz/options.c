/* test: timeout=120 */
/* The environment: any names and values, against a reader of options that is written another way.

   An input is lines. A line's first byte, if below 128, names an option, and the rest is its value;
   else the line is an entry of the environment as it is. */
#define FUZZ_NAME "options"
#include "entry.h"

#include <strings.h>

#include "../unit/fake_port.h"

#include "../../src/service/format.c"
#include "../../src/service/options.c"
#include "../../src/service/message.c"
#include "../../src/service/environment.c"

enum { ENTRIES = 12, ENTRY_CHARS = 300 };

static char entries[ENTRIES][ENTRY_CHARS];
static const char* environment[ENTRIES + 1];
static const char* values[OPTION_COUNT]; /* NULL: the option is not set, or maybe by a raw line */
static bool has_raw;
static long defaults[OPTION_COUNT];

/* ---- what a value should mean ---- */

/* Holds more than an option can, so that what does not fit is seen. */
#ifdef __SIZEOF_INT128__
typedef __int128 wide_t;
#else
typedef int64_t wide_t;
#endif
enum { WIDE_DIGIT_BITS = sizeof(wide_t) * 8 - 28, SIZE_BITS = sizeof(size_t) * 8 };

static const char* skip_blanks(const char* s) { return s + strspn(s, " \t"); }

static bool word_is(const char* s, const char* word) {
  const size_t length = strlen(word);
  return strncasecmp(s, word, length) == 0 && *skip_blanks(s + length) == 0;
}

static bool digits_of(const char** s, wide_t* value) {
  const char* start = *s;
  for (*value = 0; **s >= '0' && **s <= '9'; ++*s) {
    if (*value <= (wide_t)1 << WIDE_DIGIT_BITS) { *value = *value * 10 + (**s - '0'); }
  }
  return *s != start;
}

static bool size_of_text(const char* s, bool is_kib, wide_t* value) {
  static const char* const suffixes[] = {"kib", "kb", "k", "mib", "mb", "m",
                                         "gib", "gb", "g", "tib", "tb", "t"};
  unsigned power = is_kib ? 1 : 0;
  if (!digits_of(&s, value) || *value > PTRDIFF_MAX) { return false; }
  s = skip_blanks(s);
  for (unsigned i = 0; i < 12; i++) {
    if (strncasecmp(s, suffixes[i], strlen(suffixes[i])) == 0) {
      s += strlen(suffixes[i]);
      power = i / 3 + 1;
      break;
    }
  }
  *value <<= 10 * power < SIZE_BITS ? 10 * power : SIZE_BITS - 1;
  const bool fits = *value <= PTRDIFF_MAX;
  if (is_kib) { *value >>= 10; }
  return fits && *skip_blanks(s) == 0;
}

static bool number_of_text(const char* s, wide_t* value) {
  const bool negative = *s == '-';
  if (*s == '-' || *s == '+') { s++; }
  const bool good = digits_of(&s, value) && *skip_blanks(s) == 0 && *value <= LONG_MAX;
  if (negative) { *value = -*value; }
  return good;
}

/* The option's value with this text. */
static long meaning(int option, const char* text) {
  const unit_t unit = (unit_t)option_infos[option].unit;
  const char* s = skip_blanks(text);
  wide_t value = 0;
  if (unit == UNIT_NONE || *s == 0) { return defaults[option]; }
  if (word_is(s, "on") || word_is(s, "true") || word_is(s, "yes")) { return 1; }
  if (word_is(s, "off") || word_is(s, "false") || word_is(s, "no")) { return 0; }
  const bool good = unit == UNIT_KIB || unit == UNIT_BYTE
                        ? size_of_text(s, unit == UNIT_KIB, &value)
                        : number_of_text(s, &value);
  return good ? (long)value : defaults[option];
}

/* ---- the environment from the input ---- */

static size_t read_line(char* out, size_t room) {
  size_t length = 0;
  while (fuzz_more() && length < room - 1) {
    const char c = (char)fuzz_byte();
    if (c == '\n' || c == 0) { break; }
    out[length++] = c;
  }
  out[length] = 0;
  return length;
}

static void read_entry(char* entry) {
  const uint8_t first = fuzz_byte();
  size_t length = 0;
  if (first < 128) {
    const int option = first % OPTION_COUNT;
    length = (size_t)snprintf(entry, ENTRY_CHARS, "MIMALLOC_%s=", option_name(OPTION_AT(option)));
    for (size_t i = 0; i < length; i++) { entry[i] = to_upper(entry[i]); }
    if (values[option] == NULL) { values[option] = entry + length; } /* the first one counts */
  } else {
    has_raw = true;
  }
  (void)read_line(entry + length, ENTRY_CHARS - length);
}

static void make_environment(void) {
  int count = 0;
  memset(values, 0, sizeof(values));
  has_raw = false;
  while (fuzz_more() && count < ENTRIES) {
    read_entry(entries[count]);
    environment[count] = entries[count];
    count++;
  }
  environment[count] = NULL;
  fake_port.environment = environment;
}

/* ---- one input ---- */

static void begin(void) {
  static bool begun;
  for (int i = 0; i < OPTION_COUNT; i++) {
    if (!begun) { defaults[i] = load_relaxed(&option_values[i]); }
    store_relaxed(&option_values[i], defaults[i]);
    store_relaxed(&option_origins[i], ORIGIN_DEFAULT);
  }
  begun = true;
  store_relaxed(&environment_is_read, false);
  store_relaxed(&warnings_seen, 0);
}

/* With a line of any content only what another line does not set is sure. */
static void check_values(void) {
  for (int i = 0; i < OPTION_COUNT && !has_raw; i++) {
    const char* text = values[i];
    FUZZ_CHECK(option_get(OPTION_AT(i)) == (text == NULL ? defaults[i] : meaning(i, text)));
  }
}

static void count_characters(const char* text, void* arg) { *(size_t*)arg += strlen(text); }

static void check_printing(void) {
  size_t printed = 0;
  for (int i = 0; i < OPTION_COUNT; i++) {
    char value[AMOUNT_CHARS + 8];
    memset(value, '#', sizeof(value));
    option_value_text(OPTION_AT(i), value);
    FUZZ_CHECK(memchr(value, 0, AMOUNT_CHARS) != NULL && value[AMOUNT_CHARS] == '#');
    (void)option_size(OPTION_AT(i));
  }
  options_print(&(out_t){count_characters, &printed});
  FUZZ_CHECK(printed > 1000);
}

static void fuzz_one(void) {
  begin();
  make_environment();
  options_init();
  check_values();
  check_printing();
  (void)fake_port_written();
}
