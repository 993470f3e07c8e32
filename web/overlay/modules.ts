/** The scripts of the overlay's part in the page, by the names that they import each other under. */
const here = (name: string) => ({ name, file: new URL(`./${name}`, import.meta.url) });

export const overlayModules: readonly { name: string; file: URL }[] = [
  here('loader.js'),
  here('place.js'),
  here('pick.js'),
  here('pins.js'),
  here('picture.js'),
  // A library: from the page to a picture of it.
  { name: 'modern-screenshot.js', file: new URL(import.meta.resolve('modern-screenshot')) },
];
