"""The chaos run: real load on real processes, seeded faults, a history of every client, and a checker at the end."""
