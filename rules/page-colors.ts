/**
 * The two colours that an owner chooses for the site's pages on the platform, and the colours computed from them, so
 * that every text is readable in light and in dark: contrasts as in WCAG 2.2, level AA. Pure.
 */

/** Both as `#rrggbb`. */
export type PageColors = { accent: string; background: string };

export const hexColor = /^#[0-9a-f]{6}$/i;

type Rgb = readonly [number, number, number];
type Scheme = 'light' | 'dark';

/** The contrast of text with its background, and of a control’s border with its surroundings. */
const textMin = 4.5;
const borderMin = 3;

const black: Rgb = [0, 0, 0];
const white: Rgb = [255, 255, 255];
const night: Rgb = [20, 19, 17];

/** Custom properties of `web/page.css`, without their dashes. */
export type Palette = { scheme: Scheme } & Record<
  | 'paper'
  | 'card'
  | 'ink'
  | 'quiet'
  | 'accent'
  | 'deep'
  | 'fill'
  | 'fill-deep'
  | 'on-fill'
  | 'line'
  | 'edge'
  | 'pale'
  | 'good',
  string
>;

/**
 * The colours for visitors who prefer a light or a dark page. The background is the owner’s; only a light one is
 * darkened in the dark scheme. `fill` is the owner’s accent; `accent` is a shade of it that is readable as text.
 */
export function paletteOf({ accent, background }: PageColors, preferred: Scheme): Palette {
  const own = parse(background);
  const isLight = poleOf(own) === black;
  const paper = preferred === 'dark' && isLight ? mix(night, own, 0.08) : own;
  const pole = poleOf(paper);
  const card = mix(paper, oppositeOf(pole), 0.35);
  const settle = (color: Rgb, min: number) => settled(color, { paper, card, pole, min });
  const fill = parse(accent);
  const onFill = poleOf(fill);
  const shade = settle(fill, textMin);
  const colors = {
    paper,
    card,
    ink: settle(mix(pole, paper, 0.08), textMin),
    quiet: settle(mix(pole, paper, 0.35), textMin),
    accent: shade,
    deep: settle(mix(shade, pole, 0.2), textMin),
    fill,
    'fill-deep': mix(fill, oppositeOf(onFill), 0.15),
    'on-fill': onFill,
    line: settle(mix(pole, paper, 0.6), borderMin),
    edge: mix(paper, pole, 0.14),
    pale: mix(paper, fill, 0.3),
    good: settle([47, 107, 74], borderMin),
  };
  const written = Object.fromEntries(Object.entries(colors).map(([name, color]) => [name, write(color)]));
  return { scheme: pole === black ? 'light' : 'dark', ...written } as Palette;
}

/** The contrast ratio of two colours (WCAG 2.2, relative luminance), from 1 to 21. */
export function contrastOf(one: string, other: string): number {
  return contrast(parse(one), parse(other));
}

/** The colour, moved towards black or white until it has the contrast with both surfaces. */
function settled(color: Rgb, { paper, card, pole, min }: { paper: Rgb; card: Rgb; pole: Rgb; min: number }): Rgb {
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = mix(color, pole, share);
    if (contrast(mixed, paper) >= min && contrast(mixed, card) >= min) return mixed;
  }
  return pole;
}

/** Black or white, whichever is easier to read on the colour. Its contrast is at least 4.58. */
const poleOf = (color: Rgb): Rgb => (contrast(color, black) >= contrast(color, white) ? black : white);
const oppositeOf = (pole: Rgb): Rgb => (pole === black ? white : black);

function contrast(one: Rgb, other: Rgb): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance([red, green, blue]: Rgb): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function linear(channel: number): number {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

/** `share` of the second colour. */
function mix(from: Rgb, to: Rgb, share: number): Rgb {
  const part = (at: 0 | 1 | 2) => Math.round(from[at] + (to[at] - from[at]) * share);
  return [part(0), part(1), part(2)];
}

function parse(hex: string): Rgb {
  const part = (at: number) => Number.parseInt(hex.slice(at, at + 2), 16);
  return [part(1), part(3), part(5)];
}

const write = (color: Rgb): string => `#${color.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
