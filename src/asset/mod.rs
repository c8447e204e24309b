//! Floor 5: the asset. Cooking a mesh into field + pointshell + mass properties, and the versioned file that holds them.
