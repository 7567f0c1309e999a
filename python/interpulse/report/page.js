"use strict";
(async () => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byChart = {};
  const shownRows = 500;
  const say = (text) => { document.getElementById("said").textContent = text; };

  // Light or dark: as the system has it until the button is pressed; paper is light.
  const toDark = new Map(Object.entries(data.dark));
  const toLight = new Map([...toDark].map(([light, dark]) => [dark, light]));
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  let shown = false;
  const exchange = (value, map) => {
    if (typeof value === "string") return map.get(value.toLowerCase());
    if (value && typeof value === "object" && typeof value.value === "string") {
      const other = map.get(value.value.toLowerCase());
      return other && { ...value, value: other };
    }
    return undefined;
  };
  const recolour = (map, names) => {
    const seen = new Set();
    for (const { figure } of names.map((name) => byChart[name])) for (const model of figure.references()) seen.add(model);
    for (const model of seen) {
      for (const property of model) {
        const name = property.attr;
        if (name.endsWith("_color")) {
          const other = exchange(model[name], map);
          if (other !== undefined) model.setv({ [name]: other });
        }
      }
      if (model.type !== "ColumnDataSource") continue;
      // Bokeh calls a column so where the colours of points are given as a list.
      for (const column of ["fill", "fill_color"]) {
        if (!Array.isArray(model.data[column])) continue;
        model.data = { ...model.data, [column]: model.data[column].map((colour) => map.get(colour) || colour) };
      }
    }
  };
  const paint = (dark) => {
    document.documentElement.classList.toggle("dark", dark);
    if (dark !== shown) {
      shown = dark;
      recolour(dark ? toDark : toLight, Object.keys(byChart));
    }
  };
  const wanted = () => (chosen === null ? system.matches : chosen);

  // Ranges: moved in the space of their axis.
  const axes = (figure) =>
    [[figure.x_range, figure.x_scale], [figure.y_range, figure.y_scale]].filter(([range]) => typeof range.start === "number" && range.type !== "FactorRange");
  const into = (scale) => (scale.type === "LogScale" ? [Math.log, Math.exp] : [(x) => x, (x) => x]);
  const move = (range, scale, change) => {
    const [there, back] = into(scale);
    const [start, end] = change(there(range.start), there(range.end));
    range.setv({ start: back(start), end: back(end) });
  };
  // Strips are as high as they are: only their time is zoomed.
  const zoom = (name, factor) => {
    for (const [range, scale] of axes(byChart[name].figure).slice(0, name in data.views ? 1 : 2)) {
      move(range, scale, (a, b) => [(a + b) / 2 - (factor * (b - a)) / 2, (a + b) / 2 + (factor * (b - a)) / 2]);
    }
  };
  const pan = (figure, share) => {
    const [first] = axes(figure);
    if (first) move(first[0], first[1], (a, b) => [a + share * (b - a), b + share * (b - a)]);
  };

  const toggle = (name, button) => {
    const visible = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(visible));
    for (const renderer of byChart[name].renderers) if (renderer.name === button.dataset.name) renderer.visible = visible;
    say(`${button.textContent} ${visible ? "shown" : "hidden"}`);
  };

  // CSV, quoted as RFC 4180 has it.
  const field = (value) => {
    if (value === null) return "";
    const text = String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = (table) => [table.columns, ...table.rows].map((row) => `${row.map(field).join(",")}\n`).join("");
  const save = (file, blob) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = file;
    link.click();
    // A slow machine may begin to save it late.
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    say(`${file} was saved`);
  };
  const drawShape = (pen, shape) => {
    const { fill, stroke, strokeWidth, strokeDasharray, strokeLinecap } = getComputedStyle(shape);
    if (shape.tagName === "rect") {
      pen.fillStyle = fill;
      pen.fillRect(0, 0, 24, 12);
      return;
    }
    pen.strokeStyle = stroke;
    pen.lineWidth = parseFloat(strokeWidth);
    pen.lineCap = strokeLinecap;
    pen.setLineDash(strokeDasharray === "none" ? [] : strokeDasharray.split(",").map(parseFloat));
    pen.stroke(new Path2D(shape.getAttribute("d")));
  };
  // A screen's pixels are too few for slides and print: Bokeh paints anew, at the ratio that it reads from the window.
  const exported = (figure, scale) => {
    const own = Object.getOwnPropertyDescriptor(window, "devicePixelRatio");
    Object.defineProperty(window, "devicePixelRatio", { value: scale, configurable: true });
    try {
      return Bokeh.index.find_one(figure).export("png").canvas;
    } finally {
      Object.defineProperty(window, "devicePixelRatio", own);
    }
  };
  // The plot as it is shown, below its title and the shown entries of its legend.
  const image = (name) => {
    const chart = document.getElementById(`chart-${name}`);
    const scale = Math.max(2, window.devicePixelRatio || 1);
    const plot = exported(byChart[name].figure, scale);
    const [edge, line] = [12 * scale, 22 * scale];
    const made = document.createElement("canvas");
    const pen = made.getContext("2d");
    const font = (weight) => { pen.font = `${weight} ${13 * scale}px system-ui, sans-serif`; };
    const rows = [[]];
    let x = edge;
    font("normal");
    for (const button of chart.querySelectorAll('.legend button[aria-pressed="true"]')) {
      const width = pen.measureText(button.textContent).width + 46 * scale;
      if (x + width > plot.width && rows.at(-1).length) { rows.push([]); x = edge; }
      rows.at(-1).push([button, x]);
      x += width;
    }
    const style = getComputedStyle(document.body);
    made.width = plot.width;
    made.height = plot.height + edge + (1 + rows.length) * line;
    pen.fillStyle = style.backgroundColor;
    pen.fillRect(0, 0, made.width, made.height);
    pen.textBaseline = "middle";
    font("bold");
    pen.fillStyle = style.color;
    pen.fillText(chart.querySelector("h3").textContent, edge, edge + line / 2);
    font("normal");
    rows.forEach((row, number) => {
      const y = edge + (number + 1.5) * line;
      for (const [button, left] of row) {
        pen.save();
        pen.translate(left, y - 6 * scale);
        pen.scale(scale, scale);
        for (const shape of button.querySelectorAll("svg > *")) drawShape(pen, shape);
        pen.restore();
        pen.fillStyle = style.color;
        pen.fillText(button.textContent.trim(), left + 30 * scale, y);
      }
    });
    pen.drawImage(plot, 0, edge + (1 + rows.length) * line);
    made.toBlob((blob) => save(`${name}.png`, blob), "image/png");
  };
  const fill = (details, name) => {
    const { columns, rows } = data.tables[name];
    const wide = document.createElement("div");
    wide.className = "wide";
    wide.tabIndex = 0;
    wide.setAttribute("role", "region");
    wide.setAttribute("aria-label", `Numbers of ${name}`);
    const table = document.createElement("table");
    const line = (cells, kind, where) => {
      const row = where.insertRow();
      for (const cell of cells) {
        const each = document.createElement(kind);
        if (kind === "th") each.scope = "col";
        each.textContent = cell === null ? "" : typeof cell === "number" ? String(Number(cell.toPrecision(7))) : String(cell);
        row.append(each);
      }
    };
    line(columns, "th", table.createTHead());
    const body = table.createTBody();
    for (const row of rows.slice(0, shownRows)) line(row, "td", body);
    wide.append(table);
    details.append(wide);
    if (rows.length > shownRows) {
      const rest = document.createElement("p");
      rest.textContent = `The first ${shownRows} of ${rows.length} rows; the CSV file has all.`;
      details.append(rest);
    }
  };

  // One of several things that a chart can show: the sources of its renderers are filled with the rows of that one.
  const picks = [...document.querySelectorAll("[data-pick]")];
  const pick = (name, wanted) => {
    const { columns, rows } = data.tables[name];
    const view = data.views[name].find((each) => each.pick === wanted);
    const at = Object.fromEntries(columns.map((column, k) => [column, k]));
    const count = view.strips.length;
    const base = Object.fromEntries(view.strips.map((row, k) => [row, count - 1 - k + 0.1]));
    const { figure } = byChart[name];
    const mine = rows.filter((row) => row[at.request] === wanted);
    for (const renderer of figure.renderers) {
      const source = renderer.data_source;
      if (renderer.name === "marks") {
        source.data = { x: [0, view.done], y0: [0, 0], y1: [count, count] };
      } else if (renderer.name === "labels") {
        const of = (k) => view.labels.map((label) => label[k]);
        source.data = { x: of(0), y: of(1).map((row) => base[row] + 0.38), text: of(2) };
      } else {
        const shown = mine.filter((row) => row[at.shown_as] === renderer.name);
        const of = (column) => shown.map((row) => row[at[column]]);
        const bottom = of("strip").map((row) => base[row]);
        source.data = {
          left: of("from_us"), right: of("to_us"), bottom, top: of("height").map((height, k) => bottom[k] + 0.8 * height),
          what: of("what"), strip: of("strip"), about: of("about"),
        };
      }
    }
    figure.height = 90 + 42 * count;
    figure.left[0].major_label_overrides = new Map(view.strips.map((row) => [base[row] + 0.4, row]));
    figure.left[0].ticker.ticks = view.strips.map((row) => base[row] + 0.4);
    const [start, end] = view.range;
    byChart[name].whole = [[figure.x_range, start, end], [figure.y_range, 0, count]];
    for (const [range, from, to] of byChart[name].whole) range.setv({ start: from, end: to });
    for (const button of picks) if (button.dataset.in === name) button.setAttribute("aria-pressed", String(button.dataset.pick === wanted));
    const us = (time) => `${time.toLocaleString("en", { maximumFractionDigits: 1 })} µs`;
    const late = start > 0 ? `; its first ${us(start)} are not drawn` : "";
    document.querySelector(`#chart-${name} .shown`).textContent = `Shown: ${wanted}, ${us(view.done)}${late}`;
  };
  for (const button of picks) {
    button.addEventListener("click", () => {
      const { in: name, pick: wanted } = button.dataset;
      pick(name, wanted);
      document.getElementById(`chart-${name}`).scrollIntoView({ block: "nearest" });
      say(`${wanted} shown`);
    });
  }

  for (const chart of document.querySelectorAll(".chart")) {
    const name = chart.dataset.chart;
    chart.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button?.dataset.name !== undefined) { toggle(name, button); return; }
      const what = button?.dataset.do;
      if (!what) return;
      if (what === "csv") { save(`${name}.csv`, new Blob([csv(data.tables[name])], { type: "text/csv" })); return; }
      if (what === "png") { image(name); return; }
      const { figure, whole } = byChart[name];
      if (what === "in" || what === "out") zoom(name, what === "in" ? 0.5 : 2);
      if (what === "left" || what === "right") pan(figure, what === "left" ? -0.25 : 0.25);
      if (what === "reset") for (const [range, start, end] of whole) range.setv({ start, end });
      say(`${chart.querySelector("h3").textContent}: ${button.title}`);
    });
    const numbers = chart.querySelector("details.numbers");
    numbers.addEventListener("toggle", () => { if (numbers.open && !numbers.querySelector("table")) fill(numbers, name); });
  }

  // The first screen is drawn at once, what is folded away when it is opened, or when there is time. What is closed has
  // no size to be drawn in, and is open meanwhile.
  const folds = [...document.querySelectorAll("details.fold")];
  const idle = (drawn) => new Promise((done) => {
    if (drawn.is_idle) done();
    else drawn.idle.connect(done);
    // A browser tab in the background draws nothing.
    setTimeout(done, 20_000);
  });
  const draw = async (group, number) => {
    const of = group.folds.map((name) => document.getElementById(name));
    for (const each of of) {
      each.dataset.wanted = String(each.open);
      if (!each.open) each.classList.add("drawing");
      each.open = true;
    }
    const { document: plots, roots } = group;
    const docid = `report-${number}`;
    await Bokeh.embed.embed_items({ [docid]: plots }, [{ docid, roots, root_ids: Object.keys(roots) }]);
    const drawn = Bokeh.documents.find((each) => each.get_model_by_id(Object.keys(roots)[0]));
    await idle(drawn);
    const names = [];
    for (const [id, place] of Object.entries(roots)) {
      const figure = drawn.get_model_by_id(id);
      const whole = axes(figure).map(([range]) => [range, range.start, range.end]);
      names.push(place.replace(/^plot-/, ""));
      byChart[names.at(-1)] = { figure, whole, renderers: figure.renderers };
    }
    // A brush moves the range that others share, and what is whole for them is whole for it.
    const tools = (figure) => figure.toolbar.tools.filter((tool) => tool.type === "RangeTool");
    for (const name of names) {
      const each = byChart[name];
      for (const tool of tools(each.figure)) {
        const own = each.figure;
        each.whole = [[tool.x_range, own.x_range.start, own.x_range.end]];
        each.figure = { x_range: tool.x_range, x_scale: own.x_scale, y_range: {}, y_scale: {}, references: () => own.references() };
      }
      if (name in data.views) pick(name, data.views[name][0].pick);
    }
    if (shown) recolour(toDark, names);
    for (const each of of) {
      each.open = each.dataset.wanted === "true";
      each.classList.remove("drawing");
      each.dataset.drawn = "yes";
    }
  };
  const begun = new Map();
  const drawOnce = (group) => {
    if (!begun.has(group)) begun.set(group, draw(group, begun.size));
    return begun.get(group);
  };
  for (const each of folds) {
    const group = data.plots.find((of) => of.folds.includes(each.id));
    if (!group) each.dataset.drawn = "yes";
    else each.addEventListener("toggle", () => { if (each.open) drawOnce(group); });
    each.querySelector("summary").addEventListener("click", (event) => {
      if (!each.classList.contains("drawing")) return;
      event.preventDefault();
      each.dataset.wanted = "true";
      each.classList.remove("drawing");
    });
  }
  // What a link, or the address, names is opened with all that it is in.
  const show = (id) => {
    const found = id && document.getElementById(id);
    if (!found) return;
    for (let each = found; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
    found.scrollIntoView();
  };
  const named = () => decodeURIComponent(location.hash.slice(1));
  window.addEventListener("hashchange", () => show(named()));
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.getAttribute("href") === location.hash) show(named());
  });

  paint(wanted());
  for (const group of data.plots.filter((each) => !each.folds.length)) await drawOnce(group);
  system.addEventListener("change", () => paint(wanted()));
  document.getElementById("theme").addEventListener("click", () => { chosen = !wanted(); paint(chosen); });
  // On paper every section is open, and plots are as wide as the paper.
  const paper = 690;
  let closed = [];
  window.addEventListener("beforeprint", () => {
    // A browser may say it twice.
    closed = closed.concat(folds.filter((each) => !each.open));
    for (const each of closed) each.open = true;
    for (const each of document.querySelectorAll(".plot")) each.style.setProperty("--shrink", Math.min(1, paper / each.clientWidth));
    paint(false);
  });
  window.addEventListener("afterprint", () => {
    for (const each of closed) each.open = false;
    closed = [];
    paint(wanted());
  });
  show(named());
  document.documentElement.dataset.ready = "yes";
  for (const group of data.plots) {
    await new Promise((done) => (window.requestIdleCallback || setTimeout)(done));
    await drawOnce(group);
  }
  document.documentElement.dataset.drawn = "yes";
})();
