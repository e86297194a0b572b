/* test: cflags="-Wno-unused-function" libs="pthread" when="threads jumps" */
/* Messages: where they go, how many, hooks that cause messages, errno (on Windows the last error),
 * and which errors end the process. */
#include "fake_port.h"

#include <pthread.h>

#include "../../src/service/format.c"
#include "../../src/service/options.c"
#include "../../src/service/message.c"

#include "../check.h"

static char hooked[4096];

static void append(const char* text, void* arg) {
  strcat(hooked, text);
  CHECK(arg == &hooked);
}

static void chatty(const char* text, void* arg) {
  append(text, arg);
  message_printf("from inside");
  port_errno_restore(EIO);
}

static void test_output(void) {
  port_errno_restore(EDOM);
  message_printf("%d and %s", 1, "two");
  CHECK(strcmp(fake_port_written(), "mimalloc: 1 and two\n") == 0);
  message_register_output(&append, &hooked);
  message_printf("three");
  message_out("four\n");
  CHECK(strcmp(hooked, "mimalloc: three\nfour\n") == 0 && *fake_port_written() == 0);
  message_register_output(&chatty, &hooked);
  message_printf("five");
  CHECK(strcmp(fake_port_written(), "mimalloc: from inside\n") == 0);
  message_register_output(NULL, NULL);
  message_printf("six");
  CHECK(strcmp(fake_port_written(), "mimalloc: six\n") == 0);
  CHECK(port_errno_keep() == EDOM);
}

static void test_long_line(void) {
  char text[2 * LINE_CHARS];
  memset(text, 'x', sizeof(text) - 1);
  text[sizeof(text) - 1] = 0;
  message_printf("%s", text);
  const char* line = fake_port_written();
  CHECK(strlen(line) == LINE_CHARS - 1 && line[LINE_CHARS - 2] == '\n');
}

static void test_switches(void) {
  option_set(mi_option_show_errors, 0);
  message_verbose("no");
  message_warning("no");
  message_error(ENOMEM, "no");
  CHECK(*fake_port_written() == 0);
  option_set(mi_option_verbose, 1);
  message_verbose("a");
  message_warning("b");
  CHECK(strcmp(fake_port_written(), "mimalloc: a\nmimalloc: warning: b\n") == 0);
  option_set(mi_option_verbose, 0);
}

static void test_limits(void) {
  option_set(mi_option_show_errors, 1);
  option_set(mi_option_max_errors, 3);
  for (int i = 0; i < 10; i++) { message_error(ENOMEM, "number %d", i); }
  const char* text = fake_port_written();
  CHECK(count_of(text, "\n") == 4 && count_of(text, "mimalloc: error: number") == 3);
  CHECK(strstr(text, "number 2\nmimalloc: further errors are not shown\n") != NULL);
  option_set(mi_option_max_errors, -1);
  message_error(ENOMEM, "again");
  CHECK(*fake_port_written() != 0);
  option_set(mi_option_max_warnings, 0);
  store_relaxed(&warnings_seen, 0);
  message_warning("no");
  CHECK(*fake_port_written() == 0);
}

/* What a checked build shows unasked is limited, too, and counted once. */
static void test_limit_of_misuse(void) {
  option_set(mi_option_corruption, 0);
  option_set(mi_option_max_errors, 3);
  for (int shown = 0; shown < 2; shown++) {
    option_set(mi_option_show_errors, shown);
    store_relaxed(&errors_seen, 0);
    for (int i = 0; i < 10; i++) { message_error(EINVAL, "number %d", i); }
    const char* text = fake_port_written();
    const size_t expected = CHECKED_BUILD || shown ? 1 : 0;
    CHECK(count_of(text, "mimalloc: error: number") == expected * 3);
    CHECK(count_of(text, "mimalloc: further errors are not shown\n") == expected);
    CHECK(load_relaxed(&errors_seen) == (long)expected * 4);
  }
  option_set(mi_option_corruption, CHECKED_BUILD);
  option_set(mi_option_max_errors, -1);
}

static int last_error;

static void on_error(int err, void* arg) {
  last_error = err;
  CHECK(arg == &last_error);
  message_error(ENOMEM, "inside"); /* must not come back here */
  port_errno_restore(EIO);
}

static void test_error_hook(void) {
  message_register_error(&on_error, &last_error);
  port_errno_restore(EDOM);
  message_error(EFAULT, "corrupt"); /* does not end the process: the hook decides */
  CHECK(last_error == EFAULT && port_errno_keep() == EDOM);
  CHECK(count_of(fake_port_written(), "\n") == 2);
  message_register_error(NULL, NULL);
}

static bool ends_process(int err) {
  static jmp_buf here;
  volatile bool ended = true;
  fake_port.abort_to = &here;
  if (setjmp(here) == 0) {
    if (err == 0) { message_fatal("all is %s", "lost"); }
    message_error(err, "bad");
    ended = false;
  }
  fake_port.abort_to = NULL;
  return ended;
}

static void test_endings(void) {
  option_set(mi_option_show_errors, 0);
  CHECK(!ends_process(ENOMEM));
  CHECK(*fake_port_written() == 0);
  static const int misuse[] = {EINVAL, EAGAIN, EFAULT};
  for (int i = 0; i < 3; i++) {
    CHECK(ends_process(misuse[i]) == CHECKED_BUILD);
    CHECK(strcmp(fake_port_written(), CHECKED_BUILD ? "mimalloc: error: bad\n" : "") == 0);
  }
  CHECK(ends_process(0));
  CHECK(strcmp(fake_port_written(), "mimalloc: fatal: all is lost\n") == 0);
}

static void ignore_error(int err, void* arg) { (void)err, (void)arg; }

/* The option `corruption`: go on; abort or leave it to the function; abort. */
static void test_policies(void) {
  option_set(mi_option_max_errors, -1);
  option_set(mi_option_corruption, 0);
  CHECK(!ends_process(EFAULT));
  CHECK(strcmp(fake_port_written(), CHECKED_BUILD ? "mimalloc: error: bad\n" : "") == 0);
  option_set(mi_option_corruption, 1);
  CHECK(ends_process(EAGAIN) && !ends_process(ENOMEM));
  message_register_error(&ignore_error, NULL);
  CHECK(!ends_process(EAGAIN) && !ends_process(EFAULT));
  option_set(mi_option_corruption, 2);
  CHECK(ends_process(EINVAL) && !ends_process(ENOMEM));
  message_register_error(NULL, NULL);
  (void)fake_port_written();
}

/* ---- who is asked ---- */

static _Atomic(int) errors_asked;
static pthread_barrier_t in_hook;
static jmp_buf out_of_hook;

static void wait_there(void) {
  pthread_barrier_wait(&in_hook); /* it is inside */
  pthread_barrier_wait(&in_hook); /* it may leave */
}

static void on_error_slowly(int err, void* arg) {
  (void)arg;
  add_relaxed(&errors_asked, 1);
  if (err == EOVERFLOW) { wait_there(); }
}

static void* err_in_thread(void* unused) {
  message_error(EOVERFLOW, "slow");
  return unused;
}

/* Another thread's stay in the function is no answer to this one's errors. */
static void test_others_inside(void) {
  pthread_t thread;
  message_register_error(&on_error_slowly, NULL);
  pthread_barrier_init(&in_hook, NULL, 2);
  CHECK(pthread_create(&thread, NULL, &err_in_thread, NULL) == 0);
  pthread_barrier_wait(&in_hook);
  CHECK(!ends_process(EAGAIN) && errors_asked == 2);
  pthread_barrier_wait(&in_hook);
  pthread_join(thread, NULL);
  CHECK(!ends_process(EAGAIN) && errors_asked == 3);
}

static void on_error_misuse(int err, void* arg) {
  (void)err, (void)arg;
  message_error(EAGAIN, "inside");
}

static void on_error_leave(int err, void* arg) {
  (void)err, (void)arg;
  longjmp(out_of_hook, 1);
}

static void leave_hook(void) {
  message_register_error(&on_error_leave, NULL);
  if (setjmp(out_of_hook) == 0) { message_error(ENOMEM, "left"); }
}

/* Where the function cannot be called nobody has been asked: from inside it, and in a thread that
   left it otherwise than by a return, until it is registered again. */
static void test_nobody_asked(void) {
  message_register_error(&on_error_misuse, NULL);
  CHECK(ends_process(ENOMEM));
  leave_hook();
  CHECK(ends_process(EAGAIN));
  errors_asked = 0;
  message_register_error(&on_error_slowly, NULL);
  CHECK(!ends_process(EAGAIN) && errors_asked == 1);
}

static void test_asking(void) {
  option_set(mi_option_corruption, 1);
  test_others_inside();
  test_nobody_asked();
  message_register_error(NULL, NULL);
  option_set(mi_option_corruption, CHECKED_BUILD);
  (void)fake_port_written();
}

static void output_slowly(const char* text, void* arg) {
  if (strcmp(text, "slow") == 0) {
    wait_there();
  } else {
    append(text, arg);
  }
}

static void* print_in_thread(void* unused) {
  message_out("slow");
  return unused;
}

/* One thread at a time is in the output function; in the child of a fork no other is. */
static void test_fork_inside(void) {
  pthread_t thread;
  message_register_output(&output_slowly, &hooked);
  hooked[0] = 0;
  CHECK(pthread_create(&thread, NULL, &print_in_thread, NULL) == 0);
  pthread_barrier_wait(&in_hook);
  message_out("a");
  CHECK(strcmp(fake_port_written(), "a") == 0 && *hooked == 0);
  message_forget_threads();
  message_out("b");
  CHECK(*fake_port_written() == 0 && strcmp(hooked, "b") == 0);
  pthread_barrier_wait(&in_hook);
  pthread_join(thread, NULL);
  message_register_output(NULL, NULL);
}

/* A hook's function and argument never come from two registrations. */
static char arg_a, arg_b;
static _Atomic(int) mixed;
static _Atomic(bool) registering = true;
static void hook_a(const char* text, void* arg) {
  if (text == NULL || arg != &arg_a) { add_relaxed(&mixed, 1); }
}
static void hook_b(const char* text, void* arg) {
  if (text == NULL || arg != &arg_b) { add_relaxed(&mixed, 1); }
}

static void* register_in_turn(void* unused) {
  for (int i = 0; i < 1000000; i++) {
    message_register_output(&hook_a, &arg_a);
    message_register_output(&hook_b, &arg_b);
  }
  store_relaxed(&registering, false);
  return unused;
}

static void test_registering_meanwhile(void) {
  pthread_t thread;
  message_register_output(&hook_a, &arg_a);
  CHECK(pthread_create(&thread, NULL, &register_in_turn, NULL) == 0);
  while (load_relaxed(&registering)) {
    message_out("x");
    fake_port.written_length = 0;
  }
  pthread_join(thread, NULL);
  CHECK(load_relaxed(&mixed) == 0);
  message_register_output(NULL, NULL);
}

int main(void) {
  test_output();
  test_long_line();
  test_switches();
  test_limits();
  test_limit_of_misuse();
  test_error_hook();
  test_endings();
  test_policies();
  test_asking();
  test_fork_inside();
  test_registering_meanwhile();
  return check_done();
}
