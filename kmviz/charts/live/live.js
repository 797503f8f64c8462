// The component: puts slider and views together, draws a position, talks to Python.
class Live {
  constructor(parent, name) {
    Object.assign(this, { name, views: new Map(), moves: 0, front: 0, loaded: "" });
    this.root = element("div", "live", parent);
    this.root.hidden = true;
    this.slider = new Slider(this.root, (position) => this.draw(position),
      (position) => this.say("moved", { position }));
    [this.numbers, this.note, this.stage] = ["numbers", "note", "views"].map(
      (part) => element("div", part, this.root));
    this.root.kmviz = { // for tests, which read what is drawn and click as a hand would
      drawn: (key) => this.views.get(key)?.shown,
      ringed: (key) => this.views.get(key)?.ringed ?? null,
      place: (key, layer, k) => {
        const { shown, area, canvas } = this.views.get(key), box = canvas.getBoundingClientRect();
        return [box.x + area.sx(shown[layer].x[k]), box.y + area.sy(shown[layer].y[k])];
      },
    };
    this.obeys = ({ detail }) => this.root.offsetParent && this.obey(detail);
    document.addEventListener("kmviz", this.obeys);
    this.refreshes = () => this.refresh();
    arrived.waiting.add(this.refreshes);
    this.watch = new ResizeObserver(this.refreshes);
    this.watch.observe(this.stage);
  }

  // Something has arrived, or size or colours may have changed.
  refresh() {
    const stand = find(this.name), parts = stand?.parts.map(find);
    // Off the page there are neither sizes nor colours; the observer calls again once it is back.
    if (!this.root.isConnected || !parts?.every(Boolean)) return;
    const isNew = stand !== this.stand && stand.heard >= this.moves && !this.slider.isBusy;
    if (stand.parts.join() !== this.loaded)
      this.load(parts.map((part) => (part.spec ??= decode(part.bytes))));
    if (isNew || !(this.position <= this.slider.last)) {
      this.position = stand.position;
      this.slider.stand(this.position);
    }
    Object.assign(this, { stand, loaded: stand.parts.join() });
    this.moves = Math.max(this.moves, stand.heard);
    const theme = readTheme(this.root);
    if (theme) this.views.forEach((view) => view.fit(theme));
    this.draw();
    const hasTurned = theme && this.theme && theme.key !== this.theme.key;
    this.theme = theme ?? this.theme;
    if (hasTurned && document.querySelector(".js-plotly-plot"))
      this.trigger("turned", theme.key); // Plotly's colours come from Python
  }

  // Plays, or shows the next picture where there is room for one only.
  obey(what) {
    if (what === "play") return this.slider.button.click();
    this.front += 1;
    this.loaded = "";
    this.refresh();
  }

  load([bar, ...specs]) {
    this.bar = bar;
    this.slider.load(bar);
    this.root.hidden = false;
    this.root.dataset.kmvizLive = bar.param;
    this.numbers.replaceChildren(...bar.numbers.map(([name, , help]) => {
      const entry = element("span", "number");
      entry.dataset.help = help;
      entry.tabIndex = help ? 0 : -1;
      entry.append(element("span", "name", null, name), element("b"));
      return entry;
    }));
    this.stage.style.cssText = `--columns: ${bar.columns}; --narrow: ${bar.columns > 3 ? 2 : 1}`;
    const shown = bar.present ? [specs[this.front % specs.length]] : specs; // before a class: one
    this.views = new Map(shown.map((spec) => {
      const known = this.views.get(spec.key);
      const view = known?.spec.kind === spec.kind ? known : new View(this, spec);
      view.load(spec);
      view.layers.forEach((layer, k) => { layer.picked = bar.picked[spec.key][k]; });
      return [spec.key, view];
    }));
    this.stage.replaceChildren(...[...this.views.values()].map((view) => view.figure));
  }

  draw(i = this.position) {
    const { texts, numbers, note } = this.bar, views = [...this.views.values()];
    this.position = i;
    if (!views.every((view) => view.placed)) return; // not on the screen: the observer calls again
    for (const view of views) {
      view.title.textContent = one(view.spec.title, i);
      view.draw(i);
    }
    numbers.forEach(([, column], k) => {
      this.numbers.children[k].lastChild.textContent = one(column, i);
    });
    this.note.textContent = one(note, i) ?? "";
    this.root.dataset.value = at(texts, 0)[i];
  }

  // What is pointed at in one picture is ringed in the others.
  link(from, query) {
    this.views.forEach((view) => view !== from && view.mark({ ringed: query }));
  }

  // A picture is drawn large by Python, at the position that is seen now.
  expand(view) {
    this.trigger("expanded", { view, position: this.position });
  }

  clicked(view, id) {
    if (this.bar.clicks && id !== undefined) this.say("clicked", { view, id });
  }

  say(what, told) {
    this.moves += 1;
    this.tell(what, { ...told, move: this.moves });
  }

  end() {
    this.slider.end();
    document.removeEventListener("kmviz", this.obeys);
    arrived.waiting.delete(this.refreshes);
    this.watch.disconnect();
    this.root.remove();
  }
}

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  if (parentElement.kmvizLive?.name !== data.name) {
    parentElement.kmvizLive?.end();
    parentElement.kmvizLive = new Live(parentElement, data.name);
  }
  const live = parentElement.kmvizLive;
  Object.assign(live, { tell: setStateValue, trigger: setTriggerValue });
  live.refresh();
  return () => {
    live.end();
    delete parentElement.kmvizLive;
  };
}
