// The board: points of two classes, or a painted region, drawn by mouse, finger or keys.
const LAST = 511, CELLS = 32; // places on an axis; cells on each side of a painted region
const NEAR = 11, WIDE = 16; // pixels to a point; pixels of brush and eraser
const PAINT = 1.6; // cells of the paint brush
const TOOLS = [
  ["point", "Points", "Click: a point. Press on a point and move: drag it."],
  ["brush", "Brush", "A cluster where you press, more as you move."],
  ["erase", "Erase", "Remove points, or paint."],
  ["paint", "Paint a region", "Paint where the class is true: points are sampled from it."],
];
const SIGNS = [[-1, "●", "circle"], [1, "◆", "diamond"]];
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const past = (globalThis.kmvizPast ??= []); // what was drawn before: Undo works across pages
const within = (value) => Math.max(0, Math.min(LAST, Math.round(value)));

class Board {
  constructor(parent) {
    this.root = element("div", "sketch", parent);
    const bar = element("div", "tools", this.root);
    this.signs = SIGNS.map(([label, sign]) =>
      this.button(bar, sign, `Class ${label > 0 ? "+1" : "-1"}`, () => this.choose({ label })));
    this.kinds = TOOLS.map(([tool, words, help]) =>
      this.button(bar, words, help, () => this.choose({ tool })));
    this.canvas = element("canvas", "", this.root);
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label",
      "Board to draw on. Arrow keys move the pen, space uses it, Ctrl+Z undoes.");
    const below = element("div", "tools", this.root);
    this.back = this.button(below, "Undo", "Ctrl+Z", () => this.undo());
    this.button(below, "Clear", "Remove everything; Undo brings it back",
      () => this.changed([this.points, this.cells], [], null));
    this.button(below, "Start from banana", "120 points of the banana set",
      () => this.say({ start: true }));
    this.count = element("span", "count", below);
    Object.assign(this, { points: [], cells: null, seen: null, moves: 0, stroke: null });
    this.root.kmviz = { points: () => this.points, line: () => this.seen?.line }; // for tests
    this.canvas.onpointerdown = (event) => this.press(event);
    this.canvas.onpointermove = (event) => this.stroke && this.move(this.at(event));
    this.canvas.onpointerup = this.canvas.onpointercancel = () => this.lift();
    this.canvas.onkeydown = (event) => this.key(event);
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.root);
    this.choose({ pen: [256, 256], tool: "point", label: 1 });
  }

  button(parent, words, help, act) {
    const made = element("button", "", parent, words);
    Object.assign(made, { type: "button", title: help, onclick: act });
    return made;
  }

  choose(chosen) {
    Object.assign(this, chosen);
    const press = (made, is) => made.setAttribute("aria-pressed", is);
    this.signs.forEach((made, k) => press(made, SIGNS[k][0] === this.label));
    this.kinds.forEach((made, k) => press(made, TOOLS[k][0] === this.tool));
  }

  // What Python has made of a drawing; an answer to an older stroke never takes back a newer one.
  hear(data) {
    this.seen = data;
    if (!this.stroke && data.heard >= this.moves) {
      const mine = JSON.stringify([this.points, this.cells]);
      const told = JSON.stringify([data.points, data.cells]);
      if (this.known && told !== mine) past.push(JSON.parse(mine));
      [this.points, this.cells] = JSON.parse(told);
      this.moves = data.heard;
      this.known = true;
    }
    this.draw();
  }

  say(what) {
    this.moves += 1;
    this.tell("drawn", { ...what, move: this.moves });
  }

  // What was drawn before can be brought back; Python hears what is drawn now.
  changed(before, points = this.points, cells = this.cells) {
    if (before) past.push(before);
    Object.assign(this, { points, cells });
    this.say({ points, cells });
    this.draw();
  }

  undo() {
    if (past.length) this.changed(null, ...past.pop());
  }

  // Pixels of the board to places on it, which grow upwards.
  at({ offsetX, offsetY }) {
    return [offsetX, this.side - offsetY].map((value) => within((value / this.side) * LAST));
  }

  press(event) {
    if (event.button) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.begin(this.at(event));
  }

  begin(place) {
    this.stroke = { before: [structuredClone(this.points), this.cells], held: null, last: null };
    const paints = this.tool === "paint" || (this.tool === "erase" && this.cells);
    if (paints && !this.cells) [this.points, this.cells] = [[], "0".repeat(CELLS * CELLS)];
    const sampled = () => structuredClone(this.seen.sample);
    if (!paints && this.cells) [this.points, this.cells] = [sampled(), null];
    if (this.tool === "point") this.stroke.held = this.nearest(place) ?? this.add(place);
    this.move(place);
  }

  move([x, y]) {
    const { held, last } = this.stroke, wide = (WIDE * LAST) / this.side;
    const isFar = ([a, b]) => Math.hypot(a - x, b - y) > wide;
    this.pen = [x, y];
    if (this.tool === "point" && held) [held[0], held[1]] = [x, y];
    else if (this.cells) this.paint(x, y);
    else if (this.tool === "erase") this.points = this.points.filter(isFar);
    else if (this.tool === "brush" && (!last || isFar(last))) {
      for (let k = last ? 2 : 6; k; k--) this.add([x + scatter() * wide, y + scatter() * wide]);
      this.stroke.last = [x, y];
    }
    this.draw();
  }

  lift() {
    if (!this.stroke) return;
    const { before } = this.stroke;
    this.stroke = null;
    const isSame = JSON.stringify(before) === JSON.stringify([this.points, this.cells]);
    if (!isSame) this.changed(before);
  }

  key(event) {
    const way = KEYS[event.key], step = event.shiftKey ? 48 : 12;
    if (way) this.pen = this.pen.map((value, k) => within(value + way[k] * step));
    else if (event.key === " " || event.key === "Enter") { this.begin(this.pen); this.lift(); }
    else if (event.key === "z" && (event.ctrlKey || event.metaKey)) this.undo();
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.draw();
  }

  nearest([x, y]) {
    const away = ([a, b]) => Math.hypot(a - x, b - y);
    const found = this.points.filter((one) => away(one) < (NEAR * LAST) / this.side);
    return found.sort((a, b) => away(a) - away(b))[0];
  }

  add(place) {
    if (this.points.length >= this.seen.most) return null;
    const made = [...place.map(within), this.label];
    this.points.push(made);
    return made;
  }

  paint(x, y) {
    const unit = (LAST + 1) / CELLS, set = this.tool === "paint" && this.label > 0 ? "1" : "0";
    this.cells = [...this.cells].map((cell, k) => {
      const away = [(k % CELLS) + 0.5 - x / unit, Math.floor(k / CELLS) + 0.5 - y / unit];
      return Math.hypot(...away) < PAINT ? set : cell;
    }).join("");
  }

  draw() {
    const { seen, root } = this, theme = root.isConnected && readTheme(root);
    if (!theme || !root.clientWidth || !seen) return;
    const side = (this.side = Math.min(root.clientWidth, seen.largest)), { named } = theme;
    Object.assign(this.canvas.style, { width: `${side}px`, height: `${side}px` });
    const context = sized(this.canvas, side, side), r = side < 320 ? 3 : 4.5; // of a point
    const sx = (x) => (x / LAST) * side, sy = (y) => side - (y / LAST) * side;
    const mark = ([x, y], ...look) => symbolAt(context, look.shift(), sx(x), sy(y), ...look);
    const field = Uint8Array.from(atob(seen.field), (code) => code.charCodeAt(0));
    const wide = Math.sqrt(field.length), { diverging } = theme.shades;
    if (wide) context.drawImage(picture(field, wide, diverging), 0, 0, side, side);
    if (this.cells) this.drawCells(context, named["categorical 1"]);
    for (const point of this.cells ? seen.sample : this.points) {
      const k = point[2] > 0 ? 1 : 0;
      mark(point, SIGNS[k][2], r, named[`categorical ${k}`], named.paper, 0.75);
    }
    for (const vector of seen.vectors) mark(vector, "circle", r + 3, null, named.ink, 1.25);
    const [x, y] = [0, 1].map((k) => seen.line.map((place) => place?.[k] ?? NaN));
    for (const [color, width] of [[named.paper, 6], [named.ink, 2.5]]) {
      Object.assign(context, { strokeStyle: color, lineWidth: width, lineJoin: "round" });
      polyline(context, x, y, { sx, sy });
    }
    if (seen.star) mark(seen.star, "star", 8, named.ink);
    if (root.getRootNode().activeElement === this.canvas)
      mark(this.pen, "square", 7, null, named.ink, 1);
    this.tellCount();
  }

  drawCells(context, color) {
    context.globalAlpha = 0.35;
    context.imageSmoothingEnabled = false;
    const cells = picture(this.cells, CELLS, { 1: ramp([color, color])[0] });
    context.drawImage(cells, 0, 0, this.side, this.side);
    context.globalAlpha = 1;
  }

  tellCount() {
    const { most, sample, heard } = this.seen, shown = this.cells ? sample : this.points;
    const many = shown.filter(([, , label]) => label > 0).length;
    const full = !this.cells && this.points.length >= most ? `: ${most} are the most` : "";
    this.count.textContent = `${shown.length - many} ● ${many} ◆${full}`;
    this.back.disabled = !past.length;
    this.root.dataset.kmvizSketch = shown.length;
    this.root.dataset.heard = heard;
  }

  end() {
    this.watch.disconnect();
    this.root.remove();
  }
}

// About normal: the sum of a few even draws.
const scatter = () => Math.random() + Math.random() + Math.random() - 1.5;

export default function ({ data, parentElement, setStateValue }) {
  const board = (parentElement.kmvizBoard ??= new Board(parentElement));
  board.tell = setStateValue;
  board.hear(data);
  return () => {
    board.end();
    delete parentElement.kmvizBoard;
  };
}
