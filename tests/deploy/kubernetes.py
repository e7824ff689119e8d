"""kubernetes.py FILE…: checks rendered manifests, offline.

Each object is valid by the schemas of the oldest and the newest version, without unknown fields. Each pod fits the
standard "restricted" of Pod Security, has its probes, and has time to stop. Names that refer to others lead somewhere.
"""

import sys
import tomllib

import kubernetes_validate
import yaml

VERSIONS = ["1.30", "1.37"]
# Its schema belongs to the operator of Prometheus.
FOREIGN = {"ServiceMonitor"}
# Seconds that a stop takes after requests have ended: the last events to SQL.
LAST_EVENTS_S = 15


def check(condition, text):
    if not condition:
        sys.exit(f"error: {text}")


def restricted(name, spec):
    """https://kubernetes.io/docs/concepts/security/pod-security-standards, and a read-only root."""
    pod = spec.get("securityContext", {})
    check(pod.get("runAsNonRoot") is True and pod.get("runAsUser", 0) > 0, f"{name}: runs as root")
    check(pod.get("seccompProfile", {}).get("type") == "RuntimeDefault", f"{name}: no seccomp profile")
    for key in ["hostNetwork", "hostPID", "hostIPC"]:
        check(not spec.get(key), f"{name}: {key}")
    for container in spec["containers"] + spec.get("initContainers", []):
        own = container.get("securityContext", {})
        check(own.get("allowPrivilegeEscalation") is False, f"{name}: may escalate privileges")
        check(own.get("capabilities", {}) == {"drop": ["ALL"]}, f"{name}: has capabilities")
        check(own.get("readOnlyRootFilesystem") is True, f"{name}: can write its root")
        check(not own.get("privileged"), f"{name}: is privileged")
        check("memory" in container["resources"]["limits"], f"{name}: no limit of memory")
    kinds = {"configMap", "secret", "emptyDir", "projected", "persistentVolumeClaim", "downwardAPI", "csi", "ephemeral"}
    for volume in spec.get("volumes", []):
        check(set(volume) - {"name"} <= kinds, f"{name}: volume {volume['name']}")


def deployment(thing, objects):
    name, template = thing["metadata"]["name"], thing["spec"]["template"]
    spec = template["spec"]
    restricted(name, spec)
    check(thing["spec"]["replicas"] >= 2, f"{name}: one replica")
    container = spec["containers"][0]
    ports = {port["name"] for port in container["ports"]}
    for probe, path in [("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")]:
        request = container[probe]["httpGet"]
        check(request["path"] == path and request["port"] in ports, f"{name}: {probe}")
    check({"kubernetes.io/hostname"} <= {rule["topologyKey"] for rule in spec["topologySpreadConstraints"]},
          f"{name}: all instances may run on one node")
    for volume in spec["volumes"]:
        config, secret = volume.get("configMap"), volume.get("secret")
        if config:
            check(("ConfigMap", config["name"]) in objects, f"{name}: no ConfigMap {config['name']}")
            text = objects["ConfigMap", config["name"]]["data"]["production.toml"]
            settings = tomllib.loads(text)
            stop_s = container["lifecycle"]["preStop"]["sleep"]["seconds"] + settings["http"]["shutdown_timeout_s"]
            check(spec["terminationGracePeriodSeconds"] > stop_s + LAST_EVENTS_S, f"{name}: killed while it stops")
        if secret and any(kind == "Secret" for kind, _ in objects):
            check(("Secret", secret["secretName"]) in objects, f"{name}: no Secret {secret['secretName']}")
    labels = template["metadata"]["labels"]
    check(selects(thing["spec"]["selector"]["matchLabels"], labels), f"{name}: does not select its own pods")
    return labels


def selects(selector, labels):
    return all(labels.get(key) == value for key, value in selector.items())


def manifest(path):
    with open(path, encoding="utf-8") as file:
        things = [thing for thing in yaml.safe_load_all(file) if thing]
    objects = {(thing["kind"], thing["metadata"]["name"]): thing for thing in things}
    check(len(objects) == len(things), f"{path}: two objects of one name")
    for (kind, name), thing in objects.items():
        for version in VERSIONS if kind not in FOREIGN else []:
            try:
                kubernetes_validate.validate(thing, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                sys.exit(f"error: {path}: {kind} {name} in {version}: {error.message} at {list(error.path)}")
    labels = [deployment(thing, objects) for (kind, _), thing in objects.items() if kind == "Deployment"]
    check(len(labels) == 1, f"{path}: {len(labels)} deployments")
    for (kind, name), thing in objects.items():
        selector = {
            "Service": lambda spec: spec["selector"],
            "PodDisruptionBudget": lambda spec: spec["selector"]["matchLabels"],
            "NetworkPolicy": lambda spec: spec["podSelector"]["matchLabels"],
        }.get(kind)
        if selector:
            found = selector(thing["spec"])
            check(found and selects(found, labels[0]), f"{path}: {kind} {name} selects no instance: {found}")
        for rule in thing["spec"].get("ingress", []) if kind == "NetworkPolicy" else []:
            callers = [peer["podSelector"]["matchLabels"] for peer in rule["from"] if "podSelector" in peer]
            for caller in callers:
                check(caller == {"jackpot-client": "true"}, f"{path}: {name} admits other callers: {caller}")
    kinds = {kind for kind, _ in objects}
    wanted = {"Deployment", "Service", "PodDisruptionBudget", "ConfigMap", "NetworkPolicy"}
    check(wanted <= kinds, f"{path}: {wanted - kinds} missing")
    monitors = [thing for (kind, _), thing in objects.items() if kind == "ServiceMonitor"]
    for monitor in monitors:
        service = next(thing for (kind, _), thing in objects.items() if kind == "Service")
        selector = monitor["spec"]["selector"]["matchLabels"]
        check(selects(selector, service["metadata"]["labels"]), f"{path}: no service to scrape")
        ports = {port["name"] for port in service["spec"]["ports"]}
        check(all(endpoint["port"] in ports for endpoint in monitor["spec"]["endpoints"]), "no such port to scrape")
    print(f"{path}: {len(objects)} objects are valid in {' and '.join(VERSIONS)}: {', '.join(sorted(kinds))}")


for argument in sys.argv[1:]:
    manifest(argument)
