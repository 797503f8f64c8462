// What is under the pointer: words and their place, the id that a click reports, the query that is
// nearest, seen or unseen, and the spot that answers there.
const REACH = 14; // pixels from the pointer to what it points at

function under(view, { offsetX, offsetY }) {
  const found = { words: "" };
  let nearest = Infinity;
  for (let which = view.layers.length - 1; which >= 0; which--) {
    const layer = view.layers[which], search = view.shown[which].codes ? cellAt : pointAt;
    const { away, spot, ...said } = search(view, layer, view.shown[which], offsetX, offsetY) ?? {};
    found.spot ??= spot;
    if (layer.linked && away < nearest) [found.query, nearest] = [said.id, away];
    const isHeard = layer.opacity !== 0 && (said.words || said.id !== undefined);
    if (found.x === undefined && isHeard) Object.assign(found, said);
  }
  return found;
}

function pointAt({ area: { sx, sy }, hidden, position }, layer, { x, y, group, id }, px, py) {
  const nameOf = (k) => layer.names?.[group?.[k] ?? 0];
  let away = (layer.reach ?? REACH) ** 2, found = -1;
  for (let k = 0; layer.names && !layer.silent && k < x.length; k++) {
    const apart = (sx(x[k]) - px) ** 2 + (sy(y[k]) - py) ** 2, name = nameOf(k);
    if (apart <= away && name !== undefined && !hidden.has(name)) [away, found] = [apart, k];
  }
  if (found < 0) return null;
  const text = at(layer.text ?? layer.captions, position)?.[found];
  const words = [text ?? nameOf(found)].filter(Boolean);
  for (const [label, column] of Object.entries(layer.hover ?? {}))
    words.push(`${label} ${NUMBERS.format(at(column, position)[found])}`);
  return { away, words: words.join("\n"), id: id?.[found], x: sx(x[found]), y: sy(y[found]) };
}

function cellAt({ area, position }, layer, { x, y, codes }, px, py) {
  const place = (axis, value) =>
    Math.round(((value - axis[0]) / (axis[axis.length - 1] - axis[0] || 1)) * (axis.length - 1));
  const column = place(x, area.ux(px)), row = place(y, area.uy(py));
  const code = column in x ? codes[row * x.length + column] : undefined;
  if (!(code >= 0)) return null;
  const words = layer.levels ? `${layer.title} ${NUMBERS.format(layer.levels[code])}`
    : at(layer.text, position)?.[code] ?? "";
  return { words, spot: layer.owner && code, id: layer.radius && code, x: px, y: py };
}
