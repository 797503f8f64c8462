// Where a picture lies on its canvas; two axes around a chart: places of values, ticks, titles.
const UPWARD = 36, ACROSS = 46; // pixels between two ticks at least
const FRAME = 3, GAP = 10, CAPTION = 18, WORD = 64; // around images, below, across at least
const NUMBERS = new Intl.NumberFormat("en", {
  maximumSignificantDigits: 4, maximumFractionDigits: 0, roundingPriority: "morePrecision",
});

// The place of a value along an axis, and the value at a place.
function scaleOf({ log, range }, from, to) {
  const [low, high] = log ? range.map(Math.log10) : range, slope = (to - from) / (high - low || 1);
  const place = (value) => from + (value - low) * slope;
  const back = (place) => low + (place - from) / slope;
  if (!log) return [place, back];
  return [(value) => (value > 0 ? place(Math.log10(value)) : NaN), (place) => 10 ** back(place)];
}

function ticksOf({ range: [low, high], log }, room) {
  const most = Math.max(2, room), decades = log ? Math.log10(high / low) : 0, found = [];
  if (decades >= 1) {
    const digits = decades * 3 <= most ? [1, 2, 5] : [1], stride = Math.ceil(decades / most);
    for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power += stride)
      found.push(...digits.map((digit) => digit * 10 ** power));
    return found.filter((value) => value >= low * 0.999 && value <= high * 1.001);
  }
  const raw = (high - low) / most, base = 10 ** Math.floor(Math.log10(raw));
  const step = base * [1, 2, 5, 10].find((digit) => digit * base >= raw * 0.999);
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++)
    found.push(Number((k * step).toPrecision(12)));
  return found;
}

// A chart is smaller where a unit is to be as long across as upwards.
function areaOf([x, y], isEqual, width, height, context) {
  const axes = x.hidden ? null : { x, y }, top = 10;
  let left = 12, right = width - 12, bottom = height - (axes ? 44 : 10), spare = 0;
  const wide = (tick) => context.measureText(NUMBERS.format(tick)).width;
  if (axes) left = 30 + Math.max(12, ...ticksOf(y, (bottom - top) / UPWARD).map(wide));
  if (isEqual) {
    const [across, upward] = [x, y].map(({ range: [low, high] }) => high - low);
    const unit = Math.min((right - left) / across, (bottom - top) / upward);
    spare = (right - left - unit * across) / 2;
    [left, right, bottom] = [left + spare, right - spare, top + unit * upward];
  }
  const [sx, ux] = scaleOf(x, left, right), [sy, uy] = scaleOf(y, bottom, top);
  return { left, right, top, bottom, height, sx, ux, sy, uy, axes, titleAt: 10 + spare };
}

// Images stand one after another, as many in a row as there is room for.
function stripOf({ shape: [high, wide], size, captions, most }, width) {
  const scale = size / Math.max(high, wide), tile = { x: wide * scale, y: high * scale };
  const room = captions ? Math.max(tile.x, WORD) : tile.x;
  const step = { x: room + GAP, y: tile.y + GAP + (captions ? CAPTION : 0) };
  const across = Math.max(1, Math.floor((width + GAP - 2 * FRAME) / step.x));
  const height = Math.max(1, Math.ceil(most / across)) * step.y;
  const middle = (k) => [FRAME + room / 2 + (k % across) * step.x,
    FRAME + tile.y / 2 + Math.floor(k / across) * step.y];
  return { ...PIXELS, left: 0, right: width, top: 0, bottom: height, height, tile, room, middle };
}

function drawAxes(context, { left, right, top, bottom, sx, sy, titleAt, axes }, { faint, ink }) {
  Object.assign(context, { lineWidth: 1, strokeStyle: faint, fillStyle: ink });
  Object.assign(context, { textBaseline: "middle", textAlign: "right" });
  for (const value of ticksOf(axes.y, (bottom - top) / UPWARD)) {
    const place = Math.round(sy(value)) + 0.5;
    context.strokeRect(left, place, right - left, 0);
    context.fillText(NUMBERS.format(value), left - 6, place);
  }
  context.textAlign = "center";
  for (const value of ticksOf(axes.x, (right - left) / ACROSS)) {
    const place = Math.round(sx(value)) + 0.5;
    context.strokeRect(place, top, 0, bottom - top);
    context.fillText(NUMBERS.format(value), place, bottom + 12);
  }
  context.fillText(axes.x.title, (left + right) / 2, bottom + 32, right - left + 20);
  context.save();
  context.translate(titleAt, (top + bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(axes.y.title, 0, 0, bottom - top + 20);
  context.restore();
}
