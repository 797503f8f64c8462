// Layers of a chart. Each draws one position, and returns the arrays it has drawn.
const GLYPHS = { circle: "●", diamond: "◆", square: "■", "triangle-up": "▲", star: "★", x: "✕" };
const CORNERS = {
  diamond: around(4, 0, 1.2), square: around(4, 45, 1.2), "triangle-up": around(3, 0, 1.2),
  star: around(10, 0, 1.25, 0.5), x: around(8, 45, 1.2, 0.4),
};
const CROWD = 5000; // points above which a symbol for each takes too long
const FAR = 1e5; // pixels beyond which a place is as good as there
const near = (place) => Math.max(-FAR, Math.min(FAR, place));

// Corners around a middle, the first `turn` degrees from the top, in turn so far from it.
function around(count, turn, ...far) {
  return Array.from({ length: count }, (_, k) => {
    const angle = ((turn + (360 * k) / count - 90) * Math.PI) / 180, reach = far[k % far.length];
    return [reach * Math.cos(angle), reach * Math.sin(angle)];
  });
}

function symbolPath(context, symbol, x, y, r) {
  context.beginPath();
  if (!CORNERS[symbol]) context.arc(x, y, r, 0, 2 * Math.PI);
  for (const [a, b] of CORNERS[symbol] ?? []) context.lineTo(x + a * r, y + b * r);
  context.closePath();
}

function symbolAt(context, symbol, x, y, r, fill, edge, width) {
  symbolPath(context, symbol, x, y, r);
  Object.assign(context, { fillStyle: fill, strokeStyle: edge, lineWidth: width });
  context.fill();
  context.stroke();
}

// A symbol drawn once, to be stamped: thousands of points cost a millisecond or two.
function stamp(symbol, color, edge, size) {
  const side = Math.ceil(size * 1.4) + 4, canvas = document.createElement("canvas");
  symbolAt(sized(canvas, side, side), symbol, side / 2, side / 2, size / 2, color, edge, 0.75);
  return { canvas, side };
}

const LAYERS = {
  points(context, layer, i, chart) {
    const x = at(layer.x, i), y = at(layer.y, i), group = at(layer.group, i), { area, theme: { named } } = chart;
    context.globalAlpha = layer.opacity;
    if (layer.opacity) (x.length > CROWD ? cloud : stamped)(context, layer, x, y, group, chart); // else to be pointed at
    const id = at(layer.id, i), picked = one(layer.picked, i), k = id && picked >= 0 ? id.indexOf(picked) : -1;
    context.globalAlpha = 1;
    if (k >= 0) symbolAt(context, "star", area.sx(x[k]), area.sy(y[k]), 9, named["categorical 4"], named.ink, 1.5);
    return { name: layer.names.join(), x, y, group, id, picked };
  },

  line(context, layer, i, { area, theme }) {
    const x = at(layer.x, i), y = at(layer.y, i), stop = one(layer.dim_after, i) ?? x.length - 1;
    context.strokeStyle = context.fillStyle = theme.named[layer.color];
    Object.assign(context, { lineWidth: layer.width, lineJoin: "round" });
    context.setLineDash(layer.dashed ? [6, 4] : []);
    polyline(context, x, y, 0, stop, area);
    context.globalAlpha = 0.25;
    polyline(context, x, y, stop, x.length - 1, area);
    for (let k = 0; layer.markers && k < x.length; k++) {
      context.globalAlpha = k > stop ? 0.25 : 1;
      symbolPath(context, "circle", area.sx(x[k]), area.sy(y[k]), layer.width + 1.5);
      context.fill();
    }
    return { name: layer.name, x, y, stop };
  },

  band(context, layer, i, { area: { sx, sy }, theme }) {
    const x = at(layer.x, i), low = at(layer.low, i), high = at(layer.high, i);
    context.beginPath();
    for (let k = 0; k < x.length; k++) context.lineTo(near(sx(x[k])), near(sy(high[k])));
    for (let k = x.length - 1; k >= 0; k--) context.lineTo(near(sx(x[k])), near(sy(low[k])));
    Object.assign(context, { globalAlpha: layer.opacity, fillStyle: theme.named[layer.color] });
    context.fill();
    return { name: layer.name, x, low, high };
  },

  rule(context, layer, i, { area, theme }) {
    const x = one(layer.x, i), y = one(layer.y, i), text = one(layer.text, i) ?? "", isLevel = x === undefined;
    context.strokeStyle = context.fillStyle = theme.named[layer.color];
    context.lineWidth = 1.5;
    context.setLineDash(layer.dashed ? [3, 3] : []);
    const place = near(isLevel ? area.sy(y) : area.sx(x));
    if (isLevel) stroked(context, area.left, place, area.right, place);
    else stroked(context, place, area.top, place, area.bottom);
    const below = isLevel && y < 0; // away from the line at zero
    const room = !isLevel && context.measureText(text).width + 6 < area.right - place;
    Object.assign(context, { textBaseline: below ? "top" : "bottom", textAlign: room ? "left" : "right" });
    if (isLevel) context.fillText(text, area.right - 4, place + (below ? 4 : -3));
    else context.fillText(text, place + (room ? 5 : -5), area.top + 16);
    return { x, y, text };
  },

  // Nothing is drawn until the pointer asks who answers there.
  reach: (_, layer, i) => ({ owner: at(layer.owner, i), x: at(layer.at_x, i), y: at(layer.at_y, i), radius: at(layer.radius, i) }),

  heat(context, layer, i, { area: { sx, sy }, theme }) {
    const codes = at(layer.values, i), x = at(layer.x, i), y = at(layer.y, i), wide = x.length, high = y.length;
    const image = new ImageData(wide, high), pixels = new Uint32Array(image.data.buffer);
    const shades = theme.shades[layer.scale], colors = Uint32Array.from(layer.shades, (part) => shades[Math.round(part * (SHADES - 1))]);
    for (let row = 0; row < high; row++)
      for (let k = 0; k < wide; k++) pixels[(high - 1 - row) * wide + k] = colors[codes[row * wide + k]] ?? 0;
    const cells = (layer.cells ??= new OffscreenCanvas(wide, high));
    cells.getContext("2d").putImageData(image, 0, 0);
    const [left, right] = edges(x, sx), [bottom, top] = edges(y, sy);
    Object.assign(context, { imageSmoothingEnabled: false, globalAlpha: layer.opacity });
    context.drawImage(cells, left, top, right - left, bottom - top);
    return { name: layer.title, x, y, get values() { return Array.from(codes, (code) => layer.levels[code] ?? NaN); } };
  },
};

// Where the first of equal cells begins and the last one ends.
function edges(centres, scale) {
  const last = centres.length - 1, half = (centres[last] - centres[0]) / (last || 1) / 2;
  return [scale(centres[0] - half), scale(centres[last] + half)];
}

// What each group of a layer is drawn with; nothing where it is hidden.
function groups(layer, { hidden, theme }, make) {
  return layer.names.map((name, g) => (hidden.has(name) ? null
    : make(layer.symbols[g % layer.symbols.length], theme.named[layer.colors[g % layer.colors.length]])));
}

function stamped(context, layer, x, y, group, chart) {
  const { left, right, top, bottom, sx, sy } = chart.area;
  const made = groups(layer, chart, (symbol, color) => chart.stamps(symbol, color, layer.size));
  for (let k = 0; k < x.length; k++) {
    const drawn = made[group ? group[k] : 0], px = sx(x[k]), py = sy(y[k]);
    if (drawn && px >= left - 9 && px <= right + 9 && py >= top - 9 && py <= bottom + 9)
      context.drawImage(drawn.canvas, px - drawn.side / 2, py - drawn.side / 2, drawn.side, drawn.side);
  }
}

// Too many points to stamp: each a small square of pixels.
function cloud(context, layer, x, y, group, chart) {
  const { left, top, right, bottom, sx, sy } = chart.area, ratio = globalThis.devicePixelRatio || 1;
  const side = Math.max(2, Math.round((layer.size * ratio) / 2));
  const wide = Math.ceil((right - left) * ratio), high = Math.ceil((bottom - top) * ratio);
  const colors = groups(layer, chart, (_, color) => ramp([color, color])[0]);
  const image = new ImageData(wide, high), pixels = new Uint32Array(image.data.buffer);
  for (let k = 0; k < x.length; k++) {
    const color = colors[group ? group[k] : 0];
    const column = Math.round((sx(x[k]) - left) * ratio - side / 2), row = Math.round((sy(y[k]) - top) * ratio - side / 2);
    if (!color || !(column >= 0 && column + side < wide && row >= 0 && row + side < high)) continue;
    for (let r = row; r < row + side; r++) pixels.fill(color, r * wide + column, r * wide + column + side);
  }
  const sheet = new OffscreenCanvas(wide, high);
  sheet.getContext("2d").putImageData(image, 0, 0);
  context.drawImage(sheet, left, top, wide / ratio, high / ratio);
}

function polyline(context, x, y, from, to, { sx, sy }) {
  context.beginPath();
  let broken = true;
  for (let k = from; k <= to; k++) {
    const px = near(sx(x[k])), py = near(sy(y[k])), isGap = Number.isNaN(px) || Number.isNaN(py);
    if (!isGap) broken ? context.moveTo(px, py) : context.lineTo(px, py);
    broken = isGap;
  }
  context.stroke();
}
