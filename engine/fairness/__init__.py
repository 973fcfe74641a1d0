"""Fair deals: what is committed to before a deal, how nonces shuffle it, and what opens which commitment.

The protocol, its bytes and its limits are in `engine/FAIRNESS.md`; here are only its functions, over bytes.
"""
