// Shapes that stand for a host's own geometries.
#ifndef VOXSHELL_HOST_STOCK_SHAPES_H
#define VOXSHELL_HOST_STOCK_SHAPES_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include <voxshell/cook.h>

namespace voxshell::host {

/// Makes shapes of a host's geometries and keeps them by their sizes, so that a thousand equal boxes share one shape.
///
/// Boxes have a mesh, so that queries with VXS_COVERAGE_EDGES miss no contact of their edges. Balls, capsules and
/// cylinders have the exact field and about 10,000 samples, which miss at most 0.2% of the radius in depth if they are
/// no longer than four diameters. A half-space is a field only. Frames: centred at the origin, the axis of capsules and
/// cylinders along z. Shapes belong to this object; they stay valid as long as it exists. Any number of threads may
/// call these functions.
/// @return of all functions: the shape, or null with the reason in vxs_last_error
class StockShapes {
public:
    StockShapes() = default;
    ~StockShapes();
    StockShapes(const StockShapes&) = delete;
    StockShapes& operator=(const StockShapes&) = delete;

    /// @param half_extents  half the edge lengths, metres
    const vxs_shape* box(const vxs_vec3& half_extents);
    const vxs_shape* ball(double radius);
    /// @param half_length  of the segment between the centres of the caps, metres
    const vxs_shape* capsule(double radius, double half_length);
    const vxs_shape* cylinder(double radius, double half_length);
    /// The half-space of all x with normal · x <= offset.
    const vxs_shape* half_space(const vxs_vec3& normal, double offset);

private:
    template <class Make> const vxs_shape* find(const std::array<double, 5>& key, const Make& make);

    std::mutex m_mutex;
    std::map<std::array<double, 5>, vxs_shape*> m_shapes;
};

} // namespace voxshell::host

#endif
