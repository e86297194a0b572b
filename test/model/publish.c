/* test: timeout=240 cflags="-fsanitize=thread" */
// What is published by one release and found by one acquire: the start of the process, page
// records, the deferred-free hook.
#include "world.h"

// ---- the first calls of a process ----

static void untouched(void) {
  world_begin();
  STATE(process);
  world_ready();
}

static void process_unknown(void) {
  untouched();
  CLEAR(heap_main_static), CLEAR(subproc_main_static), CLEAR(registry), CLEAR(process);
}

static void first_call(void) { take(m.self, BLOCK); }

// Who only asks for a sub-process takes no lock.
static void first_look(void) {
  process_init();
  MODEL_CHECK(subproc_main_static.main == &heap_main_static);
}

static void one_entered(void) {
  MODEL_CHECK(registry.threads != NULL && registry.threads->next == NULL);
  world_check();
}

static void all_entered(void) {
  int threads = 0;
  for (const thread_t* thread = registry.threads; thread != NULL; thread = thread->next) {
    threads++;
  }
  MODEL_CHECK(threads == m.threads && registry.subprocs == &subproc_main_static &&
              registry.subprocs->next == NULL);
  world_check();
}

// ---- records of pages ----

static void no_pages(void) {
  world_begin();
  for (int i = 1; i >= 0; i--) { model_act_as(i), world_enter(); }
  world_ready();
}

static void first_page(void) { take(0, BLOCK); }

static bool see_page(page_t* page, void* arg) {
  (void)arg;
  MODEL_CHECK(load_relaxed(&page->heap) == &heap_main_static || load_relaxed(&page->heap) == NULL);
  return true;
}

static void visit(void) { page_visit_all(see_page, NULL); }

// ---- the deferred-free hook ----

static int argument;

static void deferred(bool force, unsigned long long heartbeat, void* arg) {
  (void)force;
  MODEL_CHECK(heartbeat > 0 && arg == &argument && argument == 1);
}

static void no_hook(void) {
  no_pages();
  argument = 0;
  STATE(argument);
}

static void register_hook(void) {
  argument = 1;
  mi_register_deferred_free(deferred, &argument);
}

static void two_slow_calls(void) {
  take(1, BLOCK);
  take(2, BLOCK);
}

MODEL_MAIN({"first_calls", process_unknown, {first_call, first_call}, all_entered, 2, 1, 5000},
           {"first_look", process_unknown, {first_call, first_look}, one_entered, 2, 1, 5000},
           {"three_first_calls",
            process_unknown,
            {first_call, first_call, first_call},
            all_entered,
            1,
            0,
            5000},
           {"records_visited", no_pages, {first_page, visit}, world_check, 3, 0, 5000},
           {"deferred_free", no_hook, {register_hook, two_slow_calls}, world_check, 3, 2, 5000})
