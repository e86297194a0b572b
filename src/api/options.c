// Options by number. A number that is no option's reads as 0, and setting it does nothing. Each
// function reads the environment first, so that a program that runs before us neither misses nor
// loses what the user asked for.
#include "../../include/mimalloc.h"
#include "../base/attributes.h"
#include "../service/message.h"
#include "../service/options.h"

API long mi_option_get(mi_option_t option) {
  options_init();
  return option_get(option);
}

API long mi_option_get_clamp(mi_option_t option, long min, long max) {
  const long value = mi_option_get(option);
  if (value < min) { return min; }
  return value > max ? max : value;
}

API size_t mi_option_get_size(mi_option_t option) {
  options_init();
  return option_size(option);
}

API bool mi_option_is_enabled(mi_option_t option) { return mi_option_get(option) != 0; }

API void mi_option_set(mi_option_t option, long value) {
  options_init();
  option_tell_idle(option);
  option_set(option, value);
}

API void mi_option_set_default(mi_option_t option, long value) {
  options_init();
  option_tell_idle(option);
  option_set_default(option, value);
}

API void mi_option_set_enabled(mi_option_t option, bool enable) {
  mi_option_set(option, enable ? 1 : 0);
}
API void mi_option_set_enabled_default(mi_option_t option, bool enable) {
  mi_option_set_default(option, enable ? 1 : 0);
}
API void mi_option_enable(mi_option_t option) { mi_option_set_enabled(option, true); }
API void mi_option_disable(mi_option_t option) { mi_option_set_enabled(option, false); }

API void mi_options_print_out(mi_output_fun* out, void* arg) {
  options_init();
  const out_t sink = message_sink(out, arg);
  options_print(&sink);
}

API void mi_options_print(void) { mi_options_print_out(NULL, NULL); }
