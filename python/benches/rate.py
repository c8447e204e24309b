#!/usr/bin/env python3
"""Rate of batched queries from Python beside that of the same queries from C, in turns.

    python/benches/rate.py --prefix DIRECTORY [--threads N] [--coverage NAME] [--contacts N] [--json]

DIRECTORY holds include/voxshell and lib/libvoxshell.so, as cmake --install makes it.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np

import voxshell


# In the order of vxs_coverage.
COVERAGES = ("samples", "edges", "facets")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, type=pathlib.Path)
    parser.add_argument("--poses", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1, help="of the queries; 1 unless given")
    parser.add_argument("--coverage", choices=COVERAGES, default="samples")
    parser.add_argument("--contacts", type=int, default=16, help="most contacts of a query")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    here = pathlib.Path(__file__).parent
    random = np.random.default_rng(1)
    poses = np.empty((options.poses, 7))
    poses[:, :3] = random.uniform(-0.5, 0.5, (options.poses, 3))
    turns = random.normal(size=(options.poses, 4))
    poses[:, 3:] = turns / np.linalg.norm(turns, axis=1, keepdims=True)
    a = voxshell.Shape.primitive("torus_knot", resolution=96, samples=2000)
    b = voxshell.Shape.primitive("gear", resolution=96, samples=2000)
    library = next((options.prefix / folder for folder in ("lib", "lib64") if (options.prefix / folder / "libvoxshell.so").exists()),
                   options.prefix / "lib")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run(["cc", "-O2", "-pthread", "-o", folder / "rate", here / "rate.c", f"-I{options.prefix}/include", f"-L{library}",
                        "-lvoxshell", f"-Wl,-rpath,{library.resolve()}"], check=True)
        a.save(folder / "a.vxs")
        b.save(folder / "b.vxs")
        poses.tofile(folder / "poses")
        shapes = [voxshell.Shape.load(folder / name) for name in ("a.vxs", "b.vxs")]
        best = np.full((2, 2), np.inf)
        for _ in range(options.rounds):
            output = subprocess.run([folder / "rate", folder / "a.vxs", folder / "b.vxs", folder / "poses", str(options.poses),
                                     str(options.threads), str(COVERAGES.index(options.coverage)), str(options.contacts)],
                                    check=True, capture_output=True, text=True).stdout.split()
            best[0] = np.minimum(best[0], [float(x) for x in output[:2]])
            begin = time.perf_counter()
            nearest = voxshell.distance(*shapes, poses, coverage=options.coverage, threads=options.threads)
            middle = time.perf_counter()
            contacts, _ = voxshell.contacts(*shapes, poses, coverage=options.coverage, max_contacts=options.contacts,
                                            threads=options.threads)
            best[1] = np.minimum(best[1], [middle - begin, time.perf_counter() - middle])
            finite = nearest["separation"][np.isfinite(nearest["separation"])]
            total = finite.sum() + contacts["separation"].sum()
            assert abs(total - float(output[2])) < 1e-6 * abs(total), (total, output[2])
    for name, (c, python) in zip(("distance", "contacts"), best.T):
        row = {"query": name, "threads": options.threads, "coverage": options.coverage, "max_contacts": options.contacts,
               "c_per_s": options.poses / c, "python_per_s": options.poses / python, "python_over_c": c / python}
        print(json.dumps(row) if options.json else "  ".join(
            f"{key} {value if isinstance(value, (str, int)) else format(value, '.4g')}" for key, value in row.items()))


if __name__ == "__main__":
    main()
