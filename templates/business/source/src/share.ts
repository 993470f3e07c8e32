/** How the picture of link previews looks. The font is a .woff of an installed package. */
export const share = {
  font: '@fontsource/inter/files/inter-latin-700-normal.woff',
  paper: '#0a352a',
  ink: '#f6f8f6',
  accent: '#e9b44c',
};
