// One picture: a title, a legend that hides what it names, a canvas with its layers, the pointer.
class View {
  constructor(live, { kind }) {
    this.live = live;
    this.hidden = new Set();
    this.figure = element("figure", `view ${kind}`);
    this.figure.innerHTML = `<figcaption></figcaption><div class="legend"></div>
      <div class="stage"><canvas role="img"></canvas><div class="tip"></div></div>
      <button type="button" class="expand" title="Enlarge: zoom, save">⤢</button>`;
    [this.title, this.legend, this.stage, this.button] = this.figure.children;
    this.button.onclick = () => this.live.expand(this.spec.key);
    [this.canvas, this.tip] = this.stage.children;
    this.canvas.onpointermove = (event) => this.say(under(this, event));
    this.canvas.onpointerleave = () => this.say({ words: "" });
    this.canvas.onclick = (event) => {
      const { id, query } = under(this, event);
      this.live.clicked(this.spec.key, id ?? query);
    };
  }

  load(spec) {
    if (spec !== this.spec) this.placed = null;
    this.spec = spec;
    this.layers = spec.layers ?? [spec]; // a strip is its own layer
    this.figure.dataset.kmvizView = spec.key;
    this.canvas.setAttribute("aria-label", spec.alt);
    this.button.setAttribute("aria-label", `Enlarge ${spec.key}`);
  }

  // Makes ready for a width and a theme, where either is new.
  fit(theme) {
    const width = this.figure.clientWidth;
    const key = `${width} ${globalThis.devicePixelRatio} ${theme.key}`;
    if (!width || this.placed === key) return;
    Object.assign(this, { placed: key, width, theme });
    this.place();
  }

  place() {
    const { spec, canvas, width, theme: { named, shades, font } } = this;
    const height = Math.max(spec.height, this.live.bar.present ? globalThis.innerHeight - 360 : 0);
    this.context = canvas.getContext("2d");
    this.context.font = font;
    this.area = spec.layers ? areaOf(spec, width, height, this.context)
      : stripOf(spec, width);
    canvas.style.height = `${this.area.height}px`;
    sized(canvas, width, this.area.height).font = font;
    for (const layer of this.layers) {
      if (layer.symbols) layer.largest = Math.max(...layer.size.data);
      layer.stamps = layer.symbols?.map((symbol, g) =>
        stamp(symbol, named[layer.colors[g]], named.paper, layer.largest));
      if (layer.bank) layer.sheet = picture(layer.bank, layer.shape[1], shades[layer.scale], false);
    }
    this.legend.replaceChildren();
    spec.legend?.forEach((entry) => this.addEntry(entry));
  }

  // The colours of a scale and its ends, or a button that hides what it names.
  addEntry({ name, glyph, color, opacity, scale, ends }) {
    const [low, high] = ends?.map(written) ?? [];
    const entry = element(scale ? "span" : "button", "entry", this.legend,
      scale ? `${name} ${low}` : name);
    if (scale) return entry.append(element("span", `colors ${scale}`), high);
    const say = () => entry.setAttribute("aria-pressed", !this.hidden.has(name));
    entry.dataset.glyph = glyph;
    entry.style.cssText = `--color: ${this.theme.named[color]}; --opacity: ${opacity}`;
    entry.onclick = () => {
      if (!this.hidden.delete(name)) this.hidden.add(name);
      say();
      this.draw(this.position);
    };
    say();
  }

  draw(i) {
    const { context, area, theme, hidden } = this, { left, right, top, bottom } = area;
    this.position = i;
    context.clearRect(0, 0, this.width, area.height);
    if (area.axes) drawAxes(context, area, theme.named);
    context.save();
    context.beginPath();
    context.rect(left, top, right - left, bottom - top);
    context.clip();
    this.shown = this.layers.map((layer) => {
      if (hidden.has(layer.name)) return { x: [], y: [] };
      context.save();
      const shown = LAYERS[layer.kind](context, layer, i, this);
      context.restore();
      return shown;
    });
    context.restore();
  }

  // Says what is under the pointer, marks who answers there, and tells the other pictures.
  say({ words, id, query, spot, x, y }) {
    this.canvas.style.cursor = this.live.bar.clicks && (id ?? query) >= 0 ? "pointer" : "";
    this.mark({ spot });
    this.live.link(this, query);
    this.tip.textContent = words;
    const share = (100 * x) / this.width; // to the left by as much: it stays over the picture
    this.tip.style.cssText = `left: ${share}%; top: ${y - 8}px; --share: -${share}%`;
  }

  // Marks the spot that answers, or the query that another picture points at; undefined is none.
  mark(marks) {
    if (Object.entries(marks).every(([name, which]) => this[name] === which)) return;
    Object.assign(this, marks);
    this.draw(this.position);
  }
}
