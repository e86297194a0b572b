// A frame that ends every exception: the form in which a platform's unwinder asks about it.
//
// The unwinder goes over the frames twice: it looks for one that ends the exception, then cleans up
// all above it. CATCHES_ALL in a function names the routine that it asks about this one's frame;
// CATCH_ROUTINE defines that routine: it says yes, and the second time calls
// `caught(exception)`, which does not return. When a thread ends (a forced unwinding) the frame is
// passed. Itanium C++ ABI, exception handling, level I; on 32-bit Arm the Exception Handling ABI.
//
// Compiled without -fexceptions, which some targets need for tables of frames, no exception passes.
#ifndef MI_ENTRY_UNWIND_H
#define MI_ENTRY_UNWIND_H

#include <unwind.h>

#include "../base/attributes.h"

#ifdef __ARM_EABI__

#if defined(__EXCEPTIONS) && TAKES_PERSONALITY  // else no exception is ended
#define CATCHES_ALL __asm__ volatile(".personality _mi_catch_routine")
#else
#define CATCHES_ALL (void)0
#endif

// Part of the unwinder, which is there if anything unwinds.
EXTERN_C _Unwind_Reason_Code __gnu_unwind_frame(_Unwind_Control_Block* exception,
                                                struct _Unwind_Context* context);
#pragma weak __gnu_unwind_frame

#define CATCH_ROUTINE(caught)                                                                   \
  EXTERN_C _Unwind_Reason_Code _mi_catch_routine(                                               \
      _Unwind_State state, _Unwind_Control_Block* exception, struct _Unwind_Context* context);  \
  HIDDEN USED _Unwind_Reason_Code _mi_catch_routine(                                            \
      _Unwind_State state, _Unwind_Control_Block* exception, struct _Unwind_Context* context) { \
    enum { STACK_POINTER = 13 };                                                                \
    if ((state & _US_FORCE_UNWIND) != 0) {                                                      \
      const bool goes_on = __gnu_unwind_frame(exception, context) == _URC_OK;                   \
      return goes_on ? _URC_CONTINUE_UNWIND : _URC_FAILURE;                                     \
    }                                                                                           \
    if ((state & _US_ACTION_MASK) == _US_VIRTUAL_UNWIND_FRAME) {                                \
      exception->barrier_cache.sp = _Unwind_GetGR(context, STACK_POINTER);                      \
      return _URC_HANDLER_FOUND;                                                                \
    }                                                                                           \
    caught(exception);                                                                          \
  }

#else

#ifdef __GCC_HAVE_DWARF2_CFI_ASM
#define CATCHES_ALL __asm__ volatile(".cfi_personality 0x1b, _mi_catch_routine")
#else
#define CATCHES_ALL (void)0
#endif

#define CATCH_ROUTINE(caught)                                                 \
  EXTERN_C _Unwind_Reason_Code _mi_catch_routine(                             \
      int version, _Unwind_Action actions, _Unwind_Exception_Class kind,      \
      struct _Unwind_Exception* exception, struct _Unwind_Context* context);  \
  HIDDEN USED _Unwind_Reason_Code _mi_catch_routine(                          \
      int version, _Unwind_Action actions, _Unwind_Exception_Class kind,      \
      struct _Unwind_Exception* exception, struct _Unwind_Context* context) { \
    (void)version, (void)kind, (void)context;                                 \
    if ((actions & _UA_FORCE_UNWIND) != 0) { return _URC_CONTINUE_UNWIND; }   \
    if ((actions & _UA_SEARCH_PHASE) != 0) { return _URC_HANDLER_FOUND; }     \
    if ((actions & _UA_HANDLER_FRAME) == 0) { return _URC_CONTINUE_UNWIND; }  \
    caught(exception);                                                        \
  }

#endif
#endif
