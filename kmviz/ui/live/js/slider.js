// The slider: label, value, play; says where it is moved to, and when it has come to rest.
const REST = 250; // ms without a move until Python hears of it
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

class Slider {
  constructor(parent, moved, rested) {
    const bar = (this.bar = element("div", "bar", parent));
    this.button = element("button", "play", bar, "▶");
    this.button.type = "button";
    this.label = element("label", "", bar);
    this.input = element("input", "", bar);
    Object.assign(this.input, { type: "range", id: "position" });
    this.label.htmlFor = "position";
    this.output = element("output", "", bar);
    Object.assign(this, { moved, rested, held: false, timer: null, resting: null });
    this.input.oninput = () => { this.pause(); this.go(this.read()); };
    this.input.onchange = () => this.rest();
    this.input.onpointerdown = () => { this.held = true; };
    this.input.onpointerup = this.input.onpointercancel = () => { this.held = false; };
    this.button.onclick = () => (this.timer ? (this.pause(), this.rest()) : this.play());
  }

  load({ label, help, texts, scale }) {
    this.texts = at(texts, 0);
    const [low, high, step] = scale ?? [0, this.texts.length - 1, 1];
    Object.assign(this, { low, step });
    Object.assign(this.input, { min: low, max: high, step, title: help });
    this.label.textContent = label;
    this.bar.hidden = this.texts.length < 2; // nothing to move
    this.sayPlaying();
  }

  get busy() {
    return this.held || this.timer !== null || this.resting !== null;
  }

  read() {
    return Math.round((Number(this.input.value) - this.low) / this.step);
  }

  // Shows a position: from Python, from a hand or from playing.
  stand(position) {
    this.position = position;
    this.input.value = this.low + position * this.step;
    this.input.setAttribute("aria-valuetext", this.texts[position]);
    this.input.style.setProperty("--done", `${(100 * position) / (this.texts.length - 1 || 1)}%`);
    this.output.textContent = this.texts[position];
  }

  go(position) {
    this.stand(position);
    this.moved(position);
  }

  play() {
    const last = this.texts.length - 1, stride = calm() ? Math.max(1, Math.ceil(last / 12)) : 1;
    const wait = calm() ? 700 : Math.min(500, Math.max(50, 8000 / (last + 1)));
    if (this.position >= last) this.go(0);
    this.timer = setInterval(() => {
      this.go(Math.min(last, this.position + stride));
      if (this.position >= last) { this.pause(); this.rest(); }
    }, wait);
    this.sayPlaying();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.sayPlaying();
  }

  sayPlaying() {
    this.button.textContent = this.timer ? "❚❚" : "▶";
    this.button.setAttribute("aria-label", `${this.timer ? "Pause" : "Play"} ${this.label.textContent}`);
  }

  rest() {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => { this.resting = null; this.rested(this.position); }, REST);
  }

  end() {
    clearInterval(this.timer);
    clearTimeout(this.resting);
  }
}
