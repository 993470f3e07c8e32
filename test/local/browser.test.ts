/** What `npm start` does with and without a browser. */
import { expect, test } from 'vitest';
import { chooseBrowser } from '#tools/local/browser.ts';

test('without Chromium, screenshots are off, and the start says how to get it', () => {
  const { settings, lines } = chooseBrowser({ FRONTAGE_CHROMIUM: '/nowhere/chromium' });
  expect(settings).toEqual({ FRONTAGE_SCREENSHOTS: 'off' });
  expect(lines).toEqual([expect.stringMatching(/^… Screenshots and checks of pages are off: .*chromium/)]);
});

test('a setting of the user is left alone', () => {
  for (const FRONTAGE_SCREENSHOTS of ['on', 'off'])
    expect(chooseBrowser({ FRONTAGE_SCREENSHOTS, FRONTAGE_CHROMIUM: '/nowhere' })).toEqual({ settings: {}, lines: [] });
});

test('with Chromium and bubblewrap, screenshots are on', { tags: ['chromium', 'bubblewrap'] }, () => {
  expect(chooseBrowser({})).toEqual({ settings: { FRONTAGE_SCREENSHOTS: 'on' }, lines: [] });
});
