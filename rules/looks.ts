/** How pages are looked at: the sizes and forms of screenshots, and what differs between two. Pure. */

export const widths = { min: 320, max: 1920 } as const;
export const heights = { min: 320, max: 2160 } as const;
export const schemes = ['light', 'dark'] as const;
export const pictureFormats = ['webp', 'png'] as const;

/** The window in which a page is shown, in CSS pixels. */
export type Look = { width: number; height: number; scheme: (typeof schemes)[number] };

/** Part of a page, in CSS pixels. */
export type Region = { x: number; y: number; width: number; height: number };

/** What a screenshot is of, and its form. */
export type Screenshot = {
  path: string;
  width: number;
  height: number | 'full';
  scheme: Look['scheme'];
  format: (typeof pictureFormats)[number];
};

/** The picture of a site's home page on its card: its size in pixels, and at most so many bytes. */
export const cardPicture = { width: 480, height: 300, bytesMax: 20_000 } as const;

/** Of a window whose height is not given: a phone's, a tablet's or a desk's. */
export function usualHeight(width: number): number {
  return width < 600 ? 844 : 900;
}

/** The window of a screenshot: that of a whole page has the usual height. */
export function lookOf({ width, height, scheme }: Screenshot): Look {
  return { width, height: height === 'full' ? usualHeight(width) : height, scheme };
}

/** The same for every call that asks for the same picture. */
export const formKey = ({ path, width, height, scheme, format }: Screenshot): string =>
  [width, height, scheme, format, path].join(' ');

/** `not_shown`: the page kept the browser from drawing it. */
export const pageChanges = ['changed', 'added', 'removed', 'not_shown'] as const;

/** One page in one window. Pages that are in one of the versions only are not drawn. */
export type ComparedPage = {
  /** The path of the page. */
  page: string;
  change: (typeof pageChanges)[number];
  /** The width of the window, in CSS pixels; null for a page that is not drawn. */
  width: number | null;
  /** Where the newer version differs, from the top. One without height: something was removed there. */
  regions: Region[];
  /** Both versions beside each other: the position of the picture, and its size. */
  picture: { position: number; width: number; height: number } | null;
};

/** `pagesLeft`: how many further pages were not compared. */
export type Compared = { pages: ComparedPage[]; unchanged: string[]; pagesLeft: number };
