// A chart: axes drawn once for a size and a theme, layers for each position, hover and click.
const REACH = 14; // pixels from the pointer to what it points at

class Chart {
  constructor(stage, legend) {
    this.canvas = element("canvas", "", stage);
    this.legend = legend;
    this.hidden = new Set();
    this.still = document.createElement("canvas");
  }

  load(spec) {
    this.spec = spec;
    this.theme = null;
  }

  place(width, theme) {
    this.theme = theme;
    const { height, layers } = this.spec, stamped = new Map();
    this.stamps = (symbol, color, size) => {
      const key = `${symbol} ${color} ${size}`;
      if (!stamped.has(key)) stamped.set(key, stamp(symbol, color, theme.named.paper, size));
      return stamped.get(key);
    };
    this.canvas.style.height = `${height}px`;
    this.context = sized(this.canvas, width, height);
    this.width = width;
    const still = sized(this.still, width, height);
    this.context.font = still.font = theme.font(TEXT);
    this.direct = width >= 420;
    const labels = layers.filter((layer) => this.isDirect(layer)).map((layer) => still.measureText(layer.name).width + 8);
    const { x, y } = this.zoom ?? { x: this.spec.x.range, y: this.spec.y.range };
    const axes = { ...this.spec, x: { ...this.spec.x, range: x }, y: { ...this.spec.y, range: y } };
    this.area = areaOf(axes, width, height, Math.max(0, ...labels), still);
    drawAxes(still, this.area, theme);
    this.drawLegend();
  }

  isDirect(layer) {
    return this.direct && layer.kind === "line" && layer.labelled && layer.name;
  }

  drawLegend() {
    this.legend.replaceChildren();
    for (const layer of this.spec.layers) {
      const { kind, name, title, names, symbols, colors, color, dashed } = layer;
      if (kind === "heat" && title) this.legend.append(scaleKey(layer, this.theme.ramps[layer.scale]));
      else if (kind === "points") names.forEach((name, g) => this.addEntry(name, GLYPHS[symbols[g % symbols.length]], colors[g % colors.length]));
      else if (kind === "band") this.addEntry(name, "■", color, Math.max(0.35, layer.opacity)); // as it is drawn
      else if (!this.isDirect(layer)) this.addEntry(name, dashed ? "╌" : "━", color);
    }
    if (this.zoom) element("button", "entry", this.legend, "⟲ reset zoom").onclick = () => this.look(null);
  }

  // A button of the legend hides what it names, and shows it again.
  addEntry(name, glyph, color, opacity = 1) {
    if (!name) return;
    const entry = element("button", "entry", this.legend), say = () => entry.setAttribute("aria-pressed", String(!this.hidden.has(name)));
    entry.type = "button";
    Object.assign(element("span", "glyph", entry, glyph).style, { color: this.theme.named[color], opacity });
    entry.append(name);
    say();
    entry.onclick = () => {
      if (!this.hidden.delete(name)) this.hidden.add(name);
      say();
      this.draw(this.position);
    };
  }

  // Looks closer, at the ranges given, or at all of it.
  look(zoom) {
    this.zoom = zoom;
    this.place(this.width, this.theme);
    this.draw(this.position);
  }

  draw(i) {
    const { context, area, theme } = this;
    this.position = i;
    context.clearRect(0, 0, this.width, this.spec.height);
    context.drawImage(this.still, 0, 0, this.width, this.spec.height);
    context.save();
    context.beginPath();
    context.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
    context.clip();
    context.font = theme.font(TEXT);
    this.shown = this.spec.layers.map((layer) => {
      if (this.hidden.has(layer.name)) return { kind: layer.kind, name: layer.name, x: [], y: [], low: [], high: [] };
      context.save();
      const shown = LAYERS[layer.kind](context, layer, i, this);
      context.restore();
      return { kind: layer.kind, ...shown };
    });
    if (this.spot !== undefined) this.drawSpot(this.spec.layers.find(({ kind }) => kind === "reach"));
    if (this.ringed !== undefined) this.drawRing();
    context.restore();
    this.drawLabels();
  }

  // Marks the spot that answers under the pointer, rings the query that is pointed at in another
  // picture; undefined is none.
  mark(what, which) {
    if (which === this[what]) return;
    this[what] = which;
    this.draw(this.position);
  }

  drawRing() {
    const { context, area: { sx, sy }, theme: { named } } = this;
    for (const { x, y, id } of this.queries()) {
      const k = id.indexOf(this.ringed);
      for (const [color, width] of k < 0 ? [] : [[named.paper, 6], [named.ink, 3]]) {
        Object.assign(context, { strokeStyle: color, lineWidth: width });
        symbolPath(context, "circle", sx(x[k]), sy(y[k]), 10);
        context.stroke();
      }
    }
  }

  // What is shown of the layers whose ids are queries.
  queries() {
    return this.shown.filter(({ kind, id }, k) => kind === "points" && id && this.spec.layers[k].linked);
  }

  // The query nearest to the pointer, seen or unseen.
  queryAt(px, py) {
    const found = this.queries().map(({ x, y, id }) => ({ id, ...this.closest(x, y, px, py) }));
    const { id, k } = found.reduce((a, b) => (b.away < a.away ? b : a), { away: REACH ** 2 });
    return id?.[k];
  }

  // The point nearest to the pointer, of those that count, and the square of how far it is.
  closest(x, y, px, py, counts = () => true) {
    const { sx, sy } = this.area, found = { away: REACH ** 2, k: -1 };
    for (let k = 0; k < x.length; k++) {
      const away = (sx(x[k]) - px) ** 2 + (sy(y[k]) - py) ** 2;
      if (away <= found.away && counts(k)) Object.assign(found, { away, k });
    }
    return found;
  }

  // The circle of the spot under the pointer, or all of its cells.
  drawSpot(layer) {
    const { context, area: { sx, sy }, theme, position: i, spot } = this;
    context.strokeStyle = context.fillStyle = theme.named[layer.color];
    context.beginPath();
    if (layer.radius) {
      const [x, y, radius] = [layer.at_x, layer.at_y, layer.radius].map((column) => at(column, i)?.[spot]);
      if (x === undefined) return;
      context.ellipse(sx(x), sy(y), Math.abs(sx(x + radius) - sx(x)), Math.abs(sy(y + radius) - sy(y)), 0, 0, 2 * Math.PI);
      context.lineWidth = 3;
      context.stroke();
    } else this.addCells(at(layer.owner, i), at(layer.x, i), at(layer.y, i));
    context.globalAlpha = layer.radius ? 0.15 : 0.25;
    context.fill();
    context.globalAlpha = 1;
  }

  // Cells end at whole pixels: no seams between them.
  addCells(owner, x, y) {
    const { sx, sy } = this.area, [left, right] = edges(x, sx), [bottom, top] = edges(y, sy);
    const across = (k) => Math.round(left + ((right - left) * k) / x.length);
    const up = (row) => Math.round(bottom + ((top - bottom) * row) / y.length);
    for (let row = 0; row < y.length; row++)
      for (let k = 0; k < x.length; k++)
        if (owner[row * x.length + k] === this.spot)
          this.context.rect(across(k), up(row + 1), across(k + 1) - across(k), up(row) - up(row + 1));
  }

  drawLabels() {
    const { context, area, theme, spec } = this;
    const ends = spec.layers.flatMap((layer, k) => {
      const { x, y } = this.shown[k];
      if (!this.isDirect(layer) || !x.length) return [];
      return [{ layer, y: Math.max(area.top + 6, Math.min(area.bottom - 6, area.sy(y[y.length - 1]))) }];
    }).sort((a, b) => a.y - b.y);
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.font = theme.font(TEXT);
    ends.forEach((end, k) => {
      if (k) end.y = Math.max(end.y, ends[k - 1].y + 15);
      context.fillStyle = theme.named[end.layer.color];
      context.fillText(end.layer.name, area.right + 5, end.y);
    });
  }

  // What is under the pointer: words, and the id that a click reports.
  under(px, py) {
    const find = { points: this.nearest, line: this.nearest, reach: this.answering, heat: this.level };
    const reach = this.spec.layers.find(({ kind }) => kind === "reach"), spot = reach && this.answering(reach, px, py)?.spot;
    for (let k = this.spec.layers.length - 1; k >= 0; k--) {
      const layer = this.spec.layers[k], found = layer.opacity === 0 ? null : find[layer.kind]?.call(this, layer, px, py, k);
      if (found) return { ...found, spot };
    }
    return null;
  }

  nearest(layer, px, py, which) {
    const { x, y, group } = this.shown[which], { sx, sy } = this.area, i = this.position;
    const nameOf = (j) => (layer.names ? layer.names[group ? group[j] : 0] : layer.name);
    const { k } = this.closest(x, y, px, py, (j) => nameOf(j) !== undefined && !this.hidden.has(nameOf(j)));
    if (k < 0) return null;
    const words = [layer.text ? at(layer.text, i)[k] : nameOf(k)].filter(Boolean), hover = Object.entries(layer.hover ?? {});
    for (const [label, column] of hover) words.push(`${label} ${written(at(column, i)[k])}`);
    if (!hover.length && !layer.text && !this.area.bare)
      words.push(`${this.spec.x.title} ${written(x[k])}`, `${this.spec.y.title} ${written(y[k])}`);
    return words.length || layer.id ? { words, id: at(layer.id, i)?.[k], x: sx(x[k]), y: sy(y[k]) } : null;
  }

  level(layer, px, py) {
    const value = layer.levels[this.cell(layer, px, py, layer.values)];
    return value === undefined ? null : { words: [`${layer.title} ${written(value)}`], x: px, y: py };
  }

  answering(layer, px, py) {
    const spot = this.cell(layer, px, py, layer.owner), words = at(layer.text, this.position)?.[spot];
    return spot === undefined || spot < 0 ? null : { words: words ? [words] : [], id: layer.radius && spot, spot, x: px, y: py };
  }

  // The number of the cell under the pointer, undefined outside.
  cell(layer, px, py, numbers) {
    const x = at(layer.x, this.position), y = at(layer.y, this.position), { left, right, top, bottom, ux, uy } = this.area;
    const place = (axis, value) => Math.round(((value - axis[0]) / (axis[axis.length - 1] - axis[0] || 1)) * (axis.length - 1));
    const column = place(x, ux(px)), row = place(y, uy(py));
    const inside = px >= left && px <= right && py >= top && py <= bottom && column >= 0 && column < x.length && row >= 0 && row < y.length;
    return inside ? at(numbers, this.position)[row * x.length + column] : undefined;
  }
}

function scaleKey(layer, colors) {
  const key = element("span", "scale");
  element("span", "", key, layer.title);
  element("span", "", key, written(layer.range[0]));
  element("span", "colors", key).style.background = `linear-gradient(to right, ${colors.join()})`;
  element("span", "", key, written(layer.range[1]) + (layer.log ? " (log)" : ""));
  return key;
}
