"""A private PostgreSQL server for measuring: fsync on, the defaults otherwise, reached by a Unix socket only."""

import glob
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import procfs


def find_programs():
    folders = glob.glob("/usr/lib/postgresql/*/bin")
    folders = [folder for folder in folders if os.access(folder + "/postgres", os.X_OK)]
    if not folders:
        raise RuntimeError("PostgreSQL's server programs are not installed")
    return max(folders, key=lambda folder: int(re.search(r"/(\d+)/bin$", folder).group(1)))


class Postgres:
    """Use as a context manager. Run by root, the server is the account `postgres`, as it refuses to be root."""

    def __init__(self, settings=()):
        self.settings = ["max_connections=200", *settings]
        self.programs = find_programs()
        # Not /tmp, which may be memory: what is measured is a disk that syncs.
        self.folder = tempfile.mkdtemp(prefix="hookgate-bench.", dir=os.environ.get("HOOKGATE_BENCH_DIR", "/var/tmp"))
        self.process = None

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.process is not None:
            for number, seconds in ((signal.SIGINT, 30), (signal.SIGQUIT, 10), (signal.SIGKILL, 10)):
                self.process.send_signal(number)
                try:
                    self.process.wait(seconds)
                    break
                except subprocess.TimeoutExpired:
                    continue
        shutil.rmtree(self.folder, ignore_errors=True)

    def _as_server(self, *arguments):
        # The server is told to stop when this program is killed, however that happens.
        command = ["setpriv", "--pdeathsig", "INT"]
        if os.geteuid() == 0:
            command += ["--reuid=postgres", "--regid=postgres", "--init-groups"]
        return command + list(arguments)

    def _start(self):
        os.chmod(self.folder, 0o711)
        for name in ("data", "socket"):
            os.mkdir(f"{self.folder}/{name}", 0o700)
            if os.geteuid() == 0:
                shutil.chown(f"{self.folder}/{name}", "postgres", "postgres")
        self.log = open(self.folder + "/log", "ab")
        initdb = self._as_server(self.programs + "/initdb", "-D", self.folder + "/data", "-U", "postgres", "-A", "trust",
                                 "-E", "UTF8", "--locale=C.UTF-8")
        subprocess.run(initdb, check=True, cwd="/", stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        server = self._as_server(self.programs + "/postgres", "-D", self.folder + "/data", "-c", "listen_addresses=",
                                 "-c", "port=5432", "-c", f"unix_socket_directories={self.folder}/socket")
        for setting in self.settings:
            server += ["-c", setting]
        self.process = subprocess.Popen(server, cwd="/", stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        start_new_session=True)
        deadline = time.monotonic() + 60
        while subprocess.run([self.programs + "/pg_isready", "-q", *self._place()]).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("PostgreSQL did not start; its log ends with:\n" + self._end_of_log())
            time.sleep(0.05)

    def _end_of_log(self):
        with open(self.folder + "/log", errors="replace") as log:
            return "".join(log.readlines()[-10:])

    def _place(self):
        return ["-h", self.folder + "/socket", "-p", "5432", "-U", "postgres"]

    def environment(self, database):
        return {**os.environ, "PGHOST": self.folder + "/socket", "PGPORT": "5432", "PGUSER": "postgres",
                "PGDATABASE": database}

    def url(self, database):
        return f"postgresql:///{database}?host={self.folder}/socket&port=5432&user=postgres"

    def sql(self, database, *statements):
        """Runs the statements, each in a transaction of its own; the text of the last one's result."""
        command = [self.programs + "/psql", *self._place(), "-d", database, "-qAtX", "-v", "ON_ERROR_STOP=1"]
        for statement in statements:
            command += ["-c", statement]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError("psql: " + done.stderr.strip())
        return done.stdout.strip()

    def fresh_database(self, name):
        self.sql("postgres", f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", f"CREATE DATABASE {name}")

    def pgbench(self, database, script, clients, seconds, variables):
        """Transactions a second and the mean latency in ms."""
        path = self.folder + "/script.sql"
        with open(path, "w") as file:
            file.write(script)
        command = [self.programs + "/pgbench", *self._place(), "-n", "-M", "prepared", "-c", str(clients), "-j",
                   str(min(clients, 2)), "-T", str(max(1, round(seconds))), "-f", path]
        for name, value in variables.items():
            command += ["-D", f"{name}={value}"]
        done = subprocess.run(command + [database], check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError("pgbench: " + done.stderr.strip())
        rate = re.search(r"^tps = ([0-9.]+)", done.stdout, re.MULTILINE)
        latency = re.search(r"^latency average = ([0-9.]+) ms", done.stdout, re.MULTILINE)
        return float(rate.group(1)), float(latency.group(1))

    def fsyncs_per_second(self):
        """What pg_test_fsync says of one 8 kB write and fdatasync on this disk; None if it does not say."""
        file = self.folder + "/fsync-test"
        done = subprocess.run([self.programs + "/pg_test_fsync", "-s", "1", "-f", file], check=False,
                              capture_output=True, text=True)
        found = re.search(r"one 8kB write:.*?fdatasync\s+([0-9.]+) ops/sec", done.stdout, re.DOTALL)
        return float(found.group(1)) if found else None

    def cpu_seconds(self):
        """Used so far by the server and all its backends, those that have ended included."""
        return procfs.cpu_seconds(self.process.pid, with_children=True)
