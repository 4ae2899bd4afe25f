-- SPDX-License-Identifier: Apache-2.0
-- One side of a deployment, as rows in which each host is a run of its own, for pmu-diff(1).
-- `side` is 'before' or 'after'.  After is, if `build` is set to a build ID, what recordings have
-- that ran this build (rows of --rows-detail); else what started at the time `at` or later.
WITH ran AS (
	SELECT DISTINCT host, service, time, time_ns FROM samples
	WHERE list_contains(build_id, getvariable('build'))
), sides AS (
	SELECT s.*, CASE WHEN getvariable('build') IS NULL
		THEN s.time >= CAST(getvariable('at') AS BIGINT) ELSE r.host IS NOT NULL END AS is_after
	FROM samples s LEFT JOIN ran r USING (host, service, time, time_ns)
)
SELECT CASE WHEN sum(samples) IS NULL
	THEN to_json({type: type, unit: unit, value: sum(value), stack: stack, labels: {run: host}})
	ELSE to_json({type: type, unit: unit, value: sum(value), samples: sum(samples), stack: stack,
		labels: {run: host}}) END AS line
FROM sides WHERE is_after = (getvariable('side') = 'after')
GROUP BY host, type, unit, stack ORDER BY host, line;
