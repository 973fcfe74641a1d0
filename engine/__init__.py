"""The rules of the games: plain functions over frozen values; imports nothing but itself."""
