// The slider: label, value, play; says where it is moved to, and when it has come to rest.
const REST = 250; // ms without a move until Python hears of it
const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

class Slider {
  constructor(parent, moved, rested) {
    Object.assign(this, { moved, rested, timer: null, resting: null });
    this.bar = element("div", "bar", parent);
    this.bar.innerHTML = `<button type="button" class="play"></button><label for="position"></label>
      <input type="range" id="position" min="0"><output></output>`;
    [this.button, this.label, this.input, this.output] = this.bar.children;
    this.input.oninput = () => { this.pause(); this.go(Number(this.input.value)); };
    this.input.onchange = () => this.rest();
    this.button.onclick = () => (this.timer ? (this.pause(), this.rest()) : this.play());
  }

  load({ label, help, texts }) {
    this.texts = at(texts, 0);
    this.last = this.texts.length - 1;
    Object.assign(this.input, { max: this.last, title: help });
    this.label.textContent = label;
    this.bar.hidden = !this.last; // nothing to move
    this.sayPlaying();
  }

  get isBusy() {
    return this.input.matches(":active") || this.timer !== null || this.resting !== null;
  }

  // Shows a position: from Python, from a hand or from playing.
  stand(position) {
    this.position = this.input.value = position;
    this.input.setAttribute("aria-valuetext", this.texts[position]);
    this.input.style.setProperty("--done", `${(100 * position) / (this.last || 1)}%`);
    this.output.textContent = this.texts[position];
  }

  go(position) {
    this.stand(position);
    this.moved(position);
  }

  play() {
    const { last } = this, stride = isCalm() ? Math.max(1, Math.ceil(last / 12)) : 1;
    const wait = isCalm() ? 700 : Math.min(500, Math.max(50, 8000 / (last + 1)));
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
    const [sign, word] = this.timer ? ["❚❚", "Pause"] : ["▶", "Play"];
    this.button.textContent = sign;
    this.button.setAttribute("aria-label", `${word} ${this.label.textContent}`);
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
