"""Honest requests beside peers that are slow, silent or hostile, for each listener. Called by bench/hostile/run."""

import json
import os
import resource
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "kit"))

import procfs  # noqa: E402
from postgres import Postgres  # noqa: E402
from targets import REPOSITORY, Targets  # noqa: E402

IDLE, SILENT, SLOW = 2000, 200, 200
KEPT_SECONDS = 20
FLOOD_SECONDS = 10


def say(text):
    print(text, flush=True)


class Peers(threading.Thread):
    """Connections that hold on: idle after a good request, silent from the start, and slow with a head."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port = port
        self.ended = threading.Event()
        self.refused = 0
        self.slow_lasted = []
        self.silent_lasted = []
        self.sockets = []

    def connect(self):
        try:
            made = socket.create_connection(("127.0.0.1", self.port), timeout=5)
        except OSError:
            self.refused += 1
            return None
        self.sockets.append(made)
        return made

    def open_all(self):
        for _ in range(IDLE):
            made = self.connect()
            if made is None:
                continue
            try:
                made.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
                if not made.recv(4096):
                    self.refused += 1
            except OSError:
                self.refused += 1
        self.waiting = selectors.DefaultSelector()
        self.slow = []
        for number in range(SILENT + SLOW):
            made = self.connect()
            if made is None:
                continue
            made.setblocking(False)
            is_slow = number >= SILENT
            self.waiting.register(made, selectors.EVENT_READ, (time.monotonic(), is_slow))
            if is_slow:
                self.slow.append(made)

    def run(self):
        line = b"POST /webhooks/stripe HTTP/1.1\r\nHost: a\r\nX-Slow: " + b"a" * 1000
        at = 0
        while not self.ended.is_set():
            for made in self.slow:
                try:
                    made.send(line[at:at + 1])
                except OSError:
                    pass
            at += 1
            until = time.monotonic() + 1
            while time.monotonic() < until and not self.ended.is_set():
                for key, _ in self.waiting.select(0.1):
                    began, is_slow = key.data
                    (self.slow_lasted if is_slow else self.silent_lasted).append(time.monotonic() - began)
                    self.waiting.unregister(key.fileobj)
                    if is_slow:
                        self.slow.remove(key.fileobj)

    def close(self):
        self.ended.set()
        self.join()
        for made in self.sockets:
            made.close()


def good_load(targets, server, rate, seconds, connections):
    command = [targets.program, "bench", "--to", f"http://{server.address}", "--source", "stripe", "--config", targets.config,
               "--connections", str(connections), "--rate", str(rate), "--duration", f"{seconds}s", "--json"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=seconds + 60)
    if not done.stdout.startswith("{"):
        return {"note": (done.stderr or done.stdout).strip()[:120]}
    result = json.loads(done.stdout)
    good = result["answers"]["accepted"] + result["answers"]["duplicate"] if "answers" in result else \
        result["accepted"] + result["duplicate"]
    asked = rate * seconds
    latency = result.get("latency_ms", result)
    return {"succeeded": f"{100 * good / max(asked, 1):.2f} %", "p99_ms": latency.get("p99", latency.get("p99_ms")),
            "max_ms": latency.get("max", latency.get("max_ms"))}


def held_connections(targets, listener):
    server = targets.start("hookgate")
    pid = server.process.pid
    try:
        good_load(targets, server, 100, 2, 16)
        before = procfs.resident_bytes(pid)
        peers = Peers(int(server.address.rsplit(":", 1)[1]))
        peers.open_all()
        peers.start()
        result = good_load(targets, server, 200, KEPT_SECONDS, 16)
        result["memory_growth_mib"] = round((procfs.resident_bytes(pid) - before) / 2**20, 1)
        peers.close()
        for name, lasted in (("slow", peers.slow_lasted), ("silent", peers.silent_lasted)):
            result[f"{name}_closed"] = len(lasted)
            result[f"{name}_lasted_s"] = round(max(lasted), 1) if lasted else None
        result["refused"] = peers.refused
    finally:
        server.stop()
    say(f"| {listener} | {IDLE} idle, {SILENT} silent, {SLOW} slow; 200/s good | {json.dumps(result)} |")


def flood(targets, program, listener, kind, rate):
    server = targets.start("hookgate")
    pid = server.process.pid
    port = server.address.rsplit(":", 1)[1]
    try:
        good_load(targets, server, 100, 2, 16)
        log_before = os.path.getsize(server.output)
        memory = procfs.resident_bytes(pid)
        cpu = server.cpu_seconds()
        flooding = subprocess.Popen([program, port, "/webhooks/stripe", kind, str(rate), str(FLOOD_SECONDS + 2), "64"],
                                    stdout=subprocess.PIPE, text=True)
        time.sleep(1)
        result = good_load(targets, server, 50, FLOOD_SECONDS, 16)
        answers = json.loads(flooding.communicate(timeout=60)[0])
        result["flood"] = answers
        result["cpu_us_per_bad_request"] = round(1e6 * (server.cpu_seconds() - cpu) / max(answers["begun"], 1))
        result["memory_growth_mib"] = round((procfs.resident_bytes(pid) - memory) / 2**20, 1)
        with open(server.output, "rb") as log:
            log.seek(log_before)
            result["log_lines"] = log.read().count(b"\n")
    finally:
        server.stop()
    say(f"| {listener} | {kind} at {rate}/s beside 50/s good | {json.dumps(result)} |")


def main():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 20_000), hard))
    listeners = sys.argv[1:] or ["reactor", "httplib"]
    program = os.path.join(tempfile.mkdtemp(prefix="hookgate-flood."), "flood")
    subprocess.run(["g++", "-std=c++20", "-O2", os.path.join(HERE, "flood.cpp"), "-o", program], check=True)
    say("| listener | peers | what the good requests saw |\n| --- | --- | --- |")
    with Postgres() as postgres:
        for listener in listeners:
            gateway = os.environ.get("HOOKGATE_PROGRAM", REPOSITORY + "/build/release/hookgate")
            targets = Targets(postgres, gateway, {}, f'server: listener = "{listener}"')
            held_connections(targets, listener)
            for kind in ("unsigned", "malformed", "stale", "forged"):
                flood(targets, program, listener, kind, 20_000)


if __name__ == "__main__":
    main()
