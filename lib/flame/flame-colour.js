/*
 * Colours: hue says what a box is, lightness varies a little by its name, and a mark repeats
 * the hue for those who cannot see it.
 */
let dark = false;
const LIGHT_HUES = [[40, 92, 70], [16, 82, 76], [208, 72, 76], [152, 44, 68], [0, 0, 80],
	[322, 70, 78]];
const DARK_HUES = [[33, 62, 35], [8, 46, 41], [211, 48, 42], [158, 40, 31], [0, 0, 34],
	[322, 50, 36]];
const SEEDS = 6;
const palette = new Map();

function seedOf(name) {
	let hash = 0;

	for (let i = 0; i < name.length && i < 60; i++)
		hash = hash * 31 + name.charCodeAt(i) | 0;
	return (hash >>> 5) % SEEDS;
}

function kindColour(kind, inlined, seed) {
	const id = ((dark ? 8 : 0) + kind) * 2 * SEEDS + (inlined ? SEEDS : 0) + seed;

	if (!palette.has(id)) {
		let [hue, saturation, light] = (dark ? DARK_HUES : LIGHT_HUES)[kind];
		hue += (seed % 3 - 1) * 4;
		light += (seed - 2.5) * (dark ? 1 : 1.7) + (!inlined ? 0 : dark ? -6 : 7);
		saturation *= inlined ? 0.8 : 1;
		palette.set(id, `hsl(${hue} ${saturation}% ${light}%)`);
	}
	return palette.get(id);
}

// BY: -1 to 1.  Orange is more, blue is less; of ratios, violet and green-blue.
function changeColour(by, ofRatio) {
	const strength = round(min(1, abs(by)) * 8) / 8;
	const hue = ofRatio ? (by > 0 ? 285 : 165) : by > 0 ? 18 : 214;
	const most = (ofRatio ? 0.6 : 1) * (dark ? 20 + 55 * strength : 30 + 60 * strength);

	return `hsl(${hue} ${most}% ${dark ? 28 + 7 * strength : 88 - 22 * strength}%)`;
}

// Large, but unsteady: a colour of its own, and dots over it.
const unsteadyColour = () => dark ? 'hsl(52 62% 27%)' : 'hsl(52 88% 70%)';

function objectColour(box) {
	const text = strings[funcs.object[keys.func[box.key]]] +
		(state.g === 'file' ? keys.name[box.key] : '');
	let hash = 0;

	for (const c of text)
		hash = hash * 33 + c.codePointAt(0) | 0;
	const hue = (hash >>> 0) % 18 * 20;
	return dark ? `hsl(${hue} 38% ${30 + keys.seed[box.key]}%)`
		: `hsl(${hue} 62% ${76 + keys.seed[box.key]}%)`;
}

const ink = () => dark ? '#fff' : '#1d1b19';
const grey = () => dark ? '#3a3e46' : '#dcd9d3';
const hitColour = () => dark ? '#8d35a8' : '#c77ddc';

// Whether a box is inlined code: 0, or 1.
function isInlined(box) {
	if (keys.folds || isRest(box))
		return 0;
	return box.up || !box.members.length ? +(keys.inlined[box.key] === 1)
		: frames.inl[frameOf[box.members[0]]];
}

function colourOf(box) {
	const { mode } = weights;

	if (isRest(box))
		return dark ? '#2b2f36' : '#e9e6e0';
	if (mode && box.parent) {
		const verdict = verdictOf(box);
		if (verdict === CHANCE)
			return grey();
		if (verdict === UNSTEADY)
			return unsteadyColour();
		const by = log2(factorOf(box.value, box.other) || 1e-9) / 1.5;
		return changeColour(direction() * (verdict === SURE ? by : 0.05 * Math.sign(by)),
			mode === 'ratio');
	}
	if (!box.parent && state.v !== 'sandwich')
		return dark ? '#34383f' : '#e4e0d9';
	if (state.c === 'object' && !keys.folds || state.g === 'file')
		return objectColour(box);
	return kindColour(funcs.kind[keys.func[box.key]], isInlined(box), keys.seed[box.key]);
}

// A tile of 6 by 6 pixels that PAINT has drawn, as a pattern for the context G.
function pattern(g, ratio, paint) {
	const tile = document.createElement('canvas'), t = tile.getContext('2d');

	tile.width = tile.height = 6 * ratio;
	t.scale(tile.width / 6, tile.height / 6);
	t.strokeStyle = t.fillStyle = dark ? '#ffffff40' : '#00000038';
	t.beginPath();
	paint(t);
	return g.createPattern(tile, 'repeat');
}

// Lines at 45 degrees, for what is lost or not shown; dots for what is unsteady.
const patterns = (g, ratio) => ({
	lines: pattern(g, ratio, t => {
		for (const x of [-3, 3, 9]) {
			t.moveTo(x - 4, 7);
			t.lineTo(x + 4, -1);
		}
		t.stroke();
	}),
	dots: pattern(g, ratio, t => {
		t.arc(3, 3, 1.1, 0, 7);
		t.fill();
	}),
});

// The second sign of a kind.
function drawMark(g, kind, inlined, x, y, width, height, hatch) {
	if (width < 5)
		return;
	g.fillStyle = dark ? '#ffffff66' : '#00000059';
	if (KIND[kind] === 'library')
		g.fillRect(x, y + height - 1, width, 1);
	else if (KIND[kind] === 'kernel')
		g.fillRect(x, y + height - 2, width, 2);
	else if (KIND[kind] === 'JIT')
		for (let i = x; i < x + width - 2; i += 5)
			g.fillRect(i, y + height - 2, 2.5, 2);
	else if (KIND[kind] === 'between threads')
		for (const line of [y, y + height - 3])
			g.fillRect(x, line, width, 3);
	for (let i = y + 1; inlined && i < y + height - 2; i += 5)
		g.fillRect(x, i, 1.5, 3);
	if (kind === LOST) {
		g.fillStyle = hatch;
		g.fillRect(x, y, width, height);
	}
}

// A sample of a colour, and what it means.
function swatch(text, paint) {
	const c = el('canvas', { width: 36, height: 24 }), g = c.getContext('2d');

	g.scale(2, 2);
	paint(g);
	return el('span', null, c, text);
}

const plain = colour => g => {
	g.fillStyle = colour;
	g.fillRect(0, 0, 18, 12);
};

const ofKind = (kind, inlined) => g => {
	plain(kindColour(kind, inlined, 1))(g);
	drawMark(g, kind, inlined, 0, 0, 18, 12, patterns(g, 1).lines);
};

function ofUnsteady(g) {
	plain(unsteadyColour())(g);
	plain(patterns(g, 1).dots)(g);
}

function showLegend() {
	const legend = clear(find('legend')), ratio = weights.mode === 'ratio';

	if (weights.mode) {
		const strong = weights.mode !== 'diff' || !whyUnjudged() ? 1 : 0.05;
		legend.append(
			swatch(ratio ? 'lower than all' : strong < 1 ? 'less, not judged' : 'less',
				plain(changeColour(-strong, ratio))),
			swatch(ratio ? 'higher than all' : strong < 1 ? 'more, not judged' : 'more',
				plain(changeColour(strong, ratio))));
		if (weights.mode === 'diff' && strong === 1)
			legend.append(swatch('large, but unsteady', ofUnsteady));
		if (strong === 1)
			legend.append(swatch('may be chance', plain(grey())));
		return;
	}
	if (state.c === 'object')
		return;
	const there = new Set(funcs.kind);
	KIND.forEach((name, kind) => {
		if (there.has(kind))
			legend.append(swatch(name, ofKind(kind, 0)));
	});
	if (frames.inl.includes(1))
		legend.append(swatch('inlined', ofKind(0, 1)));
}
