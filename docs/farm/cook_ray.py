#!/usr/bin/env python3
"""Cooks every mesh of a folder on a Ray cluster; both folders are on a file system of all nodes:

    cook_ray.py MESHES ASSETS [OPTION of voxshell cook]...

Without a cluster (RAY_ADDRESS) it starts one on this machine. Needs `pip install ray`.
"""
import os
import subprocess
import sys
from pathlib import Path

import ray

# A few meshes for each task, one core for each.
BATCH = 8


@ray.remote(num_cpus=1)
def cook(meshes, assets, options, voxshell):
    """Exit code and complaints of one process, which cooks a few meshes."""
    environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
    command = [voxshell, "cook", "-o", f"{assets}/", *options, *meshes]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return done.returncode, done.stderr


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder, assets, options = Path(sys.argv[1]), Path(sys.argv[2]).absolute(), sys.argv[3:]
    voxshell = os.environ.get("VOXSHELL", "voxshell")
    meshes = sorted(str(p.absolute()) for p in folder.iterdir() if p.suffix in (".obj", ".stl", ".ply"))
    ray.init(include_dashboard=False, log_to_driver=False, logging_level="warning")
    waiting = [cook.remote(meshes[i : i + BATCH], assets, options, voxshell) for i in range(0, len(meshes), BATCH)]
    failed = 0
    while waiting:
        done, waiting = ray.wait(waiting)
        for code, complaint in ray.get(done):
            failed += code != 0
            sys.stderr.write(complaint)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
