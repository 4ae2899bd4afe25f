-- SPDX-License-Identifier: Apache-2.0
-- After cluster.sql, in the database `pmu`, if each shard has the tables of lines.sql.  A label that
-- is called "host" is not taken for the host: it comes later in a line.  It ran on 18.16.
CREATE TABLE lines (line String)
ENGINE = Distributed(pmu_fleet, pmu_shard, lines, cityHash64(visitParamExtractString(line, 'host')));
