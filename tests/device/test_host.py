"""What else the machine did: /proc/stat against what this process knows of itself."""

import os
import time

import pytest

from flashsim.device.host import Load, virtual_machine

LINUX = pytest.mark.skipif(not os.path.exists("/proc/stat"), reason="no /proc/stat")


def test_shares():
    load = Load(20, 6, 1, 2) - Load(10, 3, 0, 1)
    assert load == Load(10, 3, 1, 1) and load.foreign == pytest.approx(0.2) and load.stolen == pytest.approx(0.1)
    assert Load(10, 1, 0, 2).foreign == 0 and Load(0, 0, 0, 0).foreign == 0 == Load(0, 0, 0, 0).stolen


@LINUX
def test_a_busy_process_is_not_foreign_to_itself():
    before, started = Load.now(), time.monotonic()
    while (Load.now() - before).own < 0.3:
        sum(range(10_000))
    load, seconds = Load.now() - before, time.monotonic() - started
    assert load.own >= 0.3 and load.total == pytest.approx(os.cpu_count() * seconds, rel=0.2, abs=0.1)
    assert load.busy >= 0.25 and 0 <= load.foreign <= 1 - 0.25 / load.total and 0 <= load.stolen <= 1


@LINUX
def test_a_virtual_machine_says_what_tells_it():
    with open("/proc/cpuinfo") as file:
        flagged = "hypervisor" in file.read().split()
    assert bool(virtual_machine()) == flagged
