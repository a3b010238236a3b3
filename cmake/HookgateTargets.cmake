# One static library per folder, all with the same options.
add_library(hookgate_options INTERFACE)
target_compile_features(hookgate_options INTERFACE cxx_std_20)
target_include_directories(hookgate_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
target_compile_options(hookgate_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  # GCC 12 reports it for every copied std::variant that can hold a string; valgrind and ASan look for the real ones.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  $<$<BOOL:${HOOKGATE_WERROR}>:-Werror>)
if(HOOKGATE_SANITIZE STREQUAL "thread")
  # ThreadSanitizer does not see Asio's fences; what they order is also under its mutexes.
  target_compile_options(hookgate_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
endif()
if(HOOKGATE_SANITIZE)
  target_compile_options(hookgate_options INTERFACE
    -fsanitize=${HOOKGATE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(hookgate_options INTERFACE -fsanitize=${HOOKGATE_SANITIZE})
endif()

# hookgate_library(<name> [<dependency>...]): static target hookgate_<name> of the .cpp files of this folder.
function(hookgate_library name)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  add_library(hookgate_${name} STATIC ${sources})
  target_link_libraries(hookgate_${name} PUBLIC hookgate_options ${ARGN})
endfunction()

# hookgate_test(<folder> <label> [<dependency>...]): one test program of the *_test.cpp files of this folder.
# Labels: unit (no I/O), postgres (a real server), e2e (the whole binary).
function(hookgate_test folder label)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp")
  if(NOT sources)
    return()
  endif()
  add_executable(${folder}_test ${sources})
  target_link_libraries(${folder}_test PRIVATE hookgate_options ${ARGN} GTest::gtest_main GTest::gmock)
  target_compile_definitions(${folder}_test PRIVATE HOOKGATE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  gtest_discover_tests(${folder}_test DISCOVERY_MODE PRE_TEST
    PROPERTIES LABELS ${label} TIMEOUT 300
    DISCOVERY_TIMEOUT 120)
endfunction()
