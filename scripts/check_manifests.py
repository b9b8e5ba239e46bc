# SPDX-License-Identifier: Apache-2.0
"""Checks the files of ops/kubernetes by Kubernetes' own schemas, and against the Dockerfile and each other.

    check_manifests.py            prints each fault, and ends with 1 if there is one
    check_manifests.py --query    prints the query by which workers are scaled
"""

import pathlib
import re
import sys

import kubernetes_validate
import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "ops/kubernetes"
# The oldest and the newest version whose schemas are known.
VERSIONS = ("1.25", "1.37")
# The fields that KEDA's custom resources have, of those that are used. Kubernetes knows no schema of them.
KEDA = {
    "TriggerAuthentication": {"secretTargetRef"},
    "ScaledObject": {"scaleTargetRef", "minReplicaCount", "maxReplicaCount", "pollingInterval", "cooldownPeriod", "fallback", "advanced",
                     "triggers"},
}
faults = []


def check(holds, fault):
    if not holds:
        faults.append(fault)


def seconds(text):
    number, unit = re.fullmatch(r"(\d+)(ms|s|m|h)", text).groups()
    return int(number) * {"ms": 0.001, "s": 1, "m": 60, "h": 3600}[unit]


def mebibytes(text):
    number, unit = re.fullmatch(r"(\d+)(Mi|Gi)B?", text).groups()
    return int(number) * {"Mi": 1, "Gi": 1024}[unit]


def documents():
    """The objects by kind."""
    found = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            kind = document["kind"]
            check(kind not in found, f"{path.name}: a second {kind}")
            found[kind] = document
            if kind in KEDA:
                unknown = set(document["spec"]) - KEDA[kind]
                check(not unknown, f"{path.name}: {kind} has no field {', '.join(sorted(unknown))}")
            elif kind != "Kustomization":
                for version in VERSIONS:
                    try:
                        kubernetes_validate.validate(document, version, strict=True)
                    except kubernetes_validate.ValidationError as error:
                        faults.append(f"{path.name}: Kubernetes {version}: {error.message}")
    return found


def check_pod(name, pod, user):
    context = pod["securityContext"]
    check(context["runAsNonRoot"] and f"{context['runAsUser']}:{context['runAsGroup']}" == user, f"{name}: the user of the image is {user}")
    for container in pod["containers"]:
        limits = container["securityContext"]
        check(limits == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
              f"{name}: securityContext")


def check_worker(found):
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    user = re.findall(r"^USER (\d+:\d+)$", dockerfile, re.M)[-1]
    pod = found["Deployment"]["spec"]["template"]["spec"]
    check_pod("deployment", pod, user)
    check_pod("migrate", found["Job"]["spec"]["template"]["spec"], user)
    container = pod["containers"][0]
    values = {entry["name"]: entry.get("value") for entry in container["env"]}
    known = (ROOT / "Tests/PublicSurfaceTests/Lists/flags.txt").read_text(encoding="utf-8") \
        + (ROOT / "Tests/PublicSurfaceTests/Lists/variables.txt").read_text(encoding="utf-8")
    for name in values:
        check(re.search(rf"\b{name}$", known, re.M), f"deployment: no variable {name}")
    # The worker takes 5 s for the last results after the drain.
    check(pod["terminationGracePeriodSeconds"] >= seconds(values["POSTRIDER_DRAIN"]) + 5, "deployment: the grace period is too short")
    check(mebibytes(container["resources"]["limits"]["memory"]) >= mebibytes(values["POSTRIDER_MEMORY"]) + 64, "deployment: memory")
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    check(values["POSTRIDER_HTTP"] == f"0.0.0.0:{ports['http']}", "deployment: the port of POSTRIDER_HTTP")
    for probe, path in (("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
        check(container[probe]["httpGet"] == {"path": path, "port": "http"}, f"deployment: {probe}")
    labels = found["Deployment"]["spec"]["template"]["metadata"]["labels"]
    check(found["Deployment"]["spec"]["selector"]["matchLabels"].items() <= labels.items(), "deployment: its selector")
    check(found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"].items() <= labels.items(), "disruption budget: its selector")
    scaled = found["ScaledObject"]["spec"]
    check(scaled["scaleTargetRef"]["name"] == found["Deployment"]["metadata"]["name"], "scaled object: its deployment")
    check(scaled["minReplicaCount"] >= 1, "scaled object: without a worker nothing promotes scheduled jobs")
    trigger = scaled["triggers"][0]
    check(trigger["authenticationRef"]["name"] == found["TriggerAuthentication"]["metadata"]["name"], "scaled object: its login")


if __name__ == "__main__":
    objects = documents()
    if sys.argv[1:] == ["--query"]:
        print(objects["ScaledObject"]["spec"]["triggers"][0]["metadata"]["query"])
        sys.exit()
    check_worker(objects)
    print("\n".join(faults), end="\n" if faults else "")
    sys.exit(1 if faults else 0)
