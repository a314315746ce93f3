"""The page: the toolkit in a browser, served to this machine by ``pdb-solver serve``.

A request is a JSON object of ``fields``, and the answer another one (``answers``), or, for what takes longer, a stream
of events (``events``): a search or a comparison (``tasks``) that waits for its turn and is run by one of a few threads
(``workers``). The server remembers nothing between requests: the board is in the browser, and whoever closes the
stream has ended the search. ``gate`` stands before all this and refuses what does not come from the page itself.
``app`` says which request leads where, ``server`` listens. What the browser is given is in ``static``: plain
JavaScript, without a build step, and nothing from the network.

Starlette and uvicorn are optional dependencies, needed by ``app`` and ``server`` alone.
"""

USUAL_PORT = 8015  # if it is free, so that links to boards stay valid
