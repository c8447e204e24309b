"""Meshes of Voxshell's primitives as OBJ text, for model files: ctypes over the C API."""
import ctypes

FIELD_ONLY = 1  # VXS_FORM_FIELD
KINDS = {"box": 0, "torus": 5, "torus_knot": 6, "bowl": 7, "peg": 8, "hole": 9, "gear": 10, "blob": 11, "bolt": 12, "nut": 13}


class _Primitive(ctypes.Structure):  # vxs_primitive
    _fields_ = [("struct_size", ctypes.c_uint32), ("kind", ctypes.c_uint32),
                ("size", ctypes.c_double * 6), ("detail", ctypes.c_uint32 * 4)]


class _CookOptions(ctypes.Structure):  # vxs_cook_options
    _fields_ = [("struct_size", ctypes.c_uint32), ("forms", ctypes.c_uint32), ("voxel_size", ctypes.c_double),
                ("resolution", ctypes.c_uint32), ("padding_voxels", ctypes.c_uint32), ("spacing", ctypes.c_double),
                ("sample_count", ctypes.c_uint32), ("sampling", ctypes.c_uint32), ("sharp_angle", ctypes.c_double),
                ("branching", ctypes.c_uint32), ("tree", ctypes.c_uint32), ("memory_limit", ctypes.c_uint64),
                ("weld_tolerance", ctypes.c_double), ("progress", ctypes.c_void_p), ("progress_user", ctypes.c_void_p),
                ("field_storage", ctypes.c_uint32), ("clustering", ctypes.c_uint32),
                ("target_error", ctypes.c_double), ("offset", ctypes.c_double)]


class Primitives:
    """Makes meshes with the shared library libvoxshell at `path`."""

    def __init__(self, path):
        self._library = ctypes.CDLL(path)
        self._library.vxs_last_error.restype = ctypes.c_char_p

    def _check(self, status):
        if status:
            raise RuntimeError(self._library.vxs_last_error().decode())

    def obj(self, kind, size=None, detail=None):
        """Returns the mesh as bytes of an OBJ file, metres. `size` and `detail` replace the defaults from the first on."""
        library = self._library
        primitive, options = _Primitive(), _CookOptions()
        self._check(library.vxs_primitive_init(ctypes.byref(primitive), ctypes.c_size_t(ctypes.sizeof(primitive)),
                                               ctypes.c_uint32(KINDS[kind])))
        for i, value in enumerate(size or ()):
            primitive.size[i] = value
        for i, value in enumerate(detail or ()):
            primitive.detail[i] = value
        self._check(library.vxs_cook_options_init(ctypes.byref(options), ctypes.c_size_t(ctypes.sizeof(options))))
        # Only the triangles are wanted: the field is as coarse as it may be.
        options.forms, options.resolution = FIELD_ONLY, 8
        shape = ctypes.c_void_p()
        self._check(library.vxs_shape_create_primitive(ctypes.byref(primitive), ctypes.byref(options), ctypes.byref(shape)))
        try:
            return self._obj_of(shape)
        finally:
            library.vxs_shape_release(shape)

    def _obj_of(self, shape):
        vertex_count, index_count = ctypes.c_size_t(), ctypes.c_size_t()
        get = self._library.vxs_shape_get_triangles
        get(shape, None, ctypes.c_size_t(0), ctypes.byref(vertex_count), None, ctypes.c_size_t(0), ctypes.byref(index_count))
        vertices = (ctypes.c_double * (3 * vertex_count.value))()
        indices = (ctypes.c_uint32 * index_count.value)()
        self._check(get(shape, vertices, vertex_count, ctypes.byref(vertex_count), indices, index_count,
                        ctypes.byref(index_count)))
        lines = ["v %.9g %.9g %.9g" % tuple(vertices[i:i + 3]) for i in range(0, len(vertices), 3)]
        lines += ["f %d %d %d" % tuple(k + 1 for k in indices[i:i + 3]) for i in range(0, len(indices), 3)]
        return ("\n".join(lines) + "\n").encode()
