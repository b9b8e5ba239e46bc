# SPDX-License-Identifier: Apache-2.0
"""The contenders: Postrider, the floor and the peers."""

from contenders.contender import Contender
from contenders.floor import Floor
from contenders.pgqueuer import PgQueuer
from contenders.postrider import Postrider
from contenders.procrastinate import Procrastinate

CONTENDERS: dict[str, type[Contender]] = {kind.name: kind for kind in (Floor, Postrider, PgQueuer, Procrastinate)}
