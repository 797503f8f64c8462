// The board: points of two classes, or a painted region, drawn by mouse, finger or keys.
const LAST = 511, CELLS = 32; // places on an axis; cells on each side of a painted region
const NEAR = 11, WIDE = 16, PAINT = 1.6; // pixels to a point; pixels of brush and eraser; cells of the paint brush
const TOOLS = [["point", "Points", "Click: a point. Press on a point and move: drag it."],
  ["brush", "Brush", "A cluster where you press, more as you move."], ["erase", "Erase", "Remove points, or paint."],
  ["paint", "Paint a region", "Paint where the class is true: points are sampled from it."]];
const SIGNS = [[-1, "●", "circle"], [1, "◆", "diamond"]];
const past = (globalThis.kmvizPast ??= []); // what was drawn before: Undo works across pages

class Board {
  constructor(parent) {
    this.root = element("div", "sketch", parent);
    const bar = element("div", "tools", this.root);
    this.signs = SIGNS.map(([label, sign]) => this.button(bar, sign, `Class ${label > 0 ? "+1" : "-1"}`, () => this.choose({ label })));
    this.kinds = TOOLS.map(([tool, words, help]) => this.button(bar, words, help, () => this.choose({ tool })));
    this.canvas = element("canvas", "", this.root);
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", "Board to draw on. Arrow keys move the pen, space uses it, Ctrl+Z undoes.");
    const below = element("div", "tools", this.root);
    this.back = this.button(below, "Undo", "Ctrl+Z", () => this.undo());
    this.button(below, "Clear", "Remove everything; Undo brings it back", () => this.change({ points: [], cells: null }));
    this.button(below, "Start from banana", "120 points of the banana set", () => this.say({ start: true }));
    this.count = element("span", "count", below);
    Object.assign(this, { points: [], cells: null, seen: null, moves: 0, pen: [256, 256], tool: "point", label: 1, stroke: null });
    this.root.kmviz = { points: () => this.points, cells: () => this.cells, line: () => this.seen?.line };
    this.canvas.onpointerdown = (event) => this.press(event);
    this.canvas.onpointermove = (event) => this.stroke && this.move(this.at(event));
    this.canvas.onpointerup = this.canvas.onpointercancel = () => this.lift();
    this.canvas.onkeydown = (event) => this.key(event);
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.root);
    this.choose({});
  }

  button(parent, words, help, act) {
    const made = element("button", "", parent, words);
    Object.assign(made, { type: "button", title: help, onclick: act });
    return made;
  }

  choose(chosen) {
    Object.assign(this, chosen);
    this.signs.forEach((made, k) => made.setAttribute("aria-pressed", String(SIGNS[k][0] === this.label)));
    this.kinds.forEach((made, k) => made.setAttribute("aria-pressed", String(TOOLS[k][0] === this.tool)));
  }

  // What Python has made of a drawing; an answer to an older stroke never takes back a newer one.
  hear(data) {
    this.seen = data;
    if (!this.stroke && data.heard >= this.moves) {
      const told = JSON.stringify([data.points, data.cells]), mine = JSON.stringify([this.points, this.cells]);
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

  change({ points, cells }) {
    past.push([this.points, this.cells]);
    Object.assign(this, { points, cells });
    this.say({ points, cells });
    this.draw();
  }

  undo() {
    if (!past.length) return;
    [this.points, this.cells] = past.pop();
    this.say({ points: this.points, cells: this.cells });
    this.draw();
  }

  // Pixels of the board to places on it, which grow upwards.
  at({ offsetX, offsetY }) {
    const within = (value) => Math.max(0, Math.min(LAST, Math.round((value / this.side) * LAST)));
    return [within(offsetX), LAST - within(offsetY)];
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
    if (!paints && this.cells) [this.points, this.cells] = [structuredClone(this.seen.sample), null];
    if (this.tool === "point") this.stroke.held = this.nearest(place) ?? this.add(place);
    this.move(place);
  }

  move([x, y]) {
    const { held, last } = this.stroke, unit = LAST / this.side;
    this.pen = [x, y];
    if (this.tool === "point" && held) [held[0], held[1]] = [x, y];
    else if (this.cells) this.paint(x, y);
    else if (this.tool === "erase") this.points = this.points.filter(([a, b]) => Math.hypot(a - x, b - y) > WIDE * unit);
    else if (this.tool === "brush" && (!last || Math.hypot(last[0] - x, last[1] - y) > WIDE * unit)) {
      for (let k = last ? 2 : 6; k; k--) this.add([x + scatter() * WIDE * unit, y + scatter() * WIDE * unit]);
      this.stroke.last = [x, y];
    }
    this.draw();
  }

  lift() {
    if (!this.stroke) return;
    const { before } = this.stroke;
    this.stroke = null;
    if (JSON.stringify(before) === JSON.stringify([this.points, this.cells])) return;
    past.push(before);
    this.say({ points: this.points, cells: this.cells });
    this.draw();
  }

  key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (steps) this.pen = this.pen.map((value, k) => Math.max(0, Math.min(LAST, value + steps[k] * (event.shiftKey ? 48 : 12))));
    else if (event.key === " " || event.key === "Enter") { this.begin(this.pen); this.lift(); }
    else if (event.key === "z" && (event.ctrlKey || event.metaKey)) this.undo();
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.draw();
  }

  nearest([x, y]) {
    const away = ([a, b]) => Math.hypot(a - x, b - y), found = this.points.filter((one) => away(one) < (NEAR * LAST) / this.side);
    return found.sort((a, b) => away(a) - away(b))[0];
  }

  add(place) {
    if (this.points.length >= this.seen.most) return null;
    const made = [...place.map((value) => Math.max(0, Math.min(LAST, Math.round(value)))), this.label];
    this.points.push(made);
    return made;
  }

  paint(x, y) {
    const cells = [...this.cells], unit = (LAST + 1) / CELLS, set = this.tool === "paint" && this.label > 0 ? "1" : "0";
    for (let k = 0; k < cells.length; k++)
      if (Math.hypot((k % CELLS) + 0.5 - x / unit, Math.floor(k / CELLS) + 0.5 - y / unit) < PAINT) cells[k] = set;
    this.cells = cells.join("");
  }

  draw() {
    const theme = this.root.isConnected && readTheme(this.root), width = this.root.clientWidth;
    if (!theme || !width || !this.seen) return;
    this.side = Math.min(width, this.seen.largest);
    Object.assign(this.canvas.style, { width: `${this.side}px`, height: `${this.side}px` });
    const context = sized(this.canvas, this.side, this.side), { named } = theme;
    const r = this.side < 320 ? 3 : 4.5; // a point, and the ring of a support vector
    const sx = (x) => (x / LAST) * this.side, sy = (y) => this.side - (y / LAST) * this.side;
    if (this.seen.field) drawField(context, this.seen.field, theme, this.side);
    if (this.cells) this.drawCells(context, named);
    for (const [x, y, label] of this.cells ? this.seen.sample : this.points) {
      const k = label > 0 ? 1 : 0;
      symbolPath(context, SIGNS[k][2], sx(x), sy(y), r);
      Object.assign(context, { fillStyle: named[`categorical ${k}`], strokeStyle: named.paper, lineWidth: 0.75 });
      context.fill();
      context.stroke();
    }
    Object.assign(context, { strokeStyle: named.ink, lineWidth: 1.25 });
    for (const [x, y] of this.seen.vectors) { context.beginPath(); context.arc(sx(x), sy(y), r + 3, 0, 7); context.stroke(); }
    this.drawLine(context, sx, sy, named);
    if (this.seen.star) { symbolPath(context, "star", sx(this.seen.star[0]), sy(this.seen.star[1]), 8); context.fillStyle = named.ink; context.fill(); }
    if (this.root.getRootNode().activeElement === this.canvas) this.drawPen(context, sx, sy, named);
    this.tellCount();
  }

  drawCells(context, named) {
    const unit = this.side / CELLS;
    context.globalAlpha = 0.35;
    context.fillStyle = named["categorical 1"];
    for (let k = 0; k < this.cells.length; k++)
      if (this.cells[k] === "1") context.fillRect((k % CELLS) * unit, this.side - (Math.floor(k / CELLS) + 1) * unit, unit + 0.5, unit + 0.5);
    context.globalAlpha = 1;
  }

  drawLine(context, sx, sy, named) {
    for (const [color, width] of [[named.paper, 6], [named.ink, 2.5]]) {
      Object.assign(context, { strokeStyle: color, lineWidth: width, lineJoin: "round" });
      context.beginPath();
      let pen = false;
      for (const place of this.seen.line) {
        if (place) context[pen ? "lineTo" : "moveTo"](sx(place[0]), sy(place[1]));
        pen = Boolean(place);
      }
      context.stroke();
    }
  }

  drawPen(context, sx, sy, named) {
    const [x, y] = [sx(this.pen[0]), sy(this.pen[1])];
    Object.assign(context, { strokeStyle: named.ink, lineWidth: 1 });
    context.strokeRect(x - 6, y - 6, 12, 12);
  }

  tellCount() {
    const shown = this.cells ? this.seen.sample : this.points, many = shown.filter(([, , label]) => label > 0).length;
    const full = !this.cells && this.points.length >= this.seen.most ? `: ${this.seen.most} are the most` : "";
    this.count.textContent = `${shown.length - many} ● ${many} ◆${full}`;
    this.back.disabled = !past.length;
    this.root.dataset.kmvizSketch = shown.length;
    this.root.dataset.heard = this.seen.heard;
  }

  end() {
    this.watch.disconnect();
    this.root.remove();
  }
}

// About normal: the sum of a few even draws.
const scatter = () => Math.random() + Math.random() + Math.random() - 1.5;

// f over the board, as bytes from far in one class to far in the other.
function drawField(context, field, theme, side) {
  const codes = atob(field), n = Math.sqrt(codes.length), image = new ImageData(n, n), pixels = new Uint32Array(image.data.buffer);
  for (let k = 0; k < codes.length; k++) pixels[(n - 1 - Math.floor(k / n)) * n + (k % n)] = theme.shades.diverging[codes.charCodeAt(k)];
  const small = new OffscreenCanvas(n, n);
  small.getContext("2d").putImageData(image, 0, 0);
  context.drawImage(small, 0, 0, side, side);
}

export default function ({ data, parentElement, setStateValue }) {
  const board = (parentElement.kmvizBoard ??= new Board(parentElement));
  board.tell = setStateValue;
  board.hear(data);
  return () => {
    board.end();
    delete parentElement.kmvizBoard;
  };
}
