# Helpers that declare the project's targets in one way: folder libraries, shared libraries, tests.
#
#   owml_add_library(owml_base SOURCES a.cpp b.cpp LINKS owml_other PRIVATE_LINKS nlohmann_json::nlohmann_json)
#       one static, position-independent library for a folder of src/
#   owml_add_test(tests_base SOURCES a_test.cpp LINKS owml_base LABELS threads)
#       one GoogleTest program; every TEST becomes a ctest entry
#   owml_add_fuzz_target(fuzz_gguf SOURCES gguf_fuzz.cpp LINKS owml_formats CORPUS folders DEPENDS targets)
#       a program that replays the corpus folders under ctest; with OWML_BUILD_FUZZERS also the libFuzzer program.
#       DEPENDS are the targets that make a generated corpus

if(CMAKE_SOURCE_DIR STREQUAL PROJECT_SOURCE_DIR OR NOT DEFINED CMAKE_CXX_STANDARD)
  set(CMAKE_CXX_STANDARD 20)
endif()
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

set(OWML_WERROR OFF CACHE BOOL "Treat warnings as errors")
set(OWML_SANITIZE "" CACHE STRING "Value for -fsanitize=, for example address,undefined")
set(OWML_CONFORMANCE_DIR "" CACHE PATH "Folder with the independent conformance checks")
if(NOT OWML_CONFORMANCE_DIR)
  if(DEFINED ENV{OWML_CONFORMANCE_DIR})
    set(OWML_CONFORMANCE_DIR "$ENV{OWML_CONFORMANCE_DIR}")
  else()
    get_filename_component(OWML_CONFORMANCE_DIR "${PROJECT_SOURCE_DIR}/../shared/conformance" ABSOLUTE)
  endif()
endif()

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  find_program(OWML_CCACHE ccache)
  if(OWML_CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER ${OWML_CCACHE})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${OWML_CCACHE})
  endif()
endif()

# Warnings and sanitizers for our own code only; linked privately by every target declared here.
add_library(owml_compile_options INTERFACE)
target_compile_options(owml_compile_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
  # GCC 12 warns wrongly about joined strings in optimised builds (its bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<BOOL:${OWML_WERROR}>:-Werror>)
if(OWML_SANITIZE)
  string(FIND "${OWML_SANITIZE}" undefined owml_position)
  if(owml_position GREATER -1)
    set(owml_sanitize_undefined ON)
  endif()
  target_compile_options(owml_compile_options INTERFACE -fsanitize=${OWML_SANITIZE} -fno-omit-frame-pointer -O1
                         $<$<BOOL:${owml_sanitize_undefined}>:-fno-sanitize-recover=undefined>)
  target_link_options(owml_compile_options INTERFACE -fsanitize=${OWML_SANITIZE})
endif()
if(OWML_BUILD_FUZZERS)
  # Coverage of the libraries under test is what guides the fuzzer.
  target_compile_options(owml_compile_options INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(owml_compile_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

function(owml_add_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  if(arg_SOURCES)
    add_library(${name} STATIC ${arg_SOURCES})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${name} PUBLIC ${arg_LINKS} PRIVATE owml_compile_options ${arg_PRIVATE_LINKS})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${name} INTERFACE ${arg_LINKS})
  endif()
endfunction()

# A shared library of the product: <name> without "lib"; SOVERSION is the major version.
function(owml_add_shared_library target name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(${target} SHARED ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                        BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH "$ORIGIN")
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PUBLIC ${arg_LINKS} PRIVATE owml_compile_options ${arg_PRIVATE_LINKS})
  # The sisters of the runtime import its process-wide state from static libraries that come later on the line.
  target_link_options(${target} PRIVATE -Wl,--no-undefined -Wl,--no-as-needed -Wl,--exclude-libs,ALL)
endfunction()

function(owml_add_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS;LABELS;ENVIRONMENT" ${ARGN})
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${arg_LINKS} owml_test_main GTest::gtest GTest::gmock owml_compile_options)
  # Only what is tested needs the optimiser; the tests themselves compile in half the time without it.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O0>)
  set(properties TIMEOUT 300)
  if(arg_LABELS)
    list(APPEND properties LABELS "${arg_LABELS}")
  endif()
  set(environment ${arg_ENVIRONMENT} ${OWML_TEST_ENVIRONMENT})
  if(environment)
    list(APPEND properties ENVIRONMENT "${environment}")
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 DISCOVERY_MODE PRE_TEST PROPERTIES ${properties})
endfunction()

function(owml_add_fuzz_target name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS;CORPUS;DEPENDS" ${ARGN})
  add_executable(${name}_replay ${arg_SOURCES} ${PROJECT_SOURCE_DIR}/fuzz/replay_main.cpp)
  target_include_directories(${name}_replay PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name}_replay PRIVATE ${arg_LINKS} owml_compile_options)
  add_test(NAME ${name}.corpus COMMAND ${name}_replay ${arg_CORPUS})
  set_tests_properties(${name}.corpus PROPERTIES LABELS fuzz TIMEOUT 300)
  set(programs ${name}_replay)
  if(OWML_BUILD_FUZZERS)
    add_executable(${name} ${arg_SOURCES})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${name} PRIVATE ${arg_LINKS} owml_compile_options)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    list(APPEND programs ${name})
  endif()
  if(arg_DEPENDS)
    foreach(program ${programs})
      add_dependencies(${program} ${arg_DEPENDS})
    endforeach()
  endif()
endfunction()

# Adds the folder when it is there: the lists name the floors of the plan, some of which are still to come.
function(owml_add_folder folder)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt)
    add_subdirectory(${folder})
  endif()
endfunction()
