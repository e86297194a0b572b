/* test: timeout=240 cflags="-fsanitize=thread" */
// Registered functions and their arguments (src/service/message.c): who reads a function gets the
// argument it came with.
#define MI_MODEL_ATOMICS "../../test/model/atomics.h"
#include "../../src/service/format.c"
#include "../../src/service/message.c"

static _Atomic(long) option_values[OPTION_COUNT];
static void port_write_stderr(const char* text, size_t length) {
  MODEL_CHECK(text != NULL && length > 0);
}
static _Noreturn void port_abort(void) { abort(); }
#ifdef MI_PORT_STRICT
HIDDEN THREAD_LOCAL int port_thread_mark; /* what its port_thread_id asks for */
#endif

static int first_argument, second_argument;
static int running;  // calls of a function; plain, so two at a time are a race too

static void first_out(const char* text, void* arg) {
  MODEL_CHECK(text != NULL && arg == &first_argument);
}

static void second_out(const char* text, void* arg) {
  MODEL_CHECK(text != NULL && arg == &second_argument);
}

static void setup(void) {
  store_relaxed(&output_hook.version, 0);
  store_relaxed(&output_hook.fun, NULL);
  store_relaxed(&output_hook.arg, NULL);
  store_relaxed(&in_output[0], 0);
  first_argument = second_argument = running = 0;
  model_state(&output_hook, sizeof(output_hook));
  model_state(in_output, sizeof(in_output));
  model_state(&first_argument, sizeof(first_argument));
  model_state(&second_argument, sizeof(second_argument));
  model_state(&running, sizeof(running));
  model_quiet(option_values, sizeof(option_values));
}

static void setup_first(void) {
  setup();
  message_register_output(first_out, &first_argument);
}

// What the argument points to was written before the registration.
static void register_first(void) {
  first_argument = 1;
  message_register_output(first_out, &first_argument);
}

static void register_second(void) {
  second_argument = 2;
  message_register_output(second_out, &second_argument);
}

static void use(void) {
  void* arg;
  const any_fun_t fun = hook_get(&output_hook, &arg);
  if (fun == (any_fun_t)first_out) { MODEL_CHECK(arg == &first_argument); }
  if (fun == (any_fun_t)second_out) {
    MODEL_CHECK(arg == &second_argument && second_argument == 2);
  }
}

static void use_twice(void) {
  use();
  use();
}
static void message(void) { message_out("text"); }
static void unregister(void) { message_register_output(NULL, NULL); }

static void complete(void) {
  void* arg;
  const any_fun_t fun = hook_get(&output_hook, &arg);
  MODEL_CHECK((load_relaxed(&output_hook.version) & 1) == 0 && load_relaxed(&in_output[0]) == 0);
  MODEL_CHECK(fun != (any_fun_t)first_out || arg == &first_argument);
  MODEL_CHECK(fun != (any_fun_t)second_out || arg == &second_argument);
}

MODEL_MAIN(
    {"register_and_use", setup, {register_second, use_twice}, complete, 4, 2, 5000},
    {"replace_and_use", setup_first, {register_second, use, use}, complete, 2, 1, 20000},
    {"two_writers", setup, {register_first, register_second}, complete, 4, 1, 5000},
    {"two_writers_and_use", setup, {register_first, register_second, use}, complete, 2, 1, 20000},
    {"unregister_and_call",
     setup_first,
     {unregister, message, register_second},
     complete,
     2,
     1,
     20000})
