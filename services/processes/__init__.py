"""Whatever reacts to what happened: settling chips, asking for the moves of bots. It sends commands or jobs."""
