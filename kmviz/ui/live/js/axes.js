// Two axes around a chart: where a value stands, ticks, titles.
const TEXT = 13;

// The place of a value along an axis, and the value at a place.
function scaleOf({ log, range }, from, to) {
  const [low, high] = log ? range.map(Math.log10) : range, slope = (to - from) / (high - low || 1);
  const place = (value) => from + (value - low) * slope, back = (place) => low + (place - from) / slope;
  return log ? [(value) => (value > 0 ? place(Math.log10(value)) : NaN), (place) => 10 ** back(place)] : [place, back];
}

function ticksOf({ range: [low, high], log }, most) {
  if (log && high / low >= 10) {
    const first = Math.floor(Math.log10(low)), decades = Math.log10(high / low);
    const digits = decades * 3 <= most ? [1, 2, 5] : [1];
    const step = digits.length > 1 ? 1 : Math.max(1, Math.ceil(decades / most));
    const found = [];
    for (let power = first; 10 ** power <= high; power += step)
      found.push(...digits.map((digit) => digit * 10 ** power));
    return found.filter((value) => value >= low * 0.999 && value <= high * 1.001);
  }
  const raw = (high - low) / Math.max(1, most), base = 10 ** Math.floor(Math.log10(raw));
  const step = base * [1, 2, 5, 10].find((digit) => digit * base >= raw * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

const rows = ({ bottom, top }) => Math.max(2, (bottom - top) / 36);

// Where the chart lies on its canvas: smaller where a unit is to be as long across as upwards.
function areaOf(spec, width, height, right, context) {
  const bare = spec.x.hidden && spec.y.hidden;
  const area = { top: 10, bottom: height - (bare ? 10 : 44), right: width - 12 - right, left: 12 };
  const ticks = ticksOf(spec.y, rows(area)).map(written);
  if (!bare) area.left = 30 + Math.max(12, ...ticks.map((tick) => context.measureText(tick).width));
  const { x, y } = spec, axes = { x, y };
  const margin = area.left - 10;
  if (spec.equal) {
    const across = (area.right - area.left) / (x.range[1] - x.range[0]);
    const upward = (area.bottom - area.top) / (y.range[1] - y.range[0]), unit = Math.min(across, upward);
    const spare = [(1 - unit / across) * (area.right - area.left), (1 - unit / upward) * (area.bottom - area.top)];
    Object.assign(area, { left: area.left + spare[0] / 2, right: area.right - spare[0] / 2, bottom: area.bottom - spare[1] });
  }
  const [sx, ux] = scaleOf(x, area.left, area.right), [sy, uy] = scaleOf(y, area.bottom, area.top);
  return { ...area, axes, bare, titleAt: area.left - margin, sx, ux, sy, uy };
}

function drawAxes(context, area, theme) {
  if (area.bare) return;
  const { left, right, top, bottom, axes, sx, sy, titleAt } = area;
  context.font = theme.font(TEXT);
  context.lineWidth = 1;
  context.strokeStyle = theme.named.faint;
  context.fillStyle = theme.named.ink;
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const value of ticksOf(axes.y, rows(area))) {
    const y = Math.round(sy(value)) + 0.5;
    stroked(context, left, y, right, y);
    context.fillText(written(value), left - 6, y);
  }
  context.textAlign = "center";
  for (const value of ticksOf(axes.x, Math.max(2, (right - left) / 70))) {
    const x = Math.round(sx(value)) + 0.5;
    stroked(context, x, top, x, bottom);
    context.fillText(written(value), x, bottom + 12);
  }
  context.fillText(axes.x.title, (left + right) / 2, bottom + 32, right - left + 20);
  context.save();
  context.translate(titleAt, (top + bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(axes.y.title, 0, 0, bottom - top + 20);
  context.restore();
}

function stroked(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}
