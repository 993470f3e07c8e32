import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contrastOf, paletteOf } from '#rules/page-colors.ts';
import { colorStyle } from '#web/page-colors.ts';

const hex = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
const scheme = fc.constantFrom('light' as const, 'dark' as const);

test('contrast is computed as the accessibility guidelines define it', () => {
  expect(contrastOf('#000000', '#ffffff')).toBe(21);
  expect(contrastOf('#767676', '#ffffff')).toBeCloseTo(4.54, 2);
});

test('text and borders are readable on any two colours, in light and dark', () => {
  fc.assert(
    fc.property(hex, hex, scheme, (accent, background, preferred) => {
      const palette = paletteOf({ accent, background }, preferred);
      for (const surface of [palette.paper, palette.card]) {
        for (const text of [palette.ink, palette.quiet, palette.accent, palette.deep])
          expect(contrastOf(text, surface)).toBeGreaterThanOrEqual(4.5);
        for (const border of [palette.line, palette.good])
          expect(contrastOf(border, surface)).toBeGreaterThanOrEqual(3);
      }
      for (const fill of [palette.fill, palette['fill-deep']])
        expect(contrastOf(palette['on-fill'], fill)).toBeGreaterThanOrEqual(4.5);
    }),
    { numRuns: 3000 },
  );
});

test('text and borders of the platform’s own pages are readable, in light and dark', () => {
  const css = readFileSync(new URL('../../web/page.css', import.meta.url), 'utf8');
  const schemes = [...css.matchAll(/:root \{([^}]*)\}/g)].map(([, inside = '']) => inside);
  expect(schemes).toHaveLength(2);
  for (const scheme of schemes) {
    const color = (name: string) => new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(scheme)?.[1] ?? 'missing';
    for (const surface of ['paper', 'card'].map(color)) {
      for (const text of ['ink', 'quiet', 'accent', 'deep', 'good'])
        expect(contrastOf(color(text), surface), text).toBeGreaterThanOrEqual(4.5);
      expect(contrastOf(color('line'), surface)).toBeGreaterThanOrEqual(3);
    }
  }
});

test('the owner’s colours are used as given, except a light background at night', () => {
  const light = { accent: '#ffd400', background: '#fdf6e3' };
  expect(paletteOf(light, 'light')).toMatchObject({ scheme: 'light', paper: '#fdf6e3', fill: '#ffd400' });
  const night = paletteOf(light, 'dark');
  expect(night).toMatchObject({ scheme: 'dark', fill: '#ffd400' });
  expect(contrastOf(night.paper, '#000000')).toBeLessThan(2);
  const dark = { accent: '#ffd400', background: '#1a1a2e' };
  for (const preferred of ['light', 'dark'] as const)
    expect(paletteOf(dark, preferred)).toMatchObject({ scheme: 'dark', paper: '#1a1a2e' });
});

test('a page’s style contains colours only, and none without colours', () => {
  expect(colorStyle(null)).toBe('');
  const values = colorStyle({ accent: '#ffd400', background: '#fdf6e3' }).match(/(?<=: )[^;{]+(?=;)/g) ?? [];
  expect(values.length).toBeGreaterThan(20);
  for (const value of values) expect(value).toMatch(/^(#[0-9a-f]{6}|light|dark)$/);
});
