/** Thousands separated by commas, whatever the locale of the machine. */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Three significant digits, without an exponent. */
export function short(value: number): string {
  return value >= 100 ? grouped(Math.round(value)) : value.toPrecision(3);
}
