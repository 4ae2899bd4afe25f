-- SPDX-License-Identifier: Apache-2.0
-- What the function that the variable `function` names costs in each build of its object: rows of
-- --rows-detail.  `own_share` is without callees, and `total_share` with them.  Both are parts of the
-- value of the recordings that have this build.
WITH selected AS MATERIALIZED (FROM samples), calls AS (
	SELECT *, coalesce(build_id[list_position(stack, getvariable('function'))], '') AS build
	FROM selected WHERE list_contains(stack, getvariable('function'))
), recordings AS (
	SELECT host, service, time, time_ns, sum(value) AS of_all FROM selected GROUP BY ALL
), ran AS (
	SELECT build, host, service, time, time_ns, sum(value) AS total, sum(samples) AS samples,
		coalesce(sum(value) FILTER (stack[-1] = getvariable('function')), 0) AS own
	FROM calls GROUP BY ALL
)
SELECT plain(build) AS build_id, count(DISTINCT host) AS hosts, utc(min(time)) AS first,
	utc(max(time)) AS last, sum(samples) AS samples,
	round(sum(own) / sum(of_all), 6) AS own_share, round(sum(total) / sum(of_all), 6) AS total_share
FROM ran JOIN recordings USING (host, service, time, time_ns)
GROUP BY build ORDER BY first, build;
