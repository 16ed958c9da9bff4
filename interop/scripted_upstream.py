"""An OpenAI-compatible model that plays a script, for the service under test.

What the question says decides: with `slow` in it nothing is answered; with tools it searches each time anew; else it answers
from the one article that it knows.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER = ["事假一年合計不得超過", "十四日[rules.md#2]。"]


class Model(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = json.dumps(request["messages"], ensure_ascii=False)
        if "slow" in said:
            self.server.released.wait(30)
            return
        if request.get("tools"):
            turn = len(request["messages"])
            arguments = json.dumps({"query": f"事假 {turn}"}, ensure_ascii=False)
            call = {"index": 0, "id": f"call_{turn}", "type": "function",
                    "function": {"name": "search", "arguments": arguments}}
            deltas, finish = [{"role": "assistant", "content": None, "tool_calls": [call]}], "tool_calls"
        else:
            deltas, finish = [{"content": piece} for piece in ANSWER], "stop"
        choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": finish})
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        pieces = [{"choices": [choice]} for choice in choices] + [{"choices": [], "usage": usage}]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for piece in pieces:
            whole = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "scripted", **piece}
            self.wfile.write(f"data: {json.dumps(whole)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")


def start():
    """Starts it on a free port. Returns the server, whose `base_url` is set."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.daemon_threads = True
    server.released = threading.Event()
    server.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
