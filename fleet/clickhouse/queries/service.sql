-- SPDX-License-Identifier: Apache-2.0
-- The stacks of what is selected, as folded text.  `stacks` has them as rows, with the numbers of
-- samples.
SELECT concat(arrayStringConcat(
	arrayMap(name ->
		replaceRegexpAll(replaceAll(name, ';', ':'), '[[:cntrl:]]', ' '), stack), ';'),
	' ', toString(sum(v)))
FROM (
	SELECT hash, sum(value) AS v
	FROM rows_once
	WHERE type = {type:String}
		AND service = {service:String}
		AND host = {host:String}
		AND time >= {from:DateTime}
		AND time < {to:DateTime}
	GROUP BY hash
)
ANY LEFT JOIN (
	SELECT hash, stack FROM stacks
	WHERE 1
		AND service = {service:String}
		AND month >= toStartOfMonth({from:DateTime})
		AND month <= toStartOfMonth({to:DateTime})
) USING hash
GROUP BY stack
HAVING sum(v) != 0
ORDER BY stack
FORMAT TSVRaw
