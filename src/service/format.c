#include "format.h"

#include "../port/port.h"

// ---- printf's language ----

typedef struct format_s {
  char* out;
  size_t size;
  size_t length;   // stored so far, < size
  const char* at;  // the next character of the format
  va_list args;
} format_t;

typedef enum { LENGTH_INT, LENGTH_LONG, LENGTH_LONG_LONG, LENGTH_SIZE } length_t;

typedef struct spec_s {  // what stands between % and the letter
  bool left;
  bool zeros;
  size_t width;
  size_t precision;  // SIZE_MAX: none
  length_t length;
} spec_t;

static void put_char(format_t* f, char c) {
  if (f->length + 1 < f->size) { f->out[f->length++] = c; }
}

static void put_repeated(format_t* f, char c, size_t count) {
  for (size_t room = f->size - 1 - f->length; count > 0 && room > 0; count--, room--) {
    put_char(f, c);
  }
}

static void put_chars(format_t* f, const char* text, size_t length) {
  for (size_t i = 0; i < length; i++) { put_char(f, text[i]); }
}

// Text of a given length, after a short prefix (sign, 0x), in a field of spec's width.
static void put_field(format_t* f, const spec_t* spec, const char* prefix, const char* text,
                      size_t length) {
  size_t used = length;
  for (const char* p = prefix; *p != 0; p++) { used++; }
  const size_t padding = spec->width > used ? spec->width - used : 0;
  if (!spec->left && !spec->zeros) { put_repeated(f, ' ', padding); }
  put_chars(f, prefix, used - length);
  if (!spec->left && spec->zeros) { put_repeated(f, '0', padding); }
  put_chars(f, text, length);
  if (spec->left) { put_repeated(f, ' ', padding); }
}

static void put_number(format_t* f, const spec_t* spec, const char* prefix, uint64_t value,
                       unsigned base) {
  char digits[20];  // enough for 2^64 in base 10
  size_t at = sizeof(digits);
  do {
    digits[--at] = "0123456789abcdef"[value % base];
    value /= base;
  } while (value != 0);
  put_field(f, spec, prefix, digits + at, sizeof(digits) - at);
}

static void put_signed(format_t* f, const spec_t* spec, int64_t value) {
  const uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  put_number(f, spec, value < 0 ? "-" : "", magnitude, 10);
}

static void put_string(format_t* f, const spec_t* given, const char* text) {
  if (text == NULL) { text = "(null)"; }
  size_t length = 0;
  while (length < given->precision && text[length] != 0) { length++; }
  spec_t spec = *given;
  spec.zeros = false;
  put_field(f, &spec, "", text, length);
}

static int64_t next_signed(format_t* f, const spec_t* spec) {
  switch (spec->length) {
    case LENGTH_LONG: return va_arg(f->args, long);
    case LENGTH_LONG_LONG: return va_arg(f->args, long long);
    case LENGTH_SIZE: return va_arg(f->args, ptrdiff_t);
    case LENGTH_INT: break;
  }
  return va_arg(f->args, int);
}

static uint64_t next_unsigned(format_t* f, const spec_t* spec) {
  switch (spec->length) {
    case LENGTH_LONG: return va_arg(f->args, unsigned long);
    case LENGTH_LONG_LONG: return va_arg(f->args, unsigned long long);
    case LENGTH_SIZE: return va_arg(f->args, size_t);
    case LENGTH_INT: break;
  }
  return va_arg(f->args, unsigned);
}

static size_t read_size(format_t* f) {
  if (*f->at == '*') {
    f->at++;
    const int given = va_arg(f->args, int);
    return given > 0 ? (size_t)given : 0;
  }
  size_t n = 0;
  for (; *f->at >= '0' && *f->at <= '9'; f->at++) { n = 10 * n + (size_t)(*f->at - '0'); }
  return n;
}

static bool skip_char(format_t* f, char c) {
  if (*f->at != c) { return false; }
  f->at++;
  return true;
}

static spec_t read_spec(format_t* f) {
  spec_t spec = {.precision = SIZE_MAX, .length = LENGTH_INT};
  for (;; f->at++) {
    if (*f->at == '-') {
      spec.left = true;
    } else if (*f->at == '0') {
      spec.zeros = true;
    } else {
      break;
    }
  }
  spec.width = read_size(f);
  if (skip_char(f, '.')) { spec.precision = read_size(f); }
  if (skip_char(f, 'z')) {
    spec.length = LENGTH_SIZE;
  } else if (skip_char(f, 'l')) {
    spec.length = skip_char(f, 'l') ? LENGTH_LONG_LONG : LENGTH_LONG;
  }
  return spec;
}

static void put_conversion(format_t* f) {
  const spec_t spec = read_spec(f);
  const char letter = *f->at;
  if (letter == 0) { return; }  // the format ends with a lone %
  f->at++;
  switch (letter) {
    case 'd':
    case 'i': put_signed(f, &spec, next_signed(f, &spec)); break;
    case 'u': put_number(f, &spec, "", next_unsigned(f, &spec), 10); break;
    case 'x': put_number(f, &spec, "", next_unsigned(f, &spec), 16); break;
    case 'p': put_number(f, &spec, "0x", (uintptr_t)va_arg(f->args, void*), 16); break;
    case 's': put_string(f, &spec, va_arg(f->args, const char*)); break;
    case 'c': {
      const char c = (char)va_arg(f->args, int);
      put_field(f, &spec, "", &c, 1);
      break;
    }
    default: put_char(f, letter); break;  // %% too
  }
}

PRIVATE size_t format_into(char* buf, size_t size, const char* fmt, va_list args) {
  if (size == 0) { return 0; }
  format_t f = {.out = buf, .size = size, .at = fmt};
  va_copy(f.args, args);
  while (*f.at != 0) {
    const char c = *f.at++;
    if (c == '%') {
      put_conversion(&f);
    } else {
      put_char(&f, c);
    }
  }
  va_end(f.args);
  buf[f.length] = 0;
  return f.length;
}

PRIVATE size_t format_text(char* buf, size_t size, const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  const size_t length = format_into(buf, size, fmt, args);
  va_end(args);
  return length;
}

// ---- amounts for people ----

// Scales by powers of base until at most one factor of base is left before the point.
enum { SUFFIX_CHARS = 5 };

static void format_amount(char* buf, int64_t amount, uint64_t base,
                          const char suffixes[][SUFFIX_CHARS]) {
  const uint64_t magnitude = amount < 0 ? 0 - (uint64_t)amount : (uint64_t)amount;
  const char* sign = amount < 0 ? "-" : "";
  uint64_t divisor = 1;
  int power = 0;
  for (; power < 6 && magnitude / divisor >= base; power++) { divisor *= base; }
  if (power == 0) {
    format_text(buf, AMOUNT_CHARS, "%s%llu%s", sign, (unsigned long long)magnitude, suffixes[0]);
    return;
  }
  const uint64_t tenths = ((magnitude % divisor) * 10 + divisor / 2) / divisor;  // 10: carries
  const uint64_t whole = magnitude / divisor + tenths / 10;
  format_text(buf, AMOUNT_CHARS, "%s%llu.%llu%s", sign, (unsigned long long)whole,
              (unsigned long long)(tenths % 10), suffixes[power]);
}

PRIVATE void format_bytes(char* buf, int64_t bytes) {
  static const char suffixes[][SUFFIX_CHARS] = {" B",   " KiB", " MiB", " GiB",
                                                " TiB", " PiB", " EiB"};
  format_amount(buf, bytes, 1024, suffixes);
}

PRIVATE void format_count(char* buf, int64_t count) {
  static const char suffixes[][SUFFIX_CHARS] = {"", " K", " M", " G", " T", " P", " E"};
  format_amount(buf, count, 1000, suffixes);
}

// ---- output ----

PRIVATE void out_printf(const out_t* out, const char* fmt, ...) {
  const int saved = port_errno_keep();
  char line[LINE_CHARS];
  va_list args;
  va_start(args, fmt);
  const size_t length = format_into(line, sizeof(line), fmt, args);
  va_end(args);
  if (length == sizeof(line) - 1) { line[length - 1] = '\n'; }  // it was cut, or just fits
  out->fun(line, out->arg);
  port_errno_restore(saved);
}
