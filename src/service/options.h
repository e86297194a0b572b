// Options: a table of numbers that the environment and the program may change.
//
// The rows are in options.def. A value can be read at any time; before options_init it is the
// default. Values are independent of each other, so all accesses are relaxed. Sizes are stored in
// KiB, because a `long` has 32 bits on some systems.
#ifndef MI_SERVICE_OPTIONS_H
#define MI_SERVICE_OPTIONS_H

#include "../../include/mimalloc.h"
#include "../base/atomic.h"
#include "../base/attributes.h"
#include "format.h"

typedef enum unit_e {
  UNIT_NONE,  // the option has no effect any more
  UNIT_BOOL,
  UNIT_INT,
  UNIT_MSEC,
  UNIT_KIB,   // a size, stored in KiB
  UNIT_BYTE,  // a size, stored in bytes
} unit_t;

enum option_index_e {
#define OPTION(name, value, unit, older, help) OPTION_INDEX_##name,
#include "options.def"
#undef OPTION
  OPTION_COUNT
};

// Rows have mimalloc's numbers, and those behind them numbers from here on: ours alone.
enum { OPTION_OURS = 1000 };
#define OPTION_AT(index)                                  \
  ((mi_option_t)((index) < (int)_mi_option_last ? (index) \
                                                : (index) - _mi_option_last + OPTION_OURS))

// Texts by where they are: pointers would have to be relocated in each process that starts.
typedef struct option_info_s {
  uint16_t name, older, help;
  uint8_t unit;  // unit_t
} option_info_t;

SHARED_DATA(_Atomic(long), option_values[OPTION_COUNT]);
SHARED_DATA(const option_info_t, option_infos[OPTION_COUNT]);

// The row of a number; OPTION_COUNT for a number that is no option's.
FAST unsigned option_index(mi_option_t option) {
  const unsigned number = (unsigned)option, last = (unsigned)_mi_option_last;
  if (number < last) { return number; }
  const unsigned own = number - (unsigned)OPTION_OURS;
  return own < (unsigned)OPTION_COUNT - last ? last + own : (unsigned)OPTION_COUNT;
}

// 0 for a number that is no option's. With a constant it is one load.
FAST long option_get(mi_option_t option) {
  const unsigned index = option_index(option);
  return index < (unsigned)OPTION_COUNT ? load_relaxed(&option_values[index]) : 0;
}
FAST bool option_is_enabled(mi_option_t option) { return option_get(option) != 0; }

PRIVATE const char* option_name(mi_option_t option);   // in small letters
PRIVATE const char* option_older(mi_option_t option);  // name in earlier versions, or ""
// Why the option is kept, but has no effect; NULL if it has one.
PRIVATE const char* option_idle_or_null(mi_option_t option);

// Sizes in bytes; other values as they are, at least 0.
PRIVATE size_t option_size(mi_option_t option);

// The program's choice; the program's choice unless it or the user chose already; the user's
// choice, false if it makes no sense.
PRIVATE void option_set(mi_option_t option, long value);
PRIVATE void option_set_default(mi_option_t option, long value);
PRIVATE bool option_set_text(mi_option_t option, const char* text);

// Calls `changed` after each change by the program. Set once, before other threads know us.
typedef void option_changed_fun(mi_option_t option);
PRIVATE void options_watch(option_changed_fun* changed);

PRIVATE void option_value_text(mi_option_t option, char* buf);  // AMOUNT_CHARS
PRIVATE void options_print(const out_t* out);

// ---- environment.c ----
// Reads the environment once; legal at any time, from any thread.
PRIVATE void options_init(void);
// Who sets an option that has no effect is told so, if messages are wanted.
PRIVATE void option_tell_idle(mi_option_t option);

#endif
