#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The health check of the container: whether /healthz of the worker answers 200. The image has no program for HTTP.
port=${POSTRIDER_HTTP##*:}
exec 3<>"/dev/tcp/127.0.0.1/$port" || exit 1
printf 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n\r\n' "$port" >&3
read -r -t 3 _ status _ <&3
[[ $status == 200 ]]
