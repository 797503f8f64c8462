// A box drawn with the mouse becomes what the chart shows; a double click shows all of it again.
const CLICK = 6; // pixels up to which a drag is a click
const CLOSER = 5; // about so many steps between ticks of what is looked at closer

// A part of an axis: Python's ticks where a scale of powers keeps some, else round values.
function partOf(axis, ends) {
  const [low, high] = ends.sort((a, b) => a - b), rough = (high - low) / CLOSER;
  let ticks = axis.ticks.filter(([value]) => value >= low && value <= high);
  if (!axis.log || ticks.length < 2) {
    const power = 10 ** Math.floor(Math.log10(rough));
    const digit = [1, 2, 5, 10].find((digit) => digit * power >= 0.999 * rough);
    const step = Math.max(digit * power, axis.whole ? 1 : 0); // nothing between what is counted
    ticks = [];
    for (let k = Math.ceil(low / step); k * step <= high; k++)
      ticks.push([k * step, NUMBERS.format(k * step).replace("-", "−")]);
  }
  return { ...axis, range: [low, high], ticks };
}

function zoomable(chart) {
  const { canvas } = chart;
  let from = null;
  const within = ({ offsetX, offsetY }) => {
    const { left, right, top, bottom } = chart.area;
    return [Math.max(left, Math.min(right, offsetX)), Math.max(top, Math.min(bottom, offsetY))];
  };
  canvas.addEventListener("pointerdown", (event) => {
    chart.isDragged = false;
    if (event.pointerType === "mouse" && event.button === 0) from = within(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = within(event);
    if (!from || (!chart.isDragged && Math.hypot(x - from[0], y - from[1]) <= CLICK)) return;
    if (!chart.isDragged) canvas.setPointerCapture(event.pointerId);
    chart.isDragged = true;
    chart.draw(chart.position);
    Object.assign(chart.context, { strokeStyle: chart.theme.named.ink, lineWidth: 1 });
    chart.context.strokeRect(...from, x - from[0], y - from[1]);
  });
  canvas.addEventListener("pointerup", (event) => {
    const [start, end] = [from, within(event)], { area: { ux, uy }, spec: { x, y } } = chart;
    from = null;
    if (!start || !chart.isDragged) return;
    const isThin = start.some((place, k) => Math.abs(place - end[k]) <= CLICK);
    if (isThin) return chart.draw(chart.position);
    const [across, upward] = [[ux(start[0]), ux(end[0])], [uy(start[1]), uy(end[1])]];
    chart.look({ x: partOf(x, across), y: partOf(y, upward) });
  });
  canvas.addEventListener("dblclick", () => chart.look(null));
}
