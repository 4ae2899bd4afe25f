// SPDX-License-Identifier: Apache-2.0
// duckdb.mjs [-bail] [-batch] [-init /dev/null] [-list] [-noheader] [-separator TEXT] <SQL
//
// What pmu-query needs of DuckDB's command-line client, on its library for Node.js, which the tests
// can have more easily.  The packages are in $DUCKDB/node_modules.  As -list does, it writes values
// as they are.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const require = createRequire(`${process.env.DUCKDB}/package.json`);
const { DuckDBInstance, StatementType } = require('@duckdb/node-api');

let separator = '|', header = true;
const words = process.argv.slice(2);
while (words.length) {
	const word = words.shift();
	switch (word) {
	case '-bail':
	case '-batch':
	case '-list':
		break;
	case '-init':
		if (words.shift() !== '/dev/null')
			throw new Error('-init: only /dev/null');
		break;
	case '-noheader':
		header = false;
		break;
	case '-separator':
		separator = words.shift();
		break;
	default:
		throw new Error(`unknown option ${word}`);
	}
}

const text = value => value === null ? 'NULL' : String(value);
let out = '';
try {
	const connection = await (await DuckDBInstance.create(':memory:')).connect();
	const statements = await connection.extractStatements(readFileSync(0, 'utf8'));
	for (let i = 0; i < statements.count; i++) {
		const statement = await statements.prepare(i);
		const answer = await statement.runAndReadAll();
		if (statement.statementType !== StatementType.SELECT)
			continue;
		const lines = answer.getRows().map(row => row.map(text));
		if (header)
			lines.unshift(answer.columnNames());
		out += lines.map(line => line.join(separator) + '\n').join('');
	}
} catch (error) {
	process.stderr.write(error.message + '\n');
	process.exitCode = 1;
}
process.stdout.write(out);
