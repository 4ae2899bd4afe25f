/*
 * The page of pmu-flame, one file of several: flame-*.js become one script.
 *
 * Text of the profile is data: it reaches the page by append() and textContent only, with
 * characters that would hide, reorder or break text shown as their code.
 */
const { abs, max, min, floor, ceil, round, log, log2, exp, sqrt } = Math;

const find = id => document.getElementById(id);
const on = (e, name, listener, how) => e.addEventListener(name, listener, how);
const press = (id, pressed) => find(id).setAttribute('aria-pressed', pressed);

// Make an element: 'div.class#id', its attributes (onNAME: a listener), its children.
function el(tag, attributes, ...children) {
	const [, name, rest] = /^(\w+)(.*)$/.exec(tag);
	const e = document.createElement(name);

	for (const [, sign, word] of rest.matchAll(/([.#])([\w-]+)/g))
		if (sign === '#')
			e.id = word;
		else
			e.classList.add(word);
	for (const [key, value] of Object.entries(attributes || {}))
		if (key.startsWith('on'))
			on(e, key.slice(2), value);
		else if (value !== null)
			e.setAttribute(key, value);
	e.append(...children.filter(child => child !== null));
	return e;
}

function clear(e) {
	e.replaceChildren();
	return e;
}

// Replace the page by a message.
function fail(head, text) {
	document.body.replaceChildren(
		el('div#msg', { role: 'alert' }, el('b', null, head), text));
}

const UNSAFE = new RegExp('[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160' +
	'\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164' +
	'\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb]', 'g');

const safe = text => text.replace(UNSAFE, c =>
	'‹' + c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0') + '›');

// Shorten to LENGTH characters in the middle: names differ at both ends.
function cut(text, length) {
	const characters = text.length > length ? [...text] : text, last = (length - 1) * 0.4 | 0;

	if (characters.length <= length)
		return text;
	return characters.slice(0, length - 1 - last).join('') + '…' +
		characters.slice(characters.length - last).join('');
}

const literally = text => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

const digits = x => x >= 1e6 ? x.toExponential(2) : x >= 100 ? x.toFixed(0)
	: x >= 10 ? x.toFixed(1) : x >= 0.1 ? x.toFixed(2) : String(+x.toPrecision(3));

// X with PLACES decimals, as C rounds: of two numbers that are equally near, to the even one.
function fixed(x, places) {
	const more = 60, whole = x.toFixed(places + more);

	if (!/^50*$/.test(whole.slice(-more)))
		return x.toFixed(places);
	const lower = whole.slice(0, -more).replace(/\.$/, '');
	return /[02468]$/.test(lower) ? lower : x.toFixed(places);
}

// The rule and the tables of lib/show/value.c, which a test compares with these.
const WIDTH = 7;
const TIMES = [[0, 1, 'ns', 0], [1e2, 1e3, 'us', 1], [1e5, 1e6, 'ms', 1], [1e9, 1e9, 's', 2],
	[1e14, 3.6e12, 'h', 1], [3.6e16, 3.15576e16, 'y', 2]];
const COUNTS = [[0, 1, '', 0], [1e7, 1e6, 'M', 2], [1e9, 1e9, 'G', 2], [1e12, 1e12, 'T', 2],
	[1e15, 1e15, 'P', 2], [1e18, 1e18, 'E', 2]];

function fractionText(value) {
	const exponent = +value.toExponential(2).split('e')[1];
	const text = abs(value) < 1e-4 ? '' : String(+fixed(value, 2 - exponent));

	return text && text.length <= WIDTH ? text
		: value.toExponential(0).replace(/e-(\d)$/, 'e-0$1');
}

function valueText(value, unit) {
	const scales = unit === 'nanoseconds' ? TIMES : COUNTS, isTime = scales === TIMES;

	if (value === 0 && isTime)
		return '0.0ms';
	if (abs(value) < 1 && value !== 0 && !isTime)
		return fractionText(value);
	for (let i = scales.findLastIndex(([from]) => abs(value) >= from);; i++) {
		const [, by, suffix, most] = scales[i], next = scales[i + 1], isOne = !isTime && !i;
		let text;
		for (let n = isOne && !Number.isInteger(value) ? 1 : most; n >= 0; n--) {
			text = fixed(value / by, n) + suffix;
			if (text.length <= WIDTH && (!next || abs(parseFloat(text)) * by < next[0]))
				return text;
		}
		if (!next)
			return text;
	}
}

// A value of a type, with its unit.
const amount = (value, { unit } = types[state.t]) => valueText(value, unit).replace(/^-/, '−') +
	(['nanoseconds', 'count'].includes(unit) ? '' : ' ' + safe(unit));

const grouped = number => number.toLocaleString('en');

const counted = (number, noun, plural = noun + 's') =>
	grouped(number) + ' ' + (number === 1 ? noun : plural);

const percent = (share, places = 2) =>
	Number.isFinite(share) ? (100 * share).toFixed(places) + ' %' : '–';
