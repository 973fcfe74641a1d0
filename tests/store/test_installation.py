"""The number of partitions is the data's: settings count only where there are none yet."""

from services.store import keys
from services.store.installation import partitions_kept, partitions_of


def test_the_partitions_are_those_of_the_data_whatever_the_settings_say(store):
    assert partitions_kept(store, 64) == keys.all_partitions(64)
    assert partitions_of(store, 128) == 128
    assert partitions_kept(store, 64) == keys.all_partitions(128)
