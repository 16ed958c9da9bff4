"""The leave system for a client to try: a demonstration company of its own, behind either door.

What every client must be told, whichever it is, stands here; the clients are in `sdk.py` and `sdk_1.py`.
"""

import contextlib
import json
import os
import subprocess
import tempfile

APPROVED, DRAFT = "LV-2c40d8", "LV-7f3a91"
REASON = "plans have changed"
TOOLS = [
    "search_leaves", "get_leave", "list_pending_approvals", "leave_balance", "list_leave_types",
    "create_leave", "update_leave", "update_leave_status", "cancel_approved_leave",
]
# What a person does with a question, as the protocol says it.
ANSWERS = {"accept": ("accept", {}), "decline": ("decline", None), "dismiss": ("cancel", None)}
# What cancelling is then told as, the first time and when it is called again; None is a client that cannot ask.
FIRST = {"accept": None, "decline": "declined", "dismiss": "dismissed", None: "cannot_ask"}
AGAIN = {"accept": "changed_since", "decline": "said_no", "dismiss": "dismissed", None: "cannot_ask"}
STATUS = {"accept": "cancelled", "decline": "approved", "dismiss": "approved", None: "approved"}


@contextlib.contextmanager
def opened(program, door):
    """Yields (url, key) for `http`, and (command, arguments) for `stdio`."""
    with tempfile.TemporaryDirectory() as folder:
        own = ["--data", folder, "leave"]
        if door == "stdio":
            # What it notes for whoever started it is no part of this.
            quiet = ["-c", 'exec "$0" "$@" 2>/dev/null', program]
            yield "sh", [*quiet, *own, "stdio", "--seed", "--lang", "en"]
            return
        serving = subprocess.Popen(
            [program, "--json", *own, "serve", "--seed", "--lang", "en", "--port", "0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "RUST_BACKTRACE": "1"},
        )
        try:
            announced = json.loads(serving.stdout.readline())
            yield announced["url"], announced["keys"][0]["secret"]
        finally:
            serving.terminate()
            assert serving.wait(30) == 0, "it did not stop when it was told to"


def asked_rightly(message):
    """The question names whose leave it is, which, and what is lost."""
    for fact in ("林怡君", "回鄉探親", APPROVED, "1 day", REASON, "lost"):
        assert fact in message, (fact, message)


def check(answer, told, asked):
    """What was told of each call, by the name of the call: (whether it is an error, structured, text)."""
    names, kinds, wrong, early, found, submitted, shown, first, again, after = (
        told[name] for name in
        ("tools", "types", "wrong", "early", "found", "submitted", "shown", "first", "again", "after")
    )
    assert names == TOOLS, names
    assert not kinds[0] and len(kinds[1]["types"]) >= 11, kinds
    assert wrong[0] and "Correct them" in wrong[2], wrong
    assert early[0] and early[1]["refused"] == "not_shown", early
    assert found[1]["leaves"][0]["leave_id"] == DRAFT, found
    assert not submitted[0] and submitted[1]["status"] == "submitted", submitted
    assert shown[1]["status"] == "approved", shown
    assert first[0] == (FIRST[answer] is not None) and first[1].get("refused") == FIRST[answer], (answer, first)
    assert again[0] and again[1]["refused"] == AGAIN[answer], (answer, again)
    assert after[1]["status"] == STATUS[answer], (answer, after)
    # What was declined is not asked a second time, and what is gone neither.
    assert len(asked) == {"accept": 1, "decline": 1, "dismiss": 2, None: 0}[answer], (answer, asked)


# The calls, in order: a name for each, a tool, and its arguments.
CALLS = [
    ("types", "list_leave_types", {}),
    ("wrong", "cancel_approved_leave", {"leave_id": 7}),
    ("early", "update_leave_status", {"leave_id": DRAFT, "status": "submitted"}),
    ("found", "search_leaves", {"keyword": "家庭旅遊"}),
    ("submitted", "update_leave_status", {"leave_id": DRAFT, "status": "submitted"}),
    ("shown", "get_leave", {"leave_id": APPROVED}),
    ("first", "cancel_approved_leave", {"leave_id": APPROVED, "reason": REASON}),
    ("again", "cancel_approved_leave", {"leave_id": APPROVED, "reason": REASON}),
    ("after", "get_leave", {"leave_id": APPROVED}),
]
