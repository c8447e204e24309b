/* Collision shapes of arbitrary triangle meshes for Bullet, moving or fixed.
 *
 * Three classes over one base differ in which of the two precomputed forms of a surface they carry:
 *   btVoxelmapShape    a signed distance field, against which the other bodies are tested (scenery, containers)
 *   btPointShellShape  surface samples, which are tested against the fields of the other bodies (tools, small movers)
 *   btVoxShellShape    both: collides with everything, in either role (the usual choice)
 *
 * Frames: the shape uses the frame of its vertices, metres. Bullet takes a body's origin for its centre of mass and its axes
 * for the principal ones; with the constructor's `principal` argument the mesh is moved to that frame. Without it,
 * calculateLocalInertia logs a warning if the centre of mass is off the origin by more than 1% of the largest extent.
 *
 * Errors (unreadable file, empty mesh, too little memory) are thrown as std::runtime_error with the library's own message.
 * A shape is immutable once built, except for its margin, scaling and materials: any number of bodies may share it.
 */
#ifndef VOXSHELL_BULLET_SHAPE_H
#define VOXSHELL_BULLET_SHAPE_H

#include <memory>

#include <BulletCollision/CollisionShapes/btConcaveShape.h>
#include <voxshell/voxshell.h>

class btStridingMeshInterface;

/// Common base of the three shapes. Not for direct use.
ATTRIBUTE_ALIGNED16(class)
btVoxShellBaseShape : public btConcaveShape
{
public:
	BT_DECLARE_ALIGNED_ALLOCATOR();

	btVoxShellBaseShape(const btVoxShellBaseShape&) = delete;
	btVoxShellBaseShape& operator=(const btVoxShellBaseShape&) = delete;
	~btVoxShellBaseShape() override;

	/// Computes the box of the mesh transformed by `t` (conservative when rotated), grown by the margin; metres, world.
	void getAabb(const btTransform& t, btVector3& aabbMin, btVector3& aabbMax) const override;

	/// Computes the moments of inertia of the enclosed volume at uniform density about the centre of mass, along the
	/// shape's axes; kg m². They are exact for a closed mesh, and taken from the field for an open one. Bullet has no
	/// place for products of inertia: see `principal`. Logs a warning, once, if the centre of mass is off the origin.
	void calculateLocalInertia(btScalar mass, btVector3 & inertia) const override;

	/// Serves rays, sweeps and debug drawing of the stock world. A ray is answered from the field, if there is one: it
	/// gets its crossings with the surface, as part 0 and triangle -1 (not when compiled without run-time type
	/// information). Any other callback receives every mesh triangle whose box meets the given box (local, metres); the
	/// first call builds the tree for that.
	void processAllTriangles(btTriangleCallback * callback, const btVector3& aabbMin, const btVector3& aabbMax) const override;

	/// Sets the distance beyond the surface up to which contacts are generated, metres. It never inflates the surface:
	/// bodies rest at distance 0 whatever the margin. (Bullet's sweeps do add the margin of every concave shape.) The
	/// default is one thousandth of the largest extent, but at most 1 mm.
	void setMargin(btScalar margin) override;

	/// Scales the shape exactly. The factor must be positive and the same along x, y and z; it is relative to the size
	/// at construction. The call copies the data: shape objects that share it keep their size. Other factors are
	/// refused: the shape stays unchanged and the log reports it. As with Bullet's own shapes, do not call this while a
	/// world steps, and renew inertia and boxes afterwards.
	void setLocalScaling(const btVector3& scaling) override;
	const btVector3& getLocalScaling() const override;

	/// Returns one static string per library. The collision algorithm uses it to distinguish these shapes from others
	/// of the same proxy type.
	const char* getName() const override;

	/// Returns the library's handle, for the C API. It is valid as long as the shape exists.
	const vxs_shape* getShape() const;
	/// Returns the handle restricted to the forms that this class carries.
	const vxs_shape* getQueryShape() const;
	bool hasField() const;
	bool hasPointShell() const;
	/// Returns the field, scaled; null when this class carries none.
	const vxs_field* getField() const;
	/// Returns the Lipschitz constant of the field: no two of its points differ by more than this per metre of their
	/// distance.
	double getFieldSlope() const;
	/// Returns whether the field is the exact distance of a convex body, such as a box, a cylinder or a hull.
	bool hasConvexField() const;
	/// Returns the resolution, metres, scaled: the edge of a voxel of the field, at most 1/128 of the largest extent where it
	/// is exact near the surface, or the distance between samples where there is no such field; a thousandth of the largest
	/// extent for an analytic field.
	btScalar getResolution() const;
	/// Returns the distance between neighbouring samples, metres, scaled; 0 when this class carries none.
	double getSampleSpacing() const;
	/// Returns a field with samples, for partners that cannot be sampled (a plane, a mesh, another field). The first
	/// call makes it. Returns null for classes that bring samples themselves, and when the shape has no triangles to
	/// sample.
	const vxs_shape* getSampledShape() const;

	/// Gives each triangle a material number: see vxs_shape_create_with_materials. Manifold points then tell their triangle
	/// (m_partId0, m_index0 and those of body 1, as with Bullet's mesh shapes), before gContactAddedCallback is called. A
	/// shape made from a handle or an asset with materials has them already. `count` must be the number of triangles; the
	/// triangles of several parts follow each other. Like setLocalScaling, not while a world steps.
	void setTriangleMaterials(const unsigned* materials, size_t count);
	/// Sets friction and restitution of the triangles with a material number. They take the place of the body's own in
	/// contacts with these triangles, combined as Bullet does by default: products of both bodies' values. A
	/// gContactAddedCallback that changes a value of a point decides that value. Not while a world steps.
	void setMaterial(unsigned material, btScalar friction, btScalar restitution);
	/// Gets what setMaterial set; returns false for a number without it.
	bool getMaterial(unsigned material, btScalar& friction, btScalar& restitution) const;
	/// Makes contacts of this shape patches with pressure: the pressure at depth d is stiffness times d to the power of
	/// btVoxShellSettings::m_patchExponent; Pa/m in the default, linear law. Shapes without a stiffness, and Bullet's own, are
	/// rigid. 0, the default: contacts with other shapes without a stiffness are points. Set it before the body is added to a
	/// world. It applies to the shape as scaled.
	void setStiffness(btScalar stiffness);
	btScalar getStiffness() const;
	/// Returns whether the triangles have material numbers.
	bool hasTriangleMaterials() const;
	/// Converts the number of a triangle of the whole mesh to a part and a number in it, as Bullet's mesh shapes use
	/// them. Only shapes made from a btStridingMeshInterface with several parts have parts other than 0.
	void getPartAndIndex(unsigned triangle, int& part, int& index) const;

	/// Writes all data that was given or cooked, unscaled, to an asset file; the constructors from a path read it.
	/// Bullet's own serialisation keeps the data of btCollisionShape (name and type). Throws when the file cannot be
	/// written.
	void saveAsset(const char* path) const;

	/// Gets volume (m³), centre of mass (m, shape's frame) and inertia per unit mass about it; returns false for a
	/// shape without volume.
	bool getMassProperties(vxs_mass_properties & out) const;

	/// Returns the centre (m, shape's frame) of the mesh's box; the second function returns its half extents.
	const btVector3& getLocalCenter() const { return m_center; }
	const btVector3& getLocalHalfExtents() const { return m_halfExtents; }

	static const char* staticName();

	/// Returns `shape` as one of these classes; null for any other shape.
	static const btVoxShellBaseShape* upcast(const btCollisionShape* shape);

protected:
	enum Forms
	{
		FIELD = 1,
		POINTSHELL = 2
	};

	btVoxShellBaseShape(unsigned forms, const btStridingMeshInterface& mesh, const vxs_cook_options* options, btTransform* principal);
	btVoxShellBaseShape(unsigned forms, const char* path, const vxs_cook_options* options, btTransform* principal);
	btVoxShellBaseShape(unsigned forms, const vxs_shape* shape);

private:
	struct Data;
	void adopt(unsigned forms, vxs_shape* shape);
	void use(vxs_shape* scaled);

	std::unique_ptr<Data> m_data;
	btVector3 m_center;
	btVector3 m_halfExtents;
};

/// A signed distance field only: fixed scenery for everything that moves.
///
/// Bullet's convex shapes are sampled (4,000 points each, once per size) to collide with it. Against shapes that cannot
/// be sampled, such as a plane or a mesh, and against another btVoxelmapShape, this shape is sampled when first needed.
/// \code
/// btVoxShellCollisionAlgorithm::registerAlgorithm(&dispatcher);
/// btVoxelmapShape* cave = new btVoxelmapShape("cave.vxs");
/// btRigidBody* body = new btRigidBody(0, nullptr, cave);   // fixed
/// world.addRigidBody(body);
/// world.stepSimulation(1.f / 200, 0);
/// \endcode
ATTRIBUTE_ALIGNED16(class)
btVoxelmapShape : public btVoxShellBaseShape
{
public:
	BT_DECLARE_ALIGNED_ALLOCATOR();

	/// @param mesh       triangles, copied; closed or not; vertices within the rounding of their numbers are merged
	/// @param options    null: the library's defaults
	/// @param principal  if not null, the mesh is moved to its centre of mass and principal axes first, and `*principal`
	///                   receives that frame in the mesh's own (multiply a body's world transform by it)
	explicit btVoxelmapShape(const btStridingMeshInterface& mesh, const vxs_cook_options* options = nullptr, btTransform* principal = nullptr)
		: btVoxShellBaseShape(FIELD, mesh, options, principal) {}
	/// @param path       a cooked asset, or a mesh file (.obj, .stl, .ply), which is cooked with `options`
	/// @param principal  as above, for a mesh file; an asset keeps the frame in which it was cooked, and throws
	explicit btVoxelmapShape(const char* path, const vxs_cook_options* options = nullptr, btTransform* principal = nullptr)
		: btVoxShellBaseShape(FIELD, path, options, principal) {}
	/// Shares the data of a shape made through the C API; the caller keeps its handle.
	explicit btVoxelmapShape(const vxs_shape* shape) : btVoxShellBaseShape(FIELD, shape) {}
};

/// Surface samples only: a mover that touches fields (btVoxelmapShape, btVoxShellShape and all of Bullet's own shapes).
///
/// Two of these shapes do not collide with each other.
/// \code
/// btVoxShellCollisionAlgorithm::registerAlgorithm(&dispatcher);
/// btPointShellShape* tool = new btPointShellShape("tool.vxs");
/// btVector3 inertia;
/// tool->calculateLocalInertia(1, inertia);
/// world.addRigidBody(new btRigidBody(1, motionState, tool, inertia));
/// \endcode
ATTRIBUTE_ALIGNED16(class)
btPointShellShape : public btVoxShellBaseShape
{
public:
	BT_DECLARE_ALIGNED_ALLOCATOR();

	/// See btVoxelmapShape.
	explicit btPointShellShape(const btStridingMeshInterface& mesh, const vxs_cook_options* options = nullptr, btTransform* principal = nullptr)
		: btVoxShellBaseShape(POINTSHELL, mesh, options, principal) {}
	explicit btPointShellShape(const char* path, const vxs_cook_options* options = nullptr, btTransform* principal = nullptr)
		: btVoxShellBaseShape(POINTSHELL, path, options, principal) {}
	explicit btPointShellShape(const vxs_shape* shape) : btVoxShellBaseShape(POINTSHELL, shape) {}
};

/// Field and samples: collides with every Voxshell shape and with all of Bullet's shapes except soft bodies, moving or
/// fixed.
/// \code
/// btVoxShellCollisionAlgorithm::registerAlgorithm(&dispatcher);
/// btTransform frame;
/// btVoxShellShape* knot = new btVoxShellShape(triangleMesh, nullptr, &frame);   // a btTriangleMesh
/// knot->calculateLocalInertia(1, inertia);
/// world.addRigidBody(new btRigidBody(1, new btDefaultMotionState(start * frame), knot, inertia));
/// \endcode
ATTRIBUTE_ALIGNED16(class)
btVoxShellShape : public btVoxShellBaseShape
{
public:
	BT_DECLARE_ALIGNED_ALLOCATOR();

	/// See btVoxelmapShape.
	explicit btVoxShellShape(const btStridingMeshInterface& mesh, const vxs_cook_options* options = nullptr, btTransform* principal = nullptr)
		: btVoxShellBaseShape(FIELD | POINTSHELL, mesh, options, principal) {}
	explicit btVoxShellShape(const char* path, const vxs_cook_options* options = nullptr, btTransform* principal = nullptr)
		: btVoxShellBaseShape(FIELD | POINTSHELL, path, options, principal) {}
	explicit btVoxShellShape(const vxs_shape* shape) : btVoxShellBaseShape(FIELD | POINTSHELL, shape) {}
};

#endif
