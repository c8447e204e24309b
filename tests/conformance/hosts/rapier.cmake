# The host "rapier", which the script builds with cargo; the crate is in rapier/.
voxshell_add_conformance_test(rapier "${hosts}/rapier")
# Building Rapier and the core for it takes four minutes of processor time.
set_tests_properties(conformance.rapier PROPERTIES TIMEOUT 1500)
