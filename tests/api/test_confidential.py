"""Questions to the Clerk: of one caller only some at a time, so that all others are still served."""

from contextlib import ExitStack

import pytest

from services.api import confidential
from services.api.edge import REQUESTS_MAX
from services.api.problems import Problem
from services.store.connect import connect


def test_one_caller_has_so_many_questions_on_their_way_and_no_more():
    with ExitStack() as turns:
        for _ in range(confidential.AT_ONCE_MAX):
            turns.enter_context(confidential.turn("ana"))
        with pytest.raises(Problem) as refused, confidential.turn("ana"):
            pass
        assert refused.value.document["code"] == "rate_limited"
        with confidential.turn("bára"):
            pass
    with confidential.turn("ana"):
        pass
    assert not confidential._asking, "nobody is remembered who asks nothing"


def test_a_question_that_fails_is_over():
    for _ in range(confidential.AT_ONCE_MAX + 1):
        with pytest.raises(ZeroDivisionError), confidential.turn("ana"):
            raise ZeroDivisionError


@pytest.mark.parametrize("url", ["redis://h/0", "unix:///tmp/no.sock?db=0", "redis+sentinel://h:26379/marias"])
def test_connections_do_not_run_out_before_requests_are_refused(url):
    assert connect(url).connection_pool.max_connections > 2 * REQUESTS_MAX
