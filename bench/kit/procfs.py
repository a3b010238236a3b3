"""CPU times from /proc."""

import os

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def _stat(pid):
    with open(f"/proc/{pid}/stat") as file:
        # The name in parentheses may hold anything; what follows the last one is plain.
        return file.read().rpartition(")")[2].split()


def cpu_seconds(pid, with_children=False):
    """User and system time of a process; `with_children`: and of its children, alive or collected."""
    fields = _stat(pid)
    ticks = int(fields[11]) + int(fields[12])
    if with_children:
        ticks += int(fields[13]) + int(fields[14])
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                child = _stat(name)
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(child[1]) == pid:
                ticks += int(child[11]) + int(child[12]) + int(child[13]) + int(child[14])
    return ticks / TICKS_PER_SECOND


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def machine_busy_seconds():
    """CPU time that was not idle since the start, of all cores."""
    with open("/proc/stat") as file:
        user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / TICKS_PER_SECOND
