// Where a picture lies on its canvas; two axes around a chart: places of values, ticks, titles.
const FRAME = 3, GAP = 10, CAPTION = 18, WORD = 64; // around images, below, across at least
const APART = { x: 75, y: 36 }; // pixels between two ticks, about
const NUMBERS = new Intl.NumberFormat("en", {
  maximumSignificantDigits: 4, maximumFractionDigits: 0, roundingPriority: "morePrecision",
});

// A number as it stands on an axis: with a minus sign as wide as a digit.
const written = (value) => NUMBERS.format(value || 0).replace("-", "−");

// Round values of a range with their words, in about `most` steps; powers of ten on a logarithmic
// axis of a decade or more, with 2 and 5 of each where there is room.
function ticksOf({ range: [low, high], log, whole, hidden, ticks }, most) {
  if (ticks) return ticks;
  if (hidden || !(high - low > 1e-300 && high - low < Infinity)) return []; // nothing to tell apart
  const values = log && high >= 10 * low ? powersOf(low, high, most) : [];
  if (!values.length) {
    const rough = (high - low) / Math.max(2, most), power = 10 ** Math.floor(Math.log10(rough));
    const digit = [1, 2, 5, 10].find((digit) => digit * power >= 0.999 * rough);
    const step = Math.max(digit * power, whole ? 1 : 0); // nothing between what is counted
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++)
      values.push(k * step);
  }
  return values.map((value) => [value, written(value)]);
}

function powersOf(low, high, most) {
  const decades = Math.log10(high / low), digits = 3 * decades <= most ? [1, 2, 5] : [1];
  const stride = Math.ceil(decades / most), last = Math.floor(Math.log10(high)), values = [];
  for (let power = Math.floor(Math.log10(low)); power <= last; power += stride)
    for (const digit of digits) values.push(digit * 10 ** power);
  return values.filter((value) => value >= low * 0.999 && value <= high * 1.001);
}

// The place of a value along an axis, and the value at a place.
function scaleOf({ log, range }, from, to) {
  const [low, high] = log ? range.map(Math.log10) : range, slope = (to - from) / (high - low || 1);
  const place = (value) => from + (value - low) * slope;
  const back = (place) => low + (place - from) / slope;
  if (!log) return [place, back];
  return [(value) => (value > 0 ? place(Math.log10(value)) : NaN), (place) => 10 ** back(place)];
}

// A chart is smaller where a unit is to be as long across as upwards.
function areaOf({ x, y, equal }, width, height, context) {
  const top = 10, below = x.hidden ? 10 : 44;
  let left = 12, right = width - 12, bottom = height - below, spare = 0;
  const ticks = [ticksOf(x, width / APART.x), ticksOf(y, (bottom - top) / APART.y)];
  const wide = ([, text]) => context.measureText(text).width;
  const axes = x.hidden ? null : { titles: [x.title, y.title], ticks };
  if (axes) left = 30 + Math.max(12, ...ticks[1].map(wide));
  if (equal) {
    const [across, upward] = [x, y].map(({ range: [low, high] }) => high - low);
    const unit = Math.min((right - left) / across, (bottom - top) / upward);
    spare = (right - left - unit * across) / 2;
    [left, right, bottom] = [left + spare, right - spare, top + unit * upward];
  }
  const [sx, ux] = scaleOf(x, left, right), [sy, uy] = scaleOf(y, bottom, top);
  const all = { left, right, top, bottom, height: bottom + below };
  return { ...all, sx, ux, sy, uy, axes, titleAt: 10 + spare };
}

// Images stand one after another, as many in a row as there is room for.
function stripOf({ shape: [high, wide], size, captions, most, together }, width) {
  const scale = size / Math.max(high, wide), tile = { x: wide * scale, y: high * scale };
  const room = captions ? Math.max(tile.x, WORD) : tile.x;
  const step = { x: room + GAP, y: tile.y + GAP + (captions ? CAPTION : 0) };
  let across = Math.max(1, Math.floor((width + GAP - 2 * FRAME) / step.x));
  while (together % across) across -= 1; // each so many fill whole rows
  const height = Math.max(1, Math.ceil(most / across)) * step.y;
  const middle = (k) => [FRAME + room / 2 + (k % across) * step.x,
    FRAME + tile.y / 2 + Math.floor(k / across) * step.y];
  return { ...PIXELS, left: 0, right: width, top: 0, bottom: height, height, tile, room, middle };
}

function drawAxes(context, { left, right, top, bottom, sx, sy, titleAt, axes }, { faint, ink }) {
  const [across, up] = [sx, sy].map((scale, k) =>
    axes.ticks[k].map(([value, text]) => [Math.round(scale(value)), text]));
  context.fillStyle = faint;
  for (const [place] of across) context.fillRect(place, top, 1, bottom - top);
  for (const [place] of up) context.fillRect(left, place, right - left, 1);
  Object.assign(context, { fillStyle: ink, textBaseline: "middle", textAlign: "right" });
  for (const [place, text] of up) context.fillText(text, left - 6, place);
  context.textAlign = "center";
  for (const [place, text] of across) context.fillText(text, place, bottom + 12);
  context.fillText(axes.titles[0], (left + right) / 2, bottom + 32, right - left + 20);
  context.save();
  context.translate(titleAt, (top + bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(axes.titles[1], 0, 0, bottom - top + 20);
  context.restore();
}
