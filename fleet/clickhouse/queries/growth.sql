-- SPDX-License-Identifier: Apache-2.0
-- Functions whose part of the whole grows from day to day (UTC): by the slope of a line through the
-- parts of all days.  With `function`, this one.  A line is a function on a day; `share` is its own
-- part of that day's value, and `per_day` is the slope.  Of equal slopes, the largest value is
-- first.  Each SELECT reads what the next one makes.
SELECT replaceRegexpAll(replaceAll(name, ';', ':'), '[[:cntrl:]]', ' ') AS function,
	toDate(number) AS day, day_value AS value, round(day_value / of_day, 6) AS share,
	round(slope, 6) + 0 AS per_day
FROM (
-- functions, with arrays over all days
SELECT name, days, totals, day_values, arraySum(day_values) AS of_all,
	arrayMap(d -> d - arraySum(days) / length(days), days) AS around,
	if(length(days) < 2, 0,
		arraySum(arrayMap((a, v, t) -> a * v / t, around, day_values, totals))
		/ arraySum(arrayMap(a -> a * a, around))) AS slope
FROM (
SELECT name, days, totals, arrayMap(d -> values[indexOf(own_days, d)], days) AS day_values
FROM (
-- one line: all days and their values; arrays over functions, of which each has its own days
SELECT sumMap(of_days, of_values) AS whole, whole.1 AS days, whole.2 AS totals,
	groupArray(function) AS names, groupArray(of_days) AS all_days,
	groupArray(of_values) AS all_values
FROM (
SELECT function, groupArray(day) AS of_days, groupArray(value) AS of_values
FROM (
SELECT day, function, sum(v) AS value, sum(n) AS sampled
FROM (
	SELECT toUInt32(toDate(time)) AS day, hash, sum(value) AS v, sum(samples) AS n
	FROM rows_once
	WHERE type = {type:String}
		AND service = {service:String}
		AND host = {host:String}
		AND time >= {from:DateTime}
		AND time < {to:DateTime}
	GROUP BY day, hash
)
ANY LEFT JOIN (
	SELECT hash, stack[-1] AS function FROM stacks
	WHERE 1
		AND service = {service:String}
		AND month >= toStartOfMonth({from:DateTime})
		AND month <= toStartOfMonth({to:DateTime})
) USING hash
GROUP BY day, function
)
GROUP BY function
)
)
ARRAY JOIN names AS name, all_days AS own_days, all_values AS values
)
WHERE 1
	AND name = {function:String}
ORDER BY slope DESC, of_all DESC, name
LIMIT {limit:UInt32}
)
ARRAY JOIN days AS number, totals AS of_day, day_values AS day_value
ORDER BY slope DESC, of_all DESC, name, day
FORMAT TSVWithNames
