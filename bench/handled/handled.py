"""Measures how fast stored events are handled, hookgate beside two job queues. Called by bench/handled/run."""

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kit"))
import procfs
from postgres import Postgres
from targets import REPOSITORY, STRIPE_SECRET, Server

EFFECTS = "CREATE TABLE effects (id text PRIMARY KEY, runs integer NOT NULL, at timestamptz)"
CONFIG = """
[server]
listen = "127.0.0.1:0"
[admin]
listen = "127.0.0.1:0"
[database]
url = "{url}"
[workers]
count = {workers}
[[source]]
name = "stripe"
provider = "stripe"
secrets = ["{secret}"]
handlers = ["effect"]
[[handler]]
name = "effect"
kind = "sql"
params = {{ id = "@event_id" }}
statement = "{statement}"
"""
UPSERT = ("INSERT INTO effects (id, runs) VALUES (:id, 1) "
          "ON CONFLICT (id) DO UPDATE SET runs = effects.runs + 1")
UPSERT_WITH_TIME = ("INSERT INTO effects (id, runs, at) VALUES (:id, 1, clock_timestamp()) "
                    "ON CONFLICT (id) DO UPDATE SET runs = effects.runs + 1")
DATABASE = "handled_bench"
DRAIN_SECONDS_MAX = 300
PENDING = "SELECT count(*) FROM hookgate.events WHERE status = 'pending'"


class Bench:
    def __init__(self, postgres, program, workers):
        self.postgres = postgres
        self.program = program
        self.workers = workers

    def fresh(self):
        self.postgres.fresh_database(DATABASE)
        self.postgres.sql(DATABASE, EFFECTS)

    def gateway(self, workers, statement=UPSERT):
        path = self.postgres.folder + "/handled.toml"
        with open(path, "w") as file:
            file.write(CONFIG.format(url=self.postgres.url(DATABASE), workers=workers, secret=STRIPE_SECRET,
                                     statement=statement))
        self.config = path
        return Server([self.program, "serve", "--config", path], dict(os.environ), self.postgres.folder + "/handled.log",
                      (DATABASE, "hookgate.events"))

    def load(self, server, *options):
        command = [self.program, "bench", "--to", f"http://{server.address}", "--source", "stripe", "--config",
                   self.config, "--json", *options]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
        if not done.stdout.startswith("{"):
            raise RuntimeError("hookgate bench: " + (done.stderr or done.stdout).strip())
        return json.loads(done.stdout)

    def check_once(self, count):
        found = self.postgres.sql(DATABASE, "SELECT count(*) || ' ' || coalesce(sum(runs), 0) FROM effects")
        if found != f"{count} {count}":
            raise RuntimeError(f"{count} effects were due, rows and runs are {found}")

    def drain_hookgate(self, events):
        """(events/s, CPU s per 10,000 of the gateway, of PostgreSQL)"""
        self.fresh()
        server = self.gateway(0)
        try:
            self.load(server, "--connections", "256", "--count", str(events), "--duration", "300s")
        finally:
            server.stop()
        count = int(self.postgres.sql(DATABASE, "CHECKPOINT", PENDING))
        server = self.gateway(self.workers)
        try:
            began = time.monotonic()
            cpu = self.postgres_cpu()
            while int(self.postgres.sql(DATABASE, PENDING)) > 0:
                if time.monotonic() - began > DRAIN_SECONDS_MAX:
                    raise RuntimeError("the backlog did not drain")
                time.sleep(0.1)
            seconds = time.monotonic() - began
            own = server.cpu_seconds()
            database = self.postgres_cpu() - cpu
        finally:
            server.stop()
        self.check_once(count)
        return count / seconds, own / count * 10_000, database / count * 10_000

    def postgres_cpu(self):
        return procfs.cpu_seconds(self.postgres.process.pid, with_children=True)

    def drain_peer(self, name, jobs):
        self.fresh()
        environment = {**self.postgres.environment(DATABASE), "COUNT": str(jobs), "NODE_ENV": "production"}
        done = subprocess.run(["node", "drain.js"], check=False, capture_output=True, text=True, timeout=600,
                              cwd=f"{REPOSITORY}/bench/handled/{name}", env=environment)
        lines = [line for line in done.stdout.splitlines() if line.startswith('{"count"')]
        if not lines:
            raise RuntimeError(f"{name}: " + (done.stderr or done.stdout)[-2000:])
        self.check_once(jobs)
        result = json.loads(lines[-1])
        return result["count"] / result["seconds"]

    def start_latency(self, rate, seconds):
        """From receipt to the handler's statement in ms: (p50, p99). Includes the commit of the event."""
        self.fresh()
        server = self.gateway(self.workers, UPSERT_WITH_TIME)
        try:
            self.load(server, "--connections", "8", "--rate", str(rate), "--duration", f"{seconds}s")
            while int(self.postgres.sql(DATABASE, PENDING)) > 0:
                time.sleep(0.1)
        finally:
            server.stop()
        text = self.postgres.sql(DATABASE, """
            SELECT string_agg(round(p::numeric, 2)::text, ' ')
              FROM unnest((SELECT percentile_cont(ARRAY[0.5, 0.99]) WITHIN GROUP
                                    (ORDER BY extract(epoch FROM f.at - e.received_at) * 1000)
                             FROM effects f JOIN hookgate.events e ON e.event_id = f.id)) AS p""")
        return tuple(float(figure) for figure in text.split())


def spread(values, form="{:,.0f}"):
    return f"{form.format(statistics.median(values))} ({form.format(min(values))}-{form.format(max(values))})"


def markdown(results, arguments):
    hookgate = [rate for rate, _, _ in results["hookgate"]]
    lines = ["# Handled events", "",
             f"Written by `bench/handled/run --write`, {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC. "
             f"{arguments.rounds} rounds; {os.cpu_count()} cores shared by all; medians, in brackets the lowest and the "
             "highest.", "",
             "A backlog is drained with one business upsert an event, and every effect is counted: exactly once. hookgate's "
             "upsert commits with the mark \"done\"; the queues run theirs in a transaction of its own, so that a crash "
             "between the two repeats it.", "",
             "| | events/s | CPU s per 10,000: process + PostgreSQL |", "| --- | --- | --- |",
             f"| hookgate, {arguments.workers} workers | {spread(hookgate)} | "
             f"{statistics.median(r[1] for r in results['hookgate']):.2f} + "
             f"{statistics.median(r[2] for r in results['hookgate']):.2f} |"]
    peers = [name for name in ("graphile-worker", "pg-boss") if results[name]]
    for name in peers:
        lines.append(f"| {name} | {spread(results[name])} | |")
    if peers:
        best = [max(results[name][i] for name in peers) for i in range(arguments.rounds)]
        ratios = [ours / theirs for ours, theirs in zip(hookgate, best)]
        lines += ["", f"hookgate over the better of the two: {spread(ratios, '{:.2f}')}x."]
    if results["latency"]:
        lines += ["", f"From receipt to the handler's statement at 100 events/s, the event's commit included: p50 "
                  f"{spread([p for p, _ in results['latency']], '{:.2f}')} ms, p99 "
                  f"{spread([p for _, p in results['latency']], '{:.2f}')} ms."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--events", type=int, default=60_000, help="of hookgate's backlog")
    parser.add_argument("--jobs", type=int, default=20_000, help="of a peer's")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--only", default="hookgate,graphile-worker,pg-boss,latency")
    parser.add_argument("--program", default=REPOSITORY + "/build/release/hookgate")
    parser.add_argument("--write", action="store_true", help="write bench/HANDLED.md")
    arguments = parser.parse_args()
    wanted = arguments.only.split(",")
    results = {"hookgate": [], "graphile-worker": [], "pg-boss": [], "latency": []}
    with Postgres() as postgres:
        bench = Bench(postgres, arguments.program, arguments.workers)
        for _ in range(arguments.rounds):
            for name, measure in (("hookgate", lambda: bench.drain_hookgate(arguments.events)),
                                  ("graphile-worker", lambda: bench.drain_peer("graphile-worker", arguments.jobs)),
                                  ("pg-boss", lambda: bench.drain_peer("pg-boss", arguments.jobs)),
                                  ("latency", lambda: bench.start_latency(100, 10))):
                if name in wanted:
                    results[name].append(measure())
                    print(name, results[name][-1], file=sys.stderr, flush=True)
    text = markdown(results, arguments) if results["hookgate"] else ""
    print(text, end="")
    if arguments.write:
        with open(REPOSITORY + "/bench/HANDLED.md", "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
