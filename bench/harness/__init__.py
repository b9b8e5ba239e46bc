# SPDX-License-Identifier: Apache-2.0
"""The parts that all scenarios use: a private PostgreSQL, two targets, child processes, meters and the report."""
