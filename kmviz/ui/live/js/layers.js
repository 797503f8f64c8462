// Layers of a chart. Each draws one position, and returns the arrays it has drawn.
const GLYPHS = { circle: "●", diamond: "◆", square: "■", "triangle-up": "▲", cross: "✚", "triangle-down": "▼",
  pentagon: "⬟", hexagon: "⬢", "star-square": "▣", bowtie: "⧓", star: "★", "circle-open": "○", x: "✕" };
const CORNERS = { diamond: [4, 0], square: [4, 45], "triangle-up": [3, 0], "triangle-down": [3, 180], pentagon: [5, 0], hexagon: [6, 0] };
const CROWD = 5000; // points above which a symbol for each takes too long
const FAR = 1e5; // pixels beyond which a place is as good as there
const near = (place) => Math.max(-FAR, Math.min(FAR, place));

function symbolPath(context, symbol, x, y, r) {
  context.beginPath();
  if (CORNERS[symbol]) {
    const [corners, turn] = CORNERS[symbol], size = r * 1.2;
    for (let k = 0; k < corners; k++) {
      const angle = ((turn + (360 * k) / corners - 90) * Math.PI) / 180;
      context.lineTo(x + size * Math.cos(angle), y + size * Math.sin(angle));
    }
  } else if (symbol === "star" || symbol === "star-square") {
    for (let k = 0; k < 10; k++) {
      const size = k % 2 ? r * 0.5 : r * 1.25, angle = ((36 * k - 90) * Math.PI) / 180;
      context.lineTo(x + size * Math.cos(angle), y + size * Math.sin(angle));
    }
  } else if (symbol === "cross" || symbol === "x") {
    const thin = r * 0.4, turn = symbol === "x" ? Math.PI / 4 : 0;
    const outline = [[-thin, -r], [thin, -r], [thin, -thin], [r, -thin], [r, thin], [thin, thin],
      [thin, r], [-thin, r], [-thin, thin], [-r, thin], [-r, -thin], [-thin, -thin]];
    for (const [a, b] of outline)
      context.lineTo(x + a * Math.cos(turn) - b * Math.sin(turn), y + a * Math.sin(turn) + b * Math.cos(turn));
  } else if (symbol === "bowtie") {
    for (const [a, b] of [[-r, -r], [-r, r], [r, -r], [r, r]]) context.lineTo(x + a, y + b);
  } else context.arc(x, y, r, 0, 2 * Math.PI);
  context.closePath();
}

// A symbol drawn once, to be stamped: thousands of points cost a millisecond or two.
function stamp(symbol, color, edge, size) {
  const side = Math.ceil(size * 1.4) + 4, canvas = document.createElement("canvas");
  const context = sized(canvas, side, side);
  symbolPath(context, symbol, side / 2, side / 2, size / 2);
  context.lineWidth = symbol === "circle-open" ? 2 : 0.75;
  context.strokeStyle = symbol === "circle-open" ? color : edge;
  context.fillStyle = color;
  if (symbol !== "circle-open") context.fill();
  context.stroke();
  return { canvas, side };
}

const LAYERS = {
  points(context, layer, i, chart) {
    const x = at(layer.x, i), y = at(layer.y, i), group = at(layer.group, i), { area, theme } = chart;
    if (x.length > CROWD) cloud(context, layer, x, y, group, chart);
    else stamped(context, layer, x, y, group, chart);
    const id = at(layer.id, i), picked = one(layer.picked, i), k = id && picked >= 0 ? id.indexOf(picked) : -1;
    if (k >= 0) starAt(context, area.sx(x[k]), area.sy(y[k]), theme);
    return { name: layer.names.join(), x, y, group, id, picked };
  },

  line(context, layer, i, { area, theme, hidden }) {
    const x = at(layer.x, i), y = at(layer.y, i), stop = one(layer.dim_after, i) ?? x.length - 1;
    if (hidden.has(layer.name)) return { name: layer.name, x: [], y: [] };
    context.strokeStyle = context.fillStyle = theme.named[layer.color];
    context.lineWidth = layer.width;
    context.lineJoin = "round";
    context.setLineDash(layer.dashed ? [6, 4] : []);
    polyline(context, x, y, 0, stop, area);
    context.globalAlpha = 0.25;
    polyline(context, x, y, stop, x.length - 1, area);
    for (let k = 0; layer.markers && k < x.length; k++) {
      context.globalAlpha = k > stop ? 0.25 : 1;
      symbolPath(context, "circle", area.sx(x[k]), area.sy(y[k]), layer.width + 1.5);
      context.fill();
    }
    context.globalAlpha = 1;
    context.setLineDash([]);
    return { name: layer.name, x, y, stop };
  },

  band(context, layer, i, { area, theme, hidden }) {
    const x = at(layer.x, i), low = at(layer.low, i), high = at(layer.high, i);
    if (hidden.has(layer.name)) return { name: layer.name, x: [], low: [], high: [] };
    context.beginPath();
    for (let k = 0; k < x.length; k++) context.lineTo(near(area.sx(x[k])), near(area.sy(high[k])));
    for (let k = x.length - 1; k >= 0; k--) context.lineTo(near(area.sx(x[k])), near(area.sy(low[k])));
    context.globalAlpha = layer.opacity;
    context.fillStyle = theme.named[layer.color];
    context.fill();
    context.globalAlpha = 1;
    return { name: layer.name, x, low, high };
  },

  rule(context, layer, i, { area, theme }) {
    const x = one(layer.x, i), y = one(layer.y, i), words = one(layer.text, i) ?? "";
    context.strokeStyle = context.fillStyle = theme.named[layer.color];
    context.lineWidth = 1.5;
    context.setLineDash(layer.dashed ? [3, 3] : []);
    const place = x === undefined ? near(area.sy(y)) : near(area.sx(x));
    if (x === undefined) stroked(context, area.left, place, area.right, place);
    else stroked(context, place, area.top, place, area.bottom);
    context.setLineDash([]);
    const below = y < 0; // away from the line at zero
    context.textBaseline = x === undefined && below ? "top" : "bottom";
    const room = context.measureText(words).width + 6 < area.right - place;
    context.textAlign = x === undefined || !room ? "right" : "left";
    if (x === undefined) context.fillText(words, area.right - 4, place + (below ? 4 : -3));
    else context.fillText(words, place + (room ? 5 : -5), area.top + 16);
    return { x, y, text: words };
  },

  bars(context, layer, i, { area, theme, hidden }) {
    const x = at(layer.x, i), y = at(layer.y, i), half = layer.width / 2, { sx, sy } = area;
    if (hidden.has(layer.name)) return { name: layer.name, x: [], y: [] };
    const ground = area.axes.y.log ? area.bottom : sy(0);
    context.fillStyle = theme.named[layer.color];
    context.globalAlpha = layer.opacity;
    for (let k = 0; k < x.length; k++) {
      const from = sx(x[k] - half), top = sy(y[k]);
      context.fillRect(from + 0.5, top, Math.max(1, sx(x[k] + half) - from - 1), ground - top);
    }
    context.globalAlpha = 1;
    return { name: layer.name, x, y };
  },

  // Nothing is drawn until the pointer asks who answers there.
  reach: (_, layer, i) => ({ owner: at(layer.owner, i), x: at(layer.at_x, i), y: at(layer.at_y, i), radius: at(layer.radius, i) }),

  heat(context, layer, i, { area, theme }) {
    const codes = at(layer.values, i), x = at(layer.x, i), y = at(layer.y, i);
    const image = new ImageData(x.length, y.length), pixels = new Uint32Array(image.data.buffer);
    const shades = theme.shades[layer.scale], colors = Uint32Array.from(layer.shades, (part) => shades[Math.round(part * (SHADES - 1))]);
    for (let row = 0; row < y.length; row++)
      for (let k = 0; k < x.length; k++) pixels[(y.length - 1 - row) * x.length + k] = colors[codes[row * x.length + k]] ?? 0;
    const cells = (layer.cells ??= new OffscreenCanvas(x.length, y.length));
    cells.getContext("2d").putImageData(image, 0, 0);
    const half = [(x[x.length - 1] - x[0]) / (x.length - 1 || 1) / 2, (y[y.length - 1] - y[0]) / (y.length - 1 || 1) / 2];
    const left = area.sx(x[0] - half[0]), top = area.sy(y[y.length - 1] + half[1]);
    context.imageSmoothingEnabled = false;
    context.globalAlpha = layer.opacity;
    context.drawImage(cells, left, top, area.sx(x[x.length - 1] + half[0]) - left, area.sy(y[0] - half[1]) - top);
    context.globalAlpha = 1;
    return { name: layer.title, x, y, get values() { return Array.from(codes, (code) => layer.levels[code] ?? NaN); } };
  },
};

function stamped(context, layer, x, y, group, { area, theme, hidden, stamps }) {
  const { sx, sy } = area;
  if (!layer.opacity) return; // there to be pointed at
  const made = layer.names.map((name, g) => (hidden.has(name) ? null
    : stamps(layer.symbols[g % layer.symbols.length], theme.named[layer.colors[g % layer.colors.length]], layer.size)));
  context.globalAlpha = layer.opacity;
  for (let k = 0; k < x.length; k++) {
    const drawn = made[group ? group[k] : 0], px = sx(x[k]), py = sy(y[k]);
    if (drawn && px >= area.left - 9 && px <= area.right + 9 && py >= area.top - 9 && py <= area.bottom + 9)
      context.drawImage(drawn.canvas, px - drawn.side / 2, py - drawn.side / 2, drawn.side, drawn.side);
  }
  context.globalAlpha = 1;
}

// Too many points to stamp: each a small square of pixels.
function cloud(context, layer, x, y, group, { area, theme, hidden }) {
  const { left, top, sx, sy } = area, ratio = globalThis.devicePixelRatio || 1, side = Math.max(2, Math.round((layer.size * ratio) / 2));
  const wide = Math.ceil((area.right - left) * ratio), high = Math.ceil((area.bottom - top) * ratio);
  const colors = layer.names.map((name, g) => (hidden.has(name) ? 0 : ramp([theme.named[layer.colors[g % layer.colors.length]], theme.named.paper])[0]));
  const image = new ImageData(wide, high), pixels = new Uint32Array(image.data.buffer);
  for (let k = 0; k < x.length; k++) {
    const color = colors[group ? group[k] : 0], column = Math.round((sx(x[k]) - left) * ratio - side / 2), row = Math.round((sy(y[k]) - top) * ratio - side / 2);
    if (!color || !(column >= 0 && column + side < wide && row >= 0 && row + side < high)) continue;
    for (let r = row; r < row + side; r++) pixels.fill(color, r * wide + column, r * wide + column + side);
  }
  const sheet = new OffscreenCanvas(wide, high);
  sheet.getContext("2d").putImageData(image, 0, 0);
  context.globalAlpha = layer.opacity;
  context.drawImage(sheet, left, top, wide / ratio, high / ratio);
  context.globalAlpha = 1;
}

function polyline(context, x, y, from, to, { sx, sy }) {
  context.beginPath();
  let broken = true;
  for (let k = from; k <= to; k++) {
    const px = near(sx(x[k])), py = near(sy(y[k]));
    if (Number.isNaN(px) || Number.isNaN(py)) broken = true;
    else if (broken) { context.moveTo(px, py); broken = false; } else context.lineTo(px, py);
  }
  context.stroke();
}

function starAt(context, x, y, theme) {
  symbolPath(context, "star", x, y, 9);
  context.fillStyle = theme.named["categorical 4"];
  context.strokeStyle = theme.named.ink;
  context.lineWidth = 1.5;
  context.fill();
  context.stroke();
}
