/** `1.11 GiB`, three significant digits. */
export function showBytes(bytes: number): string {
  const names = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  const power = bytes < 1024 ? 0 : Math.min(names.length - 1, Math.floor(Math.log2(bytes) / 10));
  if (power === 0) return `${bytes} bytes`;
  const value = bytes / 1024 ** power;
  return `${value >= 100 ? value.toFixed(0) : value.toPrecision(3)} ${names[power]}`;
}
