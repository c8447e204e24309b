// DAQP for comparison: quadratic programs of six variables, each one new to the solver.
#include "peer.hpp"

#include <daqp/api.h>
#include <daqp/utils.h>

namespace {

constexpr int kVariables = 6;

/// min ½ xᵀ H x + fᵀ x over A x ≤ b.
struct Program
{
    std::array<double, kVariables * kVariables> hessian;
    std::array<double, kVariables> gradient;
    std::vector<double> rows, bounds;
};

std::vector<Program> programs;
std::vector<double> solutions;

std::string load(std::istringstream& words)
{
    std::string file;
    int count = 0;
    words >> file >> count;
    const auto values = peer::read<double>(file);
    const std::size_t rows = std::size_t(count);
    programs.clear();
    for (auto next = values.begin(); next != values.end();) {
        Program program;
        const auto take = [&next](auto to, std::size_t number) {
            std::copy_n(next, number, to);
            next += std::ptrdiff_t(number);
        };
        program.rows.resize(kVariables * rows);
        program.bounds.resize(rows);
        take(program.hessian.begin(), program.hessian.size());
        take(program.gradient.begin(), program.gradient.size());
        take(program.rows.begin(), program.rows.size());
        take(program.bounds.begin(), program.bounds.size());
        programs.push_back(program);
    }
    solutions.assign(programs.size() * kVariables, 0.0);
    return peer::member("programs", programs.size());
}

/// Solves each program once. The memory of the workspace is kept; everything else is computed anew.
std::string solve(std::istringstream& words)
{
    std::string file;
    words >> file;
    const int rows = int(programs.at(0).bounds.size());
    std::vector<double> lower(std::size_t(rows), -DAQP_INF);
    std::vector<int> sense(std::size_t(rows), 0);
    DAQPProblem problem = {};
    problem.n = kVariables;
    problem.m = rows;
    problem.blower = lower.data();
    problem.sense = sense.data();
    const auto set = [&problem](Program& program) {
        problem.H = program.hessian.data();
        problem.f = program.gradient.data();
        problem.A = program.rows.data();
        problem.bupper = program.bounds.data();
    };
    set(programs[0]);
    DAQPWorkspace work = {};
    allocate_daqp_settings(&work);
    // As exact as the solver that it is compared with.
    work.settings->primal_tol = 1e-12;
    if (setup_daqp(&problem, &work, nullptr) < 0) throw std::runtime_error("not set up");
    const int all = DAQP_UPDATE_Rinv | DAQP_UPDATE_M | DAQP_UPDATE_v | DAQP_UPDATE_d;
    int failed = 0;
    const double cpu = peer::cpu_seconds();
    for (std::size_t i = 0; i < programs.size(); ++i) {
        set(programs[i]);
        daqp_deactivate_constraints(&work);
        reset_daqp_workspace(&work);
        if (daqp_update_ldp(all, &work, &problem) < 0 || daqp_ldp(&work) != DAQP_EXIT_OPTIMAL) {
            ++failed;
            continue;
        }
        ldp2qp_solution(&work);
        std::copy_n(work.x, kVariables, &solutions[i * kVariables]);
    }
    const double spent = peer::cpu_seconds() - cpu;
    free_daqp_workspace(&work);
    free_daqp_ldp(&work);
    peer::write(file, solutions);
    return peer::member("cpu", spent) + ", " + peer::member("failed", failed);
}

std::string version(std::istringstream&) { return peer::member("version", std::string("\"DAQP\"")); }

} // namespace

int main() { return peer::serve({{"load", load}, {"solve", solve}, {"version", version}}); }
