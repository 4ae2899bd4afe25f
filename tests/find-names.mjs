// Print the texts, of lines of a text and a name, by which the page's search does not find the name.
import { lines, matcher } from './page.mjs';

for (const [text, name] of lines)
	if (!matcher(text)(name))
		console.log(text);
