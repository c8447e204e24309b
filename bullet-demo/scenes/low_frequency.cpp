// A body dropped from half a metre onto an infinite plane. The time step grows from row to row.
#include "scene.h"
#include "voxshell-bullet-demo/src/bridge.rs.h"

void demo::low_frequency(Scene& scene, const Setup& setup) {
    drop_plane(scene, setup);
    scene.prevent_tunnelling();
}
