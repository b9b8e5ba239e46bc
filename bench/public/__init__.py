# SPDX-License-Identifier: Apache-2.0
"""The adapter for the public comparison of job queues, and the comparison's phases without Docker."""
