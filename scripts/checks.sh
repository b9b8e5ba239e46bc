# SPDX-License-Identifier: Apache-2.0
# The form of scripts that check many rules. Source it, and end with "exit $failed".

failed=0

# check NAME COMMAND…: the rule holds if the command succeeds. Otherwise the command's output is shown.
check() {
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then
        echo "ok    $name"
    else
        echo "FAIL  $name"
        sed 's/^/      /' <<<"$output"
        failed=1
    fi
}
