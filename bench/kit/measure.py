"""Measures hookgate, its peers and the database's own floor side by side. Called by bench/run."""

import argparse
import datetime
import json
import os
import platform
import signal
import subprocess
import sys
import time

import procfs
import report
from postgres import Postgres
from targets import REPOSITORY, Targets

FLOOR_CLIENTS = (1, 8, 32, 64)
POOL_SIZES = (5, 10, 20)
FLOOR_TABLE = """
CREATE TABLE floor (
  event_id    text        NOT NULL UNIQUE,
  received_at timestamptz NOT NULL DEFAULT now(),
  body        text        NOT NULL
)"""
FLOOR_SCRIPT = """\\set number random(1, 9000000000000000000)
INSERT INTO floor (event_id, body) VALUES ('evt_bench' || :number, :body) ON CONFLICT DO NOTHING;
"""

# Keys as the gateway would have stored them, with short bodies: the indexes have their full size, and the heap of
# bodies is only ever appended to.
LARGE_TABLE = """
INSERT INTO hookgate.events (id, received_at, last_seen_at, occurred_at, done_at, source, scope, event_id, event_type,
                             subject, status, content, signed_content)
SELECT number, now() - interval '1 day', now() - interval '1 day', now() - interval '1 day', now() - interval '1 day',
       'stripe', '', 'evt_bench' || substr(md5(number::text), 1, 24), 'payment_intent.succeeded',
       'pi_bench' || substr(md5(number::text), 1, 24), 'done', sha256(number::text::bytea), sha256(number::text::bytea)
FROM generate_series({first}, {last}) AS number"""
LARGE_BODIES = """
INSERT INTO hookgate.event_bodies (day, event, head, body)
SELECT current_date - 1, number, ''::bytea, '{{}}'::bytea FROM generate_series({first}, {last}) AS number"""
LARGE_CHUNK = 500_000
LARGE_DATABASE = "hookgate_large"

# (figure, target, connections, requests a second or 0 for closed loop)
PLAN = [
    ("closed", "hookgate", 64, 0),
    ("closed", "fastify", 64, 0),
    ("closed", "express", 64, 0),
    ("open", "hookgate", 64, 1500),
    ("open", "fastify", 64, 1500),
    ("open", "express", 64, 1500),
    ("one", "hookgate", 1, 0),
    ("one", "fastify", 1, 0),
    ("many", "hookgate", 256, 0),
    ("many", "fastify", 256, 0),
    ("large", "hookgate", 64, 0),
]


def say(text):
    print(text, file=sys.stderr, flush=True)


class Kit:
    def __init__(self, options, postgres):
        self.options = options
        self.postgres = postgres
        pool = options.pool or 10  # the default of `pg`
        self.targets = Targets(postgres, options.program, {"fastify": pool, "express": pool}, "\n".join(options.set))
        self.runs = []
        self.body = None

    def sample_body(self):
        """A body as the load generator makes it, for the floor."""
        server = self.targets.start("hookgate")
        try:
            self.targets.load(server, 5, 1, count=20)
        finally:
            server.stop()
        return self.postgres.sql("hookgate_bench", "SELECT convert_from(body, 'UTF8') FROM hookgate.event_bodies LIMIT 1")

    def settle(self):
        """Waits, not for long, until the machine is quiet."""
        deadline = time.monotonic() + self.options.settle
        while time.monotonic() < deadline:
            before = procfs.machine_busy_seconds()
            time.sleep(0.5)
            if procfs.machine_busy_seconds() - before < 0.15 * 0.5 * os.cpu_count():
                return

    def measure_floor(self, round_number, clients):
        if self.body is None:
            self.body = self.sample_body()
        self.postgres.fresh_database("floor")
        self.postgres.sql("floor", FLOOR_TABLE)
        self.settle()
        self.postgres.sql("floor", "CHECKPOINT")
        meter = Meter(self.postgres, None)
        rate, latency = self.postgres.pgbench("floor", FLOOR_SCRIPT, clients, self.options.seconds,
                                              {"body": self.body})
        run = {"figure": "floor", "target": "pgbench", "round": round_number, "connections": clients,
               "events_per_second": round(rate, 1), "latency_mean_ms": latency, "faults": []}
        run.update(meter.read(rate * max(1, round(self.options.seconds)), 0))
        self.add(run)

    def measure(self, round_number, figure, target, connections, rate):
        server = self.targets.start(target, LARGE_DATABASE if figure == "large" else None)
        database, table = server.events
        rows_before = int(self.postgres.sql(database, f"SELECT count(*) FROM {table}"))
        try:
            warm = self.targets.load(server, self.options.warm_up, connections, rate)
            self.settle()
            self.postgres.sql(database, "CHECKPOINT")
            meter = Meter(self.postgres, server)
            result = self.targets.load(server, self.options.seconds, connections, rate)
            costs = meter.read(result["accepted"], result["generator_cpu_us_per_request"] * result["sent"] / 1e6)
            rows = int(self.postgres.sql(database, f"SELECT count(*) FROM {table}")) - rows_before
        finally:
            server.stop()
        run = {"figure": figure, "target": target, "round": round_number, "connections": connections, "rate": rate,
               "events_per_second": result["accepted_per_second"], **costs, "load": result,
               "faults": faults_of(warm, result, rows)}
        self.add(run)

    def add(self, run):
        self.runs.append(run)
        say("  " + report.one_line(run))

    def prefill(self, rows):
        say(f"filling the table with {rows} rows")
        self.postgres.fresh_database(LARGE_DATABASE)
        self.targets.start("hookgate", LARGE_DATABASE).stop()  # makes the schema
        for first in range(1, rows + 1, LARGE_CHUNK):
            chunk = {"first": -first - min(LARGE_CHUNK, rows - first + 1) + 1, "last": -first}
            self.postgres.sql(LARGE_DATABASE, LARGE_TABLE.format(**chunk), LARGE_BODIES.format(**chunk))
        self.postgres.sql(LARGE_DATABASE, "VACUUM ANALYZE", "CHECKPOINT")

    def environment(self):
        programs = self.postgres.programs
        cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
        show = lambda name: self.postgres.sql("postgres", f"SHOW {name}")  # noqa: E731
        return {
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
            "commit": first_line("git", "-C", REPOSITORY, "describe", "--always", "--dirty=+"),
            "cores": os.cpu_count(), "cpu": cpu, "kernel": platform.release(),
            "file_system": first_line("findmnt", "-n", "-o", "FSTYPE", "-T", self.postgres.folder),
            "postgresql": first_line(programs + "/postgres", "--version"),
            "settings": {name: show(name) for name in ("fsync", "synchronous_commit", "full_page_writes",
                                                        "wal_sync_method", "shared_buffers", "max_wal_size")},
            # It takes a quarter of a minute, which a part is not worth.
            "fsyncs_per_second": [] if self.options.is_part else [self.postgres.fsyncs_per_second()],
            "node": first_line("node", "--version"),
            "pool_sizes": self.targets.pool_sizes,
            "rounds": self.options.rounds, "seconds": self.options.seconds, "rows_large": self.options.rows,
        }


class Meter:
    """CPU between its making and `read`."""

    def __init__(self, postgres, server):
        self.postgres = postgres
        self.server = server
        self.start = self._now()

    def _now(self):
        return (time.monotonic(), procfs.machine_busy_seconds(), self.postgres.cpu_seconds(),
                self.server.cpu_seconds() if self.server else 0.0)

    def read(self, events, generator_seconds):
        took, machine, database, gateway = (now - then for now, then in zip(self._now(), self.start))
        per_10k = 10_000 / max(events, 1)
        # pgbench counts as somebody else: nobody asks what it costs.
        others = max(0.0, machine - database - gateway - generator_seconds) / took / os.cpu_count()
        return {"gateway_cpu_s_per_10k": round(gateway * per_10k, 3),
                "postgres_cpu_s_per_10k": round(database * per_10k, 3),
                "gateway_rss_mb": round(procfs.resident_bytes(self.server.process.pid) / 1e6, 1) if self.server else 0,
                "others_cpu_percent": round(others * 100, 1)}


def faults_of(warm, result, rows):
    faults = []
    for name in ("wrong", "lost", "hung", "unsent", "limited", "connects_failed"):
        if result[name]:
            faults.append(f"{result[name]} {name}")
    if rows < warm["accepted"] + result["accepted"]:
        faults.append(f"{warm['accepted'] + result['accepted'] - rows} accepted events are not in the table")
    return faults + result["errors"][:2]


def first_line(*command):
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        return done.stdout.strip().splitlines()[0] if done.stdout.strip() else ""
    except FileNotFoundError:
        return ""


def parse_arguments():
    parser = argparse.ArgumentParser(prog="bench/run", description="Measures hookgate beside its peers and the "
                                     "database's floor, and writes RESULTS.md, results.json and results.svg.")
    parser.add_argument("--quick", action="store_true", help="one round of 2 s runs, no large table")
    parser.add_argument("--rounds", type=int, metavar="N", help="interleaved rounds [3]")
    parser.add_argument("--seconds", type=float, metavar="S", help="length of a run [5]")
    parser.add_argument("--rows", type=int, default=5_000_000, metavar="N", help="of the large table [5000000]")
    parser.add_argument("--pool", type=int, metavar="N",
                        help="connections of a peer's pool [the best of some; 10 for a part and with --quick]")
    parser.add_argument("--settle", type=float, metavar="S", help="longest wait for a quiet machine [20]")
    one = parser.add_argument_group("for a part of it, such as for profiling (no file is written)")
    one.add_argument("--json", action="store_true", help="print the raw data of such a part")
    one.add_argument("--only", metavar="TARGET,...", help="floor, hookgate, fastify, express")
    one.add_argument("--figure", metavar="FIGURE,...", help="floor, closed, open, one, many, large")
    one.add_argument("--connections", type=int, metavar="N", help="one run a target, with N connections")
    one.add_argument("--rate", type=float, metavar="R", help="open loop at R/s instead of closed loop")
    one.add_argument("--program", metavar="FILE", help="a hookgate to measure instead of building it")
    one.add_argument("--set", action="append", default=[], metavar="'SECTION: KEY = VALUE'",
                     help="a line more for hookgate's configuration: --set 'server: listener = \"httplib\"'")
    one.add_argument("--postgres", action="append", default=[], metavar="NAME=VALUE", help="a server setting")
    one.add_argument("--tune", action="store_true", help="only try the pool sizes of the peers")
    options = parser.parse_args()
    options.is_part = bool(options.only or options.figure or options.connections or options.rate or options.program
                           or options.set or options.postgres or options.tune)
    options.rounds = options.rounds or (1 if options.quick else 3)
    options.seconds = options.seconds or (2 if options.quick else 5)
    options.settle = (5 if options.quick else 20) if options.settle is None else options.settle
    options.warm_up = 1 if options.quick else 2
    options.program = options.program or REPOSITORY + "/build/release/hookgate"
    return options


def plan_of(options):
    """What one round measures, and whether the floor is part of it."""
    wanted = set((options.only or "floor,hookgate,fastify,express").split(","))
    if options.connections or options.rate:
        rate = options.rate or 0
        plan = [("open" if rate else "closed", target, options.connections or 64, rate)
                for target in ("hookgate", "fastify", "express")]
    else:
        plan = [line for line in PLAN if line[0] != "large" or not options.quick]
    if options.figure:
        plan = [line for line in plan if line[0] in options.figure.split(",")]
    plan = [line for line in plan if line[1] in wanted]
    is_special = options.connections or options.rate
    has_floor = "floor" in options.figure.split(",") if options.figure else not is_special
    return plan, "floor" in wanted and has_floor


def tune(kit):
    """Gives each peer the pool it is fastest with."""
    for target in kit.targets.pool_sizes:
        rates = {}
        for size in POOL_SIZES:
            kit.targets.pool_sizes[target] = size
            say(f"{target} with a pool of {size}")
            kit.measure(0, "tune", target, 64, 0)
            rates[size] = kit.runs[-1]["events_per_second"]
        kit.targets.pool_sizes[target] = max(rates, key=rates.get)


def measure_all(kit):
    plan, has_floor = plan_of(kit.options)
    if any(line[0] == "large" for line in plan):
        kit.prefill(kit.options.rows)
    for round_number in range(1, kit.options.rounds + 1):
        say(f"round {round_number} of {kit.options.rounds}")
        if has_floor:
            for clients in FLOOR_CLIENTS:
                kit.measure_floor(round_number, clients)
        # Every second round runs backwards, so that nobody always has the disk's better hour.
        for figure, target, connections, rate in plan if round_number % 2 else reversed(plan):
            kit.measure(round_number, figure, target, connections, rate)


def main():
    options = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with Postgres(options.postgres) as postgres:
        kit = Kit(options, postgres)
        kit.settle()
        environment = kit.environment()
        if options.tune or not (options.pool or options.quick or options.is_part):
            tune(kit)
        if not options.tune:
            measure_all(kit)
        if not options.is_part:
            kit.settle()
            environment["fsyncs_per_second"].append(postgres.fsyncs_per_second())
    results = {"environment": environment, "runs": kit.runs}
    if options.json:
        print(json.dumps(results))
    if not options.is_part:
        report.write(results, REPOSITORY + "/bench")
    return 1 if any(run["faults"] for run in kit.runs if run["target"] == "hookgate") else 0


if __name__ == "__main__":
    sys.exit(main())
