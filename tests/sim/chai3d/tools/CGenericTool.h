// A simulated CHAI3D: the classes that the adapter derives from and reads, with the names, signatures and conventions
// of version 3.3 (SI; position and linear velocity of a tool carry the workspace's scale, rotation and force do not).
// Written for the tests; it contains no code of CHAI3D.
#ifndef VOXSHELL_TESTS_SIM_CHAI3D_H
#define VOXSHELL_TESTS_SIM_CHAI3D_H

#include <memory>
#include <string>
#include <vector>

namespace chai3d {

struct cVector3d {
  cVector3d() {}
  cVector3d(const double a_x, const double a_y, const double a_z) : m_data{a_x, a_y, a_z} {}
  double x() const { return m_data[0]; }
  double y() const { return m_data[1]; }
  double z() const { return m_data[2]; }

 private:
  double m_data[3];
};
inline cVector3d operator*(double s, const cVector3d& v) { return {s * v.x(), s * v.y(), s * v.z()}; }
inline cVector3d operator+(const cVector3d& a, const cVector3d& b) { return {a.x() + b.x(), a.y() + b.y(), a.z() + b.z()}; }

struct cMatrix3d {
  cMatrix3d() {}
  double& operator()(const int a_index0, const int a_index1) { return m[a_index0][a_index1]; }
  const double& operator()(const int a_index0, const int a_index1) const { return m[a_index0][a_index1]; }
  void identity() {
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) m[i][j] = i == j;
  }

 private:
  double m[3][3];
};
inline cVector3d operator*(const cMatrix3d& r, const cVector3d& v) {
  return {r(0, 0) * v.x() + r(0, 1) * v.y() + r(0, 2) * v.z(), r(1, 0) * v.x() + r(1, 1) * v.y() + r(1, 2) * v.z(),
          r(2, 0) * v.x() + r(2, 1) * v.y() + r(2, 2) * v.z()};
}
inline cMatrix3d operator*(const cMatrix3d& a, const cMatrix3d& b) {
  cMatrix3d c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) c(i, j) = a(i, 0) * b(0, j) + a(i, 1) * b(1, j) + a(i, 2) * b(2, j);
  return c;
}
inline cMatrix3d cTranspose(const cMatrix3d& a) {
  cMatrix3d t;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) t(i, j) = a(j, i);
  return t;
}

class cWorld {};

struct cRenderOptions {};

struct cHapticDeviceInfo {
  double m_maxLinearForce, m_maxAngularTorque, m_maxLinearStiffness, m_maxAngularStiffness, m_maxLinearDamping, m_maxAngularDamping;
  double m_workspaceRadius;
  bool m_actuatedPosition, m_actuatedRotation;
};

class cGenericHapticDevice {
 public:
  virtual ~cGenericHapticDevice() {}
  virtual bool open() { return false; }
  virtual bool close() { return false; }
  virtual bool calibrate(bool = false) { return false; }
  virtual bool getPosition(cVector3d& a_position) = 0;
  virtual bool getLinearVelocity(cVector3d& a_linearVelocity) = 0;
  virtual bool getRotation(cMatrix3d& a_rotation) = 0;
  virtual bool getAngularVelocity(cVector3d& a_angularVelocity) = 0;
  virtual bool getUserSwitches(unsigned int& a_userSwitches) = 0;
  virtual bool setForceAndTorqueAndGripperForce(const cVector3d& a_force, const cVector3d& a_torque, double a_gripperForce) = 0;
  cHapticDeviceInfo getSpecifications() { return m_specifications; }
  cHapticDeviceInfo m_specifications{};
};
typedef std::shared_ptr<cGenericHapticDevice> cGenericHapticDevicePtr;

// As in CHAI3D, global poses are those of the last computeGlobalPositions, which the haptic loop calls, and the
// picture's thread calls renderSceneGraph.
class cGenericObject {
 public:
  cGenericObject() : m_localPos(0, 0, 0), m_globalPos(0, 0, 0) {
    m_localRot.identity();
    m_globalRot.identity();
  }
  // CHAI3D's objects own their children.
  virtual ~cGenericObject() {
    for (cGenericObject* child : m_children) delete child;
  }
  // Classes that can be copied override it. Children are not copied.
  virtual cGenericObject* copy(const bool = false, const bool = false, const bool = false, const bool = true) {
    return nullptr;
  }
  // An object that has a parent is refused.
  bool addChild(cGenericObject* a_object) {
    if (a_object == nullptr || a_object == this || a_object->m_parent != nullptr) return false;
    m_children.push_back(a_object);
    a_object->m_parent = this;
    return true;
  }
  bool addComponent(cGenericObject* a_component) {
    if (a_component == nullptr || a_component->m_parent != nullptr) return false;
    m_components.push_back(a_component);
    a_component->m_parent = this;
    return true;
  }
  cGenericObject* getParent() const { return m_parent; }
  unsigned int getNumChildren() { return static_cast<unsigned int>(m_children.size()); }
  cGenericObject* getChild(const unsigned int a_index) const { return m_children[a_index]; }
  virtual void setTransparencyLevel(const float a_level, const bool a_applyToVertices = false,
                                    const bool a_applyToTextures = false, const bool a_affectChildren = false,
                                    const bool a_affectComponents = true) {
    if (a_affectComponents)
      for (cGenericObject* component : m_components)
        component->setTransparencyLevel(a_level, a_applyToVertices, a_applyToTextures, a_affectChildren, true);
    if (a_affectChildren)
      for (cGenericObject* child : m_children)
        child->setTransparencyLevel(a_level, a_applyToVertices, a_applyToTextures, true, a_affectComponents);
  }
  void setLocalPos(const cVector3d& a_localPos) { m_localPos = a_localPos; }
  void setLocalRot(const cMatrix3d& a_localRot) { m_localRot = a_localRot; }
  cVector3d getLocalPos() const { return m_localPos; }
  cMatrix3d getLocalRot() const { return m_localRot; }
  cVector3d getGlobalPos() const { return m_globalPos; }
  cMatrix3d getGlobalRot() const { return m_globalRot; }
  virtual void computeGlobalPositions(const bool a_frameOnly = true, const cVector3d& a_globalPos = cVector3d(0, 0, 0),
                                      const cMatrix3d& a_globalRot = identity()) {
    m_globalPos = a_globalPos + a_globalRot * m_localPos;
    m_globalRot = a_globalRot * m_localRot;
    updateGlobalPositions(a_frameOnly);
    for (cGenericObject* component : m_components)
      component->computeGlobalPositions(a_frameOnly, m_globalPos, m_globalRot);
    for (cGenericObject* child : m_children) child->computeGlobalPositions(a_frameOnly, m_globalPos, m_globalRot);
  }
  virtual void renderSceneGraph(cRenderOptions& a_options) {
    render(a_options);
    for (cGenericObject* component : m_components) component->renderSceneGraph(a_options);
    for (cGenericObject* child : m_children) child->renderSceneGraph(a_options);
  }

 protected:
  virtual void updateGlobalPositions(const bool) {}
  virtual void render(cRenderOptions&) {}
  static cMatrix3d identity() {
    cMatrix3d m;
    m.identity();
    return m;
  }

  cVector3d m_localPos, m_globalPos;
  cMatrix3d m_localRot, m_globalRot;
  cGenericObject* m_parent = nullptr;
  std::vector<cGenericObject*> m_children, m_components;
};

class cGenericTool : public cGenericObject {
 public:
  explicit cGenericTool(cWorld* a_parentWorld) : m_image(new cGenericObject), m_parentWorld(a_parentWorld) {
    m_deviceLocalRot.identity();
    m_deviceGlobalRot.identity();
  }
  ~cGenericTool() override { delete m_image; }
  virtual std::string getClassName() { return "GenericTool"; }
  void setHapticDevice(cGenericHapticDevicePtr a_hapticDevice) { m_hapticDevice = a_hapticDevice; }
  cGenericHapticDevicePtr getHapticDevice() { return m_hapticDevice; }

  virtual bool start() {
    m_enabled = m_hapticDevice && m_hapticDevice->open();
    if (m_enabled) initialize();
    return m_enabled;
  }
  virtual bool stop() { return m_enabled && m_hapticDevice->close(); }
  virtual void initialize() { updateFromDevice(); }
  virtual void updateFromDevice() {
    if (!m_enabled) return;
    cVector3d position, linear, angular;
    cMatrix3d rotation;
    m_hapticDevice->getPosition(position);
    m_hapticDevice->getRotation(rotation);
    m_hapticDevice->getLinearVelocity(linear);
    m_hapticDevice->getAngularVelocity(angular);
    m_hapticDevice->getUserSwitches(m_userSwitches);
    m_deviceLocalPos = m_workspaceScaleFactor * position;
    m_deviceLocalRot = rotation;
    m_deviceGlobalPos = m_globalPos + m_globalRot * m_deviceLocalPos;
    m_deviceGlobalRot = m_globalRot * rotation;
    m_deviceGlobalLinVel = m_globalRot * (m_workspaceScaleFactor * linear);
    m_deviceGlobalAngVel = m_globalRot * angular;
    updateToolImagePosition();
  }
  virtual void computeInteractionForces() {}
  virtual bool applyToDevice() {
    return m_enabled && m_hapticDevice->setForceAndTorqueAndGripperForce(m_deviceLocalForce, m_deviceLocalTorque, m_gripperForce);
  }

  virtual bool getUserSwitch(const unsigned int a_switchIndex) const { return (m_userSwitches >> a_switchIndex & 1u) != 0; }
  virtual void setGripperForce(const double& a_gripperForce) { m_gripperForce = a_gripperForce; }
  virtual void setDeviceGlobalForce(const cVector3d& a_globalForce) { m_deviceLocalForce = cTranspose(m_globalRot) * a_globalForce; }
  void setDeviceGlobalForce(const double& a_x, const double& a_y, const double& a_z) { setDeviceGlobalForce(cVector3d(a_x, a_y, a_z)); }
  virtual void setDeviceGlobalTorque(const cVector3d& a_globalTorque) { m_deviceLocalTorque = cTranspose(m_globalRot) * a_globalTorque; }
  void setDeviceGlobalTorque(const double& a_x, const double& a_y, const double& a_z) { setDeviceGlobalTorque(cVector3d(a_x, a_y, a_z)); }

  bool setWorkspaceScaleFactor(const double& a_workspaceScaleFactor) {
    m_workspaceScaleFactor = a_workspaceScaleFactor;
    return true;
  }
  double getWorkspaceScaleFactor() { return m_workspaceScaleFactor; }
  // A tool without haptic points touches nothing.
  virtual bool isInContact(cGenericObject*) { return false; }
  // The base class draws nothing: tools that have an image override it.
  void render(cRenderOptions&) override {}

  cGenericObject* m_image;

 protected:
  virtual void updateToolImagePosition() {
    m_image->setLocalPos(m_deviceLocalPos);
    m_image->setLocalRot(m_deviceLocalRot);
  }
  void updateGlobalPositions(const bool a_frameOnly) override {
    if (m_image != nullptr) m_image->computeGlobalPositions(a_frameOnly, m_globalPos, m_globalRot);
  }

  cGenericHapticDevicePtr m_hapticDevice;
  unsigned int m_userSwitches = 0;
  bool m_enabled = false;
  cVector3d m_deviceLocalForce{0, 0, 0}, m_deviceLocalTorque{0, 0, 0};
  double m_gripperForce = 0, m_workspaceScaleFactor = 1.0;
  cVector3d m_deviceGlobalPos{0, 0, 0}, m_deviceGlobalLinVel{0, 0, 0}, m_deviceGlobalAngVel{0, 0, 0};
  cVector3d m_deviceLocalPos{0, 0, 0};
  cMatrix3d m_deviceLocalRot, m_deviceGlobalRot;
  cWorld* m_parentWorld;
};

}  // namespace chai3d

#endif
