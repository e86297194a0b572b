/* What Microsoft's compiler links into each program and no package brings: the start on the
   universal C runtime, the tables of constructors and of thread-local data, the stack's growth. */
#include <stdlib.h>
#include <windows.h>

typedef void(__cdecl* procedure_t)(void);
typedef int(__cdecl* initializer_t)(void);

int _fltused = 0x9875;
unsigned long _tls_index = 0;

#define IN_SECTION(name) __attribute__((section(name), used))
IN_SECTION(".tls") char tls_start = 0;
IN_SECTION(".tls$ZZZ") char tls_end = 0;
IN_SECTION(".CRT$XIA") initializer_t first_initializer = NULL;
IN_SECTION(".CRT$XIZ") initializer_t last_initializer = NULL;
IN_SECTION(".CRT$XCA") procedure_t first_constructor = NULL;
IN_SECTION(".CRT$XCZ") procedure_t last_constructor = NULL;
IN_SECTION(".CRT$XLA") PIMAGE_TLS_CALLBACK first_callback = NULL;
IN_SECTION(".CRT$XLZ") PIMAGE_TLS_CALLBACK last_callback = NULL;

const IMAGE_TLS_DIRECTORY64 _tls_used = {(ULONGLONG)&tls_start,
                                         (ULONGLONG)&tls_end,
                                         (ULONGLONG)&_tls_index,
                                         (ULONGLONG)(&first_callback + 1),
                                         0,
                                         {0}};

__declspec(dllimport) int _initterm_e(initializer_t*, initializer_t*);
__declspec(dllimport) void _initterm(procedure_t*, procedure_t*);
__declspec(dllimport) int _configure_narrow_argv(int mode);
__declspec(dllimport) int _initialize_narrow_environment(void);
__declspec(dllimport) int* __p___argc(void);
__declspec(dllimport) char*** __p___argv(void);
__declspec(dllimport) int _crt_atexit(procedure_t);

int main(int argc, char** argv);

void mainCRTStartup(void) {
  _configure_narrow_argv(1);
  _initialize_narrow_environment();
  if (_initterm_e(&first_initializer, &last_initializer) != 0) { ExitProcess(255); }
  _initterm(&first_constructor, &last_constructor);
  exit(main(*__p___argc(), *__p___argv()));
}

int atexit(procedure_t procedure) { return _crt_atexit(procedure); }

/* Of the type of types, of which each type that can be caught has the address. */
const void* const type_table[2] __asm__("??_7type_info@@6B@") = {NULL, NULL};

/* Touches each page on the way down. rax: the bytes, which stay there. */
__asm__(
    ".globl __chkstk\n"
    "__chkstk:\n"
    "  pushq %rcx\n"
    "  pushq %rax\n"
    "  leaq 24(%rsp), %rcx\n"
    "1: cmpq $0x1000, %rax\n"
    "  jb 2f\n"
    "  subq $0x1000, %rcx\n"
    "  testb $0, (%rcx)\n"
    "  subq $0x1000, %rax\n"
    "  jmp 1b\n"
    "2: subq %rax, %rcx\n"
    "  testb $0, (%rcx)\n"
    "  popq %rax\n"
    "  popq %rcx\n"
    "  ret\n");
