# SPDX-License-Identifier: Apache-2.0
"""High availability: a cluster under Patroni, its faults under load, and the check of what was promised."""
