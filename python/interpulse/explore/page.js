"use strict";
(async () => {
  const by = (id) => document.getElementById(id);
  const data = JSON.parse(by("data").textContent);
  const form = by("settings");
  const fields = [...form.querySelectorAll("select[name], input[name]")];
  const sliders = [...form.querySelectorAll("input[type=range]")];
  const say = (text) => { by("said").textContent = text; };
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  if (window.matchMedia("(max-width: 56rem)").matches) by("fold").open = false;

  // The server's document, once its socket is open.
  let link = null;
  const root = () => window.Bokeh?.documents?.[0]?.roots().find((each) => each.name === "tail-read");
  while (!(link = root()?.tags[0])) await wait(20);
  const page = window.Bokeh.documents[0];

  // Light or dark: as the system has it until the button is pressed.
  const toDark = new Map(Object.entries(data.dark));
  const toLight = new Map([...toDark].map(([light, dark]) => [dark, light]));
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  let painted = false;
  const exchanged = (value, map) => {
    if (typeof value === "string") return map.get(value.toLowerCase());
    const other = value && typeof value.value === "string" ? map.get(value.value.toLowerCase()) : undefined;
    return other && { ...value, value: other };
  };
  const paint = () => {
    const dark = chosen === null ? system.matches : chosen;
    document.documentElement.classList.toggle("dark", dark);
    if (dark === painted) return;
    painted = dark;
    const seen = new Set();
    for (const root of page.roots()) for (const model of root.references()) seen.add(model);
    for (const model of seen) {
      for (const property of model) {
        if (!property.attr.endsWith("_color")) continue;
        const other = exchanged(model[property.attr], dark ? toDark : toLight);
        // The server keeps the light colours.
        if (other !== undefined) model.setv({ [property.attr]: other }, { sync: false });
      }
    }
  };
  system.addEventListener("change", paint);
  by("theme").addEventListener("click", () => { chosen = !painted; paint(); });
  paint();

  // Sliders: a number field is the value, its slider follows and sets it.
  const scale = (slider) => {
    const [least, most] = [Number(slider.dataset.least), Number(slider.dataset.most)];
    const round = (x) => Number(x.toPrecision(2));
    return slider.dataset.scale === "log"
      ? [(x) => (1000 * Math.log(x / least)) / Math.log(most / least), (at) => Math.max(round(least * (most / least) ** (at / 1000)), least)]
      : [(x) => (1000 * (x - least)) / (most - least), (at) => Math.round(least + (at / 1000) * (most - least))];
  };
  const follow = () => {
    for (const slider of sliders) {
      const field = by(slider.dataset.for);
      // Its own steps may be smaller than those of the rounded number.
      if (document.activeElement !== slider) slider.value = scale(slider)[0](Number(field.value));
      slider.setAttribute("aria-valuetext", field.value);
    }
    for (const name of ["rate", "depth"]) by(`row-${name}`).hidden = by("load").value !== name;
    for (const name of ["program", "erase"]) {
      for (const limit of ["max", "interval"]) by(`row-${name}-${limit}`).hidden = by(name).value === "none";
    }
    for (const name of ["program", "erase", "part"]) by(`hint-${name}`).textContent = by(name).selectedOptions[0]?.dataset.text ?? "";
  };

  // Changes: at most one message in 40 ms; the newest one counts.
  const values = () => Object.fromEntries(fields.map((field) => [field.name, field.value]));
  const state = { sent: 0, timer: null, number: 0, asked: 0, took: null };
  window.explore = state;
  const send = (what) => {
    state.number += 1;
    link.wanted = JSON.stringify({ number: state.number, ...what });
  };
  const change = () => {
    follow();
    if (state.timer !== null) return;
    const delay = Math.max(0, 40 - (performance.now() - state.sent));
    state.timer = setTimeout(() => {
      state.timer = null;
      state.sent = performance.now();
      state.asked = state.sent;
      document.body.classList.add("waiting");
      send({ values: values() });
    }, delay);
  };
  for (const field of fields) {
    field.addEventListener(field.tagName === "SELECT" ? "change" : "input", change);
  }
  for (const slider of sliders) {
    slider.addEventListener("input", () => {
      by(slider.dataset.for).value = scale(slider)[1](Number(slider.value));
      change();
    });
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  by("reset").addEventListener("click", () => {
    for (const field of fields) field.value = data.configured[field.name];
    change();
    say("All settings are as configured");
  });

  // What the server shows.
  const fill = (id, items, make) => by(id).replaceChildren(...items.map(make));
  const made = (name, text, kind = "") => {
    const it = document.createElement(name);
    it.textContent = text;
    it.className = kind;
    return it;
  };
  const entry = (of) => {
    const item = document.createElement("li");
    const swatch = made("span", "", `swatch ${of.dash ? `line ${of.dash}` : of.hatch}`);
    swatch.setAttribute("aria-hidden", "true");
    swatch.style[of.dash ? "borderTopColor" : "backgroundColor"] = `var(--${of.colour})`;
    item.append(swatch, of.label);
    return item;
  };
  const card = (of) => {
    const box = document.createElement("div");
    const value = made("dd", of.value, "value");
    box.append(made("dt", of.name), value);
    box.append(made("dd", of.change || "\u00a0", "change"));
    if (of.doubt) box.append(made("dd", of.doubt, "doubt"));
    return box;
  };
  const pinned = (pin) => {
    const row = document.createElement("tr");
    const head = made("th", pin.letter);
    head.scope = "row";
    row.append(head);
    for (const figure of pin.figures) {
      const cell = made("td", "", "figure");
      cell.append(made("b", figure.value), made("span", figure.change ? `now ${figure.change}` : "\u00a0", "against"));
      row.append(cell);
    }
    row.append(made("td", pin.label, "words"));
    const remove = made("button", "Remove");
    remove.type = "button";
    remove.setAttribute("aria-label", `Remove pin ${pin.letter}`);
    remove.addEventListener("click", () => { send({ unpin: pin.letter }); say(`Pin ${pin.letter} removed`); by("pin").focus(); });
    const cell = document.createElement("td");
    cell.append(remove);
    row.append(cell);
    return row;
  };
  let exported = { toml: "", file: "explored.toml", command: "" };
  let shownQuery = null;
  const status = { ready: "", longer: "", shown: "" };
  const show = () => {
    if (!link.shown) return;
    const of = JSON.parse(link.shown);
    const problems = [...of.link_errors, ...(of.error ? [of.error] : [])];
    by("problem").hidden = problems.length === 0;
    if (by("problem").textContent !== problems.join("\n")) by("problem").textContent = problems.join("\n");
    document.body.classList.toggle("stale", Boolean(of.error));
    by("status").textContent = status[of.status] ?? of.status;
    document.body.dataset.status = of.error ? "refused" : of.status;
    if (of.answer && by("answer").textContent !== of.answer) by("answer").textContent = of.answer;
    by("window-text").textContent = of.window ?? "";
    fill("causes-text", of.causes ?? [], (text) => made("li", text));
    fill("doubts", of.doubts ?? [], (text) => made("li", text));
    fill("cards", of.cards ?? [], card);
    fill("tail-legend", of.tail_legend ?? [], entry);
    fill("causes-legend", of.causes_legend ?? [], entry);
    fill("die-legend", of.die_legend ?? [], entry);
    by("causes-of").textContent = of.causes_of ?? "slowest";
    by("die-title").textContent = of.die_title ? `, ${of.die_title}` : "";
    by("die-text").textContent = of.die;
    by("pinned").hidden = of.pins.length === 0;
    fill("pins", of.pins, pinned);
    by("pin").disabled = Boolean(of.full) || !of.cards;
    if (of.toml) exported = of;
    by("toml").textContent = exported.toml;
    by("command").textContent = exported.command;
    if (of.query !== shownQuery) {
      // A token in the address is no part of a link.
      shownQuery = of.query;
      history.replaceState(null, "", of.query ? `?${of.query}` : "./");
    }
    if (state.asked && of.answer && of.status !== "simulating" && !of.status.startsWith("simulating:")) {
      state.took = performance.now() - state.asked;
      state.asked = 0;
    }
    document.body.dataset.generation = of.generation;
    document.body.dataset.shown = JSON.stringify(of.exact ?? {});
  };
  link.properties.shown.change.connect(show);
  follow();
  show();
  state.asked = performance.now();
  send({ begin: true });

  by("pin").addEventListener("click", () => { send({ pin: true }); say("The curve is pinned"); });
  const copied = async (text, what) => {
    try {
      await navigator.clipboard.writeText(text);
      say(`${what} copied`);
    } catch {
      // Other machines reach the page without TLS, where browsers have no clipboard.
      window.prompt(what, text);
    }
  };
  by("link").addEventListener("click", () => copied(location.href, "Link"));
  by("copy").addEventListener("click", () => copied(exported.command, "Command"));
  by("save").addEventListener("click", () => {
    const made = document.createElement("a");
    made.href = URL.createObjectURL(new Blob([exported.toml], { type: "application/toml" }));
    made.download = exported.file;
    made.click();
    setTimeout(() => URL.revokeObjectURL(made.href), 60_000);
    say(`${exported.file} was saved`);
  });
  page.on_event?.("connection_lost", () => { by("status").textContent = "the server has ended; start interpulse explore again"; });
  document.documentElement.dataset.ready = "yes";
})();
