/*
 * The panel of a function: its source lines, which pmu-flame --source has put into the page, with
 * their costs in this view; and the command that shows them outside of the page.
 */
let sourceList = null;

// What the page holds of function F: numbers and texts of lines, or why there are none.
function sourceOf(f) {
	sourceList = sourceList || new Map((data.source || []).map(item => [item.f, item]));
	return sourceList.get(f);
}

// Says that the page holds source lines; '' if it holds none.
function sourceNote() {
	const count = (data.source || []).filter(item => item.n.length).length;

	return count ? 'this page holds source lines of ' + counted(count, 'function') : '';
}

// A word for a shell; null if the word has a character that a terminal may not get.
const quoted = word => safe(word) !== word ? null
	: /^[\w./+=@%,:-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";

// The command for a function called NAME in FILE; null if a terminal may not get these words.
function commandFor(name, file) {
	const type = state.t === data.default ? '' : types[state.t].name;
	const words = [...type ? ['-t', type] : [], ...name.startsWith('-') ? ['--'] : [], name,
		file.startsWith('-') ? './' + file : file].map(quoted);

	return words.includes(null) ? null : ['pmu-annotate', ...words].join(' ');
}

// Flat and cumulative values of the lines of function F in this view, by line.
function lineCosts(f) {
	if (!keysOf.has('line'))
		keysOf.set('line', makeKeys('line'));
	const { outer } = keysOf.get('line'), { own, total } = weights, costs = new Map();

	for (let i = 1; i < nodes; i++) {
		if (frames.func[frameOf[i]] !== f)
			continue;
		const line = frames.line[frameOf[i]], cost = costs.get(line) || [0, 0];
		cost[0] += own[i];
		cost[1] += outer[i] ? total[i] : 0;
		costs.set(line, cost);
	}
	return costs;
}

const lineShare = value => value ? percent(value / weights.all) : '';

function lineTable(f, source) {
	const costs = lineCosts(f), hottest = max(...[...costs.values()].map(cost => cost[1]));
	const body = el('tbody'), { n, t } = source;

	n.forEach((number, i) => {
		const [flat, cum] = costs.get(number) || [0, 0];
		if (i && n[i - 1] + 1 < number)
			body.append(el('tr.gap', null, el('td', { colspan: 4 }, '⋮')));
		body.append(el(cum * 5 >= hottest && cum ? 'tr.hot' : 'tr', null,
			el('td', null, lineShare(flat)), el('td', null, lineShare(cum)),
			el('th', { scope: 'row' }, String(number)), el('td.code', null, safe(t[i]))));
	});
	return el('table', null, el('thead', null, el('tr', null, el('th', null, 'Self'),
		el('th', null, 'Total'), el('th', null, 'Line'), el('th', null, 'Source'))), body);
}

// Why there are no lines of function F.
const whyNoLines = (f, source) => source ? source.why
	: !data.source ? 'This page holds no source lines: pmu-flame --source puts them in.'
	: !funcs.file[f] ? 'The profile has no source lines of this function.'
	: 'This page holds the lines of the hottest functions only.';

function showSource(f) {
	const panel = clear(find('source')), source = sourceOf(f);
	const name = strings[funcs.name[f]] || '?';
	const command = commandFor(data.strings[funcs.name[f]], data.file || 'FILE');

	panel.append(el('h2', { title: cut(name, 2000) }, shortened(name, 90)));
	if (source && source.n.length)
		panel.append(el('p', null, strings[funcs.file[f]] + ': this page holds lines of it' +
			(source.newer ? '; the file is newer than the profile, so its lines may ' +
				'be others now' : '') + '.'), lineTable(f, source));
	else
		panel.append(el('p', null, safe(whyNoLines(f, source))));
	if (command)
		panel.append(el('p', null, 'All lines, and instructions (--show asm):'),
			el('pre', null, command),
			el('button', { onclick: () => navigator.clipboard &&
				navigator.clipboard.writeText(command).catch(() => {}) },
			'Copy command'));
	panel.append(el('button', { autofocus: '', onclick: () => panel.close() }, 'Close'));
	panel.showModal();
	panel.querySelector('.hot')?.scrollIntoView({ block: 'center' });
}

// The panel of BOX, if a box is one function.
function showSourceOf(box) {
	const f = box && box.key >= 0 ? keys.func[box.key] : 0;

	if (f > 0 && (state.g === 'function' || state.g === 'line'))
		showSource(f);
}
