// A call that ends an exception, where C has no words for it: what a C++ compiler makes of
//
//   void* _mi_try(void (*function)(void)) { try { function(); } catch (...) { … } }
//
// It returns NULL, or the exception, of which the caller disposes, or 1 for one of Microsoft's. The
// unwinder asks `_mi_catch` about the frame. That hands the question on to the routine of the
// program's C++ runtime, which reads the table here (Itanium C++ ABI, exception handling, level
// II); or, in 64-bit programs for Windows, to the system's own, which reads another one before it.
#ifndef MI_ENTRY_TRY_H
#define MI_ENTRY_TRY_H

#include "cxx.h"

EXTERN_C void* _mi_try(void (*function)(void));

#ifndef _WIN64
static personality_t* cxx_personality(void);  // by whoever includes this; NULL: there is none

EXTERN_C HIDDEN personality_t _mi_catch;
USED int _mi_catch(int version, int actions, uint64_t kind, void* exception, void* context) {
  enum { CONTINUE_UNWIND = 8 };
  personality_t* personality = cxx_personality();
  if (personality == NULL) { return CONTINUE_UNWIND; }
  return personality(version, actions, kind, exception, context);
}
#endif

// In each body: the call is from `from` to `to`, and an exception lands at `land`, in the register
// that the result is in. (clang-cl would take neither labels that are numbers nor AT&T's syntax.)
#ifdef _WIN64
#define TRY_L ".Lmi_try_"
#else
#define TRY_L "Lmi_try_"
#endif

// clang-format off
#if defined(__x86_64__) && defined(_WIN32)
#define TRY_BODY                     \
  ".att_syntax\n"                    \
  "  subq $40, %rsp\n"               \
  "  .seh_stackalloc 40\n"           \
  "  .seh_endprologue\n"             \
  TRY_L "from: call *%rcx\n"         \
  TRY_L "to: xorl %eax, %eax\n"      \
  TRY_L "land: addq $40, %rsp\n"     \
  "  ret\n"                          \
  TRY_L "microsoft: movl $1, %eax\n" \
  "  jmp " TRY_L "land\n"
#elif defined(__aarch64__) && defined(_WIN32)
#define TRY_BODY                     \
  "  stp x29, x30, [sp, #-16]!\n"    \
  "  .seh_save_fplr_x 16\n"          \
  "  .seh_endprologue\n"             \
  TRY_L "from: blr x0\n"             \
  TRY_L "to: mov x0, #0\n"           \
  TRY_L "land: .seh_startepilogue\n" \
  "  ldp x29, x30, [sp], #16\n"      \
  "  .seh_save_fplr_x 16\n"          \
  "  .seh_endepilogue\n"             \
  "  ret\n"                          \
  TRY_L "microsoft: mov x0, #1\n"    \
  "  b " TRY_L "land\n"
#elif defined(__i386__)
#define TRY_BODY                     \
  "  subl $12, %esp\n"               \
  "  .cfi_adjust_cfa_offset 12\n"    \
  TRY_L "from: call *16(%esp)\n"     \
  TRY_L "to: xorl %eax, %eax\n"      \
  TRY_L "land: addl $12, %esp\n"     \
  "  .cfi_adjust_cfa_offset -12\n"   \
  "  ret\n"
#elif defined(__x86_64__)
#define TRY_BODY                     \
  "  pushq %rbp\n"                   \
  "  .cfi_def_cfa_offset 16\n"       \
  "  .cfi_offset %rbp, -16\n"        \
  "  movq %rsp, %rbp\n"              \
  "  .cfi_def_cfa_register %rbp\n"   \
  TRY_L "from: callq *%rdi\n"        \
  TRY_L "to: xorl %eax, %eax\n"      \
  TRY_L "land: popq %rbp\n"          \
  "  retq\n"
#else
#ifdef __arm64e__
#define TRY_CALL "blraaz"  // addresses of functions are signed
#else
#define TRY_CALL "blr"
#endif
#define TRY_BODY                     \
  "  stp x29, x30, [sp, #-16]!\n"    \
  "  mov x29, sp\n"                  \
  "  .cfi_def_cfa w29, 16\n"         \
  "  .cfi_offset w30, -8\n"          \
  "  .cfi_offset w29, -16\n"         \
  TRY_L "from: " TRY_CALL " x0\n"    \
  TRY_L "to: mov x0, #0\n"           \
  TRY_L "land: ldp x29, x30, [sp], #16\n" \
  "  ret\n"
#endif

// No base but the function, types of 4 bytes, and 21 bytes more. Call sites of 4 bytes a number, 13
// in all: start, length, where to land, and the first action. That is: for the first type, and then
// no other. The type is any.
#define TRY_TABLE(function)                          \
  "  .byte 0xff, 3, 21, 3, 13\n"                     \
  "  .long " TRY_L "from - " function "\n"           \
  "  .long " TRY_L "to - " TRY_L "from\n"            \
  "  .long " TRY_L "land - " function "\n"           \
  "  .byte 1, 1, 0\n"                                \
  "  .long 0\n"

#ifdef _WIN64
EXTERN_C const uint8_t _mi_try_table[];
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".globl _mi_try\n"
    ".def _mi_try; .scl 2; .type 32; .endef\n"
    ".seh_proc _mi_try\n"
    "_mi_try:\n"
    TRY_BODY
    "  .seh_handler _mi_catch, @unwind, @except\n"
    "  .seh_handlerdata\n"
    "  .long 1\n"  // for the system's routine, one place: from, to, any exception, where to land
    "  .rva " TRY_L "from, " TRY_L "land\n"
    "  .long 1\n"
    "  .rva " TRY_L "microsoft\n"
    ".globl _mi_try_table\n"
    "_mi_try_table:\n"
    TRY_TABLE("_mi_try")
    ".text\n"
    ".seh_endproc\n");
#else
#ifdef _WIN32
#define TRY_HEAD    ".globl __mi_try\n"
#define TRY_FRAME   "  .cfi_personality 0, __mi_catch\n  .cfi_lsda 0, Lmi_try_table\n"
#define TRY_SECTION ".section .gcc_except_table, \"dr\"\n"
#else  // addresses from there on; that of the routine by a place that has it
#define TRY_HEAD    ".private_extern __mi_try\n"
#define TRY_FRAME   "  .cfi_personality 155, __mi_catch\n  .cfi_lsda 16, Lmi_try_table\n"
#define TRY_SECTION ".section __TEXT, __gcc_except_tab\n"
#endif
__asm__(
    ".text\n"
    ".p2align 4\n"
    TRY_HEAD
    "__mi_try:\n"
    "  .cfi_startproc\n"
    TRY_FRAME
    TRY_BODY
    "  .cfi_endproc\n"
    TRY_SECTION
    ".p2align 2\n"
    "Lmi_try_table:\n"
    TRY_TABLE("__mi_try")
    ".text\n");
#endif
// clang-format on

#endif
