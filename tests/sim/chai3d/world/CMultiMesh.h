// The meshes of the simulated CHAI3D.
#ifndef VOXSHELL_TESTS_SIM_CHAI3D_MULTI_MESH_H
#define VOXSHELL_TESTS_SIM_CHAI3D_MULTI_MESH_H

#include <array>
#include <memory>
#include <vector>

#include "tools/CGenericTool.h"

namespace chai3d {

class cVertexArray {
 public:
  unsigned int getNumElements() { return static_cast<unsigned int>(points.size()); }
  cVector3d getLocalPos(const unsigned int a_vertexIndex) const { return points[a_vertexIndex]; }
  std::vector<cVector3d> points;
};

// Removed triangles stay in the array, and are not allocated.
class cTriangleArray {
 public:
  unsigned int getNumElements() { return static_cast<unsigned int>(corners.size()); }
  bool getAllocated(const unsigned int a_index) const { return allocated[a_index]; }
  unsigned int getVertexIndex0(const unsigned int a_triangleIndex) const { return corners[a_triangleIndex][0]; }
  unsigned int getVertexIndex1(const unsigned int a_triangleIndex) const { return corners[a_triangleIndex][1]; }
  unsigned int getVertexIndex2(const unsigned int a_triangleIndex) const { return corners[a_triangleIndex][2]; }
  std::vector<std::array<unsigned int, 3>> corners;
  std::vector<bool> allocated;
};

class cMesh : public cGenericObject {
 public:
  cMesh* copy(const bool = false, const bool = false, const bool a_duplicateMeshData = false,
              const bool = false) override {
    cMesh* const mesh = new cMesh;
    mesh->setLocalPos(m_localPos);
    mesh->setLocalRot(m_localRot);
    mesh->m_vertices = a_duplicateMeshData ? std::make_shared<cVertexArray>(*m_vertices) : m_vertices;
    mesh->m_triangles = a_duplicateMeshData ? std::make_shared<cTriangleArray>(*m_triangles) : m_triangles;
    return mesh;
  }
  unsigned int newVertex(const double a_x, const double a_y, const double a_z) {
    m_vertices->points.push_back({a_x, a_y, a_z});
    return m_vertices->getNumElements() - 1;
  }
  unsigned int newTriangle(const unsigned int a_0, const unsigned int a_1, const unsigned int a_2) {
    m_triangles->corners.push_back({a_0, a_1, a_2});
    m_triangles->allocated.push_back(true);
    return m_triangles->getNumElements() - 1;
  }
  bool removeTriangle(const unsigned int a_index) {
    m_triangles->allocated[a_index] = false;
    return true;
  }
  std::shared_ptr<cVertexArray> m_vertices = std::make_shared<cVertexArray>();
  std::shared_ptr<cTriangleArray> m_triangles = std::make_shared<cTriangleArray>();
};

class cMultiMesh : public cGenericObject {
 public:
  ~cMultiMesh() override {
    for (cMesh* mesh : m_meshes) delete mesh;
  }
  cMesh* newMesh() {
    m_meshes.push_back(new cMesh);
    addComponent(m_meshes.back());
    return m_meshes.back();
  }
  // As in CHAI3D 3.3.0: the multi-mesh becomes a component of itself, and not the mesh.
  bool addMesh(cMesh* a_mesh) {
    if (a_mesh == nullptr || a_mesh->getParent() != nullptr) return false;
    addComponent(this);
    m_meshes.push_back(a_mesh);
    return true;
  }
  cMultiMesh* copy(const bool a_duplicateMaterialData = false, const bool a_duplicateTextureData = false,
                   const bool a_duplicateMeshData = false, const bool a_buildCollisionDetector = true) override {
    cMultiMesh* const whole = new cMultiMesh;
    whole->setLocalPos(m_localPos);
    whole->setLocalRot(m_localRot);
    for (cMesh* mesh : m_meshes)
      whole->addMesh(mesh->copy(a_duplicateMaterialData, a_duplicateTextureData, a_duplicateMeshData, a_buildCollisionDetector));
    return whole;
  }
  int getNumMeshes() { return static_cast<int>(m_meshes.size()); }
  cMesh* getMesh(unsigned int a_index) { return a_index < m_meshes.size() ? m_meshes[a_index] : nullptr; }

 private:
  std::vector<cMesh*> m_meshes;
};

}  // namespace chai3d

#endif
