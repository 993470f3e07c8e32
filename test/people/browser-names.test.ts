import { expect, test } from 'vitest';
import { browserName } from '#rules/browser-names.ts';

const windows = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)';
const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const mac = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)';

test.each([
  ['Edge on Windows', `${windows} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0`],
  ['Opera on Windows', `${windows} Chrome/142.0.0.0 Safari/537.36 OPR/124.0.0.0`],
  ['Chrome on Windows', `${windows} Chrome/142.0.0.0 Safari/537.36`],
  ['Chrome on iPhone', `${iphone} CriOS/142.0.0.0 Mobile/15E148 Safari/604.1`],
  ['Firefox on iPhone', `${iphone} FxiOS/144.0 Mobile/15E148 Safari/605.1.15`],
  ['Safari on iPhone', `${iphone} Version/18.5 Mobile/15E148 Safari/604.1`],
  ['Safari on macOS', `${mac} Version/18.5 Safari/605.1.15`],
  ['Unknown browser on iPhone', `${iphone} Mobile/15E148`],
  [
    'Samsung Internet on Android',
    'Mozilla/5.0 (Linux; Android 15; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36',
  ],
  ['Firefox on Linux', 'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0'],
  [
    'Chrome on ChromeOS',
    'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  ],
  ['Unknown browser', 'Your own phone, please approve <b>'],
  ['Unknown browser', undefined],
])('the name %j is read from the header', (name, header) => {
  expect(browserName(header)).toBe(name);
});
