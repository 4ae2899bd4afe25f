-- SPDX-License-Identifier: Apache-2.0
-- Keep 90 days: for ClickHouse 19.6 and later, after schema.sql, in the same database, on each shard.
-- It is written by the documentation, and was not tried.  The same statements with other numbers
-- change it later.  Stacks of a month serve its last day, too, so they stay a month longer.
ALTER TABLE profiles MODIFY TTL time + INTERVAL 90 DAY;
ALTER TABLE stacks MODIFY TTL month + INTERVAL 122 DAY;
ALTER TABLE profiles MODIFY SETTING ttl_only_drop_parts = 1;
ALTER TABLE stacks MODIFY SETTING ttl_only_drop_parts = 1;
