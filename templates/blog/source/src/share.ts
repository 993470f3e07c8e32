/** How the picture of link previews looks. The font is a .woff of an installed package. */
export const share = {
  font: '@fontsource/inter/files/inter-latin-700-normal.woff',
  paper: '#2b3fd6',
  ink: '#ffffff',
  accent: '#c9d0ff',
};
