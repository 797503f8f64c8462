// The page's colours and letters, read when they are needed: light and dark by themselves.
const SHADES = 255;

function readTheme(element) {
  const style = getComputedStyle(element), page = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(`--st-${name}`).trim();
  const list = (name) => get(`chart-${name}-colors`).split(/,\s*(?![^(]*\))/);
  const [ink, paper, faint] = ["text", "background", "border"].map((name) => get(`${name}-color`));
  if (!ink) return null; // off the page nothing has a colour
  const slots = ["categorical", "diverging", "sequential"].flatMap((name) =>
    list(name).map((color, k) => [`${name} ${k}`, color]));
  const ramps = {
    sequential: list("sequential"), diverging: list("diverging"), grey: [paper, ink],
  };
  const font = `${0.8125 * parseFloat(page.fontSize)}px ${get("font") || "sans-serif"}`;
  const shades = Object.entries(ramps).map(([name, colors]) => [name, ramp(colors)]);
  return {
    key: [ink, paper, faint, slots, ...Object.values(ramps), font].join(),
    named: { ink, paper, faint, ...Object.fromEntries(slots) },
    font, shades: Object.fromEntries(shades),
  };
}

// Colours of a scale as packed pixels, from its first to its last.
function ramp(colors) {
  const context = new OffscreenCanvas(SHADES, 1).getContext("2d");
  const fade = context.createLinearGradient(0.5, 0, SHADES - 0.5, 0);
  colors.forEach((color, k) => fade.addColorStop(k / (colors.length - 1), color));
  context.fillStyle = fade;
  context.fillRect(0, 0, SHADES, 1);
  return new Uint32Array(context.getImageData(0, 0, SHADES, 1).data.buffer);
}
