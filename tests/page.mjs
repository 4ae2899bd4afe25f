// Functions of the page, for node.
import fs from 'fs';

const read = file => fs.readFileSync(new URL('../lib/flame/' + file, import.meta.url), 'utf8');
const part = (file, pattern) => new RegExp(pattern, 'm').exec(read(file))[0] + '\n';

export const { shortened, matcher, valueText } = new Function(
	'const { abs, min, floor } = Math, search = {};' +
	part('flame-text.js', '^function cut[^]*?^}') + part('flame-text.js', '^const literally.*') +
	part('flame-text.js', '^function fixed[^]*^}(?=\\n\\n// A value of a type)') +
	read('flame-name.js') + part('flame-search.js', '^function matcher[^]*?^}') +
	'return { shortened, matcher, valueText };')();
export const lines = fs.readFileSync(0, 'utf8').split('\n').slice(0, -1).map(s => s.split('\t'));
