-- SPDX-License-Identifier: Apache-2.0
-- Who calls the function that the variable `function` names: stacks from the root to its first call,
-- as rows, each with the value of the function and its callees.
SELECT row_of(type, unit, sum(value), sum(samples),
	stack[:list_position(stack, getvariable('function'))]) AS line
FROM samples WHERE list_contains(stack, getvariable('function'))
GROUP BY type, unit, stack[:list_position(stack, getvariable('function'))]
ORDER BY sum(value) DESC, line;
