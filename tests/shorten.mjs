// The page's names for lines of COLUMNS, a tab and a name, as tests/bin/shorten does it in C.
import { lines, shortened } from './page.mjs';

for (const [columns, name] of lines)
	console.log(shortened(name, +columns));
