"""Engines of rows that stay in a database, asked as an owner asks them (src/parley/data/sql/engine.h)."""

import json
import subprocess


class Engine:
    """A child process; `command` runs statements of `dialect`."""

    def __init__(self, command, dialect, query, **where):
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.dialect = dialect
        self.columns = self.say({"parley_engine": 1, "dialect": dialect, "query": query,
                                 "path": "", "dsn": "", **where})["columns"]

    def say(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline())
        if "error" in reply:
            raise AssertionError(f"{self.dialect}: {reply['error']}")
        return reply

    def ask(self, statement, theta):
        """The integers of a statement as `parley --json data sql` prints it."""
        parameters = [{"real": float(theta[p["theta"]]).hex()} if "theta" in p else
                      {key: str(value) for key, value in p.items()} for p in statement["parameters"]]
        reply = self.say({"text": statement["text"], "parameters": parameters})
        return [int(number) for number in reply["numbers"]]

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
