"""Deals and positions that other people published, with what they say comes of it (§7, §8 and all the others)."""

import json
from pathlib import Path

import pytest

from engine.cards import cards_of, mask_of
from engine.notation import codes, parse
from engine.tricks import NO_TRUMP, playable, trick_of
from schemas.records import run_record

CASES = [json.loads(line) for line in (Path(__file__).parent / "cases.jsonl").read_text(encoding="utf-8").splitlines()]


def of_kind(kind):
    return [pytest.param(case, id=case["id"]) for case in CASES if case["kind"] == kind]


def kept(expected, answer):
    """What the answer says where something is expected of it: rows by part, lists that are sets as sets."""
    if isinstance(expected, dict):
        return {name: kept(value, answer.get(name)) for name, value in expected.items()}
    return answer


@pytest.mark.parametrize("case", of_kind("record"))
def test_records(case):
    expected, answer = case["expect"], run_record(case["record"])
    assert _comparable(expected) == kept(_comparable(expected), _comparable(answer))


@pytest.mark.parametrize("case", of_kind("legal"))
def test_legal_cards(case):
    """§7.1 to §7.6."""
    trump = NO_TRUMP if case["trump"] is None else "hdcs".index(case["trump"])
    locked = mask_of(parse(case["locked"])) if case["locked"] else 0
    trick = trick_of(trump, parse(" ".join(case["trick"])))
    cards = playable(mask_of(parse(" ".join(case["hand"]))), trick, locked)
    assert set(codes(cards_of(cards))) == set(case["expect"])


@pytest.mark.parametrize("case", of_kind("refuse"))
def test_refusals(case):
    answer = run_record(case["record"])
    assert answer["ok"] is False
    assert case["expect"] == kept(case["expect"], answer)


def test_no_case_is_left_out():
    assert {case["kind"] for case in CASES} == {"record", "legal", "refuse"}
    assert len({case["id"] for case in CASES}) == len(CASES) == 54


def _comparable(answer):
    """The answer with its sets as sets: legal moves, their types, parts of the result."""
    said = dict(answer)
    if "legal" in said:
        said["legal"] = {json.dumps(move, sort_keys=True) for move in answer["legal"]}
        said["legal_types"] = {move["type"] for move in answer["legal"]}
    if "legal_types" in answer:
        said["legal_types"] = set(answer["legal_types"])
    if said.get("result") and "parts" in said["result"]:
        said["result"] = {**said["result"], "parts": {row["part"]: row for row in said["result"]["parts"]}}
    return said
