/*
 * Boxes: groups of nodes with one key and one box above.  They are made when a wider box
 * is opened, so callers need no second tree.  Downwards a box has nodes (members).  Upwards
 * it has pairs: a node that is reached (members) and the node where the way up began
 * (origins), whose weight counts.
 */
let root = null;		// the tree that is drawn
let above = null;		// of a sandwich: the callers
let zoom = null;		// the box that has the whole width; null: a root
let treesFor = '';
let slots = new Int32Array(0), stamps = new Int32Array(0), stamp = 0;

const newBox = (key, parentBox, up) => ({ key, parent: parentBox, up,
	depth: parentBox ? parentBox.depth + 1 : 0, value: 0, other: 0, order: 0, self: 0,
	members: [], origins: up ? [] : null, children: null, absorbs: false });

const isRest = box => box.rest !== undefined;

// Add all nodes below NODES with the same key: a file that calls itself is one box.
function absorb(list, key, from) {
	const todo = from.slice();

	while (todo.length)
		for (let c = firstChild[todo.pop()]; c; c = nextSibling[c])
			if (keys.node[c] === key) {
				list.push(c);
				todo.push(c);
			}
}

// The child of BOX with this key, in OUT: slots are by key, and valid if stamped.
function childBox(box, key, out) {
	if (stamps[key] !== stamp) {
		stamps[key] = stamp;
		slots[key] = out.length;
		out.push(newBox(key, box, box.up));
	}
	return out[slots[key]];
}

function groupDown(box, out) {
	const { total, otherTotal, order } = weights;

	for (const node of box.members)
		for (let c = firstChild[node]; c; c = nextSibling[c]) {
			const value = total[c], other = otherTotal ? otherTotal[c] : 0;
			if (value === 0 && other === 0)
				continue;
			if (keys.folds && box.absorbs && keys.node[c] === box.key)
				continue;
			const child = childBox(box, keys.node[c], out);
			child.value += value;
			child.other += other;
			child.order += order[c];
			child.absorbs = true;
			child.members.push(c);
			if (keys.folds)
				absorb(child.members, child.key, [c]);
		}
}

function groupUp(box, out) {
	const { own, other } = box.up;

	for (let i = 0; i < box.members.length; i++) {
		const node = box.members[i], origin = box.origins[i];
		if (!node)
			continue;
		const key = keys.node[node];
		let next = parent[node];
		while (keys.folds && next && keys.node[next] === key)
			next = parent[next];
		const child = childBox(box, key, out);
		child.value += own[origin];
		child.order += own[origin];
		child.other += other ? other[origin] : 0;
		child.self += next ? 0 : own[origin];
		child.members.push(next);
		child.origins.push(origin);
	}
}

function childrenOf(box) {
	if (box.children)
		return box.children;
	if (slots.length < keys.count) {
		slots = new Int32Array(keys.count);
		stamps = new Int32Array(keys.count);
	}
	stamp++;
	box.children = [];
	if (box.up)
		groupUp(box, box.children);
	else
		groupDown(box, box.children);
	return box.children.sort((a, b) => b.order - a.order || b.value - a.value || a.key - b.key);
}

function selfOf(box) {
	if (isRest(box))
		return 0;
	return box.up ? box.self : box.members.reduce((sum, node) => sum + weights.own[node], 0);
}

// Where all stacks end: the tops of all callers' trees.
function callersRoot() {
	const { own, other } = weights, box = newBox(keys.node[0], null, { own, other });

	for (let i = 1; i < nodes; i++)
		if (own[i] || other && other[i])
			box.members.push(i);
	box.origins = box.members.slice();
	return box;
}

// All above and below one function, merged; each stack counts once.
function sandwichRoots() {
	const { total, otherTotal } = weights, key = keys.name.indexOf(state.f), found = [];

	root = newBox(max(0, key), null, null);
	above = newBox(root.key, null, { own: total, other: otherTotal });
	for (let i = 1; key >= 0 && i < nodes; i++)
		if (keys.node[i] === key && keys.outer[i] &&
		    (total[i] || otherTotal && otherTotal[i])) {
			found.push(i);
			root.value += total[i];
			root.other += otherTotal ? otherTotal[i] : 0;
		}
	above.value = root.value;
	above.other = root.other;
	above.origins = found;
	above.members = found.map(node => parent[node]);
	root.members = found.slice();
	if (keys.folds && key >= 0) {
		root.absorbs = true;
		absorb(root.members, key, found);
	}
}

function plantTrees() {
	const now = [version, state.v, state.g, state.v === 'sandwich' ? state.f : ''].join('|');

	if (now === treesFor)
		return;
	treesFor = now;
	above = null;
	if (state.v === 'sandwich')
		return sandwichRoots();
	root = state.v === 'callers' ? callersRoot() : newBox(keys.node[0], null, null);
	if (state.v !== 'callers')
		root.members.push(0);
	root.value = weights.all;
	root.other = weights.otherAll;
}

// All children of BOX but the COUNT heaviest, as one box.
function restOf(box, count) {
	const byValue = childrenOf(box).slice().sort((a, b) => b.value - a.value || a.key - b.key);
	const rest = newBox(-1, box, box.up);

	rest.rest = count;
	rest.children = byValue.slice(count).sort((a, b) => b.order - a.order);
	for (const child of rest.children) {
		rest.value += child.value;
		rest.other += child.other;
	}
	return rest;
}

// The way to a box, as it stands in the address: keys in base 36; rN: restOf(N); ^: callers.
function pathOf(box) {
	const path = [];

	for (; box.parent; box = box.parent)
		path.unshift(isRest(box) ? 'r' + box.rest : box.key.toString(36));
	return (box === above ? '^' : '') + path.join('.');
}

// The box at a path, or as far as the path leads.
function boxAtPath(path) {
	let box = path[0] === '^' && above || root;

	for (const step of path.replace('^', '').split('.')) {
		const next = !step ? null : /^r\d+$/.test(step) ? restOf(box, +step.slice(1))
			: childrenOf(box).find(child => child.key === parseInt(step, 36));
		if (!next || isRest(next) && !next.children.length)
			break;
		box = next;
	}
	return box;
}

const rootOf = box => {
	while (box.parent)
		box = box.parent;
	return box;
};

/*
 * Layout: rows of places {box, x, width, dim}.  Boxes under a pixel are one rest if that
 * is a pixel wide.  Rows: 0 is the root's; in a sandwich the callers' come first.
 */
const NARROWEST = 1;
const layout = { width: 0, rows: [], middle: 0, boxes: 0, thin: 0 };

function put(rows, level, place) {
	(rows[level] = rows[level] || []).push(place);
	layout.boxes++;
}

function placeChildren(rows, place, level, todo) {
	const { box, width } = place, scale = width / box.value;
	let x = place.x, wide = 0, thinValue = 0, thin = 0;

	for (const child of childrenOf(box)) {
		const w = child.value * scale;
		if (w >= NARROWEST) {
			todo.push([{ box: child, x, width: w, dim: false }, level + 1]);
			x += w;
			wide++;
		} else {
			thinValue += child.value;
			thin++;
		}
	}
	layout.thin += thin;
	if (thinValue * scale >= NARROWEST && !isRest(box))
		put(rows, level + 1, { box: restOf(box, wide), x, width: thinValue * scale,
			dim: false });
}

// Boxes above the zoomed one have the whole width, and are dimmed.
function placeTree(rows, tree) {
	const top = zoom && rootOf(zoom) === tree ? zoom : tree, todo = [];
	let level = 0;

	for (let box = top.parent; box; box = box.parent)
		rows.unshift([{ box, x: 0, width: layout.width, dim: true }]);
	level = rows.length;
	layout.boxes += level;
	todo.push([{ box: top, x: 0, width: layout.width, dim: false }, level]);
	while (todo.length) {
		const [place, at] = todo.pop();
		put(rows, at, place);
		if (place.box.value > 0)
			placeChildren(rows, place, at, todo);
	}
	for (const row of rows)
		row.sort((a, b) => a.x - b.x);
}

function layOut(width) {
	const up = [], down = [];

	Object.assign(layout, { width, rows: [], boxes: 0, thin: 0 });
	if (above && !root.value && !root.other)
		return;
	placeTree(down, root);
	if (above) {
		placeTree(up, above);
		up.shift();
	}
	layout.middle = up.length;
	layout.rows = up.reverse().concat(down);
	layout.rows.forEach((row, number) => row.forEach(place => place.row = number));
}
