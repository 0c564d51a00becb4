# Finds the llama.cpp that tools/bootstrap has built into the cache.
#
#   OwmlLlama::llama, OwmlLlama::ggml, OwmlLlama::ggml-base   shared libraries, headers llama.h, ggml*.h, gguf.h
#   OwmlLlama::common                                          chat templates and parsers, static; headers chat.h, ...
#   OwmlLlama_BACKEND_DIR            folder with the CPU modules, loaded by path at run time
#   OwmlLlama_LIBRARIES_TO_INSTALL   the shared libraries under their sonames, for the package's lib folder
#   OwmlLlama_VERSION, OwmlLlama_GGML_VERSION, OwmlLlama_LICENSE, OwmlLlama_KEY (names the inputs of the build)
include(${CMAKE_CURRENT_LIST_DIR}/OwmlCache.cmake)
include(FindPackageHandleStandardArgs)

# The key of tools/setup/llama.py, from the same files; change both together.
string(JSON owml_sdist GET "${OWML_PACKAGES_JSON}" llama_cpp files any sha256)
string(JSON owml_version GET "${OWML_PACKAGES_JSON}" llama_cpp version)
file(GLOB owml_inputs RELATIVE "${OWML_SETUP_ROOT}" CONFIGURE_DEPENDS
     "${OWML_SETUP_ROOT}/cmake/patches/*.patch" "${OWML_SETUP_ROOT}/cmake/llama/*")
list(SORT owml_inputs COMPARE STRING)
set(owml_text "${owml_sdist}\n")
foreach(owml_input IN LISTS owml_inputs)
  file(SHA256 "${OWML_SETUP_ROOT}/${owml_input}" owml_digest)
  string(APPEND owml_text "${owml_input} ${owml_digest}\n")
endforeach()
string(SHA256 OwmlLlama_KEY "${owml_text}")
string(SUBSTRING "${OwmlLlama_KEY}" 0 16 OwmlLlama_KEY)

# One built by the compiler in use is preferred; another one links as well.
file(GLOB owml_builds CONFIGURE_DEPENDS "${OWML_CACHE_DIR}/llama-${owml_version}-${OwmlLlama_KEY}-*")
list(FILTER owml_builds EXCLUDE REGEX "\\.(incomplete|log)$")
string(REGEX MATCH "^[0-9]+" owml_major "${CMAKE_CXX_COMPILER_VERSION}")
string(REPLACE GNU gcc owml_family "${CMAKE_CXX_COMPILER_ID}")
string(TOLOWER "${owml_family}${owml_major}" owml_compiler)
owml_first_existing(OwmlLlama_ROOT "${OWML_CACHE_DIR}/llama-${owml_version}-${OwmlLlama_KEY}-${owml_compiler}" ${owml_builds})

if(OwmlLlama_ROOT)
  include(${OwmlLlama_ROOT}/lib/owml-llama.cmake)
  set(OwmlLlama_LIBRARY "${OwmlLlama_ROOT}/lib/libowml-llama.so.${OwmlLlama_VERSION}")
endif()
find_package_handle_standard_args(OwmlLlama REQUIRED_VARS OwmlLlama_LIBRARY OwmlLlama_ROOT
  VERSION_VAR OwmlLlama_VERSION
  REASON_FAILURE_MESSAGE "no llama.cpp for this tree in ${OWML_CACHE_DIR}. Run tools/bootstrap.")

if(OwmlLlama_FOUND)
  set(OwmlLlama_BACKEND_DIR "${OwmlLlama_ROOT}/lib/owml-ggml-backends")
  set(OwmlLlama_LICENSE "${OwmlLlama_ROOT}/share/licenses/llama.cpp/LICENSE")
  set(OwmlLlama_LIBRARIES_TO_INSTALL "${OwmlLlama_LIBRARY}"
      "${OwmlLlama_ROOT}/lib/libowml-ggml.so.${OwmlLlama_GGML_VERSION}"
      "${OwmlLlama_ROOT}/lib/libowml-ggml-base.so.${OwmlLlama_GGML_VERSION}")
  if(NOT TARGET OwmlLlama::llama)
    foreach(owml_library IN ITEMS ggml-base ggml llama)
      set(owml_version ${OwmlLlama_GGML_VERSION})
      if(owml_library STREQUAL llama)
        set(owml_version ${OwmlLlama_VERSION})
      endif()
      set(owml_file libowml-${owml_library}.so.${owml_version})
      add_library(OwmlLlama::${owml_library} SHARED IMPORTED)
      set_target_properties(OwmlLlama::${owml_library} PROPERTIES
        IMPORTED_LOCATION "${OwmlLlama_ROOT}/lib/${owml_file}" IMPORTED_SONAME ${owml_file}
        INTERFACE_INCLUDE_DIRECTORIES "${OwmlLlama_ROOT}/include/owml-llama"
        INTERFACE_COMPILE_DEFINITIONS "GGML_SHARED;GGML_BACKEND_SHARED;GGML_BACKEND_DL;LLAMA_SHARED")
    endforeach()
    set_property(TARGET OwmlLlama::ggml PROPERTY INTERFACE_LINK_LIBRARIES OwmlLlama::ggml-base)
    set_property(TARGET OwmlLlama::llama PROPERTY INTERFACE_LINK_LIBRARIES OwmlLlama::ggml)
    add_library(OwmlLlama::common STATIC IMPORTED)
    set_target_properties(OwmlLlama::common PROPERTIES
      IMPORTED_LOCATION "${OwmlLlama_ROOT}/lib/libowml-llama-common.a"
      INTERFACE_INCLUDE_DIRECTORIES "${OwmlLlama_ROOT}/include/owml-llama-common"
      INTERFACE_LINK_LIBRARIES OwmlLlama::llama)
  endif()
endif()
