# The directive comment at the top of a test source says how the test is built and run:
#   /* test: label=long timeout=120 args="8 25" env="A=1 B=2" only=preload */
#   # test: label=long                                               (in a shell script)
# label=quick|long  timeout=SECONDS  args="…"  env="NAME=VALUE …"  libs="dl m"  cflags="…"
# only=system|preload         of the two runs, on the system's allocator and on ours, just this one
# system-may-fail             the run with the system's allocator may end in any way
# expect-abort  exit=N        ends by abort(), or with this status
# stderr="REGEX"              something on stderr matches
# serial                      runs alone
# runs-itself                 starts programs of the build: skipped where these run in an emulator
#                             of which the kernel knows nothing, but for WebAssembly, where it
#                             asks whether there are processes (test/system.h)
# not-emulated="REASON"       skipped in every emulator, because of this
# not-emulated-32="REASON"    skipped in emulators of processors with 32-bit addresses
# when="A|B C"                only in builds that have (A or B) and C, out of: release debug secure
#                             guarded tsan valgrind asan ubsan msan gcc clang musl glibc override shared static layout,
#                             and the ports linux unix strict grow wasm (wasi emscripten) windows macos; threads:
#                             there may be several; stacks: their stacks are not of malloc, and the first has
#                             none beside it; jumps: setjmp, which WASI has not; posix: the rest of
#                             POSIX, see test/system.h; whole: nothing is left out (MI_SMALL)
#
# mi_read_directives(file) sets TEST_LABEL, TEST_TIMEOUT, TEST_ARGS, … and TEST_ENABLED in its
# caller.

function(mi_directive_value text key variable default)
  if(text MATCHES "[ ]${key}=\"([^\"]*)\"")
    set(${variable} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  elseif(text MATCHES "[ ]${key}=([^ \"]+)")
    set(${variable} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  else()
    set(${variable} "${default}" PARENT_SCOPE)
  endif()
endfunction()

function(mi_directive_list text key variable)
  mi_directive_value("${text}" ${key} value "")
  separate_arguments(value UNIX_COMMAND "${value}")
  set(${variable} "${value}" PARENT_SCOPE)
endfunction()

function(mi_directive_flag text flag variable)
  string(REGEX REPLACE "\"[^\"]*\"" "" text "${text}")
  if(text MATCHES "[ ]${flag}[ ]")
    set(${variable} ON PARENT_SCOPE)
  else()
    set(${variable} OFF PARENT_SCOPE)
  endif()
endfunction()

macro(mi_read_directives file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" TEST_TEXT LIMIT 1500)
  if(TEST_TEXT MATCHES "(/\\*|//|#) *test:([^\n]*)")
    string(REPLACE "*/" " " TEST_TEXT " ${CMAKE_MATCH_2} ")
  else()
    set(TEST_TEXT " ")
  endif()
  mi_directive_value("${TEST_TEXT}" label TEST_LABEL quick)
  mi_directive_value("${TEST_TEXT}" timeout TEST_TIMEOUT "")
  mi_directive_value("${TEST_TEXT}" only TEST_ONLY "")
  mi_directive_value("${TEST_TEXT}" exit TEST_EXIT "")
  mi_directive_value("${TEST_TEXT}" stderr TEST_STDERR "")
  mi_directive_value("${TEST_TEXT}" not-emulated TEST_NOT_EMULATED "")
  mi_directive_value("${TEST_TEXT}" not-emulated-32 TEST_NOT_EMULATED_32 "")
  mi_directive_list("${TEST_TEXT}" args TEST_ARGS)
  mi_directive_list("${TEST_TEXT}" env TEST_ENV)
  mi_directive_list("${TEST_TEXT}" libs TEST_LIBS)
  mi_directive_list("${TEST_TEXT}" cflags TEST_CFLAGS)
  mi_directive_list("${TEST_TEXT}" when TEST_WHEN)
  mi_directive_flag("${TEST_TEXT}" expect-abort TEST_ABORT)
  mi_directive_flag("${TEST_TEXT}" system-may-fail TEST_SYSTEM_MAY_FAIL)
  mi_directive_flag("${TEST_TEXT}" serial TEST_SERIAL)
  mi_directive_flag("${TEST_TEXT}" runs-itself TEST_RUNS_ITSELF)
  if(NOT CMAKE_CROSSCOMPILING_EMULATOR)
    set(TEST_NOT_EMULATED "")
  elseif(TEST_NOT_EMULATED_32 AND CMAKE_SIZEOF_VOID_P EQUAL 4 AND NOT mi_is_wasm)
    set(TEST_NOT_EMULATED "${TEST_NOT_EMULATED_32}")
  elseif(TEST_RUNS_ITSELF AND NOT MI_EMULATOR_IS_KNOWN AND NOT mi_is_wasm)
    set(TEST_NOT_EMULATED "the kernel does not run programs of this kind in an emulator")
  endif()
  set(TEST_ENABLED ON)
  foreach(word IN LISTS TEST_WHEN)
    if(NOT " ${mi_build_tags} " MATCHES " (${word}) ")
      set(TEST_ENABLED OFF)
    endif()
  endforeach()
  if(NOT TEST_TIMEOUT)
    if(TEST_LABEL STREQUAL "long")
      set(TEST_TIMEOUT 900)
    else()
      set(TEST_TIMEOUT 120)
    endif()
  endif()
endmacro()
