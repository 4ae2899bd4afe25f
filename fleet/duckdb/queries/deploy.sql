-- SPDX-License-Identifier: Apache-2.0
-- One side of a deployment, as rows in which each host is a run of its own, for pmu-diff(1): the side
-- before it if `after` is 0, and the side after it if `after` is 1.  After is what started at the
-- time `at` or later; or, with `build`, the recordings that ran a build ID that begins so (rows of
-- --rows-detail).
-- With `runs` above 0, hosts are put together into so many runs: pmu-diff(1) compares up to 1,000.
WITH selected AS MATERIALIZED (FROM samples), ran AS (
	SELECT DISTINCT host, service, time, time_ns FROM selected
	WHERE len(list_filter(build_id, id -> starts_with(lower(id), lower(getvariable('build'))))) > 0
), sides AS (
	SELECT s.*, CASE WHEN coalesce(CAST(getvariable('runs') AS BIGINT), 0) > 0
		THEN CAST(hash(s.host) % CAST(getvariable('runs') AS UBIGINT) AS VARCHAR) ELSE s.host END AS run,
		CASE WHEN getvariable('build') IS NULL
		THEN s.time >= CAST(getvariable('at') AS BIGINT) ELSE r.host IS NOT NULL END AS is_after
	FROM selected s LEFT JOIN ran r USING (host, service, time, time_ns)
)
SELECT CASE WHEN sum(samples) IS NULL
	THEN to_json({type: type, unit: unit, value: sum(value), stack: stack, labels: {run: run}})
	ELSE to_json({type: type, unit: unit, value: sum(value), samples: sum(samples), stack: stack,
		labels: {run: run}}) END AS line
FROM sides WHERE is_after = (CAST(coalesce(getvariable('after'), 1) AS INTEGER) = 1)
GROUP BY run, type, unit, stack ORDER BY run, line;
