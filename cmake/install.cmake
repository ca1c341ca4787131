# Installs the libraries for find_package(icobench).
include(CMakePackageConfigHelpers)
install(DIRECTORY include/icobench DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        REGEX "icobench/(kernels|grids)$" EXCLUDE) # links
foreach(folder kernels grids)
  install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/icobench/${folder}
          FILES_MATCHING PATTERN "*.hpp")
endforeach()
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/icobench)
install(TARGETS icobench ${ICOBENCH_INSTALLED_TARGETS} EXPORT icobench-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT icobench-targets NAMESPACE icobench:: DESTINATION ${package_folder})
configure_package_config_file(cmake/config.cmake.in ${PROJECT_BINARY_DIR}/icobench-config.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/icobench-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/icobench-config.cmake
              ${PROJECT_BINARY_DIR}/icobench-config-version.cmake DESTINATION ${package_folder})
