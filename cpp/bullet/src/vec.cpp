#include "vec.h"

namespace voxshell_bullet
{
vxs_pose to_pose(const btTransform& t)
{
	const btMatrix3x3& basis = t.getBasis();
	double m[3][3];
	for (int i = 0; i < 3; ++i)
		for (int j = 0; j < 3; ++j)
			m[i][j] = double(basis[i][j]);

	double q[4];  // x y z w
	const double trace = m[0][0] + m[1][1] + m[2][2];
	if (trace > 0)
	{
		q[3] = 1 + trace;
		q[0] = m[2][1] - m[1][2];
		q[1] = m[0][2] - m[2][0];
		q[2] = m[1][0] - m[0][1];
	}
	else
	{
		const int i = m[0][0] < m[1][1] ? (m[1][1] < m[2][2] ? 2 : 1) : (m[0][0] < m[2][2] ? 2 : 0);
		const int j = (i + 1) % 3, k = (i + 2) % 3;
		q[i] = 1 + m[i][i] - m[j][j] - m[k][k];
		q[j] = m[j][i] + m[i][j];
		q[k] = m[k][i] + m[i][k];
		q[3] = m[k][j] - m[j][k];
	}
	const double norm = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
	return {to_vec(t.getOrigin()), q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm};
}

Frame::Frame(const vxs_pose& pose)
{
	const double x = pose.qx, y = pose.qy, z = pose.qz, w = pose.qw;
	rows[0] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)};
	rows[1] = {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)};
	rows[2] = {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)};
	origin = pose.position;
}

Frame Frame::inverse() const
{
	Frame inverse;
	inverse.rows[0] = {rows[0].x, rows[1].x, rows[2].x};
	inverse.rows[1] = {rows[0].y, rows[1].y, rows[2].y};
	inverse.rows[2] = {rows[0].z, rows[1].z, rows[2].z};
	inverse.origin = -inverse.rotate(origin);
	return inverse;
}

Frame Frame::operator*(const Frame& other) const
{
	Frame product;
	for (int i = 0; i < 3; ++i)
		product.rows[i] = other.rows[0] * rows[i].x + other.rows[1] * rows[i].y + other.rows[2] * rows[i].z;
	product.origin = (*this)(other.origin);
	return product;
}

Vec Frame::turned_box(const Vec& half) const
{
	const auto along = [&](const Vec& row) { return std::abs(row.x) * half.x + std::abs(row.y) * half.y + std::abs(row.z) * half.z; };
	return {along(rows[0]), along(rows[1]), along(rows[2])};
}

double displacement(const Frame& from, const Frame& to, const Vec& center, double radius)
{
	double turn = 0;
	for (int i = 0; i < 3; ++i)
		turn += length2(to.rows[i] - from.rows[i]);
	return length(to(center) - from(center)) + std::sqrt(turn) * radius;
}

double displacement(const Frame& from, const Frame& to, const Vec& center, double radius, const Vec& along)
{
	const auto turned = [&](int i) { return to.rows[i] - from.rows[i]; };
	const Vec turn = turned(0) * along.x + turned(1) * along.y + turned(2) * along.z;
	return std::abs(dot(along, to(center) - from(center))) + length(turn) * radius;
}
}  // namespace voxshell_bullet
