/* test: timeout=60 when="linux threads posix"
   Process and thread functions: version, process information, collecting from any thread, init and
   done. POSIX does not say how much memory a process has: not on the port that knows no more. */
#define _GNU_SOURCE 1
#include "api.h"

#include <pthread.h>
#include <sys/mman.h>

static void test_version(void) {
  CHECK(mi_version() == MI_MALLOC_VERSION);
  CHECK(mi_version() == 30600 && MI_MALLOC_VERSION == 30600); /* the interface level is 3.6 */
}

static void test_process_info(void) {
  char* p = mi_malloc(20 * MIB);
  memset(p, 1, 20 * MIB);
  size_t elapsed = 0;
  size_t user = 0;
  size_t system = 0;
  size_t rss = 0;
  size_t peak_rss = 0;
  size_t commit = 0;
  size_t peak_commit = 0;
  size_t faults = 0;
  mi_process_info(&elapsed, &user, &system, &rss, &peak_rss, &commit, &peak_commit, &faults);
  CHECK(rss >= 20 * MIB && peak_rss >= 20 * MIB && commit >= 20 * MIB && peak_commit >= commit);
  CHECK(rss < 2000 * (size_t)MIB && user < 100000 && system < 100000 && elapsed < 100000);
  mi_free(p);
  usleep(20000);
  size_t later = 0;
  mi_process_info(&later, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
  CHECK(later >= elapsed + 15);
  mi_process_info(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}

/* Faults that needed no disk count too, and those of threads that have ended. */
enum { PAGES = 10, FAULTING_THREADS = 100 };

static void* touch_pages(void* unused) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* fresh =
      mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) { return unused; }
  madvise(fresh, PAGES * page, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < PAGES; i++) { ((volatile char*)fresh)[i * page] = 1; }
  munmap(fresh, PAGES * page);
  return unused;
}

static size_t faults_now(void) {
  size_t faults = 0;
  mi_process_info(NULL, NULL, NULL, NULL, NULL, NULL, NULL, &faults);
  return faults;
}

static void test_page_faults(void) {
  const size_t before = faults_now();
  for (int i = 0; i < FAULTING_THREADS; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, touch_pages, NULL) == 0);
    pthread_join(thread, NULL);
  }
  CHECK(faults_now() - before >= (size_t)PAGES * FAULTING_THREADS);
}

static void* idempotent(void* arg) {
  (void)arg;
  mi_thread_init();
  mi_thread_init();
  void* p = mi_malloc(100);
  mi_thread_set_in_threadpool();
  fill(p, 100, 1);
  mi_thread_done();
  mi_thread_done();
  CHECK(is_filled(p, 100, 1));
  void* q = mi_malloc(3000); /* goes on after its end */
  CHECK(q != NULL);
  fill(q, 3000, 2);
  mi_free(p);
  mi_thread_init();
  void* r = mi_malloc(100);
  CHECK(r != NULL && is_filled(q, 3000, 2));
  mi_free(r);
  mi_free(q);
  mi_thread_done();
  return NULL;
}

static void test_thread_init_done(void) {
  for (int i = 0; i < 20; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, idempotent, NULL) == 0);
    pthread_join(thread, NULL);
  }
  idempotent(NULL); /* the first thread too */
}

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int stage;
  void* blocks[300];
} holder_t;

static void wait_for_stage(holder_t* h, int stage) {
  pthread_mutex_lock(&h->lock);
  while (h->stage < stage) { pthread_cond_wait(&h->changed, &h->lock); }
  pthread_mutex_unlock(&h->lock);
}

static void set_stage(holder_t* h, int stage) {
  pthread_mutex_lock(&h->lock);
  h->stage = stage;
  pthread_cond_broadcast(&h->changed);
  pthread_mutex_unlock(&h->lock);
}

static void* hold(void* arg) {
  holder_t* h = arg;
  for (size_t i = 0; i < 300; i++) {
    h->blocks[i] = mi_malloc(256 * KIB);
    memset(h->blocks[i], 1, 256 * KIB);
  }
  for (size_t i = 0; i < 300; i++) { mi_free(h->blocks[i]); }
  set_stage(h, 1);
  wait_for_stage(h, 2);
  return NULL;
}

/* What another, living thread freed goes back when anyone collects. */
static void test_collect_from_any_thread(void) {
  static holder_t h = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
  const size_t before = resident_bytes();
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, hold, &h) == 0);
  wait_for_stage(&h, 1);
  mi_collect(true);
  CHECK(resident_bytes() < before + 8 * MIB); /* of 75 */
  set_stage(&h, 2);
  pthread_join(thread, NULL);
}

static void test_collect(void) {
  const size_t before = resident_bytes();
  char* keep = mi_malloc(1000);
  fill(keep, 1000, 1);
  for (size_t size = 1000; size <= 32 * MIB; size *= 32) {
    enum { TOTAL = 32 * 1024 * 1024 };
    static void* blocks[TOTAL / 1000];
    const size_t n = TOTAL / size;
    for (size_t i = 0; i < n; i++) {
      blocks[i] = mi_malloc(size);
      memset(blocks[i], 1, size);
    }
    for (size_t i = 0; i < n; i++) { mi_free(blocks[i]); }
    mi_collect(false);
    mi_collect(true);
    CHECK(resident_bytes() < before + 4 * MIB);
  }
  CHECK(is_filled(keep, 1000, 1));
  mi_collect_reduce(0);
  mi_collect_reduce(SIZE_MAX);
  mi_free(keep);
}

static void test_process_init_done(void) {
  void* p = mi_malloc(1000);
  fill(p, 1000, 1);
  mi_process_init();
  mi_process_init();
  CHECK(is_filled(p, 1000, 1));
  mi_process_done();
  mi_process_done();
  void* q = mi_malloc(5000); /* legal after the end too */
  CHECK(q != NULL && is_filled(p, 1000, 1));
  mi_free(q);
  mi_free(p);
}

int main(void) {
  test_version();
  test_process_info();
  test_page_faults();
  test_thread_init_done();
  test_collect();
  test_collect_from_any_thread();
  test_process_init_done();
  return check_done();
}
