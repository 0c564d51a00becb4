# Where tools/bootstrap has put the third-party parts. Included by FindOwmlLlama.cmake and FindOwmlOrt.cmake, and by
# tests that need the fetched model, data or Python.
#
# Sets OWML_CACHE_DIR (cache variable), OWML_MODEL_SMOLLM2, OWML_LLAMA_DATA_DIR, OWML_JSON_SCHEMA_SUITE_DIR, OWML_PROSE
# and OWML_TEST_PYTHON; each of the last five is empty when it has not been fetched.
if(NOT DEFINED OWML_CACHE_DIR)
  if(NOT "$ENV{OWML_CACHE_DIR}" STREQUAL "")
    set(owml_cache "$ENV{OWML_CACHE_DIR}")
  elseif(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(owml_cache "$ENV{XDG_CACHE_HOME}/openwinml")
  else()
    set(owml_cache "$ENV{HOME}/.cache/openwinml")
  endif()
  set(OWML_CACHE_DIR "${owml_cache}" CACHE PATH "Folder that tools/bootstrap fills")
endif()

get_filename_component(OWML_SETUP_ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
file(READ "${OWML_SETUP_ROOT}/tools/packages.json" OWML_PACKAGES_JSON)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${OWML_SETUP_ROOT}/tools/packages.json")

function(owml_first_existing variable)
  set(${variable} "" PARENT_SCOPE)
  foreach(path IN LISTS ARGN)
    if(EXISTS "${path}")
      set(${variable} "${path}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

string(JSON owml_model GET "${OWML_PACKAGES_JSON}" smollm2 model)
owml_first_existing(OWML_MODEL_SMOLLM2 "${OWML_CACHE_DIR}/models/${owml_model}")

string(JSON owml_version GET "${OWML_PACKAGES_JSON}" llama_cpp version)
owml_first_existing(OWML_LLAMA_DATA_DIR "${OWML_CACHE_DIR}/llama-data-${owml_version}/models")

string(JSON owml_version GET "${OWML_PACKAGES_JSON}" json_schema_suite version)
owml_first_existing(OWML_JSON_SCHEMA_SUITE_DIR "${OWML_CACHE_DIR}/json-schema-suite-${owml_version}/draft2020-12")

string(JSON owml_version GET "${OWML_PACKAGES_JSON}" prose version)
owml_first_existing(OWML_PROSE "${OWML_CACHE_DIR}/moby-dick-${owml_version}.txt")

# The folder's name holds Python's version and the first 12 digits of the SHA-256 of the requirements.
file(SHA256 "${OWML_SETUP_ROOT}/tools/requirements-test.txt" owml_digest)
string(SUBSTRING "${owml_digest}" 0 12 owml_digest)
file(GLOB owml_pythons "${OWML_CACHE_DIR}/python-test-*-${owml_digest}/.complete")
list(TRANSFORM owml_pythons REPLACE "\\.complete$" "bin/python3")
owml_first_existing(OWML_TEST_PYTHON ${owml_pythons})
