"""The app answers as its OpenAPI document says, whatever the document lets a client send, and what it does not."""

from contextlib import suppress

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance

from tests.api.conftest import begun, play_deal

EXAMPLES = 12
NOT_MEANT = [
    positive_data_acceptance,  # A body may fit its schema and mean nothing: 263.0 is an integer there, not to us.
    ignored_auth,  # It takes the token that each case carries for one that it made up.
]
PUSHED = r"/(stream|socket)$"


@pytest.fixture(scope="module")
def operations(street):
    schema = schemathesis.openapi.from_wsgi("/v1/openapi.json", street.app).exclude(path_regex=PUSHED)
    return [each.ok() for each in schema.get_all_operations()]


@pytest.fixture(scope="module", autouse=True)
def little_patience():
    """A case may ask for half a minute."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("services.api.conditions.WAIT_SECONDS_MAX", 1)
        yield


@pytest.fixture(scope="module")
def ana(street):
    return street.guest("Ana")


@pytest.fixture(scope="module")
def table(street, ana):
    """A table that has played a deal, so that there is something to ask for."""
    trio = [ana, street.guest("Bára"), street.guest("Cyril")]
    table = begun(trio)
    play_deal(trio, table)
    return table


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_the_app_keeps_to_its_document(operations, ana, table, mode, subtests):
    for operation in operations:
        known = {"headers": {"Authorization": f"Bearer {ana.token}"}}
        if "{table}" in operation.path:
            known["path_parameters"] = {"table": table}

        @given(case=operation.as_strategy(generation_mode=mode, **known))
        @settings(max_examples=EXAMPLES, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
        def check(case):
            ana.house.work()  # On a slow machine leases run out meanwhile, and then it is not ready.
            case.call_and_validate(excluded_checks=NOT_MEANT)

        with subtests.test(operation.label), suppress(Unsatisfiable):  # Nothing can be wrong where nothing is sent.
            check()
