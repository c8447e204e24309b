"""Depth of the bodies of a MuJoCo model in each other, measured at states: the same for every way to collide them.

The measurement takes nothing from the simulation but poses, and from the model its triangles. It uses no contact, no field
and no setting of either side: shapes are cooked for it alone, with the triangles in the field (VXS_STORAGE_EXACT), and a pair
is asked for its deepest point among all samples and all edges that cross the other mesh (VXS_COVERAGE_EDGES, both roles).
Where a mesh is open, the library has no edges to test: then all vertices are, against a field of 384 voxels. Depth in a plane
is that of the lowest vertex.
"""
import ctypes

import mujoco
import numpy as np

import primitives

ROLES_BOTH, COVERAGE_EDGES = 3, 1
STORAGE_DENSE, STORAGE_EXACT = 1, 3
SAMPLING_DEFAULT, SAMPLING_VERTICES = 0, 2
PLANE = mujoco.mjtGeom.mjGEOM_PLANE


class _Pose(ctypes.Structure):  # vxs_pose
    _fields_ = [("position", ctypes.c_double * 3), ("quaternion", ctypes.c_double * 4)]  # x y z w


class _Body(ctypes.Structure):  # vxs_body
    _fields_ = [("shape", ctypes.c_void_p), ("pose", _Pose)]


class _Query(ctypes.Structure):  # vxs_query
    _fields_ = [("struct_size", ctypes.c_uint32), ("roles", ctypes.c_uint32), ("max_separation", ctypes.c_double),
                ("max_distance", ctypes.c_double), ("max_depth", ctypes.c_double), ("max_contacts", ctypes.c_uint32),
                ("preferred_count", ctypes.c_uint32), ("preferred", ctypes.c_void_p), ("limit", ctypes.c_void_p),
                ("step", ctypes.c_void_p), ("segmentation", ctypes.c_void_p), ("coverage", ctypes.c_uint32),
                ("reserved", ctypes.c_uint32)]


class _Contact(ctypes.Structure):  # vxs_contact
    _fields_ = [("point_on_a", ctypes.c_double * 3), ("point_on_b", ctypes.c_double * 3),
                ("normal", ctypes.c_double * 3), ("separation", ctypes.c_double), ("toi", ctypes.c_double),
                ("feature", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


class DepthMeter:
    """Measures with the shared library libvoxshell at `path`. Shapes are kept as long as the meter."""

    def __init__(self, path):
        self._library = ctypes.CDLL(path)
        self._library.vxs_last_error.restype = ctypes.c_char_p
        self._shapes, self._workspace = {}, ctypes.c_void_p()
        self._check(self._library.vxs_workspace_create(ctypes.byref(self._workspace)))
        self._query = _Query()
        self._check(self._library.vxs_query_init(ctypes.byref(self._query), ctypes.c_size_t(ctypes.sizeof(_Query))))
        self._query.roles, self._query.coverage, self._query.max_distance = ROLES_BOTH, COVERAGE_EDGES, 0.0

    def __del__(self):
        for shape in self._shapes.values():
            self._library.vxs_shape_release(shape)
        self._library.vxs_workspace_destroy(self._workspace)

    def deepest(self, model, data):
        """Returns the depth of the deepest pair at the poses of `data`, metres (0 if none touches), and its geoms."""
        deepest, pair = 0.0, None
        for first in range(model.ngeom):
            for second in range(first + 1, model.ngeom):
                if not self._can_touch(model, data, first, second):
                    continue
                depth = self.pair(model, data, first, second)
                if depth > deepest:
                    deepest, pair = depth, (first, second)
        return deepest, pair

    def pair(self, model, data, first, second):
        """Returns the depth of one pair of geoms, metres, 0 if they are apart."""
        if model.geom_type[second] == PLANE:
            first, second = second, first
        if model.geom_type[first] == PLANE:
            points = _triangles(model, second)[0] @ data.geom_xmat[second].reshape(3, 3).T + data.geom_xpos[second]
            normal = data.geom_xmat[first].reshape(3, 3)[:, 2]
            return max(0.0, -float(((points - data.geom_xpos[first]) @ normal).min()))
        a, b = self._body(model, data, first), self._body(model, data, second)
        contact, found = _Contact(), ctypes.c_bool()
        self._check(self._library.vxs_query_distance(ctypes.byref(a), ctypes.byref(b), ctypes.byref(self._query),
                                                     self._workspace, ctypes.byref(contact), ctypes.byref(found)))
        return max(0.0, -contact.separation) if found.value else 0.0

    @staticmethod
    def _can_touch(model, data, first, second):
        if model.body_weldid[model.geom_bodyid[first]] == model.body_weldid[model.geom_bodyid[second]]:
            return False
        if PLANE in (model.geom_type[first], model.geom_type[second]):
            return model.geom_type[first] != model.geom_type[second]
        apart = np.linalg.norm(data.geom_xpos[first] - data.geom_xpos[second])
        return apart < model.geom_rbound[first] + model.geom_rbound[second]

    def _body(self, model, data, geom):
        body, quaternion = _Body(), np.empty(4)
        mujoco.mju_mat2Quat(quaternion, data.geom_xmat[geom])
        body.shape = self._shape(*_triangles(model, geom))
        body.pose.position[:] = data.geom_xpos[geom]
        body.pose.quaternion[:] = [*quaternion[1:], quaternion[0]]
        return body

    def _check(self, status):
        if status:
            raise RuntimeError(self._library.vxs_last_error().decode())

    def _cook(self, vertices, faces, storage, sampling, resolution):
        options, shape = primitives._CookOptions(), ctypes.c_void_p()
        self._check(self._library.vxs_cook_options_init(ctypes.byref(options), ctypes.c_size_t(ctypes.sizeof(options))))
        options.field_storage, options.sampling, options.resolution = storage, sampling, resolution
        options.sample_count = 20000 if sampling == SAMPLING_DEFAULT else 0
        status = self._library.vxs_shape_create_from_triangles(
            vertices.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(len(vertices)),
            faces.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(len(faces)), ctypes.byref(options), ctypes.byref(shape))
        return status, shape

    def _shape(self, vertices, faces):
        """Returns the shape of triangles; equal ones share it."""
        key = (vertices.tobytes(), faces.tobytes())
        if key not in self._shapes:
            status, shape = self._cook(vertices, faces, STORAGE_EXACT, SAMPLING_DEFAULT, 128)
            if status:  # an open mesh
                status, shape = self._cook(vertices, faces, STORAGE_DENSE, SAMPLING_VERTICES, 384)
                self._check(status)
            self._shapes[key] = shape
        return self._shapes[key]


def _triangles(model, geom):
    """Vertices, metres, frame of the geom, and faces of a geom that is a mesh, an SDF or a box."""
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_BOX:
        corners = np.array([[x, y, z] for x in (-1.0, 1) for y in (-1, 1) for z in (-1, 1)]) * model.geom_size[geom]
        faces = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
                 [1, 5, 7], [1, 7, 3]]
        return corners, np.array(faces, np.uint32)
    mesh = model.geom_dataid[geom]
    first_vertex, first_face = model.mesh_vertadr[mesh], model.mesh_faceadr[mesh]
    return (model.mesh_vert[first_vertex:first_vertex + model.mesh_vertnum[mesh]].astype(np.float64),
            model.mesh_face[first_face:first_face + model.mesh_facenum[mesh]].astype(np.uint32))
