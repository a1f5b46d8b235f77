// The two pictures. Each is drawn for the width it has, so that its letters keep their size on a phone.
function element(name, attributes, parent, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.appendChild(node);
  return node;
}

function emptied(svg, width, height) {
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  return svg;
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// Rates run over a logarithmic axis; what lies outside it, as a rate of zero does, sits on its edge.
function rateScale(low, high, left, right) {
  const span = Math.log(high / low);
  return {
    at: (rate) => (rate <= low ? left : left + ((right - left) * Math.log(Math.min(rate, high) / low)) / span),
    inverse: (x) => low * Math.exp((span * (x - left)) / (right - left)),
  };
}

// Path of a staircase that holds each value until the next abscissa.
function stairs(xs, ys, end) {
  let path = `M${xs[0].toFixed(1)},${ys[0].toFixed(1)}`;
  for (let i = 1; i < xs.length; i++) path += `H${xs[i].toFixed(1)}V${ys[i].toFixed(1)}`;
  return path + `H${end.toFixed(1)}`;
}

function bandPath(xs, lower, upper, end) {
  let path = stairs(xs, upper, end) + `V${lower[lower.length - 1].toFixed(1)}`;
  for (let i = xs.length - 1; i > 0; i--) path += `H${xs[i].toFixed(1)}V${lower[i - 1].toFixed(1)}`;
  return path + `H${xs[0].toFixed(1)}Z`;
}

function drawRates(svg, data) {
  const width = Math.round(svg.getBoundingClientRect().width) || 640;
  const height = clamp(Math.round(width * 0.62), 250, 400);
  const box = { left: 48, right: width - 18, top: 12, bottom: height - 42 };
  const [lowest, high] = data.tolerance_range;
  // Thresholds with a promise err on the quiet side: their points lie left of the lowest tolerance.
  const low = Math.min(lowest, Math.max(1 / data.measured.n_negative, lowest / 10)) / 1.5;
  const x = rateScale(low, high, box.left, box.right);
  const y = (share) => box.bottom - (box.bottom - box.top) * share;
  emptied(svg, width, height);
  const marks = [];
  for (let power = Math.ceil(Math.log10(low) - 1e-9); 10 ** power <= high * 1.001; power++) marks.push(10 ** power);
  if (high > 1.5 * marks[marks.length - 1]) marks.push(high);
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    element("line", { class: "grid", x1: box.left, x2: box.right, y1: y(share), y2: y(share) }, svg);
    element("text", { class: "tick", x: box.left - 8, y: y(share) + 4, "text-anchor": "end" }, svg, percent(share));
  }
  marks.forEach((rate, i) => {
    element("line", { class: "grid", x1: x.at(rate), x2: x.at(rate), y1: box.top, y2: box.bottom }, svg);
    const place = { class: "tick", x: x.at(rate), y: box.bottom + 18, "text-anchor": "middle" };
    const isCrowded = i + 1 < marks.length && x.at(marks[i + 1]) - x.at(rate) < 44;
    if (!isCrowded) element("text", place, svg, percent(rate));
  });
  const caption = { class: "axis", x: (box.left + box.right) / 2, y: height - 6, "text-anchor": "middle" };
  element("text", caption, svg, "False alarm rate");
  const under = element("g", {}, svg);
  if (data.band) drawBand(svg, data.band, x, y, box);
  drawMeasured(svg, data.measured, x, y, box, high);
  return { svg, box, x, y, under, moving: element("g", {}, svg) };
}

function drawBand(svg, band, x, y, box) {
  const path = bandPath(band.tolerance.map(x.at), band.lower.map(y), band.upper.map(y), box.right);
  element("path", { class: "band", d: path }, svg);
}

function drawMeasured(svg, curve, x, y, box, high) {
  const every = curve.false_alarms.map((alarms) => alarms / curve.n_negative);
  const rates = every.filter((rate) => rate <= high);
  const shares = curve.caught.slice(0, rates.length).map((caught) => caught / curve.n_positive);
  element("path", { class: "curve", d: stairs(rates.map(x.at), shares.map(y), box.right) }, svg);
}

// The point the reader chose, and the tolerance it was placed for.
function moveRates(chart, point, tolerance, inForce) {
  const { box, x, y, under, moving } = chart;
  moving.replaceChildren();
  under.replaceChildren();
  const limit = x.at(tolerance);
  element("rect", { class: "allowed", x: box.left, y: box.top, width: Math.max(limit - box.left, 0),
    height: box.bottom - box.top }, under);
  element("line", { class: "limit", x1: limit, x2: limit, y1: box.top, y2: box.bottom }, moving);
  if (inForce) drawInForce(moving, inForce, x, y);
  const at = { x: x.at(point.false_alarms / point.n_negative), y: y(point.caught / point.n_positive) };
  const ends = { x1: at.x, x2: at.x, y1: y(point.caught_low), y2: y(point.caught_high) };
  element("line", { class: "whisker", ...ends }, moving);
  element("circle", { class: "point", cx: at.x, cy: at.y, r: 7 }, moving);
}

function drawInForce(parent, point, x, y) {
  const at = [x.at(point.false_alarms / point.n_negative), y(point.caught / point.n_positive)];
  const place = `translate(${at[0].toFixed(1)},${at[1].toFixed(1)}) rotate(45)`;
  element("rect", { class: "in-force", x: -5, y: -5, width: 10, height: 10, transform: place }, parent);
}

function niceTicks(low, high, wanted) {
  const raw = (high - low) / wanted;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = size * [1, 2, 5, 10].find((multiple) => multiple * size >= raw);
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) ticks.push(i * step);
  return ticks;
}

function drawScores(svg, data) {
  const width = Math.round(svg.getBoundingClientRect().width) || 640;
  const height = clamp(Math.round(width * 0.42), 220, 300);
  const { edges, positive, negative } = data.histogram;
  const first = edges[0], last = edges[edges.length - 1];
  const box = { left: 14, right: width - 14, top: 24, bottom: height - 46 };
  const x = (score) => box.left + ((box.right - box.left) * (clamp(score, first, last) - first)) / (last - first);
  emptied(svg, width, height);
  const hasPositive = data.measured.n_positive > 0;
  const floor = hasPositive ? (box.top + box.bottom) / 2 : box.bottom;
  const bars = [];
  if (hasPositive) bars.push(...drawBars(svg, edges, positive, x, floor, box.top, "positive"));
  bars.push(...drawBars(svg, edges, negative, x, floor, hasPositive ? box.bottom : box.top, "negative"));
  element("line", { class: "base", x1: box.left, x2: box.right, y1: floor, y2: floor }, svg);
  for (const tick of niceTicks(first, last, width > 480 ? 8 : 4)) {
    element("text", { class: "tick", x: x(tick), y: box.bottom + 18, "text-anchor": "middle" }, svg, significant(tick));
  }
  element("text", { class: "axis", x: width / 2, y: height - 6, "text-anchor": "middle" }, svg, "Score");
  return { box, x, bars, moving: element("g", {}, svg) };
}

// Bars grow from the floor towards `end`; a bin that holds anything at all is seen.
function drawBars(svg, edges, counts, x, floor, end, kind) {
  const most = Math.max(...counts, 1);
  const room = Math.abs(end - floor) - 2;
  return counts.flatMap((amount, i) => {
    if (amount === 0) return [];
    const tall = Math.max((room * amount) / most, 2);
    const left = x(edges[i]), wide = Math.max(x(edges[i + 1]) - left - 1, 1);
    const top = end < floor ? floor - tall : floor;
    const node = element("rect", { class: "bar " + kind, x: left, y: top, width: wide, height: tall }, svg);
    return [{ node, middle: (edges[i] + edges[i + 1]) / 2 }];
  });
}

function moveScores(chart, threshold) {
  const { box, x, bars, moving } = chart;
  moving.replaceChildren();
  for (const bar of bars) bar.node.classList.toggle("quiet", threshold !== null && bar.middle <= threshold);
  if (threshold === null) return;
  const at = x(threshold), isRight = at > (box.left + box.right) / 2;
  element("line", { class: "limit", x1: at, x2: at, y1: box.top - 4, y2: box.bottom + 4 }, moving);
  const place = { class: "limit-label", x: at + (isRight ? -6 : 6), y: box.top - 10, "text-anchor": isRight ? "end" : "start" };
  element("text", place, moving, `alarm above ${significant(threshold)}`);
}
