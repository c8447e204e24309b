#include "patch_contacts.h"

#include <algorithm>
#include <limits>

#include "log.h"

namespace voxshell_bullet
{
namespace
{
/// A patch is that of the step before if their centres are nearer than this fraction of its radius.
const double kSamePatch = 1;
/// Moments that differ by less than this fraction have no long axis.
const double kRound = 0.02;
/// Smallest share of the points around the middle.
const double kLeastShare = 0.05;
/// Depth of a point, m, of which Bullet's solver does not correct the position apart from the velocity
/// (btContactSolverInfo::m_splitImpulsePenetrationThreshold). The force does not depend on it.
const double kDeepest = 0.03;
/// Least depth of a point, m: the force is given to the solver as a fraction of the depth.
const double kShallowest = 1e-9;

const double kRootOfTwo = 1.4142135623730951, kHalfRootOfThree = 0.8660254037844386;
/// Places of the points around the middle; their second moments are those of the unit matrix.
const double kAround[3][2] = {{kRootOfTwo, 0}, {-0.5 * kRootOfTwo, kRootOfTwo* kHalfRootOfThree}, {-0.5 * kRootOfTwo, -kRootOfTwo* kHalfRootOfThree}};

double stiffness_of(const Side& side)
{
	const double stiffness = side.voxshell ? double(side.voxshell->getStiffness()) : 0;
	return stiffness > 0 ? stiffness : std::numeric_limits<double>::infinity();
}

/// Returns the unit vector across `normal` that is nearest to `direction`, or any across `normal`.
Vec across(const Vec& normal, const Vec& direction)
{
	const Vec v = direction - normal * dot(normal, direction);
	if (length2(v) > 1e-12)
		return v * (1 / length(v));
	const Vec u = std::abs(normal.z) > 0.7 ? Vec{0, -normal.z, normal.y} : Vec{-normal.y, normal.x, 0};
	return u * (1 / length(u));
}

double quadratic(const double (&m)[6], const Vec& a, const Vec& b)
{
	return m[0] * a.x * b.x + m[1] * a.y * b.y + m[2] * a.z * b.z + m[3] * (a.x * b.y + a.y * b.x) + m[4] * (a.x * b.z + a.z * b.x) + m[5] * (a.y * b.z + a.z * b.y);
}

/// Principal axes across a normal, and the root of the moment along each.
struct Axes
{
	Vec along[2];
	double extent[2];

	/// @param before  the first axis of the last step
	Axes(const double (&moments)[6], const Vec& normal, const Vec& before)
	{
		const Vec u = across(normal, before), v = cross(normal, u);
		const double a = quadratic(moments, u, u), b = quadratic(moments, v, v), c = quadratic(moments, u, v);
		const double half = 0.5 * (a - b), root = std::sqrt(half * half + c * c), middle = 0.5 * (a + b);
		// A round patch has no axes of its own: it keeps those that it had.
		double angle = root > kRound * middle ? 0.5 * std::atan2(c, half) : 0;
		along[0] = u * std::cos(angle) + v * std::sin(angle);
		if (dot(along[0], u) < 0)
			along[0] = -along[0];
		along[1] = cross(normal, along[0]);
		for (int i = 0; i < 2; ++i)
			extent[i] = std::sqrt(std::max(0.0, quadratic(moments, along[i], along[i])));
	}
};
}  // namespace

bool PatchContacts::can_find(const Side& first, const Side& second)
{
	const bool is_compliant = stiffness_of(first) < std::numeric_limits<double>::infinity() || stiffness_of(second) < std::numeric_limits<double>::infinity();
	return is_compliant && first.has_field && second.has_field && first.inflation == 0 && second.inflation == 0;
}

bool PatchContacts::find(const Side& first, const Side& second, const btVoxShellSettings& settings, size_t most)
{
	points.clear();
	m_last.swap(m_known);
	m_known.clear();
	if (!m_workspace)
	{
		vxs_workspace* made = nullptr;
		if (vxs_workspace_create(&made) != VXS_OK)
			return false;
		m_workspace.reset(made);
		m_patches.resize(8);
	}
	vxs_patch_query query;
	vxs_status status = vxs_patch_query_init(&query, sizeof query, stiffness_of(first), stiffness_of(second));
	query.exponent = double(settings.m_patchExponent);
	query.resolution = double(settings.m_patchResolution);
	const vxs_body a = {first.shape, first.pose}, b = {second.shape, second.pose};
	size_t count = 0;
	while (status == VXS_OK && (status = vxs_query_patches(&a, &b, &query, m_workspace.get(), m_patches.data(), m_patches.size(), &count)) == VXS_TRUNCATED)
	{
		m_patches.resize(count + count / 2);
		status = VXS_OK;
	}
	if (status != VXS_OK)
	{
		log_failure("patches of a pair", status);
		return false;
	}
	const Frame frame(second.pose), to_second = frame.inverse();
	for (size_t i = 0; i < std::min(count, most); ++i)
	{
		const vxs_patch& patch = m_patches[i];
		if (!(patch.stiffness > 0))
			continue;
		const double radius = std::sqrt(patch.area);
		const Vec center = to_second(patch.center);
		const Known* const before = number_patch(center, radius);
		// The same axis for both orders of the bodies.
		Known now = {0, center, before ? before->axis : to_second.rotate({1, 0, 0}), radius};
		const auto is_free = [&](uint32_t number) {
			const auto has = [number](const Known& known) { return known.number == number; };
			return std::none_of(m_known.begin(), m_known.end(), has) && std::none_of(m_last.begin(), m_last.end(), has);
		};
		if (before)
			now.number = before->number;
		else
			while (!is_free(now.number))
				++now.number;
		add_points(patch, frame, double(settings.m_patchDissipation), now);
		m_known.push_back(now);
	}
	return true;
}

/// Returns the patch of the last step that is nearest to a place and has no successor yet; null when there is none.
const PatchContacts::Known* PatchContacts::number_patch(const Vec& center, double radius)
{
	Known* nearest = nullptr;
	double least = std::numeric_limits<double>::infinity();
	for (Known& known : m_last)
	{
		const double apart = length(known.center - center);
		if (!known.taken && apart < least && apart <= kSamePatch * std::max(radius, known.radius))
			nearest = &known, least = apart;
	}
	if (nearest)
		nearest->taken = true;
	return nearest;
}

/// Appends the points of a patch, and stores its long axis.
///
/// With μ the moments of the stiffness k, the points around the middle are at √(μ / q) and have the share q of k: their moments are
/// those of the patch for any q. Their mean distance is √q times that of q = 1, which gives q from the friction arm.
void PatchContacts::add_points(const vxs_patch& patch, const Frame& second, double dissipation, Known& known)
{
	const Vec normal = -patch.normal;  // Bullet's: on the second body, towards the first
	const Axes axes(patch.stiffness_moments, normal, second.rotate(known.axis));
	known.axis = second.inverse().rotate(axes.along[0]);
	const double force = length(patch.on_b.force);
	const Vec middle = patch.stiffness_center - normal * dot(normal, patch.stiffness_center - patch.center);

	double mean = 0;
	for (const auto& u : kAround)
		mean += std::hypot(u[0] * axes.extent[0], u[1] * axes.extent[1]) / 3;
	const double root = mean > 0 ? std::min(1.0, std::max(std::sqrt(kLeastShare), patch.friction_arm / mean)) : 1;
	const double share = root * root;
	double lever[2];  // of the centre of pressure, in moments
	for (int i = 0; i < 2; ++i)
		lever[i] = axes.extent[i] > 0 ? dot(patch.center - middle, axes.along[i]) / axes.extent[i] : 0;

	double forces[kPoints] = {(1 - share) * force}, sum = forces[0];
	for (uint32_t i = 1; i < kPoints; ++i)
	{
		const double(&u)[2] = kAround[i - 1];
		forces[i] = std::max(0.0, force * (share + root * (lever[0] * u[0] + lever[1] * u[1])) / 3);
		sum += forces[i];
	}
	for (uint32_t i = 0; i < kPoints; ++i)
	{
		PatchPoint point;
		point.force = sum > 0 ? forces[i] * force / sum : 0;
		point.stiffness = (i == 0 ? 1 - share : share / 3) * patch.stiffness;
		point.damping = dissipation * point.force;
		if (!(point.stiffness > 0))
			continue;
		Vec at = middle;
		if (i > 0)
			for (int k = 0; k < 2; ++k)
				at = at + axes.along[k] * (kAround[i - 1][k] * axes.extent[k] / root);
		Candidate& c = point.contact;
		c.feature = known.number * kPoints + i;
		c.segment = known.number;
		c.normal = normal;
		c.distance = -std::min(kDeepest, std::max(kShallowest, point.force / point.stiffness));
		// Half of the depth is on either side of the contact surface.
		c.point = at - normal * (0.5 * c.distance);
		points.push_back(point);
	}
}
}  // namespace voxshell_bullet
