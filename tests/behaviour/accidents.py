"""What can go wrong inside a worker of a cluster: importable there, so that it happens there."""

import os
import signal
from pathlib import Path

import psutil


def is_first(marker):
    """Whether nobody was here before, on any process of this machine."""
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def kill_the_worker(marker, part):
    """A Dask worker falls dead in the middle of its work, the first time only."""
    if is_first(marker):
        os.kill(os.getpid(), signal.SIGKILL)
    return part


def kill_the_executor(marker, batches):
    """The virtual machine of a Spark executor is killed in the middle of its work, the first time only."""
    for batch in batches:
        if is_first(marker):
            executor = next(parent for parent in psutil.Process().parents() if parent.name() == "java")
            os.kill(executor.pid, signal.SIGKILL)
        yield batch


def spoil(change, part, partition_info=None):
    """Partition number 2 is not like the others."""
    return change(part.copy()) if partition_info and partition_info["number"] == 2 else part
