#include "message.h"

#include <string.h>

#include "../base/atomic.h"
#include "../base/modes.h"
#include "../port/port.h"
#include "options.h"

// ---- hooks ----

typedef void (*any_fun_t)(void);

typedef struct hook_s {
  _Atomic(unsigned) version;  // odd while fun and arg are being written
  _Atomic(any_fun_t) fun;
  _Atomic(void*) arg;
  _Atomic(unsigned) entered;  // how many calls of fun are running
} hook_t;

static hook_t output_hook;
static hook_t error_hook;

enum { HOOK_TRIES = 10000 };  // more: its writer died half-way, in a fork

static void hook_set(hook_t* hook, any_fun_t fun, void* arg) {
  unsigned version = load_relaxed(&hook->version) & ~1u;
  // [M2] in: after another writer's function and argument.
  for (int i = 0; i < HOOK_TRIES && !cas_acquire(&hook->version, &version, version + 1); i++) {
    version &= ~1u;
  }
  store_release(&hook->fun, fun);                      // [M1]
  store_release(&hook->arg, arg);                      // [M1]
  store_release(&hook->version, (version & ~1u) + 2);  // [M2]
}

// Returns NULL if there is no function, or none yet.
static any_fun_t hook_get(hook_t* hook, void** arg) {
  for (int i = 0; i < HOOK_TRIES; i++) {
    const unsigned version = load_acquire(&hook->version);  // [M2]
    const any_fun_t fun = load_acquire(&hook->fun);         // [M1]
    *arg = load_acquire(&hook->arg);                        // [M1]
    if ((version & 1) == 0 && version == load_relaxed(&hook->version)) { return fun; }
  }
  return NULL;
}

// True if nobody is inside; then hook_leave must follow.
static bool hook_enter(hook_t* hook) {
  if (add_relaxed(&hook->entered, 1) == 0) { return true; }
  sub_relaxed(&hook->entered, 1);
  return false;
}

static void hook_leave(hook_t* hook) { sub_relaxed(&hook->entered, 1); }

PRIVATE void message_register_output(mi_output_fun* fun, void* arg) {
  hook_set(&output_hook, (any_fun_t)fun, arg);
}
PRIVATE void message_register_error(mi_error_fun* fun, void* arg) {
  hook_set(&error_hook, (any_fun_t)fun, arg);
}

// ---- output ----

PRIVATE void message_out(const char* text) {
  const int saved = port_errno_keep();
  void* arg;
  mi_output_fun* fun = (mi_output_fun*)hook_get(&output_hook, &arg);
  if (fun != NULL && hook_enter(&output_hook)) {
    fun(text, arg);
    hook_leave(&output_hook);
  } else {
    port_write_stderr(text, strlen(text));
  }
  port_errno_restore(saved);
}

static void out_to_message(const char* text, void* arg) {
  (void)arg;
  message_out(text);
}

PRIVATE out_t message_sink(mi_output_fun* fun, void* arg) {
  return fun != NULL ? (out_t){fun, arg} : (out_t){&out_to_message, NULL};
}

static PRINTF_LIKE(2, 0) void print_line(const char* kind, const char* fmt, va_list args) {
  if (SMALL) { return; }
  char line[LINE_CHARS];
  size_t length = format_text(line, sizeof(line), "mimalloc: %s", kind);
  length += format_into(line + length, sizeof(line) - length - 1, fmt, args);
  line[length] = '\n';
  line[length + 1] = 0;
  message_out(line);
}

PRIVATE void message_printf(const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  print_line("", fmt, args);
  va_end(args);
}

PRIVATE COLD void message_verbose(const char* fmt, ...) {
  if (SMALL || !option_is_enabled(mi_option_verbose)) { return; }
  va_list args;
  va_start(args, fmt);
  print_line("", fmt, args);
  va_end(args);
}

// ---- warnings and errors ----

static _Atomic(long) warnings_seen;
static _Atomic(long) errors_seen;

// May one more of these be printed? The first one over the limit prints a last line in its place.
static bool may_print(_Atomic(long)* seen, mi_option_t limit_option, const char* what) {
  const long limit = option_get(limit_option);
  if (!option_is_enabled(mi_option_show_errors) && !option_is_enabled(mi_option_verbose)) {
    return false;
  }
  if (limit < 0) { return true; }
  const long before = load_relaxed(seen) <= limit ? add_relaxed(seen, 1) : limit + 1;
  if (before == limit && limit > 0) { message_printf("further %s are not shown", what); }
  return before < limit;
}

PRIVATE COLD void message_warning(const char* fmt, ...) {
  if (!may_print(&warnings_seen, mi_option_max_warnings, "warnings")) { return; }
  va_list args;
  va_start(args, fmt);
  print_line("warning: ", fmt, args);
  va_end(args);
}

// False if there is none.
static bool call_error_hook(int err) {
  void* arg;
  mi_error_fun* fun = (mi_error_fun*)hook_get(&error_hook, &arg);
  if (fun == NULL) { return false; }
  if (hook_enter(&error_hook)) {
    fun(err, arg);
    hook_leave(&error_hook);
  }
  return true;
}

// Values of the option `corruption`.
enum { CORRUPTION_GO_ON, CORRUPTION_ABORT_OR_ASK, CORRUPTION_ABORT };

static bool is_misuse(int err) { return err == EFAULT || err == EAGAIN || err == EINVAL; }

static bool misuse_is_shown(void) {
  const long limit = option_get(mi_option_max_errors);
  if (option_get(mi_option_corruption) > CORRUPTION_GO_ON) { return true; }
  return CHECKED_BUILD && (limit < 0 || add_relaxed(&errors_seen, 1) < limit);
}

static bool misuse_is_fatal(bool was_asked) {
  const long policy = option_get(mi_option_corruption);
  return policy >= CORRUPTION_ABORT || (policy == CORRUPTION_ABORT_OR_ASK && !was_asked);
}

PRIVATE COLD void message_act(int err) {
  const bool was_asked = call_error_hook(err);
  if (is_misuse(err) && misuse_is_fatal(was_asked)) { port_abort(); }
}

PRIVATE COLD void message_error(int err, const char* fmt, ...) {
  const int saved = port_errno_keep();
  const bool misuse = is_misuse(err);
  if ((misuse && misuse_is_shown()) || may_print(&errors_seen, mi_option_max_errors, "errors")) {
    va_list args;
    va_start(args, fmt);
    print_line("error: ", fmt, args);
    va_end(args);
  }
  message_act(err);
  port_errno_restore(saved);
}

_Noreturn PRIVATE COLD void message_fatal(const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  print_line("fatal: ", fmt, args);
  va_end(args);
  port_abort();
}
