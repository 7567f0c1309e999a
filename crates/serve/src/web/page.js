// Live page: asks for the figures once a second and fills the tables.
"use strict";

const query = window.location.search;

function number(value, digits) {
  if (value === null || value === undefined) return "–";
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

function fill(id, rows) {
  const lines = rows.map((row) => {
    const line = document.createElement("tr");
    row.forEach((text, column) => {
      const cell = document.createElement(column === 0 ? "th" : "td");
      if (column === 0) cell.scope = "row";
      cell.textContent = text;
      line.append(cell);
    });
    return line;
  });
  document.getElementById(id).replaceChildren(...lines);
}

// Fills the choices once, and shows schemes and changes.
function showSuspension(of) {
  for (const kind of ["program", "erase"]) {
    const select = document.getElementById(`${kind}-scheme`);
    if (select.options.length === 0) {
      select.replaceChildren(...of.schemes.map((name) => new Option(name, name, false, name === of[kind])));
    }
  }
  document.getElementById("controls").disabled = of.fixed !== null;
  const last = of.changes[of.changes.length - 1];
  const settings = last && Object.entries(last.settings).map(([key, value]) => `${key} = ${value}`).join(", ");
  document.getElementById("changes").textContent = `Programs ${of.program}, erases ${of.erase}; ` +
    (of.fixed || (last ? `${of.changes.length} changes, the last at ${number(last.at_s, 6)} s: ${settings}` : "no changes"));
}

// Sends the scheme of each kind and the limits that have a value.
async function change(event) {
  event.preventDefault();
  const fields = [...document.querySelectorAll("#controls select, #controls input")];
  const settings = Object.fromEntries(fields.filter((of) => of.value !== "").map((of) => [of.name, of.value]));
  const said = document.getElementById("changed");
  try {
    const answer = await fetch(`suspension${query}`,
      { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(settings) });
    const text = await answer.text();
    said.textContent = answer.ok ? `Changed at ${number(JSON.parse(text).at_s, 6)} s of drive time.` : text;
  } catch (error) {
    said.textContent = `The drive does not answer: ${error.message}`;
  }
}

function show(view) {
  showSuspension(view.suspension);
  document.getElementById("session").textContent =
    `Pace ${view.pace}, configuration ${view.config_hash}: ${number(view.drive_s, 1)} s of drive time in ${number(view.wall_s, 1)} s.`;
  fill("operations", view.operations.filter((of) => of.commands + of.errors > 0).map((of) => {
    const latency = of.latency_us || {};
    return [of.operation, number(of.rate, 0), number(latency["p50"], 1), number(latency["p99"], 1),
      number(latency["p99.9"], 1), number(of.commands, 0), number(of.errors, 0)];
  }));
  const slip = view.slip_us || {};
  fill("drive", [
    ["commands outstanding", number(view.outstanding, 0)],
    ["dies busy", `${view.busy_dies} of ${view.dies}`],
    ["dies with a suspended operation", `${view.suspended_dies} of ${view.dies}`],
    ["lanes below the threshold of garbage collection", `${view.collecting_lanes} of ${view.lanes}`],
    ["units in the write cache", number(view.cached_units, 0)],
    ["write amplification", number(view.write_amplification, 3)],
    ["slip in wall time (µs): p50, p99, p99.9",
      [slip["p50"], slip["p99"], slip["p99.9"]].map((value) => number(value, 1)).join(", ")],
  ]);
  fill("slowest", view.slowest.map((of) => [of.operation, number(of.at_s, 6), number(of.offset, 0),
    number(of.length, 0), number(of.latency_us, 1), of.cause || "–"]));
}

async function update() {
  try {
    const answer = await fetch(`live.json${query}`, { cache: "no-store" });
    if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
    show(await answer.json());
  } catch (error) {
    document.getElementById("session").textContent = `The drive does not answer: ${error.message}`;
  }
  window.setTimeout(update, 1000);
}

document.getElementById("suspension").addEventListener("submit", change);
update();
