-- SPDX-License-Identifier: Apache-2.0
-- For versions of ClickHouse that cannot read an object of labels as text, such as 18.16, on which it
-- ran: rows come in as lines, and are parsed here.  Run this after schema.sql, in the same database.
-- The URL to push to is
--
--	http://HOST:8123/?format_csv_delimiter=%01&query=INSERT INTO pmu.lines FORMAT CSV
--
-- In CSV, a line that does not begin with a quote is one field up to the delimiter.  No row has this
-- delimiter: JSON escapes control characters.
--
-- The keys of a row come in the order of pmu-rows(5).  A quote inside a name is escaped, so a quote,
-- a key, a quote and a colon in a line are that key.  But labels may be called as other keys are.  So
-- the fields up to the stack, the labels, and what follows are cut apart first.
CREATE TABLE lines (
	line String,
	fields String MATERIALIZED substring(line, 1, arrayReduce('min', [
		position(concat(line, ',"labels":{'), ',"labels":{'),
		position(concat(line, ',"file":["'), ',"file":["'),
		position(concat(line, ',"line":['), ',"line":['),
		position(concat(line, ',"build_id":["'), ',"build_id":["'),
		length(line)]) - 1),
	labels String MATERIALIZED extract(substring(line, length(fields) + 1), concat(
		'^,"labels":(\\{(?:"(?:[^"\\\\]|\\\\.)*":(?:"(?:[^"\\\\]|\\\\.)*"|',
		'\\[(?:"(?:[^"\\\\]|\\\\.)*"|[^"\\]])*\\]|[^"\\[,}]*),?)*\\})')),
	details String MATERIALIZED substring(line,
		length(fields) + length(labels) + if(labels = '', 1, length(',"labels":') + 1))
) ENGINE = Null;

DROP TABLE rows;

-- The stack is the last of the fields.  visitParamExtractString() undoes the escapes of a string.
CREATE MATERIALIZED VIEW rows ENGINE = Null AS
SELECT
	toDateTime(visitParamExtractUInt(fields, 'time'), 'UTC') AS time,
	toUInt32(visitParamExtractUInt(fields, 'time_ns')) AS time_ns,
	visitParamExtractUInt(fields, 'duration_ns') AS duration_ns,
	visitParamExtractString(fields, 'host') AS host,
	visitParamExtractString(fields, 'service') AS service,
	visitParamExtractString(fields, 'type') AS type,
	visitParamExtractString(fields, 'unit') AS unit,
	visitParamExtractInt(fields, 'value') AS value,
	if(visitParamHas(fields, 'samples'), visitParamExtractInt(fields, 'samples'), NULL) AS samples,
	visitParamExtractString(fields, 'hash') AS hash,
	position(fields, '"stack":["') + length('"stack":["') AS names,
	arrayMap(s -> visitParamExtractString(concat('{"":"', s, '"}'), ''),
		if(position(fields, '"stack":["') = 0, emptyArrayString(),
			splitByString('","', substring(fields, names, length(fields) - names - 1))))
		AS stack,
	labels,
	extract(details, '^,"units":(\\{(?:"(?:[^"\\\\]|\\\\.)*":"(?:[^"\\\\]|\\\\.)*",?)*\\})') AS units,
	arrayMap(s -> visitParamExtractString(concat('{"":', s, '}'), ''),
		extractAll(extract(details, '"file":\\[((?:"(?:[^"\\\\]|\\\\.)*",?)*)\\]'),
			'"(?:[^"\\\\]|\\\\.)*"')) AS file,
	arrayMap(n -> toInt64(n),
		extractAll(extract(details, '"line":\\[([-0-9,]*)\\]'), '[-0-9]+')) AS line,
	extractAll(extract(details, '"build_id":\\[([^\\]]*)\\]'), '"([^"]*)"') AS build_id
FROM lines;
