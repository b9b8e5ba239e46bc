# SPDX-License-Identifier: Apache-2.0
"""What every scenario stands on: a private PostgreSQL, two targets, child processes, meters, the report."""
