-- SPDX-License-Identifier: Apache-2.0
-- The functions of what is selected, each as a row of one frame: its own value, without callees.
SELECT type, unit, sum(v) AS value, sum(n) AS samples, function AS stack
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
ANY LEFT JOIN (
	SELECT hash, arraySlice(stack, -1) AS function FROM stacks
	WHERE 1
		AND service = {service:String}
		AND month >= toStartOfMonth({from:DateTime})
		AND month <= toStartOfMonth({to:DateTime})
) USING hash
GROUP BY type, unit, function
ORDER BY value DESC, function
FORMAT JSONEachRow
