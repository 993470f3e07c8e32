/** The colours of a site's pages on our origin. Only these two values are the owner's; the style is ours. */
import { type PageColors, paletteOf } from '#rules/page-colors.ts';

/** Rules after those of `page.css`; empty without colours, as the usual ones are in that file. */
export function colorStyle(colors: PageColors | null | undefined): string {
  if (!colors) return '';
  return `:root {\n${declarations(colors, 'light')}}\n@media (prefers-color-scheme: dark) {\n:root {\n${declarations(colors, 'dark')}}\n}\n`;
}

function declarations(colors: PageColors, preferred: 'light' | 'dark'): string {
  const { scheme, ...palette } = paletteOf(colors, preferred);
  const lines = Object.entries(palette).map(([name, color]) => `--${name}: ${color};\n`);
  return `color-scheme: ${scheme};\n${lines.join('')}`;
}
