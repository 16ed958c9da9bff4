"""The official OpenAI client against a real service. Prints one line for each claim; ends with 1 where one does not hold."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import traceback

import openai
from langchain_openai import ChatOpenAI

import scripted_upstream

RULES = """# 員工工作規則

### 第 1 條（特別休假）
員工繼續工作滿一年未滿二年者，給予特別休假七日。

### 第 2 條（事假）
事假一年合計不得超過十四日，事假期間不給工資。
"""
QUESTION = "事假一年最多幾天？"

failed = []


def claim(what, check):
    try:
        check()
        print(f"yes  {what}", flush=True)
    except Exception:
        failed.append(what)
        print(f"NO   {what}\n{traceback.format_exc()}", flush=True)


def raised(kind, call):
    """The error of this kind that a call must raise."""
    try:
        call()
    except kind as error:
        assert type(error) is kind, type(error)
        return error
    raise AssertionError(f"no {kind.__name__}")


class Place:
    """A service with two keys: one that may spend, and one that has nothing to spend."""

    def __init__(self, bylaw, folder, upstream):
        self.folder = pathlib.Path(folder)
        (self.folder / "rules").mkdir()
        (self.folder / "rules/rules.md").write_text(RULES, encoding="utf-8")
        (self.folder / "bylaw.toml").write_text(
            f'[model]\nbase_url = "{upstream.base_url}"\nname = "scripted"\nretries = 0\n'
            '[prices]\n"scripted" = { input = "1", output = "4" }\n'
            '[money]\ncurrency = "USD"\nrate = "1"\n'
            '[caps]\nmax_steps = 2\nmax_wall_seconds = 3\n[log]\nlevel = "warn"\n'
        )
        environment = {name: value for name, value in os.environ.items() if not name.startswith("BYLAW_")}
        program = [bylaw, "--json", "--config", "bylaw.toml", "--data", "data"]
        self.started = dict(cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True)
        self.program = program
        self.key = self.create("spender")
        self.poor = self.create("poor", "--budget", "0.000001/once")
        self.child = subprocess.Popen([*program, "serve", "rules", "--port", "0"], stdout=subprocess.PIPE, **self.started)
        self.url = json.loads(self.child.stdout.readline())["url"]

    def create(self, *arguments):
        made = subprocess.run([*self.program, "key", "create", *arguments], stdout=subprocess.PIPE, check=True, **self.started)
        return json.loads(made.stdout)["secret"]

    def client(self, key=None):
        return openai.OpenAI(base_url=f"{self.url}/v1", api_key=key or self.key, max_retries=0, timeout=20)

    def stop(self):
        self.child.terminate()
        self.child.wait(30)


def ask(client, model="bylaw-pipeline", question=QUESTION, **more):
    return client.chat.completions.create(model=model, messages=[{"role": "user", "content": question}], **more)


def listing(place):
    names = [model.id for model in place.client().models.list()]
    assert names == ["bylaw-auto", "bylaw-extract", "bylaw-pipeline", "bylaw-agent"], names


def completion(place):
    reply = ask(place.client(), temperature=0.2, seed=7, max_tokens=3)
    choice = reply.choices[0]
    assert choice.finish_reason == "stop" and choice.message.role == "assistant", choice
    assert choice.message.content.startswith("事假一年合計不得超過十四日[1]。"), choice
    assert f"1. [第 2 條（事假）]({place.url}/ui/rules/rules.md/2)" in choice.message.content, choice
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.total_tokens) == (100, 20, 120)
    assert reply.bylaw["outcome"] == "answered" and reply.bylaw["citations"][0]["id"] == "rules.md#2", reply.bylaw
    assert reply._request_id == reply.bylaw["request_id"]


def conversation(place):
    messages = [
        {"role": "system", "content": "Answer in rhymes."},
        {"role": "user", "content": "特別休假幾天？"},
        {"role": "assistant", "content": "七日。"},
        {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
    ]
    reply = place.client().chat.completions.create(model="bylaw-extract", messages=messages)
    assert "十四日" in reply.choices[0].message.content and reply.bylaw["messages_not_used"] == 3, reply


def streaming(place):
    pieces = list(ask(place.client(), stream=True, stream_options={"include_usage": True}))
    text = "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)
    assert text == ask(place.client()).choices[0].message.content, text
    ends = [piece.choices[0].finish_reason for piece in pieces if piece.choices]
    assert ends[-1] == "stop" and set(ends[:-1]) == {None}, ends
    assert not pieces[-1].choices and pieces[-1].usage.total_tokens >= 0, pieces[-1]
    assert len({piece.id for piece in pieces}) == 1


def stopped(place, model, question, reason, sentence, key=None):
    client = place.client(key)
    whole = ask(client, model, question)
    pieces = list(ask(client, model, question, stream=True))
    streamed = "".join(piece.choices[0].delta.content or "" for piece in pieces)
    last = pieces[-1]
    for text, finish, beside in [
        (whole.choices[0].message.content, whole.choices[0].finish_reason, whole.bylaw),
        (streamed, last.choices[0].finish_reason, last.bylaw),
    ]:
        assert finish == "length" and beside["stop"]["reason"] == reason, (finish, beside["stop"])
        assert sentence in text, text


def leaving(place):
    stream = ask(place.client(), stream=True)
    next(iter(stream))
    stream.close()
    assert ask(place.client(), "bylaw-extract").choices[0].finish_reason == "stop"


def bad_key(place):
    error = raised(openai.AuthenticationError, lambda: ask(place.client("sk-nonsense")))
    assert (error.status_code, error.code, error.type) == (401, "invalid_key", "authentication_error"), error
    raised(openai.AuthenticationError, lambda: ask(place.client("sk-nonsense"), stream=True))
    raised(openai.AuthenticationError, lambda: place.client("sk-nonsense").models.list())


def bad_requests(place):
    error = raised(openai.NotFoundError, lambda: ask(place.client(), "gpt-4o"))
    assert (error.code, error.param, error.type) == ("model_not_found", "model", "invalid_request_error"), error
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    image = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}]
    client = place.client()
    for param, call in [
        ("tools", lambda: ask(client, tools=[tool])),
        ("n", lambda: ask(client, n=2)),
        ("messages[0].content[0]", lambda: client.chat.completions.create(model="bylaw-auto", messages=image)),
        ("messages[0].content", lambda: ask(client, question="長" * 501)),
    ]:
        error = raised(openai.BadRequestError, call)
        assert (error.code, error.param) == ("invalid_request", param), error
        assert error.body["request_id"] == error.request_id, error.body
    raised(openai.NotFoundError, lambda: client.embeddings.create(model="bylaw-auto", input="a"))


def langchain(place):
    model = ChatOpenAI(model="bylaw-pipeline", base_url=f"{place.url}/v1", api_key=place.key, max_retries=0)
    reply = model.invoke([("system", "Be brief."), ("human", QUESTION)])
    assert "十四日" in reply.content and reply.response_metadata["finish_reason"] == "stop", reply
    streamed = "".join(piece.content for piece in model.stream(QUESTION))
    assert streamed == reply.content, streamed


def down(client):
    raised(openai.APIConnectionError, lambda: ask(client))
    raised(openai.APIConnectionError, lambda: ask(client, stream=True))


def main():
    upstream = scripted_upstream.start()
    with tempfile.TemporaryDirectory() as folder:
        place = Place(sys.argv[1], folder, upstream)
        try:
            claim("the modes are listed as models", lambda: listing(place))
            claim("an answer, its links, its tokens and what is beside them", lambda: completion(place))
            claim("the last message of the user is the question", lambda: conversation(place))
            claim("a stream is the same answer", lambda: streaming(place))
            claim("stopped by steps", lambda: stopped(place, "bylaw-agent", QUESTION, "steps", "步驟上限到了"))
            claim("stopped by cost", lambda: stopped(
                place, "bylaw-pipeline", "特別休假期間的工資怎麼算？", "cost", "這把金鑰的預算", place.poor))
            claim("stopped by time", lambda: stopped(
                place, "bylaw-pipeline", "事假 slow 一年最多幾天？", "time", "時間上限到了"))
            claim("who leaves a stream hurts nobody", lambda: leaving(place))
            claim("a bad key", lambda: bad_key(place))
            claim("bad requests", lambda: bad_requests(place))
            claim("LangChain asks and streams", lambda: langchain(place))
            client = place.client()
        finally:
            upstream.released.set()
            place.stop()
        claim("service down", lambda: down(client))
    if failed:
        sys.exit("does not hold: " + ", ".join(failed))


main()
