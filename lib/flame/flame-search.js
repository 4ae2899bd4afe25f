/*
 * Search: by a regular expression, over the names of keys.  Each stack counts once, however
 * often it matches: one pass down finds what has a match above, one pass up adds it.
 */
const search = { hits: null, below: null, has: null, sum: 0, error: '', for: '' };

// A copied name is found, too: as it is, with anything in the place of each '…', and with the types
// of C++'s standard library as boxes and rows have them.
function matcher(text) {
	const flags = text === text.toLowerCase() ? 'i' : '';
	const asText = new RegExp(text.split('…').map(literally).join('.*?'), flags);
	const hasText = name => asText.test(name) || (text.includes('std::') &&
		name.includes('std::') && asText.test(shortened(name, Infinity)));

	try {
		const pattern = new RegExp(text, flags);
		return name => pattern.test(name) || hasText(name);
	} catch {
		search.error = 'not a regular expression, searched as text';
		return hasText;
	}
}

function runSearch() {
	const now = [version, state.g, state.q].join('|');

	if (now === search.for)
		return;
	Object.assign(search, { hits: null, below: null, has: null, sum: 0, error: '', for: now });
	if (!state.q)
		return;
	const matches = matcher(state.q);
	search.hits = Uint8Array.from(keys.name,
		(name, key) => key !== keys.node[0] && matches(name.slice(0, 4000)));
	search.covered = new Uint8Array(nodes);
	search.has = new Uint8Array(nodes);
	search.below = new Float64Array(nodes);
	for (let i = 1; i < nodes; i++) {
		search.has[i] = search.hits[keys.node[i]];
		search.covered[i] = search.covered[parent[i]] | search.has[i];
		if (search.covered[i])
			search.below[i] = weights.own[i];
	}
	for (let i = nodes - 1; i > 0; i--) {
		search.has[parent[i]] |= search.has[i];
		search.below[parent[i]] += search.below[i];
	}
	search.sum = search.below[0];
}

// The value of a box in stacks that match.
function matchedIn(box) {
	if (!search.hits)
		return 0;
	if (isRest(box))
		return box.children.reduce((sum, child) => sum + matchedIn(child), 0);
	if (!box.up)
		return box.members.reduce((sum, node) => sum + search.below[node], 0);
	return box.origins.reduce((sum, node) => sum + (state.v !== 'callers' ? search.below[node]
		: search.covered[node] ? weights.own[node] : 0), 0);
}

const isHit = box => search.hits !== null && box.key >= 0 && box.parent !== null &&
	search.hits[box.key] === 1;

// Whether a box, or what is hidden in it, matches.
function hasHit(box) {
	if (!search.hits)
		return false;
	if (isRest(box))
		return box.children.some(hasHit);
	return isHit(box) || box.members.some(box.up ? node => search.covered[node]
		: node => search.has[node]);
}
