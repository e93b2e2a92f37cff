"""A server for tests that speaks a little of the OpenAI interface: `server.py PORT LOG [STATUS [BODIES]]`. What
it is asked is written to the file LOG, the bodies of the requests as they came to the file BODIES."""

import http.server
import json
import sys

port, log, status = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 200
bodies = sys.argv[4] if len(sys.argv) > 4 else None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(200, {"data": [{"id": "m"}]})

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        if bodies:
            with open(bodies, "ab") as file:
                file.write(raw + b"\n")
        body = json.loads(raw)
        text = body["messages"][-1]["content"]
        with open(log, "a") as file:
            file.write(json.dumps(text) + "\n")
        if status != 200:
            return self.reply(status, {"error": {"message": "no key"}})
        finish = "length" if "long" in text else "stop"
        choice = {"index": 0, "message": {"content": text.upper()}, "finish_reason": finish}
        self.reply(200, {"model": "m", "choices": [choice]})


http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
