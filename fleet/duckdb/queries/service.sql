-- SPDX-License-Identifier: Apache-2.0
-- The stacks of what is selected, as folded text.  `stacks` has them as rows, with numbers of samples.
SELECT array_to_string(list_transform(stack, name -> plain(name)), ';') || ' ' || sum(value) AS line
FROM samples GROUP BY stack HAVING sum(value) <> 0 ORDER BY line;
