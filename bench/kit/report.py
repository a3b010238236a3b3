"""RESULTS.md and results.json from the runs of a measurement."""

import json
import statistics

import plot

OTHERS_PERCENT_MAX = 10

FIGURES = {
    "closed": "64 connections, closed loop",
    "open": "1,500 requests/s, open loop",
    "one": "1 connection",
    "many": "256 connections",
    "large": "64 connections, large table",
}


def one_line(run):
    load = run.get("load")
    text = f"{run['figure']:6} {run['target']:9} {run['connections']:3} connections: {run['events_per_second']:8.0f} events/s"
    if load:
        latency = load["latency_ms"]
        text += f", p50 {latency['p50']:.2f} p99 {latency['p99']:.2f} p99.9 {latency['p99.9']:.2f} ms"
        text += f", CPU s/10k {run['gateway_cpu_s_per_10k']:.2f} + {run['postgres_cpu_s_per_10k']:.2f}"
        text += f", generator {load['generator_cpu_us_per_request']:.0f} us, others {run['others_cpu_percent']:.0f} %"
    if run["faults"]:
        text += "; FAULTS: " + "; ".join(run["faults"])
    return text


class Results:
    def __init__(self, results):
        self.environment = results["environment"]
        self.runs = results["runs"]
        self.rounds = sorted({run["round"] for run in self.runs if run["figure"] != "tune"})

    def of(self, figure, target):
        return [run for run in self.runs if run["figure"] == figure and run["target"] == target]

    def in_round(self, figure, target, number):
        """Events/s of that round; None when it was not measured. Of the floor: the best number of clients."""
        rates = [run["events_per_second"] for run in self.of(figure, target) if run["round"] == number]
        return max(rates) if rates else None

    def ratios(self, above, below):
        """Events/s of one (figure, target) over those of another, round by round."""
        pairs = [(self.in_round(*above, number), self.in_round(*below, number)) for number in self.rounds]
        return [first / second for first, second in pairs if first and second]

    def values(self, figure, target, key):
        return [value_of(run, key) for run in self.of(figure, target)]


def value_of(run, key):
    if key.startswith("p"):
        return run["load"]["latency_ms"][key] if not key.startswith("postgres") else run[key]
    return run[key]


class Goal:
    """One line of the table of goals: `values` is one a round; nothing measured counts as not reached."""

    def __init__(self, name, goal, values, limit, at_least, unit):
        self.name, self.goal, self.values, self.limit = name, goal, values, limit
        self.at_least, self.unit = at_least, unit

    def row(self):
        if not self.values:
            return f"| {self.name} | {self.goal} | not measured | - |"
        middle = statistics.median(self.values)
        reached = middle >= self.limit if self.at_least else middle <= self.limit
        return f"| {self.name} | {self.goal} | {spread(self.values, self.unit)} | {'yes' if reached else '**no**'} |"


def spread(values, unit="", digits=2):
    text = f"{statistics.median(values):,.{digits}f}{unit}"
    if len(values) > 1:
        text += f" ({min(values):,.{digits}f}-{max(values):,.{digits}f})"
    return text


def goals(results):
    gateway = ("closed", "hookgate")
    hung = [float(run["load"]["hung"]) for run in results.of("many", "hookgate")]
    return [
        Goal("durable, deduplicated events/s over fastify", ">= 6x", results.ratios(gateway, ("closed", "fastify")),
             6, True, "x"),
        Goal("the same over pgbench's best one-row insert", ">= 4x", results.ratios(gateway, ("floor", "pgbench")),
             4, True, "x"),
        Goal("p99 at that rate", "<= 8 ms", results.values(*gateway, "p99"), 8, False, " ms"),
        Goal("p99, open loop at 1,500/s", "<= 4 ms", results.values("open", "hookgate", "p99"), 4, False, " ms"),
        Goal("one connection over fastify", ">= 1.4x", results.ratios(("one", "hookgate"), ("one", "fastify")),
             1.4, True, "x"),
        Goal("256 connections over 64", ">= 0.85x", results.ratios(("many", "hookgate"), gateway), 0.85, True, "x"),
        Goal("hung requests at 256 connections", "0", hung, 0, False, ""),
        Goal("large table over an empty one", ">= 0.90x", results.ratios(("large", "hookgate"), gateway), 0.9, True, "x"),
        Goal("CPU of the gateway per 10,000 events", "<= 0.15 s",
             results.values(*gateway, "gateway_cpu_s_per_10k"), 0.15, False, " s"),
        Goal("CPU of PostgreSQL per 10,000 events", "<= 0.40 s",
             results.values(*gateway, "postgres_cpu_s_per_10k"), 0.40, False, " s"),
    ]


def noise_text(results):
    """A warning when somebody else had the machine; "" when it was quiet."""
    noisy = [run for run in results.runs if run["target"] != "pgbench" and run["others_cpu_percent"] > OTHERS_PERCENT_MAX]
    if not noisy:
        return ""
    return (f"**Not to be trusted as it is:** in {len(noisy)} of {len(results.runs)} runs other programs took more than "
            f"{OTHERS_PERCENT_MAX} % of the cores.")


def environment_text(environment):
    settings = ", ".join(f"{name} {value}" for name, value in environment["settings"].items())
    syncs = [value for value in environment["fsyncs_per_second"] if value]
    syncs = " and ".join(f"{value:,.0f}" for value in syncs) + " a second, before and after" if syncs else "not known"
    pools = " and ".join(f"{size} ({name})" for name, size in environment["pool_sizes"].items())
    rounds = f"{environment['rounds']} round{'s' if environment['rounds'] > 1 else ''}"
    return (f"{environment['date']}, commit {environment['commit']}. {environment['cores']} cores ({environment['cpu']}), "
            f"kernel {environment['kernel']}, {environment['file_system']}; {environment['postgresql']}: {settings}, "
            f"otherwise defaults. 8 kB fdatasync: {syncs}. Node {environment['node']}, pools of "
            f"{pools} connections. {rounds}, {environment['seconds']:g} s a run.")


def floor_table(results):
    lines = ["| clients | rows/s | mean latency, ms | PostgreSQL CPU s per 10,000 |", "| --- | --- | --- | --- |"]
    for clients in sorted({run["connections"] for run in results.of("floor", "pgbench")}):
        runs = [run for run in results.of("floor", "pgbench") if run["connections"] == clients]
        lines.append(f"| {clients} | {spread([run['events_per_second'] for run in runs], digits=0)} | "
                     f"{statistics.median(run['latency_mean_ms'] for run in runs):.2f} | "
                     f"{statistics.median(run['postgres_cpu_s_per_10k'] for run in runs):.2f} |")
    return lines


def server_table(results, figure):
    lines = ["| server | events/s | p50 | p99 | p99.9 | max, ms | CPU s per 10,000: server + PostgreSQL | RSS, MB | "
             "faults | CPU of others |", "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    targets = dict.fromkeys(run["target"] for run in results.runs if run["figure"] == figure)
    for target in sorted(targets, key=("hookgate", "fastify", "express").index):
        runs = results.of(figure, target)
        middle = lambda key: statistics.median(value_of(run, key) for run in runs)  # noqa: E731
        latency = [statistics.median(run["load"]["latency_ms"][key] for run in runs)
                   for key in ("p50", "p99", "p99.9", "max")]
        faults = "; ".join(fault for run in runs for fault in run["faults"]) or "none"
        lines.append(f"| {target} | {spread(results.values(figure, target, 'events_per_second'), digits=0)} | "
                     + " | ".join(f"{value:.2f}" for value in latency)
                     + f" | {middle('gateway_cpu_s_per_10k'):.2f} + {middle('postgres_cpu_s_per_10k'):.2f} | "
                       f"{middle('gateway_rss_mb'):.0f} | {faults} | {middle('others_cpu_percent'):.0f} % |")
    return lines


def markdown(results):
    environment = results.environment
    lines = ["# Results", "", "Written by `bench/run`; [README.md](README.md) says what each line means, "
             "[NOTES.md](NOTES.md) where the time goes.", "",
             environment_text(environment), "", *filter(None, [noise_text(results)]), "",
             "Medians over the rounds, in brackets the lowest and the highest. Load generator, server and PostgreSQL "
             "share the cores, so every figure is one of the whole machine, and ratios within one measurement hold "
             "better than figures of two.", "", "![Rates, latencies and CPU](results.svg)", "",
             "## Goals", "", "| figure | goal | measured | reached |", "| --- | --- | --- | --- |"]
    lines += [goal.row() for goal in goals(results)]
    lines += ["", "## The floor: pgbench, one durable row a transaction", ""] + floor_table(results)
    for figure, title in FIGURES.items():
        if any(run["figure"] == figure for run in results.runs):
            if figure == "large":
                title += f" ({environment['rows_large']:,} events before the first run)"
            lines += ["", f"## {title}", ""] + server_table(results, figure)
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"


def write(results, folder):
    with open(folder + "/results.json", "w") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    rewrite(folder)


def rewrite(folder):
    """RESULTS.md and results.svg from results.json."""
    with open(folder + "/results.json") as file:
        results = Results(json.load(file))
    with open(folder + "/RESULTS.md", "w") as file:
        file.write(markdown(results))
    with open(folder + "/results.svg", "w") as file:
        file.write(plot.svg(results))
