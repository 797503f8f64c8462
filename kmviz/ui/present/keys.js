// Keys for somebody who stands in front of a class.
const ACTS = { ArrowRight: "Next", PageDown: "Next", n: "Next", ArrowLeft: "Previous", PageUp: "Previous",
  r: "Reveal", Escape: "end", " ": "play", p: "play", v: "view" };

function act(what) {
  if (what === "play" || what === "view") return document.dispatchEvent(new CustomEvent("kmviz", { detail: what }));
  const among = what === "end" ? ".st-key-present_end button" : ".st-key-lesson :is(a, button)";
  [...document.querySelectorAll(among)].find((one) => what === "end" || one.textContent.trim().endsWith(what))?.click();
}

export default function () {
  const heard = (event) => {
    const what = ACTS[event.key], [target] = event.composedPath();
    if (!what || event.ctrlKey || event.metaKey || event.altKey || target.matches?.("input, textarea, select, canvas[tabindex]")) return;
    event.preventDefault(); // a button that has the focus is not to be pressed as well
    act(what);
  };
  document.addEventListener("keydown", heard, true);
  return () => document.removeEventListener("keydown", heard, true);
}
