# What `cmake --install` writes, and the packages by which other projects find it. Included last by the root.
#
# Components: Runtime (libraries), Development (headers, CMake and pkg-config packages), Tools (owml), OnnxRuntime (the
# fetched library; a distribution that has its own leaves it out with OWML_INSTALL_ONNXRUNTIME=OFF or by component).
option(OWML_INSTALL "Write install rules" ${PROJECT_IS_TOP_LEVEL})
option(OWML_INSTALL_ONNXRUNTIME "Install the ONNX Runtime that tools/bootstrap fetched beside the libraries" ON)
if(NOT OWML_INSTALL)
  return()
endif()

include(CMakePackageConfigHelpers)

# Off the usual include path, because portable/ has names of the Windows SDK: nobody finds them without asking for us.
set(owml_include_dir ${CMAKE_INSTALL_INCLUDEDIR}/openwinml-1)
set(owml_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake)
set(owml_license_dir ${CMAKE_INSTALL_DATADIR}/licenses/openwinml)
set(owml_public_libraries Runtime Tokenizer Tasks)

# Headers.
target_include_directories(owml_headers INTERFACE $<INSTALL_INTERFACE:${owml_include_dir}>)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${owml_include_dir} COMPONENT Development
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN portable EXCLUDE)
if(NOT WIN32)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/portable/ DESTINATION ${owml_include_dir} COMPONENT Development
          FILES_MATCHING PATTERN "*.h")
endif()

# Libraries and programs.
set(owml_targets owml_headers)
foreach(library IN LISTS owml_public_libraries)
  string(TOLOWER winml_${library} target)
  set_property(TARGET ${target} PROPERTY EXPORT_NAME ${library})
  list(APPEND owml_targets ${target})
endforeach()
set_property(TARGET owml_headers PROPERTY EXPORT_NAME Headers)
install(TARGETS ${owml_targets} EXPORT OpenWinMLTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Runtime NAMELINK_COMPONENT Development
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Development
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT Runtime)
if(TARGET owml)
  file(RELATIVE_PATH owml_libraries_from_programs ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_property(TARGET owml PROPERTY INSTALL_RPATH $ORIGIN/${owml_libraries_from_programs})
  install(TARGETS owml RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT Tools)
endif()

# llama.cpp as the bootstrap built it; the CPU modules lie beside it, see backend/llama/llama_library.cpp.
if(OwmlLlama_FOUND)
  install(PROGRAMS ${OwmlLlama_LIBRARIES_TO_INSTALL} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Runtime)
  install(DIRECTORY ${OwmlLlama_BACKEND_DIR}/ DESTINATION ${CMAKE_INSTALL_LIBDIR}/owml-ggml-backends
          COMPONENT Runtime USE_SOURCE_PERMISSIONS FILES_MATCHING PATTERN "*.so")
  install(FILES ${OwmlLlama_LICENSE} DESTINATION ${owml_license_dir}/llama.cpp COMPONENT Runtime)
endif()

# In a folder of our own, so that nobody else's ONNX Runtime is shadowed; backend/ort/ort_library.cpp looks there last.
# A library that the user named is the user's to install.
if(OwmlOrt_FOUND AND OWML_INSTALL_ONNXRUNTIME AND NOT OWML_ORT_LIBRARY)
  install(PROGRAMS ${OwmlOrt_LIBRARY} DESTINATION ${CMAKE_INSTALL_LIBDIR}/openwinml COMPONENT OnnxRuntime)
  install(FILES ${OwmlOrt_LICENSES} DESTINATION ${owml_license_dir}/onnxruntime COMPONENT OnnxRuntime)
endif()

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/THIRD_PARTY.md DESTINATION ${owml_license_dir}
        COMPONENT Runtime)
# Header-only libraries whose code is in ours; fmt's licence asks for no copy with object code.
install(FILES ${CMAKE_CURRENT_LIST_DIR}/licenses/nlohmann_json.txt DESTINATION ${owml_license_dir}/nlohmann_json
        RENAME LICENSE COMPONENT Runtime)
if(TARGET owml)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/licenses/CLI11.txt DESTINATION ${owml_license_dir}/CLI11
          RENAME LICENSE COMPONENT Tools)
endif()

# CMake packages: OpenWinML, and WindowsML for projects written against the SDK.
install(EXPORT OpenWinMLTargets NAMESPACE OpenWinML:: DESTINATION ${owml_cmake_dir}/OpenWinML COMPONENT Development)
foreach(package OpenWinML WindowsML)
  configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/${package}Config.cmake.in ${package}Config.cmake
                                INSTALL_DESTINATION ${owml_cmake_dir}/${package}
                                NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
  # The major version is also the soname's.
  write_basic_package_version_file(${package}ConfigVersion.cmake COMPATIBILITY SameMajorVersion)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${package}Config.cmake ${CMAKE_CURRENT_BINARY_DIR}/${package}ConfigVersion.cmake
          DESTINATION ${owml_cmake_dir}/${package} COMPONENT Development)
endforeach()

# pkg-config packages, relocatable: every path is relative to the file.
set(owml_pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
foreach(path IN ITEMS LIBDIR INCLUDEDIR)
  file(RELATIVE_PATH owml_relative_${path} ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_FULL_${path}})
endforeach()
set(owml_description_Runtime "Local AI models behind the Windows ML Runtime API")
set(owml_description_Tokenizer "Tokenizers and chat templates for OpenWinML")
set(owml_description_Tasks "Task entry objects for OpenWinML")
foreach(library IN LISTS owml_public_libraries)
  string(TOLOWER ${library} owml_library)
  set(owml_description "${owml_description_${library}}")
  set(owml_requires "")
  if(NOT library STREQUAL Runtime)
    set(owml_requires "openwinml-runtime = ${PROJECT_VERSION}")
  endif()
  configure_file(${CMAKE_CURRENT_LIST_DIR}/openwinml.pc.in openwinml-${owml_library}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/openwinml-${owml_library}.pc DESTINATION ${owml_pkgconfig_dir}
          COMPONENT Development)
endforeach()
