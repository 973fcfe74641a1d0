"""Everything in one process tree: the embedded store and one supervised child for each role.

`supervise` starts and restarts the children, `embedded` knows how the store is started, `own` checks a store
that the user brings, `folder` guards the data folder, `role` is what each child runs.
"""
