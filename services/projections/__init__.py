"""What readers ask for, folded from the events: bank, scores, records, lobby. Drop it, and it is made again."""
