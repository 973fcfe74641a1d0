"""The event store: streams of tables in partitions, one atomic append, and the reads built on it."""
