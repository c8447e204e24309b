# The host "jolt" and the tests of its adapter, which scripts build with the Jolt that tests/jolt/prepare fetches.
if(VOXSHELL_TEST_SCRIPTS AND VOXSHELL_TEST_EVERYTHING)
  voxshell_add_conformance_test(jolt "${hosts}/jolt")
  # The first of these builds Jolt, which takes two minutes of processor time.
  set_tests_properties(conformance.jolt PROPERTIES TIMEOUT 1500 RESOURCE_LOCK "conformance;jolt")
  foreach(name jolt.pairs example.jolt)
    string(REPLACE example.jolt jolt_example target ${name})
    string(REPLACE . _ target ${target})
    add_test(NAME ${name} COMMAND "${VOXSHELL_CONFORMANCE_DIR}/../jolt/run" "${CMAKE_BINARY_DIR}/jolt"
      "${VOXSHELL_CARGO_DIR}" ${target})
    set_tests_properties(${name} PROPERTIES TIMEOUT 1500 SKIP_RETURN_CODE 77 RESOURCE_LOCK jolt)
    if(VOXSHELL_SANITIZE)
      set_tests_properties(${name} PROPERTIES DISABLED ON) # the scripts build without sanitizers
    endif()
  endforeach()
else()
  voxshell_skip_conformance_host(jolt "tests/campaign ctest runs it, on Linux")
endif()
