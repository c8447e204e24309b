// A Voxshell box falls onto Bullet's ground plane. Fails unless it comes to rest on it within a tenth of a millimetre.
#include <cstdio>

#include <btBulletDynamicsCommon.h>
#include <voxshell/bullet.h>

int main() {
  vxs_primitive what;
  vxs_primitive_init(&what, sizeof what, VXS_PRIMITIVE_BOX);
  what.size[0] = what.size[1] = what.size[2] = 0.5;  // half extents, m
  vxs_shape* cooked = nullptr;
  if (vxs_shape_create_primitive(&what, nullptr, &cooked) != VXS_OK) return std::puts(vxs_last_error()), 1;
  btVoxShellShape box(cooked);
  vxs_shape_release(cooked);
  btStaticPlaneShape plane(btVector3(0, 1, 0), 0);

  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btVoxShellCollisionAlgorithm::registerAlgorithm(&dispatcher);
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);

  btVector3 inertia;
  box.calculateLocalInertia(1, inertia);
  btRigidBody body(1, nullptr, &box, inertia), ground(0, nullptr, &plane);
  body.setWorldTransform(btTransform(btQuaternion::getIdentity(), btVector3(0, btScalar(0.6), 0)));
  world.addRigidBody(&body);
  world.addRigidBody(&ground);
  for (int step = 0; step < 200; ++step) world.stepSimulation(btScalar(1) / 200, 0);

  const double height = double(body.getWorldTransform().getOrigin().y());
  const int manifolds = dispatcher.getNumManifolds();
  std::printf("Bullet %d, %zu-byte scalars: at rest at %.6f m, %d manifolds\n", btGetVersion(), sizeof(btScalar), height, manifolds);
  world.removeRigidBody(&body);
  world.removeRigidBody(&ground);
  return manifolds > 0 && height > 0.4999 && height < 0.5001 ? 0 : 1;
}
