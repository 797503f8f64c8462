// A part is bytes (a view, after the 16 letters of its digest) or where a slider stands.
export default function ({ data, parentElement }) {
  if (data instanceof Uint8Array) {
    const digest = new TextDecoder().decode(data.subarray(0, 16));
    if (arrived.parts.get(parentElement)?.digest !== digest)
      arrived.parts.set(parentElement, { digest, bytes: data.slice(16) }); // a copy begins aligned
  } else {
    arrived.stands.set(data.mount, data);
  }
  arrived.waiting.forEach((call) => call());
  return () => arrived.parts.delete(parentElement);
}
