/* The narrowphase of Voxshell shapes, for Bullet's own dispatcher. */
#ifndef VOXSHELL_BULLET_COLLISION_ALGORITHM_H
#define VOXSHELL_BULLET_COLLISION_ALGORITHM_H

#include <BulletCollision/CollisionDispatch/btActivatingCollisionAlgorithm.h>
#include <BulletCollision/CollisionDispatch/btCollisionCreateFunc.h>
#include <voxshell/voxshell.h>

class btCollisionDispatcher;

/// How the contacts of Voxshell pairs are made. The defaults suit bodies of any size; nothing here needs tuning to start.
struct btVoxShellSettings
{
	/// Manifolds of four points each that a pair may use, 1 to 8. Segments of a level have as many as there are touching ones.
	int m_maxManifolds = 4;
	/// Which of two shapes with both forms brings its samples: one of VXS_ROLES_. A is the body that Bullet names first in the
	/// pair, the one that was added to the world earlier. Both, so that nothing sinks in between the samples of one of them; any
	/// other choice has about half the cost. Where only one direction is possible, that one is taken.
	unsigned m_roles = VXS_ROLES_BOTH;
	/// What has a manifold of its own: one of VXS_SEGMENTATION_.
	/// - NONE: nothing. The points that spread widest in place and direction fill the manifolds.
	/// - LEVEL: each segment of `m_segmentLevel` that touches, with its deepest point alone (Sagardia et al. 2014, section 2.4);
	///   the 256 most urgent ones where there are more.
	/// - REGION: each region of contacts that are connected in place and in normal, with four points. Where there are more regions
	///   than manifolds, the last manifold is for all that remain.
	/// What corners and edges of Bullet's own shapes touch is a segment of its own, with four points.
	unsigned m_segmentation = VXS_SEGMENTATION_NONE;
	/// VXS_SEGMENTATION_LEVEL: the level of the sphere tree, 0 for the root, which is one segment; the last one where there are fewer.
	unsigned m_segmentLevel = 3;
	/// Impacts slower than this do not bounce, m/s. Keep it equal to btContactSolverInfo::m_restitutionVelocityThreshold.
	btScalar m_restitutionVelocityThreshold = btScalar(0.2);
	/// Contacts are looked for as far as the bodies can approach in one step times this.
	btScalar m_lookahead = btScalar(1.5);
	/// But no farther than this fraction of the smaller body's radius. Lower it to save time where fast bodies may sink in.
	btScalar m_maxLookaheadFraction = btScalar(1);
};

/// Contacts of a Voxshell shape with another one or with a shape of Bullet's.
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
/// In a compound, Bullet's own algorithm asks for a child's contacts only while the child's box overlaps that of the other shape, as both
/// are at the start of the step (btCompoundCollisionAlgorithm; a wider look ends its manifolds with each step). What touches is handled as
/// for a body of its own, but contacts before touching, which a body gets from where it could be in a step, a child gets within its margin
/// only: where it arrives fast it is first found inside, by up to one step's way. A larger margin (setMargin) or a
/// btVoxShellMotionClamp, which looks into compounds, prevents that.
class btVoxShellCollisionAlgorithm : public btActivatingCollisionAlgorithm
{
public:
	/// Enters the algorithm into both tables of `dispatcher` (contacts, and closest points for contactTest), in both orders,
	/// for Voxshell shapes against each other and against every convex and concave shape of Bullet's (the table is in
	/// cpp/bullet/src/pair_table.cpp). Compounds need no entry: they recurse to their children. A pair that cannot collide is
	/// ignored, with one warning through `vxs_set_log`. Other libraries that enter themselves for FAST_CONCAVE_MESH_PROXYTYPE,
	/// such as btGImpactCollisionAlgorithm, must do so before.
	///
	/// What it registers lives until the program ends, so the dispatcher may go at any time. Call it again with other
	/// settings to change them for pairs created from then on.
	static void registerAlgorithm(btCollisionDispatcher* dispatcher, const btVoxShellSettings& settings = btVoxShellSettings());

	btVoxShellCollisionAlgorithm(const btCollisionAlgorithmConstructionInfo& info, const btCollisionObjectWrapper* body0, const btCollisionObjectWrapper* body1, const btVoxShellSettings& settings);
	~btVoxShellCollisionAlgorithm() override;

	void processCollision(const btCollisionObjectWrapper* body0, const btCollisionObjectWrapper* body1, const btDispatcherInfo& dispatchInfo, btManifoldResult* resultOut) override;
	/// The part of the way from the bodies' world transforms to their interpolation transforms after which they hit, 0 to 1; 1 when
	/// they do not. The stock world never asks: see btVoxShellMotionClamp.
	btScalar calculateTimeOfImpact(btCollisionObject * body0, btCollisionObject * body1, const btDispatcherInfo& dispatchInfo, btManifoldResult* resultOut) override;
	void getAllContactManifolds(btManifoldArray & manifolds) override;

private:
	struct State;
	State* m_state;
};

#endif
