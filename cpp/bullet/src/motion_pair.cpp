#include "motion_pair.h"

#include <algorithm>
#include <limits>

#include "log.h"
#include "vec.h"

namespace voxshell_bullet
{
namespace
{
/// Uncertainty of the time of a hit, as a fraction of the allowed depth.
const double kTolerance = 0.1;

vxs_motion motion_of(const MotionPair::Path& path) { return {to_pose(path.from), to_pose(path.to)}; }

/// Computes a box around all of one of our shapes on its path.
void swept_box(const btVoxShellBaseShape& shape, const Frame& from, const Frame& to, Vec& low, Vec& high)
{
	const Vec center = to_vec(shape.getLocalCenter());
	const double radius = length(to_vec(shape.getLocalHalfExtents()));
	const Vec a = from(center), b = to(center);
	// The arc of a screw motion leaves the chord of its ends by less than half of the chord's length.
	const double around = radius + 0.5 * length(b - a);
	low = {std::min(a.x, b.x) - around, std::min(a.y, b.y) - around, std::min(a.z, b.z) - around};
	high = {std::max(a.x, b.x) + around, std::max(a.y, b.y) + around, std::max(a.z, b.z) + around};
}
}  // namespace

double MotionPair::allowed_depth(const btCollisionShape* first, const btCollisionShape* second)
{
	double resolution = std::numeric_limits<double>::infinity();
	for (const btCollisionShape* shape : {first, second})
		if (const btVoxShellBaseShape* ours = btVoxShellBaseShape::upcast(shape))
			resolution = std::min(resolution, double(ours->getResolution()));
	return kAllowed * resolution;
}

MotionPair::MotionPair()
{
	vxs_workspace* made = nullptr;
	if (vxs_workspace_create(&made) == VXS_OK)
		m_workspace.reset(made);
	m_contacts.resize(64);
	m_lasting.resize(64);
}

MotionPair::Hit MotionPair::first_hit(const btCollisionShape* first, const Path& first_path, const btCollisionShape* second, const Path& second_path)
{
	const btVoxShellBaseShape *our_first = btVoxShellBaseShape::upcast(first), *our_second = btVoxShellBaseShape::upcast(second);
	m_allowed = allowed_depth(first, second);
	m_first = Hit();
	if (!m_workspace || (!our_first && !our_second))
		return m_first;
	if (our_first && our_second)
	{
		Body a, b;
		a.motion = motion_of(first_path);
		b.motion = motion_of(second_path);
		forms_of(*our_first, *our_second, a.form, b.form);
		const bool both = a.form.has_pointshell && a.form.has_field && b.form.has_pointshell && b.form.has_field;
		if (can_meet(a.form, b.form))
			run(a, b, both ? VXS_ROLES_BOTH : VXS_ROLES_AUTO);
	}
	else if (our_first)
		against_stock(*our_first, first_path, second, second_path);
	else
	{
		against_stock(*our_second, second_path, first, first_path);
		m_first.normal = -m_first.normal;
	}
	return m_first;
}

/// Tests both directions, where there are samples: a small ball must not slip in between the samples of a plate, nor a
/// wire in between those of a ball.
void MotionPair::against_stock(const btVoxShellBaseShape& ours, const Path& our_path, const btCollisionShape* stock, const Path& stock_path)
{
	double factor;
	const PairRow* row = find_row(stock, factor);
	if (!row)
		return;
	if (row->treatment == Treatment::PATCH)
	{
		against_patch(ours, our_path, static_cast<const btConcaveShape*>(stock), stock_path);
		return;
	}
	if (row->treatment != Treatment::FORM)
		return;
	const bool can_be_sampled = row->kind->surface != nullptr;
	Body a, b;
	a.motion = motion_of(our_path);
	b.motion = motion_of(stock_path);
	a.form = form_of(ours, !can_be_sampled);
	if (a.form.has_pointshell && m_field.update(stock, *row->kind, factor, false))
	{
		b.form.shape = m_field.shape();
		b.form.has_field = true;
		b.form.inflation = m_field.inflation();
		run(a, b, VXS_ROLES_SHELL_OF_A);
	}
	if (a.form.has_field && can_be_sampled && m_samples.update(stock, *row->kind, factor, true))
	{
		b.form = Form();
		b.form.shape = m_samples.shape();
		b.form.has_pointshell = true;
		b.form.inflation = m_samples.inflation();
		run(a, b, VXS_ROLES_SHELL_OF_B);
	}
}

/// Tests contacts on the path up to the present first hit. A hit counts when the sample is too deep at the end of the
/// path.
void MotionPair::against_patch(const btVoxShellBaseShape& ours, const Path& our_path, const btConcaveShape* shape, const Path& path)
{
	Body a, b;
	a.motion = motion_of(our_path);
	b.motion = motion_of(path);
	a.form = form_of(ours, true);
	const Frame at_start = Frame(b.motion.from).inverse() * Frame(a.motion.from), at_end = Frame(b.motion.to).inverse() * Frame(a.motion.to);
	Vec low, high;
	swept_box(ours, at_start, at_end, low, high);
	if (!a.form.has_pointshell || !m_patch.update(shape, low, high, length(to_vec(ours.getLocalHalfExtents()))))
		return;
	b.form.shape = m_patch.shape();
	b.form.has_field = true;

	const double touch = kTolerance * m_allowed;
	vxs_motion_query query;
	if (!find_known(a, b, VXS_ROLES_SHELL_OF_A, touch) || vxs_motion_query_init(&query, sizeof query) != VXS_OK)
		return;
	query.roles = VXS_ROLES_SHELL_OF_A;
	query.max_separation = touch;
	query.until = m_first.time;
	query.tolerance = touch;
	query.known = m_known.data();
	query.known_count = uint32_t(m_known.size());
	const vxs_moving_body moving_a = {a.form.shape, a.motion}, moving_b = {b.form.shape, b.motion};
	size_t count = 0;
	vxs_status status;
	while ((status = vxs_query_motion_contacts(&moving_a, &moving_b, &query, m_workspace.get(), m_lasting.data(), m_lasting.size(), &count)) == VXS_TRUNCATED)
		m_lasting.resize(count + count / 2);
	if (status != VXS_OK)
	{
		log_failure("contacts of a motion", status);
		return;
	}
	const Frame a_end(a.motion.to), b_end(b.motion.to);
	for (size_t i = 0; i < count; ++i)
	{
		const vxs_contact& contact = m_lasting[i].contact;
		vxs_pose a_then, b_then;
		if (vxs_motion_pose(&a.motion, contact.toi, &a_then) != VXS_OK || vxs_motion_pose(&b.motion, contact.toi, &b_then) != VXS_OK)
			return;
		const Vec a_goes = a_end(Frame(a_then).inverse()(contact.point_on_a)), b_goes = b_end(Frame(b_then).inverse()(contact.point_on_a));
		if (dot(contact.normal, a_goes - b_goes) > m_allowed)
		{
			hit_at(contact);
			return;
		}
	}
}

/// Finds the features that are below the level from the start, ascending.
bool MotionPair::find_known(const Body& first, const Body& second, uint32_t roles, double level)
{
	vxs_query query;
	if (vxs_query_init(&query, sizeof query) != VXS_OK)
		return false;
	query.coverage = VXS_COVERAGE_SAMPLES;
	query.roles = roles;
	query.max_separation = level;
	const vxs_body a = {first.form.shape, first.motion.from}, b = {second.form.shape, second.motion.from};
	size_t count = 0;
	vxs_status status;
	while ((status = vxs_query_contacts(&a, &b, &query, m_workspace.get(), m_contacts.data(), m_contacts.size(), &count)) == VXS_TRUNCATED)
		m_contacts.resize(count + count / 2);
	if (status != VXS_OK)
	{
		log_failure("contacts of a pair", status);
		return false;
	}
	m_known.clear();
	for (size_t i = 0; i < count; ++i)
		m_known.push_back(m_contacts[i].feature);
	std::sort(m_known.begin(), m_known.end());
	return true;
}

/// Lowers the first hit to that of two forms.
void MotionPair::run(const Body& first, const Body& second, uint32_t roles)
{
	const double level = first.form.inflation + second.form.inflation - m_allowed;
	vxs_motion_query query;
	if (!find_known(first, second, roles, level) || vxs_motion_query_init(&query, sizeof query) != VXS_OK)
		return;
	query.roles = roles;
	query.max_separation = level;
	query.until = m_first.time;
	query.tolerance = kTolerance * m_allowed;
	query.known = m_known.data();
	query.known_count = uint32_t(m_known.size());
	const vxs_moving_body a = {first.form.shape, first.motion}, b = {second.form.shape, second.motion};
	vxs_contact contact;
	bool found = false;
	const vxs_status status = vxs_query_time_of_impact(&a, &b, &query, m_workspace.get(), &contact, &found);
	if (status != VXS_OK)
		log_failure("time of impact", status);
	else if (found)
		hit_at(contact);
}

void MotionPair::hit_at(const vxs_contact& contact)
{
	if (contact.toi < m_first.time)
		m_first = {contact.toi, contact.point_on_b, contact.normal};
}
}  // namespace voxshell_bullet
