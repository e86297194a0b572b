/* test: cflags="-Wno-unused-function" */
/* Formatting agrees with snprintf on everything it knows, never writes past the end and always
 * terminates. */
#include "../../src/service/format.c"

#include <limits.h>
#include <string.h>

#include "../check.h"

/* Both formatters, the same arguments. */
#define SAME(...)                                                         \
  check_same(__LINE__, snprintf(expected, sizeof(expected), __VA_ARGS__), \
             format_text(actual, sizeof(actual), __VA_ARGS__))

static char expected[300], actual[300];

static void check_same(int line, int length, size_t stored) {
  if (strcmp(expected, actual) != 0 || (size_t)length != stored) {
    fprintf(stderr, "line %d: \"%s\" should be \"%s\"\n", line, actual, expected);
    CHECK(!"same as snprintf");
  }
}

static void test_integers(void) {
  SAME("%d %i %u", INT_MIN, INT_MAX, UINT_MAX);
  SAME("%ld %lu %lx", LONG_MIN, ULONG_MAX, ULONG_MAX);
  SAME("%lld %llu %llx", LLONG_MIN, ULLONG_MAX, ULLONG_MAX);
  SAME("%zd %zu %zx", (ptrdiff_t)-1, SIZE_MAX, SIZE_MAX);
  SAME("[%5d] [%-5d] [%05d] [%2d]", -42, -42, -42, 12345);
  SAME("[%*d] [%-*d]", 7, 42, 7, 42);
  SAME("%08x|%x|%0x", 0xBEEFu, 0u, 1u);
}

static void test_texts(void) {
  SAME("%s|%10s|%-10s|%.2s|%.*s|%10.3s", "abc", "abc", "abc", "abc", 1, "abc", "abcdef");
  SAME("%c%c[%3c][%-3c]", 'a', 'b', 'c', 'd');
  SAME("100%% %s", "");
  SAME("plain");
  format_text(actual, sizeof(actual), "%p", (void*)(uintptr_t)0x1234ABCD); /* runtimes differ */
  CHECK(strcmp(actual, "0x1234abcd") == 0);
  const char* volatile none = NULL; /* volatile: the compiler need not know */
  format_text(actual, sizeof(actual), "%s|%.3s|%p", none, none, (void*)NULL);
  CHECK(strcmp(actual, "(null)|(nu|0x0") == 0);
}

static void test_strange_formats(void) {
  const char* volatile lone = "end %";
  const char* volatile unknown = "%q%%";
  format_text(actual, sizeof(actual), lone, 0);
  CHECK(strcmp(actual, "end ") == 0);
  format_text(actual, sizeof(actual), unknown, 0);
  CHECK(strcmp(actual, "q%") == 0);
  format_text(actual, sizeof(actual), "%999999999d", 1);
  CHECK(strlen(actual) == sizeof(actual) - 1);
}

static void test_limits(void) {
  for (size_t size = 0; size < 40; size++) {
    char buf[64];
    memset(buf, '#', sizeof(buf));
    const size_t length = format_text(buf, size, "%10d|%-10s|%05u|tail", 12, "xy", 7u);
    snprintf(expected, sizeof(expected), "%10d|%-10s|%05u|tail", 12, "xy", 7u);
    CHECK(length == (size == 0 ? 0 : size - 1 < strlen(expected) ? size - 1 : strlen(expected)));
    CHECK(size == 0 || (buf[length] == 0 && memcmp(buf, expected, length) == 0));
    for (size_t i = size; i < sizeof(buf); i++) { CHECK(buf[i] == '#'); }
  }
}

static bool bytes_are(int64_t n, const char* text) {
  char buf[AMOUNT_CHARS];
  format_bytes(buf, n);
  return strcmp(buf, text) == 0;
}

static bool count_is(int64_t n, const char* text) {
  char buf[AMOUNT_CHARS];
  format_count(buf, n);
  return strcmp(buf, text) == 0;
}

static void test_amounts(void) {
  CHECK(bytes_are(0, "0 B") && bytes_are(1023, "1023 B") && bytes_are(1024, "1.0 KiB"));
  CHECK(bytes_are(1536, "1.5 KiB") && bytes_are(12897485, "12.3 MiB") &&
        bytes_are(-2048, "-2.0 KiB"));
  CHECK(bytes_are((int64_t)5 << 40, "5.0 TiB") && bytes_are(INT64_MAX, "8.0 EiB") &&
        bytes_are(INT64_MIN, "-8.0 EiB"));
  CHECK(count_is(0, "0") && count_is(999, "999") && count_is(1000, "1.0 K") &&
        count_is(12345678, "12.3 M"));
  CHECK(count_is(1990, "2.0 K") && count_is(-1, "-1") && count_is(INT64_MAX, "9.2 E"));
}

static void append(const char* text, void* arg) { strcat(arg, text); }

static void test_out(void) {
  char all[200] = "";
  const out_t out = {&append, all};
  errno = EDOM;
  out_printf(&out, "%d,", 1);
  out_printf(&out, "%s", "two");
  CHECK(errno == EDOM);
  CHECK(strcmp(all, "1,two") == 0);
}

/* A line that is cut is still a line. */
static void test_out_cut(void) {
  char all[4 * LINE_CHARS] = "";
  char text[2 * LINE_CHARS];
  const out_t out = {&append, all};
  memset(text, 'x', sizeof(text));
  text[sizeof(text) - 1] = 0;
  out_printf(&out, "%s\n", text);
  CHECK(strlen(all) == LINE_CHARS - 1 && all[LINE_CHARS - 2] == '\n');
  all[0] = 0;
  out_printf(&out, "%.*s\n", LINE_CHARS - 3, text);
  out_printf(&out, "%.*s", LINE_CHARS - 3, text); /* that fits, without an end of its own */
  CHECK(strlen(all) == 2 * LINE_CHARS - 5 && all[LINE_CHARS - 3] == '\n');
  CHECK(all[2 * LINE_CHARS - 6] == 'x');
}

int main(void) {
  test_integers();
  test_texts();
  test_strange_formats();
  test_limits();
  test_amounts();
  test_out();
  test_out_cut();
  return check_done();
}
