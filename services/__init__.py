"""Everything around the rules, in the order data flows: intake, store, worker, projections, API, push."""
