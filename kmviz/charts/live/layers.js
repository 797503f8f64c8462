// Layers of a chart. Each draws one position, and returns the arrays it has drawn.
const FAINT = 0.25; // how much is seen of what comes after the stop

// A symbol drawn once, to be stamped: thousands of points cost a millisecond or two.
function stamp(symbol, color, edge, size) {
  const side = Math.ceil(size * 1.4) + 4, canvas = document.createElement("canvas");
  const place = [side / 2, side / 2, size / 2], context = sized(canvas, side, side);
  if (symbol === "ring") symbolAt(context, "circle", ...place, null, color, 1.5);
  else symbolAt(context, symbol, ...place, color, edge, 0.75);
  return { canvas, side };
}

const LAYERS = {
  points(context, layer, i, { area: { sx, sy }, hidden, ringed, theme: { named } }) {
    const [x, y, group, id, size] = columns(layer, ["x", "y", "group", "id", "size"], i);
    const labels = at(layer.labels, i);
    const stamps = layer.stamps.map((made, g) => (hidden.has(layer.names[g]) ? null : made));
    const picked = one(layer.picked, i), ring = layer.linked ? ringed : undefined;
    context.globalAlpha = layer.opacity;
    for (let k = 0; layer.opacity && k < x.length; k++) { // else only to be pointed at
      const made = stamps[group ? group[k] : 0];
      if (!made) continue;
      const side = made.side * ((size[k] ?? size[0]) / layer.largest);
      context.drawImage(made.canvas, sx(x[k]) - side / 2, sy(y[k]) - side / 2, side, side);
    }
    context.globalAlpha = 1;
    labels?.forEach((label, k) => labelAt(context, label, sx(x[k]), sy(y[k]), named));
    const mark = (which, symbol, ...look) => {
      const k = id && which >= 0 ? id.indexOf(which) : -1;
      if (k >= 0) symbolAt(context, symbol, sx(x[k]), sy(y[k]), ...look);
    };
    mark(picked, "star", 12, named.paper); // to be seen among lines of its colour
    mark(picked, "star", 9, named["categorical 4"], named.ink, 1.5);
    mark(ring, "circle", 10, null, named.paper, 6);
    mark(ring, "circle", 10, null, named.ink, 3);
    return { x, y, group, id, picked, size, labels };
  },

  line(context, layer, i, { area, theme }) {
    const [x, y] = columns(layer, ["x", "y"], i), stop = one(layer.dim_after, i) ?? x.length - 1;
    const color = theme.named[layer.color];
    Object.assign(context, { strokeStyle: color, lineWidth: layer.width, lineJoin: "round" });
    context.setLineDash(layer.dashed ? [6, 4] : []);
    context.globalAlpha = layer.opacity;
    polyline(context, x, y, area, 0, stop);
    context.globalAlpha = FAINT;
    polyline(context, x, y, area, stop);
    for (let k = 0; layer.markers && k < x.length; k++) {
      context.globalAlpha = k > stop ? FAINT : layer.opacity;
      symbolAt(context, "circle", area.sx(x[k]), area.sy(y[k]), layer.width + 1.5, color);
    }
    return { x, y, stop };
  },

  band(context, layer, i, { area: { sx, sy }, theme }) {
    const [x, low, high] = columns(layer, ["x", "low", "high"], i);
    const to = (k, end) => context.lineTo(near(sx(x[k])), near(sy(end[k])));
    context.beginPath();
    for (let k = 0; k < x.length; k++) to(k, high);
    for (let k = x.length - 1; k >= 0; k--) to(k, low);
    Object.assign(context, { globalAlpha: layer.opacity, fillStyle: theme.named[layer.color] });
    context.fill();
    return { x, low, high };
  },

  rule(context, layer, i, { area: { sx, sy, left, right, top, bottom }, theme }) {
    const [x, y, text = ""] = ["x", "y", "text"].map((name) => one(layer[name], i));
    const isLevel = x === undefined, place = near(isLevel ? sy(y) : sx(x));
    const isLow = place < top + 16 || (y < 0 && place < bottom - 18); // away from zero, not cut
    const isAtEnd = isLevel ? !layer.at_start : place + context.measureText(text).width + 6 > right;
    context.strokeStyle = context.fillStyle = theme.named[layer.color];
    Object.assign(context, { lineWidth: 1.5, textAlign: isAtEnd ? "right" : "left" });
    context.textBaseline = isLevel && isLow ? "top" : "bottom";
    context.setLineDash(layer.dashed ? [3, 3] : []);
    if (isLevel) polyline(context, [left, right], [place, place], PIXELS);
    else polyline(context, [place, place], [top, bottom], PIXELS);
    const word = isLevel ? [isAtEnd ? right - 4 : left + 4, place + (isLow ? 4 : -3)]
      : [place + (isAtEnd ? -5 : 5), top + 16];
    context.setLineDash([]);
    Object.assign(context, { strokeStyle: theme.named.paper, lineWidth: 4, lineJoin: "round" });
    context.strokeText(text, ...word); // to be read among lines
    context.fillText(text, ...word);
    return { x, y, text };
  },

  heat(context, layer, i, { area, theme }) {
    const [codes, x, y] = columns(layer, ["values", "x", "y"], i);
    const shades = theme.shades[layer.scale];
    const colors = Array.from(layer.shades, (part) => shades[Math.round(part * (SHADES - 1))]);
    context.globalAlpha = layer.opacity;
    drawCells(context, codes, colors, x, y, area);
    const values = () => Array.from(codes, (code) => layer.levels[code]);
    return { x, y, codes, get values() { return values(); } };
  },

  images(context, layer, i, { area: { tile, room, middle }, ringed, theme: { named } }) {
    const [shown, captions, groups, ids] = columns(layer, ["shown", "captions", "groups", "id"], i);
    const full = one(layer.faint_after, i) ?? shown.length, [high, wide] = layer.shape;
    const x = [], y = [], id = Array.from(shown, (image) => ids?.[image]);
    Object.assign(context, { textAlign: "center", textBaseline: "top", fillStyle: named.ink });
    context.imageSmoothingEnabled = false;
    shown.forEach((image, k) => {
      [x[k], y[k]] = image < 0 ? [NaN, NaN] : middle(k); // a position may show fewer
      const place = [x[k] - tile.x / 2, y[k] - tile.y / 2, tile.x, tile.y];
      const isRinged = ringed >= 0 && id[k] === ringed;
      const frame = isRinged ? "ink" : groups?.[k] < 255 ? `categorical ${groups[k]}` : "faint";
      context.globalAlpha = k < full ? 1 : FAINT;
      context.drawImage(layer.sheet, 0, image * high, wide, high, ...place);
      context.strokeStyle = named[frame];
      context.lineWidth = isRinged ? 5 : groups ? 3 : 1;
      context.strokeRect(...place);
      context.fillText(captions?.[k] ?? "", x[k], y[k] + tile.y / 2 + 4, room);
    });
    return { shown, x, y, id };
  },

  // Who answers under the pointer: the circle of that spot, or its cells.
  regions(context, layer, i, { area, area: { sx, sy }, spot, theme }) {
    const [codes, x, y] = columns(layer, ["owner", "x", "y"], i), color = theme.named.ink;
    const [across, up, radius] = columns(layer, ["at_x", "at_y", "radius"], i);
    context.globalAlpha = radius ? 0.15 : FAINT;
    if (spot < radius?.length) {
      const left = sx(across[spot] - radius[spot]), middle = sx(across[spot]);
      const circle = [middle, sy(up[spot]), middle - left];
      symbolAt(context, "circle", ...circle, color);
      context.globalAlpha = 1;
      symbolAt(context, "circle", ...circle, null, color, 3);
    } else if (spot >= 0 && !radius)
      drawCells(context, codes, { [spot]: ramp([color, color])[0] }, x, y, area);
    return { x, y, codes };
  },
};

// A word above a point, to be read among lines.
function labelAt(context, label, x, y, { paper, ink }) {
  Object.assign(context, { textAlign: "center", textBaseline: "bottom", lineJoin: "round" });
  Object.assign(context, { strokeStyle: paper, fillStyle: ink, lineWidth: 3 });
  context.strokeText(label, x, y - 6);
  context.fillText(label, x, y - 6);
}

// Draws cells from where the first of them begins to where the last one ends.
function drawCells(context, codes, colors, x, y, { sx, sy }) {
  const ends = (centres, scale) => {
    const last = centres.length - 1, half = (centres[last] - centres[0]) / (last || 1) / 2;
    return [scale(centres[0] - half), scale(centres[last] + half)];
  };
  const [left, right] = ends(x, sx), [bottom, top] = ends(y, sy);
  context.imageSmoothingEnabled = false;
  context.drawImage(picture(codes, x.length, colors), left, top, right - left, bottom - top);
}
