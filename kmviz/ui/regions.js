// The map of a support vector tree shows the region of what is under the pointer: of the leaf
// there, or of the node pointed at in the drawing of the tree. Plotly has no such mark of its own
// and Streamlit reports no hovering, so it is drawn here, over the map.
(() => {
  if (window.kmvizRegions) return;
  window.kmvizRegions = true;

  const chart = (key) => document.querySelector(`.st-key-${key} .js-plotly-plot`);

  function pathTo(map, node) {
    const path = [];
    for (; node >= 0; node = map.layout.meta.parent[node]) path.unshift(node);
    return path;
  }

  function below(map, node) {
    const parent = map.layout.meta.parent;
    return (leaf) => {
      while (leaf > node) leaf = parent[leaf]; // children come after their parents
      return leaf === node;
    };
  }

  // Where the leaves are: cells of a grid, or points of a projection.
  const grid = (map) => map._fullData.find((trace) => trace.type === "heatmap");
  const points = (map) => map._fullData.filter((trace) => trace.meta);

  function nearest(values, value) {
    const step = (values[values.length - 1] - values[0]) / (values.length - 1);
    return Math.max(0, Math.min(values.length - 1, Math.round((value - values[0]) / step)));
  }

  function outline(cells, inside, X, Y) {
    const { x, y } = cells;
    const left = (j) => X(x[0] + (j - 0.5) * (x[1] - x[0]));
    const low = (i) => Y(y[0] + (i - 0.5) * (y[1] - y[0]));
    const at = (i, j) => i >= 0 && j >= 0 && i < y.length && j < x.length && inside(cells.customdata[i][j][0]);
    let area = "", edge = "";
    for (let i = 0; i <= y.length; i++) {
      for (let j = 0, start = 0; j <= x.length; j++) {
        const here = at(i, j);
        if (here && !at(i, j - 1)) start = j;
        if (!here && at(i, j - 1)) area += `M${left(start)},${low(i)}H${left(j)}V${low(i + 1)}H${left(start)}Z`;
        if (here !== at(i, j - 1)) edge += `M${left(j)},${low(i)}V${low(i + 1)}`;
        if (here !== at(i - 1, j)) edge += `M${left(j)},${low(i)}H${left(j + 1)}`;
      }
    }
    return [area, edge];
  }

  function rings(traces, inside, X, Y) {
    let edge = "";
    for (const trace of traces) {
      trace.meta.forEach((leaf, i) => {
        if (inside(leaf)) edge += `M${X(trace.x[i]) - 6},${Y(trace.y[i])}a6,6 0 1 0 12,0a6,6 0 1 0 -12,0`;
      });
    }
    return ["", edge];
  }

  function element(tag, attributes) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const name in attributes) made.setAttribute(name, attributes[name]);
    return made;
  }

  function clear() {
    document.querySelectorAll(".kmviz-region").forEach((mark) => mark.remove());
  }

  function show(node) {
    clear();
    const map = chart("tree_map");
    if (!map || node === undefined) return;
    const { xaxis, yaxis, paper_bgcolor: halo } = map._fullLayout;
    const X = (value) => (xaxis._offset + xaxis.l2p(value)).toFixed(1);
    const Y = (value) => (yaxis._offset + yaxis.l2p(value)).toFixed(1);
    const cells = grid(map);
    const inside = below(map, node);
    const [area, edge] = cells ? outline(cells, inside, X, Y) : rings(points(map), inside, X, Y);
    const mark = element("g", { class: "kmviz-region", "pointer-events": "none" });
    mark.dataset.node = node;
    const name = element("text", {
      x: xaxis._offset + 8, y: yaxis._offset + yaxis._length - 8, fill: "currentColor",
      "font-size": 13, stroke: halo, "stroke-width": 4, "paint-order": "stroke",
    });
    name.textContent = `node ${node}, path ${pathTo(map, node).join(" → ")}`;
    mark.append(
      element("path", { d: area, fill: "currentColor", "fill-opacity": 0.22 }),
      element("path", { d: edge, fill: "none", stroke: "currentColor", "stroke-width": 2 }),
      name,
    );
    map.querySelector(".hoverlayer").prepend(mark);
  }

  function leafUnder(map, event) {
    const cells = grid(map);
    if (!cells) return event.points[0].fullData.meta?.[event.points[0].pointNumber];
    const [i, j] = [nearest(cells.y, event.yvals[0]), nearest(cells.x, event.xvals[0])];
    return cells.customdata[i][j][0];
  }

  const found = {
    tree_map: (map, event) => leafUnder(map, event),
    tree_path: (_, event) => [event.points[0].customdata].flat()[0],
  };

  // A chart is listened to from the moment the pointer first enters it.
  document.addEventListener("mouseover", (event) => {
    for (const key in found) {
      const plot = event.target.closest?.(`.st-key-${key} .js-plotly-plot`);
      if (!plot || plot.kmvizListening) continue;
      plot.kmvizListening = true;
      plot.on("plotly_hover", (hover) => show(found[key](plot, hover)));
      plot.on("plotly_unhover", clear);
      plot.on("plotly_relayout", clear);
    }
  });
})();
