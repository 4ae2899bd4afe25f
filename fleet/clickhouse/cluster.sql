-- SPDX-License-Identifier: Apache-2.0
-- A cluster of shards: on each server, the tables of schema.sql are in the database `pmu_shard`, and
-- these, over all shards, in the database `pmu`, which every query and every push names:
--
--	clickhouse-client -q 'CREATE DATABASE pmu_shard'
--	clickhouse-client -q 'CREATE DATABASE pmu'
--	clickhouse-client -d pmu_shard -n <schema.sql
--	clickhouse-client -d pmu -n <cluster.sql
--
-- Any server takes rows and answers queries.  cluster.xml names the servers, and users.xml makes an
-- insert wait for the shard.  Each statement ran on 18.16, as a cluster of three shards.
--
-- All rows of a host are on one shard.  So are both copies of a row, and `rows_once` there sees both.
CREATE TABLE rows AS pmu_shard.rows
ENGINE = Distributed(pmu_fleet, pmu_shard, rows, cityHash64(host));

CREATE TABLE rows_once AS pmu_shard.rows_once
ENGINE = Distributed(pmu_fleet, pmu_shard, rows_once);

CREATE TABLE stacks AS pmu_shard.stacks
ENGINE = Distributed(pmu_fleet, pmu_shard, stacks);
