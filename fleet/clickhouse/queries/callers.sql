-- SPDX-License-Identifier: Apache-2.0
-- Who calls `function`: stacks from the root to its first call, as rows, each with the value of the
-- function and its callees.
SELECT type, unit, sum(v) AS value, sum(n) AS samples, callers AS stack
FROM (
	SELECT type, unit, hash, sum(value) AS v, sum(samples) AS n
	FROM rows_once
	WHERE type = {type:String}
		AND service = {service:String}
		AND host = {host:String}
		AND time >= {from:DateTime}
		AND time < {to:DateTime}
	GROUP BY type, unit, hash
)
ANY INNER JOIN (
	SELECT hash, arraySlice(stack, 1, indexOf(stack, {function:String})) AS callers FROM stacks
	WHERE has(stack, {function:String})
		AND service = {service:String}
		AND month >= toStartOfMonth({from:DateTime})
		AND month <= toStartOfMonth({to:DateTime})
) USING hash
GROUP BY type, unit, callers
ORDER BY value DESC, callers
FORMAT JSONEachRow
