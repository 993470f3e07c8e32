/** How the picture of link previews looks. The font is a .woff of an installed package. */
export const share = {
  font: '@fontsource/dm-serif-display/files/dm-serif-display-latin-400-normal.woff',
  paper: '#3b1230',
  ink: '#fdf3ec',
  accent: '#f0a58a',
};
