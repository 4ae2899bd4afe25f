/*
 * The heat map: time goes up in a column, then on to the next column.  Times in ns have
 * columns of seconds and 25 rows; slices are cells as they are, few of them in one row.
 */
const heat = { for: '', cells: null, most: 0, columns: 0, rows: 0, cell: 0, end: 0,
	left: 54, width: 0, height: 0, at: null, from: null, drag: null };
const SPANS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400];

// Choose the grid: CELL is the time in a cell, in ms.
function chooseGrid(room) {
	const { slices, tick } = profile;

	heat.end = profile.time.reduce((last, time) => time > last ? time : last, 0);
	if (slices) {
		heat.rows = slices <= 120 ? 1 : ceil(slices / 120);
		heat.cell = tick;
	} else {
		heat.rows = 25;
		const span = SPANS.find(s => (heat.end / 1000 / s + 1) * 4 < room) ||
			heat.end / 1000 / room * 4;
		heat.cell = span * 1000 / heat.rows;
	}
	heat.columns = floor(heat.end / heat.cell / heat.rows) + 1;
	heat.width = min(26, room / heat.columns);
	heat.height = heat.rows === 1 ? 40 : max(5, min(20, 100 / heat.rows));
}

const cellOf = time => floor(time / heat.cell + 1e-6);

function fillCells() {
	const value = profile.values[state.t], keep = byLabel(profile);

	heat.cells = new Float64Array(heat.columns * heat.rows);
	for (let i = 0; i < value.length; i++)
		if (profile.time[i] >= 0 && (!keep || keep(i)))
			heat.cells[cellOf(profile.time[i])] += value[i];
	heat.most = heat.cells.reduce((most, v) => v > most ? v : most, 0);
}

function heatColour(q) {
	if (!q)
		return dark ? '#20242b' : '#f3f0ea';
	return dark ? `hsl(${18 + 32 * q} ${70 + 20 * q}% ${14 + 50 * q}%)`
		: `hsl(${48 - 40 * q} 88% ${94 - 54 * q}%)`;
}

// The rectangle of cell NUMBER.
function cellRectangle(number) {
	const column = floor(number / heat.rows), row = number % heat.rows;

	return [heat.left + column * heat.width,
		(heat.rows - 1 - row) * heat.height,
		heat.width - (heat.width > 5 ? 1 : 0), heat.height - 1];
}

const timeText = ms => ms >= 10000 ? (ms / 1000).toFixed(0) + ' s'
	: ms >= 1 || ms === 0 ? +(ms / 1000).toFixed(3) + ' s' : ms.toFixed(3) + ' ms';

function drawAxes(g, height, room) {
	const column = heat.cell * heat.rows, step = ceil(60 / heat.width);

	g.fillStyle = dark ? '#a3a6ad' : '#6a645c';
	g.textAlign = 'left';
	for (let x = 0; (x + 1) * heat.width < room; x += step)
		g.fillText(timeText(x * column), heat.left + x * heat.width, height + 14);
	if (heat.rows === 1)
		return;
	g.textAlign = 'right';
	g.fillText(timeText(column), heat.left - 4, 9);
	g.fillText('0', heat.left - 4, height - 1);
}

// Cells out of the span are pale; a line below the axis says where the span is.
function drawCells(g, height) {
	const span = heat.drag || weights.span;

	for (let i = 0; i <= cellOf(heat.end); i++) {
		const [x, y, width, tall] = cellRectangle(i);
		const isIn = span && i >= cellOf(span[0]) && i < cellOf(span[1]);
		g.globalAlpha = !span || isIn ? 1 : 0.3;
		g.fillStyle = heatColour(heat.most > 0
			? sqrt(max(0, heat.cells[i]) / heat.most) : 0);
		g.fillRect(x, y, width, tall);
		g.fillStyle = dark ? '#7fd0ff' : '#0b5fa8';
		if (isIn)
			g.fillRect(x, height, width, 2);
	}
	g.globalAlpha = 1;
}

function drawFocus(g) {
	g.lineWidth = 2;
	if (heat.at !== null && document.activeElement === find('hc')) {
		g.strokeStyle = ink();
		g.strokeRect(...cellRectangle(heat.at));
	}
}

function drawHeat() {
	const box = find('heat'), on = profile.time !== null && state.heat === '1';

	box.classList.toggle('on', on);
	if (!on || !box.clientWidth)	// folded, in a small window
		return;
	const c = find('hc'), g = c.getContext('2d'), width = box.clientWidth - 24;
	const now = [state.t, state.l, width].join('|');
	const ratio = min(3, window.devicePixelRatio || 1);
	if (now !== heat.for) {
		heat.for = now;
		chooseGrid(width - heat.left);
		fillCells();
	}
	const height = heat.rows * heat.height;
	c.width = width * ratio;
	c.height = (height + 16) * ratio;
	c.style.height = height + 16 + 'px';
	g.setTransform(ratio, 0, 0, ratio, 0, 0);
	g.font = '11px system-ui,sans-serif';
	drawCells(g, height);
	drawAxes(g, height, min(heat.columns * heat.width + 1, width - heat.left - 24));
	drawFocus(g);
	sayHeat();
}

function sayHeat() {
	const { span } = weights;

	find('hcap').textContent = heat.from !== null
		? 'From ' + timeText(heat.from * heat.cell) + ' to ' +
			timeText((heat.at + 1) * heat.cell) + ': Space selects, Esc cancels.'
		: span ? timeText(span[0]) + ' – ' + timeText(span[1]) + ': ' +
			amount(weights.all) + ', ' + percent(weights.all / weights.order[0], 1) +
			' of all'
		: 'Drag over a span to see only its samples. ' + (dark ? 'Brighter' : 'Darker') +
			': more ' + wordOf(types[state.t]) + '. A column is ' +
			timeText(heat.rows * heat.cell) +
			(heat.rows > 1 ? ', a row ' + timeText(heat.cell) : '') + '.';
	find('hclr').disabled = find('hvs').disabled = !span;
	press('hvs', state.vs === '1');
}

// The number of the cell at a point of the page.
function cellAt(event) {
	const { left, top } = find('hc').getBoundingClientRect();
	const inside = (x, count) => max(0, min(count - 1, floor(x)));
	const column = inside((event.clientX - left - heat.left) / heat.width, heat.columns);
	const row = heat.rows - 1 - inside((event.clientY - top) / heat.height, heat.rows);

	return min(column * heat.rows + row, cellOf(heat.end));
}

// From cell A to cell B, whichever is first, in ms.
const spanOfCells = (a, b) => [min(a, b) * heat.cell, (max(a, b) + 1) * heat.cell];

function selectSpan(span) {
	heat.drag = heat.from = null;
	set({ s: span ? span.map(ms => +ms.toFixed(6)).join('-') : '', vs: span ? state.vs : '0' });
}

function listenToHeat() {
	const c = find('hc');
	let from = null;

	on(c, 'pointerdown', event => {
		from = cellAt(event);
		c.setPointerCapture(event.pointerId);
	});
	on(c, 'pointermove', event => {
		if (from === null)
			return;
		heat.drag = spanOfCells(from, cellAt(event));
		drawHeat();
	});
	on(c, 'pointerup', event => {
		if (from === null)
			return;
		const span = heat.drag || spanOfCells(from, cellAt(event));
		from = null;
		selectSpan(span);
	});
	on(c, 'keydown', heatKey);
	on(c, 'blur', () => drawHeat());
	on(c, 'focus', () => {
		heat.at = heat.at === null ? 0 : heat.at;
		drawHeat();
	});
}

// Arrows move a cell, Space marks the first and the last cell of a span.
function heatKey(event) {
	const steps = { ArrowRight: heat.rows, ArrowLeft: -heat.rows, ArrowUp: 1, ArrowDown: -1 };

	if (Object.hasOwn(steps, event.key)) {
		heat.at = max(0, min(cellOf(heat.end), heat.at + steps[event.key]));
		heat.drag = heat.from === null ? null : spanOfCells(heat.from, heat.at);
	} else if (event.key === ' ' && heat.from === null) {
		heat.from = heat.at;
		heat.drag = spanOfCells(heat.at, heat.at);
	} else if (event.key === ' ') {
		selectSpan(spanOfCells(heat.from, heat.at));
	} else if (event.key === 'Escape' && heat.from !== null) {
		heat.from = heat.drag = null;
	} else {
		return;
	}
	drawHeat();
	event.preventDefault();
	event.stopPropagation();
}
