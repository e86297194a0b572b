/* test: timeout=60 when="release linux" not-emulated="the emulator shows no flags of mappings"
   The first long block of a program lies in huge pages, as later ones do, also where the program
   has nearly nothing else: what a page of small blocks has that was never handed out is little
   beside it. Else a small program that works with one buffer at a time has it in small pages for
   good. It is so too if it is the first block of all. */
#include "../lifecycle/process.h"
#include "api.h"
#include "huge_advice.h"

static bool has_huge_pages(void) {
  char line[100] = "";
  FILE* file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
  if (file == NULL) { return false; }
  const bool is_read = fgets(line, sizeof(line), file) != NULL;
  fclose(file);
  return is_read && strstr(line, "[never]") == NULL;
}

enum { LENGTH = 16 * MIB };

/* In a process that has allocated nothing yet. */
static int first_of_all(void) {
  void* block = mi_malloc(LENGTH);
  const bool is_huge = huge_advice_now().bytes >= LENGTH - HUGE;
  mi_free(block);
  return block != NULL && is_huge ? 0 : 1;
}

int main(void) {
  const int first = in_child(first_of_all, 30);
  if (!has_huge_pages()) { return skip("no huge pages here"); }
  CHECK(first == 0);
  const size_t before = huge_advice_now().bytes;
  void* small = mi_malloc(1000);
  void* block = mi_malloc(LENGTH);
  CHECK(small != NULL && block != NULL);
  CHECK(huge_advice_now().bytes >= before + LENGTH - HUGE);
  mi_free(block);
  mi_free(small);
  return check_done();
}
