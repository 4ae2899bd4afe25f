-- SPDX-License-Identifier: Apache-2.0
-- What `function` costs in each build of its object: rows of --rows-detail.  `own_share` is without
-- callees, and `total_share` with them.  Both are parts of the value of the recordings that have
-- this build.  Each SELECT reads what the next one makes.
SELECT replaceRegexpAll(build, '[[:cntrl:]]', ' ') AS build_id, uniqExact(host) AS hosts,
	formatDateTime(min(time), '%FT%TZ') AS first, formatDateTime(max(time), '%FT%TZ') AS last,
	sum(sampled) AS samples, round(sum(own) / sum(of_all), 6) AS own_share,
	round(sum(total) / sum(of_all), 6) AS total_share
FROM (
-- recordings and builds
SELECT build, host, service, time, time_ns, any(recorded) AS of_all, sum(v) AS total,
	sum(v * is_own) AS own, sum(n) AS sampled
FROM (
SELECT host, service, time, time_ns, recorded, hash, v, n
FROM (
-- recordings: all of their value, and what the stacks have that call the function
SELECT host, service, time, time_ns, sum(value) AS recorded,
	groupArrayIf(hash, hash GLOBAL IN (
		SELECT hash FROM stacks WHERE has(stack, {function:String}))) AS hashes,
	groupArrayIf(value, hash GLOBAL IN (
		SELECT hash FROM stacks WHERE has(stack, {function:String}))) AS values,
	groupArrayIf(ifNull(samples, 0), hash GLOBAL IN (
		SELECT hash FROM stacks WHERE has(stack, {function:String}))) AS counts
FROM rows_once
	WHERE type = {type:String}
		AND service = {service:String}
		AND host = {host:String}
		AND time >= {from:DateTime}
		AND time < {to:DateTime}
GROUP BY host, service, time, time_ns
)
ARRAY JOIN hashes AS hash, values AS v, counts AS n
)
ANY INNER JOIN (
	SELECT hash, build_id[indexOf(stack, {function:String})] AS build,
		stack[-1] = {function:String} AS is_own
	FROM stacks
	WHERE has(stack, {function:String})
		AND service = {service:String}
		AND month >= toStartOfMonth({from:DateTime})
		AND month <= toStartOfMonth({to:DateTime})
) USING hash
GROUP BY build, host, service, time, time_ns
)
GROUP BY build
ORDER BY first, build
FORMAT TSVWithNames
