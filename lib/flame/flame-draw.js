/*
 * Draws the boxes that can be seen: one canvas as large as the window, over an empty block
 * that has the height of the graph.
 */
const ROW = 19;
const FONT = '12px system-ui,sans-serif';
let plot, canvas, pen;
let hover = null, focus = null;		// places
let selected = -1;			// the key that is marked everywhere
let whole = 0;				// height of the canvas for a printer; 0: the window's
const textWidths = new Map();

const upward = () => state.v === 'flame';
const graphHeight = () => whole || max(plot.clientHeight, layout.rows.length * ROW + 8);
const topOf = row => upward() ? graphHeight() - (row + 1) * ROW - 4 : row * ROW + 4;
const rowAtHeight = y => floor((upward() ? graphHeight() - 4 - y : y - 4) / ROW);

function nameOf(box) {
	if (isRest(box))
		return box.children.length + ' functions, each thinner than a pixel';
	const paths = box.up || !box.members.length || !isCut(frameOf[box.members[0]]) ? 0
		: box.members.reduce((sum, node) => sum + frames.line[frameOf[node]], 0);
	return paths ? strings[funcs.name[data.cut.func]].replace(']', ': ' + grouped(paths) + ' paths]')
		: keys.name[box.key];
}

// The text of a box: its name, and what may follow where there is room.
function caption(box) {
	if (isRest(box))
		return ['+' + box.children.length, ''];
	if (!box.parent && state.v !== 'sandwich')
		return [state.v === 'callers' ? 'all, by the function on top' : 'all',
			'   ' + amount(weights.all)];
	if (weights.mode === 'ratio' && box.parent)
		return [nameOf(box), box.other ? '   ' + digits(box.value / box.other) : ''];
	if (weights.mode && box.parent) {
		const mark = changeMark(verdictOf(box), box.value, box.other);
		return [nameOf(box), mark && '   ' + mark + points(box.value, box.other)];
	}
	return [nameOf(box), '   ' + percent(box.value / weights.all, 1)];
}

function textWidth(text) {
	if (textWidths.size > 20000)
		textWidths.clear();
	if (!textWidths.has(text))
		textWidths.set(text, pen.measureText(text).width);
	return textWidths.get(text);
}

// The longest form of a box's name that fits, with what may follow it.
function label(box, room) {
	const fits = text => textWidth(text) <= room;

	if (room < 14)
		return '';
	const [name, more] = caption(box), whole = formsOf(name)[0];
	return more && fits(whole + more) ? whole + more : short(name, fits, 2, room / 3);
}

function drawPlace(place, y, { lines, dots }) {
	const { box, x, dim } = place, g = pen, height = ROW - 1;
	const width = place.width > 3 ? place.width - 1 : place.width * 0.9;
	const hit = isHit(box), faint = search.hits && !hit;

	g.globalAlpha = dim ? 0.55 : faint ? 0.42 : 1;
	g.fillStyle = hit ? hitColour() : colourOf(box);
	g.fillRect(x, y, width, height);
	if (weights.mode && box.parent && !hit && verdictOf(box) === UNSTEADY) {
		g.fillStyle = dots;
		g.fillRect(x, y, width, height);
	}
	if (isRest(box)) {
		g.fillStyle = lines;
		g.fillRect(x, y, width, height);
		if (hasHit(box)) {
			g.globalAlpha = 1;
			g.fillStyle = '#c026d3';
			g.fillRect(x, y, width, 4);
		}
	} else if (box.parent || state.v === 'sandwich') {
		drawMark(g, funcs.kind[keys.func[box.key]], isInlined(box), x, y, width, height,
			lines);
	}
	if (selected >= 0 && box.key === selected && box.parent) {
		g.globalAlpha = 1;
		g.strokeStyle = dark ? '#ffd9a8' : '#7a2f00';
		g.lineWidth = 2;
		g.strokeRect(x + 1, y + 1, max(1, width - 2), height - 2);
	}
	if (place.width > 22) {
		g.globalAlpha = dim ? 0.8 : faint ? 0.65 : 1;
		g.fillStyle = ink();
		g.fillText(label(box, width - 8), x + 4, y + height / 2 + 0.5);
	}
}

function drawFrame(place, scroll, colour, width) {
	if (!place || place.row >= layout.rows.length)
		return;
	pen.strokeStyle = colour;
	pen.lineWidth = width;
	pen.strokeRect(place.x + 0.6, topOf(place.row) - scroll + 0.6,
		max(1.5, place.width - 1.2), ROW - 2.2);
}

function sayEmpty(width, height) {
	const name = safe(types[state.t].name);

	pen.fillStyle = ink();
	pen.textAlign = 'center';
	pen.fillText(state.v === 'sandwich' && weights.all
		? cut(state.f, 80) + ' has no samples here. Choose a function in the table, or ' +
			'go back (Esc).'
		: 'No sample of ' + name + ' in this selection. Choose another type, or clear ' +
			'the filters.', width / 2, height / 2);
	pen.textAlign = 'left';
}

// Give the canvas the size of the window, in the pixels of the device.
function sizeCanvas(width, height) {
	const ratio = whole ? SHARP : min(3, window.devicePixelRatio || 1);
	const [w, h] = [round(width * ratio), round(height * ratio)];

	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
		canvas.style.width = width + 'px';
		canvas.style.height = height + 'px';
	}
	find('spacer').style.height = graphHeight() + 'px';
	find('spacer').style.marginTop = -height + 'px';
	pen.setTransform(ratio, 0, 0, ratio, 0, 0);
	pen.clearRect(0, 0, width, height);
	pen.font = FONT;
	pen.textBaseline = 'middle';
	return patterns(pen, ratio);
}

function draw() {
	const width = whole ? PAPER : plot.clientWidth;
	const height = whole || plot.clientHeight, scroll = whole ? 0 : plot.scrollTop;
	const filling = sizeCanvas(width, height);

	layout.rows.forEach((row, number) => {
		const y = topOf(number) - scroll;
		if (y + ROW >= 0 && y <= height)
			for (const place of row)
				drawPlace(place, y, filling);
	});
	pen.globalAlpha = 1;
	if (state.v === 'sandwich' && root.value) {
		const y = topOf(layout.middle) - scroll;
		pen.fillStyle = ink();
		pen.fillRect(0, y - 1.5, width, 1.5);
		pen.fillRect(0, y + ROW - 1.5, width, 1.5);
	}
	drawFrame(hover, scroll, dark ? '#fff' : '#000', 1.2);
	drawFrame(focus, scroll, dark ? '#ffb066' : '#a8480b', 2.5);
	if (!root.value && !root.other)
		sayEmpty(width, height);
}

let drawingLater = 0;
function drawLater() {
	if (!drawingLater)
		drawingLater = requestAnimationFrame(() => {
			drawingLater = 0;
			draw();
		});
}

// The place at a point of the graph, or null.
function placeAt(x, y) {
	const row = layout.rows[rowAtHeight(y)];

	if (!row)
		return null;
	let low = 0, high = row.length - 1;
	while (low < high) {
		const middle = low + high + 1 >> 1;
		if (row[middle].x <= x)
			low = middle;
		else
			high = middle - 1;
	}
	const place = row[low];
	return x >= place.x && x < place.x + max(place.width, 1.5) ? place : null;
}

// The lines of a box that cost most.
function linesOf(box) {
	const values = new Map();

	if (box.up || keys.folds)
		return '';
	for (const node of box.members) {
		const line = frames.line[frameOf[node]];
		if (line)
			values.set(line, (values.get(line) || 0) + weights.total[node]);
	}
	return [...values].sort((a, b) => b[1] - a[1]).slice(0, 3).map(([line, value]) =>
		lineText(keys.func[box.key], line) + (values.size > 1 ? ' (' + (100 * value / box.value).toFixed(0) + ' %)' : ''))
		.join(', ');
}

// Where a box's code is, and of which kind it is.
function factsOfCode(box) {
	const f = keys.func[box.key], out = [];
	const file = strings[funcs.file[f]], object = strings[funcs.object[f]];
	const lines = linesOf(box), line = lines || state.g !== 'line' && funcs.line[f];

	if (file || object)
		out.push([cut((file ? file + (line ? ':' + line : '')
			: isNameless(f) && lines || 'no source') +
			(object ? '  in ' + object : ''), 300)]);
	out.push([KIND[funcs.kind[f]] + (isInlined(box) ? ', inlined into its caller' : '')]);
	return out;
}

function factsOfChange(box) {
	const w = weights, z = abs(changeOf(box.value, box.other));

	if (w.mode === 'ratio')
		return [[safe(types[state.t].name) + ' / ' + safe(types[ratioType()].name) + ' = ' +
			(box.other ? digits(box.value / box.other) : '–') + ', all ' +
			digits(w.all / w.otherAll), 'v']];
	const side = w.mode === 'rest' ? 'rest ' : state.gone === '1' ? 'after ' : 'before ';
	return [[side + percent(box.other / w.otherAll) + '   ' + points(box.value, box.other) +
		'   ' + verdictText(verdictOf(box)) + (w.mode === 'diff' ? '' : z >= 99
		? ' (number of samples unknown)' : ' (' + z.toFixed(1) + ' standard errors)'), 'v']];
}

// The sums of a box's function, with their error bars.
function sumsText(key) {
	const [flat, cum] = ['flat', 'cum'].map(kind =>
		percent(sums[kind][key] / weights.all) + barText(kind, key));

	return 'in all call paths: self ' + flat + ', total ' + cum;
}

// What the reader sees of a box: lines of text, with a class.
function factsOf(box) {
	const w = weights, out = [];

	if (box.key > 0)
		out.push(...factsOfCode(box));
	out.push([amount(box.value) + '   ' + percent(box.value / w.all) + ' of all' +
		(zoom && zoom.value ? ',  ' + percent(box.value / zoom.value) + ' of ' +
			shortened(nameOf(zoom), 40) : ''), 'v']);
	if (box.key > 0) {
		sumKeys();
		out.push(['self ' + amount(selfOf(box)) + '   ' + percent(selfOf(box) / w.all),
			'v'], [sumsText(box.key)]);
	}
	if (w.count && types[state.t].per && sampleNoun(types[state.t]) === 'sample')
		out.push(['about ' + counted(round(box.value / types[state.t].per), 'sample')]);
	if (w.mode)
		out.push(...factsOfChange(box));
	if (search.hits)
		out.push(['matched here: ' + percent(matchedIn(box) / box.value)]);
	return out;
}

function showTip(place, x, y) {
	const tip = find('tip'), path = [];

	if (!place) {
		tip.style.display = 'none';
		find('now').textContent = zoom ? shortened(nameOf(zoom), 200) : '';
		return;
	}
	clear(tip).append(el('b', null, shortened(nameOf(place.box), 600)), ...factsOf(place.box).map(
		([text, name]) => el(name ? 'div.' + name : 'div', null, text)));
	tip.style.display = 'block';
	const { width, height } = tip.getBoundingClientRect();
	tip.style.left = max(4, min(x + 14, innerWidth - width - 6)) + 'px';
	tip.style.top = (y + 18 + height > innerHeight ? max(4, y - height - 12) : y + 18) +
		'px';
	for (let box = place.box; box && box.parent && path.length < 8; box = box.parent)
		path.push(shortened(nameOf(box), 60));
	find('now').textContent = percent(place.box.value / weights.all) + '  ' +
		path.join('  ←  ');
}
