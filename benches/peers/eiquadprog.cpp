// eiquadprog for comparison: quadratic programs of six variables, each one new to the solver.
#include "peer.hpp"

#include <eiquadprog/eiquadprog-fast.hpp>

namespace {

constexpr int kVariables = 6;

/// min ½ xᵀ H x + fᵀ x over A x + b ≥ 0.
struct Program
{
    Eigen::MatrixXd hessian, rows;
    Eigen::VectorXd gradient, bounds;
};

std::vector<Program> programs;

std::string load(std::istringstream& words)
{
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    std::string file;
    Eigen::Index rows = 0;
    words >> file >> rows;
    const auto values = peer::read<double>(file);
    programs.clear();
    const Eigen::Index size = kVariables * kVariables + kVariables + rows * (kVariables + 1);
    for (const double* next = values.data(); next != values.data() + values.size(); next += size) {
        const double *const gradient = next + kVariables * kVariables, *const normals = gradient + kVariables;
        Program program;
        program.hessian = Eigen::Map<const RowMajor>(next, kVariables, kVariables);
        program.gradient = Eigen::Map<const Eigen::VectorXd>(gradient, kVariables);
        program.rows = -Eigen::Map<const RowMajor>(normals, rows, kVariables);
        program.bounds = Eigen::Map<const Eigen::VectorXd>(normals + rows * kVariables, rows);
        programs.push_back(program);
    }
    return peer::member("programs", programs.size());
}

std::string solve(std::istringstream& words)
{
    std::string file;
    words >> file;
    std::vector<double> solutions(programs.size() * kVariables, 0.0);
    const Eigen::MatrixXd no_rows(0, kVariables);
    const Eigen::VectorXd no_bounds(0);
    Eigen::VectorXd x(kVariables);
    eiquadprog::solvers::EiquadprogFast solver;
    solver.reset(kVariables, 0, std::size_t(programs.at(0).rows.rows()));
    int failed = 0;
    const double cpu = peer::cpu_seconds();
    for (std::size_t i = 0; i < programs.size(); ++i) {
        const Program& p = programs[i];
        const auto status = solver.solve_quadprog(p.hessian, p.gradient, no_rows, no_bounds, p.rows, p.bounds, x);
        failed += status != eiquadprog::solvers::EIQUADPROG_FAST_OPTIMAL;
        std::copy_n(x.data(), kVariables, &solutions[i * kVariables]);
    }
    const double spent = peer::cpu_seconds() - cpu;
    peer::write(file, solutions);
    return peer::member("cpu", spent) + ", " + peer::member("failed", failed);
}

std::string version(std::istringstream&) { return peer::member("version", std::string("\"eiquadprog-fast\"")); }

} // namespace

int main() { return peer::serve({{"load", load}, {"solve", solve}, {"version", version}}); }
