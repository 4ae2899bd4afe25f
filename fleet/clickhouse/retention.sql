-- SPDX-License-Identifier: Apache-2.0
-- Keep 90 days: for versions without TTL, such as 18.16, on which it ran.  The answer has statements
-- that drop the older partitions, so a cron job on each server is
--
--	clickhouse-client <retention.sql | clickhouse-client -n
--
-- Stacks of a month serve its last day, too, so they stay a month longer.
SELECT concat('ALTER TABLE ', database, '.', table, ' DROP PARTITION ID \'', partition_id, '\';')
FROM system.parts
WHERE active AND database IN ('pmu', 'pmu_shard') AND (
	table = 'profiles' AND partition_id < toString(toYYYYMMDD(now() - 90 * 86400)) OR
	table = 'stacks' AND partition_id < toString(toYYYYMMDD(now() - 122 * 86400)))
GROUP BY database, table, partition_id
ORDER BY database, table, partition_id
FORMAT TSVRaw;
