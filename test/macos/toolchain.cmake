# For CMake: LLVM's tools in place of Apple's, on a system that is none of Apple's. MACOS_SDK in the
# environment is a folder with the system's headers and stubs.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_C_COMPILER_TARGET arm64-apple-darwin)  # which processor -arch says
set(CMAKE_OSX_SYSROOT "$ENV{MACOS_SDK}")
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT -fuse-ld=lld)
endforeach()
set(CMAKE_INSTALL_NAME_TOOL llvm-install-name-tool-19)
# Apple's ar takes objects for several processors, LLVM's does not.
set(CMAKE_C_ARCHIVE_CREATE "llvm-libtool-darwin-19 -static -o <TARGET> <OBJECTS>")
set(CMAKE_C_ARCHIVE_FINISH "")
