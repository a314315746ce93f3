"""The page as tests use it: ``pdb-solver serve`` as a process, and what talks to it."""

import http.client
import json
from contextlib import contextmanager

from .processes import started

PATIENCE = 60  # seconds that an answer may take: it may have to compile kernels


class Server:
    """A page that is being served."""

    def __init__(self, process, address):
        self.process, self.address = process, address
        self.port = int(address.rstrip("/").rpartition(":")[2])

    def request(self, method, path, body=None, headers=None):
        """Status, headers and body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()

    def post(self, what, fields, **headers):
        """Status and JSON of an answer. ``fields`` may be bytes, to be sent as they are."""
        body = fields if isinstance(fields, bytes) else json.dumps(fields).encode()
        status, _, answer = self.request("POST", f"/api/{what}", body, {"Content-Type": "application/json"} | headers)
        return status, json.loads(answer)

    def ask(self, what, **fields):
        """The JSON of an answer that must come."""
        status, answer = self.post(what, fields)
        assert status == 200, answer
        return answer

    def refusal(self, what, fields):
        """The error of an answer, which must be a refusal in one line."""
        status, answer = self.post(what, fields)
        assert 400 <= status < 500 and set(answer) == {"error"} and "\n" not in answer["error"]
        return answer["error"]

    @contextmanager
    def stream(self, what, **fields):
        """The events of a task as they come, each a name and its facts. Leaving the block closes the connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("POST", f"/api/{what}", json.dumps(fields), {"Content-Type": "application/json"})
            response = connection.getresponse()
            assert response.status == 200, response.read()
            assert response.getheader("content-type").startswith("text/event-stream")
            yield _events(response)
        finally:
            connection.close()

    def events(self, what, **fields):
        """All events of a task."""
        with self.stream(what, **fields) as events:
            return list(events)

    def told(self, what, event, **fields):
        """The facts of the only event of this name that a task tells."""
        (facts,) = (facts for name, facts in self.events(what, **fields) if name == event)
        return facts


def _events(response):
    for line in response:
        if line.startswith(b"event: "):
            name = line.removeprefix(b"event: ").strip().decode()
            data = next(response)
            assert data.startswith(b"data: ")
            yield name, json.loads(data.removeprefix(b"data: "))
            if name == "end":
                return


@contextmanager
def serving(folder, *words):
    """A server of the databases in a folder, on a free port."""
    options = ("--no-browser", "--port", "0", "--folder", folder, *words)
    with started("-m", "solver", "serve", *options, deadline=600) as process:
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), process.stderr.read()
        yield Server(process, address)


def until(events, name, **facts):
    """The facts of the next event of this name, and with these facts among its own."""
    return next(found for event, found in events if event == name and facts.items() <= found.items())
