"use strict";
// The fabric's picture, and saving the JSON. All else stands in the page without a script.
const doc = JSON.parse(document.getElementById("data").textContent);
const byId = (name) => document.getElementById(name);

const save = byId("save");
save.hidden = false;
save.addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(doc, null, 1)], { type: "application/json" }));
  link.download = (location.pathname.split("/").pop() || "report.html").replace(/\.html$/, "") + ".json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
});

// On paper everything is open.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));

// A column of the document (netloom/pages/columns.py).
async function unpacked(column) {
  const [kind, text] = Object.entries(column)[0];
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const data = await new Response(stream).arrayBuffer();
  if (kind === "texts") return JSON.parse(new TextDecoder().decode(data));
  if (kind === "float64") return new Float64Array(data);
  const values = new Int32Array(data);
  for (let i = 1; i < values.length; i++) values[i] += values[i - 1];
  return values;
}

const digits = (value) => Number.isInteger(value) ? value.toLocaleString("en")
  : value.toLocaleString("en", { minimumSignificantDigits: 4, maximumSignificantDigits: 4 });
const MARKS = ["nothing found", "note", "warning", "error"];
function told(value, unit) {
  if (unit === "marks") return MARKS[value];
  if (unit === "share") return digits(100 * value) + " %";
  let at = 0;
  while (value >= 999.95 && at < 6) { value /= 1000; at++; }
  return digits(value) + " " + ["B", "kB", "MB", "GB", "TB", "PB", "EB"][at];
}

// Columns of one tier: a switch each, in the order of pods; `row` of a link is its place among the switch's.
function laidOut(tier, links, ends, pods) {
  const of = tier.receives ? ends.to : ends.from;
  const found = new Map();
  for (const link of links) {
    const node = of[link];
    if (!found.has(node)) found.set(node, []);
    found.get(node).push(link);
  }
  const nodes = [...found.keys()].sort((a, b) => pods[a] - pods[b] || a - b);
  let gaps = 0;
  const columns = nodes.map((node, i) => {
    if (i > 0 && pods[node] !== pods[nodes[i - 1]]) gaps++;
    return { node, links: Int32Array.from(found.get(node)), gaps };
  });
  // Gaps are a share of the width, however many columns there are.
  const gap = gaps ? Math.min(nodes.length / 200, 0.06 * nodes.length / gaps) : 0;
  columns.forEach((column, i) => { column.x = i + gap * column.gaps; });
  const deepest = columns.reduce((most, column) => Math.max(most, column.links.length), 1);
  return { name: tier.tier, columns, width: nodes.length + gap * gaps, deepest };
}

async function picture(part) {
  const raw = part.links, unit = raw.unit;
  const names = await unpacked(raw.names), pods = await unpacked(raw.pods);
  const ends = { from: await unpacked(raw.from), to: await unpacked(raw.to) };
  const ports = { from: await unpacked(raw.from_port), to: await unpacked(raw.to_port) };
  const values = await Promise.all(raw.values.map((one) => unpacked(one.of)));
  const tiers = [];
  for (const tier of raw.tiers) tiers.push(laidOut(tier, await unpacked(tier.links), ends, pods));
  const bound = part.bound ?? null;
  let most = { share: 1, marks: MARKS.length - 1 }[unit] ?? 0;
  if (unit === "B") for (const of of values) for (const value of of) if (value > most) most = value;
  most = most || 1;

  const canvas = byId("fabric"), box = byId("told"), context = canvas.getContext("2d");
  const NAME = 15, TIER = 54, GAP = 8;
  const height = tiers.length * (NAME + TIER + GAP);
  let routing = 0, from = 0, span = 1, at = null, held = null, wide = 0, due = false;
  byId("picture").hidden = false;

  // Up to the bound from pale to blue, beyond it from yellow to red; a share from pale to red. Colours as pixels.
  const pixel = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
  const STEPS = 255;
  function ramp() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches && !matchMedia("print").matches;
    const shades = ([a, b]) => Uint32Array.from({ length: STEPS + 1 },
      (_, i) => pixel(a.map((one, k) => Math.round(one + (b[k] - one) * i / STEPS))));
    const none = pixel(dark ? [38, 43, 48] : [230, 234, 238]);
    const cold = shades(dark ? [[42, 66, 92], [110, 180, 245]] : [[205, 222, 238], [20, 98, 168]]);
    const warm = shades(dark ? [[240, 200, 90], [255, 80, 50]] : [[240, 180, 60], [176, 20, 20]]);
    const one = shades(dark ? [[70, 55, 45], [255, 138, 92]] : [[244, 222, 205], [160, 20, 20]]);
    const at = (shade, t) => shade[Math.round(STEPS * Math.min(t, 1))];
    return (value) => {
      if (!(value > 0)) return none;
      if (!bound) return at(one, value / most);
      if (value <= bound * (1 + 1e-9)) return at(cold, value / bound);
      return at(warm, most > bound ? (value - bound) / (most - bound) : 1);
    };
  }
  let shade = ramp();

  const left = (tier, column) => ((column.x / tier.width) - from) / span * wide;
  const step = (tier) => wide / tier.width / span;

  // One tier's pixels.
  function band(tier, scale) {
    const of = values[routing], size = step(tier) * scale;
    const image = context.createImageData(canvas.width, Math.round(TIER * scale));
    const { width, height } = image, pixels = new Uint32Array(image.data.buffer);
    const cell = height / tier.deepest;
    if (size >= 1.5) {
      for (const column of tier.columns) {
        const x = left(tier, column) * scale, begin = Math.max(Math.round(x), 0);
        const end = Math.min(Math.round(x + size) - (size > 5 ? 1 : 0), width);
        for (let row = 0; begin < end && row < column.links.length; row++) {
          const colour = shade(of[column.links[row]]), last = Math.round((row + 1) * cell) - (cell > 4 ? 1 : 0);
          for (let y = Math.round(row * cell); y < last; y++) pixels.fill(colour, y * width + begin, y * width + end);
        }
      }
      return image;
    }
    // Where columns are narrower than a pixel, a pixel shows the largest of them.
    const rows = Math.min(tier.deepest, height), deep = new Float64Array(width * rows).fill(-1);
    for (const column of tier.columns) {
      const x = Math.floor(left(tier, column) * scale);
      if (x < 0 || x >= width) continue;
      for (let row = 0; row < column.links.length; row++) {
        const place = Math.floor(row * rows / tier.deepest) * width + x, value = of[column.links[row]];
        if (value > deep[place]) deep[place] = value;
      }
    }
    for (let y = 0; y < height; y++) {
      const from = Math.floor(y * rows / height) * width;
      for (let x = 0; x < width; x++) if (deep[from + x] >= 0) pixels[y * width + x] = shade(deep[from + x]);
    }
    return image;
  }

  function draw() {
    due = false;
    wide = canvas.clientWidth;
    const scale = devicePixelRatio || 1, style = getComputedStyle(document.body);
    canvas.width = Math.round(wide * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = height + "px";
    context.scale(scale, scale);
    context.font = "12px system-ui, sans-serif";
    tiers.forEach((tier, place) => {
      const top = place * (NAME + TIER + GAP) + NAME, size = step(tier);
      context.fillStyle = style.color;
      context.fillText(tier.name, 0, top - 4);
      context.putImageData(band(tier, scale), 0, Math.round(top * scale));
      if (at && at.tier === place) {
        const column = tier.columns[at.column];
        context.strokeStyle = style.color;
        context.lineWidth = 1.5;
        context.strokeRect(left(tier, column) - 1, top - 1, Math.max(size, 2) + 1, TIER + 2);
        context.strokeRect(left(tier, column), top + at.row * TIER / tier.deepest, Math.max(size, 2), TIER / tier.deepest);
      }
    });
  }
  const look = () => { if (!due) { due = true; requestAnimationFrame(draw); } };

  const end = (side, link) => `${names[ends[side][link]]}[${ports[side][link]}]`;
  const link = () => at && tiers[at.tier].columns[at.column].links[at.row];
  function words() {
    const column = tiers[at.tier].columns[at.column], pod = pods[column.node];
    const lines = [`${end("from", link())} → ${end("to", link())}: ${told(values[routing][link()], unit)}`];
    if (values.length > 1) {
      lines.push(...raw.values.map((one, i) => `${one.name}: ${told(values[i][link()], unit)}`));
    }
    lines.push(tiers[at.tier].name + (pod >= 0 ? `, pod ${pod}` : ""));
    return lines;
  }

  function under(event) {
    const frame = canvas.getBoundingClientRect();
    const place = Math.floor((event.clientY - frame.top) / (NAME + TIER + GAP));
    const y = event.clientY - frame.top - place * (NAME + TIER + GAP) - NAME;
    const tier = tiers[place];
    if (!tier || y < 0 || y >= TIER) return null;
    const x = (from + (event.clientX - frame.left) / wide * span) * tier.width;
    let low = 0, high = tier.columns.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (tier.columns[middle].x <= x) low = middle; else high = middle - 1;
    }
    const row = Math.floor(y / TIER * tier.deepest);
    if (row >= tier.columns[low].links.length || x >= tier.columns[low].x + 1.3) return null;
    // Of columns that share a pixel the one with the largest load is meant.
    let best = { tier: place, column: low, row };
    const value = (k) => values[routing][tier.columns[k].links[row]] ?? -1;
    for (let k = low; k >= 0 && Math.floor(left(tier, tier.columns[k])) === Math.floor(left(tier, tier.columns[low])); k--) {
      if (value(k) > value(best.column)) best = { ...best, column: k };
    }
    return best;
  }

  function show(event) {
    box.hidden = !at;
    if (!at) return;
    box.textContent = words().join("\n");
    const size = box.getBoundingClientRect();
    box.style.left = Math.max(Math.min(event.clientX + 14, innerWidth - size.width - 8), 0) + "px";
    box.style.top = Math.max(Math.min(event.clientY + 16, innerHeight - size.height - 8), 0) + "px";
  }

  function table(caption, heads, rows, figures) {
    const made = document.createElement("table"), frame = document.createElement("div");
    made.createCaption().textContent = caption;
    const head = made.createTHead().insertRow(), body = made.createTBody();
    for (const word of heads) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = word;
      head.append(cell);
    }
    for (const words of rows) {
      const row = body.insertRow();
      words.forEach((text, i) => {
        const cell = row.insertCell();
        cell.textContent = text;
        if (i >= figures) cell.className = "n";
      });
    }
    frame.className = "wide";
    frame.tabIndex = 0;
    frame.append(made);
    return frame;
  }

  // Who loads the link that was chosen, if it is among the hottest; and all links of its switch, the largest first.
  function open() {
    const node = tiers[at.tier].columns[at.column].node, of = values[routing];
    const [from, to, name] = [end("from", link()), end("to", link()), raw.values[routing].name];
    const hot = part.routings?.[routing].busiest.find((one) => one.users && one.from === from && one.to === to);
    const pairs = (hot?.users ?? []).map((one) => [one.source, one.destination, one.job ?? "–", told(one.bytes, "B")]);
    const own = [];
    for (let i = 0; i < raw.count; i++) if (ends.from[i] === node || ends.to[i] === node) own.push(i);
    own.sort((a, b) => of[b] - of[a] || a - b);
    const rows = own.map((one) => [end("from", one), end("to", one), ...values.map((v) => told(v[one], unit))]);
    byId("opened").replaceChildren(
      ...(hot ? [table(`${from} → ${to}, ${name}: ${pairs.length} of its ${hot.pairs} pairs, those with most bytes`,
        ["source", "destination", "job", "bytes"], pairs, 3)] : []),
      table(`${names[node]}: its ${own.length} links`, ["from", "to", ...raw.values.map((one) => one.name)], rows, 2));
  }

  const bounded = () => { span = Math.min(Math.max(span, 1e-4), 1); from = Math.min(Math.max(from, 0), 1 - span); };
  function zoom(by, where) {
    const fixed = from + where * span;
    span *= by;
    bounded();
    from = fixed - where * span;
    bounded();
    look();
  }

  canvas.addEventListener("pointermove", (event) => {
    if (held) {
      from = held.from - (event.clientX - held.x) / wide * span;
      held.moved ||= Math.abs(event.clientX - held.x) > 3;
      bounded();
    } else at = under(event);
    show(event);
    look();
  });
  canvas.addEventListener("pointerdown", (event) => { held = { x: event.clientX, from, moved: false }; });
  addEventListener("pointerup", (event) => {
    if (held && !held.moved && event.target === canvas) { at = under(event); if (at) open(); look(); }
    held = null;
  });
  canvas.addEventListener("pointerleave", () => { box.hidden = true; });
  canvas.addEventListener("dblclick", () => { from = 0; span = 1; look(); });
  canvas.addEventListener("wheel", (event) => {
    // Without Ctrl the page scrolls, as pages do.
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(Math.exp(event.deltaY / 500), event.offsetX / wide);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === "+") zoom(0.7, 0.5);
    else if (event.key === "-" || event.key === "−") zoom(1 / 0.7, 0.5);
    else if (event.key === "0") { from = 0; span = 1; }
    else if (event.key === "Enter" && at) open();
    else if (event.key === "Escape") byId("opened").replaceChildren();
    else if (move) {
      at ??= { tier: 0, column: 0, row: 0 };
      let { tier, column, row } = at;
      column = Math.min(Math.max(column + move[0], 0), tiers[tier].columns.length - 1);
      row += move[1];
      if (row >= tiers[tier].columns[column].links.length || row < 0) {
        const next = Math.min(Math.max(tier + move[1], 0), tiers.length - 1);
        if (next !== tier) column = Math.floor(column / tiers[tier].columns.length * tiers[next].columns.length);
        const last = tiers[next].columns[column].links.length - 1;
        row = next === tier ? Math.min(Math.max(row, 0), last) : move[1] > 0 ? 0 : last;
        tier = next;
      }
      at = { tier, column, row };
      byId("at").textContent = words().join("; ");
    } else return;
    event.preventDefault();
    look();
  });

  function key() {
    const bar = document.createElement("canvas");
    bar.width = 200;
    bar.height = 1;
    const paint = bar.getContext("2d"), strip = paint.createImageData(200, 1);
    new Uint32Array(strip.data.buffer).forEach((_, i, all) => { all[i] = shade((i + 1) / 200 * most); });
    paint.putImageData(strip, 0, 0);
    const end = document.createElement("span");
    end.textContent = told(most, unit) + (bound ? `; beyond the AR bound of ${told(bound, unit)} it is yellow to red` : "");
    const zero = document.createElement("span");
    zero.textContent = unit === "marks" ? told(0, unit) : "0";
    byId("key").replaceChildren(zero, bar, end);
  }
  const again = () => { shade = ramp(); key(); look(); };
  for (const choice of document.querySelectorAll("input[name=routing]")) {
    choice.addEventListener("change", () => { routing = Number(choice.value); if (byId("opened").firstChild) open(); look(); });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  addEventListener("beforeprint", () => { shade = ramp(); draw(); });
  addEventListener("afterprint", again);
  new ResizeObserver(look).observe(canvas);
  again();
}

const drawn = doc.parts.find((part) => part.links);
if (drawn && typeof DecompressionStream !== "undefined") picture(drawn);
