/* The narrowphase of Voxshell shapes, for Bullet's own dispatcher. */
#ifndef VOXSHELL_BULLET_COLLISION_ALGORITHM_H
#define VOXSHELL_BULLET_COLLISION_ALGORITHM_H

#include <BulletCollision/CollisionDispatch/btActivatingCollisionAlgorithm.h>
#include <BulletCollision/CollisionDispatch/btCollisionCreateFunc.h>
#include <voxshell/voxshell.h>

class btCollisionDispatcher;
class btVoxShellBudget;

/// Settings of the contacts of Voxshell pairs. The defaults suit bodies of any size; no value needs tuning to start.
struct btVoxShellSettings
{
	/// Number of manifolds, of four points each, that a pair may use, 1 to 8. With VXS_SEGMENTATION_LEVEL a pair has
	/// one manifold per touching segment instead.
	int m_maxManifolds = 4;
	/// Selects which of two shapes with both forms brings its samples: one of VXS_ROLES_. A is the body that Bullet
	/// names first in the pair: the one that was added to the world earlier. The default is both directions, so that no
	/// body sinks in between the samples of the other; any other choice has about half the cost. Where only one
	/// direction is possible, the algorithm uses that one.
	unsigned m_roles = VXS_ROLES_BOTH;
	/// Selects whether the contacts of two Voxshell shapes include those of the edges and sharp corners of their meshes: one
	/// of VXS_COVERAGE_.
	/// - SAMPLES: no. What fits between the samples is missed.
	/// - FACETS, the default: two bodies of flat faces that move slowly are tested by their edges and corners alone. These
	///   are exact, and the price does not depend on the number of samples. Others are tested by samples and, where none
	///   touches, by the edges that pass through the other mesh.
	/// - EDGES: no intersection of two closed meshes is missed, the contacts of samples near creases are exact, and sharp
	///   bodies that meet at corners and edges sink in less. A pair that moves takes several times as long.
	unsigned m_coverage = VXS_COVERAGE_FACETS;
	/// Selects whether manifold points tell their triangles by part and index, as with Bullet's mesh shapes. Points of pairs
	/// in which a shape has materials always do (btVoxShellBaseShape::setTriangleMaterials). It takes about four
	/// microseconds per point, body and step.
	bool m_triangles = false;
	/// Selects the sets of contacts that have a manifold of their own: one of VXS_SEGMENTATION_.
	/// - NONE: no set. The points that spread widest in place and direction fill the manifolds.
	/// - LEVEL: each touching segment of `m_segmentLevel`, with its deepest point alone (Sagardia et al. 2014, section
	///   2.4). If there are more than 256 such segments, the 256 most urgent ones are used.
	/// - REGION: each region of contacts that are connected in place and in normal, with four points. Where there are
	///   more regions than manifolds, the last manifold holds all remaining regions.
	/// The contacts of corners and edges of Bullet's own shapes form a segment of their own, with four points.
	unsigned m_segmentation = VXS_SEGMENTATION_NONE;
	/// Level of the sphere tree for VXS_SEGMENTATION_LEVEL: 0 is the root, which is one segment. A tree with fewer
	/// levels uses its last one.
	unsigned m_segmentLevel = 3;
	/// The bodies enclose each other with little play, as nuts on bolts or pegs in holes: points of all sides that are within
	/// the margin are given to the solver, whichever side the motion is toward. Otherwise a blow that is resolved on one side
	/// can throw a body through the other. Without segmentation only.
	bool m_closeFit = false;
	/// Number of samples in contact above which contacts are thinned before each one is evaluated (vxs_query_step::dense_above).
	/// Threads take half the time with 256.
	unsigned m_denseAbove = 1024;
	/// Impacts slower than this do not bounce, m/s. Keep it equal to btContactSolverInfo::m_restitutionVelocityThreshold.
	btScalar m_restitutionVelocityThreshold = btScalar(0.2);
	/// Contacts are searched up to the distance that the bodies can approach in one step, times this factor.
	btScalar m_lookahead = btScalar(1.5);
	/// Upper limit of that search distance, as a fraction of the smaller body's radius. Lower it to save time where
	/// fast bodies may sink in.
	btScalar m_maxLookaheadFraction = btScalar(1);
	/// Pressure law of contacts with shapes that have a stiffness (btVoxShellBaseShape::setStiffness): the exponent of the
	/// depth, 1/4 to 4; 1 is linear.
	btScalar m_patchExponent = btScalar(1);
	/// Edge of the smallest cells of their contact surface, m. 0: 1/200 of the largest extent of the smaller body.
	btScalar m_patchResolution = btScalar(0);
	/// Dissipation of these contacts, s/m: the pressure is multiplied by 1 minus this times the separating velocity, but
	/// never below 0 (Hunt and Crossley 1975).
	btScalar m_patchDissipation = btScalar(0);
	/// Limit on the work of all pairs in a step, which they share; it must outlive them. Default: none.
	btVoxShellBudget* m_budget = nullptr;
};

/// Generates the contacts of a Voxshell shape with another one or with one of Bullet's shapes.
///
/// The dispatcher creates one per overlapping pair; users only register it, once per dispatcher, before bodies are added:
/// \code
/// btDefaultCollisionConfiguration configuration;
/// btCollisionDispatcher dispatcher(&configuration);
/// btVoxShellCollisionAlgorithm::registerAlgorithm(&dispatcher);
/// btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
/// world.addRigidBody(bodyWithVoxShellShape);
/// \endcode
/// Bounces need Bullet 2.84 or later; before that, bodies land without rebound.
///
/// Children of compounds get their contacts as bodies of their own do, also before they touch: registerAlgorithm replaces
/// Bullet's algorithm for compounds with one that asks for the contacts of a child from the positions that it can reach in a
/// step. Compounds without Voxshell shapes, against bodies without, keep Bullet's algorithm.
class btVoxShellCollisionAlgorithm : public btActivatingCollisionAlgorithm
{
public:
	/// Enters the algorithm into both tables of `dispatcher` (contacts, and closest points for contactTest), in both
	/// orders, for Voxshell shapes against each other and against every convex and concave shape of Bullet's (the table
	/// is in cpp/bullet/src/pair_table.cpp). Compounds with Voxshell shapes get an entry too, whose algorithm
	/// recurses to their children. A pair that cannot collide is ignored, with one warning through `vxs_set_log`. Other libraries that register for
	/// FAST_CONCAVE_MESH_PROXYTYPE, such as btGImpactCollisionAlgorithm, must do so before this call.
	///
	/// The registered objects live until the program ends, so the dispatcher may be destroyed at any time. A further
	/// call with other settings changes them for pairs that are created from then on.
	static void registerAlgorithm(btCollisionDispatcher* dispatcher, const btVoxShellSettings& settings = btVoxShellSettings());

	btVoxShellCollisionAlgorithm(const btCollisionAlgorithmConstructionInfo& info, const btCollisionObjectWrapper* body0, const btCollisionObjectWrapper* body1, const btVoxShellSettings& settings);
	~btVoxShellCollisionAlgorithm() override;

	void processCollision(const btCollisionObjectWrapper* body0, const btCollisionObjectWrapper* body1, const btDispatcherInfo& dispatchInfo, btManifoldResult* resultOut) override;
	/// Returns the fraction of the motion from the bodies' world transforms to their interpolation transforms at which
	/// they hit, 0 to 1; 1 when they do not hit. The stock world never calls this: see btVoxShellMotionClamp.
	btScalar calculateTimeOfImpact(btCollisionObject * body0, btCollisionObject * body1, const btDispatcherInfo& dispatchInfo, btManifoldResult* resultOut) override;
	void getAllContactManifolds(btManifoldArray & manifolds) override;

	/// Searches for the contacts that the next processCollision of this step gives, on any thread: for btVoxShellDispatcher. The
	/// bodies must not move in between.
	void searchAhead(const btCollisionObjectWrapper* body0, const btCollisionObjectWrapper* body1, const btDispatcherInfo& dispatchInfo);
	/// Makes the next processCollision search.
	void forgetSearch();

private:
	void search(const btCollisionObjectWrapper* body0, const btCollisionObjectWrapper* body1, const btDispatcherInfo& dispatchInfo, double asked);

	struct State;
	State* m_state;
};

#endif
