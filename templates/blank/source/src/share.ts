/** How the picture of link previews looks. The font is a .woff of an installed package. */
export const share = {
  font: '@fontsource/instrument-serif/files/instrument-serif-latin-400-normal.woff',
  paper: '#f7f8f8',
  ink: '#17191a',
  accent: '#0b5d6b',
};
