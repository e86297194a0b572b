# What is installed, and where: libraries, headers, a CMake package, a pkg-config file, manual pages,
# the tool `mi` and what shells complete of it, or on Windows minject. What hangs on the variant has its name, mi_variant,
# and what does not is the same in all, so that variants may be installed into one prefix.
include(CMakePackageConfigHelpers)

if(MI_INSTALL_TOPLEVEL)
  set(mi_versioned "")
  set(mi_install_cmakedir "${CMAKE_INSTALL_LIBDIR}/cmake/mimalloc")
else()
  set(mi_versioned "/mimalloc-${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
  set(mi_install_cmakedir "${CMAKE_INSTALL_LIBDIR}/cmake${mi_versioned}")
endif()
set(mi_install_includedir "${CMAKE_INSTALL_INCLUDEDIR}${mi_versioned}")
set(mi_install_archivedir "${CMAKE_INSTALL_LIBDIR}${mi_versioned}")

install(FILES
  include/mimalloc.h include/mimalloc-stats.h include/mimalloc-profile.h
  include/mimalloc-override.h include/mimalloc-new-delete.h include/mimalloc-cpp.h
  include/mimalloc.cppm
  DESTINATION "${mi_install_includedir}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# ---- Libraries, and the CMake package ------------------------------------------------------------

# The component of the package: secure, debug, guarded …; the plain library has none.
string(REGEX REPLACE "^mimalloc-?" "" mi_component "${mi_variant}")
set(mi_exported mimalloc static)
if(mi_component)
  set(mi_exported ${mi_component} ${mi_component}-static)
endif()
list(GET mi_exported 0 mi_exported_shared)
list(GET mi_exported 1 mi_exported_static)
if(MI_BUILD_SHARED)
  set_target_properties(mimalloc PROPERTIES EXPORT_NAME ${mi_exported_shared})
endif()
if(MI_BUILD_STATIC)
  set_target_properties(mimalloc-static PROPERTIES EXPORT_NAME ${mi_exported_static})
endif()
foreach(target IN LISTS mi_targets)
  target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${mi_install_includedir}>)
endforeach()
if(mi_targets)
  install(TARGETS ${mi_targets} EXPORT mimalloc-targets
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    ARCHIVE DESTINATION "${mi_install_archivedir}")
  install(EXPORT mimalloc-targets NAMESPACE mimalloc:: FILE ${mi_variant}-targets.cmake
    DESTINATION "${mi_install_cmakedir}")
endif()
if(MI_BUILD_OBJECT)
  install(FILES "${mi_object}" DESTINATION "${mi_install_archivedir}")
endif()

configure_package_config_file(cmake/mimalloc-config.cmake.in mimalloc-config.cmake
  INSTALL_DESTINATION "${mi_install_cmakedir}"
  PATH_VARS mi_install_includedir mi_install_archivedir CMAKE_INSTALL_LIBDIR)
# Any: programs that ask for 1.x or 2.x build unchanged.
write_basic_package_version_file(mimalloc-config-version.cmake COMPATIBILITY AnyNewerVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/mimalloc-config.cmake"
  "${PROJECT_BINARY_DIR}/mimalloc-config-version.cmake"
  DESTINATION "${mi_install_cmakedir}")

# ---- pkg-config ----------------------------------------------------------------------------------

# Relative, so that the installed tree can be moved; but folders that are absolute stay so.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(mi_pc_prefix "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH mi_pc_to_prefix
    "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
  string(REGEX REPLACE "/$" "" mi_pc_to_prefix "${mi_pc_to_prefix}")
  set(mi_pc_prefix "\${pcfiledir}/${mi_pc_to_prefix}")
endif()
foreach(folder CMAKE_INSTALL_LIBDIR mi_install_archivedir mi_install_includedir)
  set(mi_pc_${folder} "${${folder}}")
  if(NOT IS_ABSOLUTE "${${folder}}")
    set(mi_pc_${folder} "\${prefix}/${${folder}}")
  endif()
endforeach()
set(mi_pc_libraries "-L\${libdir} -l${mi_name}")
set(mi_pc_libraries_private "-L\${archivedir} ${mi_pc_libraries_private}")
if(NOT MI_BUILD_SHARED)  # then the archive is the library
  set(mi_pc_libraries "-L\${archivedir} -l${mi_name} ${mi_pc_libraries_private}")
  set(mi_pc_libraries_private "")
endif()
configure_file(cmake/mimalloc.pc.in mimalloc.pc.in @ONLY)
set(mi_pc "${mi_config_dir}/${mi_name}.pc")
if(MI_INSTALL_BY_CONFIGURATION)
  set(mi_pc "${mi_config_dir}/${mi_variant}.pc")
endif()
file(GENERATE OUTPUT "${mi_pc}" INPUT "${PROJECT_BINARY_DIR}/mimalloc.pc.in")
install(FILES "${mi_pc}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# ---- Manual, tool --------------------------------------------------------------------------------

option(MI_INSTALL_TOOLS "Install the tool mi, or on Windows minject" ON)
foreach(page mimalloc.3 mimalloc-options.7)
  string(REGEX REPLACE ".*\\." "man" section "${page}")
  install(FILES docs/man/${page} DESTINATION "${CMAKE_INSTALL_MANDIR}/${section}")
endforeach()
if(MI_INSTALL_TOOLS AND MI_BUILD_SHARED AND UNIX AND NOT APPLE)
  file(RELATIVE_PATH mi_tool_to_libraries
    "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  configure_file(tools/installed/mi.in mi @ONLY)
  install(PROGRAMS "${PROJECT_BINARY_DIR}/mi" DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(FILES docs/man/mi.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  install(FILES tools/installed/mi.bash RENAME mi
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(FILES tools/installed/_mi DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
  install(FILES tools/installed/mi.fish
    DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
elseif(MI_INSTALL_TOOLS AND MI_BUILD_SHARED AND WIN32)
  add_executable(minject tools/minject.c)
  set_target_properties(minject PROPERTIES C_STANDARD 11)
  target_compile_definitions(minject PRIVATE _CRT_SECURE_NO_WARNINGS)
  install(TARGETS minject RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

# ---- Away again ----------------------------------------------------------------------------------

if(mi_is_top_project AND NOT TARGET uninstall)
  add_custom_target(uninstall VERBATIM
    COMMAND "${CMAKE_COMMAND}" -P "${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake"
    WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
endif()
