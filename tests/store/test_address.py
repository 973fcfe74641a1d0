"""An address says what kind of store it leads to, or what is wrong with it."""

import pytest

from services.config import BadSetting, Config
from services.store.address import Address, BadAddress, read


@pytest.mark.parametrize(("url", "expected"), [
    ("redis://host:6379/0", Address("server")),
    ("unix:///run/s.sock?db=1", Address("server")),
    ("redis+sentinel://a:1,b/marias", Address("sentinel", (("a", 1), ("b", 26379)), service="marias")),
    ("redis+sentinel://me:p%40w@[::1]:5/m/1?sentinel_password=x",
     Address("sentinel", (("::1", 5),), "me", "p@w", "m", 1, options=(("sentinel_password", "x"),))),
    ("rediss+cluster://:pw@a,b:7", Address("cluster", (("a", 6379), ("b", 7)), None, "pw", is_encrypted=True)),
    ("redis+cluster://a:1/0", Address("cluster", (("a", 1),))),
])
def test_an_address_is_read(url: str, expected: Address) -> None:
    assert read(url) == expected


@pytest.mark.parametrize(("url", "says"), [
    ("redis+sentinel://a:1", "no service"),
    ("redis+sentinel:///marias", "no host"),
    ("redis+sentinel://me:secret@a:x/marias", "'a:x' is no host:port"),
    ("redis+sentinel://a:1/marias/one", "no number"),
    ("redis+cluster://a:99999", "no host:port"),
    ("redis+cluster://a:1/1", "database 0 only"),
])
def test_an_address_that_makes_no_sense_is_refused_without_its_password(url: str, says: str) -> None:
    with pytest.raises(BadAddress, match=says) as refused:
        read(url)
    assert "secret" not in str(refused.value)


def test_the_queue_of_jobs_is_not_put_on_a_cluster() -> None:
    with pytest.raises(BadSetting, match=r"JOBS_REDIS_URL.*cluster"):
        Config.from_environment({"JOBS_REDIS_URL": "redis+cluster://host:1"})
    assert Config.from_environment({"REDIS_URL": "redis+cluster://host:1"}).redis_url == "redis+cluster://host:1"
