-- SPDX-License-Identifier: Apache-2.0
-- Functions whose part of the whole grows from day to day (UTC): by the slope of a line through the
-- parts of all days.  With `function`, this one.  A line is a function on a day; `share` is its own
-- part of that day's value, and `per_day` is the slope.  Of equal slopes, the largest value is first.
WITH own AS MATERIALIZED (
	SELECT time // 86400 AS day, coalesce(stack[-1], '') AS function, sum(value) AS value
	FROM samples GROUP BY ALL
), days AS (
	SELECT day, sum(value) AS of_day FROM own GROUP BY day HAVING sum(value) > 0
), names AS (
	SELECT DISTINCT function FROM own
	WHERE getvariable('function') IS NULL OR function = getvariable('function')
), shares AS (
	SELECT function, day, coalesce(value, 0) AS value, coalesce(value, 0) / of_day AS share
	FROM days CROSS JOIN names LEFT JOIN own USING (day, function)
), slopes AS (
	SELECT function, CASE WHEN count(*) > 1 THEN regr_slope(share, day) ELSE 0 END AS slope, sum(value) AS of_all
	FROM shares GROUP BY function
	ORDER BY slope DESC, of_all DESC, function
	LIMIT CAST(coalesce(getvariable('limit'), 25) AS BIGINT)
)
SELECT plain(function) AS function, utc(day * 86400)[:10] AS day, value,
	round(share, 6) AS share, round(slope, 6) + 0.0 AS per_day
FROM shares JOIN slopes USING (function) ORDER BY slope DESC, of_all DESC, function, shares.day;
