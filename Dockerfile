# SPDX-License-Identifier: Apache-2.0
FROM swift:6.3-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends libpq-dev libcurl4-openssl-dev libxml2-dev libyaml-dev libssl-dev libsodium-dev libmicrohttpd-dev zlib1g-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN swift build -c release --static-swift-stdlib --product worker \
    && cp "$(swift build -c release --static-swift-stdlib --show-bin-path)/worker" /worker \
    && strip --strip-debug /worker

# httpbin, an API for trying jobs out. docker-compose.yml starts it. The tests use the same versions.
FROM python:3.11-slim-bookworm AS httpbin
COPY scripts/requirements.txt /requirements.txt
RUN pip install --no-cache-dir -r /requirements.txt
USER nobody
EXPOSE 8080
CMD ["python", "-m", "gunicorn", "--bind", "0.0.0.0:8080", "--worker-class", "gevent", "httpbin:app"]

# The worker without Swift and compilers. Each library is the runtime part of a -dev package above.
# scripts/image_root.py runs these instructions in a folder; it knows those that stand here.
FROM debian:bookworm-slim AS worker
RUN apt-get update \
    && apt-get install -y --no-install-recommends libpq5 libcurl4 libxml2 libyaml-0-2 libssl3 libsodium23 libmicrohttpd12 zlib1g ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --user-group --home-dir /var/lib/postrider --create-home --shell /usr/sbin/nologin postrider
COPY --from=build /worker /usr/local/bin/worker
COPY ops/container/healthcheck.sh /usr/local/bin/healthcheck
# Kubernetes needs the number to see that it is not root.
USER 10001:10001
ENV POSTRIDER_HTTP=127.0.0.1:9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["/usr/local/bin/healthcheck"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/worker"]
CMD ["run"]
