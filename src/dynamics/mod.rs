//! Floor 4: rigid bodies in motion. State, symplectic and linearly implicit Euler. Knows wrenches and their gradients;
//! nothing of how contacts are found.
