-- SPDX-License-Identifier: Apache-2.0
-- Hosts unlike the others.  `differs` is the part of a host's value that other functions take than
-- in the sum of all hosts, from 0 to 1; `by_chance` is what the number of its samples alone would
-- make of it.  `function` is what takes more there than everywhere, and `share` is its part of the
-- host's value.  Each SELECT reads what the next one makes.
SELECT replaceRegexpAll(replaceAll(host, ';', ':'), '[[:cntrl:]]', ' ') AS name,
	host_samples AS samples, round(greatest(other, 0), 4) AS differs, round(chance, 4) AS by_chance,
	replaceRegexpAll(replaceAll(functions[most], ';', ':'), '[[:cntrl:]]', ' ') AS function,
	round(values[most] / of_host, 4) AS share, round(parts[most], 4) AS everywhere
FROM (
-- hosts, compared; a function that a host does not have differs by all of its part
SELECT host, of_host, host_samples, functions, values, parts,
	(arraySum(arrayMap((v, p) -> abs(v / of_host - p), values, parts)) + 1 - arraySum(parts))
		/ 2 AS other,
	spread / sqrt(2 * pi() * host_samples) AS chance,
	arrayMap((v, p) -> v / of_host - p, values, parts) AS more,
	indexOf(more, arrayReduce('max', more)) AS most
FROM (
-- hosts, with arrays over their functions
SELECT host, spread, sum(value) AS of_host, sum(sampled) AS host_samples,
	groupArray(function) AS functions, groupArray(value) AS values, groupArray(part) AS parts
FROM (
SELECT host, value, sampled, function, of_function / of_all AS part, spread
FROM (
SELECT function, of_function, of_all, hosts, values, counts, spread
FROM (
-- one line: arrays over functions, of which each has arrays over its hosts
SELECT sum(part_value) AS of_all, groupArray(name) AS names,
	groupArray(part_value) AS part_values, groupArray(hosts) AS all_hosts,
	groupArray(values) AS all_values, groupArray(counts) AS all_counts,
	arraySum(arrayMap(v -> sqrt(v / of_all * (1 - v / of_all)), part_values)) AS spread
FROM (
-- functions, with arrays over their hosts
SELECT function AS name, sum(value) AS part_value, groupArray(host) AS hosts,
	groupArray(value) AS values, groupArray(ifNull(sampled, 0)) AS counts
FROM (
SELECT host, function, sum(v) AS value, sum(n) AS sampled
FROM (
	SELECT host, hash, sum(value) AS v, sum(samples) AS n
	FROM rows_once
	WHERE type = {type:String}
		AND service = {service:String}
		AND host = {host:String}
		AND time >= {from:DateTime}
		AND time < {to:DateTime}
	GROUP BY host, hash
)
ANY LEFT JOIN (
	SELECT hash, stack[-1] AS function FROM stacks
	WHERE 1
		AND service = {service:String}
		AND month >= toStartOfMonth({from:DateTime})
		AND month <= toStartOfMonth({to:DateTime})
) USING hash
GROUP BY host, function
)
GROUP BY function
)
)
ARRAY JOIN names AS function, part_values AS of_function, all_hosts AS hosts,
	all_values AS values, all_counts AS counts
)
ARRAY JOIN hosts AS host, values AS value, counts AS sampled
)
GROUP BY host, spread
HAVING sum(value) > 0
)
)
ORDER BY other - chance DESC, host
LIMIT {limit:UInt32}
FORMAT TSVWithNames
