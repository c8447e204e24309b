#include "scenes.h"

#include <algorithm>
#include <cmath>

#include "run.h"

namespace conformance {
namespace {

const double kPi = 3.14159265358979323846;

WorldSettings settings_of(const Context& context) {
    WorldSettings settings;
    settings.own_method = context.own;
    return settings;
}

BodySpec mesh_body(const Context& context, const char* model, double mass, const vxs_pose& pose) {
    BodySpec spec;
    spec.model = &context.bodies.get(model);
    spec.mass = mass;
    spec.pose = pose;
    return spec;
}

BodySpec stock_body(Stock stock, const vxs_vec3& size, double mass, const vxs_pose& pose) {
    BodySpec spec;
    spec.stock = stock;
    spec.size = size;
    spec.mass = mass;
    spec.pose = pose;
    return spec;
}

BodySpec ground() { return stock_body(Stock::Plane, {0, 0, 0}, 0, pose_of({0, 0, 0})); }

double seconds(const Context& context, double full, double quick) { return context.quick ? quick : full; }

/// A gear falls on a plane, tilted by 17 degrees.
void drop_plane(const Context& context, Row& row) {
    Run run(settings_of(context));
    run.add(ground());
    const int gear = run.add(mesh_body(context, "gear", 1, pose_of({0, 0.17, 0}, {0.25, 0, 0.15})));
    run.simulate(seconds(context, 4, 1.5));
    row.set("drift_mm", 1e3 * run.drift({gear}, seconds(context, 4, 0.5)));
    run.report(row);
}

/// A bowl falls upside down on the edge of a box, and stays on it.
void drop_box(const Context& context, Row& row) {
    Run run(settings_of(context));
    run.add(stock_body(Stock::Box, {0.06, 0.05, 0.2}, 0, pose_of({0, 0, 0})));
    const int bowl = run.add(mesh_body(context, "bowl", 1, pose_of({0.005, 0.2, 0.01}, {kPi + 0.1, 0, 0.05})));
    run.simulate(seconds(context, 5, 2));
    row.set("drift_mm", 1e3 * run.drift({bowl}, seconds(context, 4, 0.5)));
    run.report(row);
}

/// Two knots meet without gravity and friction.
void pair(const Context& context, Row& row) {
    WorldSettings settings = settings_of(context);
    settings.gravity = 0;
    settings.friction = 0;
    Run run(settings);
    BodySpec a = mesh_body(context, "knot", 1, pose_of({-0.11, 0.01, 0}, {0.3, 0.2, 0.1}));
    BodySpec b = mesh_body(context, "knot", 1.7, pose_of({0.11, 0, 0.02}, {1.2, 0.4, 0.7}));
    a.linear_velocity = {1, 0, 0};
    a.angular_velocity = {0, 3, 1};
    b.linear_velocity = {-1 / 1.7, 0, 0};
    b.angular_velocity = {1, -2, 0};
    run.add(a);
    run.add(b);
    const vxs_vec3 before = run.momentum();
    run.simulate(seconds(context, 1, 0.5));
    // The sum of both momenta is 0: the error is measured against the momentum of one body.
    const vxs_vec3 after = run.momentum();
    const double error =
        std::sqrt(std::pow(after.x - before.x, 2) + std::pow(after.y - before.y, 2) + std::pow(after.z - before.z, 2));
    row.set("momentum_error_percent", 100 * error);
    row.set("contact_steps", double(run.contact_steps));
    run.report(row);
}

/// Five blocks with a hole lie on each other, each turned a little against the one below.
void stack(const Context& context, Row& row) {
    Run run(settings_of(context));
    run.add(ground());
    std::vector<int> blocks;
    for (int i = 0; i < 5; ++i)
        blocks.push_back(
            run.add(mesh_body(context, "block", 1, pose_of({0, 0.0255 + 0.0505 * i, 0}, {0, 0.1 * i, 0}))));
    run.depth_every = context.quick ? 4 : 2;
    run.simulate(seconds(context, 2, 1));
    row.set("drift_mm", 1e3 * run.drift(blocks, seconds(context, 10, 1)));
    run.report(row);
}

/// A ball falls into a bowl that stands on a plane.
void cup(const Context& context, Row& row) {
    Run run(settings_of(context));
    run.add(ground());
    const int bowl = run.add(mesh_body(context, "bowl", 1, pose_of({0, 0, 0})));
    // The bowl is a hemisphere that opens at y = 0 of its own frame; it stands on its lowest point.
    const double height = 0.1 - context.bodies.get("bowl").origin.y;
    run.world().place(bowl, pose_of({0, height, 0}));
    const int ball = run.add(stock_body(Stock::Ball, {0.03, 0, 0}, 0.2, pose_of({0.03, 0.18, 0.01})));
    run.simulate(seconds(context, 4, 1.5));
    const vxs_vec3 p = inverse_transform(run.pose(bowl), run.pose(ball).position);
    const vxs_vec3 origin = context.bodies.get("bowl").origin;
    row.set("ball_off_axis_mm",
            1e3 * std::hypot(std::hypot(p.x - origin.x, p.z - origin.z), std::max(0.0, p.y - origin.y)));
    run.report(row);
}

/// Four interlocked tori hang from the first one.
void chain(const Context& context, Row& row) {
    Run run(settings_of(context));
    // Tori around y: each second one is turned by a quarter. The ring's middle line has a radius of 50 mm, the tube of
    // 10 mm.
    const double pitch = 2 * (0.05 - 0.01) - 1e-3;
    std::vector<int> links;
    for (int i = 0; i < 4; ++i) {
        const vxs_vec3 turn = i % 2 ? vxs_vec3{kPi / 2, 0, 0} : vxs_vec3{0, 0, kPi / 2};
        // They start a little bent, so that they swing.
        links.push_back(
            run.add(mesh_body(context, "link", i == 0 ? 0 : 0.2, pose_of({0.004 * i, -pitch * i, 0.002 * i}, turn))));
    }
    run.depth_every = context.quick ? 4 : 2;
    run.simulate(seconds(context, 5, 1.5));
    int lost = 0;
    for (size_t i = 1; i < links.size(); ++i) {
        const vxs_vec3 a = run.pose(links[i - 1]).position, b = run.pose(links[i]).position;
        const double apart = std::sqrt(std::pow(a.x - b.x, 2) + std::pow(a.y - b.y, 2) + std::pow(a.z - b.z, 2));
        // Interlocked tori are at most the inner diameter apart.
        lost += !(apart < 2 * (0.05 - 0.01) + 1e-3);
    }
    row.set("links_lost", lost);
    run.report(row);
}

/// A nut comes down its bolt by its weight, without friction.
void nut_bolt(const Context& context, Row& row) {
    WorldSettings settings = settings_of(context);
    settings.dt = 1e-3;
    settings.friction = 0;
    settings.margin = 1e-5; // the play of the thread is 0.13 mm
    Run run(settings);
    const Model &bolt = context.bodies.get("bolt"), &nut = context.bodies.get("nut");
    run.add(mesh_body(context, "bolt", 0, pose_of({-bolt.origin.x, -bolt.origin.y, -bolt.origin.z})));
    // The nut fits at any height if it is turned by that height over the pitch; it starts in the middle of the play.
    const double pitch = 2e-3, start = 0.02;
    BodySpec spec =
        mesh_body(context, "nut", 0.03,
                  pose_of({-nut.origin.x, start - nut.origin.y, -nut.origin.z}, {0, 2 * kPi * start / pitch, 0}));
    const int body = run.add(spec);
    run.depth_every = context.quick ? 100 : 20;
    const double until = seconds(context, 1.5, 0.8);
    double turned = 0, last = 0, off_helix = 0;
    // The nut first falls through half of the play; travel is measured from a quarter of a turn on.
    double settled_turns = 0, settled_height = 0;
    bool first = true;
    const vxs_vec3 from = run.pose(body).position;
    while (run.simulated() < until - 1e-9 && !run.has_stopped()) {
        run.simulate(settings.dt);
        const vxs_vec3 x = rotate(run.pose(body), {1, 0, 0});
        const double angle = std::atan2(-x.z, x.x);
        if (!first)
            turned += std::remainder(angle - last, 2 * kPi);
        first = false;
        last = angle;
        const double height = run.pose(body).position.y;
        off_helix = std::max(off_helix, std::fabs(height - from.y - pitch * turned / (2 * kPi)));
        if (settled_turns == 0 && turned < -0.5 * kPi)
            settled_turns = -turned / (2 * kPi), settled_height = height;
    }
    const double turns = -turned / (2 * kPi);
    const double travelled = settled_height - run.pose(body).position.y, expected = pitch * (turns - settled_turns);
    row.set("turns", turns);
    // A nut that hardly turned has the largest error.
    row.set("pitch_error_percent", turns > 0.75 ? 100 * std::fabs(travelled / expected - 1) : 100);
    row.set("off_helix_mm", 1e3 * off_helix);
    run.report(row);
}

/// Returns the distance along a ray at which it meets a mesh, by testing every triangle (Möller & Trumbore 1997);
/// negative without a hit.
double first_hit(const Model& model, const vxs_vec3& from, const vxs_vec3& to) {
    const auto minus = [](const vxs_vec3& a, const vxs_vec3& b) { return vxs_vec3{a.x - b.x, a.y - b.y, a.z - b.z}; };
    const auto cross = [](const vxs_vec3& a, const vxs_vec3& b) {
        return vxs_vec3{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    };
    const auto dot = [](const vxs_vec3& a, const vxs_vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; };
    const vxs_vec3 d = minus(to, from);
    double nearest = 2;
    for (size_t i = 0; i < model.indices.size(); i += 3) {
        const vxs_vec3& a = model.vertices[model.indices[i]];
        const vxs_vec3 e1 = minus(model.vertices[model.indices[i + 1]], a),
                       e2 = minus(model.vertices[model.indices[i + 2]], a);
        const vxs_vec3 h = cross(d, e2);
        const double det = dot(e1, h);
        if (det == 0)
            continue;
        const vxs_vec3 s = minus(from, a), q = cross(s, e1);
        const double u = dot(s, h) / det, v = dot(d, q) / det, t = dot(e2, q) / det;
        if (u >= 0 && v >= 0 && u + v <= 1 && t >= 0 && t < nearest)
            nearest = t;
    }
    return nearest <= 1 ? nearest * std::sqrt(dot(d, d)) : -1;
}

/// Rays through a grid at a turned knot, against all triangles.
void ray_grid(const Context& context, Row& row) {
    Run run(settings_of(context));
    const vxs_pose pose = pose_of({0.3, 0.2, -0.1}, {0.5, 0.9, -0.3});
    run.add(mesh_body(context, "knot", 0, pose));
    const Model& knot = context.bodies.get("knot");
    const TrueBody surface(run.spec(0));
    const int n = context.quick ? 24 : 64;
    int missed = 0, false_hits = 0;
    double error = 0;
    std::vector<double> times;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const double x = 0.2 * ((i + 0.5) / n - 0.5), y = 0.2 * ((j + 0.5) / n - 0.5);
            const vxs_vec3 from = {0.3 + x, 0.2 + y, -0.4}, to = {0.3 + 1.1 * x, 0.2 + 0.9 * y, 0.3};
            const auto start = std::chrono::steady_clock::now();
            const RayHit hit = run.world().cast_ray(from, to);
            times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
            const vxs_vec3 local_from = inverse_transform(pose, from), local_to = inverse_transform(pose, to);
            const double expected = first_hit(knot, local_from, local_to);
            // A ray that only grazes the surface may be on either side of a field's error.
            const auto shifted = [&](double by) {
                return first_hit(knot, {local_from.x + by, local_from.y + by, local_from.z - by},
                                 {local_to.x + by, local_to.y + by, local_to.z - by});
            };
            const double before = shifted(-5e-4), after = shifted(5e-4);
            const bool grazes = (before < 0) != (after < 0) || std::fabs(before - after) > 5e-3;
            if (grazes)
                continue;
            missed += expected >= 0 && !hit.hit;
            false_hits += expected < 0 && hit.hit;
            if (expected >= 0 && hit.hit) {
                const double at = std::sqrt(std::pow(hit.point.x - from.x, 2) + std::pow(hit.point.y - from.y, 2) +
                                            std::pow(hit.point.z - from.z, 2));
                missed += std::fabs(at - expected) > 2e-3; // it met another place
                error = std::max(error, surface.distance(inverse_transform(pose, hit.point)));
            }
        }
    row.set("rays", double(n) * n);
    row.set("missed", missed);
    row.set("false_hits", false_hits);
    row.set("max_error_mm", 1e3 * error);
    double sum = 0;
    for (const double t : times) sum += t;
    row.set("ray_mean_us", 1e6 * sum / double(times.size()));
}

/// Returns the pose on a line through the origin at which a body, coming from outside, is this deep in another one.
vxs_pose touching_pose(const TrueBody& fixed, const TrueBody& mover, const vxs_vec3& direction, const vxs_vec3& turn,
                       double depth) {
    double r = 0.3;
    vxs_pose pose;
    for (int i = 0; i < 200; ++i) {
        pose = pose_of({r * direction.x, r * direction.y, r * direction.z}, turn);
        // No point comes farther than the body moves, so that the first contact is not passed.
        const double missing = depth - TrueBody::depth(fixed, pose_of({0, 0, 0}), mover, pose, -1);
        if (missing < 1e-6)
            break;
        r -= missing;
    }
    return pose;
}

/// A knot touches another one at poses all around it: the time of the narrowphase, and whether it sees each contact.
void speed(const Context& context, Row& row) {
    WorldSettings settings = settings_of(context);
    settings.gravity = 0;
    Run run(settings);
    const BodySpec a = mesh_body(context, "knot", 0, pose_of({0, 0, 0}));
    BodySpec b = mesh_body(context, "knot", 1, pose_of({0.3, 0, 0}));
    const TrueBody true_a(a), true_b(b);
    run.add(a);
    const int mover = run.add(b);
    const int poses = context.quick ? 100 : 400;
    std::vector<double> times;
    int missed = 0;
    for (int i = 0; i < poses; ++i) {
        // Directions of a spiral on the unit sphere.
        const double y = 1 - 2 * (i + 0.5) / poses, around = 2.4 * i, r = std::sqrt(1 - y * y);
        const vxs_vec3 direction = {r * std::cos(around), y, r * std::sin(around)};
        const vxs_pose pose = touching_pose(true_a, true_b, direction, {0.03 * i, 1 + 0.02 * i, 0.01 * i}, 2e-4);
        run.world().place(mover, pose);
        run.world().step();
        times.push_back(run.world().narrowphase_seconds());
        missed += run.world().contacts() == 0;
    }
    row.set("touching_poses", poses);
    row.set("missed_poses", missed);
    report_times(row, times);
}

} // namespace

const std::vector<Scene>& scenes() {
    static const std::vector<Scene> all = {
        {"drop_plane", drop_plane, true},
        {"drop_box", drop_box, true},
        {"pair", pair, true},
        {"stack", stack, true},
        {"cup", cup, true},
        {"chain", chain, true},
        {"nut_bolt", nut_bolt, true},
        {"ray_grid", ray_grid, false},
        {"speed", speed, true},
    };
    return all;
}

} // namespace conformance
