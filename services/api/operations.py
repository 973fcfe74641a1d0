"""For operators: is the service alive, is it ready, and how do its partitions fare. Never a card."""

from typing import Any

import msgspec
from flask import Response, request
from flask_smorest import Blueprint
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from schemas.operations import DeadLettersAnswer, LiveAnswer, OperationsAnswer, ReadyAnswer
from services.api import describe
from services.api.auth import operator
from services.api.backend import backend
from services.api.body import no_query
from services.api.commands import JSON
from services.api.confidential import asked
from services.api.problems import Problem
from services.operations.fare import document
from services.operations.health import troubles, warnings
from services.store import keys
from services.store.topology import replicas_of
from services.store.wire import ask_all

blueprint = Blueprint("operations", __name__, description="Health and operations.")


@blueprint.get("/v1/health/live")
@blueprint.doc(security=[], responses=describe.answers({200: LiveAnswer}, is_open=True))
def get_live() -> Response:
    """Does this process answer? It says nothing about the store, so that a slow store restarts nobody."""
    return Response(b'{"status":"live"}', content_type=JSON)


@blueprint.get("/v1/health/ready")
@blueprint.doc(security=[], responses=describe.answers({200: ReadyAnswer}, is_open=True))
def get_ready() -> Response:
    """Can commands be taken in and decided: the store answers and every partition has a living owner."""
    partitions = _partitions()
    replies = ask_all(backend().redis, [("EXISTS", keys.lease(each)) for each in partitions])
    orphans = [each for each, owned in zip(partitions, replies, strict=True) if not owned]
    if orphans:
        raise Problem("unavailable", f"No worker owns {len(orphans)} of {len(partitions)} partitions.")
    return _json({"status": "ready", "partitions": len(partitions)})


@blueprint.get("/metrics")
@blueprint.doc(security=[], responses={200: {
    "description": "Prometheus' text format.", "content": {"text/plain": {"schema": {"type": "string"}}},
}})
def get_metrics() -> Response:
    """What this process has counted, what all workers have, and how the store fares."""
    return Response(generate_latest(backend().metrics.registry), content_type=CONTENT_TYPE_LATEST)


@blueprint.get("/v1/operations")
@blueprint.doc(responses=describe.answers({200: OperationsAnswer}, "forbidden", "malformed"))
def get_operations() -> Response:
    """How everything fares: the store, the workers, and each partition. For operators and auditors; never a card."""
    operator()
    no_query(request)
    found = backend().fare()
    wrong = troubles(found, replicas_of(backend().redis))
    return _json({"healthy": not wrong, "troubles": wrong, "warnings": warnings(found), **document(found)})


@blueprint.get("/v1/operations/dead-letters")
@blueprint.doc(responses=describe.answers({200: DeadLettersAnswer}, "forbidden", "malformed"))
def get_dead_letters() -> Response:
    """The newest commands that were given up. Their bodies are not told: they may name cards."""
    operator()
    no_query(request)
    return Response(asked("dead_letters"), content_type=JSON)


def _partitions() -> list[str]:
    return keys.all_partitions(backend().config.partitions)


def _json(value: dict[str, Any]) -> Response:
    return Response(msgspec.json.encode(value), content_type=JSON)
