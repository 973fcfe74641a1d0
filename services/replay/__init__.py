"""What happened at a table, moment by moment, as one seat, a spectator or an auditor saw it then."""
