/*
 * A view is a weight per node: the sum of the rows that it selects.  Type, label, span of
 * time, comparison and ratio only change the weights.
 */

// What makes two frames the same box: keys, for each granularity, made when it is first used.
let keys;
const keysOf = new Map();

function keyOfFrame(frame, by) {
	const f = frames.func[frame];

	switch (by) {
	case 'function': return f;
	case 'line': return isCut(frame) ? f : f + ':' + frames.line[frame];
	case 'file': return funcs.file[f] || -funcs.object[f] - 1;
	default: return funcs.object[f];
	}
}

// An object whose addresses have no function: they are the lines of its frames.
const isNameless = f => funcs.line[f] < 0;

const lineText = (f, line) =>
	isNameless(f) ? '0x' + BigInt.asUintN(64, BigInt(line)).toString(16) : line;

function nameOfLine(frame, name) {
	const f = frames.func[frame], line = lineText(f, frames.line[frame]);

	return isCut(frame) || !line ? name
		: isNameless(f) ? name.slice(1, name.lastIndexOf(':')) + '+' + line
		: name + ':' + line;
}

function nameOfKey(frame, by) {
	const f = frames.func[frame], name = strings[funcs.name[f]] || '?';
	const file = strings[funcs.file[f]], object = strings[funcs.object[f]];

	if (frame === 0)
		return 'all';
	switch (by) {
	case 'function': return name;
	case 'line': return nameOfLine(frame, name);
	case 'file': return file || '[' + (object || 'no file') + ']';
	default: return object || '[no object]';
	}
}

// Number the keys of all frames: name, function, and whether always (1) or at times (2) inlined.
function numberKeys(by, of) {
	const ids = new Map(), name = [], func = [], inlined = [];

	for (let i = 0; i < of.length; i++) {
		const key = keyOfFrame(i, by);
		let id = ids.get(key);
		if (id === undefined) {
			ids.set(key, id = name.length);
			name.push(nameOfKey(i, by));
			func.push(frames.func[i]);
			inlined.push(frames.inl[i]);
		} else if (inlined[id] !== frames.inl[i]) {
			inlined[id] = 2;
		}
		of[i] = id;
	}
	return { name, func, inlined, count: name.length, seed: name.map(seedOf) };
}

// OUTER: the node has no caller of the same key, so that recursion counts once.
function makeKeys(by) {
	const of = new Int32Array(frames.func.length), made = numberKeys(by, of);
	const node = new Int32Array(nodes), outer = new Uint8Array(nodes);
	const open = new Int32Array(made.count), path = [];

	for (let i = 0; i < nodes; i++) {
		const key = node[i] = of[frameOf[i]];
		while (path.length > depth[i])
			open[path.pop()]--;
		outer[i] = open[key]++ ? 0 : 1;
		path.push(key);
	}
	return Object.assign(made, { node, outer, folds: by === 'file' || by === 'object' });
}

function chooseKeys() {
	if (!keysOf.has(state.g))
		keysOf.set(state.g, makeKeys(state.g));
	keys = keysOf.get(state.g);
}

// The weights: own and total value by node.  ORDER: totals of all rows, so that boxes keep
// their places while rows are selected.  OTHER: the weights to compare with; or null.
let weights = null, weightsFor = '', version = 0;

const ratioType = () => state.r === '' ? (state.t === types.length - 1 ? 0 : state.t + 1)
	: min(types.length - 1, state.r | 0);

function sumRows(rows, type, keep) {
	const out = new Float64Array(nodes), value = rows.values[type];

	for (let i = 0; i < value.length; i++)
		if (!keep || keep(i))
			out[rows.node[i]] += value[i];
	return out;
}

function sumUp(own) {
	const total = own.slice();

	for (let i = nodes - 1; i > 0; i--)
		total[parent[i]] += total[i];
	return total;
}

// A label as it stands in the address: key and value, each encoded.
const labelId = (key, value) =>
	encodeURIComponent(strings[key]) + '=' + encodeURIComponent(strings[value]);

// The selection of rows by label; null: all.
function byLabel(rows) {
	if (state.l === '')
		return null;
	const good = data.sets.map(set => set.some(([k, v]) => labelId(k, v) === state.l));
	return i => good[rows.set ? rows.set[i] : 0];
}

const both = (a, b) => a && b ? i => a(i) && b(i) : a || b;

// The span of time that is selected, in ms: [from, to]; null: all.
function spanOf() {
	const span = state.s.split('-').map(Number);

	return profile.time && span.length === 2 && span[0] < span[1] ? span : null;
}

function weigh() {
	const now = [state.t, state.l, state.s, state.r, state.c, state.vs, state.gone].join('|');

	if (now === weightsFor)
		return;
	weightsFor = now;
	version++;
	const span = spanOf(), label = byLabel(profile);
	const inSpan = span ? i => profile.time[i] >= span[0] && profile.time[i] < span[1] : null;
	const keep = both(label, inSpan);
	const w = weights = { span, mode: '', own: sumRows(profile, state.t, keep),
		other: null, otherTotal: null, otherAll: 0, otherCount: 0, isWhole: !keep,
		isAll: !keep };
	w.total = sumUp(w.own);
	w.order = keep ? sumUp(sumRows(profile, state.t)) : w.total;
	w.count = samplesIn(profile, state.t, keep, w.total[0]);
	compare(w, keep, label, inSpan);
	w.all = w.total[0];
}

// How many samples of TYPE, or contentions, the rows have that are kept; ALL: their value; 0: unknown.
function samplesIn(rows, type, keep, all) {
	const { count, per } = types[type];

	if (count === undefined)
		return per ? all / per : 0;
	return rows.values[count].reduce((sum, value, i) => !keep || keep(i) ? sum + value : sum, 0);
}

const OF_TIME = { cpu: 'CPU', wall: 'time' };
const OF_WAITS = ['delay', 'block', 'mutex', 'causes'];

// What the samples of a type are; and whether its values are how many of these there are.
function sampleNoun({ count }) {
	const name = types[count]?.name ?? '';

	return name === 'contentions' || OF_WAITS.includes(name.replace('_samples', ''))
		? 'contention' : 'sample';
}

const isNumberOfSamples = type => types[type.count] === type;

// What a type is of, in words.
function wordOf(type) {
	const { name } = type;

	return name === 'off-cpu' || OF_WAITS.includes(name) ? 'waiting'
		: isNumberOfSamples(type) ? sampleNoun(type) + 's'
		: Object.hasOwn(OF_TIME, name) ? OF_TIME[name] : safe(name);
}

// A value of the type that is shown, in words: "4.66s of CPU", "17.31M cycles".
function quantity(value) {
	const type = types[state.t];

	return isNumberOfSamples(type) ? counted(value, sampleNoun(type)) : amount(value) +
		(['nanoseconds', 'bytes'].includes(type.unit) ? ' of ' : ' ') + wordOf(type);
}

// What was recorded: how much of the type, in how many ns, by how many samples.
const recorded = (value, duration, samples) => quantity(value) +
	(duration ? ' in ' + valueText(duration, 'nanoseconds') : '') +
	(samples && !isNumberOfSamples(types[state.t])
		? ' · ' + counted(round(samples), sampleNoun(types[state.t])) : '');

// The head of the page: what the whole width is, of which recording, and what it is compared with.
function headText() {
	const { all, count, span, mode, otherAll, otherCount } = weights;
	const gone = mode === 'diff' && state.gone === '1';
	const { duration, baseDuration } = data;
	const now = (zoom ? amount(zoom.value) + ' (' + percent(zoom.value / all, 1) + ') of ' : '') +
		recorded(all, span ? 0 : gone ? baseDuration : duration, count) +
		(state.l || span ? ' (filtered)' : '');

	return mode !== 'diff' ? now : (gone ? 'before: ' : 'after: ') + now +
		(gone ? '; after: ' : '; before: ') +
		recorded(otherAll, gone ? duration : baseDuration, otherCount);
}

// The error bars that hold for this view, which are those of functions in all samples.
const barsHere = () => weights.isWhole && state.g === 'function' ? data.bars[state.t] : {};

// The error bar of a key, 'flat' or 'cum', as pmu-top prints it; ~: its share is not constant.
function barText(kind, key) {
	const code = (barsHere()[kind] || [])[keys.func[key]];

	return !code ? '' : (code & 1 ? ' ~' : ' ') +
		(code < 4 ? 'exact' : '±' + ((code >> 1) / 100 - 0.02).toFixed(2));
}

// What W is compared with: the rest of the time, another type, or the base.
function compare(w, keep, label, inSpan) {
	let rows;

	if (inSpan && state.vs === '1') {
		w.mode = 'rest';
		rows = [profile, state.t, both(label, i => !inSpan(i))];
	} else if (state.c === 'ratio' && types.length > 1) {
		w.mode = 'ratio';
		rows = [profile, ratioType(), keep];
	} else if (state.c === 'diff' && base) {
		w.mode = 'diff';
		rows = [base, state.t, byLabel(base)];
	} else {
		return;
	}
	w.other = sumRows(...rows);
	w.otherTotal = sumUp(w.other);
	w.otherCount = samplesIn(...rows, w.otherTotal[0]);
	if (w.mode === 'diff' && state.gone === '1') {
		[w.own, w.other] = [w.other, w.own];
		[w.total, w.otherTotal] = [w.otherTotal, w.total];
		[w.count, w.otherCount] = [w.otherCount, w.count];
		w.isWhole = false;
	}
	w.otherAll = w.otherTotal[0];
}

// Change is always after minus before, also where the width is before.
const direction = () => weights.mode === 'diff' && state.gone === '1' ? -1 : 1;

// What is known of a change.  In a comparison of recordings pmu-flame has judged; the page judges
// only what the reader compares inside of one: a span with the rest, or two types.
const UNJUDGED = 0, CHANCE = 1, UNSTEADY = 2, SURE = 3;
const SIGNIFICANT = 3;		// standard errors

// The tail of the binomial distribution as standard errors: X of N, where FRACTION is expected.
function exactChange(x, n, fraction) {
	if (fraction > 0.5)
		return -exactChange(n - x, n, 1 - fraction);
	const up = x > n * fraction, odds = log(fraction / (1 - fraction));
	let tail = 0, term = n * log(1 - fraction);

	for (let k = 0; k <= n && k < 4000; k++) {
		if (up ? k >= x : k <= x)
			tail += exp(term);
		term += log((n - k) / (k + 1)) + odds;
	}
	const s = sqrt(-2 * log(min(0.5, max(1e-300, tail))));
	const z = max(0, s - (2.30753 + 0.27061 * s) / (1 + 0.99229 * s + 0.04481 * s * s));
	return up ? z : -z;
}

// By how many standard errors a share is above that of the other side (flame-change.c has the same).
// Above 99: it differs, but nobody knows how many samples these are.
function changeOf(value, other) {
	const w = weights;

	if (!w.all || !w.otherAll)
		return 0;
	const p = value / w.all, q = other / w.otherAll;
	if (!w.count || !w.otherCount)
		return p === q ? 0 : p > q ? 1e9 : -1e9;
	const x = round(p * w.count), n = x + round(q * w.otherCount);
	const both = w.count + w.otherCount, fraction = w.count / both, mean = n / both;
	if (n <= 0)
		return 0;
	if (n * min(fraction, 1 - fraction) < 10)
		return exactChange(x, n, fraction);
	const variance = mean * (1 - mean) * (1 / w.count + 1 / w.otherCount);
	return (p - q) / sqrt(variance > 0 ? variance : 1);
}

// Why there are no verdicts in this view; '': there are.
const whyUnjudged = () => data.verdicts[state.t].why ||
	(weights.isAll && state.g === 'function' ? ''
		: 'they are for functions in all samples');

// The verdict of a code (flame-verdicts.h) on a change from OTHER to VALUE.  That of a function says
// nothing of a call path with the opposite change.
function verdictOfCode(code, value, other) {
	const sign = Math.sign(changeOfShare(value, other)) * direction();

	return !code || sign && (code & 1) !== (sign > 0 ? 1 : 0) ? UNJUDGED
		: max(CHANCE, (code >> 1) - 1);
}

// The verdict on VALUE and OTHER; CODE: that of pmu-flame on them.
const verdictOn = (value, other, code) => weights.mode !== 'diff'
	? abs(changeOf(value, other)) < SIGNIFICANT ? CHANCE : SURE
	: whyUnjudged() ? UNJUDGED : verdictOfCode(code, value, other);

// pmu-flame's code for a box: of its call path, or else of a function.  The callers in a sandwich
// share the value of the function at their start, so they have its verdict.
function codeOf(box) {
	const { flat, cum, path } = (data.verdicts || [])[state.t] || {};
	let of = box;

	if (isRest(box) || !flat)
		return 0;
	if (!box.up)
		return state.v !== 'sandwich' && path.length ? path[box.members[0]]
			: cum[keys.func[box.key]];
	while (of.depth > (state.v === 'callers' ? 1 : 0))
		of = of.parent;
	return (state.v === 'callers' ? flat : cum)[keys.func[of.key]];
}

const verdictOf = box => verdictOn(box.value, box.other, codeOf(box));

const changeOfShare = (value, other) =>
	(value / weights.all || 0) - (other / weights.otherAll || 0);

const factorOf = (value, other) =>
	(value / weights.all || 0) / (other / weights.otherAll || 0);

// A change of share in points, with its sign.
function points(value, other) {
	const d = direction() * 100 * changeOfShare(value, other);

	return (d < 0 ? '−' : '+') + abs(d).toFixed(abs(d) < 1 ? 2 : 1) + ' pt';
}
