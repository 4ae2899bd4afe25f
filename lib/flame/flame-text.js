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

const UNITS = {
	nanoseconds: [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [0, 'ns']],
	bytes: [[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [1024, 'KiB'], [0, 'B']],
};
const COUNTS = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e4, 'k', 1e3]];

// A value of a type, with its unit.
function amount(value, type = types[state.t]) {
	const size = abs(value), sign = value < 0 ? '−' : '';
	const unit = Object.hasOwn(UNITS, type.unit) ? UNITS[type.unit] : null;

	for (const [from, name, by] of unit || COUNTS)
		if (size >= from)
			return sign + (from ? digits(size / (by || from)) : size.toFixed(0)) +
				' ' + name;
	return sign + (Number.isInteger(size) ? size : digits(size)) +
		(type.unit === 'count' ? '' : ' ' + safe(type.unit));
}

const grouped = number => number.toLocaleString('en');

const counted = (number, noun, plural = noun + 's') =>
	grouped(number) + ' ' + (number === 1 ? noun : plural);

const percent = (share, places = 2) =>
	Number.isFinite(share) ? (100 * share).toFixed(places) + ' %' : '–';
