#include <mimalloc.h>
#include <string.h>

/* The library's messages into a buffer of the program; it must not allocate. */
static void keep(const char* text, void* arg) { strncat(arg, text, 4095 - strlen(arg)); }

int main(void) {
  static char messages[4096];
  mi_register_output(keep, messages);
  mi_process_info_print();
  mi_register_output(NULL, NULL); /* standard error again */

  size_t resident = 0, peak = 0;
  mi_process_info(NULL, NULL, NULL, &resident, &peak, NULL, NULL, NULL);
  mi_collect(true); /* before a long wait: gives unused memory back */
  return messages[0] != 0 && resident > 0 && peak >= resident ? 0 : 1;
}
