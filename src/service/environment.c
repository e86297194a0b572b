// Options from the environment: variables MIMALLOC_NAME, in any case, read once when the process
// starts.
//
// A value that makes no sense is always reported, because the user asked for something and does not
// get it. A name that nobody knows, and an option that has no effect, are reported when messages
// are wanted: they may be meant for another version.
#include "../base/modes.h"
#include "../port/port.h"
#include "message.h"
#include "options.h"

enum { VARIABLE_CHARS = 64 };

static const char variable_prefix[] = "MIMALLOC_";

// Names that other versions know.
static const char foreign_names[][32] = {
    "abandoned_page_reset",  "allow_decommit",
    "cache_reset",           "decommit_delay",
    "decommit_extend_delay", "segment_decommit_delay",
    "disable_redirect",      "target_segments_per_thread",
};

static char to_upper(char c) { return (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c); }

static void variable_of(const char* name, char* variable) {
  const size_t length = format_text(variable, VARIABLE_CHARS, "%s%s", variable_prefix, name);
  for (size_t i = 0; i < length; i++) { variable[i] = to_upper(variable[i]); }
}

// The name in an entry of the environment that is one of ours, else NULL.
static const char* entry_name(const char* entry) {
  for (const char* p = variable_prefix; *p != 0; p++, entry++) {
    if (to_upper(*entry) != *p) { return NULL; }
  }
  return entry;
}

// What the entry, from its name on, says of this name; NULL if it is about another.
static const char* entry_text(const char* entry, const char* name) {
  for (; *name != 0; entry++, name++) {
    if (to_upper(*entry) != to_upper(*name)) { return NULL; }
  }
  return *entry == '=' ? entry + 1 : NULL;
}

// NULL if it is not set.
static const char* variable_text(char* const* environment, const char* name) {
  for (; *environment != NULL; environment++) {
    const char* entry = entry_name(*environment);
    const char* text = entry == NULL ? NULL : entry_text(entry, name);
    if (text != NULL) { return text; }
  }
  return NULL;
}

PRIVATE void option_tell_idle(mi_option_t option) {
  const char* reason = option_idle_or_null(option);
  if (reason != NULL) {
    message_verbose("option %s has no effect: %s", option_name(option), reason);
  }
}

static bool read_variable(char* const* environment, mi_option_t option, const char* name) {
  const char* text = variable_text(environment, name);
  if (text == NULL) { return false; }
  option_tell_idle(option);
  if (!option_set_text(option, text)) {
    char variable[VARIABLE_CHARS], kept[AMOUNT_CHARS];
    variable_of(name, variable);
    option_value_text(option, kept);
    message_printf("warning: %s has the invalid value \"%.40s\"; it stays %s", variable, text,
                   kept);
  }
  return true;
}

static void read_option(char* const* environment, mi_option_t option) {
  const char* older = option_older(option);
  if (!read_variable(environment, option, option_name(option)) && *older != 0) {
    read_variable(environment, option, older);
  }
}

// Most programs run without any of our variables; then there is nothing to look up.
static bool environment_has_any(char* const* environment) {
  for (; *environment != NULL; environment++) {
    if (entry_name(*environment) != NULL) { return true; }
  }
  return false;
}

static bool entry_is(const char* entry, const char* name) {
  return entry_text(entry, name) != NULL;
}

static bool entry_is_option(const char* entry) {
  for (int i = 0; i < OPTION_COUNT; i++) {
    const mi_option_t option = OPTION_AT(i);
    const char* older = option_older(option);
    if (entry_is(entry, option_name(option)) || (*older != 0 && entry_is(entry, older))) {
      return true;
    }
  }
  return false;
}

// NULL if no other version knows the name.
static const char* foreign_name(const char* entry) {
  for (size_t i = 0; i < sizeof(foreign_names) / sizeof(foreign_names[0]); i++) {
    if (entry_is(entry, foreign_names[i])) { return foreign_names[i]; }
  }
  return NULL;
}

static void tell_stranger(const char* entry) {
  const char* foreign = foreign_name(entry);
  if (foreign != NULL) {
    message_verbose("option %s has no effect: it is of another version", foreign);
    return;
  }
  int length = 0;
  while (length < VARIABLE_CHARS && entry[length] != 0 && entry[length] != '=') { length++; }
  message_warning("unknown option %s%.*s", variable_prefix, length, entry);
}

static void tell_strangers(char* const* environment) {
  for (; *environment != NULL; environment++) {
    const char* name = entry_name(*environment);
    if (name != NULL && !entry_is_option(name)) { tell_stranger(name); }
  }
}

static _Atomic(bool) environment_is_read;  // the first one reads; the others do not wait for it

static COLD void options_read(char* const* environment) {
  for (int i = 0; i < OPTION_COUNT; i++) { read_option(environment, OPTION_AT(i)); }
  if (option_is_enabled(mi_option_verbose)) { tell_strangers(environment); }
}

// A program may allocate before its C library knows the environment: then the constructor asks
// again. That of a set-user-id program is never known.
PRIVATE COLD void options_init(void) {
  char* const* environment = SMALL ? NULL : port_environ();
  if (environment == NULL || exchange_relaxed(&environment_is_read, true)) { return; }
  if (environment_has_any(environment)) { options_read(environment); }
}
