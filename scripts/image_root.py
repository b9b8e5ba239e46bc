# SPDX-License-Identifier: Apache-2.0
"""Builds the tree of an image of the Dockerfile in a folder, where no engine for containers runs.

    image_root.py STAGE FOLDER STAGE:PATH=FILE...

FOLDER holds the tree of the stage's base image. The instructions of the stage run in it with chroot, so its packages are the Dockerfile's.
FILE stands for a file that another stage builds. The output is the configuration of the image, as variables for bash: user, environment,
entrypoint, cmd, healthcheck. An instruction that this program does not know is an error.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def instructions(stage):
    """(word, text) of each instruction of a stage, continued lines joined."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.M).replace("\\\n", " ")
    found, inside = [], False
    for line in filter(None, map(str.strip, text.split("\n"))):
        word, rest = line.split(None, 1)
        if word == "FROM":
            inside = rest.split()[-1] == stage
        elif inside:
            found.append((word, rest.strip()))
    if not found:
        sys.exit(f"image_root: the Dockerfile has no stage {stage}")
    return found


def build(stage, root, built):
    config = {"user": ["0:0"], "environment": [], "entrypoint": [], "cmd": [], "healthcheck": []}
    for word, text in instructions(stage):
        if word == "RUN":
            path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
            subprocess.run(["chroot", root, "/bin/sh", "-c", text], env={"PATH": path, "DEBIAN_FRONTEND": "noninteractive"},
                           stdout=sys.stderr, check=True)
        elif word == "COPY":
            source, target = text.split()[-2:]
            other = re.match(r"--from=(\S+)", text)
            place = root / target.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(built[f"{other[1]}:{source}"] if other else ROOT / source, place)
        elif word == "ENV":
            config["environment"] += shlex.split(text)
        elif word == "USER":
            config["user"] = [text]
        elif word in ("ENTRYPOINT", "CMD"):
            config[word.lower()] = json.loads(text)
        elif word == "HEALTHCHECK":
            config["healthcheck"] = json.loads(text.split("CMD", 1)[1])
        elif word not in ("STOPSIGNAL", "EXPOSE"):
            sys.exit(f"image_root: {word} is not known")
    return config


if __name__ == "__main__":
    os.umask(0o022)
    name, folder, *files = sys.argv[1:]
    for variable, words in build(name, pathlib.Path(folder), dict(file.split("=", 1) for file in files)).items():
        print(f"{variable}=({shlex.join(words)})")
