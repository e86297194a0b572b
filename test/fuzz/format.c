/* test: timeout=120 libs="m" */
/* Formatting, against snprintf: one directive with any flags, width, precision, length and
   argument, into a buffer of any size; and amounts, against what they stand for. */
#define FUZZ_NAME "format"
#include "entry.h"

#include "../../src/service/format.c"

#include <math.h>

enum { ROOM = 200 };

static char expected[2 * ROOM], actual[ROOM + 1];

/* What was stored is what fits of what snprintf would store, and nothing behind it is touched. */
static void check_same(size_t size, size_t stored) {
  const size_t length = strlen(expected);
  const size_t fitting = size == 0 ? 0 : length < size ? length : size - 1;
  FUZZ_CHECK(stored == fitting);
  FUZZ_CHECK(size == 0 || (actual[fitting] == 0 && memcmp(actual, expected, fitting) == 0));
  for (size_t i = size; i < sizeof(actual); i++) { FUZZ_CHECK(actual[i] == '#'); }
}

#define BOTH(...)                                             \
  do {                                                        \
    snprintf(expected, sizeof(expected), __VA_ARGS__);        \
    memset(actual, '#', sizeof(actual));                      \
    check_same(size, format_text(actual, size, __VA_ARGS__)); \
  } while (0)

/* ---- a directive ---- */

static const char* const integers[] = {"d",   "i",   "u",   "x",  "ld", "lu", "lx",
                                       "lld", "llu", "llx", "zd", "zu", "zx"};

static void make_directive(char* format, uint8_t flags, bool is_number) {
  const unsigned width = fuzz_byte() % 60;
  *format++ = '<';
  *format++ = '%';
  if (flags % 4 == 1) { *format++ = '-'; }
  if (flags % 4 == 2 && is_number) { *format++ = '0'; }
  if (flags % 8 >= 4) { format += sprintf(format, "%u", width); }
  if (flags % 16 >= 8 && !is_number) { format += sprintf(format, ".%u", width / 2); }
  *format = 0;
}

static void format_integer(size_t size, uint8_t flags) {
  char format[64];
  const unsigned kind = fuzz_byte() % (sizeof(integers) / sizeof(integers[0]));
  const uint64_t value = fuzz_u64() >> fuzz_byte() % 64;
  make_directive(format, flags, true);
  strcat(strcat(format, integers[kind]), "%%>");
  if (kind < 4) {
    BOTH(format, (int)value);
  } else if (kind < 7) {
    BOTH(format, (long)value);
  } else if (kind < 10) {
    BOTH(format, (long long)value);
  } else {
    BOTH(format, (size_t)value);
  }
}

static void format_string(size_t size, uint8_t flags) {
  char format[64], text[64];
  size_t length = 0;
  for (size_t n = fuzz_byte() % sizeof(text); n > 1; n--) {
    text[length++] = (char)(fuzz_byte() | 1);
  }
  text[length] = 0;
  make_directive(format, flags, false);
  strcat(format, "s>");
  BOTH(format, text);
  BOTH("%.*s|%*u", flags % 40, text, flags % 30, flags);
}

/* ---- amounts: "12.3 MiB" is within 5 % of what it stands for ---- */

static void check_amount(const char* text, int64_t value, double step) {
  static const char units[] = "KMGTPE";
  char* end = NULL;
  double amount = strtod(text, &end);
  if (*end == ' ' && end[1] != 'B' && end[1] != 0) {
    const char* unit = strchr(units, end[1]);
    FUZZ_CHECK(unit != NULL);
    amount *= pow(step, (double)(unit - units) + 1);
  }
  FUZZ_CHECK(strlen(text) < AMOUNT_CHARS);
  FUZZ_CHECK(fabs(amount - (double)value) <= fabs((double)value) * 0.051);
}

static void format_an_amount(void) {
  char text[AMOUNT_CHARS];
  const int64_t value = (int64_t)fuzz_u64() >> fuzz_byte() % 64;
  format_bytes(text, value);
  check_amount(text, value, 1024);
  format_count(text, value);
  check_amount(text, value, 1000);
}

static void fuzz_one(void) {
  while (fuzz_more()) {
    const uint8_t kind = fuzz_byte(), flags = fuzz_byte();
    const size_t size = fuzz_byte() % (ROOM + 1);
    switch (kind % 3) {
      case 0: format_integer(size, flags); break;
      case 1: format_string(size, flags); break;
      default: format_an_amount(); break;
    }
  }
}
