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

// ---- who is in a registered function ----

typedef _Atomic(uintptr_t) inside_t;  // a thread; 0: none

enum { OUTPUT_THREADS = 1, ERROR_THREADS = 16 };  // that may be inside at a time
static inside_t in_output[OUTPUT_THREADS], in_error[ERROR_THREADS];

static void forget_inside(inside_t* inside, int most) {
  for (int i = 0; i < most; i++) { store_relaxed(&inside[i], 0); }
}

PRIVATE void message_forget_threads(void) {
  forget_inside(in_output, OUTPUT_THREADS);
  forget_inside(in_error, ERROR_THREADS);
}

// Returns false if it is another by now.
static bool inside_turn(inside_t* inside, uintptr_t from, uintptr_t to) {
  uintptr_t found = from;
  while (found == from && !cas_relaxed(inside, &found, to)) {}
  return found == from;
}

// False if the thread is inside, or there is no room; else `go_out` must follow.
static bool go_in(inside_t* inside, int most) {
  const uintptr_t self = port_thread_id();
  for (int i = 0; i < most; i++) {
    if (load_relaxed(&inside[i]) == self) { return false; }
  }
  for (int i = 0; i < most; i++) {
    if (inside_turn(&inside[i], 0, self)) { return true; }
  }
  return false;
}

// It may have been forgotten meanwhile.
static void go_out(inside_t* inside, int most) {
  for (int i = 0; i < most; i++) { (void)inside_turn(&inside[i], port_thread_id(), 0); }
}

PRIVATE void message_register_output(mi_output_fun* fun, void* arg) {
  hook_set(&output_hook, (any_fun_t)fun, arg);
  forget_inside(in_output, OUTPUT_THREADS);
}
PRIVATE void message_register_error(mi_error_fun* fun, void* arg) {
  hook_set(&error_hook, (any_fun_t)fun, arg);
  forget_inside(in_error, ERROR_THREADS);
}

// ---- output ----

PRIVATE void message_out(const char* text) {
  const int saved = port_errno_keep();
  void* arg;
  mi_output_fun* fun = (mi_output_fun*)hook_get(&output_hook, &arg);
  if (fun != NULL && go_in(in_output, OUTPUT_THREADS)) {
    fun(text, arg);
    go_out(in_output, OUTPUT_THREADS);
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

static bool are_wanted(void) {
  return option_is_enabled(mi_option_show_errors) || option_is_enabled(mi_option_verbose);
}

// May one more of these be printed? The first one over the limit prints a last line in its place.
static bool may_print(_Atomic(long)* seen, mi_option_t limit_option, const char* what) {
  const long limit = option_get(limit_option);
  if (limit < 0) { return true; }
  const long before = load_relaxed(seen) <= limit ? add_relaxed(seen, 1) : limit + 1;
  if (before == limit && limit > 0) { message_printf("further %s are not shown", what); }
  return before < limit;
}

PRIVATE COLD void message_warning(const char* fmt, ...) {
  if (!are_wanted() || !may_print(&warnings_seen, mi_option_max_warnings, "warnings")) { return; }
  va_list args;
  va_start(args, fmt);
  print_line("warning: ", fmt, args);
  va_end(args);
}

// False if it was not called.
static bool call_error_hook(int err) {
  void* arg;
  mi_error_fun* fun = (mi_error_fun*)hook_get(&error_hook, &arg);
  if (fun == NULL || !go_in(in_error, ERROR_THREADS)) { return false; }
  fun(err, arg);
  go_out(in_error, ERROR_THREADS);
  return true;
}

// Values of the option `corruption`.
enum { CORRUPTION_GO_ON, CORRUPTION_ABORT_OR_ASK, CORRUPTION_ABORT };

static bool is_misuse(int err) { return err == EFAULT || err == EAGAIN || err == EINVAL; }

static bool is_shown(bool misuse) {
  if (misuse && option_get(mi_option_corruption) > CORRUPTION_GO_ON) { return true; }
  return ((misuse && CHECKED_BUILD) || are_wanted()) &&
         may_print(&errors_seen, mi_option_max_errors, "errors");
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
  if (is_shown(is_misuse(err))) {
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
