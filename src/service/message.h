// Messages: one line each, to the function that the program registered or to standard error.
//
// Legal at any moment: no malloc, stdio, locale or thread-local data, and errno is kept. The text
// of a message has no prefix and no line end; both are added. What is printed:
//   message_printf    always
//   message_verbose   with option verbose
//   message_warning   with option show_errors or verbose, at most max_warnings times
//   message_error     with option show_errors or verbose, at most max_errors times
//   message_fatal     always, and the process ends
//
// A registered function may allocate, and so cause messages and errors itself: no thread enters it
// twice. Those messages, and other threads' messages meanwhile, go straight to standard error, so
// that the output function has one thread at a time. The error function has several, since each
// thread's errors are its own: an error that it is not called for, as its thread is inside, is one
// that nobody was asked about. A thread that leaves by a jump, or ends there, counts as inside
// until the function is registered again.
//
// A hook is a function and its argument, to be read as a pair: a sequence lock of atomic words.
//   [M1]  written by hook_set, read by hook_get: fun and arg; before them the version was odd
//   [M2]  written by hook_set, read by hook_get: the version, even again: both are complete
#ifndef MI_SERVICE_MESSAGE_H
#define MI_SERVICE_MESSAGE_H

#include <errno.h>

#include "../../include/mimalloc.h"
#include "../base/attributes.h"
#include "format.h"

PRIVATE void message_out(const char* text);  // as it is
PRIVATE void message_printf(const char* fmt, ...) PRINTF_LIKE(1, 2);
PRIVATE COLD void message_verbose(const char* fmt, ...) PRINTF_LIKE(1, 2);
PRIVATE COLD void message_warning(const char* fmt, ...) PRINTF_LIKE(1, 2);

// err is EFAULT for corrupted memory, EAGAIN double free, EINVAL invalid pointer, ENOMEM,
// EOVERFLOW. The registered error function is called. The first three end the process if the option
// `corruption` says so, as it does in secure and debug builds unless such a function is registered.
PRIVATE COLD void message_error(int err, const char* fmt, ...) PRINTF_LIKE(2, 3);

// What follows an error, once it has been said what it is.
PRIVATE COLD void message_act(int err);

_Noreturn PRIVATE COLD void message_fatal(const char* fmt, ...) PRINTF_LIKE(1, 2);

PRIVATE void message_register_output(mi_output_fun* fun, void* arg);  // NULL: standard error
PRIVATE void message_register_error(mi_error_fun* fun, void* arg);    // NULL: the default action
// In the child of a fork, where none of the threads is that were in a registered function.
PRIVATE void message_forget_threads(void);

// The caller's function, or the place where messages go if it is NULL.
PRIVATE out_t message_sink(mi_output_fun* fun, void* arg);

#endif
