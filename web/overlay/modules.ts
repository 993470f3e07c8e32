/** The overlay's scripts in the page, by the names under which they import each other. */
const here = (name: string) => ({ name, file: new URL(`./${name}`, import.meta.url) });

export const overlayModules: readonly { name: string; file: URL }[] = [
  here('loader.js'),
  here('place.js'),
  here('pick.js'),
  here('pins.js'),
  here('reveal.js'),
  here('picture.js'),
  // A library that draws the page on a canvas.
  { name: 'modern-screenshot.js', file: new URL(import.meta.resolve('modern-screenshot')) },
];
