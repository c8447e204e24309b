// cpp/chai3d over a simulated CHAI3D, and over CHAI3D itself where CMake finds it (sdk.chai3d): a tool with a base at
// any place in the world and a scaled workspace, drawn by another thread.
#include "voxshell/chai3d.h"

#include <algorithm>
#include <initializer_list>
#include <thread>

#include "chai3d_device.h"
#include "scene.h"

namespace {

using chai3d::cMatrix3d;
using chai3d::cVector3d;
using sim::SimulatedDevice;

// CHAI3D: x towards the user, y to the right, z up. The bar lies along x.
const sim::Vec kUp = {0, 0, 1};

// Counts how often it is drawn, and where.
class Picture : public chai3d::cGenericObject {
 public:
  void renderSceneGraph(chai3d::cRenderOptions&) override { drawn++; }
  int drawn = 0;
};

struct Rig {
  sim::Scene scene;
  chai3d::cWorld world;
  std::shared_ptr<SimulatedDevice> device = std::make_shared<SimulatedDevice>();
  cVoxshellTool tool;

  // The tool's pose in CHAI3D's world is that of the device's base in the workspace.
  Rig(uint32_t renderer, double scale, double aside, const vxs_haptics_limits* limits)
      : scene(renderer, scale, sim::Quaternion(), aside, limits), tool(&world, scene.haptics) {
    const vxs_pose& base = scene.workspace.base;
    const sim::Quaternion turn = scene.workspace.turn();
    cMatrix3d rotation;
    for (int column = 0; column < 3; column++) {
      const vxs_vec3 axis = turn.rotate({column == 0 ? 1.0 : 0.0, column == 1 ? 1.0 : 0.0, column == 2 ? 1.0 : 0.0});
      rotation(0, column) = axis.x, rotation(1, column) = axis.y, rotation(2, column) = axis.z;
    }
    tool.setLocalPos(cVector3d(base.position.x, base.position.y, base.position.z));
    tool.setLocalRot(rotation);
    tool.computeGlobalPositions(true);
    tool.setHapticDevice(device);
    tool.setWorkspaceScaleFactor(scale);
    tool.setTimeStep(1e-3);
    device->handle.position = device->handle.goal = {0, 0, 0.03 / scale};
    CHECK(tool.start());
  }

  void to(const sim::Vec& goal, int steps) {
    device->handle.goal = goal;
    for (int i = 0; i < steps; i++) {
      scene.simulate();
      step();
    }
  }
  void step() {
    tool.updateFromDevice();
    tool.computeInteractionForces();
    CHECK(tool.applyToDevice());
  }
  // The device is at this height above the block's face, in its own metres, and moves at this speed.
  void lead(double height, double speed) {
    device->led = true;
    device->handle.position = {0, 0, height};
    device->handle.velocity = {0, 0, speed};
  }
};

// A loop without a timer over a device that refreshes its readings at 1 kHz: 100 steps per reading. The hand comes at
// 0.2 m/s and presses 5 mm in, moving by 1 mm at up to 0.15 m/s.
void unpaced_loop(uint32_t renderer) {
  Rig rig(renderer, 1, -INFINITY, nullptr);
  const double at = sim::Scene::kHalfWidth, dt = 1e-5;
  const int per_reading = 100, end = runs_slowly() ? 400 : 700;
  rig.tool.setTimeStep(dt);
  double sum = 0;
  int count = 0;
  for (int ms = 0; ms < end; ms++) {
    const double t = 1e-3 * ms, height = std::max(at + 0.01 - 0.2 * t, at - 0.005), wave = 0.001 * std::sin(150 * t);
    rig.lead(height + (t > 0.3 ? wave : 0), height > at - 0.005 ? -0.2 : t > 0.3 ? 0.15 * std::cos(150 * t) : 0);
    for (int i = 0; i < per_reading; i++) {
      rig.step();
      CHECK((rig.tool.output().status & (VXS_HAPTICS_TELEPORT | VXS_HAPTICS_BAD_STATE)) == 0);
    }
    rig.scene.simulate();
    if (t > 0.35) sum += rig.device->handle.force.z, count++;
  }
  // 1 kN/m at 5 mm.
  if (!runs_slowly()) CHECK(renderer == VXS_RENDERER_GOD_OBJECT ? std::fabs(sum / count - 5) < 0.7 : sum / count > 3);
}

// A hand that swings at up to 0.9 m/s in a workspace of any scale.
void fast_hand(double scale) {
  Rig rig(VXS_RENDERER_GOD_OBJECT, scale, -INFINITY, nullptr);
  const double speed = 0.9, omega = 12;
  rig.device->led = true;
  const int steps = runs_slowly() ? 100 : 600;
  for (int i = 0; i < steps; i++) {
    const double t = 1e-3 * i;
    rig.device->handle.position = {speed / omega * std::sin(omega * t), 0, 0.05 / scale};
    rig.device->handle.velocity = {speed * std::cos(omega * t), 0, 0};
    rig.scene.simulate();
    rig.step();
    CHECK((rig.tool.output().status & (VXS_HAPTICS_TELEPORT | VXS_HAPTICS_BAD_STATE)) == 0);
  }
  CHECK(rig.tool.faults().teleport == 0 && rig.tool.faults().bad_state == 0);
  // A jump of half a metre of the device is one at any scale. It costs the force for a moment, is counted, and the tool
  // stays on its side of the surface.
  rig.device->handle.position.z -= 0.5;
  rig.step();
  CHECK((rig.tool.output().status & VXS_HAPTICS_TELEPORT) != 0 && rig.device->handle.force.length() == 0);
  const vxs_haptics_faults faults = rig.tool.faults();
  CHECK(faults.teleport == 1 && std::fabs(faults.jump[0] / scale - 0.5) < 0.02 && faults.jump_time >= 5e-3);
  rig.device->handle.velocity = {0, 0, 0};
  for (int i = 0; i < 150; i++) {
    rig.scene.simulate();
    rig.step();
  }
  // In larger worlds the hand has left the block.
  const double height = rig.scene.height(rig.tool.output().tool);
  if (scale == 1) CHECK(rig.device->handle.force.z > 5 && height > sim::Scene::kHalfWidth - 1e-4);
}

// A device of 12 N is pressed by a strong hand: it pushes with 12 N in a workspace of any scale, and never more.
void force_limit(double scale) {
  const vxs_haptics_limits most = cVoxshellTool::limits(SimulatedDevice().getSpecifications(), scale);
  Rig rig(VXS_RENDERER_GOD_OBJECT, scale, -INFINITY, &most);
  const double from = (sim::Scene::kHalfWidth + 0.001) / scale, depth = 0.3;
  const int steps = 800;
  for (int i = 0; i < steps; i++) {
    // It starts at rest above the face.
    const double travel = std::max(0, i - 50);
    rig.lead(from - depth * travel / steps, travel > 0 ? -depth / steps * 1e3 : 0);
    if (i % 4 == 0) rig.scene.simulate();
    rig.step();
  }
  const sim::Handle& handle = rig.device->handle;
  CHECK(handle.most_force > 0.99 * 12 && handle.most_force < 12 * (1 + 1e-9) && handle.force.z > 0.99 * 12);
  CHECK(handle.most_torque < 0.3 * (1 + 1e-9));
}

// The picture shows the tool where it is, not the device, which is inside the block.
void picture() {
  Rig rig(VXS_RENDERER_GOD_OBJECT, 2.5, -INFINITY, nullptr);
  Picture* const picture = new Picture;
  delete rig.tool.m_image;
  rig.tool.m_image = picture;
  chai3d::cRenderOptions options{};
  rig.tool.render(options);
  CHECK(picture->drawn == 0);
  rig.to({0, 0, -0.03}, 800);
  rig.tool.computeGlobalPositions(true);  // as CHAI3D's loops do on the haptic thread
  rig.tool.render(options);
  CHECK(picture->drawn == 1);
  const cVector3d shown = picture->getGlobalPos();
  const vxs_pose tool = rig.tool.output().tool;
  const sim::Vec off = {shown.x() - tool.position.x, shown.y() - tool.position.y, shown.z() - tool.position.z};
  CHECK(off.length() < 1e-12);
  // The frame of the image is that of the tool's object: the device's base in the world.
  const cVector3d local = picture->getLocalPos();
  CHECK(std::fabs(local.z() - sim::Scene::kHalfWidth) < 1e-4);
  CHECK(std::fabs(local.x()) < 1e-3 && std::fabs(local.y()) < 1e-3);
  CHECK(rig.device->handle.position.z * 2.5 < local.z() - 0.003);
  const cMatrix3d rotation = picture->getLocalRot();
  for (int i = 0; i < 3; i++) CHECK(std::fabs(rotation(i, i) - 1) < 1e-4);
}

// An object that can be copied, and knows its copies.
class Figure : public chai3d::cGenericObject {
 public:
  explicit Figure(std::vector<Figure*>& a_all) : all(a_all) { all.push_back(this); }
  ~Figure() override { all.erase(std::find(all.begin(), all.end(), this)); }
  cGenericObject* copy(const bool a_material, const bool a_texture, const bool a_mesh, const bool) override {
    Figure* const figure = new Figure(all);
    figure->is_own = a_material && a_texture && a_mesh;
    figure->setLocalPos(getLocalPos());
    figure->setLocalRot(getLocalRot());
    return figure;
  }
  void setTransparencyLevel(const float a_level, const bool a_vertices, const bool a_textures, const bool a_children,
                            const bool a_components) override {
    opacity = a_level;
    for (unsigned int i = 0; a_children && i < getNumChildren(); i++)
      getChild(i)->setTransparencyLevel(a_level, a_vertices, a_textures, true, a_components);
  }
  void renderSceneGraph(chai3d::cRenderOptions& a_options) override {
    drawn++;
    for (unsigned int i = 0; i < getNumChildren(); i++) getChild(i)->renderSceneGraph(a_options);
  }

  std::vector<Figure*>& all;
  int drawn = 0;
  float opacity = 1;
  bool is_own = false;
};

double height(const cVector3d& p, const sim::Scene& scene) {
  return scene.height({{p.x(), p.y(), p.z()}, 0, 0, 0, 1});
}

// The hand presses into the block: the tool is drawn above the face, and its translucent copy where the hand is.
void picture_of_the_hand() {
  std::vector<Figure*> all;
  Rig rig(VXS_RENDERER_GOD_OBJECT, 2.5, -INFINITY, nullptr);
  Figure* const image = new Figure(all);
  Figure* const child = new Figure(all);
  child->setLocalPos(cVector3d(0, 0, 0.1));
  image->addChild(child);
  delete rig.tool.m_image;
  rig.tool.m_image = image;
  chai3d::cRenderOptions options{};
  rig.to({0, 0, -0.03}, 800);
  rig.tool.render(options);
  CHECK(image->drawn == 1 && all.size() == 2 && !rig.tool.getShowHand());
  rig.tool.setShowHand(true, 0.4f);
  CHECK(all.size() == 4 && rig.tool.getShowHand());
  const Figure &hand = *all[2], &its_child = *all[3];
  rig.tool.render(options);
  CHECK(image->drawn == 2 && child->drawn == 2 && hand.drawn == 1 && its_child.drawn == 1);
  CHECK(hand.is_own && its_child.is_own && hand.opacity == 0.4f && its_child.opacity == 0.4f);
  CHECK(image->opacity == 1 && child->opacity == 1);
  NEAR(height(image->getGlobalPos(), rig.scene), sim::Scene::kHalfWidth, 1e-4);
  const double inside = height(hand.getGlobalPos(), rig.scene);
  NEAR(inside, 2.5 * rig.device->handle.position.z, 2e-3);
  CHECK(inside < sim::Scene::kHalfWidth - 0.003);
  NEAR(height(its_child.getGlobalPos(), rig.scene) - inside, 0.1, 1e-4);
  // A reading that is refused leaves it where it was.
  rig.device->garbage = true;
  rig.to({0, 0, -0.03}, 5);
  rig.tool.render(options);
  NEAR(height(hand.getGlobalPos(), rig.scene), inside, 1e-2);
  for (int i = 0; i < 3; i++) CHECK(std::isfinite(hand.getLocalRot()(i, i)));
  rig.tool.setShowHand(false);
  rig.tool.render(options);
  CHECK(all.size() == 2 && image->drawn == 4);
  delete image;
  rig.tool.m_image = nullptr;
  rig.tool.setShowHand(true);
  CHECK(!rig.tool.getShowHand());
}

// Models that are loaded from files are multi-meshes: the hand's copy of one shows what its meshes show, each in its
// place. The image itself may be one.
void picture_of_the_hand_with_a_multi_mesh() {
  for (const bool is_image : {false, true}) {
    std::vector<Figure*> all;
    Rig rig(VXS_RENDERER_GOD_OBJECT, 2.5, -INFINITY, nullptr);
    chai3d::cMultiMesh* const whole = new chai3d::cMultiMesh;
    for (int i = 0; i < 2; i++) {
      chai3d::cMesh* const mesh = whole->newMesh();
      mesh->setLocalPos(cVector3d(0, 0.05 * i, 0));
      mesh->addChild(new Figure(all));
    }
    Figure* const beside = new Figure(all);
    whole->addChild(beside);
    delete rig.tool.m_image;
    rig.tool.m_image = whole;
    if (!is_image) {
      whole->setLocalPos(cVector3d(0, 0, 0.1));
      rig.tool.m_image = new Figure(all);
      CHECK(rig.tool.m_image->addChild(whole));
    }
    const std::size_t count = all.size();
    chai3d::cRenderOptions options{};
    rig.to({0, 0, -0.03}, 800);
    rig.tool.setShowHand(true, 0.4f);
    CHECK(rig.tool.getShowHand() && all.size() == 2 * count);
    rig.tool.render(options);
    for (const Figure* figure : all) CHECK(figure->drawn == 1);
    const auto nth = [&](std::size_t n) { return height(all[n]->getGlobalPos(), rig.scene); };
    for (std::size_t n = count; n < 2 * count; n++) CHECK(all[n]->opacity == 0.4f && all[n]->is_own);
    // The hand is inside the block: the copies are lower than the figures that they copy.
    double lowest[2] = {INFINITY, INFINITY};
    for (std::size_t n = 0; n < 2 * count; n++) lowest[n / count] = std::min(lowest[n / count], nth(n));
    CHECK(lowest[1] < lowest[0] - 0.003);
    rig.tool.setShowHand(false);
    CHECK(all.size() == count);
    delete rig.tool.m_image;
    rig.tool.m_image = nullptr;
  }
}

// One thread makes steps and another draws. Each output that is read is the output of one step: its quaternion is a
// unit one, and its height fits its number of contacts.
void two_threads() {
  Rig rig(VXS_RENDERER_GOD_OBJECT, 1, -INFINITY, nullptr);
  Picture* const picture = new Picture;
  delete rig.tool.m_image;
  rig.tool.m_image = picture;
  rig.lead(0.02, 0);
  rig.step();
  std::atomic<bool> on{true};
  std::thread haptic([&] {
    const int steps = runs_slowly() ? 300 : 20000;
    for (int i = 0; i < steps; i++) {
      rig.lead(0.012 + 0.008 * std::cos(0.02 * i), -0.16 * std::sin(0.02 * i));
      if (i % 4 == 0) rig.scene.simulate();
      rig.step();
    }
    on = false;
  });
  chai3d::cRenderOptions options{};
  while (on) {
    const vxs_haptics_output output = rig.tool.output();
    const vxs_pose& p = output.tool;
    CHECK(std::fabs(p.qx * p.qx + p.qy * p.qy + p.qz * p.qz + p.qw * p.qw - 1) < 1e-9);
    const double height = rig.scene.height(p);
    CHECK(height > sim::Scene::kHalfWidth - 1e-4 && height < 0.0201);
    const vxs_vec3& force = output.wrench.force;
    CHECK(output.contacts > 0 || (force.x == 0 && force.y == 0 && force.z == 0));
    rig.tool.render(options);
    CHECK(rig.tool.failure() == VXS_OK);
  }
  haptic.join();
  CHECK(picture->drawn > 0);
}

// The tool names the objects that it touches, and changes its scene while it runs.
void contact_and_scenes() {
  Rig rig(VXS_RENDERER_PENALTY, 1, -INFINITY, nullptr);
  Picture block, other;
  rig.to({0, 0, 0.03}, 100);
  CHECK(!rig.tool.isInContact(&block));
  rig.to({0, 0, -0.03}, 800);
  CHECK(rig.tool.isInContact(&block));  // anything
  rig.tool.setBodyObjects({&block, &other});
  CHECK(rig.tool.isInContact(&block) && !rig.tool.isInContact(&other) && !rig.tool.isInContact(nullptr));
  rig.tool.setBodyObjects({&other, &block});
  CHECK(rig.tool.isInContact(&other) && !rig.tool.isInContact(&block));
  // The same block again: the force starts from zero and comes back.
  sim::Scene next(VXS_RENDERER_GOD_OBJECT, 1, sim::Quaternion(), -INFINITY, nullptr);
  const double held = rig.device->handle.force.length();
  rig.to({0, 0, 0.03}, 600);
  rig.tool.setHaptics(next.haptics);
  CHECK(rig.tool.getHaptics() == rig.scene.haptics);
  rig.step();
  CHECK(rig.tool.getHaptics() == next.haptics && rig.device->handle.force.length() < 0.05 * held);
  rig.device->handle.goal = {0, 0, -0.03};
  for (int i = 0; i < 1000; i++) {
    next.simulate();
    rig.step();
  }
  sim::pushes_out(rig.device->handle, kUp, 0.7 * 135 * 0.03);
  CHECK(rig.tool.isInContact(&other));
  CHECK(rig.tool.stop());
}

void contact_and_free_space(double scale) {
  Rig rig(VXS_RENDERER_PENALTY, scale, -INFINITY, nullptr);
  sim::Handle& handle = rig.device->handle;
  rig.to({0, 0, 0.03 / scale}, 300);
  CHECK(handle.force.length() < 0.02 && handle.torque.length() < 0.002);
  rig.to({0, 0, -0.03 / scale}, 2000);
  sim::pushes_out(handle, kUp, 0.8 * 135 * 0.03 / scale);
  CHECK(rig.tool.output().contacts > 0 && rig.tool.failure() == VXS_OK);
  rig.to({0, 0, 0.03 / scale}, 2000);
  CHECK(handle.force.length() < 0.02 && rig.tool.output().contacts == 0);
  CHECK(rig.tool.stop());
  sim::lets_go(handle);
}

void lever(double scale) {
  Rig rig(VXS_RENDERER_PENALTY, scale, 0.03, nullptr);
  rig.to({0, 0, 0}, 2500);
  const sim::Vec f = rig.device->handle.force, t = rig.device->handle.torque;
  CHECK(f.z > 0.3 / scale && -t.y > 0.025 / scale * f.z && -t.y < 0.065 / scale * f.z);
  CHECK(std::fabs(t.x) < 0.15 * -t.y && std::fabs(t.z) < 0.15 * -t.y);
}

void limits_of_the_device() {
  chai3d::cHapticDeviceInfo info = SimulatedDevice().getSpecifications();
  info.m_maxLinearForce = 2.5;
  vxs_haptics_limits most = cVoxshellTool::limits(info, 2);
  CHECK(most.force == 2.5 && most.torque == 0.6 && most.stiffness[0] == 1500 && most.stiffness[1] == 40);
  CHECK(most.damping[0] == 20 && most.damping[1] == 0.2);
  info.m_actuatedRotation = false;
  CHECK(std::isinf(cVoxshellTool::limits(info).torque) && std::isinf(cVoxshellTool::limits(info).stiffness[1]));
  Rig rig(VXS_RENDERER_PENALTY, 2, 0.03, &most);
  rig.to({0, 0, 0.03 / 2}, 300);  // until the ramp is over
  rig.to({0, 0, -0.1}, 500);
  const sim::Handle& handle = rig.device->handle;
  CHECK(handle.most_force > 2.4 && handle.most_force < 2.5 * (1 + 1e-9) && handle.most_torque < 0.3 * (1 + 1e-9));
}

void switch_and_garbage() {
  Rig rig(VXS_RENDERER_PENALTY, 1, -INFINITY, nullptr);
  const sim::Handle& handle = rig.device->handle;
  rig.tool.setDeadmanSwitch(1);
  rig.to({0, 0, -0.03}, 500);
  sim::lets_go(handle);
  CHECK((rig.tool.output().status & VXS_HAPTICS_DISENGAGED) != 0);
  rig.to({0, 0, 0.03}, 1000);
  rig.device->user_switches = 2;
  rig.to({0, 0, -0.03}, 2000);
  sim::pushes_out(handle, kUp, 3);
  rig.device->garbage = true;
  rig.to({0, 0, -0.03}, 1);
  sim::lets_go(handle);
  CHECK((rig.tool.output().status & VXS_HAPTICS_BAD_STATE) != 0);
}

// Adds two of the six faces' pairs of triangles to a mesh: those of a box across the given axes, in the frame of the
// mesh, which is turned by a quarter about z and moved. Every triangle has corners of its own, as files give them.
void add_faces(chai3d::cMesh* mesh, const double half[3], int axis_from, int axis_to, const cVector3d& at) {
  cMatrix3d quarter;
  for (int row = 0; row < 3; row++)
    for (int column = 0; column < 3; column++) quarter(row, column) = 0;
  quarter(0, 1) = -1, quarter(1, 0) = 1, quarter(2, 2) = 1;
  mesh->setLocalPos(at);
  mesh->setLocalRot(quarter);
  // Back into the frame of the mesh.
  const auto corner = [&](const double p[3]) {
    const double x = p[0] - at.x(), y = p[1] - at.y(), z = p[2] - at.z();
    return mesh->newVertex(y, -x, z);
  };
  for (int axis = axis_from; axis < axis_to; axis++) {
    for (int side = -1; side <= 1; side += 2) {
      const int u = (axis + 1) % 3, v = (axis + 2) % 3;
      const double signs[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
      double corners[4][3];
      for (int i = 0; i < 4; i++)
        corners[i][axis] = side * half[axis], corners[i][u] = signs[i][0] * half[u], corners[i][v] = signs[i][1] * half[v];
      for (int t = 1; t < 3; t++) {
        // Counter-clockwise from outside.
        const double* const second = corners[side > 0 ? t : t + 1];
        const double* const third = corners[side > 0 ? t + 1 : t];
        const unsigned int a = corner(corners[0]), b = corner(second), c = corner(third);
        mesh->newTriangle(a, b, c);
      }
    }
  }
}

// A box of two meshes in millimetres, each in a frame of its own, cooks to the box in metres.
void shape_of_a_multi_mesh() {
  const double half[3] = {80, 50, 30}, volume = 8 * 0.08 * 0.05 * 0.03;
  chai3d::cMultiMesh whole;
  add_faces(whole.newMesh(), half, 0, 2, cVector3d(5, -7, 11));
  chai3d::cMesh* const lids = whole.newMesh();
  add_faces(lids, half, 2, 3, cVector3d(-3, 2, 1));
  // A removed triangle across the inside, and a corner that none has.
  lids->removeTriangle(lids->newTriangle(0, 4, 8));
  lids->newVertex(1000, 1000, 1000);
  // Where the multi-mesh stands is the body's pose, not the shape's.
  whole.setLocalPos(cVector3d(100, 200, 300));
  voxshell::CookOptions options;
  options.resolution = 32;
  const voxshell::Shape shape = voxshell::chai3d::shape(&whole, options, 1e-3);
  NEAR(shape.get_mass_properties().volume, volume, 1e-6 * volume);
  const voxshell::Aabb bounds = shape.get_bounds();
  NEAR(bounds.max.x, 0.08, 1e-6);
  NEAR(bounds.min.y, -0.05, 1e-6);
  NEAR(bounds.max.z, 0.03, 1e-6);
  CHECK(shape.get_triangles().indices.size() == 3 * 12);
  const voxshell::Field field = shape.get_field();
  NEAR(field.distance({0, 0, 0.02}), -0.01, 1e-4);
  NEAR(field.distance({0.085, 0.01, 0}), 0.005, 1e-4);
  for (double wrong : std::initializer_list<double>{0, -1, NAN, INFINITY}) {
    try {
      voxshell::chai3d::shape(&whole, options, wrong);
      CHECK(!"a scale that is none");
    } catch (const voxshell::Error& error) {
      CHECK(error.status() == VXS_INVALID_ARGUMENT && strstr(error.what(), "scale: ") != nullptr);
    }
  }
  try {
    voxshell::chai3d::shape(nullptr);
    CHECK(!"no multi-mesh");
  } catch (const voxshell::Error& error) {
    CHECK(strstr(error.what(), "mesh: null") != nullptr);
  }
  const chai3d::cMultiMesh empty;
  try {
    voxshell::chai3d::shape(&empty);
    CHECK(!"a multi-mesh without triangles");
  } catch (const voxshell::Error& error) {
    CHECK(error.status() == VXS_INVALID_MESH || error.status() == VXS_INVALID_ARGUMENT);
  }
}

// With the adapter's own clock.
void own_time() {
  Rig rig(VXS_RENDERER_PENALTY, 1, -INFINITY, nullptr);
  rig.tool.setTimeStep(0);
  for (int i = 0; i < 20; i++) {
    rig.to({0, 0, 0.03}, 1);
    CHECK(rig.tool.failure() == VXS_OK && rig.device->handle.force.length() < 0.5);
  }
}

}  // namespace

int main() {
  CHECK(cVoxshellTool(nullptr, nullptr).getClassName() == "VoxshellTool");
  contact_and_free_space(1);
  contact_and_free_space(2.5);
  lever(1);
  lever(2.5);
  limits_of_the_device();
  switch_and_garbage();
  own_time();
  unpaced_loop(VXS_RENDERER_GOD_OBJECT);
  unpaced_loop(VXS_RENDERER_PENALTY);
  for (double scale : {0.1, 1.0, 13.3, 30.0}) fast_hand(scale);
  for (double scale : {0.1, 0.3, 1.0, 3.0, 5.0, 13.3, 30.0})
    if (!runs_slowly() || scale == 13.3) force_limit(scale);
  picture();
  picture_of_the_hand();
  picture_of_the_hand_with_a_multi_mesh();
  two_threads();
  contact_and_scenes();
  shape_of_a_multi_mesh();
  puts("chai3d: ok");
  return 0;
}
