# Installs the header-only library for find_package(icobench).
include(CMakePackageConfigHelpers)
install(DIRECTORY include/icobench DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        PATTERN kernels EXCLUDE) # a link
install(DIRECTORY kernels/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/icobench/kernels
        FILES_MATCHING PATTERN "*.hpp")
install(TARGETS icobench EXPORT icobench-targets)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/icobench)
install(EXPORT icobench-targets NAMESPACE icobench:: DESTINATION ${package_folder}
        FILE icobench-config.cmake)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/icobench-config-version.cmake
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/icobench-config-version.cmake DESTINATION ${package_folder})
