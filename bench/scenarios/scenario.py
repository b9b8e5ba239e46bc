# SPDX-License-Identifier: Apache-2.0
"""The base class of the scenarios."""

import argparse
from abc import ABC, abstractmethod
from dataclasses import dataclass

from contenders import Contender
from harness.workbench import Workbench


@dataclass(frozen=True)
class Figure:
    """A line of the table: the key of a measured value, and its label."""

    key: str
    label: str
    compare: bool = True  # whether the table shows its ratio to the floor


class Scenario(ABC):
    """Measures one contender in one round; the caller alternates contenders and repeats rounds."""

    name: str
    figures: list[Figure]
    in_all = True  # whether `all` includes it
    connections = 400  # max_connections of the cluster

    def __init__(self, options: argparse.Namespace):
        self.options = options

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        """Adds the options of this scenario. All scenarios have rounds, contenders and concurrency."""

    def fits(self, contender: Contender) -> bool:
        """Whether the scenario can measure this contender."""
        return True

    @abstractmethod
    def run(self, bench: Workbench, contender: Contender) -> dict[str, object]:
        """Measures once. Returns a value for each figure's key, and further values for the raw record."""

    def publish(self, records: list[dict[str, object]], machine: str) -> None:
        """Writes the records of all rounds to where the options ask for. Most scenarios only have the table."""
