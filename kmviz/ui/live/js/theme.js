// The page's colours, read when they are needed: light and dark by themselves.
const SHADES = 255;

function readTheme(element) {
  const style = getComputedStyle(element);
  const get = (name) => style.getPropertyValue(`--st-${name}`).trim();
  const list = (name) => get(name).split(/,(?![^(]*\))/).map((color) => color.trim());
  const named = { ink: get("text-color"), paper: get("background-color"), faint: get("border-color") };
  if (!named.ink) return null; // off the page nothing has a colour
  list("chart-categorical-colors").forEach((color, i) => (named[`categorical ${i}`] = color));
  const ramps = {
    sequential: list("chart-sequential-colors"),
    diverging: list("chart-diverging-colors"),
    grey: [named.paper, named.ink],
  };
  const font = get("font") || "sans-serif", large = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
  const key = JSON.stringify([named, ramps, font, large]);
  const shades = Object.fromEntries(Object.entries(ramps).map(([name, colors]) => [name, ramp(colors)]));
  return { key, named, ramps, shades, font: (size, weight = 400) => `${weight} ${size * large}px ${font}` };
}

// Colours of a scale as packed pixels, from its first to its last.
function ramp(colors) {
  const ends = colors.map(rgb);
  return Uint32Array.from({ length: SHADES }, (_, i) => {
    const place = (i / (SHADES - 1)) * (ends.length - 1), from = Math.min(Math.floor(place), ends.length - 2);
    const [r, g, b] = ends[from].map((c, k) => Math.round(c + (place - from) * (ends[from + 1][k] - c)));
    return (255 << 24) | (b << 16) | (g << 8) | r;
  });
}

function rgb(color) {
  const pixel = new OffscreenCanvas(1, 1).getContext("2d");
  pixel.fillStyle = color;
  pixel.fillRect(0, 0, 1, 1);
  return [...pixel.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}

function written(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1000 && size < 1e7) return Math.round(value).toLocaleString("en");
  return size !== 0 && (size >= 1e7 || size < 1e-4) ? value.toExponential(1) : String(Number(value.toPrecision(4)));
}

function element(tag, name, parent, words) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (words !== undefined) made.textContent = words;
  parent?.append(made);
  return made;
}

// A canvas with as many pixels as the screen has; drawn in the units of the page.
function sized(canvas, width, height) {
  const ratio = globalThis.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
