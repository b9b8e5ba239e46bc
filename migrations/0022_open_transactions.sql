-- SPDX-License-Identifier: Apache-2.0
-- What: tend_credentials gets another signature.
-- Why:  a worker makes several refreshes at once, and leaves those to others whose secrets it cannot open.
-- Cost: nothing.

drop function if exists postrider.tend_credentials(int, boolean);
