// What has arrived from Python, by the place on the page that holds it, and who waits for it.
const arrived = (globalThis.kmvizArrived ??= { things: new Map(), waiting: new Set() });

const find = (name) => [...arrived.things.values()].find((thing) => thing.name === name);
