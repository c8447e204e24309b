#!/usr/bin/env python3
"""Rate of batched queries from Python beside that of the same queries from C, on one thread, in turns.

    python/benches/rate.py --prefix DIRECTORY [--json]

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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, type=pathlib.Path)
    parser.add_argument("--poses", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
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
        subprocess.run(["cc", "-O2", "-o", folder / "rate", here / "rate.c", f"-I{options.prefix}/include", f"-L{library}",
                        "-lvoxshell", f"-Wl,-rpath,{library.resolve()}"], check=True)
        a.save(folder / "a.vxs")
        b.save(folder / "b.vxs")
        poses.tofile(folder / "poses")
        shapes = [voxshell.Shape.load(folder / name) for name in ("a.vxs", "b.vxs")]
        best = np.full((2, 2), np.inf)
        for _ in range(options.rounds):
            output = subprocess.run([folder / "rate", folder / "a.vxs", folder / "b.vxs", folder / "poses", str(options.poses)],
                                    check=True, capture_output=True, text=True).stdout.split()
            best[0] = np.minimum(best[0], [float(x) for x in output[:2]])
            begin = time.perf_counter()
            nearest = voxshell.distance(*shapes, poses, coverage="samples", threads=1)
            middle = time.perf_counter()
            contacts, _ = voxshell.contacts(*shapes, poses, coverage="samples", max_contacts=16, threads=1)
            best[1] = np.minimum(best[1], [middle - begin, time.perf_counter() - middle])
            finite = nearest["separation"][np.isfinite(nearest["separation"])]
            total = finite.sum() + contacts["separation"].sum()
            assert abs(total - float(output[2])) < 1e-6 * abs(total), (total, output[2])
    for name, (c, python) in zip(("distance", "contacts"), best.T):
        row = {"query": name, "c_per_s": options.poses / c, "python_per_s": options.poses / python, "python_over_c": c / python}
        print(json.dumps(row) if options.json else "  ".join(f"{key} {value:.4g}" if key != "query" else value for key, value in row.items()))


if __name__ == "__main__":
    main()
