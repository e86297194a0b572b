// The loader's calls, at the start and the end of the process and of each thread: a part of
// windows.c. They come late in a thread's end, after what fiber-local data has for destructors.
#ifndef MI_PORT_WINDOWS_THREAD_H
#define MI_PORT_WINDOWS_THREAD_H

static DWORD exit_index = TLS_OUT_OF_INDEXES;
static void (*on_thread_exit)(void*);

PRIVATE int port_thread_exit_init(void (*on_exit)(void*)) {
  const DWORD saved = GetLastError();
  on_thread_exit = on_exit;
  exit_index = TlsAlloc();
  SetLastError(saved);
  return exit_index == TLS_OUT_OF_INDEXES ? ENOMEM : 0;
}

PRIVATE int port_thread_arm(void* argument) {
  const DWORD saved = GetLastError();
  const bool done = exit_index != TLS_OUT_OF_INDEXES && TlsSetValue(exit_index, argument);
  SetLastError(saved);
  return done ? 0 : ENOMEM;
}

static void thread_ends(void) {
  void* argument = exit_index == TLS_OUT_OF_INDEXES ? NULL : TlsGetValue(exit_index);
  if (argument == NULL) { return; }
  (void)TlsSetValue(exit_index, NULL);
  on_thread_exit(argument);
}

// ---- the end of the process, which one thread lives to see ----

static void (*on_process_end)(void);

PRIVATE void port_end_init(void (*on_end)(void)) { on_process_end = on_end; }

PRIVATE void port_see_end(void) {
  void (*see)(void) = on_process_end;
  on_process_end = NULL;
  if (see != NULL) { see(); }
}

// ---- what the loader calls ----

// The module that this library is in stays until the process ends: see docs/decisions/027.
UNUSED static void stay_loaded(void) {
  HMODULE self;
  const DWORD how = GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS;
  (void)GetModuleHandleExW(how, (const wchar_t*)&exit_index, &self);
}

UNUSED static void loader_calls(DWORD reason) {
  if (reason == DLL_PROCESS_ATTACH) {
    find_all();
    track_start();
  }
  if (reason == DLL_THREAD_DETACH) { thread_ends(); }
}

#ifdef MI_SHARED_LIB  // which the loader calls by its DllMain
// FreeLibrary: what the system holds for us. TlsAlloc clears an index for all threads, so those
// that live on have nothing of ours.
static void loader_lets_go(void) {
  const DWORD index = load_relaxed(&slot_index);
  port_unwatch_faults();
  if (exit_index != TLS_OUT_OF_INDEXES) { (void)TlsFree(exit_index); }
  if (index != 0) { (void)TlsFree(index - 1); }
  if (kept_stderr != NULL) { (void)CloseHandle(kept_stderr); }
  if (random_dll != NULL) { (void)FreeLibrary(random_dll); }
  track_stop();
}

#else
static void NTAPI on_loader_call(void* module, DWORD reason, void* reserved) {
  (void)module, (void)reserved;
  if (reason == DLL_PROCESS_ATTACH) { stay_loaded(); }
  loader_calls(reason);
}

// The linkers put what is in such sections in order of their names into the table that the loader
// goes through, if there is thread-local data; _tls_used is what says so.
#ifdef __i386__
extern const char tls_directory[] __asm__("__tls_used");
#else
extern const char tls_directory[] __asm__("_tls_used");
#endif
__attribute__((section(".CRT$XLY"), used)) static const PIMAGE_TLS_CALLBACK loader_callback =
    on_loader_call;
__attribute__((used)) static const void* const loader_looks = tls_directory;
#endif

#endif
