#include "concave_patch.h"

#include "log.h"

namespace voxshell_bullet
{
namespace
{
/// Extra distance beyond the needed box for gathering triangles, in sizes of the Voxshell shape: the shape can move
/// this far before the forms are made again.
const double kSlack = 0.25;
/// Depth behind the sheet up to which samples count as penetrating, in sizes of the Voxshell shape.
const double kDepth = 0.05;

/// Largest coordinate of a triangle's corner, metres.
const btScalar kFar = btScalar(1e15);

struct Gather : btTriangleCallback
{
	btVector3 low, high;
	bool left_out = false;  // a triangle that cannot be used was left out
	std::vector<btVector3>& corners;
	explicit Gather(std::vector<btVector3>& to) : corners(to) {}
	void processTriangle(btVector3* t, int, int) override
	{
		for (int i = 0; i < 3; ++i)
			if (!(btFabs(t[i].x()) + btFabs(t[i].y()) + btFabs(t[i].z()) < kFar))
			{
				left_out = true;
				return;
			}
		// Shapes without a tree pass all their triangles.
		for (int axis = 0; axis < 3; ++axis)
			if (btMin(btMin(t[0][axis], t[1][axis]), t[2][axis]) > high[axis] || btMax(btMax(t[0][axis], t[1][axis]), t[2][axis]) < low[axis])
				return;
		corners.insert(corners.end(), t, t + 3);
	}
};

bool same(const std::vector<btVector3>& a, const std::vector<btVector3>& b)
{
	if (a.size() != b.size())
		return false;
	// The fourth component of a vector has no meaning.
	for (size_t i = 0; i < a.size(); ++i)
		if (a[i].x() != b[i].x() || a[i].y() != b[i].y() || a[i].z() != b[i].z())
			return false;
	return true;
}
}  // namespace

bool ConcavePatch::update(const btConcaveShape* shape, const Vec& low, const Vec& high, double size)
{
	const bool covered = shape == m_shape && low.x >= m_low.x && low.y >= m_low.y && low.z >= m_low.z && high.x <= m_high.x && high.y <= m_high.y && high.z <= m_high.z;
	if (!covered)
	{
		const Vec slack = {kSlack * size, kSlack * size, kSlack * size};
		m_shape = shape;
		m_low = low - slack;
		m_high = high + slack;
	}
	m_gathered.clear();
	Gather gather(m_gathered);
	gather.low = to_bt(m_low);
	gather.high = to_bt(m_high);
	shape->processAllTriangles(&gather, gather.low, gather.high);
	if (gather.left_out)
		warn_once("a concave shape has triangles that are not finite, or more than 1e15 m away: they are left out");
	m_unchanged = same(m_gathered, m_corners);
	if (m_unchanged || m_gathered.empty())
		return !m_gathered.empty() && m_sheet;
	m_corners.swap(m_gathered);
	return rebuild(size);
}

bool ConcavePatch::rebuild(double size)
{
	Soup soup;
	soup.vertices.reserve(m_corners.size());
	soup.indices.reserve(m_corners.size());
	for (const btVector3& corner : m_corners)
	{
		soup.indices.push_back(uint32_t(soup.vertices.size()));
		soup.vertices.push_back(to_vec(corner));
	}
	m_features = SharpFeatures();
	m_features.add_edges_of(soup);
	vxs_shape* sheet = nullptr;
	const vxs_status status = vxs_shape_create_sheet(soup.vertices.data(), soup.vertices.size(), soup.indices.data(), soup.indices.size() / 3, kDepth * size, &sheet);
	m_sheet.reset(sheet);
	if (status != VXS_OK)
		log_failure("triangles of a concave shape", status);
	return status == VXS_OK;
}
}  // namespace voxshell_bullet
