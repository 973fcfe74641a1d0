"""Rows 1 to 3, 8 and 24: processes that are killed or paused at any moment."""

import signal

from redis import Redis

from services.store.leases import LEASE_MS
from tests.faults.registry import Scene, fault


@fault("1", weight=4)
def kill_worker(scene: Scene) -> None:
    """kill -9 of one of the workers."""
    _kill(scene, "worker")


@fault("1")
def kill_both_workers(scene: Scene) -> None:
    """kill -9 of all workers at once."""
    for each in scene.system.of("worker"):
        each.signal(signal.SIGKILL)


@fault("2", weight=2)
def kill_front(scene: Scene) -> None:
    """kill -9 of the node that serves HTTP and sockets together."""
    _kill(scene, "front")


@fault("2", weight=2)
def kill_api(scene: Scene) -> None:
    """kill -9 of the API process of the other node."""
    _kill(scene, "api")


@fault("2", weight=2)
def kill_push(scene: Scene) -> None:
    """kill -9 of the push process of the other node."""
    _kill(scene, "push")


@fault("26")
def kill_projector(scene: Scene) -> None:
    """kill -9 of the projector, which also settles chips."""
    _kill(scene, "projector")


@fault("24")
def kill_jobs(scene: Scene) -> None:
    """kill -9 of the worker of the job queue."""
    _kill(scene, "jobs")


@fault("3", weight=2, stores=("embedded",))
def kill_store(scene: Scene) -> None:
    """kill -9 of the store; it is started again at once."""
    for each in scene.system.store.programs:
        each.signal(signal.SIGKILL)
    scene.until(lambda: not scene.system.store.is_ready(), 2.0)
    if not scene.until(scene.system.store.is_ready, 120.0):
        scene.complain("the store did not come back")


@fault("8")
def pause_worker(scene: Scene) -> None:
    """SIGSTOP of a worker for longer than its lease; awake again it must not write."""
    _pause(scene, LEASE_MS / 1000 + scene.chance.uniform(2.0, 5.0))


@fault("8", night=True)
def pause_worker_long(scene: Scene) -> None:
    """SIGSTOP of a worker for 30 seconds."""
    _pause(scene, 30.0)


@fault("8")
def pause_briefly(scene: Scene) -> None:
    """SIGSTOP of any process for a second or two, shorter than a lease."""
    victim = scene.chance.choice([each for each in scene.system.programs.values() if each.lives])
    victim.signal(signal.SIGSTOP)
    scene.wait(scene.chance.uniform(0.5, 2.0))
    victim.signal(signal.SIGCONT)


@fault("24")
def flush_jobs(scene: Scene) -> None:
    """FLUSHDB of the job queue: whatever was asked of bots is forgotten."""
    with Redis.from_url(scene.system.store.jobs_url) as jobs:
        jobs.flushdb()


@fault("24")
def two_schedulers(scene: Scene) -> None:
    """A second worker of the job queue and a second projector, which do and settle the same."""
    more = [scene.system.add("jobs-9", "jobs"), scene.system.add("projector-9", "projector")]
    scene.wait(scene.chance.uniform(4.0, 6.0))
    for each in more:
        each.retired = True
        each.signal(signal.SIGKILL)


@fault("scale", night=True)
def ten_workers(scene: Scene) -> None:
    """Eight more workers, all ten started, stopped and killed at random."""
    more = []
    for number in range(3, 11):
        more.append(scene.system.add(f"worker-{number}", "worker"))
        scene.wait(1.0)  # Each takes a second of a processor to start.
    for _ in range(20):
        victim = scene.chance.choice(scene.system.of("worker"))
        victim.signal(scene.chance.choice([signal.SIGTERM, signal.SIGTERM, signal.SIGKILL]))
        scene.count("workers stopped or killed of ten")
        if scene.wait(scene.chance.uniform(0.5, 3.0)):
            break
    for each in more:
        each.retired = True
        each.signal(signal.SIGTERM)


def _kill(scene: Scene, kind: str) -> None:
    victims = [each for each in scene.system.of(kind) if each.lives]
    if victims:
        scene.chance.choice(victims).signal(signal.SIGKILL)


def _pause(scene: Scene, seconds: float) -> None:
    victims = [each for each in scene.system.of("worker") if each.lives]
    if len(victims) < 2:
        return
    victim = scene.chance.choice(victims)
    before = victim.said("was fenced")
    victim.signal(signal.SIGSTOP)
    scene.count("workers paused beyond their lease")
    over = scene.wait(seconds)
    victim.signal(signal.SIGCONT)
    if over:
        return
    scene.until(lambda: victim.said("was fenced") > before or victim.said("lost the leases") > before, 5.0)
    scene.count("late writes fenced", victim.said("was fenced") - before)
