// Commits all misuses of a table, each in a process of its own, and compares how they end with what
// a column of the table says. See the head of expected.txt for the table.
//   runner [OPTIONS] CASES        CASES: the program of misuse.c
//     --table FILE     the table
//     --column NAME    of the table. Without it nothing is compared: prints how each case ends,
//                      CASE SIZE FROM OUTCOME, for a table of peers
//     --preload LIBS   preloads libraries, in CASES only
//     --env NAME=VALUE sets a variable, in CASES only
//     --wrap COMMAND   CASES runs under this: a path, and options separated by spaces
//     --found N        exit status N says that the tool around CASES found something
//     --only PATTERN   only cases that match; shell wildcards
//     --skip PATTERN   not these
//     --skip-size NAME not those on blocks of this size
//     --runs N         each case so many times
//     --jobs N         so many at once (2)
//     --seconds N      a case may take so long (60)
// Exit status 1 if a case ends otherwise than it should.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STATUS_HARMFUL = 99, STATUS_NOT_HERE = 98, STATUS_WRONG_USE = 97 };
enum { JOBS_MAX = 20000, ARGS_MAX = 32, ENV_MAX = 16, TEXT_MAX = 8000, FIELDS_MAX = 16 };

typedef enum outcome {
  HARMLESS,
  IGNORED,
  ABORT,
  FAULT,
  FOUND,
  HARMFUL,
  HANG,
  NOT_HERE,
  BROKEN,
  OUTCOMES,
} outcome_t;
static const char* const outcome_names[OUTCOMES] = {
    "harmless", "ignored", "abort", "fault", "found", "harmful", "hang", "not-here", "broken"};

typedef struct job {
  char *name, *size, *from, *expected, *words;
  outcome_t outcome;
  char text[400];  // what was said last
  bool is_right;
} job_t;

static job_t jobs[JOBS_MAX];
static int job_count, next_job;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static const char *table_path, *column, *preload, *only = "*", *skip = "", *skip_size = "", *wrap,
                                                  *program;
static char* environment[ENV_MAX];
static int environment_count, found = -1, runs = 1, threads = 2, seconds = 60;

static void die(const char* what, const char* which) {
  fprintf(stderr, "runner: %s: %s\n", what, which);
  exit(2);
}

// ---- The table
// -----------------------------------------------------------------------------------

static const char* bytes_of(const char* size) {
  static const char* const names[][2] = {{"5M", "5242880"}, {"100K", "100000"}, {"8K", "8192"}};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    if (strcmp(size, names[i][0]) == 0) { return names[i][1]; }
  }
  return size;
}

static bool is_in_list(const char* list, const char* word) {
  const size_t length = strlen(word);
  for (const char* at = list; (at = strstr(at, word)) != NULL; at++) {
    if ((at == list || at[-1] == ',') && (at[length] == 0 || at[length] == ',')) { return true; }
  }
  return false;
}

// A cell: what is expected, then ;SIZES=… for sizes of which something else is.
static char* expected_for(const char* cell, const char* size) {
  char* rest = strdup(cell);
  char* expected = strsep(&rest, ";");
  for (char* more; (more = strsep(&rest, ";")) != NULL;) {
    char* sizes = strsep(&more, "=");
    if (more == NULL) { die("a cell is not understood", cell); }
    if (is_in_list(sizes, size)) { expected = more; }
  }
  return expected;
}

static void add_jobs(char** field, const char* cell, char* words) {
  if (fnmatch(only, field[0], 0) != 0 || fnmatch(skip, field[0], 0) == 0) { return; }
  for (char *rest = strdup(field[1]), *size; (size = strsep(&rest, ",")) != NULL;) {
    char* expected = expected_for(cell, size);
    if (strcmp(expected, "-") == 0 || strcmp(size, skip_size) == 0) { continue; }
    for (char *whose = strdup(field[2]), *from; (from = strsep(&whose, ",")) != NULL;) {
      for (int i = 0; i < runs; i++) {
        if (job_count == JOBS_MAX) { die("too many cases", table_path); }
        jobs[job_count++] = (job_t){
            .name = field[0], .size = size, .from = from, .expected = expected, .words = words};
      }
    }
  }
}

static int split(char* line, char** field) {
  int count = 0;
  for (char* rest = line; count < FIELDS_MAX;) {
    char* word = strsep(&rest, " \t\n");
    if (word == NULL) { break; }
    if (word[0] != 0) { field[count++] = word; }
  }
  return count;
}

// The first line that is no comment names the columns: case sizes from … words.
static void read_table(void) {
  FILE* file = fopen(table_path, "r");
  char line[1000], *head[FIELDS_MAX];
  int columns = 0, chosen = -1;
  if (file == NULL) { die("cannot read", table_path); }
  while (fgets(line, sizeof(line), file) != NULL) {
    char* field[FIELDS_MAX];
    if (line[0] == '#' || line[0] == '\n') { continue; }
    line[strcspn(line, "#")] = 0;
    const int count = split(strdup(line), field);
    if (columns == 0) {
      columns = count;
      memcpy(head, field, sizeof(head));
      for (int i = 3; column != NULL && i < count - 1; i++) {
        if (strcmp(head[i], column) == 0) { chosen = i; }
      }
      if (column != NULL && chosen < 0) { die("the table has no column", column); }
      continue;
    }
    if (count != columns) { die("a row of the table lacks columns", line); }
    add_jobs(field, column == NULL ? "" : field[chosen], field[count - 1]);
  }
  fclose(file);
}

// ---- One misuse
// -----------------------------------------------------------------------------------

static void exec_misuse(const job_t* job, int output) {
  char *args[ARGS_MAX], *rest = wrap == NULL ? NULL : strdup(wrap), *word;
  int count = 0;
  const struct rlimit none = {0, 0};
  setpgid(0, 0);
  setrlimit(RLIMIT_CORE, &none);
  dup2(output, 2);
  if (dup2(open("/dev/null", O_WRONLY), 1) < 0) { _exit(STATUS_WRONG_USE); }
  for (int i = 0; i < environment_count; i++) { putenv(environment[i]); }
  if (preload != NULL) { setenv("LD_PRELOAD", preload, 1); }
  while (count < ARGS_MAX - 5 && (word = strsep(&rest, " ")) != NULL) { args[count++] = word; }
  args[count++] = (char*)program;
  args[count++] = job->name;
  args[count++] = (char*)bytes_of(job->size);
  args[count++] = job->from;
  args[count] = NULL;
  execvp(args[0], args);
  _exit(STATUS_WRONG_USE);
}

static long now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// What it says, up to the end of it or of the time; false: it was the time.
static bool read_all(int from, char* text, long limit_ms) {
  const long end = now_ms() + limit_ms;
  size_t length = 0;
  char rest[4096];
  text[0] = 0;
  for (;;) {
    struct pollfd wait = {.fd = from, .events = POLLIN};
    const long left = end - now_ms();
    if (left <= 0 || poll(&wait, 1, (int)left) == 0) { return false; }
    char* to = length < TEXT_MAX ? text + length : rest;
    const ssize_t got = read(from, to, length < TEXT_MAX ? TEXT_MAX - length : sizeof(rest));
    if (got <= 0) { return true; }
    if (to != rest) { length += (size_t)got; }
    text[length] = 0;
  }
}

static bool matches(const char* text, const char* pattern) {
  regex_t regex;
  if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB | REG_ICASE) != 0) {
    die("no regular expression", pattern);
  }
  const bool yes = regexec(&regex, text, 0, NULL, 0) == 0;
  regfree(&regex);
  return yes;
}

static outcome_t outcome_of(int status, const job_t* job, const char* text) {
  if (WIFSIGNALED(status)) {
    const int s = WTERMSIG(status);
    return s == SIGSEGV || s == SIGBUS ? FAULT : s == SIGKILL ? BROKEN : ABORT;
  }
  switch (WEXITSTATUS(status)) {
    case 0: return matches(text, job->words) ? IGNORED : HARMLESS;
    case STATUS_HARMFUL: return HARMFUL;
    case STATUS_NOT_HERE: return NOT_HERE;
  }
  return WEXITSTATUS(status) == found ? FOUND : BROKEN;
}

static bool is_in_group(outcome_t outcome, const char* word) {
  if (strcmp(word, "stopped") == 0) { return outcome == ABORT || outcome == FAULT; }
  if (strcmp(word, "safe") == 0) { return outcome <= FAULT; }
  return strcmp(word, outcome_names[outcome]) == 0;
}

// Expected is OUTCOME[:REGEX][/OUTCOME…]; without a REGEX the row's words must be there where the
// allocator ends the program.
static bool is_expected(const job_t* job, const char* text) {
  char* copy = strdup(job->expected);
  bool right = false;
  for (char *rest = copy, *word; !right && (word = strsep(&rest, "/")) != NULL;) {
    char* pattern = strchr(word, ':');
    if (pattern != NULL) { *pattern++ = 0; }
    if (pattern == NULL && job->outcome == ABORT) { pattern = job->words; }
    right = is_in_group(job->outcome, word) && (pattern == NULL || matches(text, pattern));
  }
  free(copy);
  return right;
}

static void keep_last_line(job_t* job, const char* text) {
  size_t end = strlen(text);
  while (end > 0 && text[end - 1] == '\n') { end--; }
  size_t start = end;
  while (start > 0 && text[start - 1] != '\n') { start--; }
  snprintf(job->text, sizeof(job->text), "%.*s", (int)(end - start), text + start);
}

static void run_job(job_t* job) {
  char text[TEXT_MAX + 1];
  int ends[2], status = 0;
  if (pipe2(ends, O_CLOEXEC) != 0) { die("no pipe", strerror(errno)); }
  const pid_t child = fork();
  if (child == 0) { exec_misuse(job, ends[1]); }
  close(ends[1]);
  const bool ended = child > 0 && read_all(ends[0], text, 1000L * seconds);
  if (!ended && child > 0) { kill(-child, SIGKILL); }
  close(ends[0]);
  if (child < 0 || waitpid(child, &status, 0) != child) { die("no process", strerror(errno)); }
  job->outcome = ended ? outcome_of(status, job, text) : HANG;
  job->is_right = is_expected(job, text);
  keep_last_line(job, text);
}

static void* work(void* arg) {
  for (;;) {
    pthread_mutex_lock(&mutex);
    const int i = next_job < job_count ? next_job++ : -1;
    pthread_mutex_unlock(&mutex);
    if (i < 0) { return arg; }
    run_job(&jobs[i]);
  }
}

// ---- main
// ----------------------------------------------------------------------------------------

static int report(void) {
  int wrong = 0, count[OUTCOMES] = {0};
  for (int i = 0; i < job_count; i++) {
    const job_t* j = &jobs[i];
    count[j->outcome]++;
    if (column == NULL) {
      printf("%s %s %s %s\n", j->name, j->size, j->from, outcome_names[j->outcome]);
    } else if (!j->is_right) {
      wrong++;
      printf("%s %s %s: expected %s%s%s, was %s: %s\n", j->name, j->size, j->from, j->expected,
             strcmp(j->words, ".") == 0 ? "" : ", words ",
             strcmp(j->words, ".") == 0 ? "" : j->words, outcome_names[j->outcome], j->text);
    }
  }
  if (column != NULL) {
    printf("%s: %d cases, %d not as expected;", column, job_count, wrong);
    for (int i = 0; i < OUTCOMES; i++) {
      if (count[i] > 0) { printf(" %d %s", count[i], outcome_names[i]); }
    }
    printf("\n");
  }
  return wrong > 0 || job_count == 0 ? 1 : 0;
}

typedef struct option {
  const char* name;
  const char** text;
  int* number;
} option_t;

static const option_t options[] = {
    {"--table", &table_path, NULL},    {"--column", &column, NULL},
    {"--preload", &preload, NULL},     {"--wrap", &wrap, NULL},
    {"--only", &only, NULL},           {"--skip", &skip, NULL},
    {"--found", NULL, &found},         {"--runs", NULL, &runs},
    {"--jobs", NULL, &threads},        {"--seconds", NULL, &seconds},
    {"--skip-size", &skip_size, NULL},
};

static void read_option(const char* name, char* value) {
  if (strcmp(name, "--env") == 0 && environment_count < ENV_MAX) {
    environment[environment_count++] = value;
    return;
  }
  for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
    const option_t* o = &options[i];
    if (strcmp(o->name, name) == 0) {
      if (o->text != NULL) { *o->text = value; }
      if (o->number != NULL) { *o->number = atoi(value); }
      return;
    }
  }
  die("unknown option", name);
}

int main(int argc, char** argv) {
  pthread_t workers[64];
  int i = 1;
  for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
    read_option(argv[i], argv[i + 1]);
  }
  if (i + 1 != argc || table_path == NULL || threads < 1 || threads > 64) {
    die("wrong use", "see the head of runner.c");
  }
  program = argv[i];
  read_table();
  for (int t = 0; t < threads; t++) { pthread_create(&workers[t], NULL, work, NULL); }
  for (int t = 0; t < threads; t++) { pthread_join(workers[t], NULL); }
  return report();
}
