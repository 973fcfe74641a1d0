"""Nobody learns a card that he may not know, on whatever way: the wire, the store, the logs."""
