# SPDX-License-Identifier: Apache-2.0
"""A collector of traces for tests: OTLP over HTTP, read with the official definitions.

    collector.py PORT

    POST /v1/traces      takes spans in JSON or in protobuf
    GET /spans           the spans as a JSON array
    GET /tree/TRACE      the spans of a trace, each indented below its parent
    POST /answer/STATUS  from now on requests get this status; the spans of other statuses than 200 are not kept
"""

import base64
import http.server
import json
import sys
import threading

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

spans, requests, lock = [], [], threading.Lock()
status = 200


def with_bytes(part):
    """The JSON form of OTLP has ids in hex; the JSON form of protobuf has bytes in Base64."""
    if isinstance(part, list):
        return [with_bytes(entry) for entry in part]
    if isinstance(part, dict):
        return {
            key: base64.b64encode(bytes.fromhex(value)).decode() if key in ("traceId", "spanId", "parentSpanId") else with_bytes(value)
            for key, value in part.items()}
    return part


def attributes(pairs):
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


def read(body, content_type):
    """The spans of a request. Raises an error for an unknown field or a wrong type."""
    if content_type == "application/json":
        message = json_format.ParseDict(with_bytes(json.loads(body)), trace_service_pb2.ExportTraceServiceRequest())
    else:
        message = trace_service_pb2.ExportTraceServiceRequest.FromString(body)
    for resource in message.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                assert len(span.trace_id) == 16 and len(span.span_id) == 8 and len(span.parent_span_id) in (0, 8), span
                assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano and span.name, span
                yield {
                    "trace": span.trace_id.hex(), "span": span.span_id.hex(), "parent": span.parent_span_id.hex(),
                    "state": span.trace_state, "flags": span.flags, "name": span.name,
                    "kind": trace_pb2.Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_"),
                    "start": span.start_time_unix_nano, "end": span.end_time_unix_nano,
                    "failed": span.status.code == trace_pb2.Status.STATUS_CODE_ERROR,
                    "attributes": attributes(span.attributes), "resource": attributes(resource.resource.attributes),
                    "scope": scope.scope.name}


def tree(trace):
    """The spans of a trace with their services, by their start."""
    mine = sorted((span for span in spans if span["trace"] == trace), key=lambda span: span["start"])
    known = {span["span"] for span in mine}

    def lines(parent, depth):
        for span in mine:
            if span["parent"] == parent or depth == 0 and span["parent"] not in known:
                yield f"{'  ' * depth}{span['name']} ({span['resource'].get('service.name')})"
                yield from lines(span["span"], depth + 1)

    return "".join(f"{line}\n" for line in lines("", 0))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        global status
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.startswith("/answer/"):
            status = int(self.path.split("/")[2])
            return self.answer(200, "ok\n")
        if self.headers.get("Content-Encoding") == "gzip":
            import gzip
            body = gzip.decompress(body)
        try:
            assert self.path == "/v1/traces", self.path
            found = list(read(body, self.headers["Content-Type"]))
        except Exception as error:
            print(f"collector: {error!r}", file=sys.stderr, flush=True)
            return self.answer(400, f"{error!r}\n")
        with lock:
            requests.append(dict(self.headers))
            if status == 200:
                spans.extend(found)
        self.answer(status, "{}", "application/json")

    def do_GET(self):
        with lock:
            if self.path == "/spans":
                self.answer(200, json.dumps(spans), "application/json")
            elif self.path == "/requests":
                self.answer(200, json.dumps(requests), "application/json")
            elif self.path.startswith("/tree/"):
                self.answer(200, tree(self.path.split("/")[2]))
            else:
                self.answer(404, "no such page\n")

    def answer(self, code, text, content_type="text/plain"):
        data = text.encode()
        self.send_response(code)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
