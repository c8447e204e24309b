#include <voxshell/host/pair_query.h>

#include <algorithm>
#include <cmath>
#include <new>

#include <voxshell/cook.h>
#include <voxshell/shape.h>

#include "path.h"
#include "vec.h"

namespace voxshell::host {
namespace {

Contact convert(const vxs_contact& raw, const vxs_query_step& step, double allowance) {
    Contact contact;
    contact.point_on_a = raw.point_on_a;
    contact.point_on_b = raw.point_on_b;
    contact.normal = raw.normal;
    contact.separation = raw.separation;
    contact.feature = raw.feature;
    const vxs_vec3 moves = step.shift + cross(step.turn, raw.point_on_a - step.center);
    const double withstood =
        std::max(0.0, -dot(raw.normal, step.gained_by_a)) + std::max(0.0, dot(raw.normal, step.gained_by_b));
    contact.gap = raw.separation - std::max(0.0, dot(raw.normal, moves) + withstood - allowance);
    return contact;
}

/// Which body can bring its samples.
struct Directions {
    bool shell_of_a = false, shell_of_b = false;
};

Directions directions_of(const vxs_shape* a, const vxs_shape* b) {
    vxs_shape_info info_a, info_b;
    vxs_shape_info_init(&info_a, sizeof info_a);
    vxs_shape_info_init(&info_b, sizeof info_b);
    if (vxs_shape_get_info(a, &info_a) || vxs_shape_get_info(b, &info_b))
        return Directions();
    return {(info_a.forms & VXS_FORM_POINTSHELL) && (info_b.forms & VXS_FORM_FIELD),
            (info_b.forms & VXS_FORM_POINTSHELL) && (info_a.forms & VXS_FORM_FIELD)};
}

/// Returns the wanted roles if both directions are possible; otherwise the library chooses the only one.
uint32_t roles_of(const vxs_shape* a, const vxs_shape* b, uint32_t wanted) {
    if (wanted == VXS_ROLES_AUTO)
        return wanted;
    const Directions possible = directions_of(a, b);
    return possible.shell_of_a && possible.shell_of_b ? wanted : VXS_ROLES_AUTO;
}

vxs_status refuse(const char* what) {
    vxs_log(VXS_LOG_WARNING, what);
    return VXS_INVALID_ARGUMENT;
}

} // namespace

bool can_collide(const vxs_shape* a, const vxs_shape* b) {
    const Directions possible = directions_of(a, b);
    return possible.shell_of_a || possible.shell_of_b;
}

double radius_about(const vxs_shape* shape, const vxs_vec3& point) {
    vxs_aabb box;
    if (vxs_shape_get_bounds(shape, &box))
        return std::numeric_limits<double>::infinity();
    const vxs_vec3 far = {std::max(box.max.x - point.x, point.x - box.min.x),
                          std::max(box.max.y - point.y, point.y - box.min.y),
                          std::max(box.max.z - point.z, point.z - box.min.z)};
    return length(far);
}

double reach(const Body& a, const Body& b, double radius_a, double radius_b, double dt) {
    // A body that is larger than the other reaches it only where the other is.
    const double apart = length(a.center_of_mass - b.center_of_mass);
    const double at_a = std::min(radius_a, apart + radius_b), at_b = std::min(radius_b, apart + radius_a);
    const double spin_a = length(a.angular_velocity), spin_b = length(b.angular_velocity);
    const double turning = (spin_a > 0 ? spin_a * at_a : 0) + (spin_b > 0 ? spin_b * at_b : 0);
    // A third body may withstand what a force adds to the velocity of either.
    const vxs_vec3 relative = a.linear_velocity - b.linear_velocity;
    const double fastest = std::max({length(relative), length(relative - a.gained), length(relative + b.gained),
                                     length(relative - a.gained + b.gained)});
    return (fastest + turning) * dt;
}

PairQuery::PairQuery() {
    if (vxs_workspace_create(&m_workspace))
        throw std::bad_alloc();
}

PairQuery::~PairQuery() { vxs_workspace_destroy(m_workspace); }

void PairQuery::forget() {
    m_contacts.clear();
    m_loss = ThinningLoss();
    m_found = 0;
}

vxs_status PairQuery::find(const Body& a, const Body& b, double dt, const PairSettings& settings) {
    m_last.swap(m_contacts);
    forget();
    if (!(dt >= 0) || !(settings.margin >= 0) || !(settings.look_ahead >= 0) || !(settings.max_look_ahead >= 0) ||
        !(settings.allowance >= 0))
        return refuse("host: the step, the margin, the look-ahead and the allowance of a pair must be numbers of 0 or more");
    const double radius_a = radius_about(a.shape, to_body(a.pose, a.center_of_mass));
    const double radius_b = radius_about(b.shape, to_body(b.pose, b.center_of_mass));
    const double smaller = std::min(radius_a, radius_b);

    vxs_query query;
    vxs_query_step step;
    vxs_query_init(&query, sizeof query);
    vxs_query_step_init(&step, sizeof step);
    query.roles = roles_of(a.shape, b.shape, settings.roles);
    query.coverage = settings.coverage;
    query.step = &step;
    step.dense_above = settings.dense_above;
    step.extremes_only = settings.extremes_only;
    query.max_separation = settings.margin;
    const double ahead = settings.look_ahead * reach(a, b, radius_a, radius_b, dt);
    // No approach above the allowance: the answer is that without look-ahead, for which the search is cheaper at rest.
    const bool looks_ahead = dt > 0 && settings.look_ahead > 0 && ahead > settings.allowance;
    if (looks_ahead) {
        query.max_separation += std::min(ahead, settings.max_look_ahead * smaller);
        step.max_gap = settings.margin;
    }
    step.center = a.center_of_mass;
    step.shift =
        (a.linear_velocity - b.linear_velocity - cross(b.angular_velocity, a.center_of_mass - b.center_of_mass)) * dt;
    step.turn = (a.angular_velocity - b.angular_velocity) * dt;
    step.gained_by_a = a.gained * dt;
    step.gained_by_b = b.gained * dt;
    // Only a thinning with a memory may depend on the last answer.
    m_preferred.clear();
    if (settings.thinning.hysteresis > 1)
        for (const Contact& contact : m_last) m_preferred.push_back(contact.feature);
    std::sort(m_preferred.begin(), m_preferred.end());
    m_preferred.erase(std::unique(m_preferred.begin(), m_preferred.end()), m_preferred.end());
    query.preferred = m_preferred.data();
    query.preferred_count = uint32_t(m_preferred.size());

    const vxs_body body_a = {a.shape, a.pose}, body_b = {b.shape, b.pose};
    size_t count = 0;
    m_raw.resize(std::max<size_t>(m_raw.capacity(), 64));
    vxs_status status = vxs_query_contacts(&body_a, &body_b, &query, m_workspace, m_raw.data(), m_raw.size(), &count);
    if (status == VXS_TRUNCATED) {
        m_raw.resize(count);
        status = vxs_query_contacts(&body_a, &body_b, &query, m_workspace, m_raw.data(), m_raw.size(), &count);
    }
    if (status)
        return status;
    m_found = count;
    PathTest path(a, b, step, settings.path_distance);
    // The library knows nothing of the allowance and of the paths, and has counted all of the approach.
    const bool leaves_out = looks_ahead && (settings.allowance > 0 || settings.path_distance >= 0);
    for (size_t i = 0; i < count; ++i) {
        Contact contact = convert(m_raw[i], step, settings.allowance);
        if (leaves_out && std::min(contact.separation, contact.gap) > settings.margin)
            continue;
        const bool is_ahead = looks_ahead && contact.gap < contact.separation && contact.separation > settings.path_distance;
        if (settings.path_distance >= 0 && is_ahead && path.passes_by(m_raw[i])) {
            if (contact.separation > settings.margin)
                continue;
            contact.gap = contact.separation;
        }
        m_contacts.push_back(contact);
    }
    match();
    Thinning thinning = settings.thinning;
    if (!(thinning.turn_length > 0))
        thinning.turn_length = 0.5 * smaller;
    m_thinner.thin(m_contacts, thinning, &m_loss);
    return VXS_OK;
}

/// Hands the values of the last contacts to the contacts of the same features.
void PairQuery::match() {
    m_order.resize(m_last.size());
    for (size_t i = 0; i < m_order.size(); ++i) m_order[i] = i;
    const auto by_feature = [&](size_t i, size_t j) {
        return m_last[i].feature != m_last[j].feature ? m_last[i].feature < m_last[j].feature : i < j;
    };
    std::sort(m_order.begin(), m_order.end(), by_feature);
    m_taken.assign(m_last.size(), false);
    for (Contact& contact : m_contacts) {
        auto at = std::lower_bound(m_order.begin(), m_order.end(), contact.feature,
                                   [&](size_t i, uint32_t feature) { return m_last[i].feature < feature; });
        size_t best = m_last.size();
        double nearest = std::numeric_limits<double>::infinity();
        for (; at != m_order.end() && m_last[*at].feature == contact.feature; ++at) {
            const double d = length2(m_last[*at].point_on_b - contact.point_on_b);
            if (!m_taken[*at] && d < nearest)
                nearest = d, best = *at;
        }
        if (best == m_last.size())
            continue;
        m_taken[best] = true;
        contact.kept = true;
        std::copy(m_last[best].user, m_last[best].user + 3, contact.user);
    }
}

} // namespace voxshell::host
