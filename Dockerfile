# SPDX-License-Identifier: Apache-2.0
FROM swift:6.3-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends libpq-dev libcurl4-openssl-dev libxml2-dev libyaml-dev libssl-dev libsodium-dev libmicrohttpd-dev zlib1g-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN swift build -c release --static-swift-stdlib --product worker \
    && cp "$(swift build -c release --static-swift-stdlib --show-bin-path)/worker" /worker

# httpbin, an API for trying jobs out. docker-compose.yml starts it. The tests use the same versions.
FROM python:3.11-slim-bookworm AS httpbin
COPY scripts/requirements.txt /requirements.txt
RUN pip install --no-cache-dir -r /requirements.txt
USER nobody
EXPOSE 8080
CMD ["python", "-m", "gunicorn", "--bind", "0.0.0.0:8080", "--worker-class", "gevent", "httpbin:app"]

# The worker without Swift and compilers. Each library is the runtime part of a -dev package above.
FROM debian:bookworm-slim AS worker
RUN apt-get update \
    && apt-get install -y --no-install-recommends libpq5 libcurl4 libxml2 libyaml-0-2 libssl3 libsodium23 libmicrohttpd12 zlib1g ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --no-create-home postrider
COPY --from=build /worker /usr/local/bin/worker
USER postrider
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/worker"]
CMD ["run"]
