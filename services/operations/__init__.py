"""The operator's side: how the system fares, and what was given up. It never tells a card.

`letters` reads dead letters and `retry` ends them; `fare` gathers how everything stands, `health` judges it.
"""
