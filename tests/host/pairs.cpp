// Pair queries and their cache: look-ahead, identity from step to step, order of the bodies, threads, bad input.
#include <cstring>
#include <limits>
#include <thread>

#include "shapes.h"

using namespace voxshell::host;

namespace {

const double kNever = 1e30;

double deepest(const PairQuery& pair) {
    double least = kNever;
    for (const Contact& c : pair.contacts()) least = std::min(least, c.separation);
    return least;
}

void a_falling_body_is_seen_before_it_touches(const vxs_shape* torus, const vxs_shape* ground) {
    // Tube radius 0.1 m: the lowest point is 10 mm above the ground.
    Body a = body(torus, 0, 0.11, 0);
    const Body b = body(ground, 0, 0, 0);
    PairQuery pair;
    PairSettings settings;
    settings.margin = 1e-3;
    must(pair.find(a, b, 0.01, settings));
    CHECK(pair.contacts().empty());
    a.linear_velocity = {0, -1, 0}; // 10 mm in the step
    must(pair.find(a, b, 0.01, settings));
    CHECK(!pair.contacts().empty());
    for (const Contact& c : pair.contacts()) {
        CHECK_NEAR(c.normal.y, -1, 1e-6); // from A, the torus, to the ground
        CHECK_NEAR(c.gap, c.separation - 0.01, 1e-9);
        CHECK(c.gap <= settings.margin);
    }
    CHECK_NEAR(deepest(pair), 0.01, 1e-3);
    a.linear_velocity = {0, 1, 0};
    must(pair.find(a, b, 0.01, settings));
    CHECK(pair.contacts().empty());
    a.linear_velocity = {0, -1, 0};
    settings.look_ahead = 0;
    must(pair.find(a, b, 0.01, settings));
    CHECK(pair.contacts().empty());
    settings.look_ahead = 1;
    settings.max_look_ahead = 0.001; // of 0.4 m
    must(pair.find(a, b, 0.01, settings));
    CHECK(pair.contacts().empty());
    // A spin about x lowers the rim.
    a.linear_velocity = {0, 0, 0};
    a.angular_velocity = {4, 0, 0};
    settings.max_look_ahead = 1;
    must(pair.find(a, b, 0.01, settings));
    CHECK(!pair.contacts().empty());
    for (const Contact& c : pair.contacts())
        CHECK(c.point_on_a.z > 0); // the side that moves down: (4, 0, 0) x (0, 0, z) = (0, -4 z, 0)
}

void no_approach_is_missed_by_the_look_ahead(const vxs_shape* torus, const vxs_shape* knot) {
    // At random motions of both bodies: whatever is found inside at the end of a step was in the answer at its
    // beginning.
    uint64_t state = 7;
    const auto random = [&] {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return double(state >> 11) / 9007199254740992.0 - 0.5;
    };
    const double dt = 0.01;
    int arrivals = 0;
    for (int round = 0; round < 120; ++round) {
        Body a = body(torus, 0, 0, 0), b = body(knot, 0.3 * random(), 0.3 * random() + 0.2, 0.3 * random());
        a.linear_velocity = {3 * random(), 3 * random(), 3 * random()};
        b.linear_velocity = {3 * random(), 3 * random(), 3 * random()};
        PairQuery start, end;
        PairSettings settings;
        settings.margin = 1e-3;
        must(start.find(a, b, dt, settings));
        const size_t at_start = start.contacts().size();
        PairQuery along_paths;
        settings.path_distance = 0;
        must(along_paths.find(a, b, dt, settings));
        CHECK(along_paths.contacts().size() <= at_start);
        for (Body* moved : {&a, &b}) {
            moved->pose.position.x += moved->linear_velocity.x * dt;
            moved->pose.position.y += moved->linear_velocity.y * dt;
            moved->pose.position.z += moved->linear_velocity.z * dt;
            moved->center_of_mass = moved->pose.position;
        }
        PairSettings touching;
        must(end.find(a, b, 0, touching));
        if (end.contacts().empty())
            continue;
        ++arrivals;
        CHECK(at_start > 0);
        // The paths are those of samples in a field with voxels of 13 mm, which a body can brush past.
        CHECK(!along_paths.contacts().empty() || deepest(end) > -2e-3);
    }
    CHECK(arrivals > 20);
}

void a_body_that_passes_by_has_no_ghost_contact() {
    // Cubes of 0.2 m; the moving one comes from the side and passes 2 mm above the other, or meets its edge 2 mm below.
    const Handle cube = primitive(VXS_PRIMITIVE_BOX, {0.1, 0.1, 0.1});
    const Body still = body(cube.get(), 0, 0, 0);
    for (const double above : {0.002, -0.002})
        for (const bool is_turned : {false, true}) {
            Body moving = body(cube.get(), 0.203, 0.2 + above, 0);
            moving.linear_velocity = {-2, 0, 0}; // 20 mm in the step
            PairSettings settings;
            PairQuery pair;
            const Body &a = is_turned ? still : moving, &b = is_turned ? moving : still;
            must(pair.find(a, b, 0.01, settings));
            CHECK(pair.contacts().empty() == (above > 0));
            settings.path_distance = 0;
            must(pair.find(a, b, 0.01, settings));
            CHECK(pair.contacts().empty() == (above > 0));
            // Within half of the margin the contact stays, with its separation as the gap.
            settings.margin = 0.008;
            must(pair.find(a, b, 0.01, settings));
            CHECK(!pair.contacts().empty() && (pair.contacts()[0].gap < 0) == (above < 0));
        }
}

void values_stay_with_their_features(const vxs_shape* torus, const vxs_shape* ground) {
    PairQuery pair;
    PairSettings settings;
    settings.margin = 2e-3;
    settings.thinning.max_contacts = 8;
    settings.thinning.hysteresis = 1.5;
    const Body b = body(ground, 0, 0, 0);
    must(pair.find(body(torus, 0, 0.0995, 0), b, 0, settings));
    CHECK(pair.contacts().size() == 8 && pair.loss().dropped + 8 == pair.found());
    for (Contact& c : pair.contacts()) {
        CHECK(!c.kept);
        c.user[0] = double(c.feature) + 0.5;
    }
    must(pair.find(body(torus, 1e-5, 0.0994, 0), b, 0, settings));
    CHECK(pair.contacts().size() == 8);
    for (const Contact& c : pair.contacts()) CHECK(c.kept && c.user[0] == double(c.feature) + 0.5);
    pair.forget();
    must(pair.find(body(torus, 0, 0.0995, 0), b, 0, settings));
    for (const Contact& c : pair.contacts()) CHECK(!c.kept && c.user[0] == 0);
}

bool same(const std::vector<Contact>& a, const std::vector<Contact>& b) {
    if (a.size() != b.size())
        return false;
    for (size_t i = 0; i < a.size(); ++i)
        if (std::memcmp(&a[i].point_on_a, &b[i].point_on_a, sizeof(vxs_vec3)) ||
            std::memcmp(&a[i].point_on_b, &b[i].point_on_b, sizeof(vxs_vec3)) ||
            std::memcmp(&a[i].normal, &b[i].normal, sizeof(vxs_vec3)) || a[i].separation != b[i].separation ||
            a[i].feature != b[i].feature)
            return false;
    return true;
}

void without_hysteresis_the_past_does_not_matter(const vxs_shape* torus, const vxs_shape* knot) {
    PairQuery with_past;
    PairSettings settings;
    settings.margin = 1e-3;
    settings.thinning.max_contacts = 6;
    for (int i = 0; i < 40; ++i) {
        const Body a = body(torus, 0, 0, 0), b = body(knot, 0.01 * i, 0.2, 0.005 * i);
        PairQuery fresh;
        must(with_past.find(a, b, 0.005, settings));
        must(fresh.find(a, b, 0.005, settings));
        CHECK(same(with_past.contacts(), fresh.contacts()));
    }
}

void the_order_of_a_call_only_turns_the_answer(const vxs_shape* torus, const vxs_shape* knot) {
    PairCache cache;
    PairSettings settings;
    settings.margin = 1e-3;
    settings.thinning.max_contacts = 10;
    const Body a = body(torus, 0, 0, 0), b = body(knot, 0, 0.2, 0);
    const PairCache::Answer forward = cache.find(3, a, 8, b, 0.005, settings);
    CHECK(forward.status == VXS_OK && !forward.swapped && forward.size() > 2);
    std::vector<Contact> first;
    for (size_t i = 0; i < forward.size(); ++i) {
        first.push_back(forward[i]);
        forward.set_user(i, double(i) + 1, 2, 3);
    }
    const PairCache::Answer backward = cache.find(8, b, 3, a, 0.005, settings);
    CHECK(backward.swapped && backward.size() == first.size() && cache.size() == 1);
    for (size_t i = 0; i < backward.size(); ++i) {
        const Contact c = backward[i];
        CHECK(c.normal.x == -first[i].normal.x && c.normal.y == -first[i].normal.y);
        CHECK(c.point_on_a.x == first[i].point_on_b.x && c.point_on_b.x == first[i].point_on_a.x);
        CHECK(c.feature == first[i].feature && c.kept && c.user[0] == double(i) + 1);
    }
}

void pairs_that_are_not_asked_for_are_forgotten(const vxs_shape* torus, const vxs_shape* ground) {
    PairCache cache;
    const PairSettings settings;
    const Body a = body(torus, 0, 0.1, 0), b = body(ground, 0, 0, 0);
    cache.find(1, a, 2, b, 0, settings);
    cache.find(1, a, 3, b, 0, settings);
    for (int i = 0; i < 10; ++i) {
        cache.find(1, a, 2, b, 0, settings);
        cache.end_step(5);
    }
    CHECK(cache.size() == 1);
    cache.find(4, a, 5, b, 0, settings);
    cache.drop(2);
    CHECK(cache.size() == 1);
    cache.clear();
    CHECK(cache.size() == 0);
}

void threads_get_the_same_contacts(const vxs_shape* torus, const vxs_shape* knot) {
    const auto settings_of = [] {
        PairSettings settings;
        settings.margin = 1e-3;
        settings.thinning.max_contacts = 20;
        return settings;
    };
    const auto place = [&](int pair) { return body(knot, 0.02 * (pair % 8), 0.2, 0.01 * pair); };
    PairCache alone, shared;
    std::vector<std::vector<Contact>> expected(32), got(32);
    for (int pair = 0; pair < 32; ++pair)
        expected[size_t(pair)] =
            alone.find(0, body(torus, 0, 0, 0), uint64_t(pair) + 1, place(pair), 0.005, settings_of()).pair->contacts();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int pair = t; pair < 32; pair += 4)
                got[size_t(pair)] =
                    shared.find(0, body(torus, 0, 0, 0), uint64_t(pair) + 1, place(pair), 0.005, settings_of())
                        .pair->contacts();
        });
    for (std::thread& thread : threads) thread.join();
    for (size_t pair = 0; pair < 32; ++pair) CHECK(same(expected[pair], got[pair]));
}

void bad_input_is_refused(const vxs_shape* torus, const vxs_shape* ground) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    PairQuery pair;
    const Body a = body(torus, 0, 0.09, 0), b = body(ground, 0, 0, 0);
    PairSettings settings;
    must(pair.find(a, b, 0, settings));
    CHECK(!pair.contacts().empty());
    CHECK(pair.find(a, b, -1, settings) == VXS_INVALID_ARGUMENT && pair.contacts().empty());
    CHECK(pair.find(a, b, nan, settings) == VXS_INVALID_ARGUMENT);
    settings.margin = -1;
    CHECK(pair.find(a, b, 0, settings) == VXS_INVALID_ARGUMENT);
    settings = PairSettings();
    settings.allowance = nan;
    CHECK(pair.find(a, b, 0, settings) == VXS_INVALID_ARGUMENT);
    settings = PairSettings();
    Body wrong = a;
    wrong.pose.qw = 2;
    CHECK(pair.find(wrong, b, 0, settings) == VXS_INVALID_ARGUMENT);
    wrong = a;
    wrong.shape = nullptr;
    CHECK(pair.find(wrong, b, 0, settings) != VXS_OK);
    wrong = a;
    wrong.linear_velocity.x = nan;
    CHECK(pair.find(wrong, b, 0.01, settings) == VXS_INVALID_ARGUMENT);
    CHECK(pair.find(b, b, 0, settings) == VXS_UNSUPPORTED);
    CHECK(can_collide(torus, ground) && can_collide(ground, torus) && !can_collide(ground, ground) &&
          !can_collide(nullptr, torus));
    PairCache cache;
    CHECK(cache.find(1, a, 1, b, 0, settings).status == VXS_INVALID_ARGUMENT);
    must(pair.find(a, b, 0, settings));
    CHECK(!pair.contacts().empty());
}

} // namespace

int main() {
    const Handle torus = primitive(VXS_PRIMITIVE_TORUS, {0.3, 0.1});
    const Handle knot = primitive(VXS_PRIMITIVE_TORUS_KNOT, {0.2, 0.06});
    vxs_shape* plane = nullptr;
    must(vxs_shape_create_half_space({0, 1, 0}, 0, &plane));
    const Handle ground(plane);
    a_falling_body_is_seen_before_it_touches(torus.get(), plane);
    no_approach_is_missed_by_the_look_ahead(torus.get(), knot.get());
    a_body_that_passes_by_has_no_ghost_contact();
    values_stay_with_their_features(torus.get(), plane);
    without_hysteresis_the_past_does_not_matter(torus.get(), knot.get());
    the_order_of_a_call_only_turns_the_answer(torus.get(), knot.get());
    pairs_that_are_not_asked_for_are_forgotten(torus.get(), plane);
    threads_get_the_same_contacts(torus.get(), knot.get());
    bad_input_is_refused(torus.get(), plane);
    return finish();
}
