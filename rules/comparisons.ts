/** How two versions of a site look different: its pages, and the regions of each that changed. Pure. */
import type { Region } from './looks.ts';

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
