# The host "mujoco", which the script builds in an environment with the wheel of MuJoCo; see tests/mujoco/prepare.
if(VOXSHELL_TEST_SCRIPTS)
  voxshell_add_conformance_test(mujoco "${hosts}/mujoco")
  set_tests_properties(conformance.mujoco PROPERTIES RESOURCE_LOCK "conformance;mujoco")
else()
  voxshell_skip_conformance_host(mujoco "the plugin is tested where the tests are built, on Linux, only")
endif()
