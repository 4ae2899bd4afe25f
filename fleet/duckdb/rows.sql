-- SPDX-License-Identifier: Apache-2.0
-- Opens files of rows, as "pmu-topprof --to rows" writes them, plain or compressed by gzip or zstd.
-- The queries beside this file answer from the view that it makes.  Variables select rows; one that
-- is not set selects all:
--
--	SET VARIABLE rows = 'rows/*.json.gz';	-- a pattern, or a list: ['a.json', 'b.json.zst']
--	SET VARIABLE from = 1763892720;		-- from <= time < to, in seconds since 1970
--	SET VARIABLE "to" = 1763896320;
--	SET VARIABLE service = 'nginx';
--	SET VARIABLE host = 'h1';
--	SET VARIABLE type = 'cycles';		-- cpu, if it is not set
--
-- A row counts once, also if files have it twice.  Its hash stands for its stack, with the files,
-- lines and build IDs of "--rows-detail"; rows of other programs may lack a hash.
CREATE OR REPLACE TEMP VIEW samples AS
SELECT time, coalesce(time_ns, 0) AS time_ns, coalesce(host, '') AS host,
	coalesce(service, '') AS service, type, coalesce(unit, '') AS unit,
	any_value(stack) AS stack, any_value(build_id) AS build_id,
	any_value(value) AS value, any_value(samples) AS samples
FROM read_ndjson(getvariable('rows'), columns = {
	time: 'BIGINT', time_ns: 'BIGINT', host: 'VARCHAR', service: 'VARCHAR', type: 'VARCHAR',
	unit: 'VARCHAR', value: 'BIGINT', samples: 'BIGINT', hash: 'VARCHAR', stack: 'VARCHAR[]',
	build_id: 'VARCHAR[]', labels: 'JSON'})
WHERE type = coalesce(getvariable('type'), 'cpu')
	AND (getvariable('from') IS NULL OR time >= CAST(getvariable('from') AS BIGINT))
	AND (getvariable('to') IS NULL OR time < CAST(getvariable('to') AS BIGINT))
	AND (getvariable('host') IS NULL OR host = getvariable('host'))
	AND (getvariable('service') IS NULL OR service = getvariable('service'))
GROUP BY time, time_ns, host, service, type, unit,
	coalesce(hash, CAST(stack AS VARCHAR)), CAST(labels AS VARCHAR);

-- A name, as a line of text can have it.
CREATE OR REPLACE TEMP MACRO plain(name) AS
	regexp_replace(replace(name, ';', ':'), '[[:cntrl:]]', ' ', 'g');

-- A row again: for pmu-top(1), pmu-flame(1) and pmu-diff(1).  Without a number of samples it has none.
CREATE OR REPLACE TEMP MACRO row_of(type, unit, value, samples, stack) AS
	CASE WHEN samples IS NULL
		THEN to_json({type: type, unit: unit, value: value, stack: stack})
		ELSE to_json({type: type, unit: unit, value: value, samples: samples, stack: stack})
	END;

-- A time in seconds since 1970, in UTC whatever the time zone of the session is.
CREATE OR REPLACE TEMP MACRO utc(seconds) AS
	strftime(make_timestamp(CAST(seconds AS BIGINT) * 1000000), '%Y-%m-%dT%H:%M:%SZ');
