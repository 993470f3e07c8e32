/** How the picture of link previews looks. The font is a .woff of an installed package. */
export const share = {
  font: '@fontsource/inter/files/inter-latin-700-normal.woff',
  paper: '#111111',
  ink: '#ffffff',
  accent: '#ff7a45',
};
