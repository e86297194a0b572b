#include "options.h"

#include <limits.h>
#include <string.h>

#include "../base/defaults.h"
#include "../base/modes.h"

// Words of options.def.
#define IF_DEBUG(yes, no)   (DEBUG_LEVEL > 0 || TRACKED ? (yes) : (no))
#define IF_CHECKED(yes, no) (CHECKED_BUILD ? (yes) : (no))
#define IF_GUARDED(yes, no) (GUARDED_BUILD ? (yes) : (no))
#define IF_64_BIT(yes, no)  (sizeof(void*) >= 8 ? (yes) : (no))
#define IN_BYTES(kib)       ((kib) * 1024L)
enum { MIB = 1024, GIB = 1024 * MIB };  // in KiB

SHARED_DATA_DEF(_Atomic(long), option_values[OPTION_COUNT]) = {
#define OPTION(name, value, unit, older, help) DEFAULT_OF(name, value),
#include "options.def"
#undef OPTION
};

typedef struct option_texts {
#define OPTION(name, value, unit, older, help) \
  char name##_name[sizeof(#name)], name##_older[sizeof(older)], name##_help[sizeof(help)];
#include "options.def"
#undef OPTION
} option_texts_t;

static const option_texts_t option_texts = {
#define OPTION(name, value, unit, older, help) #name, older, help,
#include "options.def"
#undef OPTION
};

_Static_assert(sizeof(option_texts_t) <= UINT16_MAX, "a text is found by 16 bits");
SHARED_DATA_DEF(const option_info_t, option_infos[OPTION_COUNT]) = {
#define OPTION(name, value, unit, older, help)                                    \
  {offsetof(option_texts_t, name##_name), offsetof(option_texts_t, name##_older), \
   offsetof(option_texts_t, name##_help), UNIT_##unit},
#include "options.def"
#undef OPTION
};

static const char* text_at(uint16_t offset) { return (const char*)&option_texts + offset; }

#define OPTION(name, value, unit, older, help)                            \
  _Static_assert(mi_option_##name == OPTION_AT((int)OPTION_INDEX_##name), \
                 "options.def is in the order of mi_option_t");
#include "options.def"
#undef OPTION
#undef IF_DEBUG
#undef IF_CHECKED
#undef IF_GUARDED
#undef IF_64_BIT
#undef IN_BYTES

// Who chose the value.
enum { ORIGIN_DEFAULT, ORIGIN_ENVIRONMENT, ORIGIN_PROGRAM };
static _Atomic(int) option_origins[OPTION_COUNT];

static _Atomic(option_changed_fun*) on_change;

PRIVATE UNUSED void options_watch(option_changed_fun* changed) {
  store_relaxed(&on_change, changed);
}

static const option_info_t* info_of(mi_option_t option) {
  return &option_infos[option_index(option)];
}

PRIVATE const char* option_name(mi_option_t option) { return text_at(info_of(option)->name); }
PRIVATE const char* option_older(mi_option_t option) { return text_at(info_of(option)->older); }

PRIVATE const char* option_idle_or_null(mi_option_t option) {
  static const char idle[] = "no effect: ";
  if (option_index(option) == (unsigned)OPTION_COUNT) { return NULL; }
  const char* help = text_at(info_of(option)->help);
  return strncmp(help, idle, sizeof(idle) - 1) == 0 ? help + sizeof(idle) - 1 : NULL;
}

// ---- reading and setting ----

PRIVATE size_t option_size(mi_option_t option) {
  const long value = option_get(option);
  if (value <= 0) { return 0; }
  if (info_of(option)->unit != UNIT_KIB) { return (size_t)value; }
  return (size_t)value > PTRDIFF_MAX / 1024 ? (size_t)PTRDIFF_MAX : (size_t)value * 1024;
}

static void option_store(mi_option_t option, long value, int origin) {
  const unsigned index = option_index(option);
  if (index == (unsigned)OPTION_COUNT) { return; }
  store_relaxed(&option_values[index], value);
  store_relaxed(&option_origins[index], origin);
}

static void tell_change(mi_option_t option) {
  option_changed_fun* changed = load_relaxed(&on_change);
  if (changed != NULL) { changed(option); }
}

PRIVATE void option_set(mi_option_t option, long value) {
  option_store(option, value, ORIGIN_PROGRAM);
  tell_change(option);
}

PRIVATE void option_set_default(mi_option_t option, long value) {
  const unsigned index = option_index(option);
  if (index == (unsigned)OPTION_COUNT || load_relaxed(&option_origins[index]) != ORIGIN_DEFAULT) {
    return;
  }
  option_store(option, value, ORIGIN_DEFAULT);
  tell_change(option);
}

// ---- a value as text ----

static char to_lower(char c) { return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }
static bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Moves past word, which is in small letters; the text may be in capitals.
static bool take_word(const char** text, const char* word) {
  const char* at = *text;
  for (; *word != 0; word++, at++) {
    if (to_lower(*at) != *word) { return false; }
  }
  *text = at;
  return true;
}

static bool is_at_end(const char* text) {
  while (is_blank(*text)) { text++; }
  return *text == 0;
}

static bool is_word(const char* text, const char* word) {
  return take_word(&text, word) && is_at_end(text);
}

static bool parse_word(const char* text, long* value) {
  const bool yes = is_word(text, "on") || is_word(text, "true") || is_word(text, "yes");
  const bool no = is_word(text, "off") || is_word(text, "false") || is_word(text, "no");
  *value = yes ? 1 : 0;
  return yes || no;
}

static bool parse_digits(const char** text, int64_t* value) {
  const char* at = *text;
  *value = 0;
  for (; *at >= '0' && *at <= '9'; at++) {
    if (__builtin_mul_overflow(*value, 10, value) ||
        __builtin_add_overflow(*value, *at - '0', value)) {
      return false;
    }
  }
  const bool any = at != *text;
  *text = at;
  return any;
}

// The power of 1024 that K, KB, KiB, M… stand for; without a suffix it is that of the option's
// unit.
static int parse_suffix(const char** text, unit_t unit) {
  static const char letters[] = "kmgt";
  while (is_blank(**text)) { (*text)++; }
  for (int i = 0; letters[i] != 0; i++) {
    if (to_lower(**text) != letters[i]) { continue; }
    (*text)++;
    if (!take_word(text, "ib")) { take_word(text, "b"); }
    return i + 1;
  }
  return unit == UNIT_KIB ? 1 : 0;
}

// A size has no sign; other numbers have no suffix.
static bool parse_number(const char* text, unit_t unit, long* value) {
  const bool is_size = unit == UNIT_KIB || unit == UNIT_BYTE, negative = *text == '-';
  int64_t number;
  if (!is_size && (*text == '-' || *text == '+')) { text++; }
  if (!parse_digits(&text, &number)) { return false; }
  for (int power = is_size ? parse_suffix(&text, unit) : 0; power > 0; power--) {
    if (__builtin_mul_overflow(number, 1024, &number)) { return false; }
  }
  if (is_size && number > PTRDIFF_MAX) { return false; }
  if (unit == UNIT_KIB) { number /= 1024; }
  *value = negative ? -(long)number : (long)number;
  return number <= LONG_MAX && is_at_end(text);
}

static bool parse_value(const char* text, unit_t unit, long* value) {
  while (is_blank(*text)) { text++; }
  return parse_word(text, value) || parse_number(text, unit, value);
}

PRIVATE bool option_set_text(mi_option_t option, const char* text) {
  const unit_t unit = (unit_t)info_of(option)->unit;
  long value;
  if (unit == UNIT_NONE || is_at_end(text)) {
    return true;
  }  // an empty variable is as good as none
  if (!parse_value(text, unit, &value)) { return false; }
  option_store(option, value, ORIGIN_ENVIRONMENT);
  return true;
}

// ---- printing ----

PRIVATE void option_value_text(mi_option_t option, char* buf) {
  const unit_t unit = (unit_t)info_of(option)->unit;
  const long value = option_get(option);
  if (unit == UNIT_KIB || unit == UNIT_BYTE) {
    format_bytes(buf, (int64_t)option_size(option));
  } else {
    format_text(buf, AMOUNT_CHARS, "%ld%s", value, unit == UNIT_MSEC && value >= 0 ? " ms" : "");
  }
}

PRIVATE void options_print(const out_t* out) {
  static const char origins[][12] = {"", "environment", "program"};
  for (int i = 0; i < OPTION_COUNT; i++) {
    const option_info_t* info = &option_infos[i];
    if (info->unit == UNIT_NONE) { continue; }
    char value[AMOUNT_CHARS];
    option_value_text(OPTION_AT(i), value);
    out_printf(out, "%-30s %10s  %-11s  %s\n", text_at(info->name), value,
               origins[load_relaxed(&option_origins[i])], text_at(info->help));
  }
}
