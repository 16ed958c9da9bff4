"""A model that always looks up first, if it has tools, and answers with a sentence of the rules; slowly if the question says
so. OpenAI-compatible, streaming.

    handover_model.py
"""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Model(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        words = json.dumps(request["messages"], ensure_ascii=False)
        turns = sum(message["role"] == "assistant" for message in request["messages"])
        if request.get("tools"):
            arguments = json.dumps({"query": f"健身房 {turns}"}, ensure_ascii=False)
            call = {"index": 0, "id": f"call_{turns}", "type": "function", "function": {"name": "search", "arguments": arguments}}
            deltas, reason = [{"role": "assistant", "tool_calls": [call]}], "tool_calls"
        else:
            deltas, reason = [{"role": "assistant", "content": piece} for piece in ("查到的條文", "沒有提到這件事。")], "stop"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        try:
            if "慢慢" in words:
                time.sleep(30)
            for delta in deltas:
                self.event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
            self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
            self.event({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}})
            self.wfile.write(b"data: [DONE]\n\n")
        except OSError:
            pass

    def event(self, body):
        body |= {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
        self.wfile.write(f"data: {json.dumps(body)}\n\n".encode())
        self.wfile.flush()


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
