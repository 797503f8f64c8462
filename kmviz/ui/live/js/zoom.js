// A box drawn with the mouse becomes what the chart shows; a double click shows all of it again.
const CLICK = 6; // pixels up to which a drag is a click

function zoomable(view) {
  const { canvas } = view;
  let from = null;
  const boxOf = (event) => {
    const { left, right, top, bottom } = view.area, within = (value, low, high) => Math.max(low, Math.min(high, value));
    const across = [from[0], event.offsetX].map((x) => within(x, left, right)).sort((a, b) => a - b);
    const upward = [from[1], event.offsetY].map((y) => within(y, top, bottom)).sort((a, b) => b - a);
    return { across, upward };
  };
  canvas.addEventListener("pointerdown", (event) => {
    view.dragged = false;
    if (event.pointerType === "mouse" && event.button === 0) from = [event.offsetX, event.offsetY];
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!from) return;
    if (!view.dragged && Math.hypot(event.offsetX - from[0], event.offsetY - from[1]) <= CLICK) return;
    if (!view.dragged) canvas.setPointerCapture(event.pointerId);
    view.dragged = true;
    const { across, upward } = boxOf(event);
    view.draw(view.position);
    view.context.strokeStyle = view.theme.named.ink;
    view.context.lineWidth = 1;
    view.context.strokeRect(across[0], upward[1], across[1] - across[0], upward[0] - upward[1]);
  });
  canvas.addEventListener("pointerup", (event) => {
    const { across, upward } = from && view.dragged ? boxOf(event) : { across: [0, 0], upward: [0, 0] };
    if (across[1] - across[0] > CLICK && upward[0] - upward[1] > CLICK)
      view.look({ x: across.map(view.area.ux), y: upward.map(view.area.uy) });
    else if (view.dragged) view.draw(view.position);
    from = null;
  });
  canvas.addEventListener("dblclick", () => view.look(null));
}
