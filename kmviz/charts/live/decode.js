// The bytes of a part, read in place: a header in JSON, arrays after it.
const KINDS = {
  u1: Uint8Array, i1: Int8Array, u2: Uint16Array, i2: Int16Array,
  u4: Uint32Array, i4: Int32Array, f4: Float32Array,
};

function decode({ buffer }) {
  const start = 4 + new DataView(buffer).getUint32(0, true);
  const header = new TextDecoder().decode(new Uint8Array(buffer, 4, start - 4));
  return JSON.parse(header, (_, value) =>
    value?.array ? new KINDS[value.array](buffer, start + value.begins, value.size) : value);
}

// What a column holds for a position: numbers, or words where it has a table of them.
function at(column, position) {
  if (column === undefined) return undefined;
  if (column.words) return Array.from(at(column.codes, position), (code) => column.words[code]);
  const row = column.index[column.index.length > 1 ? position : 0];
  return column.data.subarray(column.starts[row], column.starts[row + 1]);
}

const one = (column, position) => at(column, position)?.[0];
const columns = (record, names, position) => names.map((name) => at(record[name], position));
