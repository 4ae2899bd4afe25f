// The page's names for lines of COLUMNS, a tab and a name, as tests/bin/shorten does it in C.
import fs from 'fs';

const read = file => fs.readFileSync(new URL('../lib/show/' + file, import.meta.url), 'utf8');
const cut = /^function cut[^]*?^}/m.exec(read('flame-text.js'))[0];
const shortened = new Function('const { min, floor } = Math;' + cut + read('flame-name.js') +
	'return shortened;')();

for (const line of fs.readFileSync(0, 'utf8').split('\n').slice(0, -1)) {
	const [columns, name] = line.split('\t');
	console.log(shortened(name, +columns));
}
