/*
 * Short forms of function names, for where a whole name does not fit: short-name.h has the rules,
 * tests/short-names the cases that it and this file must agree on.
 */

// The signs of C++ operators that contain brackets; a longer one comes before its start.
const SIGNS = ['->*', '<=>', '<<=', '>>=', '->', '<<', '>>', '<=', '>=', '()', '[]', '<', '>'];
const LONGEST = 4096;			// characters of a name that is taken apart
const DEEPEST = 16;			// brackets in brackets
const isLetter = c => c !== undefined && /[\w$]|[^\0-\x7f]/.test(c);

// Where the C++ operator at I ends, with the type that it converts to; or I.
function afterOperator(name, i) {
	if (!name.startsWith('operator', i) || isLetter(name[i - 1]) || isLetter(name[i + 8]))
		return i;
	const word = /^ (new|delete)(\[\])?/.exec(name.slice(i + 8));
	if (word)
		return i + 8 + word[0].length;
	const end = i + 8 + (SIGNS.find(sign => name.startsWith(sign, i + 8)) ?? '').length;
	// the demangler puts a space between operator< and its arguments
	return name.startsWith(' <', end) && name[end - 1] === '<' ? end + 1 : end;
}

// For each opening bracket of a name the index of its end, for each other character 0.
function pairs(name) {
	const end = new Array(name.length).fill(0), open = [];

	for (let i = 0; i < name.length; i++) {
		const after = afterOperator(name, i), close = '>)]}'.indexOf(name[i]);
		if (after > i) {
			i = after - 1;
		} else if ('<([{'.includes(name[i])) {
			open.push(i);
		} else if (close >= 0 && (close > 0 || !'-='.includes(name[i - 1]))) {
			// a < that is not closed is a sign
			let top = open.length - 1;
			while (close > 0 && top >= 0 && name[open[top]] === '<')
				top--;
			if (top >= 0 && name[open[top]] === '<([{'[close]) {
				end[open[top]] = i;
				open.length = top;
			}
		}
	}
	return end;
}

// The parts of TEXT between the commas outside of brackets.
function listOf(text) {
	const end = pairs(text), list = [];
	let start = 0;

	for (let i = 0; i <= text.length; i = (end[i] || i) + 1)
		if (i === text.length || text[i] === ',') {
			list.push(text.slice(start, i).trim());
			start = i + 1;
		}
	return list;
}

// Templates of std for characters: their usual names have no "basic_".
const BASIC = new RegExp('^basic_((?:|i|o)(?:stream|stringstream|fstream)|ios|string|string_view' +
	'|streambuf|stringbuf|filebuf|regex)$');
const SAME = ['char_traits', 'less', 'hash', 'equal_to', 'default_delete'];

// Whether ARGUMENT of a template of std is its default, which programs leave out.
function isDefault(argument, first) {
	const [, name, of] = /^std::(\w+)<(.*)>$/s.exec(argument) ?? [];

	return name === 'allocator' || SAME.includes(name) && of.trim() === first;
}

// NAME with the types of std as programs write them: std::string for its basic_string<...>.
function known(name, depth = 0) {
	const end = pairs(name);
	let text = '';

	if (depth > DEEPEST)
		return name;
	for (let i = 0; i < name.length; i++) {
		text += name[i];
		if (name[i] !== '<' || !end[i])
			continue;
		const [base, , plain] = /\bstd::(__cxx11::|__1::)?(\w+)<$/.exec(text) ?? [];
		const inside = name.slice(i + 1, end[i]);
		i = end[i];
		if (!base) {
			text += known(inside, depth + 1) + '>';
			continue;
		}
		const list = listOf(inside).map(argument => known(argument, depth + 1));
		const [first] = list, basic = BASIC.exec(plain);
		while (list.length > 1 && isDefault(list.at(-1), first))
			list.pop();
		const type = list.length === 1 && basic
			? { char: basic[1], wchar_t: 'w' + basic[1] }[first] : '';
		text = text.slice(0, -base.length) + 'std::' + (type ||
			plain + '<' + list.join(', ') + (list.at(-1).endsWith('>') ? ' >' : '>'));
	}
	return text;
}

// What separates the parts of NAME, as a function that returns the separator at an index, or ''.
function separatorsOf(name, end) {
	let text = '', slash = -1;

	for (let i = 0; i < name.length; i = (end[i] || i) + 1) {
		text += end[i] ? '()' : name[i];
		slash = name[i] === '/' ? i : slash;
	}
	const at = (...list) => i => list.find(separator => name.startsWith(separator, i)) ?? '';
	if (text.includes('::'))
		return at('::');
	if (text[0] === '/' && !text.includes(' '))
		return at('/');
	if (/^caml[A-Z]/.test(text))
		return at('__', '.');
	// a library, or text for people
	if (/\.so\b/.test(text) || text.lastIndexOf(' ') > text.lastIndexOf('('))
		return at();
	return i => i >= slash ? at('/', '.')(i) : at('/')(i);
}

/*
 * The tokens of NAME outside of brackets: { kind, text }.  Kinds: word; space; separator;
 * arguments and parameters, in brackets after a word; group, in brackets elsewhere.
 */
function tokensOf(name) {
	const end = pairs(name), separatorAt = separatorsOf(name, end), tokens = [];
	const add = (kind, text) => tokens.at(-1)?.kind === 'word' && kind === 'word'
		? tokens.at(-1).text += text : tokens.push({ kind, text });

	for (let i = 0, next; i < name.length; i = next) {
		const after = afterOperator(name, i), before = tokens.at(-1)?.kind;
		const separator = separatorAt(i);
		next = i + 1;
		if (after > i) {
			next = after;
			// what an operator converts to belongs to its name
			while (name[after] === ' ' && next < name.length && name[next] !== '(')
				next = (end[next] || next) + 1;
			add('word', name.slice(i, next));
		} else if (end[i]) {
			next = end[i] + 1;
			add(name[i] === '{' || !['word', 'arguments'].includes(before) ? 'group'
				: name[i] === '(' && !name.startsWith('!', i - 1) ? 'parameters'
				: 'arguments', name.slice(i, next));
		} else if (separator) {
			next = i + separator.length;
			add('separator', separator);
		} else {
			add(name[i] === ' ' ? 'space' : 'word', name[i]);
		}
	}
	return tokens;
}

const leftOut = text => text.length > 2 ? text[0] + '…' + text.at(-1) : text;

// The text of a token without what is in brackets after words.
function shrink({ kind, text }, depth = 0) {
	if (kind === 'arguments' || kind === 'parameters')
		return leftOut(text);
	return kind !== 'group' || depth > DEEPEST ? text : text[0] +
		tokensOf(text.slice(1, -1)).map(token => shrink(token, depth + 1)).join('') +
		text.at(-1);
}

const isParameters = ({ kind }) => kind === 'parameters';

// Where the name starts after the type that the function returns: an index of TOKENS.
function startOf(tokens) {
	const last = tokens.findLastIndex(isParameters);

	return 1 + tokens.findLastIndex(({ kind }, i) => i < last && kind === 'space' &&
		!isParameters(tokens[i - 1] ?? {}) &&
		!/^(const|volatile|&+)$/.test(tokens[i + 1].text));
}

// Parts of a name that say nothing without the part before: closures, numbers, hashes.
const ATTACHED = new RegExp('^(\\{|operator\\(\\)|func\\d|gowrap|deferwrap|\\d|part$|cold' +
	'|constprop|isra|lto_priv|llvm$)');

// The last part of a mangled name of Rust.
const HASH = /^h[0-9a-f]{16}$/;

// Where the function's own name starts: an index of TOKENS.
function ownOf(tokens, start) {
	let own = tokens.length, at;

	do {
		at = tokens.findLastIndex(({ kind }, i) => i >= start && i < own - 1 &&
			kind === 'separator');
		own = at;
	} while (at > start && [ATTACHED, HASH].some(part => part.test(tokens[at + 1]?.text)));
	return at < 0 ? start : at + 1;
}

// The forms of a name from whole to shortest, which is the function's own name.
function makeForms(name) {
	const whole = known(name).trimEnd(), tokens = tokensOf(whole), start = startOf(tokens);
	const own = ownOf(tokens, start), last = tokens.findLastIndex(isParameters) - own;
	const forms = [whole], shrunk = tokens.map(token => shrink(token));
	const from = (at, text) => (at > 0 ? '…' : '') + text.join('').trimEnd();

	if (HASH.test(tokens.at(-1)?.text) && own + 2 < tokens.length)
		shrunk.splice(-2, 2, '…');
	forms.push(from(0, shrunk.map((text, i) =>
		isParameters(tokens[i]) ? tokens[i].text : text)));
	for (let i = start; i <= own; i++)
		if (i === start || tokens[i - 1].kind === 'separator')
			forms.push(from(i, shrunk.slice(i)));
	const bare = shrunk.slice(own).filter((text, i) => text !== '…' && (last < 0 || i < last) &&
		!['arguments', 'parameters'].includes(tokens[own + i].kind));
	if (bare.length < tokens.length - own)
		forms.push(from(own, bare) + '…');
	forms.push(from(0, bare));
	if (bare.length > 1 && tokens[own].kind === 'word')
		forms.push(from(0, [tokens[own].text]) + '…', from(0, [tokens[own].text]));
	return forms;
}

// The same, made once.
const madeForms = new Map();

function formsOf(name) {
	if (madeForms.size > 20000)
		madeForms.clear();
	if (!madeForms.has(name))
		madeForms.set(name, name.length > LONGEST ? [name] : makeForms(name));
	return madeForms.get(name);
}

/*
 * The longest form of a name that FITS(); if none does, the function's own name, shortened in its
 * middle to LEAST characters or more, and MOST or less; or ''.
 */
function short(name, fits, least = 1, most = Infinity) {
	const forms = formsOf(name), form = forms.find(fits), own = forms.at(-1);

	if (form !== undefined)
		return form;
	for (let length = min(own.length - 1, floor(most)); length >= least; length--)
		if (fits(cut(own, length)))
			return cut(own, length);
	return '';
}

// A name in LENGTH characters at most.
const shortened = (name, length) => short(name, text => [...text].length <= length, 1, length);
