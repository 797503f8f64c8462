// A strip of small images, cut from one sheet that is coloured once for a theme.
const GAP = 10, CAPTION = 18;

class Images {
  constructor(stage, legend) {
    this.canvas = element("canvas", "", stage);
    this.sheet = document.createElement("canvas");
    legend.hidden = true;
  }

  load(spec) {
    this.spec = spec;
  }

  place(width, theme) {
    const { spec } = this, [high, wide] = spec.shape, zoom = spec.size / Math.max(high, wide);
    this.theme = theme;
    this.tile = { width: wide * zoom, height: high * zoom };
    this.step = { x: Math.max(this.tile.width, spec.captions ? 64 : 0) + GAP, y: this.tile.height + GAP + (spec.captions ? CAPTION : 0) };
    this.across = Math.max(1, Math.floor((width + GAP) / this.step.x));
    const height = Math.max(1, Math.ceil(longest(spec.shown) / this.across)) * this.step.y;
    this.canvas.style.height = `${height}px`;
    this.context = sized(this.canvas, width, height);
    Object.assign(this, { width, height });
    const number = spec.bank.length / (high * wide), image = new ImageData(wide, Math.max(1, high * number));
    const pixels = new Uint32Array(image.data.buffer), shades = theme.shades[spec.scale];
    for (let k = 0; k < spec.bank.length; k++) pixels[k] = shades[spec.bank[k]];
    Object.assign(this.sheet, { width: image.width, height: image.height });
    this.sheet.getContext("2d").putImageData(image, 0, 0);
  }

  draw(i) {
    const { context, spec, theme, tile } = this, [high, wide] = spec.shape;
    const shown = at(spec.shown, i), captions = at(spec.captions, i), groups = at(spec.groups, i);
    const full = one(spec.faint_after, i) ?? shown.length, ids = at(spec.id, i);
    this.position = i;
    context.clearRect(0, 0, this.width, this.height);
    context.imageSmoothingEnabled = false;
    context.font = theme.font(TEXT);
    context.textAlign = "center";
    context.textBaseline = "top";
    shown.forEach((image, k) => {
      if (image < 0) return; // a position that shows fewer
      const [x, y] = this.corner(k), isRinged = this.ringed !== undefined && ids?.[image] === this.ringed;
      context.globalAlpha = k < full ? 1 : 0.25;
      context.drawImage(this.sheet, 0, image * high, wide, high, x, y, tile.width, tile.height);
      context.strokeStyle = (isRinged ? theme.named.ink : theme.named[`categorical ${groups?.[k]}`]) ?? theme.named.faint;
      context.lineWidth = isRinged ? 5 : groups ? 3 : 1;
      context.strokeRect(x, y, tile.width, tile.height);
      context.fillStyle = theme.named.ink;
      if (captions?.[k]) context.fillText(captions[k], x + tile.width / 2, y + tile.height + 4, this.step.x - 2);
    });
    context.globalAlpha = 1;
    this.shown = [{ kind: "images", shown, captions, groups, full }];
  }

  // Frames the image of the query that is pointed at in another picture.
  mark(what, which) {
    if (what !== "ringed" || which === this.ringed) return;
    this.ringed = which;
    this.draw(this.position);
  }

  queryAt(px, py) {
    return this.under(px, py)?.id;
  }

  corner(k) {
    const inset = (this.step.x - GAP - this.tile.width) / 2;
    return [2 + inset + (k % this.across) * this.step.x, 2 + Math.floor(k / this.across) * this.step.y];
  }

  under(px, py) {
    const { shown, captions } = this.shown[0];
    for (let k = 0; k < shown.length; k++) {
      const [x, y] = this.corner(k);
      if (shown[k] < 0 || px < x || py < y || px > x + this.tile.width || py > y + this.tile.height) continue;
      const id = at(this.spec.id, this.position)?.[shown[k]];
      return captions?.[k] || id !== undefined ? { words: captions?.[k] ? [captions[k]] : [], id, x: px, y: py } : null;
    }
    return null;
  }
}
