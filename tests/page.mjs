// Functions of the page, for node.
import fs from 'fs';

const read = file => fs.readFileSync(new URL('../lib/show/' + file, import.meta.url), 'utf8');
const part = (file, pattern) => new RegExp(pattern, 'm').exec(read(file))[0] + '\n';

export const { shortened, matcher } = new Function(
	'const { min, floor } = Math, search = {};' +
	part('flame-text.js', '^function cut[^]*?^}') + part('flame-text.js', '^const literally.*') +
	read('flame-name.js') + part('flame-search.js', '^function matcher[^]*?^}') +
	'return { shortened, matcher };')();
export const lines = fs.readFileSync(0, 'utf8').split('\n').slice(0, -1).map(s => s.split('\t'));
