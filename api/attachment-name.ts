/** The name of a downloaded file, for `content-disposition`. */
const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

/** As RFC 8187, section 3.2, encodes it. */
export const encodedName = (name: string): string =>
  `filename*=UTF-8''${encodeURIComponent(name).replaceAll(/['()*]/g, percent)}`;
