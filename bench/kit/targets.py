"""The servers that are measured: each started fresh, on a database of its own, and ended by its process id."""

import json
import os
import re
import signal
import subprocess
import time

import procfs

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STRIPE_SECRET = "whsec_invented_for_the_load_test"  # worth nothing
START_SECONDS = 30

PEER_TABLE = """
CREATE TABLE webhook_events (
  id          text        PRIMARY KEY,
  type        text        NOT NULL,
  body        bytea       NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now()
)"""

# count = 0: the figures are those of receiving; handlers would take their share of the cores later.
CONFIG = """
[server]
listen = "127.0.0.1:0"
[admin]
listen = "127.0.0.1:0"
[database]
url = "{url}"
[workers]
count = 0
[[source]]
name = "stripe"
provider = "stripe"
secrets = ["{secret}"]
"""


class Server:
    """A running server. `events`: where its accepted events are counted, as (database, table)."""

    def __init__(self, command, environment, output, events):
        self.output = output
        self.events = events
        with open(output, "wb") as file:
            # Told to stop when this program is killed, however that happens.
            command = ["setpriv", "--pdeathsig", "TERM", *command]
            self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=file,
                                            stderr=subprocess.STDOUT, start_new_session=True)
        try:
            self.address = self._wait_for_address()
        except BaseException:
            self.stop()
            raise

    def _wait_for_address(self):
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            found = re.search(r"listening on (127\.0\.0\.1:\d+)", self._text())
            if found:
                return found.group(1)
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise RuntimeError("the server did not start:\n" + self._text()[-2000:])

    def _text(self):
        with open(self.output, errors="replace") as file:
            return file.read()

    def cpu_seconds(self):
        return procfs.cpu_seconds(self.process.pid)

    def stop(self):
        for number, seconds in ((signal.SIGTERM, 15), (signal.SIGKILL, 10)):
            if self.process.poll() is not None:
                return
            self.process.send_signal(number)
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                continue


class Targets:
    def __init__(self, postgres, program, pool_sizes, config_addition=""):
        self.postgres = postgres
        self.program = program
        self.pool_sizes = pool_sizes
        self.config = postgres.folder + "/hookgate.toml"
        self.config_addition = config_addition

    def start(self, name, database=None):
        """`database`: one to use as it is; else a fresh one."""
        if name == "hookgate":
            return self._start_hookgate(database)
        return self._start_peer(name)

    def write_config(self, database):
        text = CONFIG.format(url=self.postgres.url(database), secret=STRIPE_SECRET)
        for addition in filter(None, self.config_addition.splitlines()):
            section, _, line = addition.partition(":")
            header = f"[{section.strip()}]\n"
            if header in text:
                text = text.replace(header, header + line.strip() + "\n")
            else:
                text += header + line.strip() + "\n"
        with open(self.config, "w") as file:
            file.write(text)

    def _start_hookgate(self, database):
        if database is None:
            database = "hookgate_bench"
            self.postgres.fresh_database(database)
        self.write_config(database)
        return Server([self.program, "serve", "--config", self.config], dict(os.environ),
                      self.postgres.folder + "/hookgate.log", (database, "hookgate.events"))

    def _start_peer(self, name):
        self.write_config("hookgate_bench")  # the load generator reads the secret from it
        database = "peer_bench"
        self.postgres.fresh_database(database)
        self.postgres.sql(database, PEER_TABLE)
        environment = self.postgres.environment(database)
        environment.update(STRIPE_WEBHOOK_SECRET=STRIPE_SECRET, NODE_ENV="production",
                           POOL_SIZE=str(self.pool_sizes[name]))
        return Server(["node", f"{REPOSITORY}/bench/peers/{name}/server.js"], environment,
                      f"{self.postgres.folder}/{name}.log", (database, "webhook_events"))

    def load(self, server, seconds, connections, rate=0, count=0):
        """What `hookgate bench` reports of the server."""
        command = [self.program, "bench", "--to", f"http://{server.address}", "--source", "stripe", "--config",
                   self.config, "--connections", str(connections), "--duration", f"{int(seconds * 1000)}ms",
                   "--duplicates", "5%", "--bad-signatures", "1%", "--json"]
        if rate:
            command += ["--rate", str(rate)]
        if count:
            command += ["--count", str(count)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=seconds + 60)
        if not done.stdout.startswith("{"):
            raise RuntimeError("hookgate bench: " + (done.stderr or done.stdout).strip())
        return json.loads(done.stdout)
