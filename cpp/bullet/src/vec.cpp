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
}  // namespace voxshell_bullet
