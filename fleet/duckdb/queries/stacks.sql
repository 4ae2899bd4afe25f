-- SPDX-License-Identifier: Apache-2.0
-- The stacks of what is selected, as rows.
SELECT row_of(type, unit, sum(value), sum(samples), stack) AS line
FROM samples GROUP BY type, unit, stack ORDER BY sum(value) DESC, line;
