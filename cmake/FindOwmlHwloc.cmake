# Finds the headers of hwloc 2; the product loads the library at run time, where somebody needs it.
#
#   OwmlHwloc::headers       include folder with hwloc.h
#   OwmlHwloc_VERSION        their version
include(FindPackageHandleStandardArgs)
find_path(OwmlHwloc_INCLUDE_DIR hwloc.h)
if(OwmlHwloc_INCLUDE_DIR)
  # The version of the interface, 0x00020800 for 2.8.
  file(STRINGS "${OwmlHwloc_INCLUDE_DIR}/hwloc.h" owml_hwloc_version REGEX "^#define HWLOC_API_VERSION 0x")
  if(owml_hwloc_version MATCHES "0x([0-9a-f][0-9a-f][0-9a-f][0-9a-f])([0-9a-f][0-9a-f])")
    math(EXPR owml_hwloc_major "0x${CMAKE_MATCH_1}")
    math(EXPR owml_hwloc_minor "0x${CMAKE_MATCH_2}")
    set(OwmlHwloc_VERSION "${owml_hwloc_major}.${owml_hwloc_minor}")
  endif()
endif()
find_package_handle_standard_args(OwmlHwloc REQUIRED_VARS OwmlHwloc_INCLUDE_DIR VERSION_VAR OwmlHwloc_VERSION
  HANDLE_VERSION_RANGE)
if(OwmlHwloc_FOUND AND NOT TARGET OwmlHwloc::headers)
  add_library(OwmlHwloc::headers INTERFACE IMPORTED)
  set_target_properties(OwmlHwloc::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${OwmlHwloc_INCLUDE_DIR}")
endif()
