# SPDX-License-Identifier: Apache-2.0
"""The shape of a scenario."""

import argparse
from abc import ABC, abstractmethod
from dataclasses import dataclass

from contenders import Contender
from harness.workbench import Workbench


@dataclass(frozen=True)
class Figure:
    """A line of the table: the key of a measured value, and how to call it."""

    key: str
    label: str
    compare: bool = True  # whether its ratio to the floor means something


class Scenario(ABC):
    """Measures one contender in one round; the caller alternates contenders and repeats rounds."""

    name: str
    figures: list[Figure]

    def __init__(self, options: argparse.Namespace):
        self.options = options

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        """What can be set beside rounds, contenders and concurrency."""

    def fits(self, contender: Contender) -> bool:
        """Whether the scenario is a question to this contender."""
        return True

    @abstractmethod
    def run(self, bench: Workbench, contender: Contender) -> dict[str, object]:
        """One measurement: a value for each figure's key, and more for the raw record."""
