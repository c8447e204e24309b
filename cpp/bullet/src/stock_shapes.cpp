#include "stock_shapes.h"

#include <cstring>
#include <list>
#include <mutex>

#include <BulletCollision/CollisionShapes/btBoxShape.h>
#include <BulletCollision/CollisionShapes/btCapsuleShape.h>
#include <BulletCollision/CollisionShapes/btConeShape.h>
#include <BulletCollision/CollisionShapes/btConvexHullShape.h>
#include <BulletCollision/CollisionShapes/btConvexTriangleMeshShape.h>
#include <BulletCollision/CollisionShapes/btCylinderShape.h>
#include <BulletCollision/CollisionShapes/btMultiSphereShape.h>
#include <BulletCollision/CollisionShapes/btSphereShape.h>
#include <BulletCollision/CollisionShapes/btStaticPlaneShape.h>
#include <BulletCollision/CollisionShapes/btStridingMeshInterface.h>
#include <LinearMath/btConvexHullComputer.h>

#include "log.h"
#include "mesh_input.h"
#include "vec.h"

namespace voxshell_bullet
{
namespace
{
template <typename T>
const T* as(const btCollisionShape* shape)
{
	return static_cast<const T*>(shape);
}

void put(Signature& s, const btVector3& v)
{
	for (int i = 0; i < 3; ++i)
		s.numbers[i] = double(v[i]);
}

/// Returns directions spread evenly over the sphere (a spiral of equal areas), and the six along the axes.
const std::vector<btVector3>& directions()
{
	static const std::vector<btVector3> all = [] {
		const int count = 636;
		const double turn = 2.399963229728653;  // the golden angle
		std::vector<btVector3> made;
		for (int i = 0; i < count; ++i)
		{
			const double z = 1 - (2 * i + 1) / double(count), r = std::sqrt(1 - z * z);
			made.push_back(to_bt({r * std::cos(turn * i), r * std::sin(turn * i), z}));
		}
		for (int axis = 0; axis < 3; ++axis)
			for (const btScalar sign : {btScalar(1), btScalar(-1)})
			{
				btVector3 direction(0, 0, 0);
				direction[axis] = sign;
				made.push_back(direction);
			}
		return made;
	}();
	return all;
}

/// Makes the triangles of one of the library's round primitives, whose axis is y, turned to `axis`.
bool turned_primitive(uint32_t kind, double radius, double length, int axis, Soup& soup)
{
	vxs_primitive primitive;
	vxs_cook_options options;
	if (vxs_primitive_init(&primitive, sizeof primitive, kind) != VXS_OK || vxs_cook_options_init(&options, sizeof options) != VXS_OK)
		return false;
	primitive.size[0] = radius;
	primitive.size[1] = length;
	options.forms = VXS_FORM_POINTSHELL;
	options.sampling = VXS_SAMPLING_VERTICES;  // the cheapest: only the triangles are wanted
	vxs_shape* made = nullptr;
	if (vxs_shape_create_primitive(&primitive, &options, &made) != VXS_OK)
		return false;
	const Shape shape(made);
	soup = triangles_of(made);
	for (vxs_vec3& v : soup.vertices)
		v = axis == 0 ? vxs_vec3{v.y, v.z, v.x} : (axis == 2 ? vxs_vec3{v.z, v.x, v.y} : v);
	return true;
}

// Static plane: n·x = c in its own frame; its margin plays no part in Bullet's collisions.

void describe_plane(const btCollisionShape* shape, Signature& s)
{
	put(s, as<btStaticPlaneShape>(shape)->getPlaneNormal());
	s.numbers[3] = double(as<btStaticPlaneShape>(shape)->getPlaneConstant());  // never scaled: only convex shapes are
}

vxs_status plane_field(const Signature& s, vxs_shape** out)
{
	return vxs_shape_create_half_space({s.numbers[0], s.numbers[1], s.numbers[2]}, s.numbers[3], out);
}

// Box: half extents with margin are the box that was asked for. Its edges are sharp here; Bullet rounds them by the margin
// against all shapes but another box.

void describe_box(const btCollisionShape* shape, Signature& s)
{
	put(s, as<btBoxShape>(shape)->getHalfExtentsWithMargin());
	s.lengths = 3;
}

vxs_status box_field(const Signature& s, vxs_shape** out) { return vxs_shape_create_box({s.numbers[0], s.numbers[1], s.numbers[2]}, out); }

bool box_surface(const Signature& s, Soup& soup)
{
	for (int i = 0; i < 8; ++i)
		soup.vertices.push_back({i & 1 ? s.numbers[0] : -s.numbers[0], i & 2 ? s.numbers[1] : -s.numbers[1], i & 4 ? s.numbers[2] : -s.numbers[2]});
	soup.indices = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
	return true;
}

// Sphere: the radius is the margin, and follows the x scaling.

void describe_sphere(const btCollisionShape* shape, Signature& s)
{
	s.numbers[0] = double(as<btSphereShape>(shape)->getRadius());
	s.lengths = 1;
}

vxs_status sphere_field(const Signature& s, vxs_shape** out) { return vxs_shape_create_sphere(s.numbers[0], out); }

bool sphere_surface(const Signature& s, Soup& soup) { return turned_primitive(VXS_PRIMITIVE_SPHERE, s.numbers[0], 0, 1, soup); }

void sphere_center(const Signature& s, SharpFeatures& features) { features.add_corner({0, 0, 0}, s.numbers[0]); }

// Capsule: the radius is the margin.

void describe_capsule(const btCollisionShape* shape, Signature& s)
{
	const btCapsuleShape* capsule = as<btCapsuleShape>(shape);
	s.numbers[0] = double(capsule->getRadius());
	s.numbers[1] = double(capsule->getHalfHeight());
	s.numbers[2] = capsule->getUpAxis();
	s.lengths = 2;
}

vxs_status capsule_field(const Signature& s, vxs_shape** out)
{
	if (s.numbers[1] <= 0)
		return sphere_field(s, out);
	return vxs_shape_create_capsule(s.numbers[0], s.numbers[1], uint32_t(s.numbers[2]), out);
}

bool capsule_surface(const Signature& s, Soup& soup)
{
	if (s.numbers[1] <= 0)
		return sphere_surface(s, soup);
	return turned_primitive(VXS_PRIMITIVE_CAPSULE, s.numbers[0], s.numbers[1], int(s.numbers[2]), soup);
}

/// Returns a point on one of the axes.
Vec on_axis(int axis, double at)
{
	double p[3] = {0, 0, 0};
	p[axis] = at;
	return {p[0], p[1], p[2]};
}

void capsule_axis(const Signature& s, SharpFeatures& features)
{
	const int axis = int(s.numbers[2]);
	features.add_round_edge(on_axis(axis, -s.numbers[1]), s.numbers[0], on_axis(axis, s.numbers[1]), s.numbers[0]);
}

// Cylinder: half extents with margin, as for the box.

void describe_cylinder(const btCollisionShape* shape, Signature& s)
{
	const btCylinderShape* cylinder = as<btCylinderShape>(shape);
	const int axis = cylinder->getUpAxis();
	const btVector3 half = cylinder->getHalfExtentsWithMargin();
	s.numbers[0] = double(half[(axis + 1) % 3]);
	s.numbers[1] = double(half[axis]);
	s.numbers[2] = axis;
	s.lengths = 2;
}

vxs_status cylinder_field(const Signature& s, vxs_shape** out) { return vxs_shape_create_cylinder(s.numbers[0], s.numbers[1], uint32_t(s.numbers[2]), out); }

bool cylinder_surface(const Signature& s, Soup& soup) { return turned_primitive(VXS_PRIMITIVE_CYLINDER, s.numbers[0], s.numbers[1], int(s.numbers[2]), soup); }

/// Adds the rims and the balls inside, for rods.
void cylinder_rims(const Signature& s, SharpFeatures& features)
{
	const double radius = s.numbers[0], half = s.numbers[1];
	const int axis = int(s.numbers[2]);
	features.add_circle(axis, half, radius);
	features.add_circle(axis, -half, radius);
	if (half > radius)
		features.add_round_edge(on_axis(axis, radius - half), radius, on_axis(axis, half - radius), radius);
}

// Cone: Bullet adds the margin around the whole cone.

void describe_cone(const btCollisionShape* shape, Signature& s)
{
	const btConeShape* cone = as<btConeShape>(shape);
	s.numbers[0] = double(cone->getRadius());
	s.numbers[1] = double(cone->getHeight());
	s.numbers[2] = cone->getConeUpIndex();
	s.lengths = 2;
}

vxs_status cone_field(const Signature& s, vxs_shape** out) { return vxs_shape_create_cone(s.numbers[0], s.numbers[1], uint32_t(s.numbers[2]), out); }

bool cone_surface(const Signature& s, Soup& soup) { return turned_primitive(VXS_PRIMITIVE_CONE, s.numbers[0], s.numbers[1], int(s.numbers[2]), soup); }

/// Adds the rim, the tip and the balls inside, for spikes.
void cone_rim_and_tip(const Signature& s, SharpFeatures& features)
{
	const double radius = s.numbers[0], height = s.numbers[1];
	const int axis = int(s.numbers[2]);
	features.add_circle(axis, -0.5 * height, radius);
	// At distance t from the tip a ball of radius t sin(half the angle) touches the side; the last one touches the base
	// too.
	const double sine = radius / std::sqrt(radius * radius + height * height), last = height / (1 + sine);
	features.add_round_edge(on_axis(axis, 0.5 * height), 0, on_axis(axis, 0.5 * height - last), last * sine);
}

// Convex hull: Bullet adds the margin around it.

void describe_hull(const btCollisionShape* shape, Signature& s)
{
	const btConvexHullShape* hull = as<btConvexHullShape>(shape);
	for (int i = 0; i < hull->getNumPoints(); ++i)
		s.points.push_back(to_vec(hull->getScaledPoint(i)));
}

vxs_status hull_field(const Signature& s, vxs_shape** out) { return vxs_shape_create_convex_hull(s.points.data(), s.points.size(), out); }

bool hull_surface(const Signature& s, Soup& soup)
{
	btConvexHullComputer hull;
	hull.compute(&s.points[0].x, int(sizeof s.points[0]), int(s.points.size()), 0, 0);
	for (int i = 0; i < hull.vertices.size(); ++i)
		soup.vertices.push_back(to_vec(hull.vertices[i]));
	for (int i = 0; i < hull.faces.size(); ++i)
	{
		const btConvexHullComputer::Edge* const first = &hull.edges[hull.faces[i]];
		for (const btConvexHullComputer::Edge* edge = first->getNextEdgeOfFace(); edge->getTargetVertex() != first->getSourceVertex(); edge = edge->getNextEdgeOfFace())
			soup.indices.insert(soup.indices.end(), {uint32_t(first->getSourceVertex()), uint32_t(edge->getSourceVertex()), uint32_t(edge->getTargetVertex())});
	}
	return !soup.indices.empty();
}

// Convex triangle mesh: the hull of its vertices, with the margin around it.

void describe_convex_mesh(const btCollisionShape* shape, Signature& s)
{
	struct Collect : btInternalTriangleIndexCallback
	{
		std::vector<vxs_vec3>* points;
		void internalProcessTriangleIndex(btVector3* triangle, int, int) override
		{
			for (int i = 0; i < 3; ++i)
				points->push_back(to_vec(triangle[i]));
		}
	} collect;
	collect.points = &s.points;
	const btVector3 all(BT_LARGE_FLOAT, BT_LARGE_FLOAT, BT_LARGE_FLOAT);
	as<btConvexTriangleMeshShape>(shape)->getMeshInterface()->InternalProcessAllTriangles(&collect, -all, all);
}

// Multi-sphere: the hull of balls, whose radii include the margin. With different scales along its axes they are no
// longer balls, and the hull of points stands in for it.

/// Computes the extreme points of the hull in all directions.
template <typename Extreme>
void extreme_points(std::vector<Vec>& points, Extreme extreme)
{
	for (const btVector3& direction : directions())
		points.push_back(extreme(direction));
}

void describe_ball_hull(const btCollisionShape* shape, Signature& s)
{
	const btMultiSphereShape* balls = as<btMultiSphereShape>(shape);
	const btVector3& scaling = balls->getLocalScaling();
	if (scaling.x() != scaling.y() || scaling.x() != scaling.z())
	{
		extreme_points(s.points, [&](const btVector3& d) { return to_vec(balls->localGetSupportingVertex(d)); });
		return;
	}
	for (int i = 0; i < balls->getSphereCount(); ++i)
	{
		s.points.push_back(to_vec(balls->getSpherePosition(i) * scaling));
		s.radii.push_back(double(balls->getSphereRadius(i) * scaling.x()));
	}
}

vxs_status ball_hull_field(const Signature& s, vxs_shape** out)
{
	if (s.radii.empty())
		return hull_field(s, out);
	return vxs_shape_create_sphere_hull(s.points.data(), s.radii.data(), s.radii.size(), out);
}

bool ball_hull_surface(const Signature& s, Soup& soup)
{
	if (s.radii.empty())
		return hull_surface(s, soup);
	Signature around;
	extreme_points(around.points, [&](const btVector3& direction) {
		const Vec d = to_vec(direction);
		size_t best = 0;
		for (size_t i = 1; i < s.radii.size(); ++i)
			if (dot(d, s.points[i]) + s.radii[i] > dot(d, s.points[best]) + s.radii[best])
				best = i;
		return s.points[best] + d * s.radii[best];
	});
	return hull_surface(around, soup);
}

/// Adds all balls, and those between each two.
void ball_centers(const Signature& s, SharpFeatures& features)
{
	if (s.radii.size() == 1)
		features.add_corner(s.points[0], s.radii[0]);
	for (size_t i = 0; i < s.radii.size(); ++i)
		for (size_t j = 0; j < i; ++j)
			features.add_round_edge(s.points[i], s.radii[i], s.points[j], s.radii[j]);
}

// Any other convex shape.

void describe_support(const btCollisionShape* shape, Signature& s)
{
	extreme_points(s.points, [&](const btVector3& d) { return to_vec(as<btConvexShape>(shape)->localGetSupportingVertexWithoutMargin(d)); });
}

/// Makes the forms of a kind; null when there are none.
std::shared_ptr<const StockShape::Forms> make(const Kind& kind, const Signature& s)
{
	const std::shared_ptr<StockShape::Forms> forms(new StockShape::Forms);
	vxs_shape* made = nullptr;
	vxs_status status = VXS_UNSUPPORTED;
	if (!s.sampled)
		status = kind.field(s, &made);
	else
	{
		Soup soup;
		vxs_cook_options options;
		if (!kind.surface || !kind.surface(s, soup) || vxs_cook_options_init(&options, sizeof options) != VXS_OK)
			return nullptr;
		options.forms = VXS_FORM_POINTSHELL;
		options.sampling = VXS_SAMPLING_UNIFORM;
		options.sample_count = StockShape::kSamples;
		status = vxs_shape_create_from_triangles(soup.vertices.data(), soup.vertices.size(), soup.indices.data(), soup.indices.size() / 3, &options, &made);
	}
	if (status != VXS_OK)
	{
		log_failure("a shape of Bullet's that cannot be collided", status);
		return nullptr;
	}
	forms->shape.reset(made);
	if (kind.features)
		kind.features(s, forms->features);
	return forms;
}

/// Returns cached forms or makes them. Pairs come and go much more often than shapes: the cache keeps the latest forms,
/// by their signatures, so that fifty boxes of one size share one form. All worlds share the cache; only a new or
/// changed pair calls this.
std::shared_ptr<const StockShape::Forms> make_or_share(const Kind& kind, const Signature& signature)
{
	struct Entry
	{
		Signature signature;
		std::shared_ptr<const StockShape::Forms> forms;
	};
	const size_t keep = 64;
	static std::mutex mutex;
	static std::list<Entry> recent;  // the latest first
	const std::lock_guard<std::mutex> lock(mutex);
	for (auto entry = recent.begin(); entry != recent.end(); ++entry)
		if (entry->signature == signature)
		{
			recent.splice(recent.begin(), recent, entry);
			return entry->forms;
		}
	recent.push_front({signature, make(kind, signature)});
	if (recent.size() > keep)
		recent.pop_back();
	return recent.front().forms;
}

/// Adds the edges of the surface's triangles as features.
template <bool (*surface)(const Signature&, Soup&)>
void edges_of(const Signature& s, SharpFeatures& features)
{
	Soup soup;
	if (surface(s, soup))
		features.add_edges_of(soup);
}
}  // namespace

namespace kinds
{
const Kind plane = {describe_plane, plane_field, nullptr, nullptr, false};
const Kind box = {describe_box, box_field, box_surface, edges_of<box_surface>, false};
const Kind sphere = {describe_sphere, sphere_field, sphere_surface, sphere_center, false};
const Kind capsule = {describe_capsule, capsule_field, capsule_surface, capsule_axis, false};
const Kind cylinder = {describe_cylinder, cylinder_field, cylinder_surface, cylinder_rims, false};
const Kind cone = {describe_cone, cone_field, cone_surface, cone_rim_and_tip, true};
const Kind hull = {describe_hull, hull_field, hull_surface, edges_of<hull_surface>, true};
const Kind convex_mesh = {describe_convex_mesh, hull_field, hull_surface, edges_of<hull_surface>, true};
const Kind ball_hull = {describe_ball_hull, ball_hull_field, ball_hull_surface, ball_centers, false};
const Kind support = {describe_support, hull_field, hull_surface, edges_of<hull_surface>, true};
}  // namespace kinds

void Signature::clear(int new_type, bool new_sampled)
{
	type = new_type;
	sampled = new_sampled;
	lengths = 0;
	std::fill(numbers, numbers + kNumbers, 0.0);
	points.clear();
	radii.clear();
}

void Signature::scale(double factor)
{
	for (int i = 0; i < lengths; ++i)
		numbers[i] *= factor;
	for (Vec& point : points)
		point = point * factor;
	for (double& radius : radii)
		radius *= factor;
}

bool Signature::operator==(const Signature& other) const
{
	return type == other.type && sampled == other.sampled && points.size() == other.points.size() && radii == other.radii && std::memcmp(numbers, other.numbers, sizeof numbers) == 0 &&
		   (points.empty() || std::memcmp(points.data(), other.points.data(), points.size() * sizeof points[0]) == 0);
}

bool StockShape::update(const btCollisionShape* shape, const Kind& kind, double factor, bool sampled)
{
	m_next.clear(shape->getShapeType(), sampled);
	kind.describe(shape, m_next);
	if (factor != 1)
		m_next.scale(factor);
	m_inflation = kind.inflated ? double(shape->getMargin()) * factor : 0.0;
	if (!(m_next == m_signature))
	{
		m_forms = make_or_share(kind, m_next);
		std::swap(m_signature, m_next);
	}
	return m_forms != nullptr;
}
}  // namespace voxshell_bullet
