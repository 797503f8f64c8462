// A box drawn with the mouse becomes what the chart shows; a double click shows all of it again.
const CLICK = 6; // pixels up to which a drag is a click

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
    const [start, end] = [from, within(event)], { ux, uy } = chart.area;
    from = null;
    if (!start || !chart.isDragged) return;
    const [x, y] = [0, 1].map((k) => [start[k], end[k]].sort((a, b) => a - b));
    if (x[1] - x[0] <= CLICK || y[1] - y[0] <= CLICK) chart.draw(chart.position);
    else chart.look({ x: x.map(ux), y: y.map(uy).reverse() });
  });
  canvas.addEventListener("dblclick", () => chart.look(null));
}
