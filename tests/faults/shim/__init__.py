"""Faults of the machine: a disk that lies or fails, a clock that jumps, power that goes."""
