// Numbers as people say them; the same rules, and the same rounding, as numerals.py.
const NBSP = "\u00a0";
const roundHalfUp = (value, decimals) => Math.floor(value * 10 ** decimals + 0.5) / 10 ** decimals;
const trimmed = (value, decimals) => {
  const text = roundHalfUp(value, decimals).toFixed(decimals);
  return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
};
const roundedTo = (value, digits) => {
  if (value <= 0) return 0;
  const scale = 10 ** (digits - 1 - Math.floor(Math.log10(value)));
  return Math.floor(value * scale + 0.5) / scale;
};
const grouped = (whole) => String(whole).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

function percent(share) {
  if (share === null || !Number.isFinite(share)) return "–";
  const value = 100 * share;
  let text;
  if (value < 0.01) text = trimmed(roundedTo(value, 1), 12);
  else if (value > 99.95 && value < 100) text = "over 99.9";
  else text = trimmed(value, value < 1 ? 2 : value >= 10 && value < 99 ? 0 : 1);
  return text + NBSP + "%";
}

function count(amount) {
  if (amount === null || !Number.isFinite(amount)) return "–";
  if (amount >= 999999.5) {
    const [size, word] = amount >= 999.5e6 ? [1e9, "billion"] : [1e6, "million"];
    return trimmed(roundedTo(amount / size, 3), 2) + NBSP + word;
  }
  if (amount >= 10) return grouped(Math.floor(amount + 0.5));
  if (amount >= 1) return trimmed(amount, 1);
  return trimmed(roundedTo(amount, 2), 12);
}

function times(rate) {
  if (rate <= 0) return "none";
  const every = 1 / rate;
  if (rate <= 0.05 || Math.abs(every - Math.floor(every + 0.5)) < 0.01 * every) {
    return "1" + NBSP + "in" + NBSP + count(roundedTo(every, 3));
  }
  return Math.floor(100 * rate + 0.5) + NBSP + "in" + NBSP + "100";
}

const plural = (amount, noun) => count(amount) + " " + noun + (amount === 1 ? "" : "s");
const significant = (value) => String(Number(value.toPrecision(4))).replace("-", "\u2212");
