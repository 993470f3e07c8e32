/** What a browser says it is, for people. Only words of this file are shown: the header is free text by a stranger. */

const browsers = [
  ['Edge', /Edg(?:e|A|iOS)?\//],
  ['Opera', /OPR\//],
  ['Samsung Internet', /SamsungBrowser\//],
  ['Firefox', /(?:Firefox|FxiOS)\//],
  ['Chrome', /(?:Chrome|CriOS)\//],
  ['Safari', /Safari\//],
] as const;

const systems = [
  ['iPhone', /iPhone/],
  ['iPad', /iPad/],
  ['Android', /Android/],
  ['Windows', /Windows/],
  ['macOS', /Macintosh/],
  ['ChromeOS', /CrOS/],
  ['Linux', /Linux/],
] as const;

const userAgentMax = 512;

/** "Firefox on Windows". */
export function browserName(userAgent: string | undefined): string {
  const read = (userAgent ?? '').slice(0, userAgentMax);
  const browser = browsers.find(([, pattern]) => pattern.test(read))?.[0] ?? 'Unknown browser';
  const system = systems.find(([, pattern]) => pattern.test(read))?.[0];
  return system ? `${browser} on ${system}` : browser;
}
