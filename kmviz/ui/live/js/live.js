// The component: puts slider and views together, draws a position, talks to Python.
const VIEWS = { chart: Chart, images: Images };

class Live {
  constructor(parent, mount) {
    this.mount = mount;
    this.root = element("div", "live", parent);
    this.root.hidden = true;
    this.slider = new Slider(this.root, (position) => this.go(position), (position) => this.say("moved", { position }));
    this.numbers = element("div", "numbers", this.root);
    this.note = element("p", "note", this.root);
    this.stage = element("div", "views", this.root);
    Object.assign(this, { views: new Map(), moves: 0, stand: null, digests: "" });
    this.root.kmviz = {
      drawn: (key) => this.views.get(key)?.view.shown,
      ringed: (key) => this.views.get(key)?.view.ringed ?? null,
      place: (key, layer, k) => this.placeOf(key, layer, k),
    };
    this.front = 0;
    this.asked = ({ detail }) => this.root.offsetParent && (detail === "play" ? this.slider.button.click() : this.turn());
    document.addEventListener("kmviz", this.asked);
    this.watch = new ResizeObserver(() => this.refresh());
    this.watch.observe(this.stage);
    arrived.waiting.set(mount, () => this.refresh());
  }

  // Something has arrived, or size or colours may have changed.
  refresh() {
    const stand = arrived.stands.get(this.mount), parts = (stand?.parts ?? []).map(partOf);
    // Off the page there are neither sizes nor colours; the observer calls again once it is back.
    if (!stand || !this.root.isConnected || parts.some((part) => !part)) return;
    const isNew = stand !== this.stand && stand.heard >= this.moves && !this.slider.busy;
    const digests = stand.parts.join();
    if (digests !== this.digests) this.load(parts, stand);
    this.digests = digests;
    if (isNew || this.position === undefined || this.position >= this.slider.texts.length) {
      this.position = stand.position;
      this.slider.stand(this.position);
    }
    this.stand = stand;
    this.moves = Math.max(this.moves, stand.heard);
    this.place();
    this.draw();
  }

  // Shows the next picture, where there is room for one only.
  turn() {
    this.front += 1;
    this.digests = "";
    this.refresh();
  }

  load([bar, ...parts], stand) {
    this.bar = decode(bar.bytes);
    this.slider.load(this.bar);
    this.root.hidden = false;
    this.root.dataset.kmvizLive = this.bar.param;
    this.numbers.replaceChildren(...this.bar.numbers.map(([name, , help]) => {
      const entry = element("span", "number");
      entry.dataset.help = help;
      entry.tabIndex = help ? 0 : -1;
      entry.append(element("span", "name", null, name), element("b"));
      return entry;
    }));
    const before = this.views, { present, columns } = this.bar;
    this.stage.style.setProperty("--columns", present ? 1 : columns);
    this.stage.style.setProperty("--narrow", this.bar.columns > 3 ? 2 : 1);
    const seen = present ? [parts[this.front % parts.length]] : parts; // in front of a class: one picture
    this.views = new Map(seen.map((part) => {
      const spec = part.spec ?? (part.spec = decode(part.bytes)), known = before.get(spec.key);
      spec.usual ??= spec.height;
      if (spec.usual) spec.height = present ? Math.max(spec.usual, globalThis.innerHeight - 360) : spec.usual;
      const entry = known?.kind === spec.kind ? known : this.viewOf(spec);
      if (entry.digest !== part.digest) entry.view.load(spec);
      spec.layers?.forEach((layer, k) => { layer.picked = this.bar.picked[spec.key][k]; });
      entry.view.canvas.setAttribute("aria-label", spec.alt);
      return [spec.key, Object.assign(entry, { digest: part.digest, width: null })];
    }));
    this.stage.replaceChildren(...[...this.views.values()].map((entry) => entry.figure));
    this.stand = stand;
  }

  viewOf(spec) {
    const figure = element("figure", "view"), title = element("figcaption", "", figure);
    figure.dataset.kmvizView = spec.key;
    const legend = element("div", "legend", figure), stage = element("div", "stage", figure);
    const view = new VIEWS[spec.kind](stage, legend), tip = element("div", "tip", stage);
    view.canvas.setAttribute("role", "img");
    tip.hidden = true;
    if (spec.kind === "chart") zoomable(view);
    view.canvas.onpointermove = (event) => this.point(view, tip, event);
    view.canvas.onpointerleave = () => { tip.hidden = true; view.mark("spot", undefined); this.link(view, undefined); };
    view.canvas.onclick = (event) => {
      if (view.dragged) return; // the end of a box, not a click
      const id = view.under(event.offsetX, event.offsetY)?.id ?? view.queryAt(event.offsetX, event.offsetY);
      if (this.bar.clicks && id !== undefined) this.say("clicked", { view: spec.key, id });
    };
    return { kind: spec.kind, figure, title, view, width: null };
  }

  point(view, tip, event) {
    const found = event.buttons && view.dragged ? null : view.under(event.offsetX, event.offsetY);
    const query = view.queryAt(event.offsetX, event.offsetY);
    view.canvas.style.cursor = this.bar.clicks && (found?.id ?? query) !== undefined ? "pointer" : "";
    view.mark("spot", found?.spot);
    this.link(view, query);
    tip.hidden = !found?.words.length;
    if (tip.hidden) return;
    tip.replaceChildren(...found.words.map((line) => element("div", "", null, line)));
    const room = view.canvas.clientWidth - tip.offsetWidth;
    tip.style.left = `${Math.max(0, Math.min(room, found.x + 12))}px`;
    tip.style.top = `${Math.max(0, found.y - tip.offsetHeight - 10)}px`;
  }

  // What is pointed at in one picture is ringed in the others.
  link(view, id) {
    if (id === this.linked) return;
    this.linked = id;
    for (const entry of this.views.values()) if (entry.view !== view && entry.width !== null) entry.view.mark("ringed", id);
  }

  place() {
    const theme = readTheme(this.root), ratio = globalThis.devicePixelRatio;
    if (!theme) return;
    for (const entry of this.views.values()) {
      const width = entry.figure.clientWidth, key = `${width} ${ratio} ${theme.key}`;
      if (!width || entry.placed === key && entry.width !== null) continue;
      Object.assign(entry, { placed: key, width });
      entry.view.place(width, theme);
    }
  }

  go(position) {
    this.position = position;
    this.draw();
  }

  draw() {
    const i = this.position, { texts, numbers, note } = this.bar;
    for (const { view, title, width } of this.views.values()) {
      if (width === null) return; // not on the screen yet: the observer calls again
      title.textContent = one(view.spec.title, i);
      view.draw(i);
    }
    numbers.forEach(([, column], k) => { this.numbers.children[k].lastChild.textContent = one(column, i); });
    this.note.textContent = note ? one(note, i) : "";
    this.root.dataset.value = at(texts, 0)[i];
  }

  say(what, told) {
    this.moves += 1;
    this.tell(what, { ...told, move: this.moves });
  }

  // Where point k of a layer stands on the screen: for tests that click as a hand would.
  placeOf(key, layer, k) {
    const { view } = this.views.get(key), { x, y } = view.shown[layer], box = view.canvas.getBoundingClientRect();
    return [box.x + view.area.sx(x[k]), box.y + view.area.sy(y[k])];
  }

  end() {
    this.slider.end();
    document.removeEventListener("kmviz", this.asked);
    this.watch.disconnect();
    arrived.waiting.delete(this.mount);
    arrived.stands.delete(this.mount); // the next one counts its moves anew
    this.root.remove();
  }
}

export default function ({ data, parentElement, setStateValue }) {
  if (parentElement.kmvizLive?.mount !== data.mount) {
    parentElement.kmvizLive?.end();
    parentElement.kmvizLive = new Live(parentElement, data.mount);
  }
  const live = parentElement.kmvizLive;
  live.tell = setStateValue;
  live.refresh();
  return () => {
    live.end();
    delete parentElement.kmvizLive;
  };
}
