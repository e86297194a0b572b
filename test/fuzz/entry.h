/* What the fuzz targets share: a reader of the input, a failure report, and a `main` for compilers
   without libFuzzer. A target defines FUZZ_NAME and fuzz_one(), and includes this file first.

   An input is a string of bytes. In the tree inputs are text, corpus/NAME.txt: one a line, in
   hexadecimal; `#` starts a comment. Whatever goes wrong, the input is printed as such a line.

   Without libFuzzer the program takes:
     (nothing)            replays the corpus, then --random 300
     FILE...              replays corpora (*.txt) and raw inputs (any other name)
     --random N           makes up N inputs, from the seed 1 or that of --seed, each run in a
                          process of its own, so that what fails repeats
     --seconds S          makes up inputs for so long
     --hex TEXT           replays one line
     --pack FILE...       prints raw inputs as lines; --unpack DIR writes the corpus as files
   Under AFL++ (afl-clang-fast, afl-gcc) the input is read from standard input, many times in one
   process where the compiler knows how. */
#ifndef TEST_FUZZ_ENTRY_H
#define TEST_FUZZ_ENTRY_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FUZZ_INPUT_MAX = 4096 };

static void fuzz_one(void);

/* ---- the input: beyond its end there are zeros ---- */

static struct {
  const uint8_t* at;
  const uint8_t* end;
  const uint8_t* bytes;
  size_t size;
} fuzz_input;

static inline bool fuzz_more(void) { return fuzz_input.at < fuzz_input.end; }

static inline uint8_t fuzz_byte(void) { return fuzz_more() ? *fuzz_input.at++ : 0; }

static inline uint32_t fuzz_u16(void) {
  const uint32_t low = fuzz_byte();
  return low | (uint32_t)fuzz_byte() << 8;
}

static inline uint64_t fuzz_u64(void) {
  uint64_t value = 0;
  for (int i = 0; i < 8; i++) { value = value << 8 | fuzz_byte(); }
  return value;
}

/* ---- failure ---- */

static inline void fuzz_write(const char* text, size_t length) {
  if (write(STDERR_FILENO, text, length) < 0) { /* nowhere to say it: the abort still tells */
  }
}

static inline void fuzz_show_input(void) {
  static const char digits[] = "0123456789abcdef";
  static char line[2 * FUZZ_INPUT_MAX + 1];
  size_t length = 0;
  for (size_t i = 0; i < fuzz_input.size && i < FUZZ_INPUT_MAX; i++) {
    line[length++] = digits[fuzz_input.bytes[i] >> 4];
    line[length++] = digits[fuzz_input.bytes[i] & 15];
  }
  line[length++] = '\n';
  fuzz_write("input: ", 7);
  fuzz_write(line, length);
}

static inline void fuzz_failed(const char* file, int line, const char* text) {
  char message[300];
  const int n = snprintf(message, sizeof(message), "%s:%d: failed: %s\n", file, line, text);
  fuzz_write(message, (size_t)(n < (int)sizeof(message) ? n : (int)sizeof(message) - 1));
  abort();
}

#define FUZZ_CHECK(c) ((c) ? (void)0 : fuzz_failed(__FILE__, __LINE__, #c))

static inline void fuzz_run(const uint8_t* bytes, size_t size) {
  fuzz_input.bytes = fuzz_input.at = bytes;
  fuzz_input.size = size < FUZZ_INPUT_MAX ? size : FUZZ_INPUT_MAX;
  fuzz_input.end = bytes + fuzz_input.size;
  fuzz_one();
}

#ifdef FUZZ_LIBFUZZER

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  fuzz_run(bytes, size);
  return 0;
}

#else

/* A crash names its input, too. */
static void fuzz_crashed(int number) {
  signal(number, SIG_DFL);
  fuzz_show_input();
  raise(number);
}

static unsigned long fuzz_runs;

static void fuzz_count_run(const uint8_t* bytes, size_t size) {
  fuzz_run(bytes, size);
  fuzz_runs++;
}

/* ---- text ---- */

static int fuzz_digit(char c) {
  if (c >= '0' && c <= '9') { return c - '0'; }
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static size_t fuzz_parse(const char* line, uint8_t* bytes) {
  size_t size = 0;
  while (size < FUZZ_INPUT_MAX && fuzz_digit(line[0]) >= 0 && fuzz_digit(line[1]) >= 0) {
    bytes[size++] = (uint8_t)(fuzz_digit(line[0]) << 4 | fuzz_digit(line[1]));
    line += 2;
  }
  return size;
}

typedef void fuzz_use(const uint8_t* bytes, size_t size);

static void fuzz_each_line(const char* path, fuzz_use* use) {
  static char line[2 * FUZZ_INPUT_MAX + 200];
  static uint8_t bytes[FUZZ_INPUT_MAX];
  FILE* file = fopen(path, "r");
  if (file == NULL) {
    perror(path);
    exit(2);
  }
  while (fgets(line, sizeof(line), file) != NULL) {
    if (line[0] != '#' && line[0] != '\n') { use(bytes, fuzz_parse(line, bytes)); }
  }
  fclose(file);
}

static void fuzz_raw(FILE* file, fuzz_use* use) {
  static uint8_t bytes[FUZZ_INPUT_MAX];
  use(bytes, fread(bytes, 1, sizeof(bytes), file));
}

static bool fuzz_is_text(const char* path) {
  const size_t length = strlen(path);
  return length > 4 && strcmp(path + length - 4, ".txt") == 0;
}

static void fuzz_each_of(const char* path, fuzz_use* use) {
  if (fuzz_is_text(path)) {
    fuzz_each_line(path, use);
    return;
  }
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    exit(2);
  }
  fuzz_raw(file, use);
  fclose(file);
}

static const char* fuzz_corpus(void) {
  static char path[1000];
  const char* root = getenv("MI_SOURCE_DIR");
  snprintf(path, sizeof(path), "%s/test/fuzz/corpus/%s.txt", root == NULL ? "." : root, FUZZ_NAME);
  return path;
}

/* ---- made-up inputs ---- */

static void fuzz_run_in_child(const uint8_t* bytes, size_t size) {
  enum { SECONDS_AT_MOST = 60 };
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    alarm(SECONDS_AT_MOST);
    fuzz_run(bytes, size);
    _exit(0);
  }
  if (child < 0 || waitpid(child, &status, 0) != child) {
    perror("fork");
    exit(2);
  }
  if (status != 0) { exit(1); } /* it has said why */
  fuzz_runs++;
}

static uint64_t fuzz_seed = 1;

static uint64_t fuzz_random(void) { /* xorshift64* */
  fuzz_seed ^= fuzz_seed >> 12;
  fuzz_seed ^= fuzz_seed << 25;
  fuzz_seed ^= fuzz_seed >> 27;
  return fuzz_seed * UINT64_C(2685821657736338717);
}

/* Lengths from few bytes to many; half of the bytes are small numbers, as most operations are. */
static void fuzz_make_up(void) {
  static uint8_t bytes[FUZZ_INPUT_MAX];
  const size_t size = 8 + (fuzz_random() >> 33) % ((size_t)16 << (fuzz_random() >> 33) % 8);
  for (size_t i = 0; i < size; i++) {
    const uint64_t r = fuzz_random() >> 32;
    bytes[i] = (uint8_t)(r % 2 == 0 ? r >> 8 : (r >> 8) % 64);
  }
  fuzz_run_in_child(bytes, size);
}

static void fuzz_make_up_for(time_t seconds) {
  const time_t end = time(NULL) + seconds;
  while (time(NULL) < end) { fuzz_make_up(); }
}

/* ---- commands ---- */

static void fuzz_print_line(const uint8_t* bytes, size_t size) {
  for (size_t i = 0; i < size; i++) { printf("%02x", bytes[i]); }
  putchar('\n');
}

static const char* fuzz_folder;

static void fuzz_write_file(const uint8_t* bytes, size_t size) {
  static unsigned number;
  char path[1000];
  snprintf(path, sizeof(path), "%s/%s-%04u", fuzz_folder, FUZZ_NAME, number++);
  FILE* file = fopen(path, "wb");
  if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
    perror(path);
    exit(2);
  }
}

static uint64_t fuzz_number_after(int argc, char** argv, int i) {
  if (i + 1 >= argc) {
    fprintf(stderr, "%s wants a number\n", argv[i]);
    exit(2);
  }
  return strtoull(argv[i + 1], NULL, 10);
}

static int fuzz_one_argument(int argc, char** argv, int i) {
  static uint8_t bytes[FUZZ_INPUT_MAX];
  if (strcmp(argv[i], "--random") == 0) {
    for (uint64_t n = fuzz_number_after(argc, argv, i); n > 0; n--) { fuzz_make_up(); }
    return 2;
  }
  if (strcmp(argv[i], "--seconds") == 0) {
    fuzz_make_up_for((time_t)fuzz_number_after(argc, argv, i));
    return 2;
  }
  if (strcmp(argv[i], "--seed") == 0) {
    fuzz_seed = fuzz_number_after(argc, argv, i) * 2 + 1; /* never 0 */
    return 2;
  }
  if (strcmp(argv[i], "--hex") == 0 && i + 1 < argc) {
    fuzz_count_run(bytes, fuzz_parse(argv[i + 1], bytes));
    return 2;
  }
  if (strcmp(argv[i], "--unpack") == 0 && i + 1 < argc) {
    fuzz_folder = argv[i + 1];
    fuzz_each_line(fuzz_corpus(), fuzz_write_file);
    return 2;
  }
  fuzz_each_of(argv[i], fuzz_count_run);
  return 1;
}

static int fuzz_pack(int argc, char** argv) {
  for (int i = 2; i < argc; i++) { fuzz_each_of(argv[i], fuzz_print_line); }
  return 0;
}

#ifdef __AFL_LOOP
__AFL_FUZZ_INIT();
static int fuzz_afl(void) {
  __AFL_INIT();
  const uint8_t* bytes = __AFL_FUZZ_TESTCASE_BUF;
  while (__AFL_LOOP(2000)) { fuzz_run(bytes, (size_t)__AFL_FUZZ_TESTCASE_LEN); }
  return 0;
}
#else
static int fuzz_afl(void) {
  fuzz_raw(stdin, fuzz_count_run);
  return 0;
}
#endif

int main(int argc, char** argv) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM};
  if (getenv("FUZZ_AFL") != NULL) { return fuzz_afl(); }
  for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
    signal(signals[i], fuzz_crashed);
  }
  if (argc > 1 && strcmp(argv[1], "--pack") == 0) { return fuzz_pack(argc, argv); }
  for (int i = 1; i < argc;) { i += fuzz_one_argument(argc, argv, i); }
  if (argc == 1) {
    fuzz_each_line(fuzz_corpus(), fuzz_count_run);
    for (int i = 0; i < 300; i++) { fuzz_make_up(); }
  }
  printf("%lu inputs\n", fuzz_runs);
  return 0;
}

#endif

#endif
