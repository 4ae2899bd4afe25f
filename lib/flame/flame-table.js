/* The table of functions: all rows are sorted, those that can be seen are elements. */
const LINE = 22;			// height of a row
const sums = { for: '', sortedFor: '', shownFor: '', list: [] };

// Sum up each key: flat, cum; of the other side, too.
function sumKeys() {
	const now = [version, state.g].join('|'), { own, total, other, otherTotal } = weights;

	if (now === sums.for)
		return;
	const [flat, cum, otherFlat, otherCum] =
		Array.from({ length: 4 }, () => new Float64Array(keys.count));
	Object.assign(sums, { for: now, sortedFor: '', flat, cum, otherFlat, otherCum });
	for (let i = 1; i < nodes; i++) {
		const key = keys.node[i];
		flat[key] += own[i];
		cum[key] += keys.outer[i] ? total[i] : 0;
		otherFlat[key] += other ? other[i] : 0;
		otherCum[key] += other && keys.outer[i] ? otherTotal[i] : 0;
	}
	if (data.cut && weights.isWhole && state.g === 'function')
		useExactSums(flat, cum);
}

// If call paths were summed up, functions are known only by their sums over everything.
function useExactSums(flat, cum) {
	flat.fill(0);
	cum.fill(0);
	keys.func.forEach((f, key) => {
		flat[key] = data.cut.flat[state.t][f];
		cum[key] = key === keys.node[0] ? 0 : data.cut.cum[state.t][f];
	});
}

const sortOrder = () => state.sort || (weights.mode ? 'd' : 'f');

const ORDERS = {
	f: (a, b) => sums.flat[b] - sums.flat[a],
	c: (a, b) => sums.cum[b] - sums.cum[a],
	n: (a, b) => keys.name[a] < keys.name[b] ? -1 : 1,
	d: (a, b) => weights.mode === 'ratio' ? sums.flat[b] - sums.flat[a]
		: max(CHANCE, verdictOfKey(b)) - max(CHANCE, verdictOfKey(a)) ||
			sizeOfKey(b) - sizeOfKey(a),
};

const sizeOfKey = key => abs(changeOfShare(sums.flat[key], sums.otherFlat[key]));

// The verdict on a row: on its own value.
const verdictOfKey = key => verdictOn(sums.flat[key], sums.otherFlat[key],
	((data.verdicts || [])[state.t]?.flat || [])[keys.func[key]]);

function sortKeys() {
	const now = [sums.for, state.sort, state.q].join('|'), order = sortOrder();

	if (now === sums.sortedFor)
		return;
	const list = [], sign = order[1] === '-' ? -1 : 1;
	for (let key = 0; key < keys.count; key++)
		if ((sums.cum[key] || sums.otherCum[key]) && key !== keys.node[0] &&
		    (!search.hits || search.hits[key]))
			list.push(key);
	list.sort((a, b) => sign * ORDERS[order[0]](a, b) || sums.cum[b] - sums.cum[a]);
	Object.assign(sums, { sortedFor: now, list });
}

// Whether there are error bars, and room for them.
const hasBars = wide => (wide || !weights.mode && find('side').clientWidth > 450) &&
	barsHere().flat?.length > 0;

function headCell(column, text, title, width) {
	const order = sortOrder(), down = order === column, up = order === column + '-';

	return el('th', { scope: 'col', title, width,
		'aria-sort': down ? 'descending' : up ? 'ascending' : 'none' },
		el('button', { onclick: () => set({ sort: down ? column + '-' : column }, false) },
			text + (down ? ' ▾' : up ? ' ▴' : '')));
}

// The widths of the columns, but of the last one, which has the rest.
const widths = wide => ({ share: hasBars(wide) ? 136 : wide ? 124 : 74, value: wide ? 90 : 0,
	change: weights.mode ? 92 : 0 });

// The width of the names, without the space around them.
function roomForNames(wide) {
	const { share, value, change } = widths(wide);

	return find('side').clientWidth - 2 * share - 2 * value - change - 12;
}

function headRow(wide) {
	const { share: width, value, change } = widths(wide);
	const space = () => el('th', { scope: 'col', width: value }, '');
	const row = el('tr', null,
		headCell('f', 'Self', 'Samples with this function on top', width));

	if (wide)
		row.append(space());
	row.append(headCell('c', 'Total', 'Samples with this function anywhere', width));
	if (wide)
		row.append(space());
	if (weights.mode === 'ratio')
		row.append(headCell('d', 'Ratio', 'of Self', change));
	else if (weights.mode)
		row.append(headCell('d', 'Change',
			'of Self: sure changes first, the largest first', change));
	row.append(headCell('n', state.g[0].toUpperCase() + state.g.slice(1),
		sums.list.length + ' rows', null));
	return row;
}

function shareCell(kind, key, wide) {
	const share = sums[kind][key] / weights.all, width = (100 * share).toFixed(1) + '%';
	const cell = el('td', null, percent(share),
		hasBars(wide) ? el('small', null, barText(kind, key)) : null);

	cell.style.background =
		`linear-gradient(var(--bar),var(--bar)) no-repeat 0/${width}`;
	return cell;
}

function changeCell(key) {
	const flat = sums.flat[key], other = sums.otherFlat[key];

	if (weights.mode === 'ratio')
		return el('td', null, other ? digits(flat / other) : '–');
	const verdict = verdictOfKey(key), mark = changeMark(verdict, flat, other);
	return el(verdict === UNSTEADY ? 'td.un' : !mark ? 'td.ns' : mark === '▲ ' ? 'td.up' : 'td.dn',
		{ title: verdictText(verdict) }, mark + points(flat, other));
}

// The sign of a change that is more than chance.
function changeMark(verdict, value, other) {
	const more = direction() * changeOfShare(value, other) > 0;

	return verdict === SURE ? more ? '▲ ' : '▼ ' : verdict === UNSTEADY ? more ? '△ ' : '▽ ' : '';
}

const verdictText = verdict => ['not judged', 'may be chance', 'large, but unsteady',
	'sure'][verdict];

function bodyRow(key, index, wide) {
	const inlined = keys.folds ? 0 : keys.inlined[key], name = keys.name[key];
	const row = el('tr.r', { tabindex: -1, 'data-k': key, 'aria-rowindex': index + 2,
		'aria-selected': key === selected }, shareCell('flat', key, wide));

	row.classList.toggle('sel', key === selected);
	row.classList.toggle('hit', search.hits !== null);
	if (wide)
		row.append(el('td.n', null, amount(sums.flat[key])));
	row.append(shareCell('cum', key, wide));
	if (wide)
		row.append(el('td.n', null, amount(sums.cum[key])));
	if (weights.mode)
		row.append(changeCell(key));
	const more = inlined ? inlined === 1 ? ' (inlined)' : ' (partly inlined)' : '';
	// the graph's letters are smaller, and what is found is bold
	const room = roomForNames(wide) * (search.hits ? 0.8 : 0.9) - textWidth(more);
	row.append(el('td', { title: cut(name, 400), dir: 'ltr' },
		short(name, text => textWidth(text) <= room, 2, room / 3) + more));
	return row;
}

// An empty row, as high as the COUNT rows that cannot be seen.
const gap = (count, columns) => el('tr', { 'aria-hidden': 'true' },
	el('td', { height: count * LINE, colspan: columns }));

// What there is to say of the changes, and in which order they are.
function changeNote() {
	const why = whyUnjudged(), sorted = sortOrder() === 'd';

	if (why)
		return (sorted ? 'Sorted by the size of the change. ' : '') +
			'There are no verdicts here: ' + why + '.';
	return (sorted ? 'Sorted by size: first the sure changes (▲ ▼), then the large but ' +
		'unsteady ones (△ ▽), then the rest, which may be chance. ' : '') +
		'Unsteady: the function varies as much within a run. pmu-diff(1) compares ' +
		'several runs.';
}

// The line below the table that says what may be chance.
function noteText(wide) {
	const { flat, note } = barsHere();

	if (weights.mode === 'diff')
		return changeNote();
	if (flat?.length && !hasBars(wide))
		return 'The wide table (t) has error bars.';
	return note?.replaceAll('+/-', '±').replaceAll(' %', '\u00a0%') ||
		'Error bars are for functions in all samples: there are none in this view.';
}

function drawTable() {
	const side = find('side'), wide = side.clientWidth > 700, { scrollTop } = side;

	if (state.side === '0')
		return;
	sumKeys();
	sortKeys();
	const now = [sums.sortedFor, scrollTop, side.clientHeight, selected, side.clientWidth,
		weights.mode, state.gone, whole].join('|');
	if (now === sums.shownFor)
		return;
	sums.shownFor = now;
	const { list } = sums, columns = 3 + (wide ? 2 : 0) + (weights.mode ? 1 : 0);
	const from = whole ? 0 : max(0, floor((scrollTop - 30) / LINE) - 5);
	const to = min(list.length, whole ? 50 : from + ceil(side.clientHeight / LINE) + 12);
	const body = el('tbody');
	if (from)
		body.append(gap(from, columns));
	for (let i = from; i < to; i++)
		body.append(bodyRow(list[i], i, wide));
	if (to < list.length && !whole)
		body.append(gap(list.length - to, columns));
	const first = body.querySelector('tr.r');
	if (first)
		first.tabIndex = 0;
	clear(side).append(el('table', { 'aria-label': 'functions',
		'aria-rowcount': list.length + 1 }, el('thead', null, headRow(wide)), body),
	el('p#note', null, noteText(wide)));
	side.scrollTop = scrollTop;
}

// Mark a key in graph and table, or show its sandwich.
function pick(key, sandwich) {
	selected = key;
	if (sandwich)
		return set({ v: 'sandwich', f: keys.name[key], z: '' });
	drawTable();
	draw();
}

function moveInTable(event) {
	const row = event.target.closest('tr.r');

	if (!row)
		return;
	const key = +row.dataset.k, at = sums.list.indexOf(key);
	const to = event.key === 'ArrowDown' ? at + 1 : event.key === 'ArrowUp' ? at - 1 : -1;
	if (event.key === 'Enter') {
		pick(key, true);
	} else if (to >= 0 && to < sums.list.length) {
		pick(sums.list[to], false);
		const next = find('side').querySelector('[data-k="' + selected + '"]');
		if (next)
			next.focus();
	} else {
		return;
	}
	event.preventDefault();
	event.stopPropagation();
}
