# The host "rapier", which the script builds with cargo; the crate is in rapier/.
if(VOXSHELL_TEST_SCRIPTS AND VOXSHELL_TEST_EVERYTHING)
  voxshell_add_conformance_test(rapier "${hosts}/rapier")
  # Building Rapier and the core for it takes four minutes of processor time.
  set_tests_properties(conformance.rapier PROPERTIES TIMEOUT 1500)
else()
  voxshell_skip_conformance_host(rapier "tests/campaign ctest runs it, on Linux")
endif()
