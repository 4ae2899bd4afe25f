/*
 * Reads the data of the page (flame-page.c says what each field is): columns of numbers,
 * a tree of call paths, and rows at its nodes.
 */
const KIND = ['program', 'library', 'kernel', 'JIT', 'lost', 'between threads'];
const LOST = 4;
let data, types, strings, funcs, frames;
let profile, base;

// The tree: nodes by number, the root is 0, parents before children.
let nodes, parent, frameOf, depth, firstChild, nextSibling;

async function inflate(text, count) {
	const binary = atob(text), bytes = new Uint8Array(binary.length);

	for (let i = 0; i < bytes.length; i++)
		bytes[i] = binary.charCodeAt(i);
	const stream = new Blob([bytes]).stream()
		.pipeThrough(new DecompressionStream('deflate-raw'));
	try {
		return new Uint8Array(await new Response(stream).arrayBuffer());
	} catch {
		throw new Error('a column of ' + count + ' numbers does not inflate');
	}
}

// The numbers of a column; SIGNED: zigzag.  Doubles are exact up to 2 to the 53rd.
async function numbers(column, signed) {
	const bytes = await inflate(column.z, column.n);
	const out = signed ? new Float64Array(column.n) : new Int32Array(column.n);
	let at = 0;

	for (let i = 0; i < out.length; i++) {
		let x = bytes[at++];
		if (x > 127) {
			let factor = 128, byte;
			x -= 128;
			do {
				byte = bytes[at++];
				x += (byte & 127) * factor;
				factor *= 128;
			} while (byte > 127);
		}
		out[i] = !signed ? x : x % 2 ? -(x + 1) / 2 : x / 2;
	}
	if (at !== bytes.length)
		throw new Error('a column of ' + column.n + ' numbers has ' + bytes.length +
			' bytes, and ends at byte ' + at);
	return out;
}

async function table(from) {
	const out = {};

	for (const key of Object.keys(from))
		if (key !== 'n')
			out[key] = await numbers(from[key], key === 'line');
	return out;
}

function addUp(array) {
	for (let i = 1; i < array.length; i++)
		array[i] += array[i - 1];
}

async function readValues(column) {
	const out = await numbers(column, true);

	if (column.mul > 1)
		for (let i = 0; i < out.length; i++)
			out[i] *= column.mul;
	return out;
}

// Rows: node, set (or null), time in ms from the start (or null; -1: unknown), values by type.
async function readRows(from) {
	const rows = { node: await numbers(from.node, true), set: null, time: null, values: [] };

	addUp(rows.node);
	if (from.set)
		rows.set = await numbers(from.set);
	if (from.time) {
		rows.time = Float64Array.from(await numbers(from.time));
		addUp(rows.time);
		rows.tick = from.tick / 1e6;
		rows.slices = from.slices;
		for (let i = 0; i < rows.time.length; i++)
			rows.time[i] = i < from.untimed ? -1 : rows.time[i] * rows.tick;
	}
	for (const column of from.val)
		rows.values.push(await readValues(column));
	return rows;
}

function readTree(from) {
	nodes = from.pop.length + 1;
	[parent, frameOf, depth, firstChild, nextSibling] =
		Array.from({ length: 5 }, () => new Int32Array(nodes));
	for (let i = 1; i < nodes; i++) {
		let above = i - 1;
		for (let up = from.pop[i - 1]; up > 0; up--)
			above = parent[above];
		parent[i] = above;
		depth[i] = depth[above] + 1;
		frameOf[i] = from.frame[i - 1];
	}
	for (let i = nodes - 1; i > 0; i--) {
		nextSibling[i] = firstChild[parent[i]];
		firstChild[parent[i]] = i;
	}
}

async function readData() {
	data = JSON.parse(find('data').textContent);
	if (data.v !== 1)
		throw new Error('its version is ' + data.v + ', and this page reads version 1');
	types = data.types;
	strings = data.strings.map(safe);
	funcs = await table(data.funcs);
	frames = await table(data.frames);
	readTree(await table(data.nodes));
	profile = await readRows(data.rows);
	base = data.base ? await readRows(data.base) : null;
	for (const bars of data.bars)
		for (const kind of ['flat', 'cum'])
			bars[kind] = bars[kind] ? await numbers(bars[kind]) : [];
	for (const verdicts of data.verdicts || [])
		for (const kind of ['flat', 'cum', 'path'])
			verdicts[kind] = verdicts[kind] ? await numbers(verdicts[kind]) : [];
	if (data.cut) {
		data.cut.flat = await Promise.all(data.cut.flat.map(readValues));
		data.cut.cum = await Promise.all(data.cut.cum.map(readValues));
	}
}

// Whether a frame stands for call paths that pmu-flame summed up: its line says how many.
const isCut = frame => data.cut !== undefined && frames.func[frame] === data.cut.func;
