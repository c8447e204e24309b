# The functions that a header declares, in the order of their names.
function(voxshell_declared_functions header names)
  file(READ "${header}" text)
  string(REGEX REPLACE "/\\*[^*]*\\*+([^/*][^*]*\\*+)*/" "" text "${text}")
  string(REGEX MATCHALL "vxs_[a-z0-9_]+\\(" found "${text}")
  list(TRANSFORM found REPLACE "\\(" "")
  list(SORT found)
  set(${names} "${found}" PARENT_SCOPE)
endfunction()
