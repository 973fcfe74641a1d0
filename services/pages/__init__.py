"""Pages for people: a deal seen again, and where the chips of a table came from. They are made here, served by the API.

Nothing in it reads the store or knows of HTTP: a page is text made of what its reader was allowed to know.
"""
