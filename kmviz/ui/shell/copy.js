// A button that copies a link: `data` is the link.
export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  const say = (text) => {
    button.textContent = text;
    setTimeout(() => (button.textContent = "Copy link"), 1500);
  };
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(data);
      say("Copied");
    } catch {
      say(copiedByHand(data) ? "Copied" : "Not allowed here");
    }
  };
}

// What browsers offer where the page has come over plain HTTP from another machine.
function copiedByHand(text) {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}
