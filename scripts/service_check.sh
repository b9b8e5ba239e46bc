#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs in a booted clean system of test_packages.sh, as the service service-check: uses the worker's service as an admin does.
#
#     service_check.sh DATABASE API
#
# The last line of the output is "all checks passed". The unit has WatchdogSec=4 and TimeoutStopSec=2 here.
set -euo pipefail
database=$1
api=$2
unit=postrider-worker

show() { systemctl show "$unit" --value --property "$1"; }
die() {
    echo "service_check: $*"
    systemctl status "$unit" --no-pager || true
    journalctl --no-pager --lines 20 --unit "$unit"
    exit 1
}
is() { [[ $(show "$1") == "$2" ]] || die "$1 is $(show "$1"), not $2"; }
submit() { worker submit - --database "$database" <<<"{\"url\": \"$api$1\"}"; }
succeeds() { worker watch "$1" --database "$database" || die "job $1 did not succeed"; }

# With Type=notify this returns when the worker has reported READY=1.
systemctl start "$unit" || die 'the service does not start'
is StatusText 'Claims jobs and makes their calls.'
first=$(show MainPID)
[[ $(stat -c %U "/proc/$first") == postrider ]] || die 'the service runs as another user'
succeeds "$(submit /)"

# The time passes in which a worker without WATCHDOG=1 would be restarted.
sleep 6
is MainPID "$first"
is NRestarts 0
echo 'the service starts, makes a call and reports its turns'

kill -STOP "$first"
for _ in {1..150}; do
    if [[ $(show NRestarts) == 1 && $(show ActiveState) == active ]]; then break; fi
    sleep 0.2
done
is NRestarts 1
is ActiveState active
echo 'a worker that hangs is restarted'

second=$(show MainPID)
dpkg --install /root/worker.deb >/dev/null || die 'the upgrade fails'
is ActiveState active
[[ $(show MainPID) != "$second" ]] || die 'the upgrade did not restart the worker'
echo 'an upgrade restarts the worker'

slow=$(submit /slow)
until worker jobs --state running --database "$database" | grep -q slow; do sleep 0.1; done
systemctl stop "$unit"
is Result success
is ExecMainStatus 0
worker show "$slow" --database "$database" | grep -q succeeded || die 'the slow call was cut off'
echo 'a stop waits for a call that takes longer than TimeoutStopSec'
echo 'all checks passed'
