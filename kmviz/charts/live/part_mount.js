// A part is where a slider stands, or bytes: a view after the 16 letters of its digest, its name.
export default function ({ data, parentElement }) {
  const { things, waiting } = arrived, isBytes = data instanceof Uint8Array;
  const name = isBytes ? new TextDecoder().decode(data.subarray(0, 16)) : data.name;
  if (!isBytes) things.set(parentElement, data);
  else if (things.get(parentElement)?.name !== name)
    things.set(parentElement, { name, bytes: data.slice(16) }); // a copy begins aligned
  waiting.forEach((call) => call());
  return () => things.delete(parentElement);
}
