// What has arrived from Python, by the place that holds it, and the components that wait for it.
const arrived = (globalThis.kmvizArrived ??= {
  parts: new Map(), // place on the page -> { digest, bytes }
  stands: new Map(), // name of a component -> where its slider stands
  waiting: new Map(), // name of a component -> what to call once something has arrived
});

function partOf(digest) {
  for (const part of arrived.parts.values()) if (part.digest === digest) return part;
  return null;
}
