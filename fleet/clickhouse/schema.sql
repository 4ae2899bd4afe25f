-- SPDX-License-Identifier: Apache-2.0
-- The tables of one ClickHouse server, in the current database, which is `pmu` on a single server:
--
--	clickhouse-client -q 'CREATE DATABASE pmu'
--	clickhouse-client -d pmu -n <schema.sql
--
-- cluster.sql has what several servers need more.  Each statement ran on 18.16.  By its
-- documentation, ClickHouse accepts them today, too; that was not tried.  What only some versions
-- have is in other files: ttl.sql is for today's versions, and lines.sql and retention.sql are for
-- those that lack something, such as 18.16.
--
-- Rows come into `rows`, which keeps nothing; two views split them into `profiles` and `stacks`.
-- Queries read `rows_once` and `stacks`.

-- A row of "pmu-topprof --to rows", as pmu-rows(5) defines it.  Labels and units stay the text of
-- their JSON object: they are part of what a row is, and go back into answers as they came.
CREATE TABLE rows (
	time DateTime('UTC'),
	time_ns UInt32,
	duration_ns UInt64,
	host String,
	service String,
	type String,
	unit String,
	value Int64,
	samples Nullable(Int64),
	hash String,
	stack Array(String),
	labels String,
	units String,
	file Array(String),
	line Array(Int64),
	build_id Array(String)
) ENGINE = Null;

-- The rows of one profile that have the same type and labels, and came in one request, are one row
-- here.  Their hashes, values and numbers of samples are arrays, in the order of the hashes.  So the
-- names of a host and service are kept once for all its stacks, and copies are found by comparing
-- profiles, which are few.  `piece` tells the requests of a large profile apart.
-- Merges remove equal copies.  Copies that were cut in another way, or that are not merged yet, count
-- once by `rows_once`.  A number of samples that is not known is the smallest Int64.
CREATE TABLE profiles (
	service String,
	type String,
	unit String,
	host String,
	time DateTime('UTC'),
	time_ns UInt32,
	duration_ns UInt64,
	labels String,
	units String,
	piece UInt64,
	hashes Array(UInt64),
	values Array(Int64),
	counts Array(Int64)
) ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(time)
ORDER BY (service, type, time, host, time_ns, labels, units, piece)
SETTINGS index_granularity = 256;

-- The stacks of each service and month.  A month has all stacks that its profiles name, so months
-- can be dropped as days of profiles are.
CREATE TABLE stacks (
	month Date,
	service String,
	hash UInt64,
	stack Array(String),
	file Array(String),
	line Array(Int64),
	build_id Array(String)
) ENGINE = ReplacingMergeTree
PARTITION BY month
ORDER BY (service, hash)
SETTINGS index_granularity = 1024;

CREATE MATERIALIZED VIEW rows_to_stacks TO stacks AS
SELECT toStartOfMonth(time) AS month, service, reinterpretAsUInt64(reverse(unhex(hash))) AS hash,
	stack, file, line, build_id
FROM rows
LIMIT 1 BY month, service, hash;

CREATE MATERIALIZED VIEW rows_to_profiles TO profiles AS
SELECT service, type, unit, host, time, time_ns, duration_ns, labels, units,
	arraySort(groupArray(reinterpretAsUInt64(reverse(unhex(hash))))) AS hashes,
	arraySort((v, h) -> h, groupArray(value),
		groupArray(reinterpretAsUInt64(reverse(unhex(hash))))) AS values,
	arraySort((c, h) -> h,
		groupArray(ifNull(samples, toInt64('-9223372036854775808'))),
		groupArray(reinterpretAsUInt64(reverse(unhex(hash))))) AS counts,
	cityHash64(arrayStringConcat(arrayMap(h -> hex(h), hashes), ' ')) AS piece
FROM rows
GROUP BY service, type, unit, host, time, time_ns, duration_ns, labels, units;

-- Each row once.  What is equal in host, service, time, type, labels and stack is a copy.
CREATE VIEW rows_once AS
SELECT time, time_ns, duration AS duration_ns, host, service, type, unit_of_type AS unit, value,
	if(count = toInt64('-9223372036854775808'), NULL, count) AS samples, hash, labels, units
FROM (
	SELECT time, time_ns, host, service, type, labels, units,
		max(duration_ns) AS duration, any(unit) AS unit_of_type,
		groupArrayArray(hashes) AS all_hashes, groupArrayArray(values) AS all_values,
		groupArrayArray(counts) AS all_counts, arrayEnumerateUniq(all_hashes) AS copies
	FROM profiles
	GROUP BY time, time_ns, host, service, type, labels, units
)
ARRAY JOIN all_hashes AS hash, all_values AS value, all_counts AS count, copies AS copy
WHERE copy = 1;
