// Voxshell bodies in Jolt Physics 5.0: a shape that collides with all shapes of Jolt, with moving bodies on both sides.
//
//   JPH::RegisterDefaultAllocator();
//   JPH::Factory::sInstance = new JPH::Factory;
//   JPH::RegisterTypes();
//   voxshell::jolt::Register();                                        // once
//   JPH::ShapeRefC shape = voxshell::jolt::VoxshellShape::sCreate(asset).Get();   // a vxs_shape of the C API
//   JPH::BodyCreationSettings body(shape, position, rotation, JPH::EMotionType::Dynamic, layer);
//
// Lengths are metres. Positions are relative to the centre of mass, as in all shapes of Jolt.
#ifndef VOXSHELL_JOLT_H
#define VOXSHELL_JOLT_H

#include <Jolt/Jolt.h>

#include <Jolt/Core/Core.h>
#include <Jolt/Physics/Collision/CollideShape.h>
#include <Jolt/Physics/Collision/PhysicsMaterial.h>
#include <Jolt/Physics/Collision/Shape/Shape.h>
#ifdef JPH_DEBUG_RENDERER
#include <Jolt/Renderer/DebugRenderer.h>
#endif

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <voxshell/voxshell.h>

// The virtual functions of JPH::Shape, and what the solver makes of a hit, differ between minor versions.
#if JPH_VERSION_MAJOR != 5 || JPH_VERSION_MINOR != 0
#error "voxshell/jolt.h was written for Jolt Physics 5.0"
#endif

namespace voxshell::jolt {

/// Settings of all Voxshell shapes of a process.
struct Settings {
    /// One of VXS_COVERAGE_, for contacts. Casts always use VXS_COVERAGE_EDGES.
    uint32_t coverage = VXS_COVERAGE_FACETS;
    /// Triangles, meshes and height fields of Jolt are sheets: a sample up to this far behind one, in metres, is
    /// recognised as having passed through. Half the thickness of the bodies is a good value.
    float sheet_depth = 0.05f;
    /// Contacts per direction of the normal. Jolt merges hits whose normals differ by less than 5 degrees into one
    /// manifold and keeps four of its points; the adapter chooses these four itself, because Jolt's choice may drop the
    /// deepest. Bodies without manifold reduction (BodyCreationSettings::mUseManifoldReduction) can take more. 0: all.
    uint32_t contacts_per_normal = 4;
    /// Cosine of the angle between two directions. It should not be above the world's
    /// PhysicsSettings::mContactNormalCosMaxDeltaRotation, whose default this is.
    float normal_cos_angle = 0.99619469809174553f;
    /// Number of samples in contact above which the library thins them: vxs_query_step::dense_above.
    uint64_t dense_above = 256;
    /// Directory in which cooked shapes of convex hulls are kept from run to run. Empty: they are cooked in each run.
    std::string cache_directory;
};

/// Largest number of directions of the normal, and so of manifolds, of a pair of shapes. Jolt keeps 32 manifolds per
/// pair.
constexpr uint32_t kMaxDirections = 32;

/// Registers the shape for construction, collision and casts with all shapes of Jolt. Call it once, before or after
/// JPH::RegisterTypes, and again to change settings while no thread uses Jolt.
/// @param sub_type  a user defined type of Jolt, User1 to User8, that the program does not use otherwise
/// @return false if the Jolt library has another version or other build options than its headers, or `sub_type` is none
/// of
///         these
bool Register(const Settings& settings = Settings(), JPH::EShapeSubType sub_type = JPH::EShapeSubType::User1);

/// Releases the cooked shapes of Jolt's shapes. Call it after the last use of Jolt and before the allocator is gone.
void Unregister();

/// Cooks the shape that stands for one of Jolt's own convex, mesh or height field shapes. Without it, the first contact
/// with a Voxshell shape does so, in the middle of a step: this takes up to some tens of milliseconds.
/// @return false for a shape that cannot be cooked, such as a hull without volume; JPH::Trace has the reason
bool Prepare(const JPH::Shape* shape, JPH::Vec3Arg scale = JPH::Vec3::sReplicate(1.0f));

/// A shape over a vxs_shape. It can belong to bodies of any motion type, to compound shapes and to decorated shapes.
///
/// A sub shape id names a triangle of the mesh, and a number that keeps the ids of the hits of a pair apart.
class VoxshellShape final : public JPH::Shape {
public:
    JPH_OVERRIDE_NEW_DELETE

    /// For Jolt's factory; use sCreate.
    VoxshellShape();
    ~VoxshellShape() override;

    /// Creates the shape.
    /// @param shape      retained. With a field and a pointshell it collides with all shapes; without a pointshell with
    /// those
    ///                   that have one, which are all but triangles, meshes and height fields. Not infinite
    /// @param density    kg/m³, for the mass of dynamic bodies
    /// @param materials  by the material numbers of the triangles (vxs_shape_create_with_materials)
    static ShapeResult sCreate(const vxs_shape* shape, float density = 1000.0f,
                               const JPH::PhysicsMaterialList& materials = {});

    /// Returns the shape in its own frame, whose origin is at -GetCenterOfMass() of Jolt's frame.
    const vxs_shape* GetVoxshell() const { return m_shape; }
    /// Returns the shape at a uniform scale; null if the library has no memory for it. The first call with a scale
    /// makes a copy, which is as large as the shape.
    const vxs_shape* GetScaled(float scale) const;
    /// Returns the number of the triangle of a sub shape id, and removes the shape's bits from the id.
    uint32_t GetTriangle(const JPH::SubShapeID& id) const;
    /// Returns the outward unit normal of a triangle.
    vxs_vec3 GetTriangleNormal(uint32_t triangle) const;
    /// Number of the shape in the order of creation; shapes are told apart by it and not by their address, so that
    /// equal programs get equal contacts.
    uint64_t GetSerial() const { return m_serial; }
    /// Returns the id of a triangle.
    /// @param ordinal  below kMaxOrdinals
    JPH::SubShapeIDCreator GetID(const JPH::SubShapeIDCreator& creator, uint32_t triangle, uint32_t ordinal) const;
    static constexpr uint32_t kOrdinalBits = 7;
    static constexpr uint32_t kMaxOrdinals = 1u << kOrdinalBits;

    // See JPH::Shape.
    bool MustBeStatic() const override { return m_volume <= 0; }
    JPH::Vec3 GetCenterOfMass() const override { return m_center; }
    JPH::AABox GetLocalBounds() const override { return m_bounds; }
    JPH::uint GetSubShapeIDBitsRecursive() const override { return m_triangle_bits + kOrdinalBits; }
    float GetInnerRadius() const override { return m_inner_radius; }
    JPH::MassProperties GetMassProperties() const override;
    const JPH::PhysicsMaterial* GetMaterial(const JPH::SubShapeID& id) const override;
    JPH::Vec3 GetSurfaceNormal(const JPH::SubShapeID& id, JPH::Vec3Arg position) const override;
    void GetSupportingFace(const JPH::SubShapeID& id, JPH::Vec3Arg direction, JPH::Vec3Arg scale,
                           JPH::Mat44Arg transform, SupportingFace& vertices) const override;
    void GetSubmergedVolume(JPH::Mat44Arg transform, JPH::Vec3Arg scale, const JPH::Plane& surface, float& total_volume,
                            float& submerged_volume,
                            JPH::Vec3& center_of_buoyancy JPH_IF_DEBUG_RENDERER(, JPH::RVec3Arg offset)) const override;
#ifdef JPH_DEBUG_RENDERER
    void Draw(JPH::DebugRenderer* renderer, JPH::RMat44Arg transform, JPH::Vec3Arg scale, JPH::ColorArg color,
              bool use_material_colors, bool draw_wireframe) const override;
#endif
    bool CastRay(const JPH::RayCast& ray, const JPH::SubShapeIDCreator& creator,
                 JPH::RayCastResult& hit) const override;
    void CastRay(const JPH::RayCast& ray, const JPH::RayCastSettings& settings, const JPH::SubShapeIDCreator& creator,
                 JPH::CastRayCollector& collector, const JPH::ShapeFilter& filter = {}) const override;
    void CollidePoint(JPH::Vec3Arg point, const JPH::SubShapeIDCreator& creator, JPH::CollidePointCollector& collector,
                      const JPH::ShapeFilter& filter = {}) const override;
    void CollideSoftBodyVertices(JPH::Mat44Arg transform, JPH::Vec3Arg scale, JPH::SoftBodyVertex* vertices,
                                 JPH::uint count, float dt, JPH::Vec3Arg displacement,
                                 int colliding_shape) const override;
    void GetTrianglesStart(GetTrianglesContext& context, const JPH::AABox& box, JPH::Vec3Arg position,
                           JPH::QuatArg rotation, JPH::Vec3Arg scale) const override;
    int GetTrianglesNext(GetTrianglesContext& context, int capacity, JPH::Float3* vertices,
                         const JPH::PhysicsMaterial** materials = nullptr) const override;
    void SaveBinaryState(JPH::StreamOut& stream) const override;
    void SaveMaterialState(JPH::PhysicsMaterialList& materials) const override { materials = m_materials; }
    void RestoreMaterialState(const JPH::PhysicsMaterialRefC* materials, JPH::uint count) override;
    Stats GetStats() const override;
    float GetVolume() const override { return m_volume; }
    /// A scale must be uniform and positive.
    bool IsValidScale(JPH::Vec3Arg scale) const override;

protected:
    void RestoreBinaryState(JPH::StreamIn& stream) override;

private:
    struct Scaled {
        float scale;
        vxs_shape* shape;
        Scaled* next;
    };

    bool init(const vxs_shape* shape);
    float estimate_inner_radius() const;
    JPH::Vec3 corner(uint32_t triangle, uint32_t i) const { return JPH::Vec3(m_vertices[m_indices[3 * triangle + i]]); }
    uint32_t triangle_at(const vxs_vec3& point, const vxs_vec3& normal) const;
    const JPH::PhysicsMaterial* material_of(uint32_t triangle) const;

    vxs_shape* m_shape = nullptr;
    vxs_field* m_field = nullptr; // null without a field
    mutable std::atomic<Scaled*> m_scaled = nullptr;
    uint64_t m_serial;
    uint32_t m_triangle_bits = 0;
    float m_density = 1000;
    float m_volume = 0;       // m³
    float m_inner_radius = 0; // m
    double m_inertia[6] = {}; // per unit mass, m², as in vxs_mass_properties
    JPH::Vec3 m_center = JPH::Vec3::sZero();
    JPH::AABox m_bounds;
    std::vector<JPH::Float3> m_vertices; // relative to the centre of mass
    std::vector<uint32_t> m_indices;
    std::vector<uint32_t> m_triangle_materials; // empty: none
    JPH::PhysicsMaterialList m_materials;
#ifdef JPH_DEBUG_RENDERER
    mutable JPH::DebugRenderer::GeometryRef m_geometry;
#endif
};

} // namespace voxshell::jolt

#endif
