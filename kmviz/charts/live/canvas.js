// Elements and canvases, and what is drawn on them: symbols, lines, cells.
const SYMBOLS = {
  circle: new Path2D("M1 0A1 1 0 1 1-1 0A1 1 0 1 1 1 0Z"),
  diamond: new Path2D("M0-1.2L1.2 0L0 1.2L-1.2 0Z"),
  square: new Path2D("M-.85-.85H.85V.85H-.85Z"),
  "triangle-up": new Path2D("M0-1.2L1.04 .6H-1.04Z"),
  star: new Path2D(
    "M0-1.25L.29-.4L1.19-.39L.48 .15L.73 1.01L0 .5L-.73 1.01L-.48 .15L-1.19-.39L-.29-.4Z"),
  x: new Path2D("M.85-.85L.4 0L.85 .85L0 .4L-.85 .85L-.4 0L-.85-.85L0-.4Z"),
};
const FAR = 1e5; // pixels beyond which a place is as good as there
const PIXELS = { sx: (x) => x, sy: (y) => y };
const near = (place) => Math.max(-FAR, Math.min(FAR, place));

function element(tag, name, parent, words = "") {
  const made = Object.assign(document.createElement(tag), { className: name, textContent: words });
  parent?.append(made);
  return made;
}

// A canvas with as many pixels as the screen has; drawn in the units of the page.
function sized(canvas, width, height) {
  const ratio = globalThis.devicePixelRatio || 1, context = canvas.getContext("2d");
  Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

function symbolAt(context, symbol, x, y, r, fill, edge, width = 1) {
  context.save();
  context.translate(x, y);
  context.scale(r, r);
  Object.assign(context, { fillStyle: fill, strokeStyle: edge, lineWidth: width / r });
  if (fill) context.fill(SYMBOLS[symbol] ?? SYMBOLS.circle);
  if (edge) context.stroke(SYMBOLS[symbol] ?? SYMBOLS.circle);
  context.restore();
}

// A line through places, or some of them; what is no number breaks it.
function polyline(context, x, y, { sx, sy }, from = 0, to = x.length - 1) {
  let isBroken = true;
  context.beginPath();
  for (let k = from; k <= to; k++) {
    const px = near(sx(x[k])), py = near(sy(y[k])), isGap = Number.isNaN(px + py);
    if (!isGap) context[isBroken ? "moveTo" : "lineTo"](px, py);
    isBroken = isGap;
  }
  context.stroke();
}

// Cells as a picture, coloured by their codes; rows count upwards, or downwards.
function picture(codes, wide, colors, isUpward = true) {
  const high = Math.max(1, codes.length / wide), canvas = new OffscreenCanvas(wide, high);
  const image = new ImageData(wide, high), pixels = new Uint32Array(image.data.buffer);
  for (let k = 0; k < codes.length; k++) {
    const turned = isUpward ? (high - 1 - 2 * Math.floor(k / wide)) * wide : 0;
    pixels[k + turned] = colors[codes[k]] ?? 0;
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}
