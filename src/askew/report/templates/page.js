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
const picture = find("rates"); // absent where nothing is known to be the event

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
  const text = input.value.replace(/[,\s]/g, ""), value = Number(text);
  const isValid = text !== "" && Number.isFinite(value) && value >= low && value <= high;
  input.setAttribute("aria-invalid", String(!isValid));
  return isValid ? value : null;
}

// The input shows four digits of the share; until the reader changes it, all of them count.
function chosenShare() {
  if (!baseRate) return data.base_rate;
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
  say("caught", percent(point.caught / point.n_positive));
  const limits = `likely ${percent(point.caught_low)} to ${percent(point.caught_high)}`;
  say("caught-note", `${count(point.caught)} of ${plural(point.n_positive, "held-out case")}; ${limits}`);
}

const alarmsSeen = (point) =>
  `${plural(point.false_alarms, "false alarm")} in ${plural(point.n_negative, "normal row")}`;

function showPrecision(point, base) {
  const real = base * (point.caught / point.n_positive);
  const alerts = real + ((1 - base) * point.false_alarms) / point.n_negative;
  say("precision", alerts > 0 ? percent(real / alerts) : "–");
  const isRough = point.false_alarms < 10 && alerts > 0;
  say("precision-note", (isRough ? "a rough figure: it rests on " : "from ") + alarmsSeen(point));
}

function showSeen(point) {
  say("seen", percent(point.false_alarms / point.n_negative));
  say("seen-note", alarmsSeen(point));
}

function showAlerts(point, rate, volumePerDay, base) {
  const normal = volumePerDay * (1 - base), events = volumePerDay * base;
  const wrong = (normal * point.false_alarms) / point.n_negative;
  const recall = point.n_positive ? point.caught / point.n_positive : 0;
  const isLimited = (isInForce() && !data.is_broken) || (!isInForce() && isGuaranteed(rate));
  const most = isLimited ? `; at most ${count(normal * rate)} false ${isInForce() ? "promised" : "could be promised"}` : "";
  say("alerts", count(wrong + events * recall));
  say("alerts-note", point.n_positive ? `${count(events * recall)} real, ${count(wrong)} false` + most : most.slice(2));
  say("missed", count(events * (1 - recall)));
  say("missed-note", `of ${count(events)} expected a day`);
}

function show() {
  const rate = chosenRate(), point = chosenPoint(rate);
  const perDay = validNumber(volume, 0, 1e15), share = chosenShare();
  slider.setAttribute("aria-valuetext", `${times(rate)} normal rows, ${percent(rate)}`);
  say("chosen", times(rate));
  say("chosen-share", percent(rate));
  find("reset").disabled = Number(slider.value) === home;
  showStatus(rate);
  if (!point.n_positive) showSeen(point);
  else showCaught(point);
  if (share !== null && point.n_positive) showPrecision(point, share);
  if (share !== null && perDay !== null) showAlerts(point, rate, perDay, share);
  const inForce = data.is_promised && !isInForce() ? data.point : null;
  if (charts.rates) moveRates(charts.rates, point, rate, inForce);
  moveScores(charts.scores, point.threshold);
}

function draw() {
  if (picture) charts.rates = drawRates(picture, data);
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
for (const input of [slider, volume, baseRate]) input?.addEventListener("input", show);
volume.addEventListener("change", () => {
  const perDay = validNumber(volume, 0, 1e15);
  if (perDay !== null) volume.value = perDay.toLocaleString("en", { maximumFractionDigits: 3 });
});
find("reset").addEventListener("click", () => choose(start));
picture?.addEventListener("pointerdown", followPointer);
picture?.addEventListener("pointermove", followPointer);
find("copy")?.addEventListener("click", copyCommand);
window.addEventListener("beforeprint", () => {
  for (const more of document.querySelectorAll("details")) more.open = true;
});
let drawnWidth = 0;
new ResizeObserver(() => {
  const width = find("scores").getBoundingClientRect().width;
  if (width && width !== drawnWidth) {
    drawnWidth = width;
    draw();
  }
}).observe(find("scores"));
draw();
