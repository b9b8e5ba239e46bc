# SPDX-License-Identifier: Apache-2.0
"""The scenarios. Each measures one contender in one round."""

from scenarios.backlog import Backlog
from scenarios.drain import Drain
from scenarios.fleet import Fleet
from scenarios.insert import Insert
from scenarios.lanes import Lanes
from scenarios.latency import Latency
from scenarios.memory import Memory
from scenarios.pages import Pages
from scenarios.pinned import Pinned
from scenarios.public import Public
from scenarios.rich import Rich
from scenarios.steady import Steady
from scenarios.trees import Trees
from scenarios.watched import Watched
from scenarios.scenario import Figure, Scenario

SCENARIOS: dict[str, type[Scenario]] = {
    kind.name: kind
    for kind in (
        Drain, Latency, Pinned, Backlog, Memory, Insert, Rich, Trees, Lanes, Steady, Fleet, Watched, Public, Pages)}
