// The page's values for lines of a number, a tab and a unit, as tests/bin/values does it in C.
import { lines, valueText } from './page.mjs';

for (const [value, unit] of lines)
	console.log(valueText(+value, unit));
