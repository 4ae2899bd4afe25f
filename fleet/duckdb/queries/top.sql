-- SPDX-License-Identifier: Apache-2.0
-- The functions of what is selected, each as a row of one frame: its own value, without callees.
SELECT row_of(type, unit, sum(value), sum(samples), stack[-1:]) AS line
FROM samples GROUP BY type, unit, stack[-1:] ORDER BY sum(value) DESC, line;
