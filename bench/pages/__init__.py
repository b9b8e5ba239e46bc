# SPDX-License-Identifier: Apache-2.0
"""A database as it is after weeks of use, and the addresses of the dashboard that the scenario `pages` measures."""
