# What CMake's HIP language needs to know of Debian's libamdhip64; see cmake/hip.cmake.
if(NOT TARGET hip-lang::device)
  # Not find_library: CMake's own compiler test knows no multiarch folder.
  file(GLOB hip_runtime /usr/lib/*-linux-gnu/libamdhip64.so)
  add_library(hip-lang::amdhip64 UNKNOWN IMPORTED)
  set_target_properties(hip-lang::amdhip64 PROPERTIES IMPORTED_LOCATION "${hip_runtime}")
  add_library(hip-lang::host INTERFACE IMPORTED)
  target_link_libraries(hip-lang::host INTERFACE hip-lang::amdhip64)
  add_library(hip-lang::device INTERFACE IMPORTED)
  target_link_libraries(hip-lang::device INTERFACE hip-lang::amdhip64)
  target_link_options(hip-lang::device INTERFACE $<$<LINK_LANGUAGE:HIP>:--hip-link>)
endif()
set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET hip-lang::device)
