-- SPDX-License-Identifier: Apache-2.0
-- The stacks of what is selected, as rows: for pmu-flame(1) and all others that open profiles.
SELECT type, unit, sum(v) AS value, sum(n) AS samples, stack
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
	SELECT hash, stack FROM stacks
	WHERE 1
		AND service = {service:String}
		AND month >= toStartOfMonth({from:DateTime})
		AND month <= toStartOfMonth({to:DateTime})
) USING hash
GROUP BY type, unit, stack
ORDER BY value DESC, stack
FORMAT JSONEachRow
