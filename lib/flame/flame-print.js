/*
 * Printing: first the graph, at the paper's width, in strips of whole rows, between which pages may
 * break; then the start of the table, and the heat map.
 */
const PAPER = 740;			// width of the layout in pixels, which is scaled to the paper
const STRIP = 10;			// rows of a strip
const SHARP = 2;			// pixels of a canvas for each of the layout
const ROWS_MAX = 840;			// rows of a graph that are printed: what a canvas may be high

// The rows FROM to TO of the canvas, from its top.
function strip(from, to) {
	const margin = 4 * SHARP, height = (to - from) * ROW * SHARP;
	const c = el('canvas', { width: canvas.width, height, 'data-rows': to - from });

	c.getContext('2d').drawImage(canvas, 0, margin + from * ROW * SHARP, canvas.width, height,
		0, 0, canvas.width, height);
	return c;
}

function printGraph() {
	const paper = el('div#paper', { 'aria-hidden': 'true' });

	layOut(PAPER);
	const rows = min(ROWS_MAX, layout.rows.length);
	whole = rows * ROW + 8;
	draw();
	for (let from = 0; from < rows; from += STRIP)
		paper.append(strip(from, min(rows, from + STRIP)));
	plot.prepend(paper);
}

function print(on) {
	whole = 0;
	find('paper')?.remove();
	if (!on) {
		document.querySelector('main').before(find('heat'));
		return update();
	}
	dark = false;
	document.documentElement.dataset.theme = 'light';
	document.body.classList.remove('wide');
	document.body.append(find('heat'));
	hover = focus = null;
	drawHeat();
	printGraph();
	showLegend();
	drawTable();
}
