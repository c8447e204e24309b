// A world of Bullet with Voxshell's contacts, over functions that Python's ctypes can call: the module voxshell.bullet.
//
// Frames: the pose of a body is that of its shape's own frame. Bullet takes a body's origin for its centre of mass and its axes
// for the principal ones, so a shape whose frame is another one becomes the only child of a compound.
//
// Errors: functions that can fail return 0, a null pointer or -1, and `vxb_error` gives the message. A world belongs to one thread
// at a time.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <btBulletDynamicsCommon.h>
#include <voxshell/bullet.h>

#define VXB_API extern "C" __attribute__((visibility("default")))

namespace {

thread_local std::string error;

template <class Result, class Function>
Result guarded(Result failed, Function&& function) {
    try {
        return function();
    } catch (const std::exception& e) {
        error = e.what();
    } catch (...) {
        error = "an unknown exception";
    }
    return failed;
}

btVector3 vector(const double* v) { return {btScalar(v[0]), btScalar(v[1]), btScalar(v[2])}; }

btTransform transform(const double* pose) {
    const btQuaternion turn{btScalar(pose[3]), btScalar(pose[4]), btScalar(pose[5]), btScalar(pose[6])};
    return btTransform(turn.normalized(), vector(pose));
}

void write(const btVector3& v, double* out) {
    for (int i = 0; i < 3; ++i) out[i] = double(v[i]);
}

struct Release {
    void operator()(vxs_shape* shape) const { vxs_shape_release(shape); }
};

/// A collision shape, and the frame of its centre of mass and principal axes in its own frame.
struct Form {
    std::unique_ptr<btCollisionShape> shape;
    /// Around `shape`, for a body that moves, unless both frames are the same.
    std::unique_ptr<btCompoundShape> centered;
    btTransform center = btTransform::getIdentity();
    /// Principal moments of a body of 1 kg, kg·m². Zero for a shape without volume.
    btVector3 inertia = btVector3(0, 0, 0);
    bool canMove = true;
};

struct Body {
    std::unique_ptr<btRigidBody> body;
    /// Pose of the body's frame in the frame of its shape.
    btTransform center;
};

struct Contact {
    int32_t bodies[2];
    double point[3], normal[3], separation, impulse;
};

struct World {
    btDefaultCollisionConfiguration configuration;
    btVoxShellDispatcher dispatcher;
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    std::vector<std::unique_ptr<Form>> forms;
    std::vector<Body> bodies;
    double step;

    World(const double* gravity, double step, int iterations, int threads) : dispatcher(&configuration, threads), step(step) {
        world.setGravity(vector(gravity));
        world.getSolverInfo().m_numIterations = iterations;
        // With one direction, Bullet does not brake what creeps across it.
        world.getSolverInfo().m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
    }
    ~World() {
        for (const Body& body : bodies) world.removeRigidBody(body.body.get());
    }

    int add(std::unique_ptr<Form> form) {
        forms.push_back(std::move(form));
        return int(forms.size()) - 1;
    }
    Body& at(int body) {
        if (body < 0 || size_t(body) >= bodies.size()) throw std::out_of_range("there is no body " + std::to_string(body));
        return bodies[size_t(body)];
    }
};

/// Sets centre and inertia of a cooked shape.
void weigh(Form& form, const btVoxShellShape& shape) {
    vxs_mass_properties mass;
    form.canMove = shape.getMassProperties(mass);
    if (!form.canMove) return;
    const auto moment = [&](int i) { return btScalar(mass.inertia[i]); };
    btMatrix3x3 inertia(moment(0), moment(3), moment(4), moment(3), moment(1), moment(5), moment(4), moment(5), moment(2));
    const btScalar scale = inertia[0][0] + inertia[1][1] + inertia[2][2];
    const btScalar off = std::fabs(inertia[0][1]) + std::fabs(inertia[0][2]) + std::fabs(inertia[1][2]);
    btMatrix3x3 axes = btMatrix3x3::getIdentity();
    if (off > btScalar(1e-6) * scale)
        inertia.diagonalize(axes, btScalar(1e-12) * scale, 100);
    form.inertia = btVector3(inertia[0][0], inertia[1][1], inertia[2][2]);
    const vxs_vec3& center = mass.center_of_mass;
    form.center = btTransform(axes, btVector3(btScalar(center.x), btScalar(center.y), btScalar(center.z)));
    const btScalar extent = shape.getLocalHalfExtents().length();
    if (off > btScalar(1e-6) * scale || form.center.getOrigin().length() > btScalar(1e-6) * extent) {
        form.centered.reset(new btCompoundShape());
        form.centered->addChildShape(form.center.inverse(), form.shape.get());
    } else {
        form.center = btTransform::getIdentity();
    }
}

} // namespace

VXB_API const char* vxb_error() { return error.c_str(); }

/// Makes a world. Gravity in m/s², `step` in seconds; `threads` 0: one for each core.
VXB_API World* vxb_world_create(const double* gravity, double step, int iterations, int threads) {
    return guarded<World*>(nullptr, [&] { return new World(gravity, step, iterations, threads); });
}

VXB_API void vxb_world_destroy(World* world) { delete world; }

/// Adds a cooked shape from the bytes of an asset, and returns its number. `margin`: distance of contacts before they touch, m.
VXB_API int vxb_add_asset(World* world, const uint8_t* bytes, size_t size, double margin) {
    return guarded(-1, [&] {
        vxs_shape* shape = nullptr;
        if (vxs_shape_deserialize(bytes, size, &shape) != VXS_OK) throw std::runtime_error(vxs_last_error());
        const std::unique_ptr<vxs_shape, Release> owner(shape);
        std::unique_ptr<Form> form(new Form);
        btVoxShellShape* made = new btVoxShellShape(shape);
        form->shape.reset(made);
        if (margin > 0) made->setMargin(btScalar(margin));
        weigh(*form, *made);
        return world->add(std::move(form));
    });
}

/// Adds a shape of Bullet: 0 plane (normal, offset), 1 box (half extents), 2 ball (radius), 3 capsule (radius, height of the
/// cylinder, along y), 4 cylinder (radius, height, along y).
VXB_API int vxb_add_stock(World* world, int kind, const double* sizes) {
    return guarded(-1, [&] {
        std::unique_ptr<Form> form(new Form);
        const btScalar a = btScalar(sizes[0]), b = btScalar(sizes[1]);
        switch (kind) {
            case 0: form->shape.reset(new btStaticPlaneShape(vector(sizes), btScalar(sizes[3]))); break;
            case 1: form->shape.reset(new btBoxShape(vector(sizes))); break;
            case 2: form->shape.reset(new btSphereShape(a)); break;
            case 3: form->shape.reset(new btCapsuleShape(a, b)); break;
            case 4: form->shape.reset(new btCylinderShape(btVector3(a, b / 2, a))); break;
            default: throw std::invalid_argument("kind is " + std::to_string(kind) + "; expected 0 to 4");
        }
        form->canMove = kind != 0;
        if (form->canMove) form->shape->calculateLocalInertia(1, form->inertia);
        return world->add(std::move(form));
    });
}

/// Adds a body with a shape, and returns its number. `mass` 0: it does not move. `state`: pose, linear and angular velocity.
VXB_API int vxb_add_body(World* world, int form, double mass, double friction, double restitution, const double* state) {
    return guarded(-1, [&] {
        const Form& f = *world->forms.at(size_t(form));
        if (mass > 0 && !f.canMove)
            throw std::invalid_argument("mass is " + std::to_string(mass) + "; expected 0, because the shape has no volume");
        btCollisionShape* shape = f.centered ? static_cast<btCollisionShape*>(f.centered.get()) : f.shape.get();
        btRigidBody::btRigidBodyConstructionInfo info(btScalar(mass), nullptr, shape, f.inertia * btScalar(mass));
        info.m_startWorldTransform = transform(state) * f.center;
        info.m_friction = btScalar(friction);
        info.m_restitution = btScalar(restitution);
        Body body{std::unique_ptr<btRigidBody>(new btRigidBody(info)), f.center};
        // A body that sleeps would not notice that another one was moved by its pose.
        body.body->setActivationState(DISABLE_DEACTIVATION);
        body.body->setUserIndex(int(world->bodies.size()));
        body.body->setLinearVelocity(vector(state + 7));
        body.body->setAngularVelocity(vector(state + 10));
        world->world.addRigidBody(body.body.get());
        world->bodies.push_back(std::move(body));
        return int(world->bodies.size()) - 1;
    });
}

VXB_API int vxb_step(World* world, int64_t count) {
    return guarded(0, [&] {
        for (int64_t i = 0; i < count; ++i) world->world.stepSimulation(btScalar(world->step), 0);
        return 1;
    });
}

/// Writes pose, linear and angular velocity of all bodies, 13 numbers each. The linear velocity is that of the centre of mass.
VXB_API void vxb_get_states(const World* world, double* out) {
    for (const Body& body : world->bodies) {
        const btTransform pose = body.body->getWorldTransform() * body.center.inverse();
        write(pose.getOrigin(), out);
        const btQuaternion q = pose.getRotation().normalized();
        const double turn[4] = {double(q.x()), double(q.y()), double(q.z()), double(q.w())};
        std::copy(turn, turn + 4, out + 3);
        write(body.body->getLinearVelocity(), out + 7);
        write(body.body->getAngularVelocity(), out + 10);
        out += 13;
    }
}

VXB_API int vxb_set_state(World* world, int index, const double* state) {
    return guarded(0, [&] {
        const Body& body = world->at(index);
        const btTransform pose = transform(state) * body.center;
        body.body->setWorldTransform(pose);
        body.body->setInterpolationWorldTransform(pose);
        body.body->setLinearVelocity(vector(state + 7));
        body.body->setAngularVelocity(vector(state + 10));
        world->world.updateSingleAabb(body.body.get());
        return 1;
    });
}

/// Applies a force, N, at a point, m, both in the world's frame, and a torque, N·m, until the end of the next step.
VXB_API int vxb_apply(World* world, int index, const double* force, const double* torque, const double* point) {
    return guarded(0, [&] {
        btRigidBody& body = *world->at(index).body;
        const btVector3 arm = point ? vector(point) - body.getWorldTransform().getOrigin() : btVector3(0, 0, 0);
        body.applyForce(vector(force), arm);
        body.applyTorque(vector(torque));
        return 1;
    });
}

/// Writes up to `capacity` contacts of the last step, and returns how many there are. Normals point from the first body to the
/// second.
VXB_API size_t vxb_get_contacts(World* world, Contact* out, size_t capacity) {
    size_t count = 0;
    for (int m = 0; m < world->dispatcher.getNumManifolds(); ++m) {
        const btPersistentManifold* manifold = world->dispatcher.getManifoldByIndexInternal(m);
        for (int i = 0; i < manifold->getNumContacts(); ++i, ++count) {
            if (count >= capacity) continue;
            const btManifoldPoint& point = manifold->getContactPoint(i);
            Contact& contact = out[count];
            contact.bodies[0] = manifold->getBody0()->getUserIndex();
            contact.bodies[1] = manifold->getBody1()->getUserIndex();
            write(point.getPositionWorldOnA(), contact.point);
            write(-point.m_normalWorldOnB, contact.normal);
            contact.separation = double(point.getDistance());
            contact.impulse = double(point.getAppliedImpulse());
        }
    }
    return count;
}

/// Finds the first hit of a segment: its body, point and normal. Returns 0 without one.
VXB_API int vxb_ray(World* world, const double* from, const double* to, int32_t* body, double* point, double* normal) {
    return guarded(0, [&] {
        btCollisionWorld::ClosestRayResultCallback hit(vector(from), vector(to));
        world->world.rayTest(vector(from), vector(to), hit);
        if (!hit.hasHit()) return 0;
        *body = hit.m_collisionObject->getUserIndex();
        write(hit.m_hitPointWorld, point);
        write(hit.m_hitNormalWorld, normal);
        return 1;
    });
}
