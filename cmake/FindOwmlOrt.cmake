# Finds ONNX Runtime's C headers, and the library that tests and packages use; the product loads a library at run time.
#
#   OwmlOrt::headers         include folder with onnxruntime_c_api.h and onnxruntime_ep_c_api.h
#   OwmlOrt_LIBRARY          the fetched libonnxruntime.so.<version>
#   OwmlOrt_VERSION          its version
#   OwmlOrt_LICENSES         its licence texts, to be shipped with the library
#
# OWML_ORT_INCLUDE_DIR and OWML_ORT_LIBRARY may be set by the user to another installation.
include(${CMAKE_CURRENT_LIST_DIR}/OwmlCache.cmake)
include(FindPackageHandleStandardArgs)

string(JSON owml_level GET "${OWML_PACKAGES_JSON}" onnxruntime_headers api_level)
string(JSON OwmlOrt_VERSION GET "${OWML_PACKAGES_JSON}" onnxruntime version)
set(OWML_ORT_INCLUDE_DIR "" CACHE PATH "Folder with onnxruntime_c_api.h; empty: the one that tools/bootstrap fetched")
set(OWML_ORT_LIBRARY "" CACHE FILEPATH "ONNX Runtime library for tests; empty: the one that tools/bootstrap fetched")

owml_first_existing(OwmlOrt_INCLUDE_DIR ${OWML_ORT_INCLUDE_DIR}
                    "${OWML_CACHE_DIR}/onnxruntime-headers-${owml_level}/include")
owml_first_existing(OwmlOrt_LIBRARY ${OWML_ORT_LIBRARY}
                    "${OWML_CACHE_DIR}/onnxruntime-${OwmlOrt_VERSION}/lib/libonnxruntime.so.${OwmlOrt_VERSION}")
set(OwmlOrt_LICENSES "${OWML_CACHE_DIR}/onnxruntime-${OwmlOrt_VERSION}/LICENSE"
                     "${OWML_CACHE_DIR}/onnxruntime-${OwmlOrt_VERSION}/ThirdPartyNotices.txt")

find_package_handle_standard_args(OwmlOrt REQUIRED_VARS OwmlOrt_INCLUDE_DIR OwmlOrt_LIBRARY
  VERSION_VAR OwmlOrt_VERSION
  REASON_FAILURE_MESSAGE "no ONNX Runtime headers or library in ${OWML_CACHE_DIR}, run tools/bootstrap")

if(OwmlOrt_FOUND AND NOT TARGET OwmlOrt::headers)
  add_library(OwmlOrt::headers INTERFACE IMPORTED)
  set_target_properties(OwmlOrt::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${OwmlOrt_INCLUDE_DIR}")
endif()
