-- SPDX-License-Identifier: Apache-2.0
-- One side of a deployment, as rows in which each host is a run of its own, for pmu-diff(1): the
-- side before it if `after` is 0, and the side after it if `after` is 1.  After is what started at
-- the time `at` or later; or, with `build`, the recordings that ran a build ID that begins so
-- (rows of --rows-detail).  With `runs` above 0, hosts are put together into so many runs: pmu-diff(1)
-- compares up to 1,000.
SELECT type, unit, sum(v) AS value, sum(n) AS samples, stack,
	concat('{"run":"', run, '"}') AS labels
FROM (
	SELECT type, unit, hash, sum(value) AS v, sum(samples) AS n,
		if({runs:UInt32} > 0, toString(cityHash64(host) % greatest({runs:UInt32}, 1)),
			replaceAll(replaceAll(replaceRegexpAll(host, '[[:cntrl:]]', '?'),
				'\\', '\\\\'), '"', '\\"')) AS run
	FROM rows_once
	WHERE type = {type:String}
		AND service = {service:String}
		AND host = {host:String}
		AND time >= {from:DateTime}
		AND time < {to:DateTime}
		AND (time >= {at:DateTime}) = {after:UInt8}
		-- if build
		AND ((host, service, time, time_ns) GLOBAL IN (
			SELECT host, service, time, time_ns
			FROM rows_once
			WHERE type = {type:String}
				AND service = {service:String}
				AND host = {host:String}
				AND time >= {from:DateTime}
				AND time < {to:DateTime}
				AND hash GLOBAL IN (
					SELECT hash FROM stacks WHERE arrayExists(
						id -> startsWith(lower(id), lower({build:String})), build_id)
				)
			GROUP BY host, service, time, time_ns
		)) = {after:UInt8}
		-- end
	GROUP BY type, unit, hash, run
)
ANY LEFT JOIN (
	SELECT hash, stack FROM stacks
	WHERE 1
		AND service = {service:String}
		AND month >= toStartOfMonth({from:DateTime})
		AND month <= toStartOfMonth({to:DateTime})
) USING hash
GROUP BY type, unit, run, stack
ORDER BY run, stack
FORMAT JSONEachRow
