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
    const { named, ramps } = this.theme, entries = [];
    for (const layer of this.spec.layers) {
      if (layer.kind === "heat" && layer.title) entries.push([layer]);
      else if (layer.kind === "points") layer.names.forEach((name, g) =>
        name && entries.push([layer, name, GLYPHS[layer.symbols[g % layer.symbols.length]] ?? "●", layer.colors[g % layer.colors.length]]));
      else if (layer.name && !this.isDirect(layer)) entries.push([layer, layer.name, layer.kind === "line" ? (layer.dashed ? "╌" : "━") : "■", layer.color]);
    }
    this.legend.replaceChildren(...entries.map(([layer, name, glyph, color]) => {
      if (layer.kind === "heat") return scaleKey(layer, ramps[layer.scale]);
      const entry = element("button", "entry");
      entry.type = "button";
      entry.setAttribute("aria-pressed", String(!this.hidden.has(name)));
      const mark = element("span", "glyph", entry, glyph);
      mark.style.color = named[color];
      if (layer.kind === "band") mark.style.opacity = Math.max(0.35, layer.opacity); // as it is drawn
      entry.append(name);
      entry.onclick = () => {
        if (!this.hidden.delete(name)) this.hidden.add(name);
        entry.setAttribute("aria-pressed", String(!this.hidden.has(name)));
        this.draw(this.position);
      };
      return entry;
    }));
    if (this.zoom) element("button", "entry", this.legend, "⟲ reset zoom").onclick = () => this.look(null);
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
    this.shown = this.spec.layers.map((layer) => ({ kind: layer.kind, ...LAYERS[layer.kind](context, layer, i, this) }));
    if (this.spot !== undefined) this.drawSpot();
    if (this.ringed !== undefined) this.drawRing();
    context.restore();
    this.drawLabels();
  }

  // Marks the spot that answers under the pointer; undefined is none.
  mark(spot) {
    if (spot === this.spot) return;
    this.spot = spot;
    this.draw(this.position);
  }

  // Rings the query that is pointed at in another picture; undefined is none.
  ring(id) {
    if (id === this.ringed) return;
    this.ringed = id;
    this.draw(this.position);
  }

  drawRing() {
    const { context, area: { sx, sy }, theme: { named } } = this;
    for (const { x, y, id } of this.queries()) {
      const k = id.indexOf(this.ringed);
      if (k < 0) continue;
      for (const [color, width] of [[named.paper, 6], [named.ink, 3]]) {
        Object.assign(context, { strokeStyle: color, lineWidth: width });
        context.beginPath();
        context.arc(sx(x[k]), sy(y[k]), 10, 0, 2 * Math.PI);
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
    const { sx, sy } = this.area;
    let best = REACH ** 2, found;
    for (const { x, y, id } of this.queries())
      for (let k = 0; k < x.length; k++) {
        const away = (sx(x[k]) - px) ** 2 + (sy(y[k]) - py) ** 2;
        if (away < best) [best, found] = [away, id[k]];
      }
    return found;
  }

  drawSpot() {
    const { context, area, theme, position: i } = this, layer = this.spec.layers.find(({ kind }) => kind === "reach");
    context.strokeStyle = context.fillStyle = theme.named[layer.color];
    if (!layer.radius) return this.drawRegion(layer);
    const x = at(layer.at_x, i)?.[this.spot], y = at(layer.at_y, i)?.[this.spot], radius = at(layer.radius, i)?.[this.spot];
    if (x === undefined) return;
    context.beginPath();
    context.ellipse(area.sx(x), area.sy(y), Math.abs(area.sx(x + radius) - area.sx(x)), Math.abs(area.sy(y + radius) - area.sy(y)), 0, 0, 2 * Math.PI);
    context.lineWidth = 3;
    context.stroke();
    context.globalAlpha = 0.15;
    context.fill();
    context.globalAlpha = 1;
  }

  // All cells of the spot under the pointer, run by run.
  drawRegion(layer) {
    const { context, area: { sx, sy }, position: i, spot } = this, owner = at(layer.owner, i), x = at(layer.x, i), y = at(layer.y, i);
    const wide = (sx(x[x.length - 1]) - sx(x[0])) / (x.length - 1), high = (sy(y[0]) - sy(y[y.length - 1])) / (y.length - 1);
    context.beginPath();
    for (let row = 0; row < y.length; row++)
      for (let k = 0, from = 0; k < x.length; k++) {
        const here = owner[row * x.length + k] === spot;
        if (here && (k === 0 || owner[row * x.length + k - 1] !== spot)) from = k;
        if (here && (k === x.length - 1 || owner[row * x.length + k + 1] !== spot))
          context.rect(sx(x[from]) - wide / 2, sy(y[row]) - high / 2, (k - from + 1) * wide, high);
      }
    context.globalAlpha = 0.25;
    context.fill();
    context.globalAlpha = 1;
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
    const { x, y, group } = this.shown[which], { sx, sy } = this.area, words = [];
    let best = REACH ** 2, k = -1;
    for (let j = 0; j < x.length; j++) {
      const away = (sx(x[j]) - px) ** 2 + (sy(y[j]) - py) ** 2;
      const name = layer.names ? layer.names[group ? group[j] : 0] : "";
      if (away <= best && name !== undefined && !this.hidden.has(name)) [best, k] = [away, j];
    }
    if (k < 0) return null;
    const name = layer.names ? layer.names[group ? group[k] : 0] : layer.name, i = this.position;
    if (layer.text) words.push(at(layer.text, i)[k]);
    else if (name) words.push(name);
    for (const [label, column] of Object.entries(layer.hover ?? {})) words.push(`${label} ${written(at(column, i)[k])}`);
    if (!Object.keys(layer.hover ?? {}).length && !layer.text && !this.area.bare)
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
