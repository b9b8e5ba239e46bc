# SPDX-License-Identifier: Apache-2.0
"""The benchmark's command line. Use bench/run.sh, which prepares what this needs."""

import argparse
import signal
import sys
import time
from pathlib import Path

from contenders import CONTENDERS, Contender
from harness.report import Report, machine
from harness.workbench import Workbench
from scenarios import SCENARIOS, Scenario

REPOSITORY = Path(__file__).resolve().parents[1]
BUILD = REPOSITORY / ".postrider/bench"
RAW = REPOSITORY / "bench/results/raw"


def arguments() -> argparse.ArgumentParser:
    """One subcommand per scenario, and `all` (the default), which runs the scenarios with their defaults."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--rounds", type=_positive, default=3, help="repetitions; contenders alternate within each")
    common.add_argument("--concurrency", type=_positive, default=64, help="calls in flight per worker")
    common.add_argument("--contenders", type=_contenders, default=["floor", "postrider"], metavar="A,B",
                        help=f"of {','.join(CONTENDERS)}; default floor,postrider")
    parser = argparse.ArgumentParser(
        prog="bench/run.sh", description="Measures Postrider beside a floor and its peers.")
    commands = parser.add_subparsers(dest="scenario", required=True)
    others = ", ".join(sorted(name for name, kind in SCENARIOS.items() if not kind.in_all))
    commands.add_parser("all", parents=[common], help=f"every scenario except {others}, with its defaults")
    for name, kind in SCENARIOS.items():
        text = (sys.modules[kind.__module__].__doc__ or "").split(": ", 1)[-1]
        kind.add_options(commands.add_parser(name, parents=[common], help=text))
    return parser


def chosen(parser: argparse.ArgumentParser, options: argparse.Namespace) -> list[Scenario]:
    """The scenarios of a command, each with its options."""
    if options.scenario != "all":
        return [SCENARIOS[options.scenario](options)]
    scenarios = []
    for name, kind in SCENARIOS.items():
        if not kind.in_all:
            continue
        own = parser.parse_args([name])
        own.concurrency = options.concurrency
        scenarios.append(kind(own))
    return scenarios


def measure(
    bench: Workbench, scenarios: list[Scenario], contenders: list[Contender], rounds: int, report: Report
) -> None:
    """Contenders take turns (A B C, A B C, …), so that a drift of the machine affects all of them."""
    for scenario in scenarios:
        for number in range(1, rounds + 1):
            for contender in filter(scenario.fits, contenders):
                started = time.monotonic()
                report.add(scenario, contender.name, number, scenario.run(bench, contender))
                took = time.monotonic() - started
                print(f"bench: {scenario.name} {number}/{rounds} {contender.name}: {took:.0f} s", file=sys.stderr)
        scenario.publish(report.records(scenario), machine())


def main() -> None:
    """Sets up, measures and prints the table, after an interrupt with the figures so far. Leaves nothing running."""
    parser = arguments()
    options = parser.parse_args(sys.argv[1:] or ["all"])
    scenarios = chosen(parser, options)
    contenders = [CONTENDERS[name](REPOSITORY, BUILD) for name in options.contenders]
    report = Report(RAW, options.contenders)
    # SIGINT too, because a shell that starts this program in the background makes it ignore SIGINT.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    try:
        with Workbench(BUILD, max(scenario.connections for scenario in scenarios)) as bench:
            measure(bench, scenarios, contenders, options.rounds, report)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        print(f"\n{machine()}; {options.rounds} rounds, median (min–max)\n\n{report.table()}\n\nraw: {report.raw}")


def _interrupt(*_: object) -> None:
    """Ends the run. Further signals do not interrupt the cleaning up."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _contenders(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in CONTENDERS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{','.join(unknown)}: not one of {', '.join(CONTENDERS)}")
    return names


if __name__ == "__main__":
    main()
