-- SPDX-License-Identifier: Apache-2.0
-- What the function that the variable `function` names costs in each build of its object: rows of
-- --rows-detail.  `own` is without callees, and `total` with them.  Both are parts of the value of the
-- recordings that have this build.
WITH calls AS (
	SELECT *, coalesce(build_id[list_position(stack, getvariable('function'))], '') AS build
	FROM samples WHERE list_contains(stack, getvariable('function'))
), recordings AS (
	SELECT host, service, time, time_ns, sum(value) AS of_all FROM samples GROUP BY ALL
), ran AS (
	SELECT build, host, service, time, time_ns, sum(value) AS total, sum(samples) AS samples,
		coalesce(sum(value) FILTER (stack[-1] = getvariable('function')), 0) AS own
	FROM calls GROUP BY ALL
)
SELECT plain(build) AS build, count(DISTINCT host) AS hosts, utc(min(time)) AS first,
	utc(max(time)) AS last, sum(samples) AS samples,
	round(sum(own) / sum(of_all), 6) AS own, round(sum(total) / sum(of_all), 6) AS total
FROM ran JOIN recordings USING (host, service, time, time_ns)
GROUP BY build ORDER BY first, build;
