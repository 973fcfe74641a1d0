"""Bytes and dicts to values, and back: the wire shapes of commands, events, views and records."""
