/* The page: its state, which is all in the fragment of the address; its parts; keys. */
const VIEWS = [['flame', 'Flame', 'Callers below, callees above'],
	['icicle', 'Icicle', 'Callers above, callees below'],
	['callers', 'Callers', 'From the functions on top down to who called them'],
	['sandwich', 'Sandwich', 'Everything above and below one function']];
const GRAINS = ['function', 'line', 'file', 'object'];
const ALLOWED = { v: VIEWS.map(view => view[0]), g: GRAINS,
	c: ['kind', 'object', 'diff', 'ratio'], side: ['0', '1', '2'], heat: ['0', '1'],
	gone: ['0', '1'], vs: ['0', '1'], th: ['', 'light', 'dark'],
	sort: ['', 'f', 'f-', 'c', 'c-', 'd', 'd-', 'n', 'n-'] };
// v view, t type, g granularity, c colour, r type divided by, q search, z zoom, f function of
// the sandwich, l label, s span, vs: compare with the rest, gone, side table, heat, th theme
const usual = { v: 'flame', t: 0, g: 'function', c: 'kind', q: '', z: '', f: '', side: '0',
	heat: '0', s: '', r: '', l: '', gone: '0', vs: '0', th: '', sort: '' };
const state = { ...usual };
let started = false;

// Read the fragment.  What makes no sense in it gets its default.
function readFragment() {
	Object.assign(state, usual);
	for (const part of location.hash.slice(1).split('&')) {
		const at = part.indexOf('='), key = part.slice(0, at);
		if (!Object.hasOwn(usual, key))
			continue;
		try {
			state[key] = decodeURIComponent(part.slice(at + 1));
		} catch {
			// not encoded as it should be
		}
	}
	state.t = min(types.length - 1, max(0, state.t | 0));
	for (const [key, list] of Object.entries(ALLOWED))
		if (!list.includes(state[key]))
			state[key] = usual[key];
	if (state.c === 'diff' && !base || state.c === 'ratio' && types.length < 2)
		state.c = 'kind';
	if (state.v === 'sandwich' && !state.f)
		state.v = 'flame';
	if (state.l && !labels().some(([id]) => id === state.l))
		state.l = '';
}

function writeFragment(push) {
	const text = '#' + Object.keys(usual)
		.filter(key => String(state[key]) !== String(usual[key]))
		.map(key => key + '=' + encodeURIComponent(state[key])).join('&');

	if (text !== (location.hash || '#'))
		history[push ? 'pushState' : 'replaceState'](null, '', text);
}

// Change the state; PUSH: the browser's "back" returns from it.
function set(change, push = true) {
	Object.assign(state, change);
	writeFragment(push);
	update();
}

let labelList = null;
function labels() {
	if (labelList)
		return labelList;
	const seen = new Map();
	for (const pair of data.sets.flat())
		seen.set(labelId(...pair), strings[pair[0]] + '=' + strings[pair[1]]);
	const runs = [...seen.keys()].filter(id => id.startsWith('run='));
	if (runs.length === 1)
		seen.delete(runs[0]);
	return labelList = [...seen].sort((a, b) => a[1] < b[1] ? -1 : 1);
}

// Fill a select, if its choices have changed.
function choices(select, list, current) {
	const now = list.join('\n');

	if (select.choices !== now) {
		select.choices = now;
		clear(select).append(...list.map(([value, text]) =>
			el('option', { value }, cut(text, 60))));
	}
	select.value = current;
}

const typeName = type => safe(type.name) +
	(types.filter(other => other.name === type.name).length > 1
		? ' (' + safe(type.unit) + ')' : '');

const colourChoices = () => [['kind', 'kind of code'], ['object', 'object file'],
	...base ? [['diff', 'change since ' + safe(data.baseName)]] : [],
	...types.length < 2 ? [] : types.map((type, i) => ['ratio:' + i, 'per ' + typeName(type)])
		.filter((choice, i) => i !== state.t)];

function chooseColour(value) {
	const [c, r] = value.split(':');

	set({ c, r: r || '' });
}

function chooseGrain(g) {
	set({ g, z: '', v: state.v === 'sandwich' ? 'flame' : state.v });
}

const button = (id, text, title, key) => el('button#' + id, { title: title + ' (' + key + ')',
	'aria-label': /^\w/.test(text) ? null : title, onclick: () => act(key) }, text);

const chooser = (text, id, title, changed) => el('label', null, text,
	el('select#' + id, { title, onchange: event => changed(event.target.value) }));

// When, how and where it was recorded.
const about = () => [data.time ? new Date(data.time / 1e6).toISOString() : '', ...data.comments]
	.filter(Boolean);

const header = () => el('header', null,
	el('h1', { title: [data.title, ...about()].map(safe).join('\n') },
		cut(safe(data.title), 120)),
	el('span.sum#sum'), chooser('Sample type', 'ty', 'Sample type ( [ and ] )', value => set({ t: +value, z: '' })),
	chooser('Colour', 'co', 'Colour (c)', chooseColour),
	chooser('Boxes are', 'gr', 'What a box is (g)', chooseGrain),
	labels().length ? chooser('Label', 'la', 'Only samples with this label',
		value => set({ l: value })) : null,
	el('span.find', null, el('input#q', { type: 'search', spellcheck: 'false',
		placeholder: 'Search: a regular expression  ( / )',
		'aria-label': 'Search functions by regular expression',
		oninput: event => set({ q: event.target.value }, false) })));

const bar = () => el('div#bar', null, button('bm', '☰', 'Choices and search', 'm'),
	el('span.seg', { role: 'group', 'aria-label': 'View' }, ...VIEWS.map(
		([name, text, title], i) => button('v-' + name, text, title, String(i + 1)))),
	button('bt', 'Table', 'Table of functions', 't'),
	profile.time ? button('bh', 'Time', 'Heat map over time', 'h') : null,
	base ? button('bg', 'Gone', 'Show what disappeared: width is before', 'x') : null,
	el('nav#crumbs', { 'aria-label': 'Zoom path' }), el('span#found', { role: 'status' }),
	el('span#legend', { 'aria-hidden': 'true' }), button('bd', '◐', 'Light or dark', 'l'),
	button('b-help', '?', 'Keys', '?'));

const heatSection = () => el('section#heat', { 'aria-label': 'Heat map over time' },
	el('div.cap', null, el('b', null, 'Time'), el('span#hcap', { role: 'status' }),
		el('button#hvs', { title: 'Colour by the difference between the span and the rest',
			onclick: () => set({ vs: state.vs === '1' ? '0' : '1' }) },
		'Compare with the rest'),
		el('button#hclr', { onclick: () => selectSpan(null) }, 'Clear')),
	el('canvas#hc', { tabindex: 0, role: 'application', 'aria-label': 'Samples over time. ' +
		'Arrow keys move, Space marks the first and the last part of a span.' }));

const graph = () => el('main', null,
	el('div#plot', { tabindex: 0, role: 'application', 'aria-roledescription': 'flame graph',
		'aria-label': 'Flame graph. Arrow keys move, Enter zooms, Escape goes back. The ' +
			'table has the same data.' },
	el('canvas#cv', { 'aria-hidden': 'true' }), el('div#spacer')),
	el('aside#side', { 'aria-label': 'Functions' }));

const foot = () => el('div#foot', null, el('span#now', { 'aria-live': 'off' }),
	button('fs', 'Sandwich', 'Callers and callees of this function', 's'),
	button('fq', 'Find all', 'Search for this function', 'f'),
	button('fa', 'Source', 'Source lines of this function', 'a'),
	button('fc', 'Copy name', 'Copy its whole name', 'y'), el('span#stat'));

function showControls() {
	for (const [name] of VIEWS)
		press('v-' + name, state.v === name);
	press('bt', state.side !== '0');
	if (profile.time)
		press('bh', state.heat === '1');
	if (base)
		press('bg', state.gone === '1');
	choices(find('ty'), types.map((type, i) => [i, typeName(type)]), state.t);
	choices(find('gr'), GRAINS.map(name => [name, name]), state.g);
	choices(find('co'), colourChoices(),
		state.c === 'ratio' ? 'ratio:' + ratioType() : state.c);
	if (find('la'))
		choices(find('la'), [['', 'all'], ...labels()], state.l);
	if (find('q').value !== state.q)
		find('q').value = state.q;
	document.body.classList.toggle('wide', state.side === '2');
	find('side').classList.toggle('on', state.side !== '0');
}

function showSums() {
	const { all } = weights;

	find('sum').textContent = headText();
	find('found').textContent = !state.q ? '' : 'matched ' + percent(search.sum / all) +
		(zoom && zoom.value ? ', ' + percent(matchedIn(zoom) / zoom.value) +
			' of the zoomed' : '') + (search.error ? ' – ' + search.error : '');
	find('stat').textContent = counted(layout.boxes, 'box', 'boxes') + (layout.thin
		? ', ' + grouped(layout.thin) + ' thinner than a pixel' : '') +
		(data.cut ? ', ' + grouped(data.cut.nodes) + ' call paths summed up (at ' +
			'most ' + percent(data.cut.share, 4) + ' each)' : '') +
		(sourceNote() && ' · ' + sourceNote());
}

function showCrumbs() {
	const crumbs = clear(find('crumbs')), path = [], first = 2, last = 5;

	for (let box = zoom || root; box; box = box.parent)
		path.unshift(box);
	path.forEach((box, i) => {
		if (path.length > first + last + 1 && i >= first && i < path.length - last) {
			if (i === first)
				crumbs.append(el('i', null, '› …'));
			return;
		}
		if (i)
			crumbs.append(el('i', null, '›'));
		crumbs.append(el('button', { title: cut(nameOf(box), 300),
			onclick: () => zoomTo(box) },
		i === 0 && state.v !== 'sandwich' ? 'all' : shortened(nameOf(box), 40)));
	});
}

// How far the foot of the graph is below the window: where the root is, if boxes grow upwards.
const belowWindow = () => graphHeight() - plot.clientHeight - plot.scrollTop;

// Show the root after a change of what is drawn; after other changes leave it where it was.
let lastShown = '';
function scrollToRoot(below) {
	const shown = [state.v, state.f, state.t, state.g].join('|');

	find('spacer').style.height = graphHeight() + 'px';
	if (lastShown !== shown)
		plot.scrollTop = upward() ? graphHeight() : state.v !== 'sandwich' ? 0
			: max(0, layout.middle * ROW - plot.clientHeight * 0.4);
	else if (upward())
		plot.scrollTop += belowWindow() - below;
	lastShown = shown;
}

function update() {
	const below = belowWindow();

	dark = state.th ? state.th === 'dark'
		: matchMedia('(prefers-color-scheme: dark)').matches;
	document.documentElement.dataset.theme = dark ? 'dark' : 'light';
	chooseKeys();
	weigh();
	runSearch();
	plantTrees();
	zoom = boxAtPath(state.z);
	zoom = zoom.parent ? zoom : null;
	hover = focus = null;
	showControls();
	drawHeat();
	layOut(plot.clientWidth);
	showCrumbs();
	showLegend();
	showSums();
	showTip(null);
	scrollToRoot(below);
	draw();
	drawTable();
}

function zoomTo(box) {
	set({ z: box.parent ? pathOf(box) : '' });
	plot.focus({ preventScroll: true });
}

// Put the focus on a place, in view, and announce it.
function goTo(place) {
	if (!place)
		return;
	const y = topOf(place.row), row = layout.rows[place.row];
	focus = place;
	if (y < plot.scrollTop)
		plot.scrollTop = y - ROW;
	else if (y + ROW > plot.scrollTop + plot.clientHeight)
		plot.scrollTop = y + 2 * ROW - plot.clientHeight;
	draw();
	const { left, top } = plot.getBoundingClientRect();
	showTip(place, left + place.x + min(place.width / 2, 80), top + y - plot.scrollTop);
	find('live').textContent = shortened(nameOf(place.box), 120) + ', ' +
		percent(place.box.value / weights.all) + ' of all, level ' + place.box.depth +
		', ' + (row.indexOf(place) + 1) + ' of ' + row.length;
}

// Move the focus to the row above or below, or along its row.
function move(rows, along) {
	const from = focus || hover;

	if (!from)
		return goTo(layout.rows[layout.middle + (zoom ? zoom.depth : 0)]?.[0]);
	const row = layout.rows[from.row + rows];
	if (!row)
		return;
	if (along)
		return goTo(row[row.indexOf(from) + along]);
	const middle = from.x + from.width / 2;
	goTo(row.find(place => place.box.parent === from.box) ||
		row.find(place => place.x <= middle && place.x + place.width > middle));
}

let hitNumber = -1;
function nextHit(step) {
	const all = layout.rows.flat().filter(place => place.box.parent &&
		(isRest(place.box) ? hasHit(place.box) : isHit(place.box)));

	if (!all.length)
		return;
	hitNumber = (hitNumber + step + all.length) % all.length;
	goTo(all[hitNumber]);
}

// The sandwich of BOX, of the function that is marked, or of the first in the table.
function showSandwich(box) {
	let name = box && box.key >= 0 && box.parent ? keys.name[box.key]
		: selected > 0 ? keys.name[selected] : state.f;

	if (!keys.name.includes(name)) {
		sumKeys();
		sortKeys();
		name = sums.list.length ? keys.name[sums.list[0]] : '';
	}
	if (name)
		set({ v: 'sandwich', f: name, z: '' });
}

const HELP = [['1 2 3 4', 'flame, icicle, callers, sandwich'],
	['← → ↑ ↓', 'move between boxes'], ['Enter', 'zoom to the box'],
	['Esc, Backspace', 'one step out; 0: all the way'],
	['/', 'search; n, N: next, previous match'], ['s', 'sandwich of the box'],
	['f', 'find all boxes of this function'], ['a', 'source lines of the function'],
	['y', 'copy the whole name'],
	['t', 'table beside, wide, off'], ['h', 'heat map over time'],
	['Tab to it', 'arrows and Space select a span'], ['x', 'what disappeared (comparison)'],
	['[ ]', 'sample type'], ['c', 'colour'], ['g', 'function, line, file, object'],
	['l', 'light or dark'], ['m', 'choices and search, in a small window'],
	['?', 'this help']];

function showHelp() {
	const dialog = clear(find('help'));

	dialog.append(el('h2', null, 'Keys'), el('dl', null, ...HELP.flatMap(([key, text]) =>
		[el('dt', null, el('kbd', null, key)), el('dd', null, text)])),
	el('h2', null, 'This profile'), el('pre', null,
		[data.tool, sourceNote(), ...about()].filter(Boolean).map(safe).join('\n')),
	el('button', { autofocus: '', onclick: () => dialog.close() }, 'Close'));
	dialog.showModal();
}

function stepOut(key) {
	if (state.q && key === 'Escape')
		set({ q: '' }, false);
	else if (zoom)
		zoomTo(zoom.parent);
	else if (state.v === 'sandwich')
		set({ v: 'flame', z: '' });
}

const next = (list, current, step = 1) =>
	list[(list.indexOf(current) + step + list.length) % list.length];

// Go to the next type.  The numbers of samples of types that are there, too, are in the menu only.
function stepType(step) {
	const isNumber = ({ name }) => types.some(other => name === other.name + '_samples');
	let t = state.t;

	do
		t = (t + types.length + step) % types.length;
	while (isNumber(types[t]));
	set({ t, z: '' });
}

// A small window shows the graph, until the reader asks for what is around it.
function unfold(open) {
	document.body.classList.toggle('open', open);
	press('bm', open);
}

// The heat map is folded with the rest: where it is on, but cannot be seen, show it.
function toggleHeat() {
	const folded = state.heat === '1' && !find('heat').offsetHeight;

	set({ heat: state.heat === '1' && !folded ? '0' : '1' }, false);
	if (state.heat === '1' && !find('heat').offsetHeight)
		unfold(true);
}

const ACTIONS = {
	't': () => set({ side: next(['0', '1', '2'], state.side) }, false),
	'h': () => profile.time && toggleHeat(),
	'm': () => unfold(!document.body.classList.contains('open')),
	'x': () => base && set({ gone: state.gone === '1' ? '0' : '1', c: 'diff', z: '' }),
	'l': () => set({ th: dark ? 'light' : 'dark' }, false),
	'g': () => chooseGrain(next(GRAINS, state.g)),
	'c': () => chooseColour(next([...find('co').options].map(o => o.value), find('co').value)),
	'[': () => stepType(-1),
	']': () => stepType(1),
	'n': () => nextHit(1),
	'N': () => nextHit(-1),
	's': box => showSandwich(box),
	'a': box => showSourceOf(box),
	'4': box => showSandwich(box),
	'f': box => box && box.key >= 0 &&
		set({ q: '^' + literally(keys.name[box.key]) + '$' }, false),
	'y': box => box && box.key >= 0 && navigator.clipboard &&
		navigator.clipboard.writeText(data.strings[funcs.name[keys.func[box.key]]])
			.catch(() => {}),
	'0': () => set({ z: '' }),
	'/': () => {
		if (!find('q').offsetHeight)
			unfold(true);
		find('q').focus();
		find('q').select();
	},
	'?': showHelp,
	'ArrowUp': () => move(upward() ? 1 : -1, 0),
	'ArrowDown': () => move(upward() ? -1 : 1, 0),
	'ArrowLeft': () => move(0, -1),
	'ArrowRight': () => move(0, 1),
	'Enter': box => box && zoomTo(box),
	'Escape': () => stepOut('Escape'),
	'Backspace': () => stepOut('Backspace'),
};
for (const number of [1, 2, 3])
	ACTIONS[number] = () => set({ v: VIEWS[number - 1][0], z: '' });

// Do what a key means, for BOX or the one in focus.  Return whether it means anything.
function act(key, box) {
	if (!Object.hasOwn(ACTIONS, key))
		return false;
	ACTIONS[key](box || (focus || hover)?.box || zoom);
	return true;
}

function keyInSearch(event) {
	if (event.key === 'Escape')
		set({ q: '' }, false);
	else if (event.key !== 'Enter' || event.target.id !== 'q')
		return;
	plot.focus();
	if (event.key === 'Enter') {
		hitNumber = -1;
		nextHit(1);
	}
}

function onKey(event) {
	const { target, key } = event;

	if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]'))
		return;
	if (/^(INPUT|SELECT)$/.test(target.tagName))
		return keyInSearch(event);
	if (target.tagName === 'BUTTON' && (key === 'Enter' || key === ' '))
		return;
	if (target.closest && target.closest('#side') && key.startsWith('Arrow'))
		return;
	if (act(key))
		event.preventDefault();
}

const placeOf = event => {
	const { left, top } = plot.getBoundingClientRect();
	return placeAt(event.clientX - left, event.clientY - top + plot.scrollTop);
};

function listenToPlot() {
	on(plot, 'mousemove', event => {
		const place = placeOf(event);
		canvas.style.cursor = place ? 'pointer' : '';
		if (place !== hover) {
			hover = place;
			drawLater();
		}
		showTip(place, event.clientX, event.clientY);
	});
	on(plot, 'mouseleave', () => {
		hover = null;
		showTip(null);
		drawLater();
	});
	on(plot, 'click', event => {
		const place = placeOf(event);
		if (!place || event.detail > 1)
			return;
		selected = -1;
		zoomTo(zoom === place.box ? zoom.parent : place.box);
	});
	on(plot, 'dblclick', event => {
		const place = placeOf(event);
		if (place && place.box.key > 0)
			act('s', place.box);
	});
	on(plot, 'scroll', drawLater);
}

function listenToSide() {
	const side = find('side'), rowOf = event => event.target.closest('tr.r');

	on(side, 'scroll', () => drawTable(), { passive: true });
	on(side, 'click', event =>
		rowOf(event) && pick(+rowOf(event).dataset.k, false));
	on(side, 'dblclick', event =>
		rowOf(event) && pick(+rowOf(event).dataset.k, true));
	on(side, 'keydown', moveInTable);
}

function listen() {
	listenToPlot();
	listenToSide();
	listenToHeat();
	on(document, 'keydown', onKey);
	for (const name of ['popstate', 'hashchange'])
		on(window, name, () => {
			readFragment();
			update();
		});
	let bottom = true;
	on(plot, 'scroll', () => {
		bottom = plot.scrollHeight - plot.scrollTop - plot.clientHeight < 4;
	});
	new ResizeObserver(() => {
		if (!started || !plot.clientWidth)
			return;
		const stay = upward() && bottom;
		drawHeat();
		layOut(plot.clientWidth);
		draw();
		if (stay)
			plot.scrollTop = graphHeight();
		draw();
		drawTable();
	}).observe(plot);
	on(matchMedia('(prefers-color-scheme: dark)'), 'change', () => update());
	on(window, 'beforeprint', () => print(true));
	on(window, 'afterprint', () => print(false));
}

// Choose the defaults of what the address does not set.
function chooseUsual() {
	const last = profile.time ? profile.time[profile.time.length - 1] || 0 : 0;

	usual.t = data.default;
	usual.v = data.view || 'flame';
	usual.c = base ? 'diff' : data.ratio ? 'ratio' : 'kind';
	usual.r = data.ratio ? String(data.ratio[1]) : '';
	if (last > 2000)
		usual.heat = '1';
	if (innerWidth >= 1200)
		usual.side = '1';
}

// For tests: the table's sums per key; a row of boxes as it is drawn; a command for a shell.
function offerToTests() {
	window.__sums = () => {
		sumKeys();
		return keys.name.map((name, key) => [name, sums.flat[key], sums.cum[key]]);
	};
	window.__command = commandFor;
	window.__row = number => (layout.rows[number] || []).map(({ box, x, width }) =>
		[nameOf(box), x, width, box.value, isRest(box)]);
}

async function start() {
	const begun = performance.now();

	try {
		await readData();
	} catch (error) {
		return fail('This profile cannot be shown', !window.DecompressionStream
			? 'The browser is too old: it lacks DecompressionStream (Chrome 103, ' +
				'Firefox 113, Safari 16.4 have it).'
			: 'The data in the file is damaged: ' + error.message + '.');
	}
	if (!profile.node.length && !(base && base.node.length))
		return fail('This profile has no samples', 'Nothing was recorded: the program ' +
			'may have ended at once, or slept. Record longer, or choose an event ' +
			'that the program causes.');
	document.body.append(header(), bar(), heatSection(), graph(), foot(),
		el('div#tip', { role: 'tooltip' }), el('div#live.vh', { 'aria-live': 'polite' }),
		el('dialog#help'), el('dialog#source'));
	plot = find('plot');
	canvas = find('cv');
	pen = canvas.getContext('2d');
	chooseUsual();
	readFragment();
	listen();
	update();
	started = true;
	offerToTests();
	window.__ready = performance.now() - begun;
}

start();
