"""What became of dpnp's own tests (`suite.py`), from the records of the processes that ran them. OUT gets two files: `dpnp-failures.txt` has
each test that failed, ended its process or did not run, with its reason, and how often each reason came; `dpnp-suite.txt.gz` has all tests.
"""

import collections
import gzip
import os
import pathlib
import re

# What oneMKL does elsewhere and NumPy on the host does here.
HOST_FIELDS = ("fft", "linalg", "random")
# Bytes of the file of failures; a machine brings back 16 MiB in all. Of more, reasons are cut short.
ROOM = 8 << 20
SHORT = 80
# The most telling words of what a dying process prints, best first.
TELLING = ("what():", "oneMKL was called", "Timeout", "Fatal Python error", "terminate called")


def write(suite, tests, broken, seconds):
    """The sums on the screen, everything in files. Whether nothing failed that is not known."""
    results, notes = read(suite.work.glob("*.record"))
    ended = {name: result for name, result in results.items() if result[0] != "late"}
    bad = {name: result for name, result in sorted(ended.items()) if result[0] not in ("passed", "skipped")}
    missing = sorted(name for names in tests.values() for name in names if name not in ended)
    missing = {name: not_run(suite, name, results, notes) for name in missing}
    known = {name: suite.known(f"dpnp/{name}") for name in bad if suite.known(f"dpnp/{name}")}
    text = sums(ended, missing)
    text.append(f"{len(known)} of the failures are known, {len(notes['ruined'])} tests left a device that runs nothing more; {seconds:.0f} s")
    text += [f"listed, and passed: {name}" for name, (word, _) in ended.items() if word == "passed" and suite.known(f"dpnp/{name}")]
    text += [f"not collected: {file}: {line}" for file, line in sorted(broken.items())]
    rows = [(name, f"{'ruined ' * (name in notes['ruined'])}{word}", known.get(name), why) for name, (word, why) in bad.items()]
    rows += [(name, "not run", None, why) for name, why in missing.items()]
    reasons = collections.Counter(f"{word}: {f'known: {note}' if note else alike(why)}" for _, word, note, why in rows)
    last = [f"{number}\t{reason}" for reason, number in reasons.most_common()]
    slow = sorted(((float(spent), name) for name, spent in notes["slow"].items()), reverse=True)
    slow = [f"slow: {spent:.0f} s {name}" for spent, name in slow]
    portions = sorted(suite.seconds.items(), key=lambda item: -item[1])[:12]
    slow += [f"slow portion: {spent:.0f} s {portion}" for portion, spent in portions]
    for line in [*text, *(line[:200] for line in [*last[:30], *slow[:12]])]:
        print(f"suite: {line}", flush=True)
    failures = listed(rows, None)
    if sum(map(len, failures)) > ROOM:
        failures = listed(rows, SHORT)
    out = pathlib.Path(os.environ.get("OUT", suite.work.parent))
    whole = [*text, "", *failures, "", *slow, "", "how often each reason came:", *last]
    (out / "dpnp-failures.txt").write_text("\n".join(whole) + "\n", encoding="utf-8")
    passed = [f"{word}\t{name}" for name, (word, _) in sorted(ended.items()) if word in ("passed", "skipped")]
    with gzip.open(out / "dpnp-suite.txt.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join([*whole, "", *passed]) + "\n")
    return bool(ended) and len(known) == len(bad) and not missing and not broken


def read(records):
    """Each test's last word with its reason, and notes about tests by kind. A test that was postponed and ran counts as run."""
    results, notes = {}, {"ruined": {}, "slow": {}, "began": {}}
    for record in records:
        for line in record.read_text(encoding="utf-8").splitlines():
            word, _, rest = line.partition("\t")
            name, _, text = rest.partition("\t")
            if word in notes:
                notes[word][name] = text
            elif word != "late" or name not in results:
                results[name] = (word, text)
    return results, notes


def not_run(suite, name, results, notes):
    """Why it has no result."""
    if name in notes["began"]:
        return "it was running when the time was up"
    if name in results:
        return f"postponed: {results[name][1]}"
    return suite.given_up.get(name.partition("::")[0], "the time was up before its turn")


def sums(results, missing):
    text = []
    for title, chosen in (
        ("all", lambda name: True),
        ("on the GPU", lambda name: not on_host(name)),
        ("fft, linalg, random", on_host),
    ):
        counts = collections.Counter(word for name, (word, _) in results.items() if chosen(name))
        failed = counts["failed"] + counts["error"]
        ran = counts["passed"] + failed + counts["crashed"]
        text.append(
            f"{title}: {counts['passed']} passed, {counts['skipped']} skipped, {failed} failed, {counts['crashed']} crashed, "
            f"{sum(chosen(name) for name in missing)} not run; {100 * counts['passed'] / max(ran, 1):.2f} % of those that ran passed"
        )
    return text


def listed(rows, width):
    return [f"{'known ' * bool(note)}{word}\t{name}\t{f'known: {note}; ' * bool(note)}{why[:width]}" for name, word, note, why in rows]


def alike(why):
    """A reason without what differs from test to test."""
    why = re.sub(r"0x[0-9a-fA-F]+|[-+]?\d+(\.\d*)?([eE][-+]?\d+)?", "#", why)
    return re.sub(r"\[[^\[\]]*\]", "[..]", why)[:160]


def on_host(name):
    file = name.partition("::")[0]
    return any(field in file for field in HOST_FIELDS)


def tail(log):
    """The last line of what a process printed."""
    lines = [line for line in printed(log) if line.strip()]
    return lines[-1].strip()[:300] if lines else "it printed nothing"


def crash(log):
    """The most telling line of what a dying process printed."""
    lines = printed(log)
    for word in TELLING:
        for line in lines:
            # pytest's dots may stand before it.
            if word in line:
                return line[line.index(word) :].strip()[:300]
    return tail(log)


def printed(log):
    return log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
