"use strict";
// What a link carried is told where the pointer is: of the nearest one, for most are thinner than a pixel.
const data = JSON.parse(document.getElementById("data").textContent);
const told = document.getElementById("told");
const NEAR = 5;

function row(table, name, found, at, link) {
  const cells = table.insertRow();
  const packets = found.packets[at][link], error = found.error[at];
  const share = found.percent[at][link] + (error ? " ± " + error[link] : "");
  for (const text of [name, packets.toLocaleString("en") + " packets", share + " % congested"]) {
    cells.insertCell().textContent = text;
  }
}

function tell(panel, link, event) {
  const found = data.panels[panel];
  const name = document.createElement("b");
  name.textContent = data.links[link].join(" → ");
  const table = document.createElement("table");
  const parts = found.contexts.map((_, at) => at + 1).filter((at) => found.packets[at][link] > 0);
  parts.sort((a, b) => found.packets[b][link] - found.packets[a][link]);
  if (parts.length !== 1) row(table, "all", found, 0, link);
  for (const at of parts.slice(0, 12)) {
    row(table, found.contexts[at - 1], found, at, link);
  }
  told.replaceChildren(name, table);
  told.hidden = false;
  const box = told.getBoundingClientRect();
  told.style.left = Math.max(Math.min(event.clientX + 14, innerWidth - box.width - 8), 0) + "px";
  told.style.top = Math.max(Math.min(event.clientY + 14, innerHeight - box.height - 8), 0) + "px";
}

for (const svg of document.querySelectorAll("svg")) {
  const value = (line, name) => Number(line.getAttribute(name));
  const lines = [...svg.querySelectorAll("line")].map((line) => ({
    line, x: value(line, "x1"), y: value(line, "y1"),
    dx: value(line, "x2") - value(line, "x1"), dy: value(line, "y2") - value(line, "y1"),
  }));
  const whole = svg.getAttribute("viewBox");
  let view = whole.split(" ").map(Number), marked = null, held = null;
  const point = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const look = () => svg.setAttribute("viewBox", view.join(" "));
  const mark = (shape) => {
    marked?.classList.remove("at");
    shape?.classList.add("at");
    marked = shape;
  };
  const nearest = (at, near) => {
    let best = null;
    for (const { line, x, y, dx, dy } of lines) {
      const along = Math.min(Math.max(((at.x - x) * dx + (at.y - y) * dy) / (dx * dx + dy * dy), 0), 1);
      const far = Math.hypot(at.x - x - along * dx, at.y - y - along * dy);
      if (far < near) [best, near] = [line, far];
    }
    return best;
  };
  svg.addEventListener("pointermove", (event) => {
    if (held) {
      const at = point(event);
      view = [view[0] + held.x - at.x, view[1] + held.y - at.y, view[2], view[3]];
      return look();
    }
    const scale = view[2] / svg.getBoundingClientRect().width;
    const shape = event.target.matches("rect[data-l]") ? event.target : nearest(point(event), NEAR * scale);
    mark(shape);
    if (shape) tell(svg.dataset.panel, Number(shape.dataset.l), event);
    else told.hidden = true;
  });
  svg.addEventListener("pointerleave", () => { mark(null); told.hidden = true; held = null; });
  svg.addEventListener("pointerdown", (event) => { held = point(event); });
  svg.addEventListener("pointerup", () => { held = null; });
  svg.addEventListener("dblclick", () => { view = whole.split(" ").map(Number); look(); });
  svg.addEventListener("wheel", (event) => {
    // Without Ctrl the page scrolls, as pages do.
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const at = point(event), by = Math.exp(event.deltaY / 500);
    view = [at.x + (view[0] - at.x) * by, at.y + (view[1] - at.y) * by, view[2] * by, view[3] * by];
    look();
  }, { passive: false });
}
