"""A process that runs one portion of tests after another for `suite.py`, so that dpnp is imported, and its kernels are built, once a
process and not once a portion.

A line of standard input is a run, as JSON: pytest's `words`, the `environment` of this run, and the `log` for all that it prints. The
answer is a line with pytest's status. A test that ends the process ends the answers.
"""

import json
import os
import sys

import pytest


def main():
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    for line in sys.stdin:
        run = json.loads(line)
        os.environ.update(run["environment"])
        log = os.open(run["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        for printed in (1, 2):
            os.dup2(log, printed)
        os.close(log)
        status = pytest.main(run["words"])
        sys.stdout.flush()
        sys.stderr.flush()
        print(int(status), file=answers, flush=True)


if __name__ == "__main__":
    main()
