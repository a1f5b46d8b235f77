// The reader's choices: a tolerance, a volume, a base rate; everything on the page follows from them.
const data = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);
const slider = find("tolerance"), volume = find("volume"), baseRate = find("base-rate");
const [lowest, highest] = data.tolerance_range;
const start = data.point.tolerance;
const steps = Number(slider.max);
const positionOf = (rate) => Math.round((steps * Math.log(rate / lowest)) / Math.log(highest / lowest));
const rateAt = (position) => lowest * (highest / lowest) ** (position / steps);
const home = positionOf(start);
const charts = {};

const chosenRate = () => (Number(slider.value) === home ? start : rateAt(Number(slider.value)));
const isInForce = () => data.is_promised && Number(slider.value) === home;
const isGuaranteed = (rate) => data.guaranteed !== null && rate * (1 + 1e-9) >= data.guaranteed.tolerance[0];

function pointOn(curve, rate) {
  let low = 0, high = curve.tolerance.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (curve.tolerance[middle] <= rate * (1 + 1e-9)) low = middle;
    else high = middle - 1;
  }
  const columns = ["threshold", "false_alarms", "caught", "caught_low", "caught_high"];
  const point = { n_negative: curve.n_negative, n_positive: curve.n_positive };
  for (const column of columns) point[column] = curve[column][low];
  return point;
}

function chosenPoint(rate) {
  if (Number(slider.value) === home) return data.point;
  return pointOn(isGuaranteed(rate) ? data.guaranteed : data.measured, rate);
}

function say(id, text) {
  const node = find(id);
  if (node && node.textContent !== text) node.textContent = text;
}

function validNumber(input, low, high) {
  const value = Number(input.value);
  const isValid = input.value !== "" && Number.isFinite(value) && value >= low && value <= high;
  input.setAttribute("aria-invalid", String(!isValid));
  return isValid ? value : null;
}

// The input shows four digits of the share; until the reader changes it, all of them count.
function chosenShare() {
  const shown = validNumber(baseRate, 0, 100);
  return shown !== null && baseRate.value === baseRate.defaultValue ? data.base_rate : shown === null ? null : shown / 100;
}

function showStatus(rate) {
  const chip = find("status");
  const confidence = data.confidence_words;
  let kind = "measured", text = "Measured on held-out rows, not promised";
  if (isInForce()) {
    kind = data.is_broken ? "broken" : "promised";
    text = data.is_broken ? "In force: promise contradicted" : "In force, promised " + confidence;
  } else if (isGuaranteed(rate)) {
    kind = "possible";
    text = "What if: could be promised " + data.band_words;
  }
  chip.dataset.kind = kind;
  say("status", text);
}

function showCaught(point) {
  if (!point.n_positive) return;
  say("caught", percent(point.caught / point.n_positive));
  const limits = `likely ${percent(point.caught_low)} to ${percent(point.caught_high)}`;
  say("caught-note", `${count(point.caught)} of ${plural(point.n_positive, "held-out case")}; ${limits}`);
}

function showPrecision(point, base) {
  const rate = point.false_alarms / point.n_negative;
  const real = point.n_positive ? base * (point.caught / point.n_positive) : null;
  const alerts = real === null ? null : real + (1 - base) * rate;
  say("precision", alerts ? percent(real / alerts) : "–");
  const seen = `${plural(point.false_alarms, "false alarm")} in ${plural(point.n_negative, "normal row")}`;
  const isRough = point.false_alarms < 10 && alerts;
  say("precision-note", isRough ? `a rough figure: it rests on ${seen}` : `from ${seen}`);
}

function showAlerts(point, rate, volumePerDay, base) {
  const normal = volumePerDay * (1 - base), events = volumePerDay * base;
  const wrong = (normal * point.false_alarms) / point.n_negative;
  const recall = point.n_positive ? point.caught / point.n_positive : 0;
  const isLimited = (isInForce() && !data.is_broken) || (!isInForce() && isGuaranteed(rate));
  const most = isLimited ? `; at most ${count(normal * rate)} false ${isInForce() ? "promised" : "could be promised"}` : "";
  say("alerts", count(wrong + events * recall));
  say("alerts-note", (point.n_positive ? `${count(events * recall)} real, ${count(wrong)} false` : "all false") + most);
  say("missed", point.n_positive ? count(events * (1 - recall)) : "–");
  say("missed-note", point.n_positive ? `of ${count(events)} expected a day` : "no held-out case to measure it on");
}

function show() {
  const rate = chosenRate(), point = chosenPoint(rate);
  const perDay = validNumber(volume, 0, 1e15), share = chosenShare();
  slider.setAttribute("aria-valuetext", `${times(rate)} normal rows, ${percent(rate)}`);
  say("chosen", times(rate));
  say("chosen-share", percent(rate));
  find("reset").disabled = Number(slider.value) === home;
  showStatus(rate);
  showCaught(point);
  if (share !== null) showPrecision(point, share);
  if (share !== null && perDay !== null) showAlerts(point, rate, perDay, share);
  const inForce = data.is_promised && !isInForce() ? data.point : null;
  moveRates(charts.rates, point, rate, inForce);
  moveScores(charts.scores, point.threshold);
}

function draw() {
  charts.rates = drawRates(find("rates"), data);
  charts.scores = drawScores(find("scores"), data);
  show();
}

function choose(rate) {
  slider.value = String(positionOf(clamp(rate, lowest, highest)));
  show();
}

function followPointer(event) {
  if (event.type === "pointermove" && !(event.buttons & 1)) return;
  const { svg, x } = charts.rates;
  const frame = svg.getBoundingClientRect();
  choose(x.inverse(((event.clientX - frame.left) * svg.viewBox.baseVal.width) / frame.width));
}

async function copyCommand() {
  const command = find("command");
  try {
    await navigator.clipboard.writeText(command.textContent);
    say("copied", "Copied");
  } catch {
    window.getSelection().selectAllChildren(command);
    say("copied", "Selected: press Ctrl+C");
  }
  setTimeout(() => say("copied", ""), 2500);
}

slider.value = String(home);
document.documentElement.classList.add("scripted");
for (const input of [slider, volume, baseRate]) input.addEventListener("input", show);
find("reset").addEventListener("click", () => choose(start));
find("rates").addEventListener("pointerdown", followPointer);
find("rates").addEventListener("pointermove", followPointer);
if (find("copy")) find("copy").addEventListener("click", copyCommand);
window.addEventListener("beforeprint", () => {
  for (const more of document.querySelectorAll("details")) more.open = true;
});
let drawnWidth = 0;
new ResizeObserver(() => {
  const width = find("rates").getBoundingClientRect().width;
  if (width && width !== drawnWidth) {
    drawnWidth = width;
    draw();
  }
}).observe(find("rates"));
draw();
